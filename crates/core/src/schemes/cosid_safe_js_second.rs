//! CosId in 53 bits, seconds: JavaScript holds it exactly.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// A CosId of 53 bits, 64 bits.
pub type CosidSafeJsSecond = Id<CosidSafeJsSecondScheme>;

/// The description of [`CosidSafeJsSecond`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CosidSafeJsSecondScheme;

impl StaticScheme for CosidSafeJsSecondScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "cosid-safe-js-second",
        aliases: &[],
        summary: "53-bit, safe in JavaScript, seconds since 2019-12-24T16:00Z, 8 machines",
        source: "Ahoo-Wang/CosId, SafeJavaScriptSnowflakeId.java",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 11),
                Field::new("timestamp", Role::Timestamp(TimeBase::seconds_since(1_577_203_200)), 31),
                Field::new("machine", Role::Worker, 3),
                Field::new("sequence", Role::Counter, 19),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("4718593", &[0, 1, 1, 1])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, by which of 8 machines, and how busy that machine was",
            sql: ("bigint", "bigint"),
            surprise: Some(12),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new(
                "cosid-safe-js-second",
                &Self::SCHEME.layout,
                source,
                settings,
            )?))
        }),
    };
}

const_id!(CosidSafeJsSecondScheme, u64);
