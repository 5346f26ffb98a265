//! Capacity: how long ids last, and how many there are; which split of 64 bits holds given machines, rate and years.

mod suggest;

use crate::error::Error;
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Scheme};
use crate::time::UnixNanos;
use core::ops::RangeInclusive;
pub use suggest::{Needs, Spare, Split, TICKS, least, suggest};

/// What a layout can give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// The time field's span; `None` without one.
    pub lifetime: Option<Lifetime>,
    /// Who may mint at a time.
    pub writers: Writers,
    /// Ids that one writer can have with one tick; `None` where ids are random and only chance limits them.
    pub ids_per_tick: Option<u128>,
}

/// Who may mint at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writers {
    /// One for each worker, from 0; so many workers there are.
    Workers(u128),
    /// Workers and sequence share some bits, which each user splits as needed.
    Shared {
        /// How many bits.
        bits: u32,
    },
    /// One alone.
    One,
    /// Any number, without agreeing on anything.
    Any,
}

impl Writers {
    /// How many; `None` for any number, and where that is the user's split.
    #[must_use]
    pub const fn count(self) -> Option<u128> {
        match self {
            Self::Workers(count) => Some(count),
            Self::One => Some(1),
            Self::Any | Self::Shared { .. } => None,
        }
    }
}

/// How long a time field lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lifetime {
    /// Epoch and tick.
    pub base: TimeBase,
    /// From the epoch to the end, in seconds.
    pub secs: f64,
    /// The first moment that doesn't fit; `None` where it is too far away for a number of nanoseconds.
    pub ends: Option<UnixNanos>,
    /// The first moment whose ids have 64 bits: negative numbers in a signed column, before the field itself ends.
    pub turns_negative: Option<UnixNanos>,
    /// The first moment whose ids have 54 bits: not exact in JavaScript and in JSON numbers read by it. `None` for ids that never
    /// are numbers of that size, and for those that are from their epoch on.
    pub passes_2_53: Option<UnixNanos>,
}

impl Lifetime {
    /// When no id can be made any more that a signed 64-bit column takes: the end, or an earlier turn to negative numbers.
    #[must_use]
    pub fn usable_until(&self) -> Option<UnixNanos> {
        self.turns_negative.or(self.ends)
    }

    /// Of a layout whose time field is a number in place, or isn't, and has this many values where it hasn't all of them.
    fn of(layout: &Layout, is_in_place: bool, ticks: Option<u128>) -> Option<Self> {
        let base = layout.time_base()?;
        let role = Role::Timestamp(base);
        let bits = layout.value_bits(role);
        // Numbers grow with time only where time stands on top.
        let top = layout.find(role).filter(|slot| {
            is_in_place && slot.shift + slot.bits == layout.used_bits() && layout.bits() <= 64
        });
        let first_above = |limit: u32| {
            let slot = top.filter(|slot| slot.shift < limit && limit < slot.shift + slot.bits)?;
            base.time_of(1 << (limit - slot.shift))
        };
        Some(Self {
            base,
            secs: ticks.map_or(2f64.powi(bits.cast_signed()), |ticks| ticks as f64) * base.tick_nanos as f64
                / 1e9,
            ends: ticks.map_or(layout.ends_at(), |ticks| base.time_of(ticks)),
            turns_negative: first_above(63),
            passes_2_53: first_above(53),
        })
    }
}

