//! Any text, its scheme unknown: reading it never panics, and what each reading prints is an id of its scheme.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mintage::inspect::{Options, inspect};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = core::str::from_utf8(data) else {
        return;
    };
    for reading in inspect(text, &Options::default()) {
        let scheme = reading.scheme;
        let again = scheme.parse(&reading.canonical);
        assert!(
            again.is_ok(),
            "{}: {text:?} reads as {:?}: {again:?}",
            scheme.name,
            reading.canonical
        );
    }
});
