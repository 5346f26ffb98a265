//! Tokens: random secrets that stand alone, such as API keys. Never derived from an id.
//!
//! A token is `prefix_RANDOMchecks`: an optional prefix that says whose it is, random characters of at least 128 bits, and an optional
//! checksum. The checksum is that of GitHub's and npm's tokens: CRC-32 (IEEE) of the random characters, as 6 Base62 digits with
//! leading zeros. It lets a scanner tell a leaked token from a look-alike without asking anyone; it proves nothing, since
//! everyone can compute it. Source: github.blog, "Behind GitHub's new authentication token formats" (2021).
//!
//! Store only a hash of a token (SHA-256 will do, since it can't be guessed) and compare hashes.

use crate::entropy::Entropy;
use crate::error::{Error, TokenFault};
use crate::text::{BASE62, BASE64URL};
use alloc::string::String;
use core::fmt;
use zeroize::Zeroizing;

/// How tokens of one sort look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenFormat<'a> {
    form: TokenForm,
    bits: u32,
    prefix: Option<&'a str>,
    has_checksum: bool,
}

/// The characters of the random part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenForm {
    /// 0-9A-Za-z: 5.95 bits a character. A double click selects such a token whole, and scanners know the checksum.
    Base62,
    /// A-Za-z0-9-_: 6 bits a character. Source: RFC 4648 section 5.
    Base64Url,
}

/// The checksum's characters.
const CHECKSUM_CHARS: usize = 6;
const LEAST_BITS: u32 = 128;
const MOST_BITS: u32 = 4096;
const MOST_PREFIX: usize = 32;

impl TokenForm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Base62, Self::Base64Url];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Base62 => "base62",
            Self::Base64Url => "base64url",
        }
    }

    /// The form of this name.
    ///
    /// # Errors
    /// [`TokenFault::Form`].
    pub fn by_name(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|form| form.name() == name);
        known.ok_or(Error::Token(TokenFault::Form))
    }

    fn digits(self) -> &'static [u8] {
        match self {
            Self::Base62 => BASE62.digits(),
            Self::Base64Url => BASE64URL.digits(),
        }
    }

    /// Characters that hold at least `bits` random bits.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "bits are fewer than 2^32, and so are the characters"
    )]
    const fn chars(self, bits: u32) -> usize {
        // log2(62) is above 5.954196.
        let millionths = match self {
            Self::Base62 => 5_954_196,
            Self::Base64Url => 6_000_000,
        };
        (bits as u64 * 1_000_000).div_ceil(millionths) as usize
    }

    /// The digit that a random byte stands for. Bytes above the last multiple of the number of digits are drawn again, so each
    /// digit is as likely as any other.
    fn digit(self, byte: u8) -> Option<char> {
        let digits = self.digits();
        let (byte, multiple) = (usize::from(byte), 256 / digits.len() * digits.len());
        (byte < multiple).then(|| char::from(digits[byte % digits.len()]))
    }
}

impl<'a> TokenFormat<'a> {
    /// Tokens of at least `bits` random bits (128 to 4096), without a prefix or a checksum.
    ///
    /// ```
    /// use mintage::SystemEntropy;
    /// use mintage::token::{TokenForm, TokenFormat};
    /// let format = TokenFormat::new(TokenForm::Base62, 128)?.with_prefix("sk_live")?.with_checksum();
    /// let token = format.mint(&SystemEntropy)?;
    /// assert_eq!(token.as_str().len(), "sk_live_".len() + 22 + 6);
    /// assert!(format.check(token.as_str()).is_ok());
    /// # Ok::<(), mintage::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`TokenFault::Bits`].
    pub const fn new(form: TokenForm, bits: u32) -> Result<Self, Error> {
        if bits < LEAST_BITS || bits > MOST_BITS {
            return Err(Error::Token(TokenFault::Bits { found: bits }));
        }
        Ok(Self { form, bits, prefix: None, has_checksum: false })
    }

    /// The same with a prefix of 1 to 32 characters `A-Z`, `a-z`, `0-9` and `_`. A `_` goes behind it unless it ends with one.
    ///
    /// # Errors
    /// [`TokenFault::PrefixLength`] or [`TokenFault::PrefixCharacter`].
    pub fn with_prefix(self, prefix: &'a str) -> Result<Self, Error> {
        let prefix = prefix.strip_suffix('_').unwrap_or(prefix);
        check_prefix(prefix)?;
        Ok(Self { prefix: Some(prefix), ..self })
    }

