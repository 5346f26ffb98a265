//! What a client asks of a space, and what it is told.

use crate::error::Refusal;
use crate::state::{Nonce, ScopeName, ScopeRow, SpaceState, Tick, Witness, WorkerRow};
use mintage::UnixNanos;

/// A question to a space, answered in one transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", rename_all_fields = "snake_case")
)]
pub enum Request {
    /// Leases of up to `want` workers. Rule 13.
    Acquire(Acquire),
    /// A longer window for each lease of a process. Rule 12.
    Renew(Vec<Held>),
    /// The end of a lease. Rule 20.
    Release(Release),
    /// During a hold: these leases are alive, whatever their rows say. Rule 17.
    Reassert(Vec<Held>),
    /// A block of a counter. Rule 18.
    Claim(Claim),
    /// The unused end of the last block. Rule 11.
    GiveBack(GiveBack),
    /// The next values of one scope. Rule 18.
    Take(Take),
    /// An operator's: moves one scope up, as for an import, and makes it where it isn't there yet. It ends no stop. Rule 18.
    BumpScope(ScopeName, Bump),
    /// One scope as it stands.
    LookScope(ScopeName),
    /// Some scopes as they stand, in the order of their names' bytes.
    Scopes(Page),
    /// An operator's: the space goes on hold.
    Hold,
    /// An operator's: nothing was lost, the hold ends now. In a space of windows the word is about every hold whose floor lies
    /// ahead of the store's clock, and it doesn't end the one of a space that was created again before the ticks that the old
    /// one may have issued have passed: [`Event::HoldStays`]. Rules 17 and 19.
    ReleaseHold,
    /// An operator's, in a space of scopes: every scope that was ever used is there, so that one that isn't begins with the first value
    /// again, whatever all scopes jumped over. Rule 18.
    BeginAnew,
    /// An operator's: whether a mere restart begins a hold.
    RestartHold(bool),
    /// An operator's: retires a worker for ever.
    Burn(#[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))] u64),
    /// An operator's: moves the counter up, and hands out blocks again. In a space of scopes it moves all of them by so many values,
    /// those that aren't there yet too. Rule 18.
    Bump(Bump),
    /// Nothing but the comparison of identity and time that every transaction makes.
    Look,
}

impl Request {
    /// Its word, for messages and logs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Acquire(_) => "acquire",
            Self::Renew(_) => "renew",
            Self::Release(_) => "release",
            Self::Reassert(_) => "re-assert",
            Self::Claim(_) => "claim",
            Self::GiveBack(_) => "give back",
            Self::Take(_) => "take",
            Self::BumpScope(..) => "bump --scope",
            Self::LookScope(_) => "look at a scope",
            Self::Scopes(_) => "scopes",
            Self::Hold => "hold",
            Self::ReleaseHold => "release-hold",
            Self::BeginAnew => "begin-anew",
            Self::RestartHold(_) => "restart-hold",
            Self::Burn(_) => "burn-worker",
            Self::Bump(_) => "bump",
            Self::Look => "look",
        }
    }

    /// The workers whose rows the rule must see.
    #[must_use]
    pub fn workers(&self) -> Vec<u64> {
        match self {
            Self::Renew(held) | Self::Reassert(held) => held.iter().map(|held| held.worker).collect(),
            Self::Release(release) => vec![release.held.worker],
            Self::Burn(worker) => vec![*worker],
            _ => Vec::new(),
        }
    }

    /// The scope whose row the rule must see.
    #[must_use]
    pub const fn scope(&self) -> Option<&ScopeName> {
        match self {
            Self::Take(take) => Some(&take.scope),
            Self::BumpScope(scope, _) | Self::LookScope(scope) => Some(scope),
            _ => None,
        }
    }

    /// The scopes whose rows the rule must see, where it is a page of them.
    #[must_use]
    pub const fn page(&self) -> Option<&Page> {
        match self {
            Self::Scopes(page) => Some(page),
            _ => None,
        }
    }
}

/// Asks for the next values of a scope, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct Take {
    /// Drawn for this request alone, never 0.
    pub nonce: Nonce,
    /// The scope.
    pub scope: ScopeName,
    /// Values wanted, 1 to [`MAX_TAKE`]; all or none are given.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub size: u64,
}

