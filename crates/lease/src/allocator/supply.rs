//! The task behind an allocator: claims one block at a time, as large as is used, and gives back what is left at the end.

use super::size::next_size;
use super::{AllocatorOptions, Left, Tray, values};
use crate::error::Error;
use crate::events::{Event, Happening, Reporter};
use crate::request::{Block, Caller, Claim, GiveBack};
use crate::space::BlockTerms;
use crate::store::{Deadline, Desk, draw_nonce};
use mintage::UnixNanos;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// What the task is asked to do.
#[derive(Debug)]
pub(crate) enum Command {
    /// The first block; says how that went.
    First { reply: oneshot::Sender<Result<(), Error>> },
    /// The next block.
    Claim,
    /// The end.
    Close { done: Option<oneshot::Sender<Result<(), Error>>> },
}

/// What the task works with.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) desk: Desk,
    pub(crate) reporter: Reporter,
    pub(crate) tray: Arc<Tray>,
    pub(crate) terms: BlockTerms,
    pub(crate) options: AllocatorOptions,
    pub(crate) deadline: Duration,
    pub(crate) trusts_clock: bool,
}

/// Supplies an allocator until it is closed.
pub(crate) async fn supply(about: About, mut commands: UnboundedReceiver<Command>) {
    let caller = Caller { trusts_clock: about.trusts_clock, ..Caller::default() };
    let most = if about.terms.step > 1 { 1 } else { about.terms.max_size };
    let size = about.options.first_size.clamp(1, most.max(1));
    let mut supplier = Supplier { about, caller, most, size, again: None, fails: 0 };
    loop {
        let due = supplier.again.unwrap_or_else(|| Instant::now() + Duration::from_secs(86_400));
        match timeout_at(due, commands.recv()).await {
            Ok(Some(Command::First { reply })) => {
                let first =
                    supplier.claim(supplier.size).await.map(|block| supplier.about.tray.supplied(block));
                let _ = reply.send(first);
            }
            Ok(Some(Command::Claim)) => supplier.next().await,
            Ok(Some(Command::Close { done })) => {
                let closed = supplier.close().await;
                if let Some(done) = done {
                    let _ = done.send(closed);
                }
                break;
            }
            Ok(None) => break,
            Err(_) if supplier.again.is_some() => supplier.next().await,
            Err(_) => {}
        }
    }
}

#[derive(Debug)]
struct Supplier {
    about: About,
    caller: Caller,
    most: u64,
    /// Of the last block.
    size: u64,
    /// When a claim that failed is tried again.
    again: Option<Instant>,
    fails: u32,
}

