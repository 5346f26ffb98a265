//! What can go wrong, one variant a cause that a caller can act on. Rules refuse with [`Refusal`]; everything else is [`Error`].

use crate::request::Event;
use crate::space::{Difference, SpaceFault};
use crate::state::Tick;
use mintage::UnixNanos;
use std::error::Error as StdError;

/// A text that programs have as it is, and no other.
pub type Word = &'static str;

/// What another library said.
pub type Cause = Box<dyn StdError + Send + Sync>;

/// Why a store did not do what it was asked. No message holds a password: stores are named by their URL without one.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A rule says no; it is no use to send the same request again before what the refusal says has come.
    #[error("{space}: {refusal}")]
    Refused {
        /// The space's name.
        space: String,
        /// Which rule, and when to try again.
        refusal: Refusal,
        /// The store's time as the transaction read it: what a time in the refusal is compared with.
        now: UnixNanos,
        /// What happened to the space on the way.
        events: Vec<Event>,
    },
    /// The connection ended after the commit was sent: the request may or may not have been carried out. What it asked for is
    /// burned; the request must not be sent again. Rules 10 and 11.
    #[error(
        "{store}: {request} has an unknown outcome, the connection ended before the answer; ask anew, not again"
    )]
    UnknownOutcome {
        /// The store.
        store: String,
        /// The request's word.
        request: &'static str,
        /// How it ended.
        #[source]
        source: Cause,
    },
    /// The deadline came first. Nothing was done.
    #[error("{store}: no answer to {request} before the deadline; nothing was done")]
    Deadline {
        /// The store.
        store: String,
        /// The request's word.
        request: &'static str,
        /// What the last attempt met, if there was one.
        #[source]
        source: Option<Cause>,
    },
    /// The store can't be reached.
    #[error("{store}: can't be reached")]
    Unreachable {
        /// The store.
        store: String,
        /// Why.
        #[source]
        source: Cause,
    },
    /// The store answered with an error that no variant here stands for.
    #[error("{store}: {request} went wrong")]
    Database {
        /// The store.
        store: String,
        /// The request's word.
        request: &'static str,
        /// What it said.
        #[source]
        source: Cause,
    },
    /// The role may not do this.
    #[error("{store}: {request} isn't allowed; {needs}")]
    Denied {
        /// The store.
        store: String,
        /// What is needed, and the next step.
        needs: &'static str,
        /// The request's word.
        request: &'static str,
        /// What it said.
        #[source]
        source: Cause,
    },
    /// The store has no room. Nothing was lost and nothing was granted.
    #[error("{store}: no room left to write {request}; free some, nothing that was granted is lost")]
    Full {
        /// The store.
        store: String,
        /// The request's word.
        request: &'static str,
        /// What it said.
        #[source]
        source: Cause,
    },
    /// There is no space of this name. Opening never creates one. Rule 19.
    #[error("{store}: there is no space {space:?}; `mintage store create` makes one")]
    NoSuchSpace {
        /// The store.
        store: String,
        /// The name.
        space: String,
    },
    /// The name leads to another space than before: it was dropped and created again. Rule 19.
    #[error("{space}: was dropped, or dropped and created again, since it was opened; open it anew")]
    SpaceGone {
        /// The name.
        space: String,
    },
    /// The space is there with other facts. Rule 19.
    #[error("{space}: is there with other facts: {difference}")]
    SpaceDiffers {
        /// The name.
        space: String,
        /// The first that differs.
        difference: Difference,
    },
    /// A space of this name that was dropped numbered its ids otherwise. Rule 19.
    #[error(
        "{space}: a space of this name that was dropped may have issued ids numbered otherwise, and one of them could come again: \
         {difference}; give the new space another name"
    )]
    NameUsed {
        /// The name.
        space: String,
        /// What differs first.
        difference: Difference,
    },
    /// A space can't have these facts.
    #[error("{space}: {fault}")]
    SpaceFault {
        /// The name.
        space: String,
        /// What is wrong.
        fault: SpaceFault,
    },
    /// The URL isn't one of a store.
    #[error("{url}: {fault}")]
    Url {
        /// The URL, without a password.
        url: String,
        /// What is wrong with it, and what is expected.
        fault: String,
    },
    /// The store isn't as durable as leases need, or its host doesn't tell what it must. Rule 10.
    #[error("{store}: {what}")]
    Unsafe {
        /// The store.
        store: String,
        /// What is wrong, and the next step.
        what: String,
    },
    /// The store has no tables yet, and this call doesn't make them.
    #[error(
        "{store}: has no tables yet; `mintage store create` makes them, `mintage store schema` prints them"
    )]
    NoSchema {
        /// The store.
        store: String,
    },
    /// The store's tables are of another protocol version. Rule 19.
    #[error("{store}: its tables have version {found}, this program knows {known}; {next_step}")]
    Schema {
        /// The store.
        store: String,
        /// The version found.
        found: u32,
        /// The version that this program has.
        known: u32,
        /// Which of them to bring up.
        next_step: &'static str,
    },
    /// After a restart of the host, its wall clock is more than a year ahead of the last time that the store saw. Rule 15.
    #[error(
        "{store}: the host's clock says {now}, more than a year after {last}, the last time that the store has seen; set the clock right, \
         or say that it is with --trust-store-clock"
    )]
    ClockAhead {
        /// The store.
        store: String,
        /// What the clock says.
        now: UnixNanos,
        /// The last time that the store saw.
        last: UnixNanos,
    },
    /// After a restart of the host, its wall clock is behind the last time that the store saw. Rule 16.
    #[error(
        "{store}: the host's clock says {now}, but the store has seen {last}; set the clock right, or, if the store's time is what is \
         wrong, go on with a new file"
    )]
    ClockBehind {
        /// The store.
        store: String,
        /// What the clock says.
        now: UnixNanos,
        /// The last time in the store.
        last: UnixNanos,
    },
    /// The path leads to another file than the one that is open. Rule 16.
    #[error("{store}: the file was replaced or removed while it was open; open it anew")]
    FileReplaced {
        /// The store.
        store: String,
    },
    /// What the store holds can't be read as rows of this protocol.
    #[error("{store}: {what} can't be read; the table was changed by other means")]
    Corrupt {
        /// The store.
        store: String,
        /// Which value.
        what: String,
    },
    /// What was wanted doesn't go with what the space hands out.
    #[error("{space}: is a space of {kind}, {wanted} doesn't go with it")]
    WrongKind {
        /// The space's name.
        space: String,
        /// `a minter`, `an allocator`, `a ticket` or `a scope`.
        wanted: &'static str,
        /// `windows`, `blocks` or `scopes`.
        kind: &'static str,
    },
    /// Spaces that were to be twins aren't. Rule 19.
    #[error("{space}: those of {first} and {second} are no twins: {fault}")]
    NotTwins {
        /// The space's name.
        space: String,
        /// The first store.
        first: String,
        /// The second store.
        second: String,
        /// What is wrong, with both values.
        fault: Box<crate::tickets::NotTwins>,
    },
    /// No block was there in time, or the space hands out no more.
    #[error("{space}: no block to hand out values of")]
    NoBlock {
        /// The space's name.
        space: String,
        /// Why the last claim failed, if one did.
        #[source]
        source: Option<std::sync::Arc<Self>>,
    },
    /// The next block isn't there yet: nothing is wrong. `next` waits.
    #[error("{space}: the next block isn't there yet; try again soon")]
    NotYet {
        /// The space's name.
        space: String,
    },
    /// The allocator was closed.
    #[error("{space}: was closed, so it hands out nothing any more; open it anew")]
    Closed {
        /// The space's name.
        space: String,
    },
    /// No id, and no generator, can be made of what was granted.
    #[error(transparent)]
    Mint(#[from] mintage::Error),
    /// The process was forked after the store was opened; a child opens its own. Rule 8.
    #[error("{store}: was opened by the process that this one was forked from; open it anew")]
    Forked {
        /// The store.
        store: String,
    },
}

