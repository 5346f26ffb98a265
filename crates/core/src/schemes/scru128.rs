//! SCRU128: milliseconds, two counters and 32 random bits in 25 characters.

use crate::entropy::Draw;
use crate::error::Error;
use crate::generators::locked;
#[cfg(feature = "std")]
use crate::generators::locked::Locked;
use crate::generators::rule::{Rule, fit_tick, tick_at};
use crate::generators::{Moment, Step, advance};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::raw::mask;
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{BASE36, TextForm};
use crate::time::UnixNanos;

/// A SCRU128 id, 128 bits.
pub type Scru128 = Id<Scru128Scheme>;

/// The description of [`Scru128`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scru128Scheme;

const BASE: TimeBase = TimeBase::millis_since(0);

/// 25 digits of base 36; upper case is read too.
static BASE36_25: TextForm = TextForm::fixed("base36", &BASE36, 25);

impl StaticScheme for Scru128Scheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "scru128",
        aliases: &[],
        summary: "unix milliseconds, 48 counter bits from a random start, 32 random bits",
        source: "scru128/spec, README",
        layout: Layout::new(
            128,
            &[
                Field::new("timestamp", Role::Timestamp(BASE), 48),
                Field::part("counter_hi", Role::Counter, 24, 24),
                Field::part("counter_lo", Role::Counter, 24, 0),
                Field::new("entropy", Role::Random, 32),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&BASE36_25],
        vectors: &[("0372hg16csmsm50l8dikcvukc", &[1_648_973_836_097, 8_268_596, 3_320_878, 3_310_577_788])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Nothing,
            collisions: "32 random bits and counters from a random start",
            leaks: "when it was made, to the millisecond",
            sql: ("uuid", "binary(16)"),
            surprise: Some(1),
        },
        methods: &[],
        settings: &[],
        generator: Some(|settings| locked::boxed(Scru128Rule::NEW, settings)),
    };
}

const_id!(Scru128Scheme, u128);

/// The low counter starts at a random value each millisecond; the high one is drawn anew when a second or more has gone by since it
/// was. Together they rise by one. When both are spent, the next millisecond is borrowed, with a high counter of zero.
/// Source: scru128/spec, Specification and Counter overflow handling.
#[derive(Clone, Copy, Debug)]
pub struct Scru128Rule {
    last: Option<Moment>,
    /// The millisecond in which the high counter was drawn.
    renewed: u64,
}

impl Scru128Rule {
    /// A rule without state.
    pub const NEW: Self = Self { last: None, renewed: 0 };
}

impl Rule for Scru128Rule {
    type Scheme = Scru128Scheme;

    fn renew(&mut self, _: &mut Draw<'_>) -> Result<(), Error> {
        *self = Self::NEW;
        Ok(())
    }

    fn next(&mut self, now: UnixNanos, draw: &mut Draw<'_>) -> Result<u128, Error> {
        const SECOND: u64 = 1000;
        let name = Scru128Scheme::SCHEME.name;
        let tick = tick_at(name, BASE, now)?;
        let mut renewed = self.renewed;
        let count = match self.last {
            // The counters go on.
            Some(last) if tick <= last.tick => 0,
            Some(last) if tick - renewed < SECOND => last.count >> 24 << 24 | draw.bits(24)?,
            _ => {
                renewed = tick;
                draw.bits(48)?
            }
        };
        let moment = match advance(self.last, Moment { tick, count }, 1, mask(48)) {
            Step::Use(moment) => moment,
            Step::WaitUntil(tick) => Moment { tick, count: draw.bits(24)? },
        };
        let tick = u128::from(fit_tick(name, BASE, moment.tick, 48)?);
        self.renewed = renewed;
        self.last = Some(moment);
        Ok(tick << 80 | moment.count << 32 | draw.bits(32)?)
    }
}

#[cfg(feature = "std")]
static SHARED: Locked<Scru128Rule> = Locked::new(Scru128Rule::NEW);

#[cfg(feature = "std")]
impl Mint for Scru128Scheme {
    type Shared = Locked<Scru128Rule>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}