impl Capacity {
    /// Of a scheme.
    #[must_use]
    pub fn of(scheme: &Scheme) -> Self {
        let layout = &scheme.layout;
        let has = |role: Role| layout.fields().iter().any(|field| field.role.is_like(role));
        let (counted, has_time) = (values(layout, Role::Counter), layout.time_base().is_some());
        let (writers, ids_per_tick) = match scheme.facts.coordination {
            Coordination::Worker if has(Role::Worker) => {
                (Writers::Workers(values(layout, Role::Worker)), Some(counted))
            }
            Coordination::Worker => (Writers::Shared { bits: width(layout, Role::Custom) }, None),
            Coordination::OneWriter => (Writers::One, Some(counted)),
            // RFC 9562's clock sequence isn't a sequence: a process uses each tick once.
            Coordination::Nothing if layout.time_base() == Some(TimeBase::GREGORIAN) => {
                (Writers::Any, Some(1))
            }
            Coordination::Nothing if has(Role::Counter) && has_time => (Writers::Any, Some(counted)),
            Coordination::Nothing | Coordination::SameInput => (Writers::Any, None),
        };
        let lifetime = Lifetime::of(layout, scheme.mapping == Mapping::Identity, ticks_in_text(scheme));
        Self { lifetime, writers, ids_per_tick }
    }

    /// Of a split of 64 bits into timestamp, worker and sequence.
    #[must_use]
    pub fn of_split(layout: &Layout) -> Self {
        Self {
            lifetime: Lifetime::of(layout, true, None),
            writers: Writers::Workers(values(layout, Role::Worker)),
            ids_per_tick: Some(values(layout, Role::Counter)),
        }
    }

    /// Ids a second of one writer; `None` where they aren't counted or there is no tick.
    #[must_use]
    pub fn ids_per_sec(&self) -> Option<f64> {
        let tick_nanos = self.lifetime?.base.tick_nanos as f64;
        Some(self.ids_per_tick? as f64 * 1e9 / tick_nanos)
    }
}

/// How many values the time field has in text, where that spells it by itself and has fewer digits than the bits would need.
fn ticks_in_text(scheme: &Scheme) -> Option<u128> {
    let (fields, form) = (scheme.layout.fields(), scheme.canonical());
    let is_time = |field: &Field| matches!(field.role, Role::Timestamp(_));
    let part = form.parts.get(fields.iter().position(is_time)?)?;
    let spelled = u128::from(form.base.radix()).checked_pow(u32::try_from(part.len).ok()?)?;
    let all = 1u128.checked_shl(part.bits).unwrap_or(u128::MAX);
    (form.parts.len() == fields.len() && spelled < all).then_some(spelled)
}

/// Bits of all fields of a role.
fn width(layout: &Layout, role: Role) -> u32 {
    layout.fields().iter().filter(|field| field.role.is_like(role)).map(|field| field.bits).sum()
}

/// How many values the fields of a role have; 2^128 counts as one less.
fn values(layout: &Layout, role: Role) -> u128 {
    1u128.checked_shl(layout.value_bits(role)).unwrap_or(u128::MAX)
}

/// The workers of region `index` when the workers from 0 are dealt to `regions` in blocks; the first blocks have one more
/// where the division leaves a rest. `None` when there are fewer workers than regions, or no such region.
#[must_use]
pub fn region(workers: u128, regions: u64, index: u64) -> Option<RangeInclusive<u128>> {
    let (count, i) = (u128::from(regions), u128::from(index));
    if i >= count || workers < count {
        return None;
    }
    let (each, rest) = (workers / count, workers % count);
    let from = i * each + i.min(rest);
    Some(from..=from + each - u128::from(i >= rest))
}

/// An integer column or counter.
#[derive(Clone, Copy, Debug)]
pub struct CounterType {
    /// Its short name.
    pub name: &'static str,
    /// What databases call it.
    pub aliases: &'static [&'static str],
    /// The largest value.
    pub max: u64,
}

