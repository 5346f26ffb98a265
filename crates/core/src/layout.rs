//! Layouts: which bits of an id mean what, as plain data.
//!
//! A layout is a `const` for a built-in scheme (a wrong sum doesn't compile) and a value built at run time for a split that a
//! user gives. Everything that packs or reads bits is computed from it.

use crate::error::{Error, LayoutFault};
use crate::raw::{RawId, mask};
use crate::time::UnixNanos;

/// Tick 0 of a time field and the length of one tick; they travel with the field, so they can't disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeBase {
    /// The moment of tick 0.
    pub epoch: UnixNanos,
    /// Nanoseconds a tick, at least 1.
    pub tick_nanos: u64,
}

impl TimeBase {
    /// Milliseconds since `epoch_unix_ms`.
    #[must_use]
    pub const fn millis_since(epoch_unix_ms: i64) -> Self {
        Self { epoch: UnixNanos::from_millis(epoch_unix_ms), tick_nanos: 1_000_000 }
    }

    /// Seconds since `epoch_unix_secs`.
    #[must_use]
    pub const fn seconds_since(epoch_unix_secs: i64) -> Self {
        Self { epoch: UnixNanos::from_secs(epoch_unix_secs), tick_nanos: 1_000_000_000 }
    }

    /// UUID versions 1, 2 and 6: 100 ns since 1582-10-15T00:00:00Z. Source: RFC 9562 section 5.1.
    pub const GREGORIAN: Self = Self { epoch: UnixNanos(-12_219_292_800_000_000_000), tick_nanos: 100 };

    /// The tick in which `now` lies; `None` before the epoch. Ticks above `u64` (years above 500,000 for 1 ms) saturate.
    #[must_use]
    #[inline]
    pub const fn tick_at(self, now: UnixNanos) -> Option<u64> {
        let since = now.0 - self.epoch.0;
        if since < 0 {
            return None;
        }
        // One word is enough for 584 years of nanoseconds, and its division by a constant is a multiplication.
        if since <= u64::MAX as i128 {
            return Some(crate::raw::low_u64(since.cast_unsigned()) / self.tick_nanos);
        }
        let tick = since.cast_unsigned() / self.tick_nanos as u128;
        Some(if tick > u64::MAX as u128 { u64::MAX } else { crate::raw::low_u64(tick) })
    }

    /// Whether `now` lies in `tick`: what [`TimeBase::tick_at`] tells by a division, by a multiplication.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) const fn is_in(self, tick: u64, now: UnixNanos) -> bool {
        let since = now.0 - self.epoch.0;
        match tick.checked_mul(self.tick_nanos) {
            Some(begins) if since >= 0 && since <= u64::MAX as i128 => {
                let since = crate::raw::low_u64(since.cast_unsigned());
                since >= begins && since - begins < self.tick_nanos
            }
            _ => matches!(self.tick_at(now), Some(now) if now == tick),
        }
    }

    /// When `tick` begins; `None` where it is too far away for a number of nanoseconds.
    #[must_use]
    pub const fn time_of(self, tick: u128) -> Option<UnixNanos> {
        if tick > u64::MAX as u128 {
            return None;
        }
        let Some(since) = (tick.cast_signed()).checked_mul(self.tick_nanos as i128) else {
            return None;
        };
        match self.epoch.0.checked_add(since) {
            Some(time) => Some(UnixNanos(time)),
            None => None,
        }
    }

    /// Digits of the second that a tick can tell apart, in the steps people write: 0, 3, 6, 7 or 9.
    #[must_use]
    pub const fn fraction_digits(self) -> u8 {
        match self.tick_nanos {
            t if t % 1_000_000_000 == 0 => 0,
            t if t % 1_000_000 == 0 => 3,
            t if t % 1_000 == 0 => 6,
            t if t % 100 == 0 => 7,
            _ => 9,
        }
    }
}

/// What a field's value means. Decides how it is made, printed and coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Ticks since an epoch.
    Timestamp(TimeBase),
    /// Who made the id: worker, machine, node, shard, datacenter, process.
    Worker,
    /// Counts inside one tick, or since the process began.
    Counter,
    /// Random bits.
    Random,
    /// Bits of a hash over a name.
    Hash,
    /// Whatever its maker put there; no reader may claim to know.
    Custom,
    /// Always this value: version, variant, sign.
    Fixed(u128),
}

