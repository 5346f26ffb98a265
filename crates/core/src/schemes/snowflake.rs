//! Any split of 64 bits into timestamp, worker and sequence, with an epoch and a tick of the user's choice.

use crate::error::{Error, LayoutFault};
use crate::generators::counter::{CounterGenerator, Parts};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// A Snowflake of the default split 41/10/12 since 2025, 64 bits.
pub type Snowflake = Id<SnowflakeScheme>;

/// The description of [`Snowflake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnowflakeScheme;

const NAME: &str = "snowflake";

/// Epoch and tick of a custom split unless others are given: milliseconds since 2025-01-01T00:00:00Z.
pub const DEFAULT_BASE: TimeBase = TimeBase::millis_since(1_735_689_600_000);

impl StaticScheme for SnowflakeScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: NAME,
        aliases: &["custom", "snowflake-custom"],
        summary: "any split of 64 bits into timestamp, worker and sequence; 41/10/12 since 2025 unless another is given",
        source: "this project; the default split is Twitter's",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 1),
                Field::new("timestamp", Role::Timestamp(DEFAULT_BASE), 41),
                Field::new("worker", Role::Worker, 10),
                Field::new("sequence", Role::Counter, 12),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("4194304", &[0, 1, 0, 0]), ("9223372036854775807", &[0, 2_199_023_255_551, 1023, 4095])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the tick, by which worker, and how busy that worker was",
            sql: ("bigint", "bigint"),
            surprise: None,
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies, Setting::Split],
        generator: Some(|settings| {
            let layout = settings.layout.unwrap_or(Self::SCHEME.layout);
            Ok(Box::new(CounterGenerator::new(NAME, &layout, Parts::of(&layout)?, settings)?))
        }),
    };
}

const_id!(SnowflakeScheme, u64);

/// The layout of a custom split such as `41/10/12`: widths of timestamp, worker and sequence from the most significant bit, or in
/// another order with letters, as in `t39/s8/w16`. Bits left over at the top of the 64 are zero.
///
/// # Errors
/// [`Error::Layout`] when a part isn't a width, a role is missing or named twice, a width is 0, or the sum is above 64.
pub fn custom_split(text: &str, base: TimeBase) -> Result<Layout, Error> {
    const ROLES: [(char, &str, usize); 3] = [('t', "timestamp", 0), ('w', "worker", 1), ('s', "sequence", 2)];
    let roles = [Role::Timestamp(base), Role::Worker, Role::Counter];
    let mut fields = [Field::new("unused", Role::Fixed(0), 0); 4];
    let (mut count, mut sum) = (0, 0u32);
    for (i, part) in text.split('/').enumerate() {
        let fault = Error::Layout(LayoutFault::Part { part: i + 1 });
        let named = part.chars().next().and_then(|c| ROLES.iter().find(|(letter, ..)| *letter == c));
        let digits = if named.is_some() { &part[1..] } else { part };
        let Some((_, name, role)) = named.or_else(|| ROLES.get(i)) else {
            return Err(fault);
        };
        let is_number = !digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|b| b.is_ascii_digit());
        let bits: u32 = if is_number {
            digits.parse().map_err(|_| fault)?
        } else {
            return Err(fault);
        };
        let is_twice = fields[1..=count].iter().any(|f| f.name == *name);
        if is_twice || count == 3 {
            return Err(fault);
        }
        count += 1;
        sum += bits;
        fields[count] = Field::new(name, roles[*role], bits);
    }
    if count < 3 {
        let missing = ROLES.iter().find(|(_, name, _)| fields[1..=count].iter().all(|f| f.name != *name));
        let role = missing.map_or("sequence", |(_, name, _)| name);
        return Err(Error::Layout(LayoutFault::Missing { role }));
    }
    match sum {
        64 => Layout::try_new(64, &fields[1..]),
        0..64 => {
            fields[0].bits = 64 - sum;
            Layout::try_new(64, &fields)
        }
        _ => Err(Error::Layout(LayoutFault::TooWide { found: sum })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> LayoutFault {
        match custom_split(text, DEFAULT_BASE) {
            Err(Error::Layout(fault)) => fault,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn splits_in_any_order_become_layouts() {
        let twitter = custom_split("41/10/12", DEFAULT_BASE).unwrap();
        assert_eq!(twitter, SnowflakeScheme::SCHEME.layout);
        let sony = custom_split("t39/s8/w16", DEFAULT_BASE).unwrap();
        assert_eq!(sony.pack(&[0, 1, 2, 3]), Ok(crate::RawId::new(1 << 24 | 2 << 16 | 3)));
        assert_eq!(custom_split("42/10/12", DEFAULT_BASE).unwrap().fields().len(), 3);
        assert_eq!(custom_split("41/3/9", DEFAULT_BASE).unwrap().fields()[0].bits, 11);
    }

    #[test]
    fn wrong_splits_say_what_is_wrong() {
        assert_eq!(fault("41/10"), LayoutFault::Missing { role: "sequence" });
        assert_eq!(fault("41/10/x"), LayoutFault::Part { part: 3 });
        assert_eq!(fault("41/10/12/1"), LayoutFault::Part { part: 4 });
        assert_eq!(fault("t41/t10/12"), LayoutFault::Part { part: 2 });
        assert_eq!(fault("41/10/+2"), LayoutFault::Part { part: 3 });
        assert_eq!(fault(""), LayoutFault::Part { part: 1 });
        assert_eq!(fault("41/20/12"), LayoutFault::TooWide { found: 73 });
        assert_eq!(fault("41/0/12"), LayoutFault::FieldBits { field: "worker", found: 0 });
        assert_eq!(fault("é41/0/12"), LayoutFault::Part { part: 1 });
    }
}
