//! MongoDB's ObjectId: seconds, 40 random bits a process and a counter.

use crate::generators::locked;
#[cfg(feature = "std")]
use crate::generators::locked::Locked;
use crate::generators::process_counter::ProcessCounterRule;
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{HEX_DIGITS, TextForm};

/// An ObjectId, 96 bits.
pub type ObjectId = Id<ObjectIdScheme>;

/// The description of [`ObjectId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectIdScheme;

const NAME: &str = "objectid";
/// 24 hex digits.
static HEX_24: TextForm = TextForm::fixed("hex", &HEX_DIGITS, 24);

impl StaticScheme for ObjectIdScheme {
    type Repr = [u8; 12];
    const SCHEME: &'static Scheme = &Scheme {
        name: NAME,
        aliases: &["object-id", "mongodb-objectid", "bson-objectid"],
        summary: "unix seconds, 40 random bits a process, 24-bit counter",
        source: "MongoDB specifications, BSON ObjectID",
        layout: Layout::new(
            96,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::seconds_since(0)), 32),
                Field::new("random", Role::Random, 40),
                Field::new("counter", Role::Counter, 24),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&HEX_24],
        vectors: &[
            ("507c7f79bcf86cd7994f6c0e", &[1_350_336_377, 0xbc_f86c_d799, 5_205_006]),
            ("ffffffffffffffffffffffff", &[4_294_967_295, 0xff_ffff_ffff, 16_777_215]),
        ],
        facts: Facts {
            sortable: Sortable::ToTick,
            coordination: Coordination::Nothing,
            collisions: "40 random bits a process: 50 % at 1.2 million processes in one second",
            leaks: "when it was made, to the second, which ids came from one process, and how many it makes",
            sql: ("bytea", "binary(12)"),
            surprise: Some(0),
        },
        methods: &[],
        settings: &[],
        generator: Some(|settings| locked::boxed(ObjectIdRule::default(), settings)),
    };
}

const_id!(ObjectIdScheme, [u8; 12]);

/// Counts from a random start, for each process another.
pub type ObjectIdRule = ProcessCounterRule<ObjectIdScheme>;

#[cfg(feature = "std")]
static SHARED: Locked<ObjectIdRule> = Locked::new(ObjectIdRule::NEW);

#[cfg(feature = "std")]
impl Mint for ObjectIdScheme {
    type Shared = Locked<ObjectIdRule>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::{Draw, Entropy};
    use crate::error::{Cause, Error};
    use crate::generators::rule::Rule;
    use crate::time::UnixNanos;

    struct Ones;
    impl Entropy for Ones {
        fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
            out.fill(0xff);
            Ok(())
        }
    }

    #[test]
    fn the_counter_never_repeats_within_a_second() {
        let mut draw = Draw::new(&Ones);
        let mut rule = ObjectIdRule::NEW;
        rule.renew(&mut draw).unwrap();
        let first = rule.next_id(UnixNanos::from_secs(5), &mut draw).unwrap();
        for _ in 1..1 << 24 {
            rule.next(UnixNanos::from_secs(5), &mut draw).unwrap();
        }
        let spent = rule.next_id(UnixNanos(5_400_000_000), &mut draw);
        assert_eq!(
            spent,
            Err(Error::Busy { scheme: "objectid", cause: Cause::Spent, wait_nanos: 600_000_000 })
        );
        let next = rule.next_id(UnixNanos::from_secs(6), &mut draw).unwrap();
        assert_eq!(next.field("counter"), first.field("counter"));
        assert_ne!(next, first);
    }
}
