//! From a URL to a catalog.

use crate::catalog::Catalog;
use crate::error::Error;
use mintage_lease::store::redacted;
use std::time::Duration;

/// How a database is read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The longest that one query may take.
    pub budget: Duration,
    /// The longest that connecting may take.
    pub patience: Duration,
    /// The longest that scans of columns without an index may take together.
    pub scans: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let usual = Duration::from_secs(10);
        Self { budget: usual, patience: usual, scans: usual }
    }
}

/// Reads the database of a URL: `postgres://…`, `mysql://…`, `mariadb://…`, `sqlite:PATH`.
///
/// # Errors
/// See [`Error`]. What can't be read within a database that answers isn't an error: the catalog says so.
#[cfg_attr(
    not(any(feature = "postgres", feature = "mysql", feature = "sqlite")),
    expect(unused_variables, reason = "no reader was built in")
)]
pub async fn read(url: &str, options: &Options) -> Result<Catalog, Error> {
    let scheme = url.split(':').next().unwrap_or_default();
    match scheme {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => {
            let mut catalog = crate::catalog::postgres::read(url, options).await?;
            if catalog.is_store {
                crate::spaces::read(url, &mut catalog).await;
            }
            Ok(catalog)
        }
        #[cfg(feature = "mysql")]
        "mysql" | "mariadb" => crate::catalog::mysql::read(url, options).await,
        #[cfg(feature = "sqlite")]
        "sqlite" => {
            let mut catalog = crate::catalog::sqlite::read(url, options)?;
            if catalog.is_store {
                crate::spaces::read(url, &mut catalog).await;
            }
            Ok(catalog)
        }
        _ => {
            let fault = "postgres://user@host/database, mysql://user@host/database or sqlite:PATH expected"
                .to_owned();
            Err(Error::Url { url: redacted(url), fault })
        }
    }
}

/// The same, but only what tells whether database sequences are behind their columns.
///
/// # Errors
/// See [`read`].
pub async fn read_fed(url: &str, options: &Options) -> Result<Catalog, Error> {
    match url.split(':').next().unwrap_or_default() {
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => crate::catalog::postgres::read_fed(url, options).await,
        _ => read(url, options).await,
    }
}
