//! The nil UUID: one value that stands for none.

use crate::generators::constant;
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::UUID_FORMS;

/// The nil UUID, 128 bits.
pub type UuidNil = Id<UuidNilScheme>;

/// The description of [`UuidNil`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UuidNilScheme;

impl StaticScheme for UuidNilScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "uuid-nil",
        aliases: &["nil"],
        summary: "the nil UUID: all bits zero",
        source: "RFC 9562 section 5.9",
        layout: Layout::new(128, &[Field::new("nil", Role::Fixed(0), 128)]),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[("00000000-0000-0000-0000-000000000000", &[0])],
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

const_id!(UuidNilScheme, u128);
