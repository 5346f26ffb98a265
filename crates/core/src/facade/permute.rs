//! Permutation: a number becomes another number, or a short code, and only the key leads back.
//!
//! Version 1 is FF1 ([`crate::facade::ff1`]) with AES-256 and the tweak `permute v1`, over 64 or 63 binary digits, or over the
//! digits of a code. Its inputs and outputs are published in `facade/vectors/permute_v1.json` and never change; another algorithm
//! would be version 2.
//!
//! # Why FF1 for 64 bits too
//!
//! The other candidate was Speck64/128 (RustCrypto's `speck-cipher`), a block cipher whose block is 64 bits:
//!
//! | | FF1 over AES-256 | Speck64/128 |
//! |---|---|---|
//! | encode u64 | 0.9 µs | 0.02 µs |
//! | encode u63 | 0.9 µs, always ten rounds | 0.06 µs, enciphering again until the top bit is clear: the time tells how often |
//! | key | 256 bits | 128 bits |
//! | review | a NIST standard over AES, in AES instructions | refused by ISO/IEC in 2018, taken out of Linux; no attack on all rounds is known |
//! | a version or domain | in the tweak and the block that FF1 has for them | a key of its own each |
//! | codes of any width | the same algorithm | another one |
//!
//! The difference is a millisecond for a page of a thousand rows, less than the query behind it. For that, one algorithm that an
//! auditor knows serves all domains. (One thread of an Intel Xeon with AES instructions; `docs/facades.md` says how it was measured.)

use crate::error::{Error, FacadeFault};
use crate::facade::domain::Domain;
use crate::facade::ff1::Rounds;
use crate::facade::key::Key;
use crate::facade::{Facade, Kind};
use crate::raw::RawId;
use crate::text::{DECIMAL, DECIMAL_DIGITS, TextForm};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;

const NAME: &str = "permute";

/// What there is to know of this kind.
pub const KIND: Kind = Kind {
    name: NAME,
    summary: "a number becomes another number of 64 or 63 bits, or a code of fixed length",
    source: "FF1 of NIST SP 800-38G over AES-256; vectors in permute_v1.json",
    key_bytes: &[32],
    version: 1,
    domains: "u64, u63, or decimal:N, base62:N, base36:N, hex:N, binary:N of at most 128 bits",
    default_domain: Some(Domain::U63),
    hides: "the number: how many rows there are, which came first, what comes next",
    from: "everyone without the key",
    not: "that two equal ids are equal; what else names the row",
    make,
};

/// Keeps these permutations apart from every other use of the key, and version 1 from later ones. With it, the number and FF1's
/// round fill one AES block.
const TWEAK: &[u8] = b"permute v1";

/// A permutation of the numbers of a domain.
///
/// ```
/// use mintage::facade::{Domain, Permute};
/// let permute = Permute::new(&[7; 32], Domain::U63)?;
/// let id: i64 = 42;                                              // a BIGINT
/// let public = permute.encode(u128::try_from(id).unwrap())?;
/// assert!(i64::try_from(public).is_ok());                        // as is what stands for it
/// assert_eq!(permute.decode(public)?, 42);
/// # Ok::<(), mintage::Error>(())
/// ```
pub struct Permute {
    domain: Domain,
    /// How the public number is spelled.
    form: TextForm,
    largest: u128,
    rounds: Rounds,
}

impl Permute {
    /// The permutation of `domain` with this key, version 1.
    ///
    /// # Errors
    /// [`FacadeFault::DomainKind`], [`FacadeFault::DomainSmall`] or [`FacadeFault::DomainWide`].
    pub fn new(key: &[u8; 32], domain: Domain) -> Result<Self, Error> {
        let Some((radix, len)) = domain.numerals() else { return Err(KIND.refuse(domain)) };
        let most = most_digits(radix);
        if len > most {
            let fault = FacadeFault::DomainWide { alphabet: domain.name(), found: len, most };
            return Err(Error::Facade { kind: NAME, fault });
        }
        let rounds = Rounds::new(NAME, key, TWEAK, radix, len, domain.name())?;
        let form = match domain {
            Domain::Digits { alphabet, .. } => alphabet.form(len),
            _ => DECIMAL,
        };
        // No power but 2^128 itself is above the largest `u128`.
        let largest = u128::from(radix).checked_pow(len).map_or(u128::MAX, |values| values - 1);
        Ok(Self { domain, form, largest, rounds })
    }

    /// The domain.
    #[must_use]
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// The largest number of the domain; the least is 0.
    #[must_use]
    pub fn largest(&self) -> u128 {
        self.largest
    }

    /// The number that stands for `id` in public.
    ///
    /// # Errors
    /// [`Error::OutsideDomain`].
    pub fn encode(&self, id: u128) -> Result<u128, Error> {
        let halves = self.rounds.split(self.checked(id)?);
        Ok(self.rounds.join(self.rounds.encrypt(halves)))
    }

