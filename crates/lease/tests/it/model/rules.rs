//! The rules that can be taken out, and what breaks without each: one value a rule.

use super::steps::Word;

/// Something taken out of the protocol, or an assumption that doesn't hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Out {
    /// A holder asks its clock whether the lease is alive, pauses, and mints what the clock shows.
    CheckOfTick,
    /// Marks and windows are nanoseconds; ids hold ticks.
    WholeTicks,
    /// `from` is rounded down.
    FromRoundsUp,
    /// `until` is rounded up.
    UntilRoundsDown,
    /// A floor is rounded down.
    FloorRoundsUp,
    /// Ticks are masked to two bits.
    TickFits,
    /// Workers are masked to no bit.
    WorkerFits,
    /// A forked child mints what its parent holds.
    ChildMintsNothing,
    /// A forked child renews its parent's lease, and mints the new part alone.
    ChildRenewsNothing,
    /// A forked child releases or gives back what its parent holds.
    ChildReleasesNothing,
    /// An answer is sent before the write is durable; the store loses its last write.
    Durable,
    /// A window begins at now or the floor, though the mark is above.
    FromMark,
    /// A worker is granted though its mark is above now.
    MarkNotAboveNow,
    /// Serials aren't compared.
    Serial,
    /// Nonces aren't compared.
    Nonce,
    /// Nonces are drawn once a process.
    NonceOfRequest,
    /// `until` isn't compared with the mark.
    MarkIsUntil,
    /// A renewal or release makes the row that it doesn't find.
    RowsMadeByGrants,
    /// A grant reads in one transaction and writes the worker's row in another.
    OneTransaction,
    /// A holder goes on after it sent a release or gave back.
    Irrevocable,
    /// A holder releases or gives back while a request of its own is on its way.
    SettledBeforeEnd,
    /// A forked child goes on from what its parent has seen.
    ChildSawNothing,
    /// A release or give-back of unknown outcome is sent again.
    NotSentAgain,
    /// A renewal lowers the mark where the clock went back.
    RenewalLowersNothing,
    /// `until` lies further ahead than the hold thinks.
    MaxAhead,
    /// A release leaves the mark at the last tick used.
    LastPlusOne,
    /// A release leaves the mark at the store's time.
    LastNotNow,
    /// The identity isn't compared.
    Identity,
    /// The identity is compared by grants of workers alone.
    IdentityAlways,
    /// What clients saw isn't compared.
    Witness,
    /// A holder that finds a foreign or older row says nothing.
    Report,
    /// A hold covers no skew.
    HoldCoversSkew,
    /// A hold covers no `max_ahead`.
    HoldCoversAhead,
    /// A floor is forgotten once its time has come.
    FloorStays,
    /// Another hold lowers the floor.
    FloorNeverSinks,
    /// Windows begin below the floor.
    FromFloor,
    /// Workers are granted during a hold.
    NoGrantInHold,
    /// A promotion counts its hold from the server's start.
    PromotionCountsFromNow,
    /// A lapsed lease below the floor is renewed.
    AliveBelowFloor,
    /// A lapsed lease below the floor is renewed once the hold has passed.
    AliveAfterHold,
    /// Whether a lease below the floor is alive is judged without skew.
    AliveWithSkew,
    /// The serial goes on after a hold without a jump.
    SerialJump,
    /// A mere restart begins no hold, though volumes are restored.
    RestartHold,
    /// Leases are asserted again when there is no hold.
    ReassertInHold,
    /// Lapsed leases are asserted again.
    ReassertAlive,
    /// A lease is asserted again below the row's mark.
    ReassertAboveMark,
    /// A promotion doesn't move the counter.
    CounterJumps,
    /// A counter goes on though its store is an older copy.
    CounterStops,
    /// A promotion loses more values than the counter jumps over.
    LossWithinGap,
    /// An operator bumps a counter too low.
    BumpAboveAll,
    /// A give-back isn't compared with the counter.
    GiveBackIsLast,
    /// Dropping leaves no tombstone.
    Tombstone,
    /// The space that is created again ignores how far the old one got, and counts on its clock.
    RecreatedAboveOld,
    /// Requests don't name the space's UUID.
    SpaceId,
    /// The store's clock errs by twice as much as the space allows.
    SkewHolds,
    /// A fresh client speaks before any that saw the loss.
    WitnessFirst,
    /// An operator says that nothing was lost, and something was.
    OperatorIsRight,
}

