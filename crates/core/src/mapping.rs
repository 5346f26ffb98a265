//! Mappings: how the bits of an id are rearranged before its layout applies, for the schemes whose fields aren't runs of bits.

use crate::raw::RawId;

/// A rearrangement of bits that can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mapping {
    /// The bits stand as the layout says.
    Identity,
    /// The first three groups of a UUID stand with their bytes reversed, as in Microsoft's GUIDs.
    GuidBytes,
    /// `bits` bits above the lowest `shift` ones stand in reverse order.
    ReversedBits {
        /// Bits below.
        shift: u32,
        /// Bits reversed, 1 to 128.
        bits: u32,
    },
    /// The 15 bytes of an Elasticsearch id, shuffled so that neighbours compress well; the layout has 48 bits of time, 48 of
    /// address, 24 of sequence. Source: elastic/elasticsearch, `TimeBasedUUIDGenerator`.
    ElasticsearchBytes,
    /// The bits stand as the layout says, but the last 32 count 1/300 s within the day that the time field names: `datetime` of
    /// SQL Server. Source: richardtallent/RT.Comb, README.
    SqlDatetime,
}

/// For each byte of the layout, most significant first, its place in an Elasticsearch id.
const ELASTICSEARCH: [u32; 15] = [5, 4, 3, 2, 12, 14, 6, 7, 8, 9, 10, 11, 1, 13, 0];

impl Mapping {
    /// The bits as the layout has them.
    #[must_use]
    pub const fn to_layout(self, raw: RawId) -> RawId {
        match self {
            Self::Identity | Self::SqlDatetime => raw,
            Self::GuidBytes => RawId::new(swapped_groups(raw.low())),
            Self::ReversedBits { shift, bits } => reversed(raw, shift, bits),
            Self::ElasticsearchBytes => {
                let (mut out, mut i) = (RawId::ZERO, 0);
                while i < 15 {
                    let byte = raw.bits(8 * (14 - ELASTICSEARCH[i as usize]), 8);
                    out = out.with_bits(8 * (14 - i), 8, byte);
                    i += 1;
                }
                out
            }
        }
    }

    /// Nanoseconds that the id's time lies after the start of its tick; `None` where the bits can't be a time of day.
    #[must_use]
    pub const fn nanos_in_tick(self, raw: RawId) -> Option<i128> {
        const TICKS_A_DAY: u128 = 300 * 86_400;
        match self {
            Self::SqlDatetime => match raw.bits(0, 32) {
                ticks if ticks < TICKS_A_DAY => Some(ticks.cast_signed() * 10_000_000 / 3),
                _ => None,
            },
            _ => Some(0),
        }
    }

    /// The bits as the id has them.
    #[must_use]
    pub const fn from_layout(self, raw: RawId) -> RawId {
        match self {
            // These undo themselves.
            Self::Identity | Self::SqlDatetime | Self::GuidBytes | Self::ReversedBits { .. } => {
                self.to_layout(raw)
            }
            Self::ElasticsearchBytes => {
                let (mut out, mut i) = (RawId::ZERO, 0);
                while i < 15 {
                    let byte = raw.bits(8 * (14 - i), 8);
                    out = out.with_bits(8 * (14 - ELASTICSEARCH[i as usize]), 8, byte);
                    i += 1;
                }
                out
            }
        }
    }
}

/// `bits` bits at `shift` in reverse order; the others stay.
const fn reversed(raw: RawId, shift: u32, bits: u32) -> RawId {
    let value = raw.bits(shift, bits).reverse_bits() >> (128 - bits);
    let above = raw.shifted_down(shift + bits).shifted_up(shift + bits);
    let below = if shift == 0 { 0 } else { raw.bits(0, shift) };
    above.or(RawId::new(below)).with_bits(shift, bits, value)
}

/// A UUID with the bytes of its first three groups reversed, and back.
pub(crate) const fn swapped_groups(uuid: u128) -> u128 {
    let b = uuid.to_be_bytes();
    u128::from_be_bytes([
        b[3], b[2], b[1], b[0], b[5], b[4], b[7], b[6], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15],
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mapping_can_be_undone() {
        let raw = RawId::new(0x0001_2345_6789_abcd_ef10_3254_7698_badc);
        for mapping in [
            Mapping::Identity,
            Mapping::GuidBytes,
            Mapping::ReversedBits { shift: 15, bits: 48 },
            Mapping::ReversedBits { shift: 0, bits: 63 },
            Mapping::ElasticsearchBytes,
        ] {
            assert_eq!(mapping.from_layout(mapping.to_layout(raw)), raw, "{mapping:?}");
            assert_eq!(mapping.to_layout(mapping.from_layout(raw)), raw, "{mapping:?}");
        }
    }

    #[test]
    fn reversed_bits_keep_their_neighbours() {
        let mapping = Mapping::ReversedBits { shift: 4, bits: 8 };
        assert_eq!(mapping.to_layout(RawId::new(0xa015)), RawId::new(0xa805));
    }
}
