//! The rules of blocks: claim, give back, bump, and the jump at a failover. Rules 11, 17 and 18.
//!
//! A counter can't heal by waiting, as windows do: where values may have been handed out and lost, it jumps or stops.

use crate::error::Refusal;
use crate::identity::{Change, compare};
use crate::request::{Answer, Block, Bump, Claim, Event, GiveBack, Loss};
use crate::rules::{Draft, jump};
use crate::space::BlockTerms;
use crate::state::{BlockState, MAX_SERIAL, Nonce, Seen};
use mintage::UnixNanos;

/// Blocks of the largest size that a jump passes over at least, when its length isn't given. Rule 18.
const JUMPED_BLOCKS: u64 = 100;

/// The counter of a space that is created.
#[must_use]
pub fn created(terms: &BlockTerms) -> BlockState {
    BlockState { next: terms.align(terms.first).unwrap_or(MAX_SERIAL), ..BlockState::default() }
}

/// The counter of a space that is created again goes on where those that were dropped ended, and is stopped where one of them was.
/// Rule 19.
pub fn created_again(terms: &BlockTerms, draft: &mut Draft, old_next: u64, is_stale: bool) {
    let old_next = terms.align(old_next).unwrap_or(MAX_SERIAL);
    draft.state.block.next = draft.state.block.next.max(old_next);
    draft.state.block.is_stale = is_stale;
    jump(&mut draft.state, 0);
}

/// Compares what the store is and what the caller has seen with the space's row. A promotion lets the counter jump; an older
/// copy, or a caller that has seen more, stops it; a mere restart changes nothing. Rule 18.
pub fn settle(terms: &BlockTerms, draft: &mut Draft, seen: &Seen) {
    settle_identity(draft, seen, |draft| fail_over(terms, draft));
    // A mark above the counter stays a sign of loss for ever, even after a bump that was too small.
    let witness = seen.witness;
    if witness.serial > draft.state.serial || witness.mark > draft.state.block.next {
        stop(draft, Loss::Witness, witness.serial);
    }
}

/// Compares what the store is with the row, for counters of either kind: a promotion lets them `fail_over`, an older copy stops them, a mere
/// restart changes nothing. Rule 18.
pub fn settle_identity(draft: &mut Draft, seen: &Seen, fail_over: impl FnOnce(&mut Draft)) {
    let change = compare(&draft.state.identity, &seen.live);
    if change != Change::Same {
        draft.state.identity = seen.live;
        draft.is_changed = true;
    }
    match change {
        Change::Same | Change::Restarted => {}
        Change::Promoted => fail_over(draft),
        Change::OlderCopy => stop(draft, Loss::OlderCopy, 0),
    }
}

/// Jumps over what the lost transactions can have handed out. Rule 18.
fn fail_over(terms: &BlockTerms, draft: &mut Draft) {
    let block = &mut draft.state.block;
    let gap = gap(terms.failover_gap, block);
    let from = block.next;
    let to = gap.checked_mul(terms.step).and_then(|gap| from.checked_add(gap));
    block.next = to.unwrap_or(MAX_SERIAL).min(MAX_SERIAL);
    block.jumps = block.jumps.saturating_add(1);
    block.jumped = block.jumped.saturating_add((block.next - from) / terms.step).min(MAX_SERIAL);
    let to = block.next;
    jump(&mut draft.state, 0);
    draft.is_changed = true;
    draft.events.push(Event::Jumped { from, to });
}

/// How many values a jump passes over: as many as the space says, and else an hour at the highest rate. Rule 18.
pub(crate) fn gap(given: u64, block: &BlockState) -> u64 {
    let automatic = block.peak.saturating_mul(60).max(block.largest.max(1).saturating_mul(JUMPED_BLOCKS));
    if given == 0 { automatic } else { given }
}

/// Hands nothing out until an operator bumps the counter. Rule 18.
pub fn stop(draft: &mut Draft, why: Loss, seen_serial: u64) {
    if draft.state.block.is_stale && seen_serial <= draft.state.serial {
        return;
    }
    draft.state.block.is_stale = true;
    jump(&mut draft.state, seen_serial);
    draft.state.holds = draft.state.holds.saturating_add(1);
    draft.is_changed = true;
    draft.events.push(Event::Stopped { why });
}

