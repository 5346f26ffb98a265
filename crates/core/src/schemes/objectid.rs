//! MongoDB's ObjectId: seconds, 40 random bits a process and a counter.

use crate::entropy::Draw;
use crate::error::{Cause, Error};
#[cfg(feature = "std")]
use crate::generators::locked::Locked;
use crate::generators::rule::{Rule, fit_tick, tick_at};
use crate::generators::{Moment, Step, advance, locked};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::raw::{RawId, bytes_12, mask};
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{HEX_DIGITS, TextForm};
use crate::time::UnixNanos;

/// An ObjectId, 96 bits.
pub type ObjectId = Id<ObjectIdScheme>;

/// The description of [`ObjectId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectIdScheme;

const NAME: &str = "objectid";
const BASE: TimeBase = TimeBase::seconds_since(0);
/// Width of the counter.
const COUNTER_BITS: u32 = 24;
/// Width of the random part of a process.
const PROCESS_BITS: u32 = 40;

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
                Field::new("timestamp", Role::Timestamp(BASE), 32),
                Field::new("random", Role::Random, PROCESS_BITS),
                Field::new("counter", Role::Counter, COUNTER_BITS),
            ],
        ),
        text: &[&HEX_24],
        vectors: &[
            ("507c7f79bcf86cd7994f6c0e", &[1_350_336_377, 0xbcf8_6cd7_99, 5_205_006]),
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
        generator: Some(|settings| {
            settings.without_worker(NAME)?;
            locked::boxed(ObjectIdRule::default(), settings)
        }),
    };
}

const_id!(ObjectIdScheme, [u8; 12]);

/// Counts from a random start. Within one second all 2^24 values are used at most once; then it waits for the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectIdRule {
    process: u128,
    /// The counter's next value.
    counter: u128,
    /// The second of the last id, and how many it has had.
    last: Option<Moment>,
}

impl ObjectIdRule {
    /// A rule without its random state.
    pub const NEW: Self = Self { process: 0, counter: 0, last: None };
}

impl Rule for ObjectIdRule {
    type Scheme = ObjectIdScheme;
    const ID_BYTES: usize = 0;

    fn renew(&mut self, draw: &mut Draw<'_>) -> Result<(), Error> {
        *self = Self { process: draw.bits(PROCESS_BITS)?, counter: draw.bits(COUNTER_BITS)?, last: None };
        Ok(())
    }

    fn next(&mut self, now: UnixNanos, _: &mut Draw<'_>) -> Result<[u8; 12], Error> {
        let tick = tick_at(NAME, BASE, now)?;
        // The count says how many ids the second has had; the counter itself goes on across seconds, as drivers expect.
        let moment = match advance(self.last, Moment { tick, count: 0 }, 1, mask(COUNTER_BITS)) {
            Step::Use(moment) => moment,
            Step::WaitUntil(next) => {
                let begins = BASE.time_of(u128::from(next)).unwrap_or(now);
                let wait_nanos = u64::try_from(begins.0 - now.0).unwrap_or(1);
                return Err(Error::Busy { scheme: NAME, cause: Cause::Spent, wait_nanos });
            }
        };
        let second = u128::from(fit_tick(NAME, BASE, moment.tick, 32)?);
        self.last = Some(moment);
        let raw = second << (PROCESS_BITS + COUNTER_BITS) | self.process << COUNTER_BITS | self.counter;
        self.counter = (self.counter + 1) & mask(COUNTER_BITS);
        Ok(bytes_12(RawId::new(raw)))
    }
}

#[cfg(feature = "std")]
static SHARED: Locked<ObjectIdRule> = Locked::new(ObjectIdRule::NEW);

#[cfg(feature = "std")]
impl Mint for ObjectIdScheme {
    fn mint() -> Result<[u8; 12], Error> {
        SHARED.next_id().map(Id::get)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::Entropy;

    struct Ones;
    impl Entropy for Ones {
        fn fill(&self, out: &mut [u8]) -> Result<(), Error> {
            out.fill(0xff);
            Ok(())
        }
    }

    #[test]
    fn the_counter_never_repeats_within_a_second() {
        let mut draw = Draw::new(&Ones, 16);
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
