//! UUID version 5: the SHA-1 of a namespace and a name. No randomness, no time.

use crate::error::Error;
use crate::generators::constant;
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::UUID_FORMS;

/// A version 5 UUID, 128 bits.
pub type UuidV5 = Id<UuidV5Scheme>;

/// The description of [`UuidV5`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UuidV5Scheme;

impl StaticScheme for UuidV5Scheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "uuid-v5",
        aliases: &["uuid5", "uuidv5", "v5"],
        summary: "SHA-1 of a namespace and a name",
        source: "RFC 9562 section 5.5",
        layout: Layout::new(
            128,
            &[
                Field::new("sha1_high", Role::Hash, 48),
                Field::new("ver", Role::Fixed(5), 4),
                Field::new("sha1_mid", Role::Hash, 12),
                Field::new("var", Role::Fixed(0b10), 2),
                Field::new("sha1_low", Role::Hash, 62),
            ],
        ),
        mapping: Mapping::Identity,
        text: UUID_FORMS,
        vectors: &[(
            "2ed6657d-e927-568b-95e1-2665a8aea6a2",
            &[0x2ed6_657d_e927, 5, 0x68b, 0b10, 0x15e1_2665_a8ae_a6a2],
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
                return Err(Error::NameMissing { scheme: "uuid-v5" });
            };
            Ok(constant(UuidV5::from_name(*namespace, name).raw()))
        }),
    };
}

const_id!(UuidV5Scheme, u128);
