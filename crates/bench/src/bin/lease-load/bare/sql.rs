//! A row of a database.

use super::{Bare, Writing};
use crate::Fault;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, OptsBuilder};
use std::path::Path;

const TABLE: &str = "CREATE TABLE bare (id int PRIMARY KEY, n int)";
const ROW: &str = "INSERT INTO bare VALUES (1, 0)";
const READ: &str = "SELECT n FROM bare WHERE id = 1";
const LOCK: &str = "SELECT n FROM bare WHERE id = 1 FOR UPDATE";
const WRITE: &str = "UPDATE bare SET n = n + 1 WHERE id = 1";

pub(super) fn file(path: &Path) -> Result<Box<dyn Bare>, Fault> {
    let file = rusqlite::Connection::open(path)?;
    file.execute_batch("PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON")?;
    file.execute_batch(TABLE)?;
    file.execute_batch(ROW)?;
    Ok(Box::new(file))
}

impl Bare for rusqlite::Connection {
    fn write(&mut self) -> Writing<'_> {
        Box::pin(async { Ok(self.execute_batch(WRITE)?) })
    }

    fn transaction(&mut self) -> Writing<'_> {
        Box::pin(async {
            self.execute_batch("BEGIN IMMEDIATE")?;
            let _: i64 = self.query_row(READ, [], |row| row.get(0))?;
            self.execute_batch(WRITE)?;
            Ok(self.execute_batch("COMMIT")?)
        })
    }
}

pub(super) async fn postgres(url: &str) -> Result<Box<dyn Bare>, Fault> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    client.batch_execute(TABLE).await?;
    client.batch_execute(ROW).await?;
    Ok(Box::new(client))
}

impl Bare for tokio_postgres::Client {
    fn write(&mut self) -> Writing<'_> {
        Box::pin(async { Ok(self.batch_execute(WRITE).await?) })
    }

    fn transaction(&mut self) -> Writing<'_> {
        Box::pin(async {
            let transaction = self.transaction().await?;
            transaction.simple_query(LOCK).await?;
            transaction.batch_execute(WRITE).await?;
            Ok(transaction.commit().await?)
        })
    }
}

pub(super) async fn mariadb(url: &str) -> Result<Box<dyn Bare>, Fault> {
    let opts = mysql_async::Opts::from_url(url)?;
    // By the network as the store goes, not by the socket that the server names.
    let mut conn = Conn::new(OptsBuilder::from_opts(opts).prefer_socket(Some(false))).await?;
    conn.query_drop(TABLE).await?;
    conn.query_drop(ROW).await?;
    Ok(Box::new(conn))
}

impl Bare for Conn {
    fn write(&mut self) -> Writing<'_> {
        Box::pin(async { Ok(self.query_drop(WRITE).await?) })
    }

    fn transaction(&mut self) -> Writing<'_> {
        Box::pin(async {
            self.query_drop("BEGIN").await?;
            let _: Option<i64> = self.query_first(LOCK).await?;
            self.query_drop(WRITE).await?;
            Ok(self.query_drop("COMMIT").await?)
        })
    }
}
