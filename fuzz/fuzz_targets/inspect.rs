//! Any text, its scheme unknown: reading it never panics, and what each reading prints is an id of its scheme.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mintage::Scheme;
use mintage::inspect::{Options, inspect};
use mintage::schemes::typeid;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = core::str::from_utf8(data) else {
        return;
    };
    for reading in inspect(text, &Options::default()).readings {
        // What only looks like an id, such as a Unix time, has no scheme.
        let Some(scheme) = Scheme::by_name(reading.scheme) else { continue };
        let again = match scheme.name {
            // Its prefix is a part of it.
            "typeid" => typeid::parse(&reading.text).map(|(_, id)| id.raw()),
            _ => scheme.parse(&reading.text),
        };
        assert!(again.is_ok(), "{}: {text:?} reads as {:?}: {again:?}", scheme.name, reading.text);
    }
});
