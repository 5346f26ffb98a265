//! ULID: milliseconds and 80 random bits in 26 characters.

#[cfg(feature = "std")]
use crate::generators::locked::Locked;
use crate::generators::monotonic::MonotonicRule;
use crate::generators::{Method, locked};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{CROCKFORD32, TextForm};

/// A ULID, 128 bits.
pub type Ulid = Id<UlidScheme>;

/// The description of [`Ulid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UlidScheme;

const NAME: &str = "ulid";
const BASE: TimeBase = TimeBase::millis_since(0);
/// Width of the random part.
const RANDOM_BITS: u32 = 80;

/// 26 digits of Crockford's base 32; the first is at most 7.
static CROCKFORD_26: TextForm = TextForm::fixed("crockford32", &CROCKFORD32, 26);

impl StaticScheme for UlidScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: NAME,
        aliases: &[],
        summary: "time-ordered: unix milliseconds, then 80 random bits",
        source: "ulid/spec, README",
        layout: Layout::new(
            128,
            &[
                Field::new("timestamp", Role::Timestamp(BASE), 48),
                Field::new("randomness", Role::Random, RANDOM_BITS),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&CROCKFORD_26],
        vectors: &[
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", &[1_469_922_850_259, 0xd676_4c61_efb9_9302_bd5b]),
            ("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", &[281_474_976_710_655, 0xffff_ffff_ffff_ffff_ffff]),
        ],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Nothing,
            collisions: "80 random bits a millisecond: 50 % at 1.3 * 10^12 ids in one",
            leaks: "when it was made, to the millisecond; ids of one generator and millisecond can be guessed from each other",
            sql: ("uuid", "binary(16)"),
            surprise: Some(0),
        },
        methods: &[Method::Monotonic, Method::Strict, Method::Random],
        settings: &[],
        generator: Some(|settings| {
            let method = Self::SCHEME.method(settings.method)?.unwrap_or(Method::Monotonic);
            locked::boxed(UlidRule::new(method), settings)
        }),
    };
}

const_id!(UlidScheme, u128);

/// Within a millisecond, and when the clock goes back, the random part rises by one.
pub type UlidRule = MonotonicRule<UlidScheme>;

#[cfg(feature = "std")]
static SHARED: Locked<UlidRule> = Locked::new(UlidRule::new(Method::Monotonic));

#[cfg(feature = "std")]
impl Mint for UlidScheme {
    type Shared = Locked<UlidRule>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::{Draw, Entropy};
    use crate::error::Error;
    use crate::generators::rule::Rule;
    use crate::time::UnixNanos;

    struct Ones;
    impl Entropy for Ones {
        fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
            out.fill(0xff);
            Ok(())
        }
    }

    fn next(rule: &mut UlidRule, ms: i64) -> Result<Ulid, Error> {
        rule.next_id(UnixNanos::from_millis(ms), &mut Draw::new(&Ones))
    }

    #[test]
    fn a_spent_random_part_fails_when_strict_and_borrows_otherwise() {
        let last = "01BX5ZZKBKZZZZZZZZZZZZZZZZ".parse().unwrap();
        let ms = 1_508_808_576_371;
        let mut strict = UlidRule::after(Method::Strict, last);
        assert_eq!(next(&mut strict, ms), Err(Error::Overflow { scheme: "ulid" }));
        assert_eq!(next(&mut strict, ms + 1).unwrap().to_string(), "01BX5ZZKBMZZZZZZZZZZZZZZZZ");
        let mut lenient = UlidRule::after(Method::Monotonic, last);
        assert_eq!(next(&mut lenient, ms).unwrap().to_string(), "01BX5ZZKBMZZZZZZZZZZZZZZZZ");
    }

    #[test]
    fn a_clock_that_goes_back_counts_on() {
        let last = "01ARYZ6S41YYYYYYYYYYYYYYZ0".parse().unwrap();
        let mut rule = UlidRule::after(Method::Monotonic, last);
        assert_eq!(next(&mut rule, 10_000).unwrap().to_string(), "01ARYZ6S41YYYYYYYYYYYYYYZ1");
    }

    #[test]
    fn the_last_ulid_has_no_successor() {
        let last = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ".parse().unwrap();
        let mut rule = UlidRule::after(Method::Monotonic, last);
        assert!(matches!(next(&mut rule, 5), Err(Error::TimeFieldEnded { .. })));
    }
}
