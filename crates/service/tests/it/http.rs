//! HTTP.

use crate::site::Site;
use axum::body::Body;
use axum::http::Request;
use mintage::Scheme;
use mintage_service::fault::KINDS;
use mintage_service::http::{self, Manner};
use serde_json::{Value, json};
use std::collections::HashSet;
use tower::ServiceExt;

fn ids(body: &Value) -> Vec<u64> {
    body["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().parse().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_server_has_a_snowflake_space_and_a_counter() {
    let site = Site::begin().await;
    let (status, body) = site.json("POST /v1/spaces/default/ids?count=3").await;
    let three = ids(&body);
    assert!(status == 200 && three.len() == 3 && three.is_sorted(), "{body}");
    let snowflake = Scheme::by_name("snowflake").unwrap();
    assert!(three.iter().all(|id| snowflake.parse(&id.to_string()).is_ok()));
    assert_eq!(ids(&site.json("POST /v1/spaces/counter/ids?count=3").await.1), [1, 2, 3]);
    assert_eq!(ids(&site.json("POST /v1/spaces/counter/ids").await.1), [4]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_come_as_json_as_lines_and_as_bytes() {
    let site = Site::begin().await;
    let (_, head, body) =
        site.asked("POST /v1/spaces/counter/ids?count=2", "Accept: text/plain\r\n", "").await;
    assert!(head.contains("content-type: text/plain"), "{head}");
    assert_eq!(body, b"1\n2\n");
    let bytes = "Accept: application/octet-stream\r\n";
    let (_, _, body) = site.asked("POST /v1/spaces/counter/ids?count=2", bytes, "").await;
    assert_eq!(body, [[0, 0, 0, 0, 0, 0, 0, 3], [0, 0, 0, 0, 0, 0, 0, 4]].concat());
    let (_, _, body) = site.asked("GET /v1/ids/uuid-v7?count=5", bytes, "").await;
    assert_eq!(body.len(), 5 * 16);
    let (_, _, body) = site.asked("GET /v1/ids/ksuid?count=2", bytes, "").await;
    assert_eq!(body.len(), 2 * 20);
    let (_, _, body) = site.asked("GET /v1/ids/ulid", "Accept: text/html, text/plain;q=0.5\r\n", "").await;
    assert!(Scheme::by_name("ulid").unwrap().parse(std::str::from_utf8(&body).unwrap().trim_end()).is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_clients_at_once_get_no_id_twice() {
    let site = std::sync::Arc::new(Site::begin().await);
    let mut clients = Vec::new();
    for client in 0..8 {
        let site = std::sync::Arc::clone(&site);
        let space = if client % 2 == 0 { "default" } else { "counter" };
        clients.push(tokio::spawn(async move {
            let mut all = Vec::new();
            for count in [1, 7, 500, 1, 3_000] {
                all.extend(ids(&site.json(&format!("POST /v1/spaces/{space}/ids?count={count}")).await.1));
            }
            all
        }));
    }
    let mut all = Vec::new();
    for client in clients {
        all.extend(client.await.unwrap());
    }
    assert_eq!(all.len(), 8 * 3_509);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_a_problem_with_a_page() {
    let site = Site::begin().await;
    for (head, slug) in [
        ("GET /v2", "no-such-route"),
        ("GET /v1/spaces/default/ids", "wrong-method"),
        ("POST /v1/spaces/defautl/ids", "no-such-space"),
        ("GET /v1/spaces/nope", "no-such-space"),
        ("GET /v1/ids/uuid7x", "no-such-scheme"),
        ("GET /v1/ids/snowflake-twitter", "no-such-scheme"),
        ("GET /v1/ids/uuid-v7?count=0", "bad-request"),
        ("GET /v1/ids/uuid-v7?count=-1", "bad-request"),
        ("GET /v1/ids/uuid-v7?count=18446744073709551616", "bad-request"),
        ("POST /v1/spaces/default/ids?count=100001", "bad-request"),
        ("POST /v1/spaces/default/ids?cuont=1", "bad-request"),
        ("POST /v1/spaces/default/blocks", "wrong-kind"),
        ("POST /v1/spaces/counter/blocks?count=99999999999", "bad-request"),
        ("POST /v1/spaces/counter/scopes/42/next", "wrong-kind"),
        ("POST /v1/spaces/counter/scopes/%01/next", "bad-request"),
    ] {
        let (status, head_of, body) = site.asked(head, "", "").await;
        let body: Value = serde_json::from_slice(&body).unwrap();
        let facts = KINDS.iter().find(|facts| facts.slug == slug).unwrap();
        assert!(head_of.contains("content-type: application/problem+json"), "{head}: {head_of}");
        assert_eq!(body["type"], format!("/problems/{slug}"), "{head}: {body}");
        assert_eq!((status, &body["status"]), (facts.status, &json!(facts.status)), "{head}");
        assert!(body["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{head}: {body}");
    }
    for facts in KINDS {
        let (status, _, page) = site.asked(&format!("GET /problems/{}", facts.slug), "", "").await;
        assert!(status == 200 && String::from_utf8(page).unwrap().contains("What to do"));
    }
    assert_eq!(site.asked("GET /problems/x", "", "").await.0, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spaces_are_made_by_a_body_of_json_and_never_by_a_name() {
    let site = Site::begin().await;
    let made = async |body: &str| {
        let (status, _, answer) =
            site.asked("POST /v1/spaces", "Content-Type: application/json\r\n", body).await;
        (status, serde_json::from_slice::<Value>(&answer).unwrap())
    };
    let (status, body) =
        made(r#"{"name":"orders","snowflake":{"layout":"41/10/12","last_worker":"7"}}"#).await;
    assert!(status == 201 && body["last_worker"] == "7" && body["kind"] == "windows", "{body}");
    assert_eq!(made(r#"{"name":"orders","snowflake":{"layout":"41/10/12","last_worker":7}}"#).await.0, 200);
    assert_eq!(made(r#"{"name":"orders","block":{}}"#).await.1["type"], "/problems/space-differs");
    assert_eq!(site.json("POST /v1/spaces/orders/ids?count=2").await.1["ids"].as_array().unwrap().len(), 2);
    assert_eq!(made(r#"{"name":"issues","scope":{}}"#).await.0, 201);
    assert_eq!(ids(&site.json("POST /v1/spaces/issues/scopes/42/next").await.1), [1]);
    assert_eq!(ids(&site.json("POST /v1/spaces/issues/scopes/42/next?count=3").await.1), [2, 3, 4]);
    assert_eq!(ids(&site.json("POST /v1/spaces/issues/scopes/a%2Fb/next").await.1), [1]);
    assert_eq!(made(r#"{"name":"odd","ticket":{"step":2,"offset":1}}"#).await.0, 201);
    assert_eq!(ids(&site.json("POST /v1/spaces/odd/ids").await.1), [1]);
    assert_eq!(ids(&site.json("POST /v1/spaces/odd/ids").await.1), [3]);
    assert_eq!(site.json("POST /v1/spaces/odd/ids?count=2").await.1["type"], "/problems/bad-request");
    for bad in [
        "",
        "{}",
        r#"{"name":"x"}"#,
        r#"{"name":"x","block":{},"scope":{}}"#,
        r#"{"name":"A b","block":{}}"#,
        r#"{"name":"x","block":{"frist":1}}"#,
        r#"{"name":"x","block":{"first":"1x"}}"#,
        r#"{"name":"x","snowflake":{"layout":"41/10/14"}}"#,
        r#"{"name":"x","snowflake":{"layout":"ulid"}}"#,
        r#"{"name":"x","snowflake":{"layout":"41/10/12","last_worker":1024}}"#,
    ] {
        let (status, body) = made(bad).await;
        assert!(status == 400 && body["type"] == "/problems/bad-request", "{bad}: {body}");
    }
    let form =
        site.asked("POST /v1/spaces", "Content-Type: text/plain\r\n", r#"{"name":"y","block":{}}"#).await;
    assert_eq!(form.0, 400);
    let names: Vec<Value> = site.json("GET /v1/spaces").await.1["spaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].clone())
        .collect();
    assert_eq!(names, ["counter", "default", "issues", "odd", "orders"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_belongs_to_who_asked() {
    let site = Site::begin().await;
    let (_, block) = site.json("POST /v1/spaces/counter/blocks?count=1000").await;
    assert_eq!(block, json!({ "start": "101", "end": "1101", "step": "1" }));
    let next = ids(&site.json("POST /v1/spaces/counter/ids?count=300").await.1);
    assert!(next.iter().all(|value| !(101..1_101).contains(value)), "{next:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_id_is_read() {
    let site = Site::begin().await;
    let (_, body) = site.json("GET /v1/inspect/01ARZ3NDEKTSV4RRFFQ69G5FAV").await;
    assert_eq!(body["readings"][0]["scheme"], "ulid");
    assert_eq!(body["readings"][0]["time"], "2016-07-30T23:54:10.259Z");
    let (status, body) = site.json("GET /v1/inspect/%20").await;
    assert!(status == 200 && body["readings"] == json!([]), "{body}");
    assert_eq!(site.json(&format!("GET /v1/inspect/{}", "a".repeat(300))).await.0, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_held_is_given_back_at_the_end_and_the_next_server_goes_on() {
    let site = Site::begin().await;
    let first = ids(&site.json("POST /v1/spaces/counter/ids?count=3").await.1);
    let id = ids(&site.json("POST /v1/spaces/default/ids").await.1)[0];
    assert_eq!(site.asked("GET /healthz", "", "").await.0, 200);
    assert_eq!(site.asked("GET /readyz", "", "").await.2, b"ready\n");
    let again = Site::in_folder(site.end().await).await;
    assert_eq!(first, [1, 2, 3]);
    assert_eq!(ids(&again.json("POST /v1/spaces/counter/ids").await.1), [4]);
    assert!(ids(&again.json("POST /v1/spaces/default/ids").await.1)[0] > id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_on_one_store_share_its_spaces() {
    let site = Site::begin().await;
    let twin = Site::beside(&site).await;
    let mut all = Vec::new();
    for _ in 0..5 {
        for (server, space) in
            [(&site, "default"), (&twin, "default"), (&site, "counter"), (&twin, "counter")]
        {
            all.extend(ids(&server.json(&format!("POST /v1/spaces/{space}/ids?count=50")).await.1));
        }
    }
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 1_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_space_that_is_dropped_is_gone_and_one_that_is_made_again_is_found() {
    let site = Site::begin().await;
    let made = async || {
        let body = r#"{"name":"a","block":{}}"#;
        site.asked("POST /v1/spaces", "Content-Type: application/json\r\n", body).await.0
    };
    assert_eq!(made().await, 201);
    assert_eq!(ids(&site.json("POST /v1/spaces/a/ids").await.1), [1]);
    assert_eq!(site.json("DELETE /v1/store/spaces/a").await.0, 200);
    // What memory has goes on; what must be claimed shows that it is gone.
    let gone = site.json("POST /v1/spaces/a/ids?count=1000").await;
    assert_eq!((gone.0, &gone.1["type"]), (404, &json!("/problems/no-such-space")));
    assert_eq!(made().await, 201);
    let again = ids(&site.json("POST /v1/spaces/a/ids").await.1)[0];
    assert!(again > 100, "values of the old one came again: {again}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_application_answers_in_process_as_over_a_socket() {
    let site = Site::begin().await;
    let manner = Manner { patience: std::time::Duration::from_secs(10), ..Manner::default() };
    let app = http::app(site.api(), manner);
    for (path, status) in [
        ("/healthz", 200),
        ("/v1/spaces/default", 200),
        ("/v1/spaces/nope", 404),
        ("/v2", 404),
        ("/metrics", 200),
    ] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answered = app.clone().oneshot(request).await.unwrap();
        let (over_socket, ..) = site.asked(&format!("GET {path}"), "", "").await;
        assert_eq!((answered.status().as_u16(), over_socket), (status, status), "{path}");
    }
}
