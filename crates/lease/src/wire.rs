//! What goes between a service and the processes that lease from it: requests, answers and errors as JSON. Requests have no field that isn't known; answers may, as
//! a later service tells more. Numbers of 64 bits and more are texts, nonces 32
//! hexadecimal digits, times nanoseconds since 1970.

use crate::error::{Cause, Error, Refusal, Word};
use crate::request::{Anchor, Answer, Answered, Caller, Event, Hold, Request, Shown};
use crate::space::{Difference, Space, SpaceFault, SpaceId};
use crate::state::{SpaceState, Witness, WorkerRow};
use crate::store::{CheckLine, CreateOptions};
use mintage::UnixNanos;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// What a client asks of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The space's UUID: a name may lead to another space by now. Rule 19.
    #[serde(with = "hex")]
    pub space: u128,
    /// What the client saw of it. Rule 17.
    pub witness: Witness,
    /// The latest that the store's time can be, by a client that was told it before; a fresh one has nothing to go by. Rule 15.
    #[serde(with = "nanos_or_none", default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<UnixNanos>,
    /// An operator said that the store's clock is right.
    #[serde(default)]
    pub trusts_clock: bool,
    /// For how long it is of use, in milliseconds.
    pub within_ms: u32,
    /// The request.
    pub request: Request,
}

impl Asked {
    /// What a client asks at `boottime` on its clock.
    #[must_use]
    pub fn of(space: SpaceId, caller: &Caller, request: &Request, boottime: u64, within_ms: u32) -> Self {
        Self {
            space: space.0,
            witness: caller.witness,
            expected: caller.anchor.map(|anchor| anchor.latest_at(boottime)),
            trusts_clock: caller.trusts_clock,
            within_ms,
            request: request.clone(),
        }
    }

    /// Who asks, for a store whose clock says `boottime`: what was on the way meanwhile is within the skew that the rules allow.
    #[must_use]
    pub fn caller(&self, boottime: u64) -> Caller {
        let anchor = |store_now| Anchor { store_now, sent: boottime, received: boottime };
        Caller { witness: self.witness, anchor: self.expected.map(anchor), trusts_clock: self.trusts_clock }
    }
}

/// What it is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The answer.
    pub answer: Answer,
    /// The store's time as the transaction read it.
    #[serde(with = "nanos")]
    pub store_now: UnixNanos,
    /// The space's serial after it.
    #[serde(with = "text")]
    pub serial: u64,
    /// What happened to the space on the way.
    #[serde(default)]
    pub events: Vec<Event>,
}

impl Told {
    /// What a store answered.
    #[must_use]
    pub fn of(answered: Answered) -> Self {
        let Answered { answer, anchor, serial, events } = answered;
        Self { answer, store_now: anchor.store_now, serial, events }
    }

    /// The same for a client, between whose readings of its clock the store's time was read.
    #[must_use]
    pub fn answered(self, sent: u64, received: u64) -> Answered {
        let anchor = Anchor { store_now: self.store_now, sent, received };
        Answered { answer: self.answer, anchor, serial: self.serial, events: self.events }
    }
}

/// The facts of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Its UUID.
    #[serde(with = "hex")]
    id: u128,
    facts: BTreeMap<String, String>,
}

impl Facts {
    /// Those of a space.
    #[must_use]
    pub fn of(space: &Space) -> Self {
        let facts = space.facts().into_iter().map(|(name, value)| (name.to_owned(), value));
        Self { id: space.id.0, facts: facts.collect() }
    }

    /// The space.
    ///
    /// # Errors
    /// The name of a fact that is missing or can't be read.
    pub fn space(&self) -> Result<Space, &'static str> {
        Space::from_facts(SpaceId(self.id), &|name| self.facts.get(name).cloned())
    }
}

/// A space that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Its facts.
    pub space: Facts,
    /// Whether a mere restart of the server begins a hold. Rule 17.
    pub restart_hold: bool,
    /// An operator said that the store's clock is right.
    pub trusts_clock: bool,
    /// For how long it is of use, in milliseconds.
    pub within_ms: u32,
}

impl Wanted {
    /// How it is created.
    #[must_use]
    pub const fn options(&self) -> CreateOptions {
        CreateOptions { restart_hold: self.restart_hold, trusts_clock: self.trusts_clock }
    }
}

/// A space with its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    space: Facts,
    state: SpaceState,
    workers: Vec<WorkerRow>,
    #[serde(with = "nanos")]
    now: UnixNanos,
    #[serde(with = "nanos_or_none", default)]
    dropped: Option<UnixNanos>,
    #[serde(default)]
    hold: Option<Hold>,
}

