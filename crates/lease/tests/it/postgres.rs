//! The store in a PostgreSQL database: failovers, restores, poolers, privileges, bloat.

use crate::site::Site;
use mintage_lease::store::OpenOptions;
use mintage_testkit::servers::pgbouncer::PgBouncer;
use mintage_testkit::servers::postgres::Postgres;

pub(crate) fn site() -> Option<Site> {
    let server = Postgres::shared()?;
    let url = server.url(&server.database());
    Some(Site { url, options: OpenOptions::default(), _kept: Box::new(server) })
}

/// The same behind a pooler that gives out connections for one transaction.
pub(crate) fn pooled_site() -> Option<Site> {
    let server = Postgres::shared()?;
    let pooler = PgBouncer::start(&server)?;
    let url = pooler.url(&server.database());
    Some(Site { url, options: OpenOptions::default(), _kept: Box::new((pooler, server)) })
}
