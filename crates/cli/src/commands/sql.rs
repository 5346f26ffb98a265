//! `mintage sql`: text of SQL that does inside a database what Mintage does beside it.

use crate::arguments;
use crate::exit::{Failure, Outcome, usage};
use crate::output;
use clap::Args;
use mintage_sql::{Engine, FUNCTIONS, Table};
use serde_json::json;
use std::io::Write;

/// Print SQL that does inside a database what Mintage does beside it. Nothing is connected to, and nothing is run.
///
/// scope-counter: numbers per scope (issue 1, 2, 3 of a project) that are taken in the caller's own transaction, without gaps.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage sql postgres scope-counter | psql shop\n  mintage sql mysql scope-counter --table app.issue_number | mariadb shop"
)]
pub(crate) struct Sql {
    /// The database: postgres, or mysql for MariaDB and MySQL
    engine: String,
    /// The function: scope-counter
    function: String,
    /// Its table, with its schema in front where that isn't the usual one (public; MySQL: the database in use); functions are called after it
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
    /// One JSON object, with the statements one by one
    #[arg(long)]
    json: bool,
}

impl Sql {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let engine = Engine::by_name(&self.engine).ok_or_else(|| {
            let names: Vec<&str> = Engine::ALL.iter().map(|engine| engine.name()).collect();
            usage(format!("no SQL is written for `{}`; it is for {}", self.engine, names.join(" and ")))
        })?;
        let function = FUNCTIONS.iter().find(|function| function.name == self.function).ok_or_else(|| {
            let names: Vec<&str> = FUNCTIONS.iter().map(|function| function.name).collect();
            let nearest = arguments::nearest(&self.function, names.iter().map(|name| (*name, *name)));
            usage(format!(
                "no function is called `{}`; {nearest}there is {}",
                self.function,
                names.join(", ")
            ))
        })?;
        let table = self.table.as_deref().unwrap_or(function.table);
        let table = Table::of(table, engine).map_err(|not| usage(format!("--table: {not}")))?;
        let script = (function.script)(engine, &table);
        let mut out = output::stdout();
        if self.json {
            let (engine, function, statements) = (engine.name(), function.name, &script.statements);
            let line = json!({ "engine": engine, "function": function, "statements": statements });
            output::json_line(&mut out, &line)?;
        } else {
            out.write_all(script.text().as_bytes())?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    }
}