/// Hands out blocks again without a bump, on an operator's word that nothing was lost.
///
/// # Errors
/// Never: it has the shape of its neighbours.
pub fn resume(draft: &mut Draft) -> Result<Answer, Refusal> {
    draft.is_changed |= draft.state.block.is_stale;
    draft.state.block.is_stale = false;
    Ok(Answer::Done)
}

/// Hands out the next block; the last may be shorter than was asked for. Rules 11 and 18.
///
/// # Errors
/// [`Refusal::BlockSize`], [`Refusal::Stale`], [`Refusal::Doubled`] and [`Refusal::CounterEnded`].
pub fn claim(terms: &BlockTerms, draft: &mut Draft, now: UnixNanos, ask: &Claim) -> Result<Answer, Refusal> {
    let max = if terms.step > 1 { 1 } else { terms.max_size };
    if !(1..=max).contains(&ask.size) {
        return Err(Refusal::BlockSize { size: ask.size, max });
    }
    if ask.nonce == Nonce::NOBODY {
        return Err(Refusal::Request { what: "nonce 0", expected: "a random one" });
    }
    let serial = draft.next_serial();
    let block = &mut draft.state.block;
    if block.is_stale {
        return Err(Refusal::Stale { next: block.next });
    }
    if block.nonce == ask.nonce {
        return Err(Refusal::Doubled);
    }
    let start = block.next;
    if start > terms.last {
        return Err(Refusal::CounterEnded { last: terms.last });
    }
    let size = ask.size.min((terms.last - start) / terms.step + 1);
    // A block may end a step above the last value, and that may be above what columns hold.
    let end = start.saturating_add(size.saturating_mul(terms.step)).min(MAX_SERIAL);
    count(block, now, size);
    *block = BlockState { next: end, nonce: ask.nonce, serial, ..*block };
    draft.is_changed = true;
    Ok(Answer::Block(Block { start, end, step: terms.step, serial, nonce: ask.nonce }))
}

/// The rate of handing out, which the length of a jump follows.
pub(crate) fn count(block: &mut BlockState, now: UnixNanos, size: u64) {
    let minute = u64::try_from(now.0 / 60_000_000_000).unwrap_or(0);
    block.in_minute = if minute == block.minute { block.in_minute.saturating_add(size) } else { size };
    block.minute = minute;
    block.in_minute = block.in_minute.min(MAX_SERIAL);
    block.peak = block.peak.max(block.in_minute);
    block.largest = block.largest.max(size);
}

/// Takes back the unused end of a block, if it is still the last one. Rule 11.
///
/// # Errors
/// [`Refusal::NotLast`], [`Refusal::Stale`], and [`Refusal::Request`] for a value that the block doesn't have.
pub fn give_back(terms: &BlockTerms, draft: &mut Draft, ask: &GiveBack) -> Result<Answer, Refusal> {
    let serial = draft.next_serial();
    let GiveBack { block: given, unused } = *ask;
    let block = &mut draft.state.block;
    if block.is_stale {
        return Err(Refusal::Stale { next: block.next });
    }
    let is_last = block.serial == given.serial && block.nonce == given.nonce && block.next == given.end;
    if !is_last || given.nonce == Nonce::NOBODY {
        return Err(Refusal::NotLast);
    }
    let is_value = (given.start..=given.end).contains(&unused) && terms.align(unused) == Some(unused);
    if !is_value {
        return Err(Refusal::Request { what: "a value outside the block", expected: "its first unused one" });
    }
    *block = BlockState { next: unused, nonce: Nonce::NOBODY, serial, ..*block };
    draft.is_changed = true;
    Ok(Answer::Done)
}