/// Most values of a scope that are taken at once.
pub const MAX_TAKE: u64 = 1 << 32;

/// Which scopes to look at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct Page {
    /// Those after this one; from the first on when there is none.
    pub after: Option<ScopeName>,
    /// At most so many, 1 to [`MAX_PAGE`].
    pub most: u32,
}

/// Most scopes of one page.
pub const MAX_PAGE: u32 = 1_000;

/// Asks for leases.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct Acquire {
    /// Drawn for this request alone, never 0. Rule 14.
    pub nonce: Nonce,
    /// Leases wanted, 1 to 1024; fewer are given where fewer workers are free.
    pub want: u32,
    /// The host that asks, at most 255 bytes: for the quota only. Rule 13.
    pub host: String,
}

/// Most leases of one request.
pub const MAX_LEASES: u32 = 1024;

/// A lease as its holder names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct Held {
    /// The worker.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub worker: u64,
    /// Who holds it.
    pub nonce: Nonce,
    /// The serial of the last answer about it.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub serial: u64,
    /// Where its window ends.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub until: Tick,
}

/// The right to put ticks in `[from, until)` into ids as one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct Lease {
    /// The worker.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub worker: u64,
    /// The first tick of what this answer grants; of a renewal, the old `until`.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub from: Tick,
    /// The tick after the last.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub until: Tick,
    /// To be named by the next request about it.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub serial: u64,
    /// Who holds it.
    pub nonce: Nonce,
}

impl Lease {
    /// As its holder names it in requests.
    #[must_use]
    pub const fn held(&self) -> Held {
        Held { worker: self.worker, nonce: self.nonce, serial: self.serial, until: self.until }
    }
}

/// Ends a lease; irrevocable at the holder, whatever the store answers, and never sent twice. Rules 11 and 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct Release {
    /// The lease.
    pub held: Held,
    /// The last tick used in an id; `None` when no id was made, and the mark sinks to where the first window began.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text_or_none"))]
    pub last: Option<Tick>,
}

/// Asks for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct Claim {
    /// Drawn for this request alone, never 0.
    pub nonce: Nonce,
    /// Values wanted, at least 1; 1 where the space's step is above 1.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub size: u64,
}

/// A range of a counter: `start`, `start + step`, … below `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct Block {
    /// The first value.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub start: u64,
    /// After the last value.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub end: u64,
    /// The distance of two values.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub step: u64,
    /// To be named by a give-back.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub serial: u64,
    /// Who holds it.
    pub nonce: Nonce,
}

/// Gives back `[unused, end)` of the last block; irrevocable, and never sent twice. Rule 11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct GiveBack {
    /// The block, as it was handed out.
    pub block: Block,
    /// The first value that was not used.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
    pub unused: u64,
}

/// How far a counter is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", rename_all_fields = "snake_case")
)]
pub enum Bump {
    /// To this value, or the next that the offset allows; refused below the counter.
    To(#[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))] u64),
    /// By this many values, on to the next that the offset allows.
    By(#[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))] u64),
}

/// What a request was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", rename_all_fields = "snake_case")
)]
pub enum Answer {
    /// Acquired leases, at least one.
    Leases(Vec<Lease>),
    /// For each lease of a renewal or re-assertion, in order, its new window or why there is none.
    Each(Vec<Result<Lease, Refusal>>),
    /// A block, or the values of a scope.
    Block(Block),
    /// Scopes as they stand: `next` is what would be handed out.
    Scopes(Vec<ScopeRow>),
    /// It is done.
    Done,
}

