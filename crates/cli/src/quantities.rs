//! Quantities as people write and read them: counts, rates, durations, odds, bytes.

use std::fmt;

/// Ids a second, with the text that said so.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rate {
    pub(crate) ids_per_sec: f64,
    text: String,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// A length of time, with the text that said so.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) secs: f64,
    text: String,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// Seconds of a year of 365.25 days.
pub(crate) const YEAR_SECS: f64 = 365.25 * DAY_SECS;
const DAY_SECS: f64 = 86_400.0;

const SECOND_NANOS: u128 = 1_000_000_000;
const YEAR_NANOS: u128 = 31_557_600 * SECOND_NANOS;

/// Names of units of time, and their nanoseconds. There is no `m`: a minute or a month.
const UNITS: [(&[&str], u128); 11] = [
    (&["ns"], 1),
    (&["us", "µs"], 1_000),
    (&["ms"], 1_000_000),
    (&["s", "sec", "second", "seconds"], SECOND_NANOS),
    (&["min", "minute", "minutes"], 60 * SECOND_NANOS),
    (&["h", "hour", "hours"], 3_600 * SECOND_NANOS),
    (&["d", "day", "days"], 86_400 * SECOND_NANOS),
    (&["w", "week", "weeks"], 7 * 86_400 * SECOND_NANOS),
    (&["mo", "month", "months"], YEAR_NANOS / 12),
    (&["y", "yr", "year", "years"], YEAR_NANOS),
    (&["century", "centuries"], 100 * YEAR_NANOS),
];

/// A whole number: `1000000`, `1_000_000`, `1e6`, `2.5e9`, `10^9`, `2^31`.
pub(crate) fn count(text: &str) -> Result<u128, String> {
    exact(text).ok_or_else(|| {
        format!(
            "expected a whole number up to 2^128 - 1 such as 1000000, 1_000_000, 1e6 or 10^6, not `{text}`"
        )
    })
}

/// A whole number of 64 bits, written as for [`count`].
pub(crate) fn count_64(text: &str) -> Result<u64, String> {
    let number = exact(text).and_then(|count| u64::try_from(count).ok());
    number.ok_or_else(|| {
        format!("expected a whole number up to 2^64 - 1 such as 1000000, 1e6 or 10^6, not `{text}`")
    })
}

/// A rate: `100/s`, `1000/ms`, `5e6/day`, `1/10ms`.
pub(crate) fn rate(text: &str) -> Result<Rate, String> {
    let parts = text.split_once('/').and_then(|(ids, per)| {
        let per =
            if per.starts_with(|c: char| c.is_ascii_digit()) { per.to_owned() } else { format!("1{per}") };
        Some(number(ids)? / seconds(&per)?)
    });
    match parts {
        Some(ids_per_sec) if ids_per_sec.is_finite() && ids_per_sec > 0.0 => {
            Ok(Rate { ids_per_sec, text: text.to_owned() })
        }
        _ => Err(format!(
            "expected a number above 0 with a unit of time such as 100/s, 1000/ms or 5e6/day, not `{text}`"
        )),
    }
}

/// A length of time: `30s`, `90 days`, `1y`.
pub(crate) fn span(text: &str) -> Result<Span, String> {
    match seconds(text) {
        Some(secs) if secs.is_finite() && secs > 0.0 => Ok(Span { secs, text: text.to_owned() }),
        _ => Err(format!(
            "expected a number above 0 with its unit ns, us, ms, s, min, h, d, w, mo or y, such as 30s or 1y, not `{text}`"
        )),
    }
}

/// A length of time that is a whole number of nanoseconds, none of them rounded away: `30s`, `1.5 ms`.
pub(crate) fn nanos(text: &str) -> Result<u64, String> {
    span(text)?;
    let nanos = parts(text).and_then(|(value, unit)| product(value, unit));
    nanos.and_then(|nanos| u64::try_from(nanos).ok()).filter(|nanos| *nanos > 0).ok_or_else(|| {
        format!("expected a length of 1 to 2^64 - 1 nanoseconds, all of them whole, such as 30s or 1.5ms, not `{text}`")
    })
}

/// Years: a number above 0, with or without a unit of time behind it.
pub(crate) fn years(text: &str) -> Result<f64, String> {
    let years = number(text).or_else(|| Some(seconds(text)? / YEAR_SECS));
    years
        .filter(|years| years.is_finite() && *years > 0.0)
        .ok_or_else(|| format!("expected a number of years above 0 such as 30, not `{text}`"))
}

