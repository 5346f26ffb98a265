//! `mintage facade`: keys, kinds, rotation, and that no key is ever shown.

use crate::{lines, mintage, mintage_reading, refusal};
use mintage::facade::KINDS;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Output;

/// A folder that goes when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mintage-{test}-{}", std::process::id()));
        fs::create_dir(&path).expect("a folder for the test");
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path of text").to_owned()
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        &self.0
    }

    /// A file of this text that its owner alone may read.
    fn private(&self, name: &str, text: &str) -> String {
        let file = self.file(name);
        fs::write(&file, text).expect("a file for the test");
        set_mode(&file, 0o600);
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn set_mode(file: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("rights to set");
}

fn mode(file: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).expect("a file").permissions().mode() & 0o7777
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

/// The secrets of a file of keys.
fn secrets(file: &str) -> Vec<String> {
    let text = fs::read_to_string(file).expect("a file of keys");
    text.lines()
        .filter_map(|line| line.strip_prefix("hex = \""))
        .map(|rest| rest.trim_end_matches('"').to_owned())
        .collect()
}

fn entry(id: &str, kind: &str, domain: &str, hex: &str, more: &str) -> String {
    format!(
        "[[key]]\nid = \"{id}\"\nkind = \"{kind}\"\ndomain = \"{domain}\"\nversion = 1\ncreated = 2026-11-30T12:00:00Z\n\
         hex = \"{hex}\"\n{more}\n"
    )
}

const KEY_128: &str = "efcdab89674523011032547698badcfe";
const KEY_256: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn vectors(file: &str) -> Vec<Value> {
    let path = format!("{}/../core/src/facade/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let json: Value = serde_json::from_str(&fs::read_to_string(path).expect("vectors")).expect("JSON");
    json["cases"].as_array().expect("cases").clone()
}

#[test]
fn a_fresh_key_is_in_a_file_of_its_owner_and_nowhere_else() {
    let folder = Folder::new("keygen");
    let mut all = BTreeSet::new();
    for (number, kind) in KINDS.iter().enumerate() {
        let file = folder.file(kind.name);
        let mut args = vec!["facade", "keygen", "--kind", kind.name, "--key-file", &file];
        if kind.default_domain.is_none() {
            assert!(refusal(&args).1.contains("--domain is missing"));
            args.extend(["--domain", "decimal:16"]);
        }
        let output = mintage(&args);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(mode(&file), 0o600);
        let hex = secrets(&file);
        assert_eq!(hex.len(), 1);
        assert_eq!(hex[0].len(), 2 * kind.key_bytes.iter().max().unwrap());
        assert!(!stdout(&output).contains(&hex[0]) && !stderr(&output).contains(&hex[0]));
        assert!(stdout(&output).contains("key k1"), "{}", stdout(&output));
        assert!(all.insert(hex[0].clone()));
        // Never overwritten.
        let before = fs::read(&file).unwrap();
        let (code, error) = refusal(&args);
        assert_eq!(code, 2);
        assert!(error.contains("--add"), "{error}");
        assert_eq!(fs::read(&file).unwrap(), before);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), number + 1);
    }
    let missing = folder.file("no/such/folder.toml");
    assert_eq!(refusal(&["facade", "keygen", "--kind", "permute", "--key-file", &missing]).0, 3);
    assert_eq!(refusal(&["facade", "keygen", "--kind", "permute", "--key-file", &missing, "--add"]).0, 3);
}

