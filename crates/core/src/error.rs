//! What can go wrong in core, one variant a cause that a caller can act on.

use crate::time::UnixNanos;

/// Why an id couldn't be read, made or laid out. `Copy`, at most 64 bytes, no allocation.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text has the wrong number of characters.
    #[error("{scheme}: {found} characters given, {expected} expected")]
    Length {
        /// The scheme that was read for.
        scheme: &'static str,
        /// Characters given.
        found: usize,
        /// Lengths that the scheme's text forms have.
        expected: Lengths,
    },
    /// A character stands where it can't.
    #[error("{scheme}: `{}` at character {at} is not {expected}", .found.escape_debug())]
    Character {
        /// The scheme that was read for.
        scheme: &'static str,
        /// The character given.
        found: char,
        /// Its place, from 1.
        at: usize,
        /// What may stand there: a kind of digit, or a sign in backquotes.
        expected: &'static str,
    },
    /// A decimal number begins with a zero, so its text isn't the only one for its value.
    #[error("{scheme}: a number starts with a zero; leave leading zeros out")]
    LeadingZero {
        /// The scheme that was read for.
        scheme: &'static str,
    },
    /// The text stands for a number above the scheme's largest id.
    #[error("{scheme}: above the largest id, which has {bits} bits")]
    TooLarge {
        /// The scheme that was read for.
        scheme: &'static str,
        /// Width of an id.
        bits: u32,
    },
    /// The number has no text, since the digits of the scheme don't reach every number of its bits.
    #[error("{scheme}: no text of the scheme stands for this number")]
    NoText {
        /// The scheme that was read for.
        scheme: &'static str,
    },
    /// Bytes of another length than the id's.
    #[error("{scheme}: {found} bytes given, {expected} expected")]
    Bytes {
        /// The scheme that was read for.
        scheme: &'static str,
        /// Bytes given.
        found: usize,
        /// Bytes of an id.
        expected: usize,
    },
    /// Bits that the scheme fixes have another value: the id is of another kind.
    #[error("{scheme}: field {field} is {found}, {expected} expected: an id of another kind")]
    FixedField {
        /// The scheme that was read for.
        scheme: &'static str,
        /// The field's name.
        field: &'static str,
        /// Its lowest 64 bits in the id.
        found: u64,
        /// Its lowest 64 bits by the scheme.
        expected: u64,
    },
    /// A value is wider than its field. Nothing is masked.
    #[error("field {field}: the value does not fit its {bits} bits")]
    FieldRange {
        /// The field's name.
        field: &'static str,
        /// Its width.
        bits: u32,
    },
    /// A scheme with a worker field was to be minted without a worker.
    #[error(
        "{scheme}: no worker given (0 to {max}); two processes with one worker issue the same ids, so none is guessed: \
         name a worker that no other process uses"
    )]
    WorkerMissing {
        /// The scheme to be minted.
        scheme: &'static str,
        /// Largest worker.
        max: u64,
    },
    /// The worker is above the field's largest value. It is not masked.
    #[error("{scheme}: worker {worker} is out of range, 0 to {max} expected")]
    WorkerRange {
        /// The scheme to be minted.
        scheme: &'static str,
        /// The worker given.
        worker: u64,
        /// Largest worker.
        max: u64,
    },
    /// A worker was given to a scheme without a worker field.
    #[error("{scheme}: has no worker field; leave the worker out")]
    NoWorkerField {
        /// The scheme to be minted.
        scheme: &'static str,
    },
    /// The scheme doesn't offer this method.
    #[error("{scheme}: has no method {method}")]
    NoSuchMethod {
        /// The scheme to be minted.
        scheme: &'static str,
        /// The method's name.
        method: &'static str,
    },
    /// The setting doesn't apply to the scheme.
    #[error("{scheme}: takes no {setting}")]
    NotApplicable {
        /// The scheme to be minted.
        scheme: &'static str,
        /// What was given.
        setting: &'static str,
    },
    /// A name-based UUID was to be made without a namespace and a name.
    #[error("{scheme}: needs a namespace and a name; the id is their hash")]
    NameMissing {
        /// The scheme to be minted.
        scheme: &'static str,
    },
    /// The scheme is read, not minted.
    #[error("{scheme}: is read, not minted")]
    ReadOnly {
        /// The scheme.
        scheme: &'static str,
    },
    /// The clock stands before the scheme's epoch.
    #[error("{scheme}: the clock says {now}, before the epoch {epoch}: no id has such a time")]
    BeforeEpoch {
        /// The scheme to be minted.
        scheme: &'static str,
        /// What the clock says.
        now: UnixNanos,
        /// Tick 0.
        epoch: UnixNanos,
    },
    /// The time field can't hold the present any more.
    #[error("{scheme}: the time field ended at {ended}; choose a later epoch or a wider time field")]
    TimeFieldEnded {
        /// The scheme to be minted.
        scheme: &'static str,
        /// The first moment that didn't fit.
        ended: UnixNanos,
    },
    /// `try_next` would have to wait: nothing is wrong. `next` waits.
    #[error("{scheme}: {cause}; try again in {}", Wait(*.wait_nanos))]
    Busy {
        /// The scheme to be minted.
        scheme: &'static str,
        /// What it waits for.
        cause: Cause,
        /// How long, in nanoseconds.
        wait_nanos: u64,
    },
    /// Refused, because the generator was told not to wait.
    #[error("{scheme}: {cause}; the next id can be had in {}", Wait(*.wait_nanos))]
    Refused {
        /// The scheme to be minted.
        scheme: &'static str,
        /// Why.
        cause: Cause,
        /// When it would work again, in nanoseconds.
        wait_nanos: u64,
    },
    /// The generator was made before a fork, in the parent: the child must not mint as the parent's worker.
    #[error(
        "{scheme}: this process was forked from the one that holds worker {worker}; make a generator here with a worker of its own"
    )]
    Forked {
        /// The scheme to be minted.
        scheme: &'static str,
        /// The parent's worker.
        worker: u64,
    },
    /// The window of a lease has ended, or all its sequence values are used, and the store hasn't lengthened it.
    #[error(
        "{scheme}: the window of worker {worker} has ended and the store has not lengthened it; try again in {}",
        Wait(*.wait_nanos)
    )]
    WindowEnded {
        /// The scheme to be minted.
        scheme: &'static str,
        /// The worker that was leased.
        worker: u64,
        /// When to look again, in nanoseconds.
        wait_nanos: u64,
    },
    /// The lease was given up: released, lost, or the generator was closed.
    #[error("{scheme}: the lease of worker {worker} was given up; open another")]
    Released {
        /// The scheme to be minted.
        scheme: &'static str,
        /// The worker that was leased.
        worker: u64,
    },
    /// Strict ULID: the random part can't be raised any more within its millisecond.
    #[error("{scheme}: the random part is spent within this millisecond; wait for the next one")]
    Overflow {
        /// The scheme to be minted.
        scheme: &'static str,
    },
    /// The operating system gave no random bytes.
    #[error("the operating system's random generator gave no bytes")]
    Entropy,
    /// The text is no RFC 3339 time.
    #[error("not an RFC 3339 time with an offset, such as 2025-01-01T00:00:00Z")]
    Time,
    /// A split of bits that can't be a layout.
    #[error("layout: {0}")]
    Layout(LayoutFault),
    /// A key or a domain that a facade can't use.
    #[error("{kind}: {fault}")]
    Facade {
        /// The kind of facade.
        kind: &'static str,
        /// Why.
        fault: FacadeFault,
    },
    /// A number above the largest one of a facade's domain. It is not masked.
    #[error("{kind}: {found} is above the domain's largest number, {largest}; choose a wider domain")]
    OutsideDomain {
        /// The kind of facade.
        kind: &'static str,
        /// The number given.
        found: u128,
        /// The largest number.
        largest: u128,
    },
    /// A token that can't be made, or isn't one. Never shows the token.
    #[error("token: {0}")]
    Token(TokenFault),
    /// A figure to plan with that means nothing.
    #[error("{what} is out of range, {expected} expected")]
    Quantity {
        /// Which figure.
        what: &'static str,
        /// Its range.
        expected: &'static str,
    },
}

