//! `mintage token` and `mintage sqids`, and the examples of all help texts about public forms.

use crate::facade::Folder;
use crate::{lines, mintage, mintage_reading, refusal};
use serde_json::Value;
use std::collections::HashSet;
use std::process::Command;

#[test]
fn tokens_are_as_long_as_they_must_be_and_never_repeat() {
    let is_base62 = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric());
    for (args, length) in [
        (&[][..], 22),
        (&["--bits", "256"], 43),
        (&["--form", "base64url"], 22),
        (&["--bits", "256", "--form", "base64url"], 43),
        (&["--checksum"], 28),
        (&["--prefix", "sk_live", "--checksum"], 36),
        (&["--prefix", "ghp_", "--bits", "178", "--checksum"], 40),
    ] {
        let tokens = lines(&[&["token", "-n", "500"], args].concat());
        assert_eq!(tokens.iter().collect::<HashSet<_>>().len(), 500);
        for token in &tokens {
            assert_eq!(token.len(), length, "{args:?}");
            assert!(args.contains(&"base64url") || is_base62(&token.replace('_', "")));
        }
        if args.contains(&"--checksum") {
            let check = |extra: &[&str], input: &str| {
                mintage_reading(&[&["token", "--check"], extra].concat(), input.as_bytes())
            };
            let output = check(&[], &tokens.join("\n"));
            assert!(output.status.success());
            let text = String::from_utf8(output.stdout).unwrap();
            assert_eq!(text.lines().count(), 500);
            assert!(tokens.iter().all(|token| !text.contains(token.as_str())), "a token is shown");
            let mut damaged = tokens[0].clone();
            damaged.replace_range(length - 8..length - 7, "!");
            let (shorter, prefixed) = (&tokens[0][..length - 1], format!("a-b_{}", tokens[0]));
            for wrong in [&damaged, shorter, &prefixed, "", "hello_world"] {
                let output = check(&["--json"], &format!("{}\n{wrong}\n", tokens[1]));
                assert_eq!(output.status.code(), Some(1), "{wrong}");
                let text = String::from_utf8(output.stdout).unwrap();
                let objects: Vec<Value> =
                    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
                assert_eq!(objects[0], serde_json::json!({ "line": 1, "valid": true }));
                assert_eq!(objects[1]["valid"], false);
                assert!(wrong.is_empty() || !text.contains(wrong), "a token is shown");
            }
        }
    }
    let json: Value = serde_json::from_str(&lines(&["token", "--json"])[0]).unwrap();
    assert_eq!(json["token"].as_str().unwrap().len(), 22);
}

#[test]
fn weak_tokens_and_wrong_prefixes_are_refused() {
    for (args, part) in [
        (&["--bits", "127"][..], "128 to 4096 expected: fewer can be guessed"),
        (&["--bits", "0"], "128 to 4096"),
        (&["--bits", "4097"], "128 to 4096"),
        (&["--bits", "-1"], "--bits"),
        (&["--prefix", "sk-live"], "character 3 of the prefix"),
        (&["--prefix", "clé"], "character 3 of the prefix"),
        (&["--prefix", ""], "1 to 32"),
        (&["--prefix", "_"], "1 to 32"),
        (&["--form", "hex"], "base62, base64url"),
        (&["--check", "-n", "2"], "cannot be used with"),
        (&["--check"], "there was none"),
        // A token in the arguments would be in every list of processes and in the shell's history.
        (&["--check", "sk_live_abc"], "unexpected argument"),
    ] {
        let (code, error) = refusal(&[&["token"], args].concat());
        assert_eq!(code, 2, "{args:?}: {error}");
        assert!(error.contains(part), "{args:?}: {error}");
    }
    let other = mintage_reading(&["token", "--check", "--prefix", "sk_test"], b"sk_live_abc\n");
    assert_eq!(other.status.code(), Some(1));
    assert!(String::from_utf8(other.stdout).unwrap().contains("another prefix"));
}

/// The options of a case.
fn options(case: &Value, folder: &Folder) -> Vec<String> {
    let (options, mut args) = (&case["input"]["options"], Vec::new());
    let known = ["alphabet", "min_length", "blocklist"];
    for name in options.as_object().into_iter().flatten().map(|(name, _)| name) {
        assert!(known.contains(&name.as_str()), "an option that no test knows: {name}");
    }
    if let Some(alphabet) = options["alphabet"].as_str() {
        args.extend(["--alphabet".to_owned(), alphabet.to_owned()]);
    }
    if let Some(length) = options["min_length"].as_u64() {
        args.extend(["--min-length".to_owned(), length.to_string()]);
    }
    if let Some(words) = options["blocklist"].as_array() {
        let words: Vec<&str> = words.iter().map(|word| word.as_str().expect("a word")).collect();
        let file = folder.file("words");
        std::fs::write(&file, words.join("\n")).expect("a file of words");
        args.extend(["--blocklist".to_owned(), file]);
    }
    args
}

