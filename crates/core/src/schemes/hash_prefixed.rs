//! Hash-prefixed ids: a bucket before the time, so that writers spread over as many ranges as there are buckets while each bucket stays in order.

use crate::entropy::Entropy;
use crate::error::Error;
use crate::generators::rule::{fit_tick, tick_at};
use crate::generators::{AnyClock, AnyEntropy, Generator, Settings, placed};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::raw::RawId;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::UUID_FORMS;
use crate::time::Clock;
use alloc::boxed::Box;

/// A hash-prefixed id, 128 bits.
pub type HashPrefixed = Id<HashPrefixedScheme>;

/// The description of [`HashPrefixed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HashPrefixedScheme;

const NAME: &str = "hash-prefixed";
const BASE: TimeBase = TimeBase::millis_since(0);
/// Width of the time.
const TIME_BITS: u32 = 44;

impl StaticScheme for HashPrefixedScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "hash-prefixed",
        aliases: &[],
        summary: "UUIDv8: a bucket of 16 bits, unix milliseconds, random bits: spreads over ranges",
        source: "this project, after the practice of hash-sharded keys in Spanner, CockroachDB and DynamoDB; RFC 9562 section 5.8",
        layout: Layout::new(
            128,
            &[
                Field::new("bucket", Role::Hash, 16),
                Field::part("timestamp_high", Role::Timestamp(BASE), 32, 12),
                Field::new("ver", Role::Fixed(8), 4),
                Field::part("timestamp_low", Role::Timestamp(BASE), 12, 0),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("random", Role::Random, 62),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[("000318cc-251f-8400-8000-000000000003", &[3, 0x18cc_251f, 8, 0x400, 0b10, 3])],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Nothing,
            collisions: "62 random bits a millisecond",
            leaks: "when it was made, to the millisecond",
            sql: ("uuid", "binary(16)"),
            surprise: None,
        },
        methods: &[],
        settings: &[Setting::Buckets],
        generator: Some(HashPrefixed::generator),
    };
}

const_id!(HashPrefixedScheme, u128);

/// How many buckets unless another number is set.
const DEFAULT_BUCKETS: u64 = 16;

struct Bucketed {
    buckets: u64,
    clock: AnyClock,
    entropy: AnyEntropy,
}

impl HashPrefixed {
    fn generator(settings: &Settings) -> Result<Box<dyn Generator>, Error> {
        let buckets = settings.buckets.unwrap_or(DEFAULT_BUCKETS);
        if buckets == 0 || buckets > placed::MAX_PLACES {
            return Err(Error::FieldRange { field: "bucket", bits: 16 });
        }
        Ok(Box::new(Bucketed { buckets, clock: settings.clock()?, entropy: settings.entropy()? }))
    }
}

impl Generator for Bucketed {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        let tick = fit_tick(NAME, BASE, tick_at(NAME, BASE, self.clock.now())?, TIME_BITS)?;
        self.entropy.with_draw(out.len(), |draw| {
            for id in out.iter_mut() {
                let random = draw.bits(62)?;
                let layout = &HashPrefixedScheme::SCHEME.layout;
                let raw = layout.scatter(layout.fixed(), Role::Timestamp(BASE), u128::from(tick));
                let raw = layout.scatter(raw, Role::Random, random);
                *id = layout.scatter(raw, Role::Hash, u128::from(placed::bucket(random, self.buckets)));
            }
            Ok(out.len())
        })
    }
}
