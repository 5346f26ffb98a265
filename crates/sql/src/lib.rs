//! Text of SQL that does inside a database what Mintage does beside it. Nothing here connects anywhere: a [`Script`] is printed, read, and run by
//! whoever owns the database.
//!
//! * What there is: the list [`FUNCTIONS`], one file each.
//! * For which databases: [`Engine`], which also quotes names.

mod engine;
mod scope_counter;

pub use engine::{Engine, NotAName, Table};

/// A function that a database can be given.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name, as the command knows it.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The name of its table, unless another is given.
    pub table: &'static str,
    /// Its text for an engine, over this table.
    pub script: fn(Engine, &Table) -> Script,
}

/// Every function that there is.
pub static FUNCTIONS: &[Function] = &[scope_counter::FUNCTION];

/// SQL that makes something, statement by statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// For whom.
    pub engine: Engine,
    /// What it makes and how it is called, in lines of comment without their sign.
    pub about: Vec<String>,
    /// The statements, in their order, without the signs that end them: as a driver takes them, one at a time.
    pub statements: Vec<String>,
}

impl Script {
    /// The whole as a file for `psql`, or for `mariadb` and `mysql`, whose clients need to be told where a body ends.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.about {
            let line = if line.is_empty() { "--".to_owned() } else { format!("-- {line}") };
            text.push_str(&line);
            text.push('\n');
        }
        let end = match self.engine {
            Engine::Postgres => ";",
            Engine::MySql => self.engine.free_mark(&self.statements.concat()),
        };
        if end != ";" {
            text.push_str(&format!("DELIMITER {end}\n"));
        }
        for statement in &self.statements {
            text.push_str(&format!("\n{statement}{end}\n"));
        }
        if end != ";" {
            text.push_str("\nDELIMITER ;\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_its_text_for_every_engine() {
        for function in FUNCTIONS {
            for engine in Engine::ALL {
                let table = Table::of(function.table, *engine).unwrap();
                let text = (function.script)(*engine, &table).text();
                assert!(text.starts_with("-- ") && text.contains("CREATE TABLE"), "{text}");
                assert!(text.ends_with(";\n"));
            }
        }
    }

    #[test]
    fn a_client_of_mysql_is_told_where_a_body_ends() {
        let table = Table::of("a$$b", Engine::MySql).unwrap();
        let text = (FUNCTIONS[0].script)(Engine::MySql, &table).text();
        assert!(
            text.contains("DELIMITER //\n") && text.contains("END//\n") && text.ends_with("DELIMITER ;\n")
        );
    }
}
