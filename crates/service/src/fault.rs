//! What the service answers when it doesn't do what it was asked: one table for every transport.

use mintage::UnixNanos;
use mintage_lease::{Error, Refusal};
use std::time::Duration;

/// Why, in a word that never changes; clients go by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What was asked can't be read: a count that is no number, a body that is no JSON, an unknown setting.
    BadRequest,
    /// No token was shown, or one that isn't known.
    Unauthorized,
    /// The token doesn't allow it.
    Forbidden,
    /// The request wasn't all there, or not answered, in time.
    TimedOut,
    /// There is no such path.
    NoSuchRoute,
    /// The path takes other methods.
    WrongMethod,
    /// There is no space of that name. None is made by asking.
    NoSuchSpace,
    /// There is no scheme of that name, or none that is minted without a worker.
    NoSuchScheme,
    /// There is no facade of that name.
    NoSuchFacade,
    /// The space is of another kind than the request.
    WrongKind,
    /// The space is there with other facts, or its name issued other numbers before.
    SpaceDiffers,
    /// The space was dropped, and perhaps created again, while it was in use.
    SpaceGone,
    /// The counter or the time field has come to its end.
    Exhausted,
    /// The space hands out nothing until a time, or until an operator acts, as its store may have lost what it acknowledged.
    OnHold,
    /// No worker is free.
    NoWorker,
    /// The store can't be reached, or was not in time, and what was held has been used up.
    Unavailable,
    /// The store isn't as leases need it: its durability, its clock, its tables, its privileges.
    StoreUnfit,
    /// The service is at its limits.
    Overloaded,
    /// The service is ending.
    Ending,
    /// A fault of the service itself.
    Internal,
}

/// What a kind is in each transport, and what it says to people.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The kind.
    pub kind: Kind,
    /// Its word: the end of a problem's `type`.
    pub slug: &'static str,
    /// The status of HTTP.
    pub status: u16,
    /// The first word of an error of the Redis protocol.
    pub prefix: &'static str,
    /// In a few words.
    pub title: &'static str,
    /// What to do.
    pub advice: &'static str,
}

/// All kinds.
pub const KINDS: &[Facts] = &[
    facts(
        Kind::BadRequest,
        "bad-request",
        400,
        "ERR",
        "the request can't be read",
        "correct what the detail names",
    ),
    facts(
        Kind::Unauthorized,
        "unauthorized",
        401,
        "NOAUTH",
        "a token is needed",
        "show one as `Authorization: Bearer TOKEN`, or by `AUTH TOKEN`; `mintage auth add` makes one",
    ),
    facts(
        Kind::Forbidden,
        "forbidden",
        403,
        "NOPERM",
        "the token doesn't allow it",
        "take another token, or make one that allows what the detail names with `mintage auth add`",
    ),
    facts(
        Kind::TimedOut,
        "timed-out",
        408,
        "TRYAGAIN",
        "the request took too long",
        "send it whole at once; ask for less, or raise --request-seconds",
    ),
    facts(
        Kind::NoSuchRoute,
        "no-such-route",
        404,
        "ERR",
        "there is no such path",
        "see docs/service.md for those that there are",
    ),
    facts(
        Kind::WrongMethod,
        "wrong-method",
        405,
        "ERR",
        "the path takes another method",
        "ids are minted by POST, all else is read by GET",
    ),
    facts(
        Kind::NoSuchSpace,
        "no-such-space",
        404,
        "NOSPACE",
        "there is no space of that name",
        "look for a misspelling in GET /v1/spaces; POST /v1/spaces makes one, asking for ids never does",
    ),
    facts(
        Kind::NoSuchScheme,
        "no-such-scheme",
        404,
        "ERR",
        "there is no scheme of that name that is minted without a worker",
        "`mintage schemes` lists them; those with a worker are minted in a space",
    ),
    facts(
        Kind::NoSuchFacade,
        "no-such-facade",
        404,
        "ERR",
        "there is no facade of that name",
        "each is a file of keys in the folder of --facades: `mintage facade keygen --kind permute --key-file FOLDER/NAME.toml` makes one",
    ),
    facts(
        Kind::WrongKind,
        "wrong-kind",
        409,
        "WRONGTYPE",
        "the space is of another kind",
        "INCR and /blocks go with counters, MINT and /ids with every space but those of scopes, /scopes with those",
    ),
    facts(
        Kind::SpaceDiffers,
        "space-differs",
        409,
        "ERR",
        "the space is there with other facts",
        "facts never change: ask for what is there, or take another name",
    ),
    facts(
        Kind::SpaceGone,
        "space-gone",
        409,
        "TRYAGAIN",
        "the space was dropped while it was in use",
        "ask again: the name leads nowhere, or to the space that was created again",
    ),
    facts(
        Kind::Exhausted,
        "exhausted",
        409,
        "ERR",
        "the space has come to its end",
        "make a new space, with a wider layout or a further last value",
    ),
    facts(
        Kind::OnHold,
        "on-hold",
        503,
        "TRYAGAIN",
        "the space is on hold or stopped",
        "`mintage store show` says why and what to do; a hold passes by itself, a stop is ended by `mintage store bump`",
    ),
    facts(
        Kind::NoWorker,
        "no-worker",
        503,
        "TRYAGAIN",
        "no worker is free",
        "wait until the time that the detail names; `mintage store workers` shows who holds them",
    ),
    facts(
        Kind::Unavailable,
        "unavailable",
        503,
        "TRYAGAIN",
        "the store can't be reached, and what was held is used up",
        "try again after Retry-After; see whether the store runs",
    ),
    facts(
        Kind::StoreUnfit,
        "store-unfit",
        503,
        "ERR",
        "the store isn't as ids need it",
        "`mintage store check` says what to change",
    ),
    facts(
        Kind::Overloaded,
        "overloaded",
        429,
        "TRYAGAIN",
        "the service is at its limits",
        "ask less at once, and again after Retry-After",
    ),
    facts(
        Kind::Ending,
        "ending",
        503,
        "TRYAGAIN",
        "the service is ending",
        "ask another server of the same store",
    ),
    facts(
        Kind::Internal,
        "internal",
        500,
        "ERR",
        "a fault of the service",
        "look into its log, and report it",
    ),
];