/// What becomes of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Without {
    /// A duplicate, by way of these steps in this order.
    Duplicate(&'static [Word]),
    /// No duplicate, but a hold or a stop that nothing was lost for.
    FalseAlarm(&'static [Word]),
    /// No duplicate within the scene, and why.
    Nothing(&'static str),
}

/// A rule, or rules that stand in for each other, and what is so without.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// What is taken out, as words that end the sentence "without …".
    pub(super) name: &'static str,
    /// The number of the rule; 0 where it is an assumption.
    pub(super) number: u8,
    /// The number of the counter-example that led to it, if it is one of the eleven.
    pub(super) trace: Option<u8>,
    pub(super) out: &'static [Out],
    pub(super) scene: &'static str,
    pub(super) without: Without,
    /// Kinds of steps that aren't taken, so that the trace is the one meant and no shorter relative of it.
    pub(super) barred: &'static [Word],
}

use Out as O;
use Without::{Duplicate, FalseAlarm, Nothing};
use Word as W;

const fn rule(
    name: &'static str,
    number: u8,
    trace: Option<u8>,
    out: &'static [Out],
    scene: &'static str,
    without: Without,
) -> Rule {
    Rule { name, number, trace, out, scene, without, barred: &[] }
}

/// What was taken out, one after the other.
#[rustfmt::skip]
pub(super) static RULES: &[Rule] = &[
    // Whatever happens to the store.
    rule("comparing the tick that is encoded with `until`", 1, None, &[O::CheckOfTick], "ordinary", Duplicate(&[W::Acquire, W::Mint])),
    rule("whole ticks: marks in nanoseconds", 2, None, &[O::WholeTicks], "half ticks", Duplicate(&[W::Acquire, W::Acquire])),
    rule("`from` rounded up", 2, None, &[O::FromRoundsUp], "half ticks", Nothing("the mark is a whole tick, and `from` isn't below it")),
    rule("`until` rounded down", 2, None, &[O::UntilRoundsDown], "half ticks", Nothing("the floor is rounded up")),
    rule("the floor rounded up", 2, None, &[O::FloorRoundsUp], "half ticks", Nothing("`until` is rounded down")),
    rule("`until` rounded down and the floor rounded up", 2, None, &[O::UntilRoundsDown, O::FloorRoundsUp], "half ticks", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("refusing ticks that don't fit: masked", 7, None, &[O::TickFits], "end of the field", Duplicate(&[])),
    rule("refusing workers that don't fit: masked", 7, None, &[O::WorkerFits], "end of the field", Duplicate(&[W::Acquire, W::Acquire])),
    rule("a forked child's minting nothing", 8, None, &[O::ChildMintsNothing], "forked", Duplicate(&[W::Acquire, W::Fork])),
    rule("a forked child's releasing nothing", 8, Some(9), &[O::ChildReleasesNothing], "forked", Duplicate(&[W::Acquire, W::Fork, W::Release, W::Acquire])),
    rule("a forked child's renewing nothing", 8, None, &[O::ChildRenewsNothing], "forked", Nothing("who renews first wins, the other is refused; the child would have to mint none of its parent's ticks")),
    rule("a forked child's giving back nothing", 8, None, &[O::ChildReleasesNothing], "blocks forked", Duplicate(&[W::Claim, W::Fork, W::GiveBack, W::Claim])),
    rule("a forked child's having seen nothing", 8, None, &[O::ChildSawNothing], "blocks forked", FalseAlarm(&[W::Claim, W::Fork, W::GiveBack, W::Claim])),
    rule("durability before the answer", 10, None, &[O::Durable], "restored", Duplicate(&[W::Acquire, W::Lose, W::Acquire])),
    rule("durability before the answer, of blocks", 10, None, &[O::Durable], "blocks restored", Duplicate(&[W::Claim, W::Lose, W::Claim])),
    rule("`from` at or above the mark", 13, None, &[O::FromMark], "ordinary", Nothing("no worker is granted whose mark is above now")),
    rule("granting only workers whose mark isn't above now", 13, None, &[O::MarkNotAboveNow], "ordinary", Nothing("windows begin at the mark")),
    rule("granting only workers whose mark isn't above now, after a restore", 13, None, &[O::MarkNotAboveNow], "restored, long windows", Duplicate(&[W::Acquire, W::Copy, W::Acquire, W::Restore, W::Renew])),
    rule("`from` at or above the mark, or marks not above now", 13, None, &[O::FromMark, O::MarkNotAboveNow], "ordinary", Duplicate(&[W::Acquire, W::Acquire])),
    // Fences.
    rule("comparing serials", 11, None, &[O::Serial], "ordinary", Nothing("nonces are drawn for each request, and the mark is `until`")),
    rule("comparing serials, after a restore", 11, None, &[O::Serial], "restored, late messages", Nothing("as before")),
    rule("comparing nonces", 11, None, &[O::Nonce], "ordinary", Nothing("serials are never given twice")),
    rule("comparing nonces, after a restore", 11, None, &[O::Nonce], "restored, late messages", Nothing("the serial jumps when a hold begins, and the mark is `until`")),
    rule("comparing nonces, after two restores of one copy", 11, None, &[O::Nonce], "restored twice", Nothing("serials jump equally far twice, and yet the mark is `until`")),
    rule("comparing serials or nonces", 11, None, &[O::Serial, O::Nonce], "ordinary", Duplicate(&[])),
    rule("comparing nonces, and without the jump of serials", 11, None, &[O::Nonce, O::SerialJump], "restored, two writes", Nothing("the mark is `until`")),
    rule("comparing nonces and marks, and without the jump of serials", 11, Some(5), &[O::Nonce, O::MarkIsUntil, O::SerialJump], "restored, two writes", Duplicate(&[W::Acquire, W::Restore, W::Acquire, W::Renew])),
    rule("nonces drawn for each request: one a process", 14, None, &[O::NonceOfRequest], "ordinary", Nothing("serials are compared")),
    rule("comparing serials, with one nonce a process", 11, None, &[O::Serial, O::NonceOfRequest], "ordinary", Duplicate(&[])),
    rule("rows made by acquire and re-assert alone", 11, None, &[O::RowsMadeByGrants], "restored, late messages", Nothing("the floor covers what the row would tell")),
    rule("one transaction for worker row and space row", 11, Some(7), &[O::OneTransaction], "restored", Duplicate(&[W::Acquire, W::Acquire, W::Restore, W::Write])),
    rule("a release's being irrevocable", 11, None, &[O::Irrevocable], "ordinary", Duplicate(&[W::Acquire, W::Release, W::Arrive, W::Acquire])),
    rule("a give-back's being irrevocable", 11, None, &[O::Irrevocable], "blocks", Duplicate(&[W::Claim, W::GiveBack, W::Arrive, W::Claim])),
    rule("sending a release once", 11, None, &[O::NotSentAgain], "ordinary", Nothing("the serial fences the second")),
    rule("sending a give-back once", 11, None, &[O::NotSentAgain], "blocks", Nothing("the serial fences the second")),
    rule("sending a release once, or comparing serials and nonces", 11, None, &[O::NotSentAgain, O::Serial, O::Nonce], "ordinary", Duplicate(&[])),
    rule("settling requests before a release", 11, None, &[O::SettledBeforeEnd], "ordinary", FalseAlarm(&[W::Acquire, W::Renew, W::Release, W::Acquire, W::Arrive])),
    rule("settling claims before a give-back", 11, None, &[O::SettledBeforeEnd], "blocks", FalseAlarm(&[W::Claim, W::GiveBack, W::Arrive])),
    rule("comparing the serial of a give-back", 11, None, &[O::Serial], "blocks", Nothing("nonces are drawn for each claim")),
    rule("comparing the nonce of a give-back", 11, None, &[O::Nonce], "blocks", Nothing("serials are never given twice")),
    rule("comparing serial and nonce of a give-back", 11, None, &[O::Serial, O::Nonce], "blocks", Duplicate(&[])),
    rule("comparing the end of a give-back with the counter", 11, None, &[O::GiveBackIsLast], "blocks", Nothing("the serial is the last claim's")),
    rule("comparing `until` with the mark", 12, None, &[O::MarkIsUntil], "ordinary", Nothing("the serial changes with the mark")),
    Rule {
        barred: &[W::Release],
        ..rule("comparing `until` with the mark, and serials", 12, Some(6), &[O::MarkIsUntil, O::Serial], "restored, late messages", Duplicate(&[W::Acquire, W::Acquire, W::Restore, W::Arrive, W::Renew]))
    },
    rule("a renewal's lowering no mark", 12, None, &[O::RenewalLowersNothing], "ordinary", Duplicate(&[W::Acquire, W::Renew, W::Acquire])),
    rule("a release to last + 1: to last", 20, None, &[O::LastPlusOne], "ordinary", Duplicate(&[W::Acquire, W::Release, W::Acquire])),
    rule("a release to last + 1: to now", 20, None, &[O::LastNotNow], "ordinary", Duplicate(&[W::Acquire, W::Release, W::Acquire])),
    // After a restore.
    rule("`until` at most `max_ahead` after now", 12, None, &[O::MaxAhead], "restored", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("comparing identities", 17, None, &[O::Identity], "restored", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("comparing identities in every transaction: by acquire alone", 17, Some(8), &[O::IdentityAlways], "restored", Duplicate(&[W::Acquire, W::Copy, W::Acquire, W::Restore, W::Renew])),
    rule("a renewal's being alive below the floor", 17, Some(1), &[O::AliveBelowFloor], "restored", Duplicate(&[W::Acquire, W::Copy, W::Acquire, W::Restore, W::Renew])),
    rule("a renewal's being alive below the floor, once the hold has passed", 17, Some(2), &[O::AliveAfterHold], "restored", Duplicate(&[W::Acquire, W::Copy, W::Acquire, W::Restore, W::Renew])),
    rule("skew in whether a renewal is alive", 17, Some(3), &[O::AliveWithSkew], "restored", Duplicate(&[W::Acquire, W::Copy, W::Acquire, W::Restore, W::Renew])),
    rule("a floor that stays: a flag that is cleared", 17, Some(4), &[O::FloorStays], "restored", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("a floor that another hold doesn't lower", 17, None, &[O::FloorNeverSinks], "operator", Duplicate(&[])),
    rule("`from` at or above the floor", 17, None, &[O::FromFloor], "restored, late messages", Nothing("no worker is granted before the floor")),
    rule("no grant of workers during a hold", 17, None, &[O::NoGrantInHold], "restored, late messages", Nothing("windows begin at the floor")),
    rule("a floor that grants heed", 17, None, &[O::NoGrantInHold, O::FromFloor], "restored", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("skew in the hold", 17, None, &[O::HoldCoversSkew], "restored", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("`max_ahead` in the hold", 17, None, &[O::HoldCoversAhead], "restored", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("a promotion's hold from now: from the server's start", 17, None, &[O::PromotionCountsFromNow], "promoted or restarted", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("the jump of serials at a hold", 17, None, &[O::SerialJump], "restored, late messages", Nothing("nonces are compared")),
    rule("comparing what clients saw", 17, None, &[O::Witness], "restored in silence", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("a holder's report of a foreign row", 17, None, &[O::Report], "restored in silence", Nothing("what clients saw tells as well")),
    rule("a hold when a server restarts, where volumes are restored", 17, None, &[O::RestartHold], "promoted or restarted", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("a hold for a re-assertion", 17, None, &[O::ReassertInHold], "restored, late messages", Nothing("it lowers no mark")),
    rule("a re-assertion's being alive", 17, None, &[O::ReassertAlive], "restored, late messages", Nothing("the floor covers what it ended, and below it only a live lease is renewed")),
    rule("a re-assertion at or above the mark", 17, None, &[O::ReassertAboveMark], "restored, late messages", Nothing("the floor is above every mark that a re-assertion could sink")),
    rule("a counter's jump at a promotion", 18, None, &[O::CounterJumps], "blocks promoted", Duplicate(&[W::Claim, W::Restore, W::Claim])),
    rule("a counter's stop when its store is an older copy", 18, None, &[O::CounterStops], "blocks restored", Duplicate(&[W::Claim, W::Restore, W::Claim])),
    rule("comparing what clients saw of a counter", 18, None, &[O::Witness], "blocks restored", Duplicate(&[W::Claim, W::Restore, W::Claim])),
    rule("a tombstone", 19, None, &[O::Tombstone], "operator", Duplicate(&[W::Acquire, W::Recreate, W::Acquire])),
    rule("a new space's floor above the old one's marks", 19, None, &[O::RecreatedAboveOld], "operator", Duplicate(&[W::Acquire, W::Recreate, W::Acquire])),
    rule("naming a space by its UUID", 19, None, &[O::SpaceId], "operator", Nothing("serials go on from the old space's, and rows are made anew")),
    // Assumptions.
    rule("a store clock that errs by no more than `max_store_skew`", 0, Some(10), &[O::SkewHolds], "restored", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("a client that saw the loss and speaks first", 0, Some(11), &[O::WitnessFirst], "restored in silence", Duplicate(&[W::Acquire, W::Restore, W::Acquire])),
    rule("an operator who is right that nothing was lost", 0, None, &[O::OperatorIsRight], "operator", Duplicate(&[W::Acquire, W::Recreate, W::NothingLost, W::Acquire])),
    rule("a promotion that loses no more than `failover_gap`", 0, None, &[O::LossWithinGap], "blocks promoted", Duplicate(&[W::Claim, W::Restore, W::Claim])),
    rule("a bump above all that was issued", 0, None, &[O::BumpAboveAll], "blocks restored", Duplicate(&[W::Claim, W::Restore, W::Bump, W::Claim])),
];
