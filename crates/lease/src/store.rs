//! Where coordination lives: what every store does, and how one asks a space of it.
//!
//! A store carries out one thing: it reads a space's row, the time and its own identity **in one short transaction**, calls
//! [`crate::rules::decide`], writes what that says, and answers once the write is durable. Whatever is between processes is
//! decided in there; nothing is decided by a store of its own.
//!
//! What a store reads for a request is said by the request: [`Request::workers`], [`Request::scope`] and [`Request::page`], and for an
//! acquire the further fields of [`crate::state::Rows`]. What it writes is in the [`crate::rules::Decision`]: the space's row, rows of
//! workers, the row of a scope, each only where it is still as it was read.

use crate::clock::HostClock;
use crate::error::Error;
use crate::request::{
    Acquire, Anchor, Answer, Answered, Block, Bump, Caller, Claim, GiveBack, Held, Lease, Page, Release,
    Request, Shown, Take,
};
use crate::space::Space;
use crate::state::{Expected, Nonce, ScopeName, ScopeRow};
use mintage::{Entropy, SystemEntropy};
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The version of what stores keep. A program that knows a lower one keeps off. Rule 19.
///
/// 1: spaces of windows and of blocks. 2: spaces of scopes too, whose rows need a table of their own, and another that keeps why the last
/// hold of a space began. Nothing else differs, so a store of
/// version 1 is used as it is until a space of scopes is created there or an operator brings it up: programs that know only version 1
/// and still run are kept off by nothing else.
pub const PROTOCOL: u32 = 2;

/// Whether tables of this version keep why a hold began.
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub(crate) fn keeps_holds(protocol: u64) -> bool {
    protocol >= 2
}

/// The lowest version that this program uses as it is.
pub const OLDEST_PROTOCOL: u32 = 1;

/// What a store's calls return: a future that may move between threads.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// When a call gives up. Until then a store tries again, with growing pauses, whatever certainly had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(pub Instant);

impl Deadline {
    /// This long from now; at most a year.
    #[must_use]
    pub fn after(duration: Duration) -> Self {
        Self(Instant::now() + duration.min(Duration::from_secs(365 * 86_400)))
    }

    /// What is left; zero when it has passed.
    #[must_use]
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}

/// A store of spaces.
///
/// Calls may be made from any task. A call whose future is dropped has an unknown outcome.
pub trait Store: Send + Sync + Debug {
    /// The store's URL, without a password.
    fn url(&self) -> &str;

    /// The clocks with which the store stamps its answers.
    fn clock(&self) -> &dyn HostClock;

    /// The facts of the space of this name. Opening never creates. Rule 19.
    ///
    /// # Errors
    /// [`Error::NoSuchSpace`], [`Error::NoSchema`], and whatever keeps the store from answering.
    fn space<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, Space>;

    /// Carries out one request to a space, as [`crate::rules::decide`] says.
    ///
    /// # Errors
    /// [`Error::Refused`] when a rule says no (a hold that began on the way lasts all the same), [`Error::SpaceGone`] when the
    /// name leads to another space by now, [`Error::UnknownOutcome`] when the connection was lost after the commit was sent
    /// (never tried again), and whatever keeps the store from answering before the deadline.
    fn ask<'a>(
        &'a self,
        space: &'a Space,
        caller: &'a Caller,
        request: &'a Request,
        deadline: Deadline,
    ) -> Answering<'a, Answered>;

    /// Creates a space, with the tables where there are none, and brought up to this program's version where it is a space of scopes;
    /// does nothing when it is there with the same facts. The id of
    /// `space` is used for a space that is made, and replaced by the stored one in the answer. Rule 19.
    ///
    /// # Errors
    /// [`Error::SpaceDiffers`], [`Error::SpaceFault`], [`Error::Refused`] when the store's clock can't be believed, and whatever
    /// keeps the store from answering.
    fn create<'a>(
        &'a self,
        space: &'a Space,
        options: CreateOptions,
        deadline: Deadline,
    ) -> Answering<'a, Space>;

    /// Every space, by name; those that were dropped too.
    ///
    /// # Errors
    /// Whatever keeps the store from answering.
    fn list(&self, deadline: Deadline) -> Answering<'_, Vec<Shown>>;

    /// One space with its rows.
    ///
    /// # Errors
    /// [`Error::NoSuchSpace`], and whatever keeps the store from answering.
    fn show<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, Shown>;

    /// Drops a space: a tombstone with its floor stays, and a space that is created again under its name begins on hold. Rule 19.
    ///
    /// # Errors
    /// [`Error::NoSuchSpace`], and whatever keeps the store from answering.
    fn drop_space<'a>(&'a self, name: &'a str, deadline: Deadline) -> Answering<'a, ()>;

    /// Looks at what leases rely on: durability, clock, versions, privileges.
    ///
    /// # Errors
    /// Whatever keeps the store from answering; what it finds wrong is no error.
    fn check(&self, deadline: Deadline) -> Answering<'_, Vec<CheckLine>>;

    /// Makes the tables, or brings them up to this program's version; does nothing where they are. What they hold stays. Any number of
    /// processes may do so at once. Rule 19.
    ///
    /// # Errors
    /// [`Error::Denied`] when the role may not, [`Error::Schema`] when they are newer, and whatever keeps the store from
    /// answering.
    fn upgrade(&self, deadline: Deadline) -> Answering<'_, ()>;
}

