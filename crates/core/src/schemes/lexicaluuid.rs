//! LexicalUUID of Cassie: microseconds and a worker, printed with three hyphens.

use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{HEX_DIGITS, TextForm};
use crate::time::UnixNanos;

/// A LexicalUUID, 128 bits.
pub type Lexicaluuid = Id<LexicaluuidScheme>;

/// The description of [`Lexicaluuid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LexicaluuidScheme;

/// 8-4-4-16 hex digits.
static GROUPED: TextForm = TextForm { groups: &[8, 4, 4, 16], ..TextForm::fixed("grouped", &HEX_DIGITS, 32) };
/// 32 hex digits.
static HEX_32: TextForm = TextForm::fixed("hex", &HEX_DIGITS, 32);

impl StaticScheme for LexicaluuidScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "lexicaluuid",
        aliases: &[],
        summary: "unix microseconds, then a 64-bit worker",
        source: "twitter-archive/cassie, LexicalUUID.scala",
        layout: Layout::new(
            128,
            &[
                Field::new(
                    "timestamp",
                    Role::Timestamp(TimeBase { epoch: UnixNanos(0), tick_nanos: 1_000 }),
                    64,
                ),
                Field::new("worker", Role::Worker, 64),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&GROUPED, &HEX_32],
        vectors: &[("0004b56c-25ac-8000-0000000000000001", &[1_325_376_000_000_000, 1])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while workers differ; they are hashes of host names",
            leaks: "when it was made, to the microsecond, and the host by its hash",
            sql: ("uuid", "binary(16)"),
            surprise: Some(4),
        },
        methods: &[],
        settings: &[],
        generator: None,
    };
}

const_id!(LexicaluuidScheme, u128);