#[test]
fn rotation_keeps_old_keys_readable() {
    let folder = Folder::new("rotation");
    let file = folder.file("keys.toml");
    let keygen = ["facade", "keygen", "--kind", "permute", "--key-file", &file];
    lines(&keygen);
    let convert = |way: &str, id: &str, more: &[&str]| {
        lines(&[&["facade", way, "--kind", "permute", "--key-file", &file, id], more].concat())[0].clone()
    };
    let old = convert("encode", "42", &[]);
    lines(&[&keygen[..], &["--add"]].concat());
    let new = convert("encode", "42", &[]);
    assert_ne!(old, new);
    assert_eq!(convert("decode", &new, &[]), "42");
    assert_eq!(convert("decode", &old, &["--key-id", "k1"]), "42");
    assert_eq!(convert("encode", "42", &["--key-id", "k1"]), old);
    assert_ne!(convert("decode", &old, &[]), "42");
    // Back to the old key by a mark; a key added later stays in the second row.
    let marked = fs::read_to_string(&file).unwrap().replacen("version = 1", "current = true\nversion = 1", 1);
    fs::write(&file, marked).unwrap();
    assert_eq!(convert("encode", "42", &[]), old);
    let output = mintage(&[&keygen[..], &["--add", "--id", "2027"]].concat());
    assert!(stderr(&output).contains("k1 is marked current"), "{}", stderr(&output));
    assert_eq!(convert("encode", "42", &[]), old);
    assert_eq!(secrets(&file).len(), 3);
    assert_eq!(mode(&file), 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file is left");
    let (code, error) = refusal(&[&keygen[..], &["--add", "--id", "2027"]].concat());
    assert_eq!(code, 2);
    assert!(error.contains("another --id"), "{error}");
}

#[test]
fn keys_added_at_once_are_all_there() {
    let folder = Folder::new("at-once");
    let file = folder.file("keys.toml");
    let keygen = ["facade", "keygen", "--kind", "uuid47", "--key-file", &file];
    lines(&keygen);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| lines(&[&keygen[..], &["--add"]].concat()));
        }
    });
    let ids: BTreeSet<String> = fs::read_to_string(&file)
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix("id = "))
        .map(str::to_owned)
        .collect();
    assert_eq!(ids.len(), 9);
    assert_eq!(secrets(&file).into_iter().collect::<BTreeSet<_>>().len(), 9);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn adding_leaves_comments_and_links_and_tightens_rights() {
    let folder = Folder::new("adding");
    let real =
        folder.private("real.toml", &format!("# mine\n{}", entry("k1", "permute", "u63", KEY_256, "")));
    let link = folder.file("link.toml");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    set_mode(&real, 0o644);
    let output = mintage(&["facade", "keygen", "--kind", "permute", "--key-file", &link, "--add"]);
    assert!(output.status.success());
    assert!(stderr(&output).contains("0644"), "{}", stderr(&output));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(mode(&real), 0o600);
    let text = fs::read_to_string(&real).unwrap();
    assert!(text.starts_with("# mine\n") && text.contains("\"k1\"") && text.contains("\"k2\""));
    // Keys in another spelling of TOML can be read, but nothing can be put behind them.
    let inline =
        entry("k1", "permute", "u63", KEY_256, "").replace("[[key]]\n", "").trim().replace('\n', ", ");
    let file = folder.private("inline.toml", &format!("key = [{{ {inline} }}]\n"));
    assert_eq!(lines(&["facade", "encode", "--key-file", &file, "42"]).len(), 1);
    assert_eq!(refusal(&["facade", "keygen", "--kind", "permute", "--key-file", &file, "--add"]).0, 2);
}

#[test]
fn published_permutations_hold_from_key_file_to_output() {
    let folder = Folder::new("published");
    let mut groups: BTreeMap<(String, String), Vec<(String, String)>> = BTreeMap::new();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for case in vectors("permute_v1.json") {
        let input = &case["input"];
        let pair = (text(&input["id"]), text(&case["expect"]["facade"]));
        groups.entry((text(&input["key"]), text(&input["domain"]))).or_default().push(pair);
    }
    for ((key, domain), pairs) in groups {
        let file = folder.private("keys.toml", &entry("k1", "permute", &domain, &key, ""));
        let (ids, facades): (Vec<String>, Vec<String>) = pairs.into_iter().unzip();
        for (way, from, to) in [("encode", &ids, &facades), ("decode", &facades, &ids)] {
            let args = ["facade", way, "--kind", "permute", "--key-file", &file, "-"];
            let output = mintage_reading(&args, from.join("\n").as_bytes());
            assert!(output.status.success(), "{domain}: {}", stderr(&output));
            assert_eq!(stdout(&output).lines().collect::<Vec<_>>(), *to, "{domain}");
        }
    }
}

