//! UUID version 3: the MD5 of a namespace and a name. No randomness, no time.

use crate::error::Error;
use crate::generators::constant;
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::UUID_FORMS;

/// A version 3 UUID, 128 bits.
pub type UuidV3 = Id<UuidV3Scheme>;

/// The description of [`UuidV3`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UuidV3Scheme;

impl StaticScheme for UuidV3Scheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "uuid-v3",
        aliases: &["uuid3", "uuidv3", "v3"],
        summary: "MD5 of a namespace and a name",
        source: "RFC 9562 section 5.3",
        layout: Layout::new(
            128,
            &[
                Field::new("md5_high", Role::Hash, 48),
                Field::new("ver", Role::Fixed(3), 4),
                Field::new("md5_mid", Role::Hash, 12),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("md5_low", Role::Hash, 62),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[(
            "5df41881-3aed-3515-88a7-2f4a814cf09e",
            &[0x5df4_1881_3aed, 3, 0x515, 0b10, 0x08a7_2f4a_814c_f09e],
        )],
        facts: Facts {
            sortable: Sortable::No,
            coordination: Coordination::SameInput,
            collisions: "same namespace and name: always, on purpose; else 122 bits of hash",
            leaks: "whoever guesses the name can confirm it",
            sql: ("uuid", "binary(16)"),
            surprise: Some(3),
        },
        methods: &[],
        settings: &[Setting::Name],
        generator: Some(|settings| {
            let Some((namespace, name)) = &settings.name else {
                return Err(Error::NameMissing { scheme: "uuid-v3" });
            };
            Ok(constant(UuidV3::from_name(*namespace, name).raw()))
        }),
    };
}

const_id!(UuidV3Scheme, u128);
