//! What clients of the Redis protocol send: no bytes make the parser panic, and a command is the same however it arrives.

#![no_main]

use libfuzzer_sys::fuzz_target;

// The file itself: the service that it belongs to would bring a web server into a build of minutes.
#[allow(dead_code, unreachable_pub, missing_docs)]
#[path = "../../crates/service/src/resp.rs"]
mod resp;

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Ok(Some((words, used))) = resp::command(rest) {
        assert!(used > 0 && used <= rest.len());
        assert_eq!(resp::command(&rest[..used]), Ok(Some((words.clone(), used))));
        for cut in [1, used / 2, used - 1] {
            if cut < used {
                assert_eq!(resp::command(&rest[..cut]), Ok(None));
            }
        }
        for at in 0..words.len().min(6) {
            assert!(resp::shown(words.at(at)).is_ascii());
        }
        rest = &rest[used..];
    }
});