impl Rows {
    /// Those that a store shows.
    #[must_use]
    pub fn of(shown: Shown) -> Self {
        let Shown { space, state, workers, now, dropped, hold } = shown;
        Self { space: Facts::of(&space), state, workers, now, dropped, hold }
    }

    /// As a store shows them.
    ///
    /// # Errors
    /// The name of a fact that is missing or can't be read.
    pub fn shown(self) -> Result<Shown, &'static str> {
        let Self { space, state, workers, now, dropped, hold } = self;
        Ok(Shown { space: space.space()?, state, workers, now, dropped, hold })
    }
}

/// One thing that a store looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    #[serde(with = "fixed")]
    what: Word,
    is_good: bool,
    found: String,
}

impl From<CheckLine> for Line {
    fn from(line: CheckLine) -> Self {
        Self { what: line.what, is_good: line.is_good, found: line.found }
    }
}

impl From<Line> for CheckLine {
    fn from(line: Line) -> Self {
        Self { what: line.what, is_good: line.is_good, found: line.found }
    }
}

/// Why a store didn't do what it was asked: what a client acts by. The words for people stand beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A rule says no.
    Refused {
        /// Which.
        refusal: Refusal,
        /// The store's time.
        #[serde(with = "nanos")]
        now: UnixNanos,
        /// What happened on the way.
        #[serde(default)]
        events: Vec<Event>,
    },
    /// It may or may not have been carried out.
    UnknownOutcome,
    /// The deadline came first; nothing was done.
    Deadline,
    /// The store can't be reached.
    Unreachable,
    /// The role may not do this.
    Denied {
        /// What is needed.
        #[serde(with = "fixed")]
        needs: Word,
    },
    /// The store has no room.
    Full,
    /// There is no such space.
    NoSuchSpace,
    /// The name leads to another space.
    SpaceGone,
    /// It is there with other facts.
    SpaceDiffers {
        /// Which.
        difference: Difference,
    },
    /// The name issued other numbers.
    NameUsed {
        /// What differs.
        difference: Difference,
    },
    /// No space can have these facts.
    SpaceFault {
        /// Why.
        fault: SpaceFault,
    },
    /// The store isn't durable enough.
    Unsafe {
        /// Why.
        what: String,
    },
    /// There are no tables.
    NoSchema,
    /// The tables have another version.
    Schema {
        /// The version found.
        found: u32,
        /// The version that the program has.
        known: u32,
        /// What to do.
        #[serde(with = "fixed")]
        next_step: Word,
    },
    /// The host's clock is ahead.
    ClockAhead {
        /// What it says.
        #[serde(with = "nanos")]
        now: UnixNanos,
        /// The last time that the store saw.
        #[serde(with = "nanos")]
        last: UnixNanos,
    },
    /// The host's clock is behind.
    ClockBehind {
        /// What it says.
        #[serde(with = "nanos")]
        now: UnixNanos,
        /// The last time that the store saw.
        #[serde(with = "nanos")]
        last: UnixNanos,
    },
    /// The file isn't the one that was opened.
    FileReplaced,
    /// Rows that can't be read.
    Corrupt {
        /// Which.
        what: String,
    },
    /// Anything else.
    Other,
}

impl Fault {
    /// Of an error.
    #[must_use]
    pub fn of(error: &Error) -> Self {
        match error {
            Error::Refused { refusal, now, events, .. } => {
                Self::Refused { refusal: refusal.clone(), now: *now, events: events.clone() }
            }
            Error::UnknownOutcome { .. } => Self::UnknownOutcome,
            Error::Deadline { .. } => Self::Deadline,
            Error::Unreachable { .. } => Self::Unreachable,
            Error::Denied { needs, .. } => Self::Denied { needs },
            Error::Full { .. } => Self::Full,
            Error::NoSuchSpace { .. } => Self::NoSuchSpace,
            Error::SpaceGone { .. } => Self::SpaceGone,
            Error::SpaceDiffers { difference, .. } => Self::SpaceDiffers { difference: difference.clone() },
            Error::NameUsed { difference, .. } => Self::NameUsed { difference: difference.clone() },
            Error::SpaceFault { fault, .. } => Self::SpaceFault { fault: fault.clone() },
            Error::Unsafe { what, .. } => Self::Unsafe { what: what.clone() },
            Error::NoSchema { .. } => Self::NoSchema,
            Error::Schema { found, known, next_step, .. } => {
                Self::Schema { found: *found, known: *known, next_step }
            }
            Error::ClockAhead { now, last, .. } => Self::ClockAhead { now: *now, last: *last },
            Error::ClockBehind { now, last, .. } => Self::ClockBehind { now: *now, last: *last },
            Error::FileReplaced { .. } => Self::FileReplaced,
            Error::Corrupt { what, .. } => Self::Corrupt { what: what.clone() },
            _ => Self::Other,
        }
    }

