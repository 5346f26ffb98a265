//! What a reading costs: how surprising a text would be as an id of a scheme, in bits.

use super::{DAY, Options, PLAUSIBLE_FROM};
use crate::layout::{Layout, Role};
use crate::raw::RawId;
use crate::scheme::Scheme;

/// Bits of surprise that `raw` means under a layout, if all times since 2005 or the epoch are equally likely.
pub(super) fn cost(
    scheme: &Scheme,
    layout: &Layout,
    raw: RawId,
    is_plausible: bool,
    options: &Options,
) -> f64 {
    /// Schemes whose sequence doesn't begin anew in each tick, so that all its values are equally likely: tsid-creator starts it
    /// at random, Instagram takes it from a database sequence.
    const ANY_SEQUENCE: &[&str] = &["tsid", "snowflake-instagram"];
    let any_sequence = ANY_SEQUENCE.contains(&scheme.name);
    /// What a time in the future costs: about one id in a thousand million has one.
    const FUTURE: f64 = 30.0;
    /// What a time costs that no number of nanoseconds can tell, in place of the size of its days.
    const DAYS: f64 = 40.0;
    /// What a time before 2005 costs: examples in documentation have such times.
    const PAST: f64 = 18.0;
    /// What a time costs that lies before a scheme had found users.
    const TOO_EARLY: f64 = 6.0;
    const TWO_MONTHS: i128 = 60 * DAY;
    let is_past = layout.time(raw).is_some_and(|time| time < PLAUSIBLE_FROM);
    let mut bits = match (is_plausible, is_past) {
        (true, _) => 0.0,
        (false, true) => PAST,
        // The further ahead, the less likely.
        (false, false) => FUTURE + layout.time(raw).map_or(DAYS, |t| log2((t.0 - options.now.0) / DAY)),
    };
    if let Some(base) = layout.time_base() {
        let begin = base.epoch.max(PLAUSIBLE_FROM);
        let span = (options.now.0 - begin.0).max(1_000_000_000);
        bits += log2(span / i128::from(base.tick_nanos));
        // More and more ids are made as years go by, so the first days after an epoch are the rarest: as many a day as the square
        // of the days since then, which add up to a third of what as many a day as today would.
        if let Some(time) = layout.time(raw).filter(|_| is_plausible) {
            let age = (time.0 - begin.0).max(1);
            bits += 2.0 * (log2(span) - log2(age)) - log2(3);
            bits += if age < TWO_MONTHS { TOO_EARLY } else { 0.0 };
        }
    }
    for (i, field) in layout.fields().iter().enumerate() {
        if matches!(field.role, Role::Worker | Role::Counter) {
            let width = f64::from(field.bits);
            bits += if any_sequence { width } else { small_number_cost(layout.value(raw, i), field.bits) };
        }
    }
    for field in layout.fields() {
        if matches!(field.role, Role::Random | Role::Hash | Role::Custom) {
            bits += f64::from(field.bits);
        }
    }
    bits
}

/// Bits of surprise of a worker or sequence number: half of them small, half anything. Wide ones are hashes and random starts, and
/// very wide ones counters that began at 1.
fn small_number_cost(value: u128, width: u32) -> f64 {
    /// Sequences and workers are narrower.
    const HASH: u32 = 14;
    /// Node addresses and hashes are narrower.
    const COUNTER: u32 = 63;
    /// What the size of a counter costs: each of 64 sizes is as likely as the others.
    const SIZE: f64 = 6.0;
    match width {
        COUNTER => log2(i128::try_from(value).unwrap_or(i128::MAX)) + SIZE,
        HASH.. => f64::from(width),
        _ => {
            let anything = 0.5_f64.powi(i32::try_from(width).unwrap_or(0));
            let n = f64::from(u32::try_from(value).unwrap_or(u32::MAX));
            let small = 1.0 / ((n + 1.0) * (n + 2.0));
            -(0.5 * small + 0.5 * anything).log2()
        }
    }
}

/// The logarithm of a count, at least 0.
pub(super) fn log2(count: i128) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a logarithm needs no more than the leading digits")]
    let count = count.max(1) as f64;
    count.log2()
}
