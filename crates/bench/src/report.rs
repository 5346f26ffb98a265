//! What the measurements look like: a table for people, one JSON object a line for programs.

use crate::timing::Row;
use std::fmt::Write as _;

/// A table with a line that names the machine.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let width =
        rows.iter().map(|row| row.operation.chars().count()).max().unwrap_or(0).max("operation".len());
    let mut text = format!(
        "{}\n\n{:width$}  threads  clock        ns/id   spread          ids/s\n",
        machine(),
        "operation"
    );
    for Row { operation, threads, clock, ns, spread } in rows {
        let rate = grouped(1e9 / ns);
        writeln!(text, "{operation:width$}  {threads:>7}  {clock:6}  {ns:>10.2}  {spread:>7.2}  {rate:>13}")
            .expect("a String takes all text");
    }
    text.push_str(
        "\nns/id: median of the rounds, all threads together; spread: from the lower to the upper quartile.\n",
    );
    text
}

/// One object a line: `operation`, `ns` and `spread` in nanoseconds, `threads`, `clock`.
#[must_use]
pub fn json(rows: &[Row]) -> String {
    let mut text = String::new();
    for Row { operation, threads, clock, ns, spread } in rows {
        // Names are ours: ASCII without control characters, so Rust's quoting is JSON's.
        writeln!(
            text,
            r#"{{"operation":{operation:?},"ns":{ns:.3},"spread":{spread:.3},"threads":{threads},"clock":"{clock}"}}"#
        )
        .expect("a String takes all text");
    }
    text
}

/// Processor and cores, as far as the system tells.
#[must_use]
pub fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find(|line| line.starts_with("model name")).and_then(|line| line.split_once(": "));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model);
    format!("{model}, {cores} cores, {}", std::env::consts::OS)
}

/// `12,345,678`.
#[must_use]
pub fn grouped(rate: f64) -> String {
    let digits = format!("{rate:.0}");
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_lines() {
        let row = Row { operation: "mint ulid".into(), threads: 2, clock: "system", ns: 12.5, spread: 0.25 };
        let line = "{\"operation\":\"mint ulid\",\"ns\":12.500,\"spread\":0.250,\"threads\":2,\"clock\":\"system\"}\n";
        assert_eq!(json(std::slice::from_ref(&row)), line);
        assert!(table(&[row]).contains("mint ulid        2  system       12.50     0.25     80,000,000"));
    }

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!(["1", "999", "1,000", "12,345,678"], [1.0, 999.0, 1000.0, 12_345_678.0].map(grouped)[..]);
    }
}