/// What happened to a space on the way, for logs and counters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", rename_all_fields = "snake_case")
)]
pub enum Event {
    /// A hold began, or went on with a later floor.
    HoldBegan {
        /// Why.
        why: Loss,
        /// The floor.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        floor: Tick,
    },
    /// An operator ended a hold, and it stays: a dropped space of the same name may have issued the ticks below. Rule 19.
    HoldStays {
        /// The floor.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        floor: Tick,
    },
    /// A restart was let pass, as the space wants it.
    RestartPassed,
    /// A counter jumped.
    Jumped {
        /// From this value.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        from: u64,
        /// To this one.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        to: u64,
    },
    /// All scopes jumped, those that aren't there yet too.
    ScopesJumped {
        /// By so many values.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        by: u64,
    },
    /// A counter, or all scopes, stopped until an operator bumps it.
    Stopped {
        /// Why.
        why: Loss,
    },
}

/// What shows that a store may have lost transactions. Rule 17.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", rename_all_fields = "snake_case")
)]
pub enum Loss {
    /// The server was started again.
    #[error("the server was started again")]
    Restart,
    /// A replica was promoted.
    #[error("a replica was promoted")]
    Promotion,
    /// The data is a copy.
    #[error("the data is a copy, of unknown age")]
    OlderCopy,
    /// A client has seen a higher serial or mark.
    #[error("a client has seen more than the store shows")]
    Witness,
    /// A live holder finds another's row, an older row or none.
    #[error("a holder of a lease finds another row than it left")]
    ForeignRow,
    /// An operator said so.
    #[error("an operator asked for it")]
    Operator,
    /// The space was created again under its old name.
    #[error("the space was created again under its old name")]
    CreatedAgain,
}

impl Loss {
    const WORDS: [(Self, &'static str); 7] = [
        (Self::Restart, "restart"),
        (Self::Promotion, "promotion"),
        (Self::OlderCopy, "older-copy"),
        (Self::Witness, "witness"),
        (Self::ForeignRow, "foreign-row"),
        (Self::Operator, "operator"),
        (Self::CreatedAgain, "created-again"),
    ];

    /// The word under which stores keep it.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(loss, _)| *loss == self).map_or("", |(_, word)| word)
    }

    /// What a store keeps under this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, known)| *known == word).map(|(loss, _)| *loss)
    }
}

/// The last hold or stop of a space: why it began, and when. It is kept for people; no rule goes by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub struct Hold {
    /// Why.
    pub why: Loss,
    /// The store's time then.
    #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
    pub began: UnixNanos,
}

/// Who asks: what it knows of the space and of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Caller {
    /// The highest serial and mark that it saw of the space. Rule 17.
    pub witness: Witness,
    /// When it last learned the store's time, if it holds a lease. Rule 15.
    pub anchor: Option<Anchor>,
    /// An operator said that the store's clock is right, so it isn't compared. Rule 15.
    pub trusts_clock: bool,
}

/// One reading of the store's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    /// The store's time.
    pub store_now: UnixNanos,
    /// The monotonic clock that counts suspend (`CLOCK_BOOTTIME`), in nanoseconds, before the store was asked.
    pub sent: u64,
    /// The same clock, once the answer was there: the store's time was read in between.
    pub received: u64,
}

impl Anchor {
    /// Nanoseconds between sending and receiving.
    #[must_use]
    pub const fn round_trip_nanos(&self) -> u64 {
        self.received.saturating_sub(self.sent)
    }

    /// The latest that the store's time can be at `boottime`, if its clock runs as ours does.
    #[must_use]
    pub fn latest_at(&self, boottime: u64) -> UnixNanos {
        self.store_now.plus(i128::from(boottime.saturating_sub(self.sent)))
    }
}

/// An answer, with what else the transaction showed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Answered<T = Answer> {
    /// The answer.
    pub answer: T,
    /// The store's time as the transaction read it, and between which readings of the caller's clock.
    pub anchor: Anchor,
    /// The space's serial after it.
    pub serial: u64,
    /// What happened to the space on the way.
    pub events: Vec<Event>,
}

/// A space with its rows, as an operator sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shown {
    /// Its facts.
    pub space: crate::space::Space,
    /// Its row.
    pub state: SpaceState,
    /// The rows of its workers, by worker.
    pub workers: Vec<WorkerRow>,
    /// The store's time.
    pub now: UnixNanos,
    /// When it was dropped, if it was.
    pub dropped: Option<UnixNanos>,
    /// Its last hold or stop; tables of version 1 keep none.
    pub hold: Option<Hold>,
}