#[test]
fn sqids_are_those_of_the_specification() {
    let folder = Folder::new("sqids");
    let document: Value = serde_json::from_str(include_str!("../vectors/sqids.json")).unwrap();
    let cases = document["cases"].as_array().unwrap();
    let numbers = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(ToString::to_string).collect()
    };
    let run = |way: &str, options: &[String], ids: &[String]| {
        let mut args = vec!["sqids", way];
        args.extend(options.iter().chain(ids).map(String::as_str));
        let output = mintage(&args);
        (
            output.status.code().unwrap(),
            String::from_utf8(output.stdout).unwrap().trim_end_matches('\n').to_owned(),
        )
    };
    for case in cases {
        let (kind, input, expect) = (case["kind"].as_str().unwrap(), &case["input"], &case["expect"]);
        let options = options(case, &folder);
        let is_spelled = |id: &str| {
            let any = [&options[..], &["--any-spelling".to_owned()]].concat();
            run("decode", &any, &[id.to_owned()])
        };
        match kind {
            "encode_decode" | "encode_decode_u64" | "min_length" | "blocklist" => {
                let (given, id) = (numbers(&input["numbers"]), expect["id"].as_str().unwrap());
                assert_eq!(run("encode", &options, &given), (0, id.to_owned()), "{case}");
                assert_eq!(run("decode", &options, &[id.to_owned()]), (0, given.join(" ")), "{case}");
                for (name, value) in expect.as_object().unwrap() {
                    match name.as_str() {
                        "id" => {}
                        // What the blocklist keeps from being written is read when that is asked for.
                        "also_decodes" | "without_blocklist" => {
                            let blocked = value.as_str().unwrap();
                            assert_eq!(is_spelled(blocked), (0, given.join(" ")), "{case}");
                            assert_eq!(run("decode", &options, &[blocked.to_owned()]).0, 1, "{case}");
                        }
                        _ => panic!("{name} is checked nowhere"),
                    }
                }
            }
            "decode_blocked" => {
                let id = input["id"].as_str().unwrap();
                assert_eq!(is_spelled(id), (0, numbers(&expect["numbers"]).join(" ")), "{case}");
                assert_eq!(run("decode", &options, &[id.to_owned()]).0, 1, "{case}");
            }
            "encode_empty" => {
                let output = mintage_reading(&["sqids", "encode", "-"], b"\n");
                assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"\n"[..]));
                assert_eq!(expect["id"], "");
            }
            // Nothing is decoded; a line of input gets an empty line, and the exit code says that it isn't a sqid.
            "decode" => {
                assert_eq!(expect["numbers"], serde_json::json!([]));
                assert_eq!(
                    run("decode", &options, &[input.as_str().unwrap().to_owned()]),
                    (1, String::new())
                );
            }
            "encode_err" => match expect["error"].as_str().unwrap() {
                "max attempts" => {
                    assert_eq!(run("encode", &options, &numbers(&input["numbers"])).0, 1, "{case}")
                }
                // The limit of JavaScript; ours is that of 64 bits.
                javascript => {
                    assert!(javascript.contains("64-bit ports"), "{case}");
                    let (code, id) = run("encode", &[], &numbers(input));
                    assert_eq!(code, 0);
                    assert_eq!(run("decode", &[], &[id]), (0, numbers(input).join(" ")));
                    assert_eq!(run("encode", &[], &["18446744073709551616".to_owned()]).0, 1);
                }
            },
            "constructor_err" => {
                let args = match (input["alphabet"].as_str(), input["min_length"].as_i64()) {
                    (Some(alphabet), _) => ["--alphabet".to_owned(), alphabet.to_owned()],
                    (_, Some(length)) => ["--min-length".to_owned(), length.to_string()],
                    _ => panic!("a case that no test knows: {case}"),
                };
                assert_eq!(run("encode", &args, &["1".to_owned()]).0, 2, "{case}");
            }
            // The crate's own step, seen from outside: it keeps the alphabet shuffled.
            "internal_shuffle" => {
                let alphabet = input.as_str().unwrap().chars().collect();
                let shown = format!("{:?}", sqids::Sqids::builder().alphabet(alphabet).build().unwrap());
                let shuffled: Vec<char> = expect["shuffled"].as_str().unwrap().chars().collect();
                assert!(shown.contains(&format!("alphabet: {shuffled:?}")), "{case}: {shown}");
            }
            "default_blocklist" => {
                assert_eq!(Value::from(sqids::default_blocklist().len()), expect["entries"]);
            }
            _ => panic!("a kind that no test knows: {case}"),
        }
    }
    for case in document["hard_cases"].as_array().unwrap() {
        let (id, expect) = (case["input"].as_str().unwrap(), &case["expect"]);
        let output = mintage_reading(&["sqids", "decode", "-"], format!("{id}\n").as_bytes());
        for (name, value) in expect.as_object().unwrap() {
            match name.as_str() {
                "canonical" => assert_eq!(Value::from(output.status.success()), *value, "{case}"),
                "numbers" => assert_eq!(output.stdout, b"\n", "{case}"),
                // Whether an unknown word may be a sqid isn't this command's question: it is told that it is one.
                "low_rank" => assert!(output.status.success(), "{case}"),
                _ => panic!("{name} is checked nowhere"),
            }
        }
    }
    assert_eq!(cases.len(), 94);
}

