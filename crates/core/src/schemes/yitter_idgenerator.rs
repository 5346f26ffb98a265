//! IdGenerator of yitter: short ids of 6 worker and 6 sequence bits, whose first five sequence values are kept for clock steps.

use crate::generators::counter::{CounterGenerator, Parts};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// A yitter id, 64 bits.
pub type YitterIdgenerator = Id<YitterIdgeneratorScheme>;

/// The description of [`YitterIdgenerator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct YitterIdgeneratorScheme;

impl StaticScheme for YitterIdgeneratorScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "yitter-idgenerator",
        aliases: &["yitter"],
        summary: "64-bit, milliseconds since 2020-02-19T18:20:02Z, 64 workers; 15 digits",
        source: "yitter/IdGenerator, README",
        layout: Layout::new(
            64,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(1_582_136_402_000)), 52),
                Field::new("worker", Role::Worker, 6),
                Field::new("sequence", Role::Counter, 6),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("129053495681099", &[31_507_201_094, 1, 11])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, by which worker, and how busy that worker was",
            sql: ("bigint", "bigint"),
            surprise: Some(4),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies, Setting::Split],
        generator: Some(|settings| {
            let layout = settings.layout.unwrap_or(Self::SCHEME.layout);
            Ok(Box::new(
                CounterGenerator::new("yitter-idgenerator", &layout, Parts::of(&layout)?, settings)?
                    .reserving(5),
            ))
        }),
    };
}

const_id!(YitterIdgeneratorScheme, u64);