/// How a space is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreateOptions {
    /// Whether a mere restart of the server begins a hold. Rule 17.
    pub restart_hold: bool,
    /// An operator said that the store's clock is right. Rule 15.
    pub trusts_clock: bool,
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self { restart_hold: true, trusts_clock: false }
    }
}

/// One thing that [`Store::check`] looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckLine {
    /// What it is, in a word or two.
    pub what: &'static str,
    /// Whether it is as leases need it.
    pub is_good: bool,
    /// What was found, and the next step when it isn't good.
    pub found: String,
}

/// A store, its URL schemes, and how it is opened. The list is [`crate::stores::STORES`].
#[derive(Clone, Copy, Debug)]
pub struct StoreEntry {
    /// What its URLs begin with, without the colon.
    pub url_schemes: &'static [&'static str],
    /// What it is, in a few words.
    pub summary: &'static str,
    /// An example of its URLs.
    pub example: &'static str,
    /// Opens it; connects at the first call, and creates nothing.
    pub open: OpenStore,
    /// The text that makes its tables, or says what it keeps where it has none; with what a role needs, for those who make them by hand.
    pub schema: fn() -> String,
}

/// Opens the store of a URL that begins with one of its schemes.
pub type OpenStore = fn(&str, OpenOptions) -> Result<Arc<dyn Store>, Error>;

/// How a store is opened.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The host's clocks; the system's unless others are given.
    pub clock: Option<Arc<dyn HostClock>>,
    /// An operator said that a store which may lose what it acknowledged will do. Rule 10.
    pub allows_unsafe: bool,
}

/// Opens the store of a URL. Nothing is created, and nothing is connected before the first call.
///
/// # Errors
/// [`Error::Url`] when no store has such URLs, or the URL makes no sense.
pub fn open(url: &str, options: OpenOptions) -> Result<Arc<dyn Store>, Error> {
    let scheme = url.split(':').next().unwrap_or_default();
    let entry = crate::stores::STORES.iter().find(|entry| entry.url_schemes.contains(&scheme));
    match entry {
        Some(entry) => (entry.open)(url, options),
        None => {
            let known: Vec<&str> = crate::stores::STORES.iter().map(|entry| entry.example).collect();
            let fault = format!("no store has such a URL; expected is one like {}", known.join(", "));
            Err(Error::Url { url: redacted(url), fault })
        }
    }
}

/// A URL without its password: `postgres://user:***@host/db`. Options that hold one are left out too. What is no URL may hold one as well, so
/// rather too much is left out than too little; only the path of a file is shown as it is.
#[must_use]
pub fn redacted(url: &str) -> String {
    if url.starts_with("sqlite:") {
        return url.to_owned();
    }
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => match url.split_once(':').filter(|(scheme, _)| scheme.chars().all(char::is_alphanumeric)) {
            Some((scheme, rest)) => (format!("{scheme}:"), rest),
            // Perhaps `host=… password=…`, as libpq takes it.
            None => (String::new(), url),
        },
    };
    // A password may hold an unescaped `@`, `/` or `?`; the last `@` ends it.
    let Some((login, place)) = rest.rsplit_once('@') else { return scheme + &without_secrets(rest) };
    if names_a_secret(login) {
        // The `@` may stand inside the secret itself.
        return scheme + "***";
    }
    let place = without_secrets(place);
    if scheme.starts_with("http") {
        // A token may stand there alone.
        return format!("{scheme}***@{place}");
    }
    match login.split_once(':') {
        Some((user, _)) => format!("{scheme}{user}:***@{place}"),
        None => format!("{scheme}{login}@{place}"),
    }
}

