//! On PostgreSQL.

use crate::{EACH, WRITERS, assert_dense, by_a_space_of_scopes, scope, script};
use mintage_sql::Engine;
use mintage_testkit::servers::postgres::Postgres;
use tokio_postgres::{Client, NoTls};

async fn connected(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A database with the functions over this table.
fn database(server: &Postgres, table: &str) -> String {
    let database = server.database();
    server.query(&database, &script(Engine::Postgres, table).text()).unwrap();
    database
}

async fn number(client: &Client, sql: &str) -> i64 {
    client.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_writers_take_numbers_without_gaps_though_some_roll_back_and_a_space_of_scopes_agrees() {
    let Some(server) = Postgres::shared() else { return };
    let database = database(&server, "scope_counter");
    let url = server.url(&database);
    let table = "CREATE TABLE issue (scope text, number bigint, PRIMARY KEY (scope, number))";
    connected(&url).await.batch_execute(table).await.unwrap();
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let mut client = connected(&url).await;
        writers.push(tokio::spawn(async move {
            let mut turn = 0;
            let mut rolled_back = 0;
            while turn < EACH {
                let scope = scope(writer + turn);
                let transaction = client.transaction().await.unwrap();
                let insert = "INSERT INTO issue VALUES ($1, scope_counter_next($1))";
                transaction.execute(insert, &[&scope]).await.unwrap();
                // The first of all too.
                if (turn + rolled_back) % 4 == 0 {
                    rolled_back += 1;
                    transaction.rollback().await.unwrap();
                } else {
                    transaction.commit().await.unwrap();
                    turn += 1;
                }
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let rows = connected(&url).await.query("SELECT scope, number FROM issue", &[]).await.unwrap();
    let taken = rows.iter().map(|row| (row.get(0), u64::try_from(row.get::<_, i64>(1)).unwrap())).collect();
    assert_dense(taken);
    assert_dense(by_a_space_of_scopes(&url).await);
}

#[tokio::test]
async fn the_first_two_of_each_scope_are_one_and_two_and_several_follow_each_other() {
    let Some(server) = Postgres::shared() else { return };
    // A table whose name wants to end its quotes.
    let database = database(&server, "n\"; DROP--");
    let client = connected(&server.url(&database)).await;
    let next = |scope: &str, size: u32| format!("SELECT \"n\"\"; DROP--_next\"('{scope}', {size})");
    for scope in ["a", "b", "a "] {
        assert_eq!((number(&client, &next(scope, 1)).await, number(&client, &next(scope, 1)).await), (1, 2));
    }
    assert_eq!((number(&client, &next("a", 10)).await, number(&client, &next("a", 1)).await), (3, 13));
    let bump = |scope: &str, to: i64| format!("SELECT \"n\"\"; DROP--_bump\"('{scope}', {to})");
    assert_eq!(number(&client, &bump("old", 500)).await, 500);
    assert_eq!((number(&client, &bump("a", 5)).await, number(&client, &next("old", 1)).await), (14, 500));
    for bad in [next("a", 0), bump("a", 0)] {
        let refused = client.query_one(&bad, &[]).await.unwrap_err();
        assert_eq!(refused.code().unwrap().code(), "22023", "{bad}");
    }
    let full = client.query_one(&bump("full", i64::MAX), &[]).await;
    assert!(full.is_ok() && client.query_one(&next("full", 1), &[]).await.is_err());
    for (scope, is_one) in [
        ("", false),
        (&"x".repeat(255), true),
        (&"x".repeat(256), false),
        ("a\u{1}", false),
        ("\u{85}", false),
    ] {
        for call in [next(scope, 1), bump(scope, 9)] {
            let refused = client.query_one(&call, &[]).await.err();
            let code = refused.as_ref().and_then(|error| error.code()).map(|code| code.code());
            assert_eq!(code, if is_one { None } else { Some("22023") }, "{scope:?}: {refused:?}");
        }
        let row = format!("INSERT INTO \"n\"\"; DROP--\" VALUES ('{scope}', 1)");
        assert!(client.execute(&row, &[]).await.is_err(), "{scope:?}");
    }
    // A number that was taken and rolled back is the next one's.
    client.batch_execute(&format!("BEGIN; {}; ROLLBACK", next("c", 1))).await.unwrap();
    assert_eq!(number(&client, &next("c", 1)).await, 1);
}

#[tokio::test]
async fn neither_a_temporary_table_nor_a_path_of_schemas_leads_elsewhere() {
    let Some(server) = Postgres::shared() else { return };
    let database = database(&server, "scope_counter");
    let client = connected(&server.url(&database)).await;
    let take = "SELECT public.scope_counter_next('a')";
    assert_eq!(number(&client, take).await, 1);
    let elsewhere = "CREATE TEMP TABLE scope_counter (scope text PRIMARY KEY, next bigint); CREATE SCHEMA other; \
                     CREATE TABLE other.scope_counter (scope text PRIMARY KEY, next bigint); \
                     CREATE FUNCTION other.octet_length(text) RETURNS int LANGUAGE sql AS 'SELECT 0'; SET search_path = other, pg_catalog";
    client.batch_execute(elsewhere).await.unwrap();
    assert_eq!(number(&client, take).await, 2);
    assert_eq!(number(&client, "SELECT public.scope_counter_bump('a', 50)").await, 50);
    for table in ["pg_temp.scope_counter", "other.scope_counter"] {
        assert_eq!(number(&client, &format!("SELECT count(*) FROM {table}")).await, 0);
    }
    // The caller's own path is as it was.
    let path: String = client.query_one("SHOW search_path", &[]).await.unwrap().get(0);
    assert_eq!(path, "other, pg_catalog");
}