#[test]
fn published_samples_of_ff1_and_uuid47_hold_too() {
    let folder = Folder::new("samples");
    let mut checked = 0;
    for case in vectors("ff1.json") {
        let (input, expect) = (&case["input"], &case["expect"]);
        let (plain, radix) = (input["plaintext"].as_str().unwrap(), input["radix"].as_u64().unwrap());
        let name = match radix {
            10 => "decimal",
            16 => "hex",
            36 => "base36",
            _ => "binary",
        };
        let tweak = input["tweak"].as_str().unwrap();
        let tweak = if tweak.is_empty() { String::new() } else { format!("tweak = \"{tweak}\"") };
        let key =
            entry("k1", "ff1", &format!("{name}:{}", plain.len()), input["key"].as_str().unwrap(), &tweak);
        let file = folder.private("keys.toml", &key);
        let args = ["facade", "encode", "--kind", "ff1", "--key-file", &file, plain];
        if plain.len() == 8 || plain.len() == 128 {
            let (code, error) = refusal(&args);
            assert_eq!(code, 2);
            assert!(error.contains("1,000,000") || error.contains("too many"), "{error}");
            continue;
        }
        let cipher = expect["ciphertext"].as_str().unwrap();
        assert_eq!(lines(&args), [cipher]);
        assert_eq!(lines(&["facade", "decode", "--kind", "ff1", "--key-file", &file, cipher]), [plain]);
        checked += 1;
    }
    assert_eq!(checked, 14);
    // The C example's key, as the bytes that SipHash reads.
    let file = folder.private("keys.toml", &entry("k1", "uuid47", "uuid", KEY_128, ""));
    let (id, facade) = ("00000000-007b-7aaa-8123-456789abcdef", "b108050e-46b6-4aaa-8123-456789abcdef");
    assert_eq!(lines(&["facade", "encode", "--kind", "uuid47", "--key-file", &file, id]), [facade]);
    assert_eq!(lines(&["facade", "decode", "--kind", "uuid47", "--key-file", &file, facade]), [id]);
}

#[test]
fn a_bad_id_is_told_and_keeps_the_lines_in_step() {
    let folder = Folder::new("bad");
    let file = folder.private("keys.toml", &entry("k1", "permute", "base62:7", KEY_256, ""));
    let args = ["facade", "encode", "--kind", "permute", "--key-file", &file];
    let input = b"1\nabc\r\n\n-3\n3521614606208\n\xff\xfe\n2";
    let output = mintage_reading(&[&args[..], &["-"]].concat(), input);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    let lengths: Vec<usize> = text.lines().map(str::len).collect();
    assert_eq!(lengths, [7, 0, 0, 0, 0, 0, 7]);
    let errors = stderr(&output);
    for part in [
        "line 2, `abc`: permute: `a` at character 1 is not a decimal digit",
        "line 3, ``: permute: 0 characters given",
        "line 4, `-3`: permute: `-` at character 1",
        "line 5, `3521614606208`: permute: 3521614606208 is above the domain's largest number, 3521614606207",
        "line 6",
        "not UTF-8",
    ] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
    let output = mintage_reading(&[&args[..], &["--json", "-"]].concat(), input);
    let objects: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 7);
    assert_eq!(objects[0]["input"], "1");
    assert_eq!(objects[0]["output"].as_str(), text.lines().next());
    assert!(objects[0]["error"].is_null() && objects[1]["output"].is_null());
    assert!(objects[1]["error"].as_str().unwrap().contains("decimal digit"));
    // Ids may begin with a hyphen, options may stand behind ids.
    let output = mintage(&["facade", "encode", "1", "-3", "--key-file", &file, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output).lines().count(), 2);
    assert!(stderr(&output).contains("`-3`: permute"), "{}", stderr(&output));
}