/// Options by which a password may be given, in any case: `password=`, `sslpassword=`, `passwd=`.
fn names_a_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["password", "passwd", "pwd="].iter().any(|name| text.contains(name))
}

/// A place with those of its options that aren't secret; of what is no URL, nothing where there may be one.
fn without_secrets(place: &str) -> String {
    let (start, query) = place.split_once('?').map_or((place, None), |(start, query)| (start, Some(query)));
    if names_a_secret(start) {
        return "***".to_owned();
    }
    let kept: Vec<&str> = query
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty() && !names_a_secret(pair))
        .collect();
    if kept.is_empty() { start.to_owned() } else { format!("{start}?{}", kept.join("&")) }
}

/// A nonce for one request. Rule 14.
///
/// # Errors
/// [`mintage::Error::Entropy`].
pub fn draw_nonce() -> Result<Nonce, mintage::Error> {
    let mut bytes = [0; 16];
    SystemEntropy.fill(&mut bytes)?;
    // Once in 2^128 the draw is the number that stands for nobody.
    Ok(Nonce(u128::from_be_bytes(bytes).max(1)))
}

/// What the store's time should be, once the transaction has read it: for the `expected` of [`crate::state::Seen`]. Rule 15.
#[must_use]
pub fn expected(caller: &Caller, clock: &dyn HostClock) -> Expected {
    match caller {
        Caller { trusts_clock: true, .. } => Expected::Anything,
        Caller { anchor: Some(anchor), .. } => Expected::Elapsed(anchor.latest_at(clock.boottime_nanos())),
        Caller { anchor: None, .. } => Expected::Wall(clock.wall()),
    }
}

/// The one of these that is in use.
///
/// # Errors
/// [`Error::NoSuchSpace`].
#[cfg(any(feature = "etcd", feature = "mysql", feature = "postgres", feature = "zookeeper"))]
pub(crate) fn in_use(all: Vec<Shown>, store: &str, name: &str) -> Result<Shown, Error> {
    let in_use = all.into_iter().find(|shown| shown.dropped.is_none());
    in_use.ok_or_else(|| Error::NoSuchSpace { store: store.to_owned(), space: name.to_owned() })
}

/// Whether a store's tables are of a version that this program knows. Rule 19.
///
/// # Errors
/// [`Error::Schema`], with which of the two to bring up.
pub fn known_protocol(store: &str, found: u64) -> Result<(), Error> {
    let known = PROTOCOL;
    let next_step = match found {
        found if found > u64::from(known) => "use a later program",
        found if found < u64::from(OLDEST_PROTOCOL) => "bring the tables up with `mintage store upgrade`",
        _ => return Ok(()),
    };
    Err(Error::Schema {
        store: store.to_owned(),
        found: u32::try_from(found).unwrap_or(u32::MAX),
        known,
        next_step,
    })
}

/// One space of a store: every request by its own name.
#[derive(Clone, Debug)]
pub struct Desk {
    store: Arc<dyn Store>,
    space: Arc<Space>,
}

impl Desk {
    /// Opens the space of this name.
    ///
    /// # Errors
    /// See [`Store::space`].
    pub async fn open(store: Arc<dyn Store>, name: &str, deadline: Deadline) -> Result<Self, Error> {
        let space = Arc::new(store.space(name, deadline).await?);
        Ok(Self { store, space })
    }

    /// The space's facts.
    #[must_use]
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Leases of up to `want` workers, at least one. A request whose outcome is unknown leaves its windows burned.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn acquire(
        &self,
        caller: &Caller,
        ask: Acquire,
        deadline: Deadline,
    ) -> Result<Answered<Vec<Lease>>, Error> {
        let answered = self.store.ask(&self.space, caller, &Request::Acquire(ask), deadline).await?;
        self.told(answered, |answer| match answer {
            Answer::Leases(leases) => Some(leases),
            _ => None,
        })
    }

