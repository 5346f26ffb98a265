//! On MariaDB.

use crate::{EACH, WRITERS, assert_dense, by_a_space_of_scopes, scope, script};
use mintage_sql::Engine;
use mintage_testkit::servers::mariadb::MariaDb;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts};

async fn connected(url: &str) -> Conn {
    Conn::new(Opts::from_url(url).unwrap()).await.unwrap()
}

/// A database with the procedures over this table, made by the client program of the server.
fn database(server: &MariaDb, table: &str) -> String {
    let database = server.database();
    server.query(&database, &script(Engine::MySql, table).text()).unwrap();
    database
}

async fn next(conn: &mut Conn, scope: &str, size: i64) -> mysql_async::Result<u64> {
    conn.exec_drop("CALL scope_counter_next(?, ?, @first)", (scope, size)).await?;
    Ok(conn.query_first("SELECT @first").await?.unwrap())
}

/// Deadlocks, which a caller runs again.
fn is_deadlock(error: &mysql_async::Error) -> bool {
    matches!(error, mysql_async::Error::Server(error) if error.code == 1213)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_writers_take_numbers_without_gaps_though_some_roll_back_and_a_space_of_scopes_agrees() {
    let Some(server) = MariaDb::shared_durable() else { return };
    let database = database(&server, "scope_counter");
    let url = server.url(&database);
    let table = "CREATE TABLE issue (scope varchar(99), number bigint, PRIMARY KEY (scope, number))";
    connected(&url).await.query_drop(table).await.unwrap();
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let mut conn = connected(&url).await;
        writers.push(tokio::spawn(async move {
            let (mut turn, mut rolled_back) = (0, 0);
            while turn < EACH {
                let scope = scope(writer + turn);
                conn.query_drop("BEGIN").await.unwrap();
                let taken = async {
                    let number = next(&mut conn, &scope, 1).await?;
                    conn.exec_drop("INSERT INTO issue VALUES (?, ?)", (&scope, number)).await
                };
                let is_done = match taken.await {
                    Ok(()) => true,
                    Err(error) if is_deadlock(&error) => false,
                    Err(error) => panic!("{error}"),
                };
                // The first of all too.
                if !is_done || (turn + rolled_back) % 4 == 0 {
                    rolled_back += 1;
                    conn.query_drop("ROLLBACK").await.unwrap();
                } else {
                    conn.query_drop("COMMIT").await.unwrap();
                    turn += 1;
                }
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let taken: Vec<(String, u64)> =
        connected(&url).await.query("SELECT scope, number FROM issue").await.unwrap();
    assert_dense(taken);
    assert_dense(by_a_space_of_scopes(&url).await);
}

#[tokio::test]
async fn the_first_two_of_each_scope_are_one_and_two_and_several_follow_each_other() {
    let Some(server) = MariaDb::shared_durable() else { return };
    let database = database(&server, "scope_counter");
    let mut conn = connected(&server.url(&database)).await;
    for scope in ["a", "b", "a ", "A", "á"] {
        for expected in [1, 2] {
            assert_eq!(next(&mut conn, scope, 1).await.unwrap(), expected, "{scope}");
        }
    }
    assert_eq!(next(&mut conn, "a", 10).await.unwrap(), 3);
    assert_eq!(next(&mut conn, "a", 1).await.unwrap(), 13);
    conn.query_drop("CALL scope_counter_bump('old', 500)").await.unwrap();
    conn.query_drop("CALL scope_counter_bump('a', 5)").await.unwrap();
    assert_eq!(next(&mut conn, "old", 1).await.unwrap(), 500);
    assert_eq!(next(&mut conn, "a", 1).await.unwrap(), 14);
    for (scope, size) in [("a", 0), ("", 1), (&*"x".repeat(256), 1), ("a\tb", 1)] {
        let refused = next(&mut conn, scope, size).await.unwrap_err().to_string();
        assert!(refused.contains("without control characters and at least one number expected"), "{refused}");
    }
    assert!(conn.query_drop("INSERT INTO scope_counter VALUES ('', 1)").await.is_err());
    conn.query_drop("BEGIN").await.unwrap();
    assert_eq!(next(&mut conn, "c", 1).await.unwrap(), 1);
    conn.query_drop("ROLLBACK").await.unwrap();
    assert_eq!(next(&mut conn, "c", 1).await.unwrap(), 1);
}

/// The recipe that goes round, on an empty table: its first two numbers are one. That is what the text here must not be.
#[tokio::test]
async fn the_recipe_that_counts_on_one_way_only_gives_the_first_number_twice() {
    let Some(server) = MariaDb::shared_durable() else { return };
    let mut conn = connected(&server.url(&server.database())).await;
    conn.query_drop("CREATE TABLE naive (scope varchar(9) PRIMARY KEY, n bigint)").await.unwrap();
    let mut numbers: Vec<u64> = Vec::new();
    for _ in 0..3 {
        let sql = "INSERT INTO naive VALUES ('a', LAST_INSERT_ID(1)) ON DUPLICATE KEY UPDATE n = LAST_INSERT_ID(n) + 1";
        conn.query_drop(sql).await.unwrap();
        numbers.push(conn.query_first("SELECT LAST_INSERT_ID()").await.unwrap().unwrap());
    }
    assert_eq!(numbers, [1, 1, 2]);
}
