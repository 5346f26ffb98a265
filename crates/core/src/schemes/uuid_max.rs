//! The max UUID: one value that stands for the end of all.

use crate::generators::constant;
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::UUID_FORMS;

/// The max UUID, 128 bits.
pub type UuidMax = Id<UuidMaxScheme>;

/// The description of [`UuidMax`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UuidMaxScheme;

impl StaticScheme for UuidMaxScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "uuid-max",
        aliases: &["max"],
        summary: "the max UUID: all bits one",
        source: "RFC 9562 section 5.10",
        layout: Layout::new(128, &[Field::new("max", Role::Fixed(u128::MAX), 128)]),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[("ffffffff-ffff-ffff-ffff-ffffffffffff", &[u128::MAX])],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::SameInput,
            collisions: "there is only one",
            leaks: "nothing",
            sql: ("uuid", "binary(16)"),
            surprise: Some(0),
        },
        methods: &[],
        settings: &[],
        generator: Some(|_| Ok(constant(Self::SCHEME.layout.fixed()))),
    };
}

const_id!(UuidMaxScheme, u128);
