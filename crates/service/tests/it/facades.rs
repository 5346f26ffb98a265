//! Facades over HTTP.

use crate::site::Site;
use mintage::facade::{Key, Kind};
use mintage::{Clock, SystemClock, SystemEntropy};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A file of keys as `mintage facade keygen` makes them.
fn write(folder: &Path, name: &str, keys: &[Key]) {
    let text: String = keys
        .iter()
        .map(|key| {
            let created = key.created().rfc3339(0).unwrap().to_string();
            let hex = key.secret().to_hex();
            format!(
                "[[key]]\nid = \"{}\"\nkind = \"{}\"\ndomain = \"{}\"\nversion = {}\ncreated = {created}\nhex = \"{}\"\n",
                key.id(),
                key.kind().name,
                key.domain(),
                key.version(),
                *hex
            )
        })
        .collect();
    fs::write(folder.join(format!("{name}.toml")), text).unwrap();
}

fn key(id: &str, domain: &str) -> Key {
    let kind = Kind::by_name("permute").unwrap();
    Key::generate(id, kind, domain.parse().unwrap(), SystemClock.now(), &SystemEntropy).unwrap()
}

async fn asked(site: &Site, path: &str, body: &Value) -> (u16, Value) {
    let head = format!("POST /v1/facades/{path}");
    let (status, _, body) = site.asked(&head, "Content-Type: application/json\r\n", &body.to_string()).await;
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_become_facades_and_come_back() {
    let keys = tempfile::tempdir().unwrap();
    let k1 = key("k1", "base62:7");
    let expected = k1.facade().unwrap().encode_text("42").unwrap();
    write(keys.path(), "links", &[k1]);
    let folder = keys.path().to_str().unwrap();
    let site = Site::with(tempfile::tempdir().unwrap(), &[("facades", folder)]).await;
    let (status, body) = asked(&site, "links/encode", &json!({ "ids": ["42", "43"] })).await;
    assert!(status == 200 && body["facades"][0] == expected.as_str(), "{body}");
    let (_, back) = asked(&site, "links/decode", &json!({ "facades": body["facades"] })).await;
    assert_eq!(back, json!({ "ids": ["42", "43"] }));
    for (path, sent, slug, told) in [
        ("lniks/encode", json!({ "ids": ["1"] }), "no-such-facade", "there are links"),
        ("links/encode", json!({ "ids": ["1", "x"] }), "bad-request", "number 2, \"x\""),
        ("links/encode", json!({ "ids": ["18446744073709551616"] }), "bad-request", "number 1"),
        ("links/decode", json!({ "ids": ["1"] }), "bad-request", "the body: unknown field `ids`"),
        ("links/encode", json!({ "ids": [1] }), "bad-request", "the body: "),
        ("links/decode?key_id=k9", json!({ "facades": [] }), "bad-request", "it has k1"),
        ("links/decode?key=k1", json!({ "facades": [] }), "bad-request", "key"),
    ] {
        let (_, body) = asked(&site, path, &sent).await;
        let is_told = body["detail"].as_str().is_some_and(|detail| detail.contains(told));
        assert!(body["type"] == format!("/problems/{slug}") && is_told, "{path}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_rotated_while_the_server_runs() {
    let keys = tempfile::tempdir().unwrap();
    let (k1, k2) = (key("k1", "u63"), key("k2", "u63"));
    write(keys.path(), "orders", std::slice::from_ref(&k1));
    let folder = keys.path().to_str().unwrap();
    let site = Site::with(tempfile::tempdir().unwrap(), &[("facades", folder)]).await;
    let sent = json!({ "ids": ["7"] });
    let old = asked(&site, "orders/encode", &sent).await.1["facades"][0].clone();
    assert_eq!(old, k1.facade().unwrap().encode_text("7").unwrap());
    write(keys.path(), "orders", &[k1, k2]);
    site.tells("the facades were read again").await;
    let new = asked(&site, "orders/encode", &sent).await.1["facades"][0].clone();
    assert_ne!(new, old);
    let (_, back) = asked(&site, "orders/decode?key_id=k1", &json!({ "facades": [old] })).await;
    assert_eq!(back, sent);
    fs::write(keys.path().join("orders.toml"), "hex = 'topsecret'").unwrap();
    site.tells("orders.toml: line 1, column 1: only [[key]] tables expected").await;
    assert_eq!(asked(&site, "orders/encode", &sent).await.1["facades"][0], new);
}
