//! What types are at their base, through domains and arrays.

use super::Oid;
use crate::catalog::Kind;
use std::collections::HashMap;

/// What a type is at its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Int(u32),
    Decimal(u32),
    Uuid,
    Text(Option<u32>),
    Citext,
    Bytes,
    Other,
}

impl Base {
    pub(super) const fn kind(self) -> Kind {
        match self {
            Self::Int(bits) => Kind::int(bits),
            Self::Decimal(digits) => Kind::Decimal { digits },
            Self::Uuid => Kind::Uuid,
            Self::Text(longest) => Kind::Text { longest },
            Self::Citext => Kind::Text { longest: None },
            Self::Bytes => Kind::Bytes { longest: None },
            Self::Other => Kind::Other,
        }
    }
}

/// The type under domains, and whether it is an array. A domain brings its own modifier, as in `varchar(20)`.
pub(super) fn resolved(
    types: &HashMap<Oid, (String, Oid, Oid, i32)>,
    oid: Oid,
    modifier: i32,
    depth: u32,
) -> Option<(Base, bool)> {
    let (name, base, element, own_modifier) = types.get(&oid)?;
    if depth > 32 {
        return None;
    }
    if *base != 0 {
        let modifier = if *own_modifier >= 0 { *own_modifier } else { modifier };
        return resolved(types, *base, modifier, depth + 1);
    }
    if *element != 0 && name.starts_with('_') {
        let (base, _) = resolved(types, *element, modifier, depth + 1)?;
        return Some((base, true));
    }
    let length = u32::try_from(modifier - 4).ok();
    let base = match name.as_str() {
        "int2" => Base::Int(16),
        "int4" => Base::Int(32),
        "int8" => Base::Int(64),
        "uuid" => Base::Uuid,
        "text" | "varchar" | "bpchar" => Base::Text(length),
        "citext" => Base::Citext,
        "bytea" => Base::Bytes,
        "numeric" => {
            let digits = length.map_or(38, |packed| (packed >> 16).saturating_sub(packed & 0x7ff));
            Base::Decimal(digits.min(38))
        }
        _ => Base::Other,
    };
    Some((base, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_seen_through_domains_and_arrays() {
        let row = |name: &str, base, element, modifier| (name.to_owned(), base, element, modifier);
        let types = HashMap::from([
            (23, row("int4", 0, 0, -1)),
            (1043, row("varchar", 0, 0, -1)),
            (1700, row("numeric", 0, 0, -1)),
            (100, row("user_id", 23, 0, -1)),
            (101, row("small_user_id", 100, 0, -1)),
            (102, row("_user_id", 0, 100, -1)),
            (103, row("code", 1043, 0, 40)),
            (104, row("loop", 104, 0, -1)),
        ]);
        let is = |oid, modifier| resolved(&types, oid, modifier, 0);
        assert_eq!(is(101, -1), Some((Base::Int(32), false)));
        assert_eq!(is(102, -1), Some((Base::Int(32), true)));
        assert_eq!(is(103, -1), Some((Base::Text(Some(36)), false)));
        assert_eq!(is(1043, 25), Some((Base::Text(Some(21)), false)));
        assert_eq!(is(1700, (10 << 16) + 4), Some((Base::Decimal(10), false)));
        assert_eq!(is(104, -1), None);
        assert_eq!(is(9, -1), None);
    }
}