impl Error {
    /// The refusal, when a rule said no.
    #[must_use]
    pub const fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused { refusal, .. } => Some(refusal),
            _ => None,
        }
    }

    /// Whether the same request may be sent again, as it was certainly not carried out and may be later.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Deadline { .. } | Self::Unreachable { .. } | Self::Full { .. })
    }
}

/// Which rule says no.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", rename_all_fields = "snake_case")
)]
pub enum Refusal {
    /// The request doesn't go with the space's kind.
    #[error("{request} doesn't go with a space of {kind}")]
    WrongKind {
        /// The request's word.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::fixed"))]
        request: Word,
        /// `windows`, `blocks` or `scopes`.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::fixed"))]
        kind: Word,
    },
    /// The request itself makes no sense.
    #[error("{what} was given, {expected} expected")]
    Request {
        /// What was given.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::fixed"))]
        what: Word,
        /// What was expected.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::fixed"))]
        expected: Word,
    },
    /// The store's clock is ahead of what has passed since the caller last saw it. Rule 15.
    #[error(
        "the store's clock says {now}, at most {expected} expected; if the store is right, say so with --trust-store-clock"
    )]
    ClockAhead {
        /// What it says.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        now: UnixNanos,
        /// The latest that the caller can explain.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        expected: UnixNanos,
    },
    /// The store's clock and the wall clock of a fresh client are more than an hour apart. Rule 15.
    #[error(
        "the store's clock says {now}, this host's {wall}: more than an hour apart; set the wrong one right, or say \
         --trust-store-clock"
    )]
    ClockOff {
        /// What the store says.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        now: UnixNanos,
        /// What the host says.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        wall: UnixNanos,
    },
    /// The store has no clock of its own, and the wall clock of a fresh client is behind the time that it was told. Rule 16.
    #[error(
        "this host's clock says {wall}, but the store, which goes by its clients' clocks, was told {last} already; set the host's clock right, \
         or, if the others were wrong, say --trust-store-clock once"
    )]
    HostBehind {
        /// What the host's wall clock says.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        wall: UnixNanos,
        /// The last time that the store was told.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        last: UnixNanos,
    },
    /// The store has no clock of its own, and the client is ahead of the time that it was told: by more than an hour, or although holders
    /// of leases have set that time back. Rule 16.
    #[error(
        "by this host's clock it is {host}, but the store, which goes by its clients' clocks, was told {last}: more than may have passed; set \
         the host's clock right, or, if it is, say --trust-store-clock once"
    )]
    HostAhead {
        /// The time as the client has it.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        host: UnixNanos,
        /// The last time that the store was told.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        last: UnixNanos,
    },
    /// The store's clock stands before the epoch.
    #[error("the store's clock says {now}, before the epoch {epoch}")]
    BeforeEpoch {
        /// What it says.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        now: UnixNanos,
        /// Tick 0.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        epoch: UnixNanos,
    },
    /// The time field is used up. Rule 7.
    #[error(
        "the time field ended with tick {last_tick}; make a space with a later epoch or a wider time field"
    )]
    TimeFieldEnded {
        /// Its last tick.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        last_tick: Tick,
    },
    /// The space grants no new worker until its floor has passed, since its store may have lost transactions. Rule 17.
    #[error("on hold until {until}, as the store may have lost transactions; it carries on by itself")]
    OnHold {
        /// When the floor has passed.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        until: UnixNanos,
    },
    /// Every worker is taken. Rule 13.
    #[error("no worker is free{}", .next.map_or_else(String::new, |at| format!("; the next is at {at}")))]
    NoneFree {
        /// When the first may be; `None` when all are burned.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos_or_none"))]
        next: Option<UnixNanos>,
    },
    /// The host has as many workers as it may. Rule 13.
    #[error(
        "this host has {live} workers, which is its quota, host_quota; the next is at {next}. is a process restarting in a loop?"
    )]
    HostQuota {
        /// Workers with marks above now.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        live: u64,
        /// When the first of them is free.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::nanos"))]
        next: UnixNanos,
    },
    /// The request was carried out before: its nonce is in use. Rule 11.
    #[error("the request was carried out before; ask anew with another nonce")]
    Doubled,
    /// The worker isn't the caller's any more. Rules 11 and 12.
    #[error("worker {worker} isn't held any more: {why}")]
    Lost {
        /// The worker.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        worker: u64,
        /// What the row shows.
        why: Lost,
        /// Whether the space is on hold, so that a live lease may be re-asserted.
        is_on_hold: bool,
    },
    /// The mark is below the floor, and the lease isn't certainly alive. Rule 17.
    #[error("worker {worker}: its window ended before the hold did; acquire anew")]
    BelowFloor {
        /// The worker.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        worker: u64,
    },
    /// Re-asserting goes during a hold only. Rule 17.
    #[error(
        "worker {worker}: the space isn't on hold, so there is nothing to re-assert; renew or acquire anew"
    )]
    NotOnHold {
        /// The worker.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        worker: u64,
    },
    /// The lease isn't certainly alive, or it goes beyond what can have been granted. Rule 17.
    #[error("worker {worker}: a window until tick {until} can't be re-asserted; acquire anew")]
    NotAlive {
        /// The worker.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        worker: u64,
        /// Where the window ends.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        until: Tick,
    },
    /// A release names a tick that its window doesn't have. Rule 20.
    #[error("worker {worker}: tick {last} was used, but its window ends before tick {until}")]
    LastTick {
        /// The worker.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        worker: u64,
        /// The tick named.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        last: Tick,
        /// Where the window ends.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        until: Tick,
    },
    /// The worker is outside the space's range. Rule 7.
    #[error("worker {worker} is out of range, {first} to {last} expected")]
    WorkerRange {
        /// The worker.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        worker: u64,
        /// First of the range.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        first: u64,
        /// Last of the range.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        last: u64,
    },
    /// The counter was stopped, as the store is an older copy of itself, so that it may have been used further, or an operator asked
    /// for it. Rule 18.
    #[error(
        "the counter is stopped at {next}: the store may be an older copy, or an operator put it on hold, and values from there on may \
         be in use; move it above them with `mintage store bump`, or end the stop with `mintage store release-hold` if nothing was lost"
    )]
    Stale {
        /// The counter's next value.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        next: u64,
    },
    /// All scopes of the space are stopped, as the store is an older copy of itself, so that they may have been used further, or an
    /// operator asked for it. Rule 18.
    #[error(
        "all scopes are stopped: the store may be an older copy, or an operator put the space on hold, and values that a scope shows as \
         its next ones may be in use; move all of them on with `mintage store bump --by`, which ends the stop too; or move those that are \
         behind, or were lost, with `mintage store bump --scope`, and then end the stop with `mintage store release-hold`"
    )]
    ScopesStopped,
    /// More values of a scope were asked for than there are.
    #[error("{size} values were asked for, {left} are left up to the last one, {last}")]
    ScopeEnds {
        /// Values wanted.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        size: u64,
        /// Values left.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        left: u64,
        /// The last value.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        last: u64,
    },
    /// The counter has come to its last value.
    #[error("the counter ended with {last}")]
    CounterEnded {
        /// The last value.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        last: u64,
    },
    /// A block of more than one value from a space with a step, or of a size that the space doesn't give.
    #[error("a block of {size} was asked for, 1 to {max} expected")]
    BlockSize {
        /// Values wanted.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        size: u64,
        /// Most that are given at once.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        max: u64,
    },
    /// The block isn't the last any more, so its end can't be given back. Rule 11.
    #[error("the block isn't the last any more; its unused values stay unused")]
    NotLast,
    /// A bump that would move the counter back.
    #[error("the counter is at {next}, it can't be moved back to {to}")]
    BumpBack {
        /// The counter's next value.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        next: u64,
        /// The value given.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        to: u64,
    },
    /// A bump above the last value, after which the counter would hand out nothing, for ever.
    #[error("the counter can't be moved to {to}, its last value is {last}")]
    BumpPast {
        /// The last value.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        last: u64,
        /// The value given, or the next of the offset.
        #[cfg_attr(feature = "wire", serde(with = "crate::wire::text"))]
        to: u64,
    },
}

impl Refusal {
    /// When the same request may succeed, by the store's clock, where that is known.
    #[must_use]
    pub const fn retry_at(&self) -> Option<UnixNanos> {
        match self {
            Self::OnHold { until } => Some(*until),
            Self::NoneFree { next } => *next,
            Self::HostQuota { next, .. } => Some(*next),
            _ => None,
        }
    }
}

/// What a row shows that the caller doesn't hold any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(
    feature = "wire",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", rename_all_fields = "snake_case")
)]
pub enum Lost {
    /// There is none: it was made after the backup that the store was restored from.
    #[error("there is no row of it")]
    NoRow,
    /// Another holder's nonce.
    #[error("another holds it")]
    Foreign,
    /// The caller's nonce, with another serial or mark: a later answer moved it, or it was released.
    #[error("its row has moved on")]
    Moved,
    /// An operator burned it.
    #[error("an operator burned it")]
    Burned,
}
