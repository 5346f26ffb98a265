//! uid-generator of Baidu: its default time field ended on 2024-11-20; with an epoch of one's own it goes on.

use crate::generators::counter::{CounterGenerator, Parts};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// A uid-generator id, 64 bits.
pub type UidGenerator = Id<UidGeneratorScheme>;

/// The description of [`UidGenerator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UidGeneratorScheme;

impl StaticScheme for UidGeneratorScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "uid-generator",
        aliases: &["baidu"],
        summary: "64-bit, seconds since 2016-05-19T16:00Z (28 bits, ended 2024-11-20), 4 million workers",
        source: "baidu/uid-generator, DefaultUidGenerator.java",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 1),
                Field::new("timestamp", Role::Timestamp(TimeBase::seconds_since(1_463_673_600)), 28),
                Field::new("worker", Role::Worker, 22),
                Field::new("sequence", Role::Counter, 13),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("34359746561", &[0, 1, 1, 1])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the second, by which worker, and how busy that worker was",
            sql: ("bigint", "bigint"),
            surprise: Some(10),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies, Setting::Split],
        generator: Some(|settings| {
            let layout = settings.layout.unwrap_or(Self::SCHEME.layout);
            Ok(Box::new(CounterGenerator::new("uid-generator", &layout, Parts::of(&layout)?, settings)?))
        }),
    };
}

const_id!(UidGeneratorScheme, u64);