    /// A longer window for each lease, in one transaction; per lease the new window or why there is none.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn renew(
        &self,
        caller: &Caller,
        held: Vec<Held>,
        deadline: Deadline,
    ) -> Result<Answered<Vec<Result<Lease, crate::error::Refusal>>>, Error> {
        let answered = self.store.ask(&self.space, caller, &Request::Renew(held), deadline).await?;
        self.told(answered, each)
    }

    /// During a hold, says that these leases are alive; per lease the row's new serial or why it isn't believed.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn reassert(
        &self,
        caller: &Caller,
        held: Vec<Held>,
        deadline: Deadline,
    ) -> Result<Answered<Vec<Result<Lease, crate::error::Refusal>>>, Error> {
        let answered = self.store.ask(&self.space, caller, &Request::Reassert(held), deadline).await?;
        self.told(answered, each)
    }

    /// Ends a lease. Irrevocable at the holder whatever comes back; never sent twice.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn release(
        &self,
        caller: &Caller,
        release: Release,
        deadline: Deadline,
    ) -> Result<Answered<()>, Error> {
        self.done(caller, Request::Release(release), deadline).await
    }

    /// The next block of a counter.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn claim(
        &self,
        caller: &Caller,
        claim: Claim,
        deadline: Deadline,
    ) -> Result<Answered<Block>, Error> {
        let answered = self.store.ask(&self.space, caller, &Request::Claim(claim), deadline).await?;
        self.told(answered, |answer| match answer {
            Answer::Block(block) => Some(block),
            _ => None,
        })
    }

    /// Gives back the unused end of the last block. Irrevocable at the holder whatever comes back; never sent twice.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn give_back(
        &self,
        caller: &Caller,
        give_back: GiveBack,
        deadline: Deadline,
    ) -> Result<Answered<()>, Error> {
        self.done(caller, Request::GiveBack(give_back), deadline).await
    }

    /// Moves a counter up, and lets it hand out blocks again.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn bump(&self, caller: &Caller, bump: Bump, deadline: Deadline) -> Result<Answered<()>, Error> {
        self.done(caller, Request::Bump(bump), deadline).await
    }

    /// The next values of a scope. A request whose outcome is unknown leaves its values unused for ever.
    ///
    /// The mark of the caller's witness is the highest end that it saw of this scope.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn take(
        &self,
        caller: &Caller,
        take: Take,
        deadline: Deadline,
    ) -> Result<Answered<Block>, Error> {
        let answered = self.store.ask(&self.space, caller, &Request::Take(take), deadline).await?;
        self.told(answered, |answer| match answer {
            Answer::Block(block) => Some(block),
            _ => None,
        })
    }

    /// Moves one scope up, and makes it where it isn't there yet.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn bump_scope(
        &self,
        caller: &Caller,
        scope: ScopeName,
        bump: Bump,
        deadline: Deadline,
    ) -> Result<Answered<()>, Error> {
        self.done(caller, Request::BumpScope(scope, bump), deadline).await
    }

    /// One scope as it stands; `None` when nothing was taken of it yet.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn scope(
        &self,
        caller: &Caller,
        scope: ScopeName,
        deadline: Deadline,
    ) -> Result<Answered<Option<ScopeRow>>, Error> {
        let answered = self.store.ask(&self.space, caller, &Request::LookScope(scope), deadline).await?;
        self.told(answered, |answer| match answer {
            Answer::Scopes(mut rows) => Some(rows.pop()),
            _ => None,
        })
    }

    /// Some scopes as they stand, in the order of their names' bytes.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn scopes(
        &self,
        caller: &Caller,
        page: Page,
        deadline: Deadline,
    ) -> Result<Answered<Vec<ScopeRow>>, Error> {
        let answered = self.store.ask(&self.space, caller, &Request::Scopes(page), deadline).await?;
        self.told(answered, |answer| match answer {
            Answer::Scopes(rows) => Some(rows),
            _ => None,
        })
    }

    /// A request that is answered by being done: `Hold`, `ReleaseHold`, `RestartHold`, `Burn`, `Look`.
    ///
    /// # Errors
    /// See [`Store::ask`].
    pub async fn done(
        &self,
        caller: &Caller,
        request: Request,
        deadline: Deadline,
    ) -> Result<Answered<()>, Error> {
        let answered = self.store.ask(&self.space, caller, &request, deadline).await?;
        self.told(answered, |answer| matches!(answer, Answer::Done).then_some(()))
    }

    fn told<T>(&self, answered: Answered, pick: fn(Answer) -> Option<T>) -> Result<Answered<T>, Error> {
        let Answered { answer, anchor, serial, events } = answered;
        match pick(answer) {
            Some(answer) => Ok(Answered { answer, anchor, serial, events }),
            None => Err(Error::Corrupt {
                store: self.store.url().to_owned(),
                what: "an answer to another request".to_owned(),
            }),
        }
    }
}