#[test]
fn uuid47_refuses_other_versions_and_doubts_odd_times() {
    let folder = Folder::new("uuid47");
    let file = folder.private("keys.toml", &entry("k1", "uuid47", "uuid", KEY_128, ""));
    let run = |way: &str, id: &str| mintage(&["facade", way, "--kind", "uuid47", "--key-file", &file, id]);
    for (way, id, part) in [
        ("encode", "919108f7-52d1-4320-9bac-f847db4148a8", "field ver is 4, 7 expected"),
        ("decode", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "field ver is 7, 4 expected"),
        ("decode", "aaaaaaaa-bbbb-4ccc-dddd-eeeeeeeeeeee", "field var"),
        ("encode", "zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz", "hex digit"),
    ] {
        let output = run(way, id);
        assert_eq!(output.status.code(), Some(1), "{id}");
        assert!(stderr(&output).contains(part), "{id}: {}", stderr(&output));
    }
    // A version 4 UUID that no facade made.
    let output = run("decode", "919108f7-52d1-4320-9bac-f847db4148a8");
    assert!(output.status.success());
    assert_eq!(stdout(&output), "f886593c-463e-7320-9bac-f847db4148a8\n");
    assert!(stderr(&output).contains("1 of 1 decoded ids"), "{}", stderr(&output));
    let facade = stdout(&run("encode", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"));
    assert!(run("decode", facade.trim()).stderr.is_empty());
    // The trap of PostgreSQL's spelling is named, and the key isn't shown.
    let file =
        folder.private("pg.toml", &entry("k1", "uuid47", "uuid", "0123456789abcdef:fedcba9876543210", ""));
    let (code, error) = refusal(&["facade", "encode", "--key-file", &file, "x"]);
    assert_eq!(code, 2);
    assert!(error.contains("PostgreSQL") && !error.contains("0123456789"), "{error}");
}

#[test]
fn which_key_is_meant_must_be_clear() {
    let folder = Folder::new("choice");
    let text = [
        entry("a", "permute", "u63", KEY_256, ""),
        entry("b", "permute", "base62:7", KEY_256, ""),
        entry("c", "uuid47", "uuid", KEY_128, ""),
    ];
    let file = folder.private("keys.toml", &text.concat());
    for (more, part) in [
        (&[][..], "permute u63 and for"),
        (&["--kind", "permute"], "permute u63 and for permute base62:7"),
        (&["--kind", "ff1"], "no key for ff1"),
        (&["--kind", "permute", "--domain", "u64"], "no key for permute u64"),
        (&["--key-id", "d"], "there are: a, b, c"),
        (&["--key-id", "c", "--kind", "permute"], "key c is for uuid47 uuid, not for permute"),
        (&["--kind", "rot13"], "permute, uuid47, ff1"),
        (&["--domain", "u65"], "base62:7"),
    ] {
        let (code, error) = refusal(&[&["facade", "encode", "1", "--key-file", &file], more].concat());
        assert_eq!(code, 2, "{more:?}: {error}");
        assert!(error.contains(part), "{more:?}: {error}");
    }
    for more in [&["--domain", "u63"][..], &["--key-id", "b"], &["--kind", "permute", "--domain", "base62:7"]]
    {
        assert_eq!(lines(&[&["facade", "encode", "1", "--key-file", &file], more].concat()).len(), 1);
    }
    let two = [
        entry("a", "permute", "u63", KEY_256, "current = true"),
        entry("b", "permute", "u63", KEY_256, "current = true"),
    ];
    let file = folder.private("two.toml", &two.concat());
    let (code, error) = refusal(&["facade", "encode", "1", "--key-file", &file]);
    assert_eq!(code, 2);
    assert!(error.contains("a, b are all marked current"), "{error}");
    assert_eq!(refusal(&["facade", "encode", "1", "--key-file", &folder.file("none.toml")]).0, 3);
    assert_eq!(refusal(&["facade", "encode", "1"]).0, 2);
}

#[test]
fn loose_rights_are_warned_of() {
    let folder = Folder::new("rights");
    let file = folder.private("keys.toml", &entry("k1", "permute", "u63", KEY_256, ""));
    let encode = || mintage(&["facade", "encode", "--key-file", &file, "1"]);
    assert!(encode().stderr.is_empty());
    for loose in [0o640, 0o604, 0o660, 0o644, 0o777] {
        set_mode(&file, loose);
        let output = encode();
        assert!(output.status.success());
        let warning = stderr(&output);
        assert!(warning.contains(&format!("mode {loose:04o}")) && warning.contains("chmod 600"), "{warning}");
    }
    set_mode(&file, 0o400);
    assert!(encode().stderr.is_empty());
}

#[test]
fn wrong_files_of_keys_are_told_with_line_and_field() {
    let folder = Folder::new("wrong");
    let good = entry("k1", "permute", "u63", KEY_256, "");
    let cases = [
        (good.replace("version = 1", "version = 2"), "version 2 is not known, 1 expected"),
        (good.replace("version = 1\n", ""), "version is missing"),
        (good.replace("version = 1", "version = \"1\""), "version: a whole number"),
        (good.replace("u63", "u65"), "line 4, column 10: domain: not a domain"),
        (good.replace("u63", "decimal:5"), "at least 6 expected"),
        (good.replace("u63", "base62:22"), "at most 21 expected"),
        (good.replace("u63", "uuid"), "does not take the domain uuid"),
        (good.replace("permute", "rot13"), "line 3, column 8: facade: no such kind"),
        (good.replace(KEY_256, KEY_128), "the key has 16 bytes, 32 expected"),
        (good.replace(KEY_256, &KEY_256[1..]), "63 hex digits, an even number"),
        (good.replace("1f\"", "1g\""), "character 64 of the key is not a hex digit"),
        (good.replace("2026-11-30T12:00:00Z", "2026-11-30"), "created: a time with an offset"),
        (good.replace("hex =", "secret ="), "line 7, column 1: none of id, kind"),
        (good.replace("\"k1\"", "\"k 1\""), "a key id has 1 to 64"),
        (good.replace("\"k1\"", "7"), "id: text in quotes"),
        (format!("{good}{good}"), "two keys have this id"),
        (format!("{good}tweak = \"00\"\n"), "a tweak of 1 bytes given, at most 0"),
        (format!("{good}current = 1\n"), "true or false"),
        (good.replace("[[key]]", "[[keys]]"), "only [[key]] tables"),
        (good.replace("[[key]]", "[key]"), "only [[key]] tables"),
        (good.replace("1f\"", "1f"), "line 7, column"),
        (KEY_256.to_owned(), "not TOML"),
        (String::new(), "no key; `mintage facade keygen --add`"),
    ];
    for (text, part) in cases {
        let file = folder.private("keys.toml", &text);
        let (code, error) = refusal(&["facade", "encode", "--key-file", &file, "1"]);
        assert_eq!(code, 2, "{text}: {error}");
        assert!(error.contains(part), "{part}: {error}");
        assert_shows_no_part(&error);
    }
    let file = folder.file("keys.toml");
    fs::write(&file, vec![b'#'; (1 << 20) + 1]).unwrap();
    assert_eq!(refusal(&["facade", "encode", "--key-file", &file, "1"]).0, 2);
    fs::write(&file, b"\xff\xfe").unwrap();
    assert_eq!(refusal(&["facade", "encode", "--key-file", &file, "1"]).0, 3);
    assert_eq!(refusal(&["facade", "encode", "--key-file", folder.path().to_str().unwrap(), "1"]).0, 3);
}

/// No six digits of the key that stand together.
fn assert_shows_no_part(shown: &str) {
    for key in [KEY_256, KEY_128] {
        for at in 0..=key.len() - 6 {
            assert!(!shown.contains(&key[at..at + 6]), "{shown}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_to_a_file_of_keys_shows_a_key(
        at in any::<prop::sample::Index>(),
        cut in 0usize..12,
        put in "[\"'\\[\\]={}#\\\\a-z0-9\n.,-]{0,6}",
    ) {
        let folder = Folder::new(&format!("damage-{:?}", std::thread::current().id()));
        let mut text = entry("k1", "permute", "u63", KEY_256, "") + &entry("k2", "uuid47", "uuid", KEY_128, "");
        let at = at.index(text.len());
        text.replace_range(at..(at + cut).min(text.len()), &put);
        let file = folder.private("keys.toml", &text);
        for args in [&["encode", "--kind", "permute", "1"][..], &["keygen", "--kind", "uuid47", "--add"]] {
            let output = mintage(&[&["facade"], args, &["--key-file", &file]].concat());
            prop_assert!(matches!(output.status.code(), Some(0..=3)));
            assert_shows_no_part(&stdout(&output));
            assert_shows_no_part(&stderr(&output));
        }
    }
}

#[test]
fn the_documented_table_is_that_of_the_kinds() {
    let path = format!("{}/../../docs/facades.md", env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(path).unwrap();
    for kind in KINDS {
        let row = format!("| `{}` | {} | {} | {} |", kind.name, kind.hides, kind.from, kind.not);
        assert!(page.contains(&row), "docs/facades.md lacks the row\n{row}");
    }
}