impl Role {
    /// The role's word, as in JSON and docs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timestamp(_) => "timestamp",
            Self::Worker => "worker",
            Self::Counter => "counter",
            Self::Random => "random",
            Self::Hash => "hash",
            Self::Custom => "custom",
            Self::Fixed(_) => "fixed",
        }
    }

    /// Whether both are of one kind, whatever they carry.
    #[must_use]
    pub const fn is_like(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Timestamp(_), Self::Timestamp(_))
                | (Self::Worker, Self::Worker)
                | (Self::Counter, Self::Counter)
                | (Self::Random, Self::Random)
                | (Self::Hash, Self::Hash)
                | (Self::Custom, Self::Custom)
                | (Self::Fixed(_), Self::Fixed(_))
        )
    }
}

/// A run of 1 to 128 bits with one meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field {
    /// The name that the scheme's specification uses.
    pub name: &'static str,
    /// What the value means.
    pub role: Role,
    /// Width in bits.
    pub bits: u32,
    /// Where this run stands in a value that the scheme splits over several fields (UUIDv1's time, Discord's worker); else 0.
    pub from_bit: u32,
}

impl Field {
    /// A field that holds a whole value.
    #[must_use]
    pub const fn new(name: &'static str, role: Role, bits: u32) -> Self {
        Self { name, role, bits, from_bit: 0 }
    }

    /// A field that holds the part of a value that begins at `from_bit`.
    #[must_use]
    pub const fn part(name: &'static str, role: Role, bits: u32, from_bit: u32) -> Self {
        Self { name, role, bits, from_bit }
    }
}

/// Where a value lies: `(id >> shift) & (2^bits - 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// Bits below the value.
    pub shift: u32,
    /// Bits of the value.
    pub bits: u32,
}

impl Slot {
    /// A place of no bits: what an absent field has.
    pub const NONE: Self = Self { shift: 0, bits: 0 };

    /// The largest value that fits.
    #[must_use]
    pub const fn max(self) -> u128 {
        mask(self.bits)
    }
}

/// Most fields a layout has; UUIDv2 needs them all.
pub const MAX_FIELDS: usize = 8;

/// The fields of an id, most significant first. `bits` is their sum: 1 to 160.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layout {
    bits: u32,
    len: usize,
    fields: [Field; MAX_FIELDS],
    /// Ones where the fields fix the bits, and what they are fixed to: one comparison tells most ids from others.
    fixed_mask: RawId,
    fixed: RawId,
}

impl Layout {
    /// A layout known when compiling.
    ///
    /// # Panics
    /// Where [`Layout::try_new`] gives an error; for a `const` that is a compile error.
    #[must_use]
    pub const fn new(bits: u32, fields: &[Field]) -> Self {
        match Self::try_new(bits, fields) {
            Ok(layout) => layout,
            Err(_) => panic!(
                "the fields of a layout must add up to its bits, each 1 to 128 wide, with one epoch and tick"
            ),
        }
    }

    /// A layout that a user gives: `bits` in all (1 to 160), `fields` from the most significant.
    ///
    /// # Errors
    /// [`Error::Layout`] when there are none or more than 8 fields, when a field has 0 or more than 128 bits, when the widths
    /// don't add up to `bits`, when a fixed value doesn't fit its field, when two time fields disagree on epoch or tick, or when
    /// the tick is 0.
    pub const fn try_new(bits: u32, fields: &[Field]) -> Result<Self, Error> {
        if fields.is_empty() || fields.len() > MAX_FIELDS {
            return Err(Error::Layout(LayoutFault::FieldCount { found: fields.len() }));
        }
        if bits == 0 || bits > RawId::MAX_BITS {
            return Err(Error::Layout(LayoutFault::Bits { found: bits }));
        }
        let (fixed_mask, fixed) = (RawId::ZERO, RawId::ZERO);
        let mut layout = Self { bits, len: fields.len(), fields: [fields[0]; MAX_FIELDS], fixed_mask, fixed };
        let mut base: Option<TimeBase> = None;
        let (mut sum, mut i) = (0, 0);
        while i < fields.len() {
            let field = fields[i];
            if field.bits == 0 || field.bits > 128 || field.from_bit > 128 - field.bits {
                return Err(Error::Layout(LayoutFault::FieldBits { field: field.name, found: field.bits }));
            }
            match field.role {
                Role::Fixed(value) if value > mask(field.bits) => {
                    return Err(Error::Layout(LayoutFault::FixedValue {
                        field: field.name,
                        bits: field.bits,
                    }));
                }
                Role::Timestamp(TimeBase { tick_nanos: 0, .. }) => {
                    return Err(Error::Layout(LayoutFault::ZeroTick));
                }
                Role::Timestamp(new) => match base {
                    Some(old) if old.epoch.0 != new.epoch.0 || old.tick_nanos != new.tick_nanos => {
                        return Err(Error::Layout(LayoutFault::TwoTimeBases));
                    }
                    _ => base = Some(new),
                },
                _ => {}
            }
            sum += field.bits;
            layout.fields[i] = field;
            i += 1;
        }
        if sum != bits {
            return Err(Error::Layout(LayoutFault::Sum { found: sum, expected: bits }));
        }
        i = 0;
        while i < layout.len {
            if let Role::Fixed(value) = layout.fields[i].role {
                let slot = layout.slot(i);
                layout.fixed_mask = layout.fixed_mask.with_bits(slot.shift, slot.bits, slot.max());
                layout.fixed = layout.fixed.with_bits(slot.shift, slot.bits, value);
            }
            i += 1;
        }
        Ok(layout)
    }