impl Error {
    /// How long to wait before the same call can succeed; `None` when waiting doesn't help.
    #[must_use]
    pub const fn wait_nanos(&self) -> Option<u64> {
        match self {
            Self::Busy { wait_nanos, .. }
            | Self::Refused { wait_nanos, .. }
            | Self::WindowEnded { wait_nanos, .. } => Some(*wait_nanos),
            _ => None,
        }
    }
}

/// Nanoseconds to wait, as people read them: in the largest unit of which there is one, rounded up.
struct Wait(u64);

impl core::fmt::Display for Wait {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
        match UNITS.iter().find(|(nanos, _)| self.0 >= *nanos) {
            Some((nanos, unit)) if self.0 < 10 * nanos && !self.0.is_multiple_of(*nanos) => {
                let tenths = self.0.div_ceil(nanos / 10);
                write!(f, "{}.{} {unit}", tenths / 10, tenths % 10)
            }
            Some((nanos, unit)) => write!(f, "{} {unit}", self.0.div_ceil(*nanos)),
            None => write!(f, "{} ns", self.0),
        }
    }
}

/// What a generator waits for.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// All sequence values of the tick are used.
    #[error("the sequence of this tick is spent")]
    Spent,
    /// The clock went back behind the last id.
    #[error("the clock went back behind the last id")]
    ClockBehind,
    /// The generator never mints in the tick in which it was made, since a predecessor may have.
    #[error("the tick in which the generator was made is not used")]
    FirstTick,
}