fn each(answer: Answer) -> Option<Vec<Result<Lease, crate::error::Refusal>>> {
    match answer {
        Answer::Each(each) => Some(each),
        _ => None,
    }
}

/// Stamps an answer: the store's time, between two readings of the caller's clock.
#[must_use]
pub fn anchor(store_now: mintage::UnixNanos, sent: u64, clock: &dyn HostClock) -> Anchor {
    Anchor { store_now, sent, received: clock.boottime_nanos() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualHostClock;
    use mintage::UnixNanos;

    #[test]
    fn passwords_never_show() {
        for (url, shown) in [
            ("postgres://u:secret@h/db", "postgres://u:***@h/db"),
            (
                "postgres://u:se@c/ret@h1,h2:5/db?sslmode=require",
                "postgres://u:***@h1,h2:5/db?sslmode=require",
            ),
            ("postgres://h/db?user=a&password=secret", "postgres://h/db?user=a"),
            ("postgres://h/db?password=secret", "postgres://h/db"),
            ("postgres://u@h/db", "postgres://u@h/db"),
            ("sqlite:/var/ids.db", "sqlite:/var/ids.db"),
            ("sqlite:/var/a:b@c/ids.db", "sqlite:/var/a:b@c/ids.db"),
            ("postgres://u:se?cret@h/db?a=b", "postgres://u:***@h/db?a=b"),
            ("mysql://u:se/c?r@e&t@h/db", "mysql://u:***@h/db"),
            ("etcd:u:secret@h", "etcd:u:***@h"),
            ("etcd:/u:secret@h", "etcd:/u:***@h"),
            ("postgres://h/db?PASSWORD=secret&a=b", "postgres://h/db?a=b"),
            ("postgres://h/db?password=se@secret", "postgres://***"),
            ("postgres://h/db?sslpassword=secret", "postgres://h/db"),
            ("host=h user=u password=secret", "***"),
            ("postgres:host=h password='a secret'", "postgres:***"),
        ] {
            assert_eq!(redacted(url), shown);
            assert!(!redacted(url).contains("secret"));
        }
    }

    #[test]
    fn a_url_of_no_store_names_those_that_there_are() {
        let error = open("carrier-pigeon://u:secret@loft", OpenOptions::default()).unwrap_err().to_string();
        assert!(error.contains("carrier-pigeon://u:***@loft"), "{error}");
    }

    #[test]
    fn rule_19_tables_of_a_version_that_is_not_known_say_which_side_to_bring_up() {
        assert!((OLDEST_PROTOCOL..=PROTOCOL).all(|found| known_protocol("sqlite:x", found.into()).is_ok()));
        for (found, told) in [(0, "mintage store upgrade"), (u64::from(PROTOCOL) + 1, "use a later program")]
        {
            let error = known_protocol("sqlite:x", found).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn nonces_differ() {
        assert_ne!(draw_nonce().unwrap(), draw_nonce().unwrap());
    }

    #[test]
    fn rule_15_what_is_expected_follows_from_who_asks() {
        let clock = ManualHostClock::new(UnixNanos::from_secs(100));
        let fresh = Caller::default();
        assert_eq!(expected(&fresh, &clock), Expected::Wall(UnixNanos::from_secs(100)));
        let sent = clock.boottime_nanos();
        let anchor = Anchor { store_now: UnixNanos::from_secs(50), sent, received: sent + 1 };
        clock.pass(3_000_000_000);
        clock.set_wall(UnixNanos(0));
        let holder = Caller { anchor: Some(anchor), ..fresh };
        assert_eq!(expected(&holder, &clock), Expected::Elapsed(UnixNanos::from_secs(53)));
        assert_eq!(expected(&Caller { trusts_clock: true, ..holder }, &clock), Expected::Anything);
    }
}
