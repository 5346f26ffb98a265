//! Why a database could not be read.

/// Why a database could not be read. Passwords never show.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL makes no sense, or nothing here reads such databases.
    #[error("{url}: {fault}")]
    Url {
        /// The URL, without a password.
        url: String,
        /// What is wrong, and what was expected.
        fault: String,
    },
    /// The server can't be reached, or the connection was lost. Nothing of what was read before is shown.
    #[error("{url}: {doing}: {cause}")]
    Lost {
        /// The URL, without a password.
        url: String,
        /// What was being done.
        doing: &'static str,
        /// What the system or the driver says.
        cause: String,
    },
    /// The server refused a query about its catalog.
    #[error("{url}: {doing}: {cause}")]
    Query {
        /// The URL, without a password.
        url: String,
        /// What was being read.
        doing: &'static str,
        /// What the server says.
        cause: String,
    },
    /// The server answered something that its catalog can't hold.
    #[error("{url}: {doing}: {what}")]
    Answer {
        /// The URL, without a password.
        url: String,
        /// What was being read.
        doing: &'static str,
        /// What came.
        what: String,
    },
    /// Nothing can be written there.
    #[error("{url}: {why}")]
    Refused {
        /// The URL, without a password.
        url: String,
        /// Why, and where to go.
        why: String,
    },
    /// A file that can't be read or understood.
    #[error("{file}: {fault}")]
    File {
        /// Its path.
        file: String,
        /// What is wrong, and where.
        fault: String,
    },
}
