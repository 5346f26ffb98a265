//! Bases: the digits that ids are spelled with, in the order of their value, as data; what reading and writing them fast needs is
//! computed from that.

use super::chunks::Chunk;
use core::fmt;

/// Digits of a base, in the order of their value.
pub struct Base {
    /// Its name, as in messages: `a crockford32 digit`.
    pub name: &'static str,
    /// What one character is called in a message.
    pub(super) digit: &'static str,
    pub(super) digits: &'static [u8],
    pub(super) values: [u8; 256],
    /// `values` for a lenient reader.
    pub(super) lenient: [u8; 256],
    /// Whether the two differ.
    pub(super) is_lenient: bool,
    /// Whether letters of either case are the same digit.
    pub(super) any_case: bool,
    /// How numbers become digits.
    pub(super) kind: Kind,
    /// Bits that 18 digits hold for certain: of the largest base that a byte can count, 126.
    pub(super) bits_of_18: usize,
    /// `digits`, so long that seven bits are an index.
    pub(super) ascii: [u8; 128],
    /// Two digits for each value below the radix squared; only where that isn't above [`PAIRS`].
    pub(super) pairs: [[u8; 2]; PAIRS],
    /// The same for a base of up to 64 that was given a table of its own: 8 KiB of the cache, where printing is nearly twice as fast.
    pub(super) wide_pairs: Option<&'static WidePairs>,
    /// How many digits a word holds, and what divides by their power; nothing where the radix is a power of two.
    pub(super) chunk: Chunk,
}

/// How the numbers of a base become digits, and digits numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Hex digits in either case, which need no table.
    Hex,
    /// Crockford's base 32 in either case, and nothing else for a digit: five bits, which vector instructions read.
    Crockford,
    /// A base of a power of two: digits of 4, 5 or 6 bits.
    Bits(u32),
    /// Another base, of this radix: as many digits at a time as a word holds.
    Chunks(u64),
    /// A base of another power of two, which nobody is in a hurry for.
    Slow,
}

impl Kind {
    /// Bits of a digit in a base of a power of two.
    pub(super) const fn digit_bits(self) -> Option<u32> {
        match self {
            Self::Hex => Some(4),
            Self::Crockford => Some(5),
            Self::Bits(bits) => Some(bits),
            Self::Chunks(_) | Self::Slow => None,
        }
    }

    /// Whether so many bits of a digit can be left unused.
    pub(super) const fn has_pad(self, pad_bits: u32) -> bool {
        match self.digit_bits() {
            Some(bits) => pad_bits < bits,
            None => pad_bits == 0,
        }
    }
}

/// Pairs of digits that a base of up to 32 has: more would fill the cache sooner than they save time.
pub(super) const PAIRS: usize = 32 * 32;

/// Two digits for each value below the radix squared; as many as 12 bits count, so that they are an index.
pub(super) type WidePairs = [[u8; 2]; 1 << 12];

/// The pairs of a base of at most 64 digits.
const fn wide_pairs(digits: &str) -> WidePairs {
    let (digits, mut pairs, mut pair) = (digits.as_bytes(), [[0; 2]; _], 0);
    while pair < digits.len() * digits.len() {
        pairs[pair] = [digits[pair / digits.len()], digits[pair % digits.len()]];
        pair += 1;
    }
    pairs
}