    /// The number that `facade` stands for. With another key it is another number, and nothing shows that.
    ///
    /// # Errors
    /// [`Error::OutsideDomain`].
    pub fn decode(&self, facade: u128) -> Result<u128, Error> {
        let halves = self.rounds.split(self.checked(facade)?);
        Ok(self.rounds.join(self.rounds.decrypt(halves)))
    }

    fn checked(&self, number: u128) -> Result<u128, Error> {
        if number > self.largest {
            return Err(Error::OutsideDomain { kind: NAME, found: number, largest: self.largest });
        }
        Ok(number)
    }
}

impl Facade for Permute {
    /// From a decimal number without leading zeros to the domain's text.
    fn encode_text(&self, id: &str) -> Result<String, Error> {
        let facade = self.encode(NUMBER.parse(id, u128::BITS, NAME)?.low())?;
        // The largest number has as many digits as the form.
        Ok(self.form.spell(RawId::new(facade)).0.as_str().to_string())
    }

    /// From the domain's text to a decimal number without leading zeros.
    fn decode_text(&self, facade: &str) -> Result<String, Error> {
        let facade = self.form.parse(facade, u128::BITS, NAME)?;
        Ok(self.decode(facade.low())?.to_string())
    }
}

impl fmt::Debug for Permute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key stays out.
        f.debug_struct("Permute").field("domain", &self.domain).finish_non_exhaustive()
    }
}

fn make(key: &Key) -> Result<Box<dyn Facade>, Error> {
    let bytes = key.secret().bytes();
    let fixed: &[u8; 32] = bytes.try_into().map_err(|_| KIND.wrong_key(bytes.len()))?;
    Ok(Box::new(Permute::new(fixed, key.domain())?))
}

/// A decimal number of at most 128 bits.
static NUMBER: TextForm = TextForm { is_fixed: false, ..TextForm::fixed("decimal", &DECIMAL_DIGITS, 39) };

/// The most digits of a code whose numbers fit 128 bits.
fn most_digits(radix: u32) -> u32 {
    if radix.is_power_of_two() {
        return (u128::BITS / radix.ilog2()).min(64);
    }
    (1..).take_while(|len| u128::from(radix).checked_pow(*len).is_some()).last().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facade::domain::Alphabet;
    use proptest::prelude::*;

    fn domains() -> impl Strategy<Value = Domain> {
        let digits =
            (prop::sample::select(Alphabet::ALL.to_vec()), 20u32..=64).prop_map(|(alphabet, len)| {
                let most = most_digits(alphabet.radix());
                let least = (1..).find(|len| u128::from(alphabet.radix()).pow(*len) >= 1_000_000).unwrap();
                Domain::Digits { alphabet, len: least + len % (most - least + 1) }
            });
        prop_oneof![Just(Domain::U64), Just(Domain::U63), digits]
    }

    proptest! {
        #[test]
        fn decoding_undoes_encoding_within_the_domain(
            domain in domains(),
            key in any::<[u8; 32]>(),
            number in any::<u128>(),
            shift in 0u32..128,
        ) {
            let permute = Permute::new(&key, domain).unwrap();
            let values = permute.largest();
            let id = (number >> shift) % values.saturating_add(1).max(1);
            let facade = permute.encode(id).unwrap();
            prop_assert!(facade <= values);
            prop_assert_eq!(permute.decode(facade), Ok(id));
            prop_assert_eq!(permute.encode(permute.decode(id).unwrap()), Ok(id));
            let text = permute.encode_text(&id.to_string()).unwrap();
            prop_assert_eq!(permute.decode_text(&text), Ok(id.to_string()));
            if let Domain::Digits { len, .. } = domain {
                prop_assert_eq!(text.len(), len as usize);
            }
        }
    }

    #[test]
    fn numbers_outside_and_other_spellings_are_refused() {
        let permute = Permute::new(&[9; 32], Domain::U63).unwrap();
        assert_eq!(permute.largest(), u128::from(i64::MAX.unsigned_abs()));
        let above = permute.encode_text("9223372036854775808").unwrap_err();
        assert_eq!(
            above.to_string(),
            "permute: 9223372036854775808 is above the domain's largest number, 9223372036854775807; choose a wider domain"
        );
        for text in ["", "-1", "007", "1 ", "+1", "1e3", "99999999999999999999999999999999999999999"] {
            assert!(permute.encode_text(text).is_err(), "{text}");
            assert!(permute.decode_text(text).is_err(), "{text}");
        }
        let code = Permute::new(&[9; 32], "base62:7".parse().unwrap()).unwrap();
        assert_eq!(code.largest(), 62u128.pow(7) - 1);
        for text in ["", "123456", "12345678", "12345_7", "12345é"] {
            assert!(code.decode_text(text).is_err(), "{text}");
        }
        assert!(Permute::new(&[9; 32], Domain::Uuid).is_err());
        assert!(Permute::new(&[9; 32], "base62:22".parse().unwrap()).is_err());
        assert!(Permute::new(&[9; 32], "hex:32".parse().unwrap()).is_ok());
    }
}