    /// The error again, at a client that asked `request` of `space` in `store`, and was told `source` for people.
    #[must_use]
    pub fn error(self, store: &str, space: &str, request: &'static str, source: Cause) -> Error {
        let (store, space) = (store.to_owned(), space.to_owned());
        match self {
            Self::Refused { refusal, now, events } => Error::Refused { space, refusal, now, events },
            Self::UnknownOutcome => Error::UnknownOutcome { store, request, source },
            Self::Deadline => Error::Deadline { store, request, source: Some(source) },
            Self::Unreachable => Error::Unreachable { store, source },
            Self::Denied { needs } => Error::Denied { store, needs, request, source },
            Self::Full => Error::Full { store, request, source },
            Self::NoSuchSpace => Error::NoSuchSpace { store, space },
            Self::SpaceGone => Error::SpaceGone { space },
            Self::SpaceDiffers { difference } => Error::SpaceDiffers { space, difference },
            Self::NameUsed { difference } => Error::NameUsed { space, difference },
            Self::SpaceFault { fault } => Error::SpaceFault { space, fault },
            Self::Unsafe { what } => Error::Unsafe { store, what },
            Self::NoSchema => Error::NoSchema { store },
            Self::Schema { found, known, next_step } => Error::Schema { store, found, known, next_step },
            Self::ClockAhead { now, last } => Error::ClockAhead { store, now, last },
            Self::ClockBehind { now, last } => Error::ClockBehind { store, now, last },
            Self::FileReplaced => Error::FileReplaced { store },
            Self::Corrupt { what } => Error::Corrupt { store, what },
            Self::Other => Error::Database { store, request, source },
        }
    }
}

/// Numbers as texts.
pub(crate) mod text {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::fmt::Display;
    use std::str::FromStr;

    pub(crate) fn serialize<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(crate) fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        let text = String::deserialize(from)?;
        let wrong = || serde::de::Error::custom(format!("{text:?} was given, a number as text expected"));
        text.parse().map_err(|_| wrong())
    }
}

/// Numbers as texts, or none.
pub(crate) mod text_or_none {
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "what serde calls")]
    pub(crate) fn serialize<S: Serializer>(value: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.collect_str(value),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
        let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
        let wrong = || serde::de::Error::custom(format!("{text:?} was given, a number as text expected"));
        text.parse().map(Some).map_err(|_| wrong())
    }
}

/// Times as nanoseconds since 1970.
pub(crate) mod nanos {
    use super::text;
    use mintage::UnixNanos;
    use serde::{Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &UnixNanos, to: S) -> Result<S::Ok, S::Error> {
        text::serialize(&value.0, to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<UnixNanos, D::Error> {
        text::deserialize(from).map(UnixNanos)
    }
}

/// The same, or none.
pub(crate) mod nanos_or_none {
    use mintage::UnixNanos;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "what serde calls")]
    pub(crate) fn serialize<S: Serializer>(value: &Option<UnixNanos>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.collect_str(&value.0),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<UnixNanos>, D::Error> {
        let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
        let wrong = || serde::de::Error::custom(format!("{text:?} was given, nanoseconds as text expected"));
        text.parse().map(|nanos| Some(UnixNanos(nanos))).map_err(|_| wrong())
    }
}

/// 128 bits as 32 hexadecimal digits.
pub(crate) mod hex {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{value:032x}"))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        let text = String::deserialize(from)?;
        let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let wrong =
            || serde::de::Error::custom(format!("{text:?} was given, 32 hexadecimal digits expected"));
        if digits { u128::from_str_radix(&text, 16).map_err(|_| wrong()) } else { Err(wrong()) }
    }
}

/// Three numbers as texts.
pub(crate) mod three {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &[u64; 3], to: S) -> Result<S::Ok, S::Error> {
        value.map(|number| number.to_string()).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u64; 3], D::Error> {
        let texts = <[String; 3]>::deserialize(from)?;
        let mut numbers = [0; 3];
        for (number, text) in numbers.iter_mut().zip(&texts) {
            let wrong = || serde::de::Error::custom(format!("{text:?} was given, a number as text expected"));
            *number = text.parse().map_err(|_| wrong())?;
        }
        Ok(numbers)
    }
}

