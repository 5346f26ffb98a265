//! What happens to leases and blocks of a process, as it happens: for logs, metrics and tests.

use crate::state::Tick;
use mintage::UnixNanos;
use std::fmt;
use std::sync::Arc;

/// Something that happened to a lease, a block or a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, by the store's clock as far as it is known, else by the host's.
    pub time: UnixNanos,
    /// What.
    pub event: Happening,
    /// The space's name.
    pub space: String,
    /// The worker of a lease.
    pub worker: Option<u64>,
    /// The first tick of the window that was granted, or the first value of a block.
    pub from: Option<Tick>,
    /// The tick after the window's last, or the value after the block's last. Of a release, the last tick used plus one.
    pub until: Option<Tick>,
    /// The serial of the row.
    pub serial: Option<u64>,
    /// Why, in words.
    pub detail: Option<String>,
}

/// What happened.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Happening {
    /// A lease was granted.
    Acquired,
    /// A window was lengthened.
    Renewed,
    /// A renewal got no answer; the window goes on until it ends. Told once while it stays the same.
    RenewalFailed,
    /// A lease was refused its renewal; its worker is another's, or nobody's.
    Lost,
    /// No worker could be had: none for a lease that was lost, or fewer than a minter was to have. Told once while it stays the same.
    AcquireFailed,
    /// During a hold, a lease was asserted again.
    Reasserted,
    /// A lease was ended, and the mark moved to the last tick used plus one.
    Released,
    /// A lease was ended, and the store didn't answer or refused; its window passes by itself.
    ReleaseFailed,
    /// The store's time is behind what it was; ids keep their last tick until it has caught up.
    ClockBack,
    /// The store's time is ahead of what it was.
    ClockAhead,
    /// The space went on hold.
    HoldBegan,
    /// The space's time field ends within two years; told again within 30 days. Rule 7.
    TimeFieldEnds,
    /// A block was handed out.
    Claimed,
    /// No block could be had.
    ClaimFailed,
    /// The unused end of a block was given back.
    GivenBack,
    /// The unused end of a block was lost: it wasn't the last any more, or the store didn't answer.
    Wasted,
    /// Anything else that happened to a space.
    Space,
}

impl Happening {
    /// Its word, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acquired => "acquired",
            Self::Renewed => "renewed",
            Self::RenewalFailed => "renewal-failed",
            Self::Lost => "lost",
            Self::AcquireFailed => "acquire-failed",
            Self::Reasserted => "re-asserted",
            Self::Released => "released",
            Self::ReleaseFailed => "release-failed",
            Self::ClockBack => "clock-back",
            Self::ClockAhead => "clock-ahead",
            Self::HoldBegan => "hold-began",
            Self::TimeFieldEnds => "time-field-ends",
            Self::Claimed => "claimed",
            Self::ClaimFailed => "claim-failed",
            Self::GivenBack => "given-back",
            Self::Wasted => "wasted",
            Self::Space => "space",
        }
    }
}

/// Where events go: a function that returns soon, since renewals wait for it.
#[derive(Clone, Default)]
pub struct Listener(Option<Arc<Listen>>);

type Listen = dyn Fn(&Event) + Send + Sync;

impl Listener {
    /// Calls `listen` with each event.
    pub fn new(listen: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listen)))
    }

    pub(crate) fn tell(&self, event: &Event) {
        if let Some(listen) = &self.0 {
            listen(event);
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Listener" } else { "no listener" })
    }
}

/// What events of one space have in common.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    pub(crate) space: String,
    pub(crate) listener: Listener,
}

impl Reporter {
    /// An event without particulars.
    pub(crate) fn event(&self, time: UnixNanos, event: Happening) -> Event {
        Event {
            time,
            event,
            space: self.space.clone(),
            worker: None,
            from: None,
            until: None,
            serial: None,
            detail: None,
        }
    }

    /// What a transaction saw happen to the space.
    pub(crate) fn tell_all(&self, time: UnixNanos, events: &[crate::request::Event]) {
        use crate::request::Event as E;
        for seen in events {
            let (event, detail) = match seen {
                E::HoldBegan { why, floor } => {
                    (Happening::HoldBegan, format!("{why}; no window begins below tick {floor}"))
                }
                E::HoldStays { floor } => (
                    Happening::Space,
                    format!(
                        "the hold stays: a dropped space of this name may have issued ticks below {floor}"
                    ),
                ),
                E::RestartPassed => {
                    (Happening::Space, "the server was started again, which this space lets pass".to_owned())
                }
                E::Jumped { from, to } => {
                    (Happening::Space, format!("the counter jumped from {from} to {to} at a promotion"))
                }
                E::ScopesJumped { by } => {
                    (Happening::Space, format!("all scopes jumped by {by} values at a promotion"))
                }
                E::Stopped { why } => (Happening::HoldBegan, format!("{why}; the counter waits for a bump")),
            };
            let told = Event { detail: Some(detail), ..self.event(time, event) };
            self.listener.tell(&told);
        }
    }
}
