//! XID: an ObjectId in 20 characters of base 32.

use crate::generators::locked;
#[cfg(feature = "std")]
use crate::generators::locked::Locked;
use crate::generators::process_counter::ProcessCounterRule;
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
#[cfg(feature = "std")]
use crate::scheme::Mint;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{BASE32HEX, TextForm};

/// An XID, 96 bits.
pub type Xid = Id<XidScheme>;

/// The description of [`Xid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct XidScheme;

/// 20 digits of base32hex, whose last four bits are zero.
static BASE32HEX_20: TextForm = TextForm { pad_bits: 4, ..TextForm::fixed("base32hex", &BASE32HEX, 20) };

impl StaticScheme for XidScheme {
    type Repr = [u8; 12];
    const SCHEME: &'static Scheme = &Scheme {
        name: "xid",
        aliases: &[],
        summary: "unix seconds, machine, process and a 24-bit counter",
        source: "rs/xid, README",
        layout: Layout::new(
            96,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase::seconds_since(0)), 32),
                Field::part("machine", Role::Worker, 24, 16),
                Field::part("pid", Role::Worker, 16, 0),
                Field::new("counter", Role::Counter, 24),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&BASE32HEX_20],
        vectors: &[("9m4e2mr0ui3e8a215n4g", &[1_300_816_219, 0x60f486, 58_408, 4_271_561])],
        facts: Facts {
            sortable: Sortable::ToTick,
            coordination: Coordination::Nothing,
            collisions: "40 random bits a process: 50 % at 1.2 million processes in one second",
            leaks: "when it was made, to the second, which ids came from one process, and how many it makes",
            sql: ("bytea", "binary(12)"),
            surprise: Some(0),
        },
        methods: &[],
        settings: &[],
        generator: Some(|settings| locked::boxed(ProcessCounterRule::<Self>::NEW, settings)),
    };
}

const_id!(XidScheme, [u8; 12]);

#[cfg(feature = "std")]
static SHARED: Locked<ProcessCounterRule<XidScheme>> = Locked::new(ProcessCounterRule::NEW);

#[cfg(feature = "std")]
impl Mint for XidScheme {
    type Shared = Locked<ProcessCounterRule<Self>>;

    fn shared() -> &'static Self::Shared {
        &SHARED
    }
}
