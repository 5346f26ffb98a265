//! CosId, milliseconds.

use crate::error::{Error, Lengths};
use crate::generators::counter::{Compiled, CounterGenerator};
use crate::generators::rule::{fit_tick, tick_at};
use crate::id::{Id, const_id};
use crate::layout::{Field, Layout, Role, TimeBase};
use crate::mapping::Mapping;
use crate::scheme::{Coordination, Facts, Scheme, Setting, Sortable, StaticScheme};
use crate::text::{BASE62, DECIMAL, TextForm};
use crate::time::UnixNanos;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// A CosId, 64 bits.
pub type Cosid = Id<CosidScheme>;

/// The description of [`Cosid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CosidScheme;

const BASE: TimeBase = TimeBase::millis_since(1_577_203_200_000);
/// Width of the time.
const TIME_BITS: u32 = 41;

/// 11 digits of base 62.
static BASE62_11: TextForm = TextForm::fixed("base62", &BASE62, 11);

impl StaticScheme for CosidScheme {
    type Repr = u64;
    const SCHEME: &'static Scheme = &Scheme {
        name: "cosid",
        aliases: &["cosid-ms", "cosid-millisecond"],
        summary: "64-bit, milliseconds since 2019-12-24T16:00Z, 1,024 machines",
        source: "Ahoo-Wang/CosId, MillisecondSnowflakeId.java",
        layout: Layout::new(
            64,
            &[
                Field::new("unused", Role::Fixed(0), 1),
                Field::new("timestamp", Role::Timestamp(BASE), TIME_BITS),
                Field::new("machine", Role::Worker, 10),
                Field::new("sequence", Role::Counter, 12),
            ],
        ),
        mapping: Mapping::Identity,
        text: &[&DECIMAL, &BASE62_11],
        vectors: &[("266300479548424192", &[0, 63_490_981_948, 0, 0])],
        facts: Facts {
            sortable: Sortable::Strictly,
            coordination: Coordination::Worker,
            collisions: "none while no two processes have one worker and clocks do not step back across restarts",
            leaks: "when it was made, to the millisecond, by which worker, and how busy that worker was",
            sql: ("bigint", "bigint"),
            surprise: Some(8),
        },
        methods: &[],
        settings: &[Setting::Worker, Setting::Policies],
        generator: Some(|settings| {
            let source = Compiled::<Self>::default();
            Ok(Box::new(CounterGenerator::new("cosid", &Self::SCHEME.layout, source, settings)?))
        }),
    };
}

const_id!(CosidScheme, u64);

/// Digits of the time in a friendly text: year to millisecond.
const FRIENDLY_DIGITS: usize = 17;

/// CosId's friendly text: `yyyyMMddHHmmssSSS-machine-sequence`, the time that of a clock `offset_secs` seconds east of UTC. CosId
/// takes the zone of its JVM and doesn't write it down. `None` for an offset of more than a day. Source: CosId,
/// `SnowflakeFriendlyId`.
///
/// ```
/// use mintage::schemes::cosid::{Cosid, parse_friendly, print_friendly};
/// let id = Cosid::parse("266300479548424192")?;
/// let in_shanghai = 8 * 3600;
/// assert_eq!(print_friendly(id, in_shanghai).unwrap(), "20211228202301948-0-0");
/// assert_eq!(parse_friendly("20211228202301948-0-0", in_shanghai), Ok(id));
/// # Ok::<(), mintage::Error>(())
/// ```
#[must_use]
pub fn print_friendly(id: Cosid, offset_secs: i32) -> Option<String> {
    let stamp = jiff::Timestamp::from_nanosecond(id.time()?.0).ok()?;
    let t = Offset::from_seconds(offset_secs).ok()?.to_datetime(stamp);
    Some(format!(
        "{:04}{:02}{:02}{:02}{:02}{:02}{:03}-{}-{}",
        t.year(),
        t.month(),
        t.day(),
        t.hour(),
        t.minute(),
        t.second(),
        t.millisecond(),
        id.field("machine")?,
        id.field("sequence")?
    ))
}

/// The id of a friendly text, whose time is that of a clock `offset_secs` seconds east of UTC.
///
/// # Errors
/// [`Error::Length`], [`Error::Character`] or [`Error::Time`] for what isn't such a text; [`Error::BeforeEpoch`],
/// [`Error::TimeFieldEnded`] or [`Error::FieldRange`] for a part that its field can't hold.
pub fn parse_friendly(text: &str, offset_secs: i32) -> Result<Cosid, Error> {
    let scheme = CosidScheme::SCHEME.name;
    let mut parts = text.split('-');
    let (Some(time), Some(machine), Some(sequence), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        let expected = Lengths { least: FRIENDLY_DIGITS + 4, most: FRIENDLY_DIGITS + 10 };
        return Err(Error::Length { scheme, found: text.chars().count(), expected });
    };
    let number = |text: &str| DECIMAL.parse(text, 64, scheme).map(crate::RawId::low);
    let now = friendly_time(time, offset_secs)?;
    let tick = fit_tick(scheme, BASE, tick_at(scheme, BASE, now)?, TIME_BITS)?;
    let raw = CosidScheme::SCHEME.pack(&[0, u128::from(tick), number(machine)?, number(sequence)?])?;
    Cosid::from_raw(raw)
}

fn friendly_time(text: &str, offset_secs: i32) -> Result<UnixNanos, Error> {
    if text.len() != FRIENDLY_DIGITS || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Error::Time);
    }
    let part = |from: usize, to: usize| text[from..to].parse::<i16>().map_err(|_| Error::Time);
    let small = |from: usize| part(from, from + 2)?.try_into().map_err(|_| Error::Time);
    let nanos = i32::from(part(14, 17)?) * 1_000_000;
    let civil = DateTime::new(part(0, 4)?, small(4)?, small(6)?, small(8)?, small(10)?, small(12)?, nanos);
    let (Ok(civil), Ok(offset)) = (civil, Offset::from_seconds(offset_secs)) else {
        return Err(Error::Time);
    };
    match offset.to_timestamp(civil) {
        Ok(stamp) => Ok(UnixNanos(stamp.as_nanosecond())),
        // The last days of the year 9999 are beyond the calendar here, and long beyond the field.
        Err(_) => Err(Error::TimeFieldEnded {
            scheme: CosidScheme::SCHEME.name,
            ended: CosidScheme::SCHEME.layout.ends_at().unwrap_or_default(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_friendly_text_is_read_strictly() {
        for text in [
            "",
            "20211228202301948-0",
            "20211228202301948-0-0-0",
            "20211328202301948-0-0",
            "2021122820230194-0-0",
            "20211228202301948-+1-0",
            "20211228202301948-01-0",
            "2021122820230194é-0-0",
            "20211228202301948--0",
        ] {
            assert!(parse_friendly(text, 0).is_err(), "{text}");
        }
        assert!(parse_friendly("20211228202301948-0-0", i32::MAX).is_err());
        assert_eq!(
            parse_friendly("20191224155959999-0-0", 0).unwrap_err().to_string(),
            "cosid: the clock says 2019-12-24T15:59:59.999Z, before the epoch 2019-12-24T16:00:00Z: no id has such a time"
        );
    }
}
