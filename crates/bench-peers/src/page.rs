//! The page on speed: what was measured goes between its markers, the prose around them stays as it was written.

use crate::outcome::Measured;
use crate::{picture, report};
use mintage::{Clock, SystemClock};
use mintage_bench::report::machine;
use std::path::Path;
use std::{fs, io};

const BEGIN: &str = "<!-- measured: from here on written by --write-docs -->\n";
const END: &str = "<!-- end of what was measured -->\n";

/// Writes table and picture into the folder of documents.
///
/// # Errors
/// When the page can't be read or written, or its markers are gone.
pub fn write(documents: &Path, measured: &Measured) -> io::Result<()> {
    let page = documents.join("speed.md");
    let filled = fill(&fs::read_to_string(&page)?, &block(measured)).ok_or_else(|| {
        let expected =
            format!("speed.md: the lines `{}` and `{}` expected, in this order", BEGIN.trim(), END.trim());
        io::Error::new(io::ErrorKind::InvalidData, expected)
    })?;
    fs::write(page, filled)?;
    fs::write(documents.join("speed.svg"), picture::draw(measured))
}

/// The page with `block` between its markers; `None` without markers.
fn fill(page: &str, block: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{block}{END}{after}"))
}

fn block(measured: &Measured) -> String {
    let today = SystemClock.now().rfc3339(0).map_or_else(String::new, |time| time.to_string());
    let (date, _) = today.split_once('T').unwrap_or((&today, ""));
    format!(
        "\nMeasured on {date}: mintage {} on {}.\n\n![Our time divided by the peer's, for each operation](speed.svg)\n\n{}\n",
        env!("CARGO_PKG_VERSION"),
        machine(),
        report::markdown(measured)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_replaced_and_the_prose_stays() {
        let page = format!("# Speed\n{BEGIN}old\n{END}prose\n");
        let filled = fill(&page, "new\n").unwrap();
        assert_eq!(filled, format!("# Speed\n{BEGIN}new\n{END}prose\n"));
        assert_eq!(fill(&filled, "new\n").unwrap(), filled);
        assert_eq!(fill("# Speed\n", "new\n"), None);
    }

    #[test]
    fn the_page_in_the_repository_has_the_markers() {
        let page = include_str!("../../../docs/speed.md");
        assert!(fill(page, "").is_some());
    }
}
