//! Ids in the columns of a real database: SQLite, in memory.

use mintage::{Ksuid, ObjectId, SnowflakeDiscord, SnowflakeTwitter, Ulid, UuidV4, UuidV7};
use sqlx::{Connection, Row, SqliteConnection};

/// Runs `test` on a fresh database.
fn with_database<F: Future<Output = ()>>(test: impl FnOnce(SqliteConnection) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async { test(SqliteConnection::connect("sqlite::memory:").await.unwrap()).await });
}

#[test]
fn ids_of_all_widths_come_back_as_they_went() {
    with_database(|mut db| async move {
        sqlx::query(
            "CREATE TABLE t (tweet BIGINT PRIMARY KEY, uuid BLOB, ulid BLOB, object BLOB, ksuid BLOB)",
        )
        .execute(&mut db)
        .await
        .unwrap();
        let tweet: SnowflakeTwitter = "1050118621198921728".parse().unwrap();
        let (uuid, ulid) = (UuidV7::new(), Ulid::new());
        let (object, ksuid) = (ObjectId::new(), Ksuid::new());
        sqlx::query("INSERT INTO t VALUES (?, ?, ?, ?, ?)")
            .bind(tweet)
            .bind(uuid)
            .bind(ulid)
            .bind(object)
            .bind(ksuid)
            .execute(&mut db)
            .await
            .unwrap();

        let row: (SnowflakeTwitter, UuidV7, Ulid, ObjectId, Ksuid) =
            sqlx::query_as("SELECT tweet, uuid, ulid, object, ksuid FROM t")
                .fetch_one(&mut db)
                .await
                .unwrap();
        assert_eq!(row, (tweet, uuid, ulid, object, ksuid));

        // What others see in the columns: a number, and big-endian bytes.
        let row = sqlx::query("SELECT tweet, uuid, object, ksuid, typeof(tweet) FROM t");
        let row = row.fetch_one(&mut db).await.unwrap();
        assert_eq!(row.get::<i64, _>(0), 1_050_118_621_198_921_728);
        assert_eq!(row.get::<Vec<u8>, _>(1), uuid.to_bytes());
        assert_eq!(row.get::<Vec<u8>, _>(2), object.to_bytes());
        assert_eq!(row.get::<Vec<u8>, _>(3), ksuid.to_bytes());
        assert_eq!(row.get::<String, _>(4), "integer");

        let found: Vec<UuidV7> = sqlx::query_scalar("SELECT uuid FROM t WHERE uuid = ?")
            .bind(uuid)
            .fetch_all(&mut db)
            .await
            .unwrap();
        assert_eq!(found, [uuid]);
    });
}

#[test]
fn columns_sort_as_ids_do_and_may_be_null() {
    with_database(|mut db| async move {
        sqlx::query("CREATE TABLE t (id BLOB PRIMARY KEY, parent BLOB)").execute(&mut db).await.unwrap();
        let ids: Vec<UuidV7> = (0..20).map(|_| UuidV7::new()).collect();
        for (at, id) in ids.iter().enumerate().rev() {
            let parent = at.checked_sub(1).map(|before| ids[before]);
            sqlx::query("INSERT INTO t VALUES (?, ?)").bind(id).bind(parent).execute(&mut db).await.unwrap();
        }
        let rows: Vec<(UuidV7, Option<UuidV7>)> =
            sqlx::query_as("SELECT id, parent FROM t ORDER BY id").fetch_all(&mut db).await.unwrap();
        assert_eq!(rows.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ids);
        assert_eq!(rows[0].1, None);
        assert_eq!(rows[1].1, Some(ids[0]));
    });
}

#[test]
fn an_id_above_the_signed_range_is_refused_when_written() {
    with_database(|mut db| async move {
        let last: SnowflakeDiscord = "9223372036854775807".parse().unwrap();
        let number: i64 = sqlx::query_scalar("SELECT ?").bind(last).fetch_one(&mut db).await.unwrap();
        assert_eq!(number, i64::MAX);
        let above: SnowflakeDiscord = "9223372036854775808".parse().unwrap();
        let error = sqlx::query("SELECT ?").bind(above).execute(&mut db).await.unwrap_err().to_string();
        assert!(
            error.contains("snowflake-discord: 9223372036854775808 is above 2^63 - 1, the largest BIGINT"),
            "{error}"
        );
    });
}

#[test]
fn what_is_no_id_of_the_scheme_is_refused_when_read() {
    async fn error<T>(db: &mut SqliteConnection, select: &'static str) -> String
    where
        T: for<'r> sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite> + Send + Unpin + std::fmt::Debug,
    {
        sqlx::query_scalar::<_, T>(select).fetch_one(db).await.unwrap_err().to_string()
    }

    with_database(|mut db| async move {
        let message = error::<SnowflakeTwitter>(&mut db, "SELECT -7").await;
        assert!(message.contains("snowflake-twitter: -7 is negative, so it is no id"), "{message}");
        // A version 4 in a column that is read as version 7.
        let uuid: UuidV4 = "919108f7-52d1-4320-9bac-f847db4148a8".parse().unwrap();
        let message = sqlx::query_scalar::<_, UuidV7>("SELECT ?").bind(uuid).fetch_one(&mut db).await;
        let message = message.unwrap_err().to_string();
        assert!(message.contains("uuid-v7: field ver is 4, 7 expected"), "{message}");
        let message = error::<Ksuid>(&mut db, "SELECT x'00112233'").await;
        assert!(message.contains("ksuid: 4 bytes given, 20 expected"), "{message}");
        let message = error::<ObjectId>(&mut db, "SELECT zeroblob(13)").await;
        assert!(message.contains("objectid: 13 bytes given, 12 expected"), "{message}");
        let message = error::<UuidV7>(&mut db, "SELECT 5").await;
        assert!(message.contains("not compatible") || message.contains("mismatched types"), "{message}");
        let message = error::<SnowflakeTwitter>(&mut db, "SELECT '1050118621198921728'").await;
        assert!(message.contains("mismatched types"), "{message}");
    });
}