/// The integers that databases count with.
pub static COUNTERS: &[CounterType] = &[
    CounterType { name: "int1", aliases: &["tinyint"], max: 127 },
    CounterType { name: "uint1", aliases: &["tinyint unsigned"], max: 255 },
    CounterType { name: "int2", aliases: &["smallint", "smallserial"], max: 32_767 },
    CounterType { name: "uint2", aliases: &["smallint unsigned"], max: 65_535 },
    CounterType { name: "int3", aliases: &["mediumint"], max: 8_388_607 },
    CounterType { name: "uint3", aliases: &["mediumint unsigned"], max: 16_777_215 },
    CounterType { name: "int4", aliases: &["int", "integer", "serial"], max: 2_147_483_647 },
    CounterType { name: "uint4", aliases: &["int unsigned", "integer unsigned"], max: 4_294_967_295 },
    CounterType { name: "javascript", aliases: &["js", "2^53-1"], max: 9_007_199_254_740_991 },
    CounterType { name: "int8", aliases: &["bigint", "bigserial"], max: 9_223_372_036_854_775_807 },
    CounterType { name: "uint8", aliases: &["bigint unsigned"], max: u64::MAX },
];

impl CounterType {
    /// The counter of this name or alias, in any case.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        COUNTERS.iter().find(|counter| {
            counter.name.eq_ignore_ascii_case(name)
                || counter.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
        })
    }

    /// How many values follow `current`, each `step` above the one before.
    ///
    /// # Errors
    /// [`Error::Quantity`] when `current` is above the largest value, or `step` is 0.
    pub fn left(&self, current: u64, step: u64) -> Result<u64, Error> {
        let above = self.max.checked_sub(current);
        let above = above.ok_or(Error::Quantity {
            what: "the current value",
            expected: "at most the counter's largest value",
        })?;
        above.checked_div(step).ok_or(Error::Quantity { what: "the step", expected: "1 or more" })
    }
}