const fn facts(
    kind: Kind,
    slug: &'static str,
    status: u16,
    prefix: &'static str,
    title: &'static str,
    advice: &'static str,
) -> Facts {
    Facts { kind, slug, status, prefix, title, advice }
}

impl Kind {
    /// What it is in each transport.
    #[must_use]
    pub fn facts(self) -> &'static Facts {
        let own = KINDS.iter().find(|facts| facts.kind == self);
        own.unwrap_or(&KINDS[KINDS.len() - 1])
    }
}

/// One answer that isn't what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Fault {
    /// Why, for programs.
    pub kind: Kind,
    /// Why, for people: what was given, what was expected.
    pub detail: String,
    /// When to try again, where that is of use.
    pub retry_after: Option<Duration>,
}

impl Fault {
    /// A fault without a time to try again.
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), retry_after: None }
    }

    /// A request that can't be read.
    pub fn bad(detail: impl Into<String>) -> Self {
        Self::new(Kind::BadRequest, detail)
    }

    /// With when to try again.
    #[must_use]
    pub fn again_in(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }
}

impl From<mintage::Error> for Fault {
    fn from(error: mintage::Error) -> Self {
        use mintage::Error as E;
        let kind = match &error {
            E::Busy { .. } | E::Refused { .. } | E::WindowEnded { .. } => Kind::Unavailable,
            E::Released { .. } => Kind::Ending,
            E::TimeFieldEnded { .. } | E::Overflow { .. } => Kind::Exhausted,
            E::Forked { .. } | E::Entropy => Kind::Internal,
            _ => Kind::BadRequest,
        };
        let wait = error.wait_nanos().map(Duration::from_nanos);
        let fault = Self::new(kind, error.to_string());
        match wait {
            Some(wait) => fault.again_in(wait),
            None => fault,
        }
    }
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        let detail = with_causes(error);
        match error {
            Error::Mint(error) => (*error).into(),
            Error::NoSuchSpace { space, .. } => {
                Self::new(Kind::NoSuchSpace, format!("there is no space {space:?}"))
            }
            Error::SpaceDiffers { .. } | Error::NameUsed { .. } => Self::new(Kind::SpaceDiffers, detail),
            Error::SpaceFault { .. } => Self::bad(detail),
            Error::SpaceGone { .. } => Self::new(Kind::SpaceGone, detail),
            Error::WrongKind { .. } | Error::NotTwins { .. } => Self::new(Kind::WrongKind, detail),
            Error::Refused { refusal, now, .. } => {
                let (kind, wait) = refused(refusal, *now);
                Self { kind, detail, retry_after: wait }
            }
            Error::NoBlock { source: Some(source), .. } => Self { detail, ..Self::from(&**source) },
            Error::Unreachable { .. }
            | Error::Deadline { .. }
            | Error::UnknownOutcome { .. }
            | Error::NotYet { .. }
            | Error::NoBlock { .. }
            | Error::FileReplaced { .. } => Self { kind: Kind::Unavailable, detail, retry_after: Some(SOON) },
            Error::Closed { .. } => Self::new(Kind::Ending, detail),
            Error::Unsafe { .. }
            | Error::NoSchema { .. }
            | Error::Schema { .. }
            | Error::ClockAhead { .. }
            | Error::ClockBehind { .. }
            | Error::Denied { .. }
            | Error::Full { .. }
            | Error::Url { .. } => Self::new(Kind::StoreUnfit, detail),
            _ => Self::new(Kind::Internal, detail),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

/// When a store that didn't answer is asked again.
const SOON: Duration = Duration::from_secs(1);

/// What a rule's no is, and when it may be another, by the store's time.
fn refused(refusal: &Refusal, now: UnixNanos) -> (Kind, Option<Duration>) {
    let until =
        |at: UnixNanos| Some(Duration::from_nanos(u64::try_from(at.0.saturating_sub(now.0)).unwrap_or(0)));
    match refusal {
        Refusal::OnHold { until: at } => (Kind::OnHold, until(*at)),
        Refusal::Stale { .. } | Refusal::ScopesStopped => (Kind::OnHold, None),
        Refusal::NoneFree { next } => (Kind::NoWorker, next.and_then(until)),
        Refusal::HostQuota { .. } => (Kind::NoWorker, Some(SOON)),
        Refusal::CounterEnded { .. } | Refusal::ScopeEnds { .. } | Refusal::TimeFieldEnded { .. } => {
            (Kind::Exhausted, None)
        }
        Refusal::ClockAhead { .. }
        | Refusal::ClockOff { .. }
        | Refusal::HostBehind { .. }
        | Refusal::HostAhead { .. }
        | Refusal::BeforeEpoch { .. } => (Kind::StoreUnfit, None),
        Refusal::WrongKind { .. } => (Kind::WrongKind, None),
        Refusal::Request { .. } | Refusal::BlockSize { .. } => (Kind::BadRequest, None),
        _ => (Kind::Unavailable, Some(SOON)),
    }
}

/// An error and what caused it, in one line.
fn with_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(source) = cause {
        let said = source.to_string();
        // Some say what caused them themselves.
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = source.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Arc;

    #[test]
    fn every_kind_has_facts_of_its_own() {
        let slugs: HashSet<&str> = KINDS.iter().map(|facts| facts.slug).collect();
        assert_eq!(slugs.len(), KINDS.len());
        for facts in KINDS {
            assert_eq!(facts.kind.facts().slug, facts.slug);
            assert!((400..600).contains(&facts.status));
            assert!(facts.prefix.bytes().all(|byte| byte.is_ascii_uppercase()));
        }
    }

    #[test]
    fn a_counter_that_ended_is_told_through_what_waits_for_it() {
        let refusal = Refusal::CounterEnded { last: 9 };
        let ended = Error::Refused { space: "c".to_owned(), refusal, now: UnixNanos(0), events: Vec::new() };
        let fault = Fault::from(Error::NoBlock { space: "c".to_owned(), source: Some(Arc::new(ended)) });
        assert_eq!(fault.kind, Kind::Exhausted);
        assert!(fault.detail.contains("ended with 9"), "{fault}");
    }

    #[test]
    fn a_hold_says_how_long_it_lasts() {
        let refusal = Refusal::OnHold { until: UnixNanos(5_000_000_000) };
        let held = Error::Refused {
            space: "o".to_owned(),
            refusal,
            now: UnixNanos(2_000_000_000),
            events: Vec::new(),
        };
        let fault = Fault::from(held);
        assert_eq!((fault.kind, fault.retry_after), (Kind::OnHold, Some(Duration::from_secs(3))));
    }
}