/// Text lengths that a scheme accepts, for the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// The canonical form's length, or the least of a form without a fixed one.
    pub least: usize,
    /// Equal to `least`, or the most characters of a form without a fixed length.
    pub most: usize,
}

impl core::fmt::Display for Lengths {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.least == self.most {
            write!(f, "{}", self.least)
        } else {
            write!(f, "{} to {}", self.least, self.most)
        }
    }
}

/// Why a split of bits isn't a layout.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutFault {
    /// No fields, or too many.
    #[error("{found} fields given, 1 to 8 expected")]
    FieldCount {
        /// Fields given.
        found: usize,
    },
    /// The id is too wide, or empty.
    #[error("{found} bits given, 1 to 160 expected")]
    Bits {
        /// Bits given.
        found: u32,
    },
    /// A field is too wide, or empty.
    #[error("field {field} has {found} bits, 1 to 128 expected")]
    FieldBits {
        /// The field's name.
        field: &'static str,
        /// Its width.
        found: u32,
    },
    /// The widths don't add up.
    #[error("the fields have {found} bits together, {expected} expected")]
    Sum {
        /// What they add up to.
        found: u32,
        /// What they should.
        expected: u32,
    },
    /// A fixed value is wider than its field.
    #[error("the fixed value of field {field} does not fit its {bits} bits")]
    FixedValue {
        /// The field's name.
        field: &'static str,
        /// Its width.
        bits: u32,
    },
    /// Two time fields with different epochs or ticks.
    #[error("two time fields disagree on epoch or tick")]
    TwoTimeBases,
    /// A tick of no length.
    #[error("a tick must be at least 1 ns long")]
    ZeroTick,
    /// A field that minting needs is missing or scattered.
    #[error("minting needs one {role} field in one piece")]
    Missing {
        /// The role.
        role: &'static str,
    },
    /// The sequence or the worker is too wide for the lock-free engine.
    #[error("a sequence of {found} bits given, at most 62 expected, and a worker of at most 64")]
    CursorBits {
        /// Bits of the sequence.
        found: u32,
    },
    /// A part of a split in text can't be read.
    #[error("part {part} of the split is not a width such as 41, t41, w10 or s12")]
    Part {
        /// Which, from 1.
        part: usize,
    },
    /// A split has more than 64 bits.
    #[error("a split of {found} bits does not fit a 64-bit id")]
    TooWide {
        /// The sum of its widths.
        found: u32,
    },
    /// The epoch lies in the future.
    #[error("the epoch lies in the future: no id could be made before it")]
    FutureEpoch,
}

