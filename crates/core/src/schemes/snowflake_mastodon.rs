//! Ids as Mastodon lays them out. There the tail is a database sequence from a salted start; here it counts from a start that depends on the millisecond.

use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::DECIMAL;
use alloc::boxed::Box;

/// A Mastodon id, 64 bits.
pub type SnowflakeMastodon = Id<SnowflakeMastodonScheme>;

/// The description of [`SnowflakeMastodon`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnowflakeMastodonScheme;

impl StaticScheme for SnowflakeMastodonScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "snowflake-mastodon",
        aliases: &["mastodon"],
        summary: "64-bit, unix milliseconds and a 16-bit tail, one database sequence a table",
        source: "mastodon/mastodon, lib/mastodon/snowflake.rb",
        layout: Layout::new(
            64,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::millis_since(0)), 48),
                Field::new("tail", Role::Counter, 16),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL],
        vectors: &[("103270115826048975", &[1_575_776_913_849, 40_911])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::OneWriter,
            collisions: "none within one writer; two writers collide within a millisecond",
            leaks: "when it was made, to the millisecond",
            sql: ("bigint", "bigint"),
            surprise: Some(3),
        },
        methods: &[],
        settings: &[Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("snowflake-mastodon", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(SnowflakeMastodonScheme, u64);
