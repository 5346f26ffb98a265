//! Byte orders: how databases and languages store and compare UUIDs, and the values under which their order is the plain one.

use crate::mapping::swapped_groups;

/// A way to store or compare 128-bit ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// `UUID_TO_BIN(u, 1)` of MySQL: time_high and time_mid before time_low. Source: MySQL manual, Miscellaneous Functions.
    MysqlSwapped,
    /// `Guid.ToByteArray()` of .NET and `binary(16)` of SQL Server: the first three groups little-endian.
    GuidBytes,
    /// Bytes whose plain order is that of SQL Server's `uniqueidentifier`: the last six bytes first, then back to front by group.
    /// Source: Microsoft, Comparing GUID and uniqueidentifier Values.
    Sqlserver,
    /// Bytes whose plain order is that of `java.util.UUID.compareTo`, which compares two signed halves. Source: JDK-7025832.
    Java,
}

impl Order {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::MysqlSwapped, Self::GuidBytes, Self::Sqlserver, Self::Java];

    /// Its name, as in `--to`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MysqlSwapped => "mysql-swapped",
            Self::GuidBytes => "guid-bytes",
            Self::Sqlserver => "sqlserver-order",
            Self::Java => "java-order",
        }
    }

    /// The order of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|order| order.name() == name)
    }

    /// `uuid` as this order has it.
    #[must_use]
    pub const fn apply(self, uuid: u128) -> u128 {
        match self {
            Self::MysqlSwapped => {
                let (low, mid, high) = (uuid >> 96, (uuid >> 80) & 0xffff, (uuid >> 64) & 0xffff);
                high << 112 | mid << 96 | low << 64 | uuid & crate::raw::mask(64)
            }
            Self::GuidBytes => swapped_groups(uuid),
            Self::Sqlserver => permuted(uuid, &SQLSERVER),
            Self::Java => uuid ^ SIGNS,
        }
    }

    /// The UUID that [`Order::apply`] made `stored` of.
    #[must_use]
    pub const fn undo(self, stored: u128) -> u128 {
        match self {
            Self::MysqlSwapped => {
                let (high, mid, low) = (stored >> 112, (stored >> 96) & 0xffff, (stored >> 64) & 0xffff_ffff);
                low << 96 | mid << 80 | high << 64 | stored & crate::raw::mask(64)
            }
            Self::GuidBytes => swapped_groups(stored),
            Self::Sqlserver => unpermuted(stored, &SQLSERVER),
            Self::Java => stored ^ SIGNS,
        }
    }
}

/// The sign bits of both halves.
const SIGNS: u128 = 1 << 127 | 1 << 63;

/// Bytes of the UUID's text, the weightiest for SQL Server first.
const SQLSERVER: [usize; 16] = [10, 11, 12, 13, 14, 15, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0];

const fn permuted(uuid: u128, from: &[usize; 16]) -> u128 {
    let (bytes, mut out, mut i) = (uuid.to_be_bytes(), [0; 16], 0);
    while i < 16 {
        out[i] = bytes[from[i]];
        i += 1;
    }
    u128::from_be_bytes(out)
}

const fn unpermuted(stored: u128, from: &[usize; 16]) -> u128 {
    let (bytes, mut out, mut i) = (stored.to_be_bytes(), [0; 16], 0);
    while i < 16 {
        out[from[i]] = bytes[i];
        i += 1;
    }
    u128::from_be_bytes(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rfc9562::parse_any;

    #[test]
    fn every_order_can_be_undone() {
        let uuid = 0x6ccd_780c_baba_1026_9564_5b8c_6560_24db;
        for order in Order::ALL {
            assert_eq!(order.undo(order.apply(uuid)), uuid, "{order:?}");
            assert_eq!(Order::by_name(order.name()), Some(*order));
        }
        assert_eq!(Order::MysqlSwapped.apply(uuid), 0x1026_baba_6ccd_780c_9564_5b8c_6560_24db);
    }

    #[test]
    fn sql_server_and_java_compare_as_they_do() {
        let uuid = |text| parse_any(text).unwrap();
        let (a, b) =
            (uuid("2aaaaaaa-bbbb-cccc-dddd-1eeeeeeeeeee"), uuid("1aaaaaaa-bbbb-cccc-dddd-3eeeeeeeeeee"));
        assert!(Order::Sqlserver.apply(a) < Order::Sqlserver.apply(b) && a > b);
        let (a, b) =
            (uuid("20000000-0000-4000-8000-000000000000"), uuid("e0000000-0000-4000-8000-000000000000"));
        assert!(Order::Java.apply(a) > Order::Java.apply(b) && a < b);
    }
}