/// Why a facade can't be made. Never shows a part of a key.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FacadeFault {
    /// No kind has this name.
    #[error("no such kind; there are permute, uuid47 and ff1")]
    Kind,
    /// A key of another length.
    #[error("the key has {found} bytes, {expected} expected")]
    KeyBytes {
        /// Bytes given.
        found: usize,
        /// Lengths that the kind takes.
        expected: &'static str,
    },
    /// A character of a key's text is no hex digit.
    #[error("character {at} of the key is not a hex digit")]
    KeyDigit {
        /// Its place, from 1.
        at: usize,
    },
    /// A key's text has half a byte at its end.
    #[error("the key has {found} hex digits, an even number expected")]
    KeyDigits {
        /// Digits given.
        found: usize,
    },
    /// A key is spelled as the PostgreSQL form of UUIDv47 spells it.
    #[error(
        "the key has a colon at character {at}: that is how PostgreSQL's extension writes it. Leave the colon out, the bytes are \
         the same; of C's two numbers, the bytes of each half go in reverse"
    )]
    KeyColon {
        /// Its place, from 1.
        at: usize,
    },
    /// A version that isn't known here.
    #[error("version {found} is not known, {known} expected; a later release may know it")]
    Version {
        /// The version given.
        found: u32,
        /// The version known.
        known: u32,
    },
    /// No domain is spelled like this.
    #[error(
        "not a domain; u64, u63, uuid, or an alphabet with a number of digits expected, such as decimal:10 or base62:7 (the \
         alphabets are binary, decimal, hex, base36 and base62)"
    )]
    DomainText,
    /// A domain that the kind doesn't take.
    #[error("does not take the domain {found}; {expected} expected")]
    DomainKind {
        /// What the domain is.
        found: &'static str,
        /// What the kind takes.
        expected: &'static str,
    },
    /// A domain that could be searched through.
    #[error(
        "{found} {alphabet} digits make a domain of fewer than 1,000,000 values, which can be searched through (SP 800-38G \
         revision 1 refuses it); at least {least} expected"
    )]
    DomainSmall {
        /// The alphabet.
        alphabet: &'static str,
        /// Digits given.
        found: u32,
        /// The fewest digits.
        least: u32,
    },
    /// A domain wider than the arithmetic here.
    #[error("{found} {alphabet} digits are too many; at most {most} expected")]
    DomainWide {
        /// The alphabet.
        alphabet: &'static str,
        /// Digits given.
        found: u32,
        /// The most digits.
        most: u32,
    },
    /// A tweak that the kind doesn't take, or one that is too long.
    #[error("a tweak of {found} bytes given, at most {most} expected")]
    Tweak {
        /// Bytes given.
        found: usize,
        /// The most bytes.
        most: usize,
    },
    /// A key id that can't be one.
    #[error("a key id has 1 to 64 characters of A-Z, a-z, 0-9, `.`, `_` and `-`")]
    KeyId,
}

/// Why a token can't be made, or isn't one. Never shows a part of it.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    /// Too few random bits to be a secret, or absurdly many.
    #[error(
        "{found} random bits given, 128 to 4096 expected: fewer can be guessed by whoever may try often enough, and offline if a \
         copy of the database leaks"
    )]
    Bits {
        /// Bits given.
        found: u32,
    },
    /// No form has this name.
    #[error("no such form; there are base62 and base64url")]
    Form,
    /// A prefix with a character that breaks a token apart in logs, URLs or scanners.
    #[error("character {at} of the prefix is none of A-Z, a-z, 0-9 and `_`")]
    PrefixCharacter {
        /// Its place, from 1.
        at: usize,
    },
    /// An empty prefix, or a long one.
    #[error("a prefix of {found} characters given, 1 to 32 expected")]
    PrefixLength {
        /// Characters given.
        found: usize,
    },
    /// The text doesn't begin with the prefix and `_`.
    #[error("another prefix than expected")]
    OtherPrefix,
    /// Fewer characters than a token has.
    #[error("{found} characters behind the prefix, at least {expected} expected")]
    Length {
        /// Characters given.
        found: usize,
        /// Characters of the shortest such token.
        expected: usize,
    },
    /// A character stands in it that the form doesn't have.
    #[error("character {at} is not of the form {form}")]
    Character {
        /// Its place, from 1.
        at: usize,
        /// The form's name.
        form: &'static str,
    },
    /// The checksum is another one: mistyped, cut off or made up.
    #[error("the checksum is wrong: mistyped, cut off, or never issued")]
    Checksum,
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn errors_stay_small() {
        assert!(size_of::<Error>() <= 64, "{} bytes", size_of::<Error>());
    }

    #[test]
    fn messages_say_what_was_given_and_expected() {
        let error = Error::Character { scheme: "ulid", found: 'U', at: 3, expected: "a crockford32 digit" };
        assert_eq!(error.to_string(), "ulid: `U` at character 3 is not a crockford32 digit");
        let error = Error::Length { scheme: "ulid", found: 25, expected: Lengths { least: 26, most: 26 } };
        assert_eq!(error.to_string(), "ulid: 25 characters given, 26 expected");
    }

    #[test]
    fn waits_are_told_in_units_that_people_read() {
        let told = [0, 999, 1_000, 7_507_456, 12_345_678, 1_000_000_000, u64::MAX].map(|wait_nanos| {
            let text = Error::Busy { scheme: "s", cause: Cause::Spent, wait_nanos }.to_string();
            text.replace("s: the sequence of this tick is spent; try again in ", "")
        });
        assert_eq!(told, ["0 ns", "999 ns", "1 us", "7.6 ms", "13 ms", "1 s", "18446744074 s"]);
    }
}