/// No digit.
pub(super) const NONE: u8 = 0xff;
/// No digit, but a lenient reader skips it.
pub(super) const SKIPPED: u8 = 0xfe;

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Base {
    /// The base with these ASCII digits; with `any_case` the other case of a letter is read as the same digit.
    ///
    /// # Panics
    /// When there are fewer than 2 digits or more than 128, or one that isn't ASCII; for a `static` that is a compile error.
    #[must_use]
    pub const fn new(name: &'static str, digit: &'static str, digits: &'static str, any_case: bool) -> Self {
        // What prints ids relies on it: its texts are ASCII.
        assert!(digits.is_ascii(), "the digits of a base must be ASCII");
        assert!(digits.len() >= 2 && digits.len() <= 128, "a base must have 2 to 128 digits");
        let digits = digits.as_bytes();
        let radix = digits.len();
        let (mut values, mut ascii) = ([NONE; 256], [0; 128]);
        let mut i = 0u8;
        while (i as usize) < radix {
            let byte = digits[i as usize];
            values[byte as usize] = i;
            if any_case && byte.is_ascii_alphabetic() {
                values[(byte ^ 0x20) as usize] = i;
            }
            ascii[i as usize] = byte;
            i += 1;
        }
        let (mut pairs, mut pair) = ([[0; 2]; PAIRS], 0);
        while pair < radix * radix && radix * radix <= PAIRS {
            pairs[pair] = [digits[pair / radix], digits[pair % radix]];
            pair += 1;
        }
        let is_hex = any_case && matches!(digits, b"0123456789abcdef");
        let (kind, chunk) = if is_hex {
            (Kind::Hex, Chunk::NONE)
        } else if any_case && matches!(digits, b"0123456789ABCDEFGHJKMNPQRSTVWXYZ") {
            (Kind::Crockford, Chunk::NONE)
        } else if matches!(radix, 16 | 32 | 64) {
            (Kind::Bits(radix.ilog2()), Chunk::NONE)
        } else if radix.is_power_of_two() {
            (Kind::Slow, Chunk::NONE)
        } else {
            (Kind::Chunks(radix as u64), Chunk::new(radix as u64))
        };
        Self {
            name,
            digit,
            digits,
            values,
            lenient: values,
            is_lenient: false,
            any_case,
            kind,
            bits_of_18: (radix as u128).pow(18).ilog2() as usize,
            ascii,
            pairs,
            wide_pairs: None,
            chunk,
        }
    }

    /// The same base with a table of its pairs of digits.
    const fn paired(mut self, pairs: &'static WidePairs) -> Self {
        self.wide_pairs = Some(pairs);
        self
    }

    /// The same base, in which a lenient reader takes the first character of each of `aliases`, in either case, for the digit
    /// behind it, and skips the ASCII characters in `skipped`.
    #[must_use]
    pub const fn forgiving(mut self, aliases: &[(char, char)], skipped: &str) -> Self {
        let mut i = 0;
        while i < aliases.len() {
            let (alias, digit) = aliases[i];
            let value = self.values[digit as usize & 0x7f];
            self.lenient[alias.to_ascii_lowercase() as usize & 0x7f] = value;
            self.lenient[alias.to_ascii_uppercase() as usize & 0x7f] = value;
            i += 1;
        }
        let skipped = skipped.as_bytes();
        i = 0;
        while i < skipped.len() {
            self.lenient[skipped[i] as usize] = SKIPPED;
            i += 1;
        }
        self.is_lenient = true;
        self
    }

    /// The same base, whose strict reader takes what the lenient one takes in place of digits, because its source says so.
    #[must_use]
    pub const fn always_forgiving(mut self) -> Self {
        if let Some(bits) = self.kind.digit_bits() {
            // No way that knows the digits by heart.
            self.kind = Kind::Bits(bits);
        }
        let mut i = 0;
        while i < 256 {
            if self.lenient[i] != SKIPPED {
                self.values[i] = self.lenient[i];
            }
            i += 1;
        }
        self
    }

    /// Whether a lenient reader takes more than a strict one.
    #[must_use]
    pub const fn is_forgiving(&self) -> bool {
        self.is_lenient
    }

    /// Its digits, ASCII, in the order of their value.
    #[must_use]
    pub const fn digits(&self) -> &'static [u8] {
        self.digits
    }

    /// How many digits there are.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "an alphabet has at most 128 ASCII characters")]
    pub const fn radix(&self) -> u32 {
        self.digits.len() as u32
    }
}