/// A share of a whole: `25%` or `0.25`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, by) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share: f64 = number.parse().map_err(|_| "a share such as 25% or 0.25 expected".to_owned())?;
    let share = share / by;
    if share > 0.0 && share <= 1.0 { Ok(share) } else { Err("above 0 and at most 100% expected".to_owned()) }
}

/// Odds between 0 and 1: `50%`, `0.5`, `1e-6`, `1/1000000`.
pub(crate) fn probability(text: &str) -> Result<f64, String> {
    let value = if let Some(percent) = text.strip_suffix('%') {
        number(percent.trim_end()).map(|percent| percent / 100.0)
    } else if let Some((share, whole)) = text.split_once('/') {
        number(share).zip(number(whole)).map(|(share, whole)| share / whole)
    } else {
        number(text)
    };
    value.filter(|odds| *odds > 0.0 && *odds < 1.0).ok_or_else(|| {
        format!("expected odds above 0 and below 1 such as 50%, 1e-6 or 1/1000000, not `{text}`")
    })
}

/// Seconds of a number with a unit of time.
fn seconds(text: &str) -> Option<f64> {
    let (value, unit_nanos) = parts(text)?;
    Some(number(value)? * (unit_nanos as f64 / 1e9))
}

/// A number, as it is written, and the nanoseconds of the unit behind it.
fn parts(text: &str) -> Option<(&str, u128)> {
    // An `e` may belong to the number, so the unit begins at the last letter run.
    let start = text.rfind(|c: char| !c.is_alphabetic()).map_or(0, |at| at + 1);
    if !text.is_char_boundary(start) {
        return None;
    }
    let (value, unit) = text.split_at(start);
    let (_, nanos) = UNITS.iter().find(|(names, _)| names.contains(&unit))?;
    Some((value.trim_end(), *nanos))
}

/// A number times a whole one, where that is whole: exactly, while [`number`] rounds.
fn product(text: &str, times: u128) -> Option<u128> {
    if let Some(whole) = exact(text) {
        return whole.checked_mul(times);
    }
    let plain = without_underscores(text)?;
    let (mantissa, exponent) = plain.split_once(['e', 'E']).unwrap_or((&plain, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let shift = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10_u128.checked_pow(shift.unsigned_abs())?;
    let product = digits.checked_mul(times)?;
    if shift < 0 {
        product.is_multiple_of(power).then(|| product / power)
    } else {
        product.checked_mul(power)
    }
}

/// Digits alone, without a sign, as a number of 64 bits.
pub(crate) fn digits(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()))
}

/// A number without a sign: digits with `_` between them, a fraction, a power of ten, or `base^exponent`.
fn number(text: &str) -> Option<f64> {
    if let Some(whole) = exact(text) {
        return Some(whole as f64);
    }
    let plain = without_underscores(text)?;
    let is_plain = plain.starts_with(|c: char| c.is_ascii_digit())
        && plain.bytes().all(|b| b"0123456789.eE+-".contains(&b));
    plain.parse().ok().filter(|value: &f64| is_plain && value.is_finite())
}

/// A whole number, exactly.
fn exact(text: &str) -> Option<u128> {
    let digits = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<u128>().ok().filter(|_| is_number)
    };
    let power = |base: u128, exponent: u128| base.checked_pow(u32::try_from(exponent).ok()?);
    let plain = without_underscores(text)?;
    if let Some((base, exponent)) = plain.split_once('^') {
        return power(digits(base)?, digits(exponent)?);
    }
    let Some((mantissa, exponent)) = plain.split_once(['e', 'E']) else { return digits(&plain) };
    let exponent = digits(exponent.strip_prefix('+').unwrap_or(exponent))?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let fraction_digits = fraction.trim_end_matches('0');
    let shift = exponent.checked_sub(fraction_digits.len() as u128)?;
    digits(fraction)?;
    digits(whole)?;
    digits(&format!("{whole}{fraction_digits}"))?.checked_mul(power(10, shift)?)
}

/// Without the underscores between digits; `None` when one stands elsewhere.
fn without_underscores(text: &str) -> Option<String> {
    let is_digit =
        |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    let is_between = |at: usize| is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1));
    text.match_indices('_').all(|(at, _)| is_between(at)).then(|| text.replace('_', ""))
}

/// A count: `50,000`, `10^9`, `2.71 * 10^18`.
pub(crate) fn count_text(count: f64) -> String {
    const GROUPED: f64 = 1e9;
    if count.is_infinite() {
        return "no end".to_owned();
    }
    if count < GROUPED && (count.fract() == 0.0 || count >= 1e3) {
        let digits = format!("{count:.0}");
        let mut grouped = String::new();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        return grouped;
    }
    if (0.001..GROUPED).contains(&count) { significant(count) } else { scientific(count) }
}

