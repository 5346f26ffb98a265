//! Any text under every scheme: what parses prints canonically, and the canonical text is the same id.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = core::str::from_utf8(data) else {
        return;
    };
    for scheme in mintage::SCHEMES {
        let Ok(raw) = scheme.parse(text) else { continue };
        let canonical = scheme.print(raw);
        let again = scheme.parse(canonical.as_str());
        assert_eq!(again, Ok(raw), "{}: {text:?} is printed as {canonical}", scheme.name);
    }
});
