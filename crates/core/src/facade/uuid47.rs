//! UUIDv47: a version 7 UUID inside, what looks like a version 4 UUID outside; only the time is masked.
//!
//! The mask is SipHash-2-4 of the 74 random bits; it is xored onto the 48 bits of time, and the version becomes 4. Source:
//! stateless-me/uuidv47, `uuidv47.h`; byte-compatible with it, except that ids of another version or variant are refused, which the
//! reference encodes and can't decode to what they were.
//!
//! # Which bytes are the key
//!
//! SipHash reads its key of 16 bytes as two little-endian numbers. Three spellings of **one** key:
//!
//! | where | text |
//! |---|---|
//! | C, as two numbers | `k0 = 0x0123456789abcdef, k1 = 0xfedcba9876543210` |
//! | the 16 bytes in hex, as in a key file of ours | `efcdab89674523011032547698badcfe` |
//! | the PostgreSQL extension's setting | `efcdab8967452301:1032547698badcfe` |
//!
//! The trap: to write C's numbers as they are, `0123456789abcdef:fedcba9876543210`, into PostgreSQL is another key. Nothing fails;
//! it encodes to other facades and decodes to other times.

use crate::error::Error;
use crate::facade::domain::Domain;
use crate::facade::key::Key;
use crate::facade::{Facade, Kind};
use crate::{UuidV4, UuidV7};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use siphasher::sip::SipHasher24;
use zeroize::Zeroizing;

const NAME: &str = "uuid47";

/// What there is to know of this kind.
pub const KIND: Kind = Kind {
    name: NAME,
    summary: "a version 7 UUID looks like a version 4 UUID: its time is masked",
    source: "stateless-me/uuidv47",
    key_bytes: &[16],
    version: 1,
    domains: "uuid",
    default_domain: Some(Domain::Uuid),
    hides: "when the row was made, and which of two rows is older",
    from: "everyone without the key",
    not: "the random bits, which stay as they are: whoever sees both forms can match them",
    make,
};

/// Bits of the time.
const TIME_BITS: u32 = 48;
/// Where the version stands.
const VERSION_SHIFT: u32 = 76;

/// The mask of version 7 UUIDs with one key.
pub struct Uuid47 {
    /// `k0` and `k1`.
    words: Zeroizing<[u64; 2]>,
}

impl Uuid47 {
    /// From the 16 bytes of a SipHash key.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        let number = u128::from_le_bytes(*key);
        Self::from_words(crate::raw::low_u64(number), crate::raw::low_u64(number >> 64))
    }

    /// From the two numbers of the C form.
    ///
    /// ```
    /// use mintage::facade::Uuid47;
    /// let mask = Uuid47::from_words(0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210);
    /// let facade = mask.encode("00000000-007b-7aaa-8123-456789abcdef".parse()?);
    /// assert_eq!(facade.to_string(), "b108050e-46b6-4aaa-8123-456789abcdef");
    /// # Ok::<(), mintage::Error>(())
    /// ```
    #[must_use]
    pub fn from_words(k0: u64, k1: u64) -> Self {
        Self { words: Zeroizing::new([k0, k1]) }
    }

    /// The UUID that stands for `id` in public.
    #[must_use]
    pub fn encode(&self, id: UuidV7) -> UuidV4 {
        crate::Id(self.masked(id.get(), 4))
    }

    /// The UUID that `facade` stands for. With another key, or for a UUID that was version 4 all along, it has another time;
    /// that the time is implausible is the only sign.
    #[must_use]
    pub fn decode(&self, facade: UuidV4) -> UuidV7 {
        crate::Id(self.masked(facade.get(), 7))
    }

    fn masked(&self, uuid: u128, version: u128) -> u128 {
        let time_mask = u128::from(self.hash(uuid)) & crate::raw::mask(TIME_BITS);
        let without_version = uuid & !(0xf << VERSION_SHIFT);
        (without_version ^ time_mask << (128 - TIME_BITS)) | version << VERSION_SHIFT
    }

    /// Of the random bits alone: they are what both forms share.
    fn hash(&self, uuid: u128) -> u64 {
        let bytes = uuid.to_be_bytes();
        let mut message = [0; 10];
        message.copy_from_slice(&bytes[6..]);
        message[0] &= 0x0f;
        message[2] &= 0x3f;
        SipHasher24::new_with_keys(self.words[0], self.words[1]).hash(&message)
    }
}

impl Facade for Uuid47 {
    fn encode_text(&self, id: &str) -> Result<String, Error> {
        Ok(self.encode(id.parse()?).to_string())
    }

    fn decode_text(&self, facade: &str) -> Result<String, Error> {
        Ok(self.decode(facade.parse()?).to_string())
    }
}

impl fmt::Debug for Uuid47 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key stays out.
        f.debug_struct("Uuid47").finish_non_exhaustive()
    }
}

fn make(key: &Key) -> Result<Box<dyn Facade>, Error> {
    if key.domain() != Domain::Uuid {
        return Err(KIND.refuse(key.domain()));
    }
    let bytes = key.secret().bytes();
    let fixed: &[u8; 16] = bytes.try_into().map_err(|_| KIND.wrong_key(bytes.len()))?;
    Ok(Box::new(Uuid47::new(fixed)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn decoding_undoes_encoding_and_only_the_time_changes(key in any::<[u8; 16]>(), bits in any::<u128>()) {
            let mask = Uuid47::new(&key);
            let id: UuidV7 = crate::Id(bits & !(0xf << 76) & !(0b11 << 62) | 7 << 76 | 0b10 << 62);
            let facade = mask.encode(id);
            prop_assert!(UuidV4::from_raw(facade.raw()).is_ok());
            prop_assert_eq!(mask.decode(facade), id);
            prop_assert_eq!(facade.get() & crate::raw::mask(76), id.get() & crate::raw::mask(76));
        }
    }
}
