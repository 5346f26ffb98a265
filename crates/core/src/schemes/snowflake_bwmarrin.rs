//! Snowflake as the Go package bwmarrin/snowflake has it: Twitter's epoch, one node field, and more spellings.

use crate::error::Error;
use crate::generators::counter::{Compiled, CounterGenerator};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::{BASE36_LOWER, BASE58_FLICKR, Base, DECIMAL, TextForm, ZBASE32};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

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

static BINARY_DIGITS: Base = Base::new("binary", "a binary digit", "01", false);

/// The package's `Base2`: at most 63 binary digits, without leading zeros. Not among the scheme's forms, since such a text is a
/// decimal number, too.
pub static BASE2: TextForm = TextForm { is_fixed: false, ..TextForm::fixed("base2", &BINARY_DIGITS, 63) };
/// The package's `Base36`: at most 12 digits, lower case, without leading zeros. Not among the scheme's forms, since such a text is
/// often one of base 58, too.
pub static BASE36: TextForm = TextForm { is_fixed: false, ..TextForm::fixed("base36", &BASE36_LOWER, 12) };

/// The digits of base 64. Source: RFC 4648 section 4.
static BASE64: Base = Base::new(
    "base64",
    "a base64 digit",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    false,
);

/// The package's `Base64`: the decimal text in base 64, padded with `=` to a multiple of four characters. Source: RFC 4648
/// section 4.
#[must_use]
pub fn print_base64(id: SnowflakeBwmarrin) -> String {
    let mut out = String::new();
    for piece in id.to_text().as_str().as_bytes().chunks(3) {
        let byte = |i| u32::from(piece.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 0x3f;
            out.push(if digit <= piece.len() { char::from(BASE64.digits()[value as usize]) } else { '=' });
        }
    }
    out
}

/// The id whose decimal text `text` is in base 64. Strict: padded, and the bits left over in the last digit are zero.
///
/// # Errors
/// [`Error::Length`] when characters are missing, padding included; [`Error::Character`]; those of the decimal text.
pub fn parse_base64(text: &str) -> Result<SnowflakeBwmarrin, Error> {
    const LONGEST: usize = 28;
    let scheme = SnowflakeBwmarrinScheme::SCHEME.name;
    let length = text.chars().count();
    if !text.len().is_multiple_of(4) || text.is_empty() || length > LONGEST {
        let expected = crate::error::Lengths { least: 4, most: LONGEST };
        return Err(Error::Length { scheme, found: length, expected });
    }
    let wrong = |at: usize, expected| {
        let found = text.chars().nth(at).unwrap_or('=');
        Error::Character { scheme, found, at: at + 1, expected }
    };
    let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for (at, digit) in digits.chars().enumerate() {
        let value = BASE64.digits().iter().zip(0u32..).find(|(known, _)| char::from(**known) == digit);
        let Some((_, value)) = value else { return Err(wrong(at, "a base64 digit")) };
        bits = bits << 6 | value;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held).unwrap_or(0));
            bits &= (1 << held) - 1;
        }
    }
    if bits != 0 {
        return Err(wrong(digits.len() - 1, "a last digit whose unused bits are zero"));
    }
    let number = core::str::from_utf8(&bytes).map_err(|_| wrong(0, "the first digit of a decimal number"))?;
    DECIMAL.parse(number, 64, scheme).and_then(SnowflakeBwmarrin::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_that_of_the_decimal_text() {
        for number in [0, 1, 12, 123, 1_116_819_494_660_997_120, (1 << 63) - 1] {
            let id = SnowflakeBwmarrin::from_raw(crate::RawId::new(number)).unwrap();
            assert_eq!(parse_base64(&print_base64(id)), Ok(id));
        }
        assert_eq!(
            parse_base64("MTExNjgxOTQ5NDY2MDk5NzEyMA==").map(|id| id.get()),
            Ok(1_116_819_494_660_997_120)
        );
        for text in ["", "MQ", "MQ=", "MR==", "M===", "====", "MQ==MQ==", "é===", "////", "MTEx/w==", "LTEx"]
        {
            assert!(parse_base64(text).is_err(), "{text}");
        }
    }
}
