//! SID: nanoseconds and 63 random bits, in four spellings.

use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Sortable, StaticScheme};
use crate::text::{BASE32HEX, BASE64_SID, DECIMAL_DIGITS, HEX_DIGITS, Part, TextForm};
use crate::time::UnixNanos;

/// A SID, 126 bits.
pub type Sid = Id<SidScheme>;

/// The description of [`Sid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SidScheme;

/// Both numbers have as many digits of the base as 63 bits need.
const fn pair(form: TextForm, parts: &'static [Part], groups: &'static [usize]) -> TextForm {
    TextForm { parts, groups, ..form }
}

static DECIMAL_39: TextForm = pair(
    TextForm::fixed("decimal", &DECIMAL_DIGITS, 38),
    &[Part { bits: 63, len: 19 }, Part { bits: 63, len: 19 }],
    &[19, 19],
);
static HEX_33: TextForm = pair(
    TextForm::fixed("hex", &HEX_DIGITS, 32),
    &[Part { bits: 63, len: 16 }, Part { bits: 63, len: 16 }],
    &[16, 16],
);
static BASE32_27: TextForm = pair(
    TextForm::fixed("base32hex", &BASE32HEX, 26),
    &[Part { bits: 63, len: 13 }, Part { bits: 63, len: 13 }],
    &[13, 13],
);
static BASE64_23: TextForm = pair(
    TextForm::fixed("base64-sid", &BASE64_SID, 22),
    &[Part { bits: 63, len: 11 }, Part { bits: 63, len: 11 }],
    &[11, 11],
);

impl StaticScheme for SidScheme {
    type Repr = u128;
    const SCHEME: &'static Scheme = &Scheme {
        name: "sid",
        aliases: &[],
        summary: "unix nanoseconds, then 63 random bits",
        source: "chilts/sid, ReadMe",
        layout: Layout::new(
            126,
            &[
                Field::new("timestamp", Role::Timestamp(TimeBase { epoch: UnixNanos(0), tick_nanos: 1 }), 63),
                Field::new("random", Role::Random, 63),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL_39, &HEX_33, &BASE32_27, &BASE64_23],
        vectors: &[(
            "1559872035903071353-1186579057231285506",
            &[1_559_872_035_903_071_353, 1_186_579_057_231_285_506],
        )],
        facts: Facts {
            sortable: Sortable::ToTick,
            coordination: Coordination::Nothing,
            collisions: "63 random bits a nanosecond",
            leaks: "when it was made, to the nanosecond",
            sql: ("char(27) collate \"C\"", "char(27) collate ascii_bin"),
            surprise: Some(2),
        },
        methods: &[],
        settings: &[],
        generator: None,
    };
}

const_id!(SidScheme, u128);
