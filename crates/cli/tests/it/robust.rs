//! No input makes the command panic.

use crate::{mintage, mintage_reading};
use proptest::prelude::*;

fn check(output: &std::process::Output) {
    let code = output.status.code();
    assert!(matches!(code, Some(0..=3)), "ended with {code:?}");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_line_makes_inspect_panic(input in proptest::collection::vec(any::<u8>(), 0..2000)) {
        check(&mintage_reading(&["inspect", "-"], &input));
        check(&mintage_reading(&["inspect", "--json", "--together", "-"], &input));
    }

    #[test]
    fn near_ids_do_not_make_inspect_panic(
        ids in proptest::collection::vec("[0-9a-zA-Z{}:_ -]{0,40}|[0-9]{1,25}|[0-9a-f]{8}-[0-9a-f-]{20,30}", 1..200),
    ) {
        check(&mintage_reading(&["inspect", "-"], ids.join("\n").as_bytes()));
    }

    #[test]
    fn no_argument_makes_new_panic(
        value in "[ -~é]{0,24}",
        option in prop::sample::select(vec![
            "--worker", "--at", "--method", "--form", "--layout", "--epoch", "--tick", "--namespace", "--data", "-n",
        ]),
        scheme in prop::sample::select(vec!["snowflake", "uuid-v7", "ulid", "uuid-v8", "uuid-v5"]),
    ) {
        // A count that happens to be one would print for ever.
        prop_assume!(option != "-n" || value.trim().parse::<u64>().is_err());
        check(&mintage(&["new", scheme, option, &value]));
    }
}

#[test]
fn extreme_layouts_do_not_panic() {
    for split in
        ["64/1/1", "62/1/1", "1/62/1", "1/1/62", "t1/w1/s1", "s62/w1/t1", "99999999999/1/1", "٤١/10/12"]
    {
        for tick in ["1ns", "18446744073709551615ns", "18446744073s", "1ms"] {
            for epoch in
                ["-9999-01-01T00:00:00Z", "9999-12-31T00:00:00Z", "1970-01-01", "-9223372036854775808ms"]
            {
                let args = ["--layout", split, "--tick", tick, "--epoch", epoch];
                check(&mintage(
                    &[&["new", "snowflake", "--worker", "0", "--at", "2026-11-30"], &args[..]].concat(),
                ));
                check(&mintage(
                    &[&["inspect", "9223372036854775807", "--scheme", "snowflake"], &args[..]].concat(),
                ));
            }
        }
    }
}