/// `2.71 * 10^18`, with three significant digits; `10^18` where the rest is 1.
pub(crate) fn scientific(value: f64) -> String {
    let text = format!("{value:.2e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    match trimmed(mantissa) {
        "1" => format!("10^{exponent}"),
        mantissa => format!("{mantissa} * 10^{exponent}"),
    }
}

/// Three significant digits, no zeros at the end of a fraction.
pub(crate) fn significant(value: f64) -> String {
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.099_95 => 3,
        v if v >= 0.009_995 => 4,
        _ => 5,
    };
    trimmed(&format!("{value:.decimals$}")).to_owned()
}

fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Odds: `2.67 %`, `4.14 * 10^-7`, `certain`.
pub(crate) fn probability_text(odds: f64) -> String {
    match odds {
        odds if odds >= 1.0 => "certain".to_owned(),
        odds if odds > 0.999 => "above 99.9 %".to_owned(),
        odds if odds >= 0.001 => format!("{} %", significant(odds * 100.0)),
        odds if odds > 0.0 => scientific(odds),
        _ => "none".to_owned(),
    }
}

/// `one in 37.4`; empty where that says nothing.
pub(crate) fn one_in_text(odds: f64) -> String {
    if odds > 0.0 && odds < 0.5 { format!("one in {}", count_text(1.0 / odds)) } else { String::new() }
}

/// A length of time in years, or in the largest unit of which there are two: `8.17 months`.
pub(crate) fn span_text(secs: f64) -> String {
    const UNITS: [(&str, f64); 6] = [
        ("years", YEAR_SECS),
        ("months", YEAR_SECS / 12.0),
        ("days", DAY_SECS),
        ("hours", 3600.0),
        ("minutes", 60.0),
        ("seconds", 1.0),
    ];
    if (YEAR_SECS..1.005 * YEAR_SECS).contains(&secs) {
        return "1 year".to_owned();
    }
    match UNITS.iter().find(|(name, unit)| secs >= if *name == "years" { *unit } else { 2.0 * unit }) {
        Some((name, unit)) if secs / unit < 1000.0 => format!("{} {name}", significant(secs / unit)),
        Some((name, unit)) => format!("{} {name}", count_text(secs / unit)),
        None if secs >= 1.0 => format!("{} s", significant(secs)),
        None if secs >= 1e-3 => format!("{} ms", significant(secs * 1e3)),
        None if secs >= 1e-6 => format!("{} us", significant(secs * 1e6)),
        None if secs >= 1e-9 => format!("{} ns", significant(secs * 1e9)),
        None => format!("{} s", scientific(secs)),
    }
}