#[test]
fn sqids_tell_what_they_are_not() {
    for args in [&["sqids", "--help"][..], &["sqids", "encode", "--help"]] {
        assert!(lines(args).join(" ").contains("It hides nothing"));
    }
    // 5 and 2^64 - 1, and then digits that make the second number too large: the crate would leave it out.
    assert_eq!(lines(&["sqids", "encode", "5", "18446744073709551615"]), ["p8kkDSrgewGJ1f"]);
    for more in ["a", "Z", "0", "aa", "zz", "a0", "aaaaaaaa"] {
        let output = mintage(&["sqids", "decode", "--any-spelling", &format!("p8kkDSrgewGJ1f{more}")]);
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(1), &b"\n"[..]), "{more}");
    }
    let json: Value =
        serde_json::from_str(&lines(&["sqids", "decode", "--json", "eIkvoXH40Lmd"])[0]).unwrap();
    assert_eq!(json["output"], serde_json::json!(["18446744073709551615"]));
    let output = mintage_reading(&["sqids", "encode", "-"], b"1 2 3\n\n1,2\n-1\n+1\n5\n");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "86Rf07\n\n\n\n\nuw\n");
    assert_eq!(refusal(&["sqids", "encode", "1", "-"]).0, 2);
    assert_eq!(refusal(&["sqids", "encode", "--alphabet", "aab", "1"]).0, 2);
    assert_eq!(refusal(&["sqids", "encode", "--blocklist", "/no/such/file", "1"]).0, 3);
}

#[test]
fn every_example_of_the_help_texts_runs() {
    let folder = Folder::new("examples");
    let write =
        |name: &str, text: &str| std::fs::write(folder.file(name), text).expect("a file for the examples");
    write("psql", "#!/bin/sh\nprintf '1\\n2\\n'\n");
    let executable = Command::new("chmod").args(["+x", &folder.file("psql")]).status().unwrap();
    assert!(executable.success());
    write("numbers.txt", "1 2 3\n42\n");
    write("sqids.txt", "86Rf07\n");
    write("tokens.txt", &lines(&["token", "--prefix", "sk_live", "--checksum"]).join("\n"));
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_mintage")).parent().unwrap();
    let path = format!("{}:{}:{}", folder.path().display(), binary.display(), std::env::var("PATH").unwrap());
    let run = |line: &str| {
        let shell =
            Command::new("sh").args(["-c", line]).current_dir(folder.path()).env("PATH", &path).output();
        let output = shell.unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{line} prints nothing");
    };
    // Keys first, since the other examples read them.
    let commands = [
        "facade keygen",
        "facade encode",
        "facade decode",
        "facade",
        "token",
        "sqids encode",
        "sqids decode",
        "sqids",
    ];
    for command in commands {
        let args: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = lines(&args).join("\n");
        let (_, examples) =
            help.split_once("Examples:\n").unwrap_or_else(|| panic!("{command} has no examples"));
        if command == "facade encode" {
            run("mintage facade keygen --kind uuid47 --key-file keys.toml --add");
            run(
                "test -e uuid-keys.toml || mintage facade keygen --kind uuid47 --key-file uuid-keys.toml; cat uuid-keys.toml",
            );
            run(
                "mintage facade encode --kind permute --key-id k1 --key-file keys.toml 1 > facades.txt; cat facades.txt",
            );
        }
        if command == "facade" {
            std::fs::remove_file(folder.file("keys.toml")).unwrap();
            std::fs::remove_file(folder.file("uuid-keys.toml")).unwrap();
        }
        assert!(examples.lines().count() >= 2);
        for line in examples.lines() {
            assert!(line.starts_with("  "), "{command}: an example is broken into two lines: {line}");
            run(line.trim());
        }
    }
}