/// After a failure a claim is tried again this soon at first, and this late at last.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl Supplier {
    fn now(&self) -> UnixNanos {
        self.about.desk.store().clock().wall()
    }

    fn tell(&self, event: Happening, range: Option<(u64, u64)>, serial: Option<u64>, detail: Option<String>) {
        let (from, until) = range.unzip();
        let event = Event { from, until, serial, detail, ..self.about.reporter.event(self.now(), event) };
        self.about.reporter.listener.tell(&event);
    }

    async fn claim(&mut self, size: u64) -> Result<Block, Error> {
        let claim = Claim { nonce: draw_nonce()?, size };
        let within = Deadline::after(self.about.deadline);
        let answered = self.about.desk.claim(&self.caller, claim, within).await;
        let answered = answered.inspect_err(|error| {
            if let Error::Refused { events, now, .. } = error {
                self.about.reporter.tell_all(*now, events);
            }
        })?;
        let block = answered.answer;
        self.caller.witness.see(block.serial, block.end);
        self.about.reporter.tell_all(answered.anchor.store_now, &answered.events);
        self.tell(Happening::Claimed, Some((block.start, block.end)), Some(block.serial), None);
        Ok(block)
    }

    /// Claims the next block; one that can't be had is tried again, less and less often.
    async fn next(&mut self) {
        self.again = None;
        let size = match self.about.tray.in_use() {
            Some((size, nanos)) => {
                let used =
                    u64::try_from(u128::from(size) * u128::from(self.about.options.fetch_at_percent) / 100);
                let lasting = u64::try_from(self.about.options.lasting.as_nanos()).unwrap_or(u64::MAX);
                next_size(self.size, used.unwrap_or(size).max(1), nanos, lasting, self.most)
            }
            None => self.size,
        };
        match self.claim(size).await {
            Ok(block) => {
                (self.size, self.fails) = (size, 0);
                self.about.tray.supplied(block);
            }
            Err(error) => {
                self.tell(Happening::ClaimFailed, None, None, Some(error.to_string()));
                self.about.tray.failed(error);
                let wait = FIRST_PAUSE.saturating_mul(1 << self.fails.min(10)).min(LONGEST_PAUSE);
                self.fails = self.fails.saturating_add(1);
                self.again = Some(Instant::now() + wait);
            }
        }
    }

    /// Gives back what is left, once. Rule 11.
    async fn close(&mut self) -> Result<(), Error> {
        let Some(left) = self.about.tray.end() else { return Ok(()) };
        let Some((back, wasted)) = to_give_back(left) else { return Ok(()) };
        if let Some(wasted) = wasted {
            self.waste(wasted, "not the last block any more");
        }
        // Whatever the store answers, this client has seen no more than that.
        self.caller.witness.mark = back.unused;
        let within = Deadline::after(self.about.deadline);
        match self.about.desk.give_back(&self.caller, back, within).await {
            Ok(answered) => {
                let count = values(&Block { start: back.unused, ..back.block });
                self.about.tray.count(|counts| counts.given_back += count);
                self.tell(
                    Happening::GivenBack,
                    Some((back.unused, back.block.end)),
                    Some(answered.serial),
                    None,
                );
                Ok(())
            }
            Err(error) => {
                self.waste((back.unused, back.block.end), &error.to_string());
                // That another has taken a block since is no failure of anything.
                if matches!(error.refusal(), Some(crate::Refusal::NotLast)) { Ok(()) } else { Err(error) }
            }
        }
    }

    fn waste(&self, range: (u64, u64), why: &str) {
        let count = (range.1 - range.0).div_ceil(self.about.terms.step);
        self.about.tray.count(|counts| counts.wasted += count);
        self.tell(Happening::Wasted, Some(range), None, Some(why.to_owned()));
    }
}

/// What can be given back, and what can't. Only the end of the last block can; where that one follows right behind the one in use, the
/// end begins in there.
fn to_give_back(left: Left) -> Option<(GiveBack, Option<(u64, u64)>)> {
    match (left.current, left.spare) {
        (None, None) => None,
        (Some((block, unused)), None) => Some((GiveBack { block, unused }, None)),
        (None, Some(spare)) => Some((GiveBack { block: spare, unused: spare.start }, None)),
        (Some((block, unused)), Some(spare)) if block.end == spare.start => {
            Some((GiveBack { block: Block { start: block.start, ..spare }, unused }, None))
        }
        (Some((block, unused)), Some(spare)) => {
            Some((GiveBack { block: spare, unused: spare.start }, Some((unused, block.end))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Nonce;

    fn block(start: u64, end: u64, serial: u64) -> Block {
        Block { start, end, step: 1, serial, nonce: Nonce(u128::from(serial)) }
    }

    #[test]
    fn the_last_block_is_given_back_and_what_stands_right_before_it() {
        let (used, next, far) = (block(1, 11, 1), block(11, 31, 2), block(50, 60, 3));
        let back = |current, spare| {
            to_give_back(Left { current, spare })
                .map(|(back, wasted)| (back.unused, back.block.end, back.block.serial, wasted))
        };
        assert_eq!(back(None, None), None);
        assert_eq!(back(Some((used, 4)), None), Some((4, 11, 1, None)));
        assert_eq!(back(None, Some(next)), Some((11, 31, 2, None)));
        assert_eq!(back(Some((used, 4)), Some(next)), Some((4, 31, 2, None)));
        assert_eq!(back(Some((used, 4)), Some(far)), Some((50, 60, 3, Some((4, 11)))));
    }
}
