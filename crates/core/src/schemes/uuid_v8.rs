//! UUID version 8: bits of the maker's choice. No reader may claim to know what they mean.

use crate::entropy::Draw;
use crate::error::Error;
use crate::generators::constant;
use crate::generators::stateless::{self, Recipe};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::UUID_FORMS;
use crate::time::UnixNanos;

/// A version 8 UUID, 128 bits.
pub type UuidV8 = Id<UuidV8Scheme>;

/// The description of [`UuidV8`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UuidV8Scheme;

impl StaticScheme for UuidV8Scheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "uuid-v8",
        aliases: &["uuid8", "uuidv8", "v8"],
        summary: "122 bits of the maker's choice",
        source: "RFC 9562 section 5.8",
        layout: Layout::new(
            128,
            &[
                Field::new("custom_a", Role::Custom, 48),
                Field::new("ver", Role::Fixed(8), 4),
                Field::new("custom_b", Role::Custom, 12),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("custom_c", Role::Custom, 62),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[(
            "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0",
            &[0x2489_e9ad_2ee2, 8, 0xe00, 0b10, 0x0ec9_32d5_f691_81c0],
        )],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::Nothing,
            collisions: "as the maker sees to; random bits when none are given",
            leaks: "whatever its maker put in",
            sql: ("uuid", "binary(16)"),
            surprise: Some(4),
        },
        methods: &[],
        settings: &[Setting::Data],
        generator: Some(|settings| match settings.data {
            Some(data) => Ok(constant(UuidV8::from_custom(data).raw())),
            None => stateless::boxed::<Uuid8Recipe>(settings),
        }),
    };
}

const_id!(UuidV8Scheme, u128);

/// Random custom bits, for those who give none.
#[derive(Clone, Copy, Debug)]
pub struct Uuid8Recipe;

impl Recipe for Uuid8Recipe {
    type Scheme = UuidV8Scheme;
    const NEEDS_TIME: bool = false;

    fn make(_: UnixNanos, draw: &mut Draw<'_>) -> Result<u128, Error> {
        Ok(UuidV8::from_custom(draw.bits(128)?).get())
    }
}
