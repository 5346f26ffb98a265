//! PgBouncer in transaction mode, before a PostgreSQL server.

use super::missing;
use super::postgres::Postgres;
use mintage_servers::place::{Folder, Running, free_port};
use std::fs;
use std::path::Path;

const PROGRAM: &str = "/usr/sbin/pgbouncer";

/// A pooler on 127.0.0.1 that gives a connection of the server to a client for one transaction.
#[derive(Debug)]
pub struct PgBouncer {
    _running: Running,
    port: u16,
    _folder: Folder,
}

impl PgBouncer {
    /// A pooler before `server`; `None` when PgBouncer isn't installed.
    ///
    /// # Panics
    /// When it is installed and doesn't start.
    #[must_use]
    pub fn start(server: &Postgres) -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            missing("PgBouncer isn't installed");
            return None;
        }
        let folder = Folder::of_server("pgbouncer").expect("a folder for temporary files");
        let port = free_port().expect("a free port");
        let users = folder.path().join("users");
        fs::write(&users, "\"postgres\" \"\"\n").expect("a folder of one's own");
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = 4\n\
             max_client_conn = 500\n",
            server.port(),
            users.display()
        );
        let settings = folder.path().join("settings");
        fs::write(&settings, text).expect("a folder of one's own");
        let log = folder.path().join("log");
        let arguments = [settings.display().to_string()];
        let mut running =
            Running::start(PROGRAM, &arguments, "KILL", &log).expect("the pooler's program runs");
        let listens = running.listens(port);
        assert!(listens, "PgBouncer doesn't start:\n{}", fs::read_to_string(log).unwrap_or_default());
        Some(Self { _running: running, port, _folder: folder })
    }

    /// Where it can be reached: `postgres://postgres@127.0.0.1:PORT/DATABASE`.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }
}