/// The moment so many seconds after another; `None` after the year 9999 or before -9999.
#[must_use]
pub fn after(now: UnixNanos, secs: f64) -> Option<UnixNanos> {
    const TEN_THOUSAND_YEARS: f64 = 20_000.0 * 366.0 * 86_400.0;
    if secs.is_nan() || secs.abs() > TEN_THOUSAND_YEARS {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "less than 10^21 ns, which i128 holds")]
    let then = now.plus((secs * 1e9) as i128);
    then.rfc3339(0).is_some().then_some(then)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::snowflake::custom_split;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    const YEAR: f64 = 365.25 * 86_400.0;

    fn of(name: &str) -> Capacity {
        Capacity::of(Scheme::by_name(name).unwrap())
    }

    fn date(time: Option<UnixNanos>) -> String {
        time.unwrap().to_string()[..10].to_owned()
    }

    #[test]
    fn lifetimes_and_rates_of_schemes() {
        let twitter = of("snowflake-twitter");
        assert_eq!(twitter.writers, Writers::Workers(1024));
        assert_eq!(twitter.ids_per_sec(), Some(4_096_000.0));
        let life = twitter.lifetime.unwrap();
        assert_eq!((date(life.ends), date(life.passes_2_53)), ("2080-07-10".into(), "2010-11-28".into()));
        assert_eq!(life.turns_negative, None);
        assert!((life.secs / YEAR - 69.68).abs() < 0.01);
        let sony = of("sonyflake-v1");
        assert_eq!((sony.writers, sony.ids_per_sec()), (Writers::Workers(65_536), Some(25_600.0)));
        assert_eq!(date(sony.lifetime.unwrap().ends), "2188-11-16");
        assert_eq!(of("objectid").ids_per_sec(), Some(16_777_216.0));
        assert_eq!(of("uuid-v1").ids_per_sec(), Some(1e7));
        assert_eq!(of("xid").ids_per_sec(), Some(16_777_216.0));
        assert_eq!(of("snowflake-mastodon").writers, Writers::One);
        assert_eq!(of("scru64").writers, Writers::Shared { bits: 24 });
        // 8 digits of base 36, which is less than the 42 bits that hold them.
        assert_eq!(date(of("cuid").lifetime.unwrap().ends), "2059-05-25");
        let v4 = of("uuid-v4");
        assert_eq!((v4.lifetime, v4.writers, v4.ids_per_tick), (None, Writers::Any, None));
    }

    #[test]
    fn an_unsigned_time_field_turns_negative_before_it_ends() {
        let discord = of("snowflake-discord").lifetime.unwrap();
        assert_eq!(date(discord.turns_negative), "2084-09-06");
        assert_eq!(
            (date(discord.usable_until()), date(discord.ends)),
            ("2084-09-06".into(), "2154-05-15".into())
        );
        assert_eq!(date(of("snowflake-instagram").lifetime.unwrap().usable_until()), "2046-06-27");
        // Version 7 has its time on top as well, and isn't a number.
        assert_eq!(of("uuid-v7").lifetime.unwrap().turns_negative, None);
    }

    #[test]
    fn every_scheme_has_a_capacity() {
        for scheme in crate::SCHEMES {
            let capacity = Capacity::of(scheme);
            assert_eq!(capacity.lifetime.is_some(), scheme.layout.time_base().is_some(), "{}", scheme.name);
            if let (Some(max), Writers::Workers(count)) = (scheme.max_worker(), capacity.writers) {
                assert_eq!(count, u128::from(max) + 1, "{}", scheme.name);
            }
            assert!(capacity.ids_per_sec().is_none_or(|rate| rate.is_finite() && rate > 0.0));
        }
    }

    #[test]
    fn the_split_that_ended_in_production() {
        // uid-generator: 28 bits of seconds since 2016-05-20 in China.
        let base = TimeBase::seconds_since(1_463_673_600);
        let capacity = Capacity::of_split(&custom_split("28/22/13", base).unwrap());
        assert_eq!(date(capacity.lifetime.unwrap().usable_until()), "2024-11-20");
        assert_eq!((capacity.writers, capacity.ids_per_sec()), (Writers::Workers(4_194_304), Some(8192.0)));
    }

    #[test]
    fn regions_are_blocks_of_workers_without_gap_or_overlap() {
        let blocks = |workers, regions| (0..regions).map(move |i| region(workers, regions, i).unwrap());
        assert_eq!(
            blocks(1024, 4).map(RangeInclusive::into_inner).collect::<Vec<_>>(),
            [(0, 255), (256, 511), (512, 767), (768, 1023)]
        );
        for (workers, regions) in [(1024, 3), (7, 7), (10, 4), (u128::MAX, 5)] {
            let mut next = 0;
            for block in blocks(workers, regions) {
                assert_eq!(*block.start(), next);
                assert!(block.end() >= block.start());
                next = block.end() + 1;
            }
            assert_eq!(next, workers);
        }
        assert_eq!((region(3, 4, 0), region(3, 0, 0), region(8, 4, 4)), (None, None, None));
    }

    #[test]
    fn a_32_bit_counter_at_100_a_second_lasts_eight_months() {
        let int4 = CounterType::by_name("INTEGER").unwrap();
        let secs = int4.left(0, 1).unwrap() as f64 / 100.0;
        assert!((8.0..8.3).contains(&(secs / (YEAR / 12.0))), "{secs}");
        let start = UnixNanos::from_secs(1_735_689_600);
        assert_eq!(date(after(start, secs)), "2025-09-06");
        assert_eq!(int4.left(2_147_483_640, 2), Ok(3));
        assert!(int4.left(2_147_483_648, 1).is_err() && int4.left(0, 0).is_err());
        for secs in [1e12, f64::INFINITY, f64::NAN, f64::MAX] {
            assert_eq!(after(start, secs), None);
        }
    }

    #[test]
    fn names_of_counters_are_unique() {
        let mut seen = alloc::collections::BTreeSet::new();
        for counter in COUNTERS {
            for name in counter.aliases.iter().chain([&counter.name]) {
                assert!(seen.insert(*name), "{name} stands twice");
            }
        }
        assert!(COUNTERS.is_sorted_by_key(|counter| counter.max));
    }
}