/// 0-9.
pub static DECIMAL_DIGITS: Base = Base::new("decimal", "a decimal digit", "0123456789", false);
/// 0-9a-f; upper case is read too.
pub static HEX_DIGITS: Base = Base::new("hex", "a hex digit", "0123456789abcdef", true);
/// Crockford's base 32 without I, L, O and U; lower case is read too. A lenient reader takes I and L for 1, O for 0, and skips
/// hyphens. Source: Douglas Crockford, Base 32.
pub static CROCKFORD32: Base =
    Base::new("crockford32", "a crockford32 digit", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", true)
        .forgiving(&[('I', '1'), ('L', '1'), ('O', '0')], "-");
/// 0-9A-Za-z, in ASCII order, so that text of one length sorts as the number.
pub static BASE62: Base = Base::new("base62", "a base62 digit", DIGITS_62, false).paired(&PAIRS_62);
const DIGITS_62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
static PAIRS_62: WidePairs = wide_pairs(DIGITS_62);

/// 0-9A-Z..a-z without 0, I, O and l, as Bitcoin orders them. Source: Bitcoin, base58.h.
pub static BASE58: Base = Base::new(
    "base58",
    "a base58 digit",
    "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    false,
);
/// The same digits with lower case first, as Flickr orders them. Source: Flickr short URLs; bwmarrin/snowflake.
pub static BASE58_FLICKR: Base = Base::new(
    "base58-flickr",
    "a base58 digit",
    "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
    false,
);
/// The digits of shortuuid: those of base 58 without 1. Source: skorokithakis/shortuuid.
pub static BASE57: Base = Base::new(
    "base57",
    "a shortuuid digit",
    "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    false,
);
/// 0-9a-z; upper case is read too.
pub static BASE36: Base = Base::new("base36", "a base36 digit", "0123456789abcdefghijklmnopqrstuvwxyz", true);
/// 0-9a-z, lower case only.
pub static BASE36_LOWER: Base =
    Base::new("base36", "a lower-case base36 digit", "0123456789abcdefghijklmnopqrstuvwxyz", false);
/// 0-9A-Z, upper case only.
pub static BASE36_UPPER: Base =
    Base::new("base36", "an upper-case base36 digit", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", false);
/// 0-9a-v, lower case only. Source: RFC 4648 section 7, in the case that XID uses.
pub static BASE32HEX: Base =
    Base::new("base32hex", "a lower-case base32hex digit", "0123456789abcdefghijklmnopqrstuv", false);
/// Crockford's base 32 in lower case only, as TypeID has it.
pub static CROCKFORD32_LOWER: Base =
    Base::new("crockford32", "a lower-case crockford32 digit", "0123456789abcdefghjkmnpqrstvwxyz", false);
/// Crockford's base 32 with I and L for 1 and O for 0 always, as tsid-creator reads it.
pub static CROCKFORD32_FORGIVING: Base =
    Base::new("crockford32", "a crockford32 digit", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", true)
        .forgiving(&[('I', '1'), ('L', '1'), ('O', '0')], "-")
        .always_forgiving();
/// 234567a-z, in ASCII order. Source: AT Protocol, record keys.
pub static BASE32_SORTABLE: Base =
    Base::new("base32-sortable", "one of 234567a-z", "234567abcdefghijklmnopqrstuvwxyz", false);
/// z-base-32. Source: Zooko O'Whielacronx, human-oriented base-32 encoding.
pub static ZBASE32: Base =
    Base::new("z-base-32", "a z-base-32 digit", "ybndrfg8ejkmcpqxot1uwisza345h769", false);
/// A-Za-z0-9-_: not in ASCII order, so text doesn't sort as the number. Source: RFC 4648 section 5.
pub static BASE64URL: Base = Base::new(
    "base64url",
    "a base64url digit",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    false,
);
/// -0-9A-Z_a-z, in ASCII order. Source: Firebase, push ids.
pub static BASE64_PUSH: Base = Base::new(
    "base64-push",
    "one of -0-9A-Z_a-z",
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz",
    false,
);
/// 0-9A-Z_a-z~, in ASCII order. Source: chilts/sid.
pub static BASE64_SID: Base = Base::new(
    "base64-sid",
    "one of 0-9A-Z_a-z~",
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~",
    false,
);
/// The URL-safe alphabet of NanoID, in its order. Source: ai/nanoid, url-alphabet.
pub static BASE64_NANOID: Base = Base::new(
    "nanoid",
    "one of A-Za-z0-9_-",
    "useandom-26T198340PX75pxJACKVERYMINDBUSHWOLF_GQZbfghjklqvwyzrict",
    false,
);