/// Moves the counter up, on to the next value of the offset, and hands out blocks again. Rule 18.
///
/// # Errors
/// [`Refusal::BumpBack`], and [`Refusal::BumpPast`] for a value above the last: the counter would have ended, for ever.
pub fn bump(terms: &BlockTerms, draft: &mut Draft, bump: Bump) -> Result<Answer, Refusal> {
    let block = &mut draft.state.block;
    let wanted = match bump {
        Bump::To(to) => to,
        Bump::By(by) => block.next.saturating_add(by),
    };
    let to = terms.align(wanted).unwrap_or(u64::MAX);
    if to < block.next {
        return Err(Refusal::BumpBack { next: block.next, to });
    }
    if to > terms.last {
        return Err(Refusal::BumpPast { last: terms.last, to });
    }
    block.next = to;
    // Where transactions were lost, the last block that the row shows isn't the last one: a give-back of it that was on its way
    // would sink the counter below what was handed out since.
    block.nonce = Nonce::NOBODY;
    block.is_stale = false;
    draft.is_changed = true;
    Ok(Answer::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use crate::request::Request;
    use crate::rules::{Decision, SERIAL_JUMP, created as create_space, decide};
    use crate::space::{Kind, Space, SpaceId};
    use crate::state::{Expected, Rows, SpaceState, Witness};

    struct Counter {
        terms: BlockTerms,
        state: SpaceState,
        live: Identity,
        witness: Witness,
        events: Vec<Event>,
    }

    fn space(terms: BlockTerms) -> Space {
        Space { id: SpaceId(1), name: "c".to_owned(), kind: Kind::Blocks(terms) }
    }

    impl Counter {
        fn new(terms: BlockTerms) -> Self {
            let live = Identity { origin: [1, 1, 0], started: Some(UnixNanos(0)), ..Identity::default() };
            let (state, events) =
                create_space(&space(terms), &seen(live, Witness::default()), &[], true).unwrap();
            Self { terms, state, live, witness: Witness::default(), events }
        }

        fn run(&mut self, request: &Request) -> Result<Answer, Refusal> {
            let seen = seen(self.live, self.witness);
            let decision = decide(&Kind::Blocks(self.terms), &self.state, &seen, request, &Rows::default());
            let Decision { state, answer, events, .. } = decision;
            self.events.extend(events);
            if let Some(state) = state {
                assert!(state.serial > self.state.serial);
                self.state = state;
            }
            answer
        }

        fn claim(&mut self, size: u64) -> Result<Block, Refusal> {
            let nonce = Nonce(u128::from(self.state.serial) + 1_000);
            match self.run(&Request::Claim(Claim { nonce, size }))? {
                Answer::Block(block) => Ok(block),
                other => panic!("{other:?}"),
            }
        }

        fn give_back(&mut self, block: Block, unused: u64) -> Result<Answer, Refusal> {
            self.run(&Request::GiveBack(GiveBack { block, unused }))
        }
    }

    fn seen(live: Identity, witness: Witness) -> Seen {
        Seen { now: UnixNanos(1), live, expected: Expected::Wall(UnixNanos(0)), witness }
    }

    fn range(block: Result<Block, Refusal>) -> (u64, u64) {
        block.map(|block| (block.start, block.end)).unwrap()
    }

    const PLAIN: BlockTerms =
        BlockTerms { first: 1, last: 1_000_000, step: 1, offset: 0, max_size: 1_000, failover_gap: 0 };
    const ODD: BlockTerms = BlockTerms { step: 2, offset: 1, ..PLAIN };

    #[test]
    fn blocks_follow_each_other() {
        let mut counter = Counter::new(PLAIN);
        assert_eq!(range(counter.claim(10)), (1, 11));
        assert_eq!(range(counter.claim(5)), (11, 16));
        for size in [0, 1_001] {
            assert_eq!(counter.claim(size), Err(Refusal::BlockSize { size, max: 1_000 }));
        }
    }

    #[test]
    fn tickets_keep_step_and_offset_and_come_one_by_one() {
        let mut counter = Counter::new(BlockTerms { first: 4, ..ODD });
        assert_eq!([(); 3].map(|()| counter.claim(1).unwrap().start), [5, 7, 9]);
        assert_eq!(counter.claim(2), Err(Refusal::BlockSize { size: 2, max: 1 }));
    }

    #[test]
    fn the_last_block_is_short_and_then_the_counter_has_ended() {
        let mut counter = Counter::new(BlockTerms { last: 12, ..PLAIN });
        assert_eq!(range(counter.claim(10)), (1, 11));
        assert_eq!(range(counter.claim(10)), (11, 13));
        assert_eq!(counter.claim(1), Err(Refusal::CounterEnded { last: 12 }));
    }

    #[test]
    fn a_counter_at_the_end_of_all_numbers_repeats_none() {
        for terms in [PLAIN, ODD, BlockTerms { step: 7, offset: 3, ..PLAIN }] {
            let last = MAX_SERIAL - 1;
            let mut counter = Counter::new(BlockTerms { first: last - 20, last, ..terms });
            let mut values = Vec::new();
            while let Ok(block) = counter.claim(1) {
                values.push(block.start);
            }
            assert!(values.is_sorted_by(|a, b| a < b) && values.len() > 1, "{values:?}");
            assert!(values.iter().all(|value| *value <= last && value % terms.step == terms.offset));
        }
    }

    #[test]
    fn rule_11_what_is_left_of_the_last_block_is_given_back_once() {
        let mut counter = Counter::new(PLAIN);
        let block = counter.claim(10).unwrap();
        assert_eq!(counter.give_back(block, 4), Ok(Answer::Done));
        assert_eq!(range(counter.claim(7)), (4, 11));
        assert_eq!(counter.give_back(block, 4), Err(Refusal::NotLast));
    }

    #[test]
    fn rule_11_an_earlier_block_or_a_value_outside_is_not_taken_back() {
        let mut counter = Counter::new(PLAIN);
        let first = counter.claim(10).unwrap();
        let second = counter.claim(10).unwrap();
        assert_eq!(counter.give_back(first, 4), Err(Refusal::NotLast));
        for unused in [10, 22] {
            assert!(matches!(counter.give_back(second, unused), Err(Refusal::Request { .. })), "{unused}");
        }
        let forged = Block { nonce: Nonce::NOBODY, ..second };
        assert_eq!(counter.give_back(forged, 15), Err(Refusal::NotLast));
    }

    #[test]
    fn rule_11_a_doubled_claim_is_refused() {
        let mut counter = Counter::new(PLAIN);
        let claim = Request::Claim(Claim { nonce: Nonce(7), size: 3 });
        assert!(counter.run(&claim).is_ok());
        assert_eq!(counter.run(&claim), Err(Refusal::Doubled));
    }

    #[test]
    fn rule_18_a_mere_restart_changes_nothing() {
        let mut counter = Counter::new(PLAIN);
        counter.claim(10).unwrap();
        counter.live.started = Some(UnixNanos(9));
        assert_eq!(range(counter.claim(10)), (11, 21));
    }

    #[test]
    fn rule_18_a_promotion_jumps_by_an_hour_at_the_highest_rate_or_a_hundred_blocks() {
        let mut counter = Counter::new(PLAIN);
        counter.claim(10).unwrap();
        counter.live.timeline = 1;
        assert_eq!(range(counter.claim(10)), (11 + 1_000, 11 + 1_010));
        for _ in 0..9 {
            counter.claim(10).unwrap();
        }
        counter.live.timeline = 2;
        // 110 values in this minute make 6,600 in an hour.
        assert_eq!(range(counter.claim(1)), (1_111 + 6_600, 1_112 + 6_600));
        assert_eq!((counter.state.block.jumps, counter.state.block.jumped), (2, 7_600));
        assert_eq!(counter.events.len(), 2);
    }

    #[test]
    fn rule_18_a_jump_of_tickets_keeps_the_offset() {
        let mut counter = Counter::new(BlockTerms { failover_gap: 7, ..ODD });
        assert_eq!(counter.claim(1).unwrap().start, 1);
        counter.live.timeline = 1;
        assert_eq!(counter.claim(1).unwrap().start, 3 + 14);
    }

    #[test]
    fn rule_18_an_older_copy_hands_nothing_out_until_it_is_bumped() {
        let mut counter = Counter::new(PLAIN);
        let block = counter.claim(10).unwrap();
        counter.live.origin = [2, 2, 2];
        assert_eq!(counter.claim(10), Err(Refusal::Stale { next: 11 }));
        assert_eq!(counter.claim(10), Err(Refusal::Stale { next: 11 }));
        assert_eq!(counter.give_back(block, 4), Err(Refusal::Stale { next: 11 }));
        assert_eq!(counter.state.holds, 1);
        assert_eq!(counter.run(&Request::Bump(Bump::To(5))), Err(Refusal::BumpBack { next: 11, to: 5 }));
        counter.run(&Request::Bump(Bump::To(500))).unwrap();
        assert_eq!(range(counter.claim(10)), (500, 510));
    }

    #[test]
    fn rule_18_a_client_that_saw_more_stops_the_counter_until_the_bump_is_enough() {
        let mut counter = Counter::new(PLAIN);
        counter.claim(10).unwrap();
        counter.witness = Witness { serial: 2, mark: 100 };
        assert_eq!(counter.claim(10), Err(Refusal::Stale { next: 11 }));
        counter.run(&Request::Bump(Bump::By(20))).unwrap();
        assert_eq!(counter.claim(10), Err(Refusal::Stale { next: 31 }));
        counter.run(&Request::Bump(Bump::To(100))).unwrap();
        assert_eq!(range(counter.claim(10)), (100, 110));
        counter.witness = Witness { serial: counter.state.serial + 5, mark: 0 };
        assert!(counter.claim(10).is_err());
        assert!(counter.state.serial > counter.witness.serial + SERIAL_JUMP);
    }

    /// A claims 1; backup; A gives back, and the message comes twice; B claims 1; restore; the operator bumps above all that was
    /// issued, which is where the counter stands; the second give-back arrives.
    #[test]
    fn rule_18_a_late_give_back_sinks_no_counter_that_was_bumped() {
        let mut counter = Counter::new(PLAIN);
        let a = counter.claim(1).unwrap();
        let backup = counter.state.clone();
        counter.give_back(a, 1).unwrap();
        assert_eq!(range(counter.claim(1)), (1, 2));
        counter.state = backup;
        counter.live.origin = [2, 2, 2];
        assert_eq!(counter.claim(1), Err(Refusal::Stale { next: 2 }));
        counter.run(&Request::Bump(Bump::To(2))).unwrap();
        assert_eq!(counter.give_back(a, 1), Err(Refusal::NotLast));
        assert_eq!(range(counter.claim(1)), (2, 3));
    }

    #[test]
    fn rule_18_a_bump_rounds_up_to_the_offset() {
        let mut counter = Counter::new(ODD);
        counter.run(&Request::Bump(Bump::To(100))).unwrap();
        assert_eq!(counter.claim(1).unwrap().start, 101);
    }

    #[test]
    fn a_bump_above_the_last_value_is_refused_and_ends_nothing() {
        let mut counter = Counter::new(BlockTerms { last: 100, ..ODD });
        for (bump, to) in
            [(Bump::To(100), 101), (Bump::To(u64::MAX), u64::MAX), (Bump::By(u64::MAX), u64::MAX)]
        {
            assert_eq!(counter.run(&Request::Bump(bump)), Err(Refusal::BumpPast { last: 100, to }));
        }
        counter.run(&Request::Bump(Bump::To(99))).unwrap();
        assert_eq!(counter.claim(1).unwrap().start, 99);
        assert_eq!(counter.claim(1), Err(Refusal::CounterEnded { last: 100 }));
    }

    #[test]
    fn rule_18_an_operator_stops_and_resumes() {
        let mut counter = Counter::new(PLAIN);
        counter.run(&Request::Hold).unwrap();
        assert!(counter.claim(1).is_err());
        counter.run(&Request::ReleaseHold).unwrap();
        assert_eq!(range(counter.claim(1)), (1, 2));
    }

    #[test]
    fn rule_19_a_counter_that_is_created_again_goes_on_where_the_old_one_ended() {
        let mut counter = Counter::new(PLAIN);
        counter.claim(10).unwrap();
        let seen = seen(counter.live, Witness::default());
        let (plain, state) = (space(PLAIN), counter.state.clone());
        let again = |space: &Space, seen: &Seen, dropped: &[(&Space, &SpaceState)]| {
            create_space(space, seen, dropped, true).unwrap().0.block
        };
        assert_eq!(again(&space(ODD), &seen, &[(&plain, &state)]).next, 11);
        let higher = space(BlockTerms { first: 50, ..PLAIN });
        assert_eq!(again(&higher, &seen, &[(&plain, &state)]).next, 50);
        // Whichever was dropped last.
        let unused = Counter::new(PLAIN).state;
        for order in [[(&plain, &state), (&plain, &unused)], [(&plain, &unused), (&plain, &state)]] {
            assert_eq!(again(&plain, &seen, &order).next, 11);
        }
        // As it stands in an older copy, or on a server that was promoted.
        let mut copied = seen;
        copied.live.origin[1] += 1;
        assert!(again(&plain, &copied, &[(&plain, &state)]).is_stale);
        let mut promoted = seen;
        promoted.live.timeline += 1;
        assert!(again(&plain, &promoted, &[(&plain, &state)]).next > 11);
    }

    #[test]
    fn windows_are_not_asked_of_a_space_of_blocks() {
        let refused = Refusal::WrongKind { request: "burn-worker", kind: "blocks" };
        assert_eq!(Counter::new(PLAIN).run(&Request::Burn(1)), Err(refused));
    }
}