/// Bytes in decimal units: `48 GB`.
pub(crate) fn bytes_text(bytes: u128) -> String {
    const UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let value = if value < 1000.0 { significant(value) } else { scientific(value) };
    format!("{value} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_exactly() {
        for (text, value) in [
            ("0", 0),
            ("1000000", 1_000_000),
            ("1_000_000", 1_000_000),
            ("1e9", 1_000_000_000),
            ("1E+9", 1_000_000_000),
            ("2.50e3", 2500),
            ("1.5e1", 15),
            ("10^12", 1_000_000_000_000),
            ("2^31", 1 << 31),
            ("2^127", 1 << 127),
            ("340282366920938463463374607431768211455", u128::MAX),
        ] {
            assert_eq!(count(text), Ok(value), "{text}");
        }
        for text in [
            "",
            "-1",
            "+1",
            "1.5",
            "1e",
            "e9",
            "1.5e0",
            "1e-3",
            "1e39",
            "1e999999999999",
            "2^128",
            "10^",
            "^9",
            "_1",
            "1__0",
            "1_",
            "0x10",
            "٤",
            "1 000",
            "inf",
            "nan",
            "1.e3",
            ".5e3",
            "1e3e3",
            "2^3^4",
            "1_e3",
        ] {
            assert!(count(text).is_err(), "{text}");
        }
        assert_eq!(count_64("2^63"), Ok(1 << 63));
        assert!(count_64("2^64").is_err());
    }

    #[test]
    fn rates_have_a_unit_of_time() {
        let read = |text| rate(text).map(|rate| rate.ids_per_sec);
        assert_eq!(read("100/s"), Ok(100.0));
        assert_eq!(read("1000/ms"), Ok(1e6));
        assert_eq!(read("5e6/day"), Ok(5e6 / 86_400.0));
        assert_eq!(read("1/10ms"), Ok(100.0));
        assert_eq!(read("0.5/h"), Ok(0.5 / 3600.0));
        for text in [
            "", "100", "100/", "/s", "0/s", "-1/s", "1/0s", "1/parsec", "1/s/s", "nan/s", "inf/s", "1/é",
            "9e999/ns",
        ] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_have_a_unit() {
        let read = |text| span(text).map(|span| span.secs);
        assert_eq!(read("30s"), Ok(30.0));
        assert_eq!(read("1y"), Ok(31_557_600.0));
        assert_eq!(read("90 days"), Ok(90.0 * 86_400.0));
        assert_eq!(read("1e3ms"), Ok(1.0));
        assert_eq!(read("1.5h"), Ok(5400.0));
        for text in ["", "30", "s", "0s", "-1s", "1m", "1e3", "y1", "1é", "é", "1\u{301}s"] {
            assert!(span(text).is_err(), "{text}");
        }
        assert_eq!((years("30"), years("18 months")), (Ok(30.0), Ok(1.5)));
        assert!(years("0").is_err() && years("long").is_err());
    }

    #[test]
    fn nanoseconds_are_exact_or_refused() {
        for (text, expected) in [
            ("30s", 30_000_000_000),
            ("30.0000000010 s", 30_000_000_001),
            ("0.1s", 100_000_000),
            ("1_000ms", 1_000_000_000),
            ("1.5e-3ms", 1_500),
            ("2^3ns", 8),
            ("1e-9s", 1),
            ("1 y", 31_557_600_000_000_000),
        ] {
            assert_eq!(nanos(text), Ok(expected), "{text}");
        }
        for text in
            ["1e-12s", "30.0000000001s", "0.5ns", "0s", "0.0s", "1e30s", "1e-40s", "30", "-1s", "+1s", "1.s5"]
        {
            assert!(nanos(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_told_of_the_largest_number_is_so() {
        for (refused, largest) in
            [(count_64("2^64").unwrap_err(), "2^64 - 1"), (count("2^128").unwrap_err(), "2^128 - 1")]
        {
            assert!(refused.contains(&format!("up to {largest} such")), "{refused}");
        }
        assert_eq!(count_64("18446744073709551615"), Ok(u64::MAX));
        assert_eq!((digits("5"), digits("+5"), digits("")), (Some(5), None, None));
    }

    #[test]
    fn odds_in_any_of_their_forms() {
        for (text, value) in
            [("50%", 0.5), ("0.5", 0.5), ("1e-6", 1e-6), ("1/1000000", 1e-6), ("0.1 %", 0.001)]
        {
            assert_eq!(probability(text), Ok(value), "{text}");
        }
        for text in ["", "0", "1", "100%", "-1", "2", "1/0", "0/1", "half", "%", "nan"] {
            assert!(probability(text).is_err(), "{text}");
        }
    }

    #[test]
    fn quantities_print_as_people_read_them() {
        assert_eq!(
            [0.0, 7.0, 50_000.0, 4_194_304.0, 37.4].map(count_text),
            ["0", "7", "50,000", "4,194,304", "37.4"]
        );
        assert_eq!([1e9, 2.7149e18, 999.6e7].map(count_text), ["10^9", "2.71 * 10^18", "10^10"]);
        assert_eq!(
            [1.0, 0.999_5, 0.026_742, 4.1359e-7, 0.0].map(probability_text),
            ["certain", "above 99.9 %", "2.67 %", "4.14 * 10^-7", "none"]
        );
        assert_eq!([YEAR_SECS, 1.5 * YEAR_SECS, 1e11].map(span_text), ["1 year", "1.5 years", "3,169 years"]);
        assert_eq!(
            [21_474_836.0, 2.2e9, 150.0, 1.5, 0.01, 3e-10, 1e20].map(span_text),
            [
                "8.17 months",
                "69.7 years",
                "2.5 minutes",
                "1.5 s",
                "10 ms",
                "3 * 10^-10 s",
                "3.17 * 10^12 years"
            ]
        );
        assert_eq!(
            [48_000_000_000, 0, 999, 1500, 999_999, u128::MAX].map(bytes_text),
            ["48 GB", "0 B", "999 B", "1.5 kB", "1 MB", "3.4 * 10^14 YB"]
        );
        assert_eq!(
            (one_in_text(0.01), one_in_text(0.9), one_in_text(0.0)),
            ("one in 100".into(), String::new(), String::new())
        );
    }

    #[test]
    fn shares_are_percent_or_fractions() {
        assert_eq!((share("25%"), share("0.25"), share("100 %")), (Ok(0.25), Ok(0.25), Ok(1.0)));
        for wrong in ["25", "0", "-1%", "101%", "NaN", "x", "%"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
