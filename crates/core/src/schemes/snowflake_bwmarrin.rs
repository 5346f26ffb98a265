//! Snowflake as the Go package bwmarrin/snowflake has it: Twitter's epoch, one node field, and more spellings.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::{BASE58_FLICKR, DECIMAL, TextForm, ZBASE32};
use alloc::boxed::Box;

/// A snowflake of bwmarrin/snowflake, 64 bits.
pub type SnowflakeBwmarrin = Id<SnowflakeBwmarrinScheme>;

/// The description of [`SnowflakeBwmarrin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnowflakeBwmarrinScheme;

/// At most 11 digits of base 58 in Flickr's order.
static BASE58_11: TextForm =
    TextForm { is_fixed: false, ..TextForm::fixed("base58-flickr", &BASE58_FLICKR, 11) };
/// At most 13 digits of z-base-32.
static ZBASE32_13: TextForm = TextForm { is_fixed: false, ..TextForm::fixed("z-base-32", &ZBASE32, 13) };

impl StaticScheme for SnowflakeBwmarrinScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "snowflake-bwmarrin",
        aliases: &["bwmarrin"],
        summary: "64-bit, milliseconds since 2010, 1,024 nodes",
        source: "bwmarrin/snowflake, README",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 1),
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(1_288_834_974_657)), 41),
                Field::new("node", Role::Worker, 10),
                Field::new("step", Role::Counter, 12),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL, &BASE58_11, &ZBASE32_13],
        vectors: &[("1116766490855473152", &[0, 266_257_879_938, 0, 0])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, by which worker, and how busy that worker was",
            sql: ("bigint", "bigint"),
            surprise: Some(15),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("snowflake-bwmarrin", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(SnowflakeBwmarrinScheme, u64);