/// Texts of which a program has so many and no more: each is kept once, for good.
pub(crate) mod fixed {
    use super::kept;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &&'static str, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(value)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
        String::deserialize(from).map(|text| kept(&text))
    }
}

/// Most texts that are kept, and most bytes of one: far more than a program has. What a service makes up beyond that is left out.
const MOST_KEPT: usize = 1_000;
const LONGEST_KEPT: usize = 500;

fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    if let Some(known) = kept.get(text) {
        return known;
    }
    if kept.len() >= MOST_KEPT || text.len() > LONGEST_KEPT {
        return "(left out)";
    }
    let text: &'static str = String::from(text).leak();
    kept.insert(text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Lost;
    use crate::request::{Acquire, Block, Bump, Claim, GiveBack, Held, Lease, Loss, Page, Release, Take};
    use crate::space::{BlockTerms, Kind};
    use crate::state::Nonce;
    use std::fmt::Debug;

    fn returns<T: Serialize + for<'de> Deserialize<'de> + PartialEq + Debug>(value: &T) {
        let text = serde_json::to_string(value).unwrap();
        assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
        // Clients in other languages round numbers of 64 bits.
        let is_long = |word: &str| word.len() > 10 && word.bytes().all(|byte| byte.is_ascii_digit());
        assert!(!text.split(|c: char| ":,[]{}".contains(c)).any(is_long), "{text}");
    }

    fn held() -> Held {
        Held { worker: 3, nonce: Nonce(u128::MAX), serial: u64::MAX >> 1, until: u64::MAX >> 2 }
    }

    fn lease() -> Lease {
        Lease { worker: 3, from: 1, until: u64::MAX >> 2, serial: 9, nonce: Nonce(7) }
    }

    fn block() -> Block {
        Block { start: 1, end: u64::MAX >> 1, step: 2, serial: 3, nonce: Nonce(4) }
    }

    #[test]
    fn every_request_comes_back() {
        let scope: crate::state::ScopeName = "a/ä".parse().unwrap();
        for request in [
            Request::Acquire(Acquire { nonce: Nonce(1), want: 3, host: "h\n".to_owned() }),
            Request::Renew(vec![held(), held()]),
            Request::Release(Release { held: held(), last: Some(u64::MAX >> 3) }),
            Request::Release(Release { held: held(), last: None }),
            Request::Reassert(vec![held()]),
            Request::Claim(Claim { nonce: Nonce(1), size: 1 << 40 }),
            Request::GiveBack(GiveBack { block: block(), unused: 77 }),
            Request::Take(Take { nonce: Nonce(1), scope: scope.clone(), size: 5 }),
            Request::BumpScope(scope.clone(), Bump::To(1 << 60)),
            Request::LookScope(scope.clone()),
            Request::Scopes(Page { after: Some(scope), most: 10 }),
            Request::Scopes(Page { after: None, most: 10 }),
            Request::Hold,
            Request::ReleaseHold,
            Request::BeginAnew,
            Request::RestartHold(true),
            Request::Burn(u64::MAX >> 1),
            Request::Bump(Bump::By(3)),
            Request::Look,
        ] {
            let caller = Caller {
                witness: Witness { serial: 5, mark: u64::MAX >> 1 },
                anchor: Some(Anchor { store_now: UnixNanos(1 << 70), sent: 1_000, received: 2_000 }),
                trusts_clock: false,
            };
            let asked = Asked::of(SpaceId(u128::MAX), &caller, &request, 5_000, 10_000);
            returns(&asked);
            // What has passed since it was told is in it.
            assert_eq!(asked.caller(7).anchor.unwrap().latest_at(7), UnixNanos((1 << 70) + 4_000));
        }
    }

    #[test]
    fn every_answer_and_every_refusal_comes_back() {
        let at = UnixNanos(1 << 62);
        let events = vec![
            Event::HoldBegan { why: Loss::Restart, floor: 1 << 60 },
            Event::HoldStays { floor: 3 },
            Event::RestartPassed,
            Event::Jumped { from: 1, to: 1 << 60 },
            Event::ScopesJumped { by: 9 },
            Event::Stopped { why: Loss::Witness },
        ];
        let refusals = vec![
            Refusal::WrongKind { request: "acquire", kind: "blocks" },
            Refusal::Request { what: "0 leases", expected: "1 to 1024" },
            Refusal::ClockAhead { now: at, expected: at },
            Refusal::ClockOff { now: at, wall: at },
            Refusal::HostBehind { wall: at, last: at },
            Refusal::HostAhead { host: at, last: at },
            Refusal::BeforeEpoch { now: at, epoch: at },
            Refusal::TimeFieldEnded { last_tick: 1 << 60 },
            Refusal::OnHold { until: at },
            Refusal::NoneFree { next: Some(at) },
            Refusal::NoneFree { next: None },
            Refusal::HostQuota { live: 1, next: at },
            Refusal::Doubled,
            Refusal::Lost { worker: 1, why: Lost::Foreign, is_on_hold: true },
            Refusal::BelowFloor { worker: 1 },
            Refusal::NotOnHold { worker: 1 },
            Refusal::NotAlive { worker: 1, until: 2 },
            Refusal::LastTick { worker: 1, last: 2, until: 1 << 60 },
            Refusal::WorkerRange { worker: 1, first: 0, last: 1 << 60 },
            Refusal::Stale { next: 1 << 60 },
            Refusal::ScopesStopped,
            Refusal::ScopeEnds { size: 1, left: 0, last: 1 << 60 },
            Refusal::CounterEnded { last: 1 << 60 },
            Refusal::BlockSize { size: 2, max: 1 },
            Refusal::NotLast,
            Refusal::BumpBack { next: 2, to: 1 },
            Refusal::BumpPast { last: 1, to: 2 },
        ];
        let each = refusals.iter().cloned().map(Err).chain([Ok(lease())]).collect();
        for answer in
            [Answer::Leases(vec![lease()]), Answer::Each(each), Answer::Block(block()), Answer::Done]
        {
            returns(&Told { answer, store_now: at, serial: 1 << 60, events: events.clone() });
        }
        for refusal in refusals {
            returns(&Fault::Refused { refusal, now: at, events: events.clone() });
        }
    }

    #[test]
    fn every_error_comes_back_as_what_a_client_acts_by() {
        let (store, space) = ("http://h".to_owned(), "s".to_owned());
        let source = || -> Cause { "why".into() };
        let difference = Difference { fact: "epoch", stored: "1".to_owned(), given: "2".to_owned() };
        let request = "acquire";
        let all = vec![
            Error::UnknownOutcome { store: store.clone(), request, source: source() },
            Error::Deadline { store: store.clone(), request, source: None },
            Error::Unreachable { store: store.clone(), source: source() },
            Error::Denied { store: store.clone(), needs: "a token", request, source: source() },
            Error::Full { store: store.clone(), request, source: source() },
            Error::NoSuchSpace { store: store.clone(), space: space.clone() },
            Error::SpaceGone { space: space.clone() },
            Error::SpaceDiffers { space: space.clone(), difference: difference.clone() },
            Error::NameUsed { space: space.clone(), difference },
            Error::SpaceFault { space: space.clone(), fault: SpaceFault::Zero { fact: "step" } },
            Error::Unsafe { store: store.clone(), what: "w".to_owned() },
            Error::NoSchema { store: store.clone() },
            Error::Schema { store: store.clone(), found: 3, known: 2, next_step: "use a later program" },
            Error::ClockAhead { store: store.clone(), now: UnixNanos(2), last: UnixNanos(1) },
            Error::ClockBehind { store: store.clone(), now: UnixNanos(1), last: UnixNanos(2) },
            Error::FileReplaced { store: store.clone() },
            Error::Corrupt { store: store.clone(), what: "w".to_owned() },
        ];
        for error in all {
            let fault = Fault::of(&error);
            returns(&fault);
            let again = fault.clone().error(&store, &space, request, source());
            assert_eq!((Fault::of(&again), again.to_string()), (fault, error.to_string()));
        }
        assert_eq!(Fault::of(&Error::NotYet { space }), Fault::Other);
    }

    #[test]
    fn facts_of_spaces_come_back() {
        let space = Space { id: SpaceId(5), name: "s".to_owned(), kind: Kind::Blocks(BlockTerms::default()) };
        let facts = Facts::of(&space);
        returns(&facts);
        assert_eq!(facts.space(), Ok(space));
    }

    #[test]
    fn what_a_service_makes_up_is_kept_within_bounds() {
        assert_eq!(kept("abc"), kept("abc"));
        assert_eq!(kept(&"x".repeat(LONGEST_KEPT + 1)), "(left out)");
    }
}