    /// Width of the id in bits.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// Width of the id in whole bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bits.div_ceil(8) as usize
    }

    /// Bits below the zero bits that a layout fixes at its top.
    #[must_use]
    pub const fn used_bits(&self) -> u32 {
        match self.fields[0].role {
            Role::Fixed(0) => self.bits - self.fields[0].bits,
            _ => self.bits,
        }
    }

    /// The fields, most significant first.
    #[must_use]
    pub const fn fields(&self) -> &[Field] {
        self.fields.split_at(self.len).0
    }

    /// Where field `i` lies.
    ///
    /// # Panics
    /// When there is no field `i`.
    #[must_use]
    pub const fn slot(&self, i: usize) -> Slot {
        let (mut shift, mut at) = (self.bits, 0);
        while at <= i {
            shift -= self.fields()[at].bits;
            at += 1;
        }
        Slot { shift, bits: self.fields()[i].bits }
    }

    /// Where the one value of a role lies, its adjacent parts joined; `None` when the layout has none or scatters it.
    #[must_use]
    pub const fn find(&self, like: Role) -> Option<Slot> {
        let mut found: Option<Slot> = None;
        let mut top_bit = 0;
        let mut i = 0;
        while i < self.len {
            let (field, slot) = (self.fields[i], self.slot(i));
            if field.role.is_like(like) {
                found = match found {
                    None => {
                        top_bit = field.from_bit;
                        Some(slot)
                    }
                    Some(above)
                        if above.shift == slot.shift + slot.bits && field.from_bit + slot.bits == top_bit =>
                    {
                        top_bit = field.from_bit;
                        Some(Slot { shift: slot.shift, bits: above.bits + slot.bits })
                    }
                    Some(_) => return None,
                };
            }
            i += 1;
        }
        if found.is_some() && top_bit != 0 { None } else { found }
    }

    /// Epoch and tick of the time field, when there is one.
    #[must_use]
    pub const fn time_base(&self) -> Option<TimeBase> {
        let mut i = 0;
        while i < self.len {
            if let Role::Timestamp(base) = self.fields[i].role {
                return Some(base);
            }
            i += 1;
        }
        None
    }

    /// The same fields with another epoch and tick.
    ///
    /// # Errors
    /// See [`Layout::try_new`].
    pub const fn with_time_base(&self, base: TimeBase) -> Result<Self, Error> {
        let (mut fields, mut i) = (self.fields, 0);
        while i < self.len {
            if let Role::Timestamp(_) = fields[i].role {
                fields[i].role = Role::Timestamp(base);
            }
            i += 1;
        }
        Self::try_new(self.bits, fields.split_at(self.len).0)
    }

    /// Bits of the value of a role, its parts counted from the highest.
    #[must_use]
    pub const fn value_bits(&self, like: Role) -> u32 {
        let (mut bits, mut i) = (0, 0);
        while i < self.len {
            let field = self.fields[i];
            if field.role.is_like(like) && field.from_bit + field.bits > bits {
                bits = field.from_bit + field.bits;
            }
            i += 1;
        }
        bits
    }

    /// The value of a role, gathered from all its parts.
    #[must_use]
    pub const fn gather(&self, raw: RawId, like: Role) -> u128 {
        let (mut value, mut i) = (0, 0);
        while i < self.len {
            if self.fields[i].role.is_like(like) {
                let slot = self.slot(i);
                value |= raw.bits(slot.shift, slot.bits) << self.fields[i].from_bit;
            }
            i += 1;
        }
        value
    }

    /// `raw` with `value` laid into all parts of a role; those bits must be zero.
    #[must_use]
    pub const fn scatter(&self, raw: RawId, like: Role, value: u128) -> RawId {
        let (mut raw, mut i) = (raw, 0);
        while i < self.len {
            if self.fields[i].role.is_like(like) {
                let slot = self.slot(i);
                raw = raw.with_bits(slot.shift, slot.bits, value >> self.fields[i].from_bit);
            }
            i += 1;
        }
        raw
    }

    /// The value of field `i`.
    ///
    /// # Panics
    /// When there is no field `i`.
    #[must_use]
    pub const fn value(&self, raw: RawId, i: usize) -> u128 {
        let slot = self.slot(i);
        raw.bits(slot.shift, slot.bits)
    }

    /// An id with these field values, most significant first; fixed fields take their own value.
    ///
    /// # Errors
    /// [`Error::FieldRange`] when a value doesn't fit its field, [`Error::Layout`] when the count differs.
    pub const fn pack(&self, values: &[u128]) -> Result<RawId, Error> {
        if values.len() != self.len {
            return Err(Error::Layout(LayoutFault::FieldCount { found: values.len() }));
        }
        let (mut raw, mut i) = (self.fixed(), 0);
        while i < self.len {
            let (field, slot) = (self.fields[i], self.slot(i));
            if !matches!(field.role, Role::Fixed(_)) {
                if values[i] > slot.max() {
                    return Err(Error::FieldRange { field: field.name, bits: field.bits });
                }
                raw = raw.with_bits(slot.shift, slot.bits, values[i]);
            }
            i += 1;
        }
        Ok(raw)
    }

    /// Version, variant and the like, in place; all other bits zero.
    #[must_use]
    pub const fn fixed(&self) -> RawId {
        self.fixed
    }

    /// Ones in place of the fixed bits; all other bits zero.
    #[must_use]
    pub(crate) const fn fixed_mask(&self) -> RawId {
        self.fixed_mask
    }

    /// The first fixed field whose bits differ, with the value found; `None` when all agree.
    #[must_use]
    pub const fn mismatch(&self, raw: RawId) -> Option<(Field, u128)> {
        if raw.and(self.fixed_mask).is(self.fixed) {
            return None;
        }
        let mut i = 0;
        while i < self.len {
            if let Role::Fixed(value) = self.fields[i].role {
                let found = self.value(raw, i);
                if found != value {
                    return Some((self.fields[i], found));
                }
            }
            i += 1;
        }
        None
    }

    /// When the id was made, at the start of its tick; `None` without a time field, or beyond what nanoseconds can count.
    #[must_use]
    pub const fn time(&self, raw: RawId) -> Option<UnixNanos> {
        match self.time_base() {
            Some(base) => base.time_of(self.gather(raw, Role::Timestamp(base))),
            None => None,
        }
    }

    /// The first moment that the time field can't hold any more; `None` without a time field.
    #[must_use]
    pub const fn ends_at(&self) -> Option<UnixNanos> {
        match self.time_base() {
            Some(base) => {
                let last = mask(self.value_bits(Role::Timestamp(base)));
                // The end of 64 bits and more is past the last countable tick; nothing that counts nanoseconds lives to see it.
                base.time_of(if last >= u64::MAX as u128 { u64::MAX as u128 } else { last + 1 })
            }
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Role = Role::Timestamp(TimeBase::millis_since(0));

    #[test]
    fn adjacent_parts_join_and_scattered_ones_do_not() {
        let worker = [
            Field::new("t", MS, 42),
            Field::part("a", Role::Worker, 5, 5),
            Field::part("b", Role::Worker, 5, 0),
        ];
        assert_eq!(Layout::new(52, &worker).find(Role::Worker), Some(Slot { shift: 0, bits: 10 }));
        let time = [Field::part("low", MS, 32, 0), Field::part("high", MS, 32, 32)];
        let layout = Layout::new(64, &time);
        assert_eq!(layout.find(MS), None);
        let raw = layout.scatter(RawId::ZERO, MS, 0x1234_5678_9abc_def0);
        assert_eq!(raw, RawId::new(0x9abc_def0_1234_5678));
        assert_eq!(layout.gather(raw, MS), 0x1234_5678_9abc_def0);
    }

    #[test]
    fn wrong_splits_are_refused_with_the_cause() {
        let fault = |bits, fields: &[Field]| match Layout::try_new(bits, fields) {
            Err(Error::Layout(fault)) => fault,
            other => panic!("{other:?}"),
        };
        assert_eq!(fault(64, &[]), LayoutFault::FieldCount { found: 0 });
        assert_eq!(fault(64, &[Field::new("t", MS, 41)]), LayoutFault::Sum { found: 41, expected: 64 });
        assert_eq!(fault(64, &[Field::new("t", MS, 0)]), LayoutFault::FieldBits { field: "t", found: 0 },);
        let other = Role::Timestamp(TimeBase::seconds_since(0));
        assert_eq!(
            fault(64, &[Field::new("t", MS, 32), Field::new("u", other, 32)]),
            LayoutFault::TwoTimeBases
        );
        let still = Role::Timestamp(TimeBase { epoch: UnixNanos(0), tick_nanos: 0 });
        assert_eq!(fault(8, &[Field::new("t", still, 8)]), LayoutFault::ZeroTick);
        assert_eq!(
            fault(2, &[Field::new("variant", Role::Fixed(4), 2)]),
            LayoutFault::FixedValue { field: "variant", bits: 2 },
        );
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let layout = Layout::new(64, &[Field::new("t", MS, 54), Field::new("worker", Role::Worker, 10)]);
        assert_eq!(layout.pack(&[1, 1024]), Err(Error::FieldRange { field: "worker", bits: 10 }));
        assert_eq!(layout.pack(&[1, 1023]), Ok(RawId::new(1024 + 1023)));
    }

    #[test]
    fn a_time_field_of_any_width_has_an_end() {
        let layout = |bits| Layout::new(bits, &[Field::new("t", MS, bits)]);
        assert_eq!(layout(41).ends_at(), Some(UnixNanos::from_millis(1 << 41)));
        let last_tick = UnixNanos(i128::from(u64::MAX) * 1_000_000);
        assert_eq!(layout(64).ends_at(), Some(last_tick));
        assert_eq!(layout(128).ends_at(), Some(last_tick));
        let far = TimeBase { epoch: UnixNanos(i128::MAX), tick_nanos: 1 };
        assert_eq!((far.time_of(0), far.time_of(1)), (Some(UnixNanos(i128::MAX)), None));
    }

    #[test]
    fn ticks_of_any_length_count_from_the_epoch() {
        let base = TimeBase { epoch: UnixNanos::from_secs(100), tick_nanos: 10_000_000 };
        assert_eq!(base.tick_at(UnixNanos::from_secs(99)), None);
        assert_eq!(base.tick_at(UnixNanos(100_019_999_999)), Some(1));
        assert_eq!(base.time_of(1), Some(UnixNanos(100_010_000_000)));
        assert_eq!(TimeBase::GREGORIAN.tick_at(UnixNanos(0)), Some(122_192_928_000_000_000));
        assert_eq!(base.tick_at(UnixNanos(i128::from(u64::MAX) * 2_000_000_000)), Some(u64::MAX));
    }

    #[test]
    fn a_time_lies_in_the_tick_that_division_gives() {
        for tick_nanos in [1, 100, 10_000_000, u64::MAX / 3] {
            let base = TimeBase { epoch: UnixNanos(100), tick_nanos };
            let word = i128::from(u64::MAX);
            for begins in [0, 1, i128::from(tick_nanos), word / 2, word, word * i128::from(tick_nanos)] {
                for now in (-102..3).map(|by| UnixNanos(100 + begins + by)) {
                    let tick = base.tick_at(now);
                    for other in [0, 1, 2, tick.unwrap_or(5), u64::MAX / tick_nanos, u64::MAX - 1, u64::MAX] {
                        assert_eq!(base.is_in(other, now), tick == Some(other), "{base:?} {other} {now:?}");
                    }
                }
            }
        }
    }
}