    /// The same with a checksum at the end.
    #[must_use]
    pub const fn with_checksum(self) -> Self {
        Self { has_checksum: true, ..self }
    }

    /// A fresh token.
    ///
    /// # Errors
    /// [`Error::Entropy`].
    pub fn mint(&self, entropy: &dyn Entropy) -> Result<Token, Error> {
        let prefix = self.prefix.unwrap_or_default();
        let chars = self.form.chars(self.bits);
        // As long as it becomes: a text that grew would leave parts of itself behind.
        let mut text = Zeroizing::new(String::with_capacity(prefix.len() + 1 + chars + CHECKSUM_CHARS));
        if self.prefix.is_some() {
            text.push_str(prefix);
            text.push('_');
        }
        let (from, mut bytes) = (text.len(), Zeroizing::new([0; 64]));
        while text.len() < from + chars {
            entropy.fill(&mut *bytes)?;
            let left = from + chars - text.len();
            for digit in bytes.iter().filter_map(|byte| self.form.digit(*byte)).take(left) {
                text.push(digit);
            }
        }
        if self.has_checksum {
            let checksum = checksum(&text[from..]);
            text.extend(checksum.map(char::from));
        }
        Ok(Token(text))
    }

    /// Whether `text` is a token of this sort: prefix, characters, at least as many of them, checksum. Without a prefix in the
    /// format, any prefix is read where the rest fits. Says nothing of whether such a token was ever issued.
    ///
    /// # Errors
    /// [`TokenFault`].
    pub fn check(&self, text: &str) -> Result<(), Error> {
        let refused = |fault| Err(Error::Token(fault));
        if let Some(prefix) = self.prefix {
            return match text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')) {
                Some(rest) => self.check_rest(rest, text.len() - rest.len()),
                None => refused(TokenFault::OtherPrefix),
            };
        }
        // A base64url token has `_` of its own, so each could be the prefix's last; the longest prefix is the likeliest.
        let ends = text.rmatch_indices('_').map(|(at, _)| at + 1).chain([0]);
        let mut first = None;
        for at in ends {
            let prefix = text[..at].strip_suffix('_').map_or(Ok(()), check_prefix);
            match prefix.and_then(|()| self.check_rest(&text[at..], at)) {
                Ok(()) => return Ok(()),
                Err(error) => first = first.or(Some(error)),
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Checks what stands behind a prefix that ends before byte `from`.
    fn check_rest(&self, rest: &str, from: usize) -> Result<(), Error> {
        let refused = |fault| Err(Error::Token(fault));
        let is_digit = |c: char| u8::try_from(c).is_ok_and(|byte| self.form.digits().contains(&byte));
        if let Some(at) = rest.chars().position(|c| !is_digit(c)) {
            return refused(TokenFault::Character { at: from + at + 1, form: self.form.name() });
        }
        let checksum_chars = if self.has_checksum { CHECKSUM_CHARS } else { 0 };
        let expected = self.form.chars(self.bits) + checksum_chars;
        if rest.len() < expected {
            return refused(TokenFault::Length { found: rest.len(), expected });
        }
        // All characters are ASCII, so any place is between two of them.
        let (random, found) = rest.split_at(rest.len() - checksum_chars);
        if self.has_checksum && found.as_bytes() != checksum(random) {
            return refused(TokenFault::Checksum);
        }
        Ok(())
    }
}

/// Whether this may stand before the `_` of a token.
fn check_prefix(prefix: &str) -> Result<(), Error> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if let Some(at) = prefix.chars().position(|c| !is_plain(c)) {
        return Err(Error::Token(TokenFault::PrefixCharacter { at: at + 1 }));
    }
    if prefix.is_empty() || prefix.len() > MOST_PREFIX {
        return Err(Error::Token(TokenFault::PrefixLength { found: prefix.len() }));
    }
    Ok(())
}

/// CRC-32 in 6 Base62 digits.
fn checksum(random: &str) -> [u8; CHECKSUM_CHARS] {
    let (mut rest, mut digits) = (crc32fast::hash(random.as_bytes()), [0; CHECKSUM_CHARS]);
    for digit in digits.iter_mut().rev() {
        *digit = BASE62.digits()[(rest % 62) as usize];
        rest /= 62;
    }
    digits
}

/// A token: wiped when dropped, never shown by `Debug`. It has no `Display`, so that it doesn't slip into a log.
pub struct Token(Zeroizing<String>);

impl Token {
    /// The secret text, for whom it is made for.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({} characters)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemEntropy;
    use alloc::format;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn the_checksum_is_that_of_published_tokens() {
        // Revoked, from coolaj86's gist on the format; in parts, lest scanners report this file.
        let (random, expected) = ("zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17");
        assert_eq!(&checksum(random), expected.as_bytes());
        let format = TokenFormat::new(TokenForm::Base62, 128).unwrap().with_checksum();
        assert_eq!(format.check(&format!("ghp_{random}{expected}")), Ok(()));
    }

