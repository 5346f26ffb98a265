//! The text encodings of bwmarrin/snowflake.

use super::{Case, unhex, value};
use mintage::schemes::snowflake_bwmarrin::{BASE2, BASE36, parse_base64, print_base64};
use mintage::{Error, Settings, SnowflakeBwmarrin, TextForm};

pub(super) fn run(case: &Case<'_>) {
    let scheme = SnowflakeBwmarrin::SCHEME;
    let form = |name: &str| scheme.form(name).unwrap();
    let parse = |form: &TextForm| form.parse(case.text(), 64, scheme.name).and_then(|raw| scheme.check(raw));
    let reads = |form: &TextForm| {
        let raw = parse(form).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(form.print(raw).unwrap().as_str(), case.text());
        case.same("id", scheme.print(raw).as_str());
    };
    match case.kind {
        "decode" => {
            let raw = case.read(scheme);
            let node = value(scheme, raw, "node");
            for key in case.expect.keys() {
                match key.as_str() {
                    // Twitter's halves of the node.
                    "datacenter" => case.same(key, u64::try_from(node >> 5).unwrap()),
                    "worker" => case.same(key, u64::try_from(node & 31).unwrap()),
                    _ => case.usual(key, scheme, raw, &[("node10", "node"), ("sequence", "step")]),
                }
            }
        }
        "base2_err" => case.fails("error", parse(&BASE2)),
        "base36_parse" => reads(&BASE36),
        "base36_err" => case.fails("error", parse(&BASE36)),
        "base64_of_decimal_text" => {
            let id = parse_base64(case.text()).unwrap();
            assert_eq!(print_base64(id), case.text());
            case.same("id", id.to_string());
        }
        "base64_err" => case.fails_for(
            "error",
            parse_base64(case.text()),
            &[("padding", |error| matches!(error, Error::Length { found: 26, .. }))],
        ),
        "int_bytes" => {
            case.same("id", SnowflakeBwmarrin::from_bytes(&unhex(case.text())).unwrap().to_string());
        }
        "json_err" => case.fails("error", SnowflakeBwmarrin::parse(case.text())),
        "bytes_ascii" => {
            case.same("id", SnowflakeBwmarrin::parse(case.text()).unwrap().to_string());
        }
        "zbase32_err" => {
            case.fails("error", parse(&form("z-base-32")));
            case.fails("error", SnowflakeBwmarrin::parse(case.text()));
        }
        "base58_flickr" => reads(&form("base58-flickr")),
        "base58_err" => {
            case.fails("error", parse(&form("base58-flickr")));
            case.fails("error", SnowflakeBwmarrin::parse(case.text()));
        }
        "string_err" => case.fails_for(
            "error",
            SnowflakeBwmarrin::parse(case.text()),
            &[("overflow i64", |error| matches!(error, Error::TooLarge { .. }))],
        ),
        "node_range" => {
            let settings = Settings { worker: case.input.as_u64(), ..Settings::default() };
            let made = scheme.generator(&settings);
            for key in case.expect.keys() {
                match key.as_str() {
                    "ok" => case.same(key, made.is_ok()),
                    "error" => case.same(key, matches!(made, Err(Error::WorkerRange { max: 1023, .. }))),
                    _ => case.other(key),
                }
            }
        }
        "hard" => {
            let _: SnowflakeBwmarrin = SnowflakeBwmarrin::parse(case.text()).unwrap();
            case.expect.keys().for_each(|key| case.other(key));
        }
        _ => case.unknown(),
    }
}
