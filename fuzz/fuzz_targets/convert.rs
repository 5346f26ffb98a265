//! Any text that a scheme reads, in every form that the scheme has: each form reads what it prints.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = core::str::from_utf8(data) else {
        return;
    };
    for scheme in mintage::SCHEMES {
        let Ok(raw) = scheme.parse(text) else { continue };
        for name in scheme.form_names() {
            let form = scheme.form(name).expect("the scheme names it");
            let printed = form.print(raw).expect("a form has digits for all ids of its scheme");
            let again = form.parse(printed.as_str(), scheme.layout.bits(), scheme.name);
            assert_eq!(again, Ok(raw), "{}: {text:?} as {name} is {printed}", scheme.name);
        }
    }
});