    #[test]
    fn lengths_hold_the_bits() {
        for (bits, base62, base64) in
            [(128, 22, 22), (160, 27, 27), (178, 30, 30), (192, 33, 32), (256, 43, 43), (4096, 688, 683)]
        {
            assert_eq!(TokenForm::Base62.chars(bits), base62);
            assert_eq!(TokenForm::Base64Url.chars(bits), base64);
        }
        for bits in [0, 64, 127, 4097] {
            assert!(TokenFormat::new(TokenForm::Base62, bits).is_err());
        }
    }

    #[test]
    fn every_digit_is_as_likely_as_any_other() {
        for form in TokenForm::ALL {
            let mut counts = [0; 256];
            for byte in 0..=255 {
                if let Some(digit) = form.digit(byte) {
                    counts[digit as usize] += 1;
                }
            }
            let used: Vec<i32> = counts.into_iter().filter(|count| *count > 0).collect();
            assert_eq!(used.len(), form.digits().len());
            assert!(used.iter().all(|count| *count == 4), "{form:?}");
        }
    }

    #[test]
    fn a_bad_source_of_randomness_is_told() {
        struct Broken;
        impl Entropy for Broken {
            fn fill(&self, _: &mut [u8]) -> Result<(), Error> {
                Err(Error::Entropy)
            }
        }
        let format = TokenFormat::new(TokenForm::Base62, 128).unwrap();
        assert_eq!(format.mint(&Broken).map(|_| ()), Err(Error::Entropy));
    }

    #[test]
    fn debug_never_shows_a_token() {
        let token = TokenFormat::new(TokenForm::Base62, 128).unwrap().mint(&SystemEntropy).unwrap();
        assert_eq!(format!("{token:?}"), "Token(22 characters)");
    }

    proptest! {
        #[test]
        fn minted_tokens_pass_the_check_and_damaged_ones_do_not(
            form in prop::sample::select(TokenForm::ALL.to_vec()),
            bits in 128u32..600,
            prefix in proptest::option::of("[A-Za-z0-9_]{0,31}[A-Za-z0-9]"),
            at in any::<prop::sample::Index>(),
            by in 1usize..62,
        ) {
            let mut format = TokenFormat::new(form, bits).unwrap().with_checksum();
            if let Some(prefix) = &prefix {
                format = format.with_prefix(prefix).unwrap();
            }
            let token = format.mint(&SystemEntropy).unwrap();
            prop_assert_eq!(format.check(token.as_str()), Ok(()));
            let any_prefix = TokenFormat::new(form, bits).unwrap().with_checksum();
            prop_assert_eq!(any_prefix.check(token.as_str()), Ok(()));
            // One other digit behind the prefix.
            let from = prefix.as_ref().map_or(0, |prefix| prefix.len() + 1);
            let mut bytes = token.as_str().as_bytes().to_vec();
            let at = from + at.index(bytes.len() - from);
            let digits = form.digits();
            let digit = digits.iter().position(|digit| *digit == bytes[at]).unwrap();
            bytes[at] = digits[(digit + by) % digits.len()];
            let damaged = String::from_utf8(bytes).unwrap();
            prop_assert!(format.check(&damaged).is_err());
            prop_assert!(format.check(&token.as_str()[1..]).is_err());
        }

        #[test]
        fn no_text_makes_the_check_panic(text in ".{0,80}", prefix in "[a-z_]{0,3}[a-z]") {
            let format = TokenFormat::new(TokenForm::Base64Url, 128).unwrap().with_checksum();
            let _ = format.check(&text);
            let _ = format.with_prefix(&prefix).unwrap().check(&text);
        }
    }
}
