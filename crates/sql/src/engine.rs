//! Databases, and names as they spell them.

/// A kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// PostgreSQL, 12 or later.
    Postgres,
    /// MariaDB, 10.6 or later, and MySQL, 8.0 or later, which is untested.
    MySql,
}

impl Engine {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Postgres, Self::MySql];

    /// Its name, as the command knows it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::MySql => "mysql",
        }
    }

    /// The engine of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "postgres" | "postgresql" => Some(Self::Postgres),
            "mysql" | "mariadb" => Some(Self::MySql),
            _ => None,
        }
    }

    /// A name in quotes, which no name can end.
    #[must_use]
    pub fn quoted(self, name: &str) -> String {
        let mark = match self {
            Self::Postgres => '"',
            Self::MySql => '`',
        };
        format!("{mark}{}{mark}", name.replace(mark, &format!("{mark}{mark}")))
    }

    /// What can stand around a text, or end it, as it isn't in there: `$$` and the like.
    pub(crate) fn free_mark(self, text: &str) -> &'static str {
        let marks: &[&'static str] = match self {
            Self::Postgres => &["$mintage$", "$mintage1$", "$mintage2$"],
            Self::MySql => &["$$", "//", ";;"],
        };
        marks.iter().find(|mark| !text.contains(**mark)).copied().unwrap_or(marks[0])
    }
}

/// A table, and the names of what goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    engine: Engine,
    schema: Option<String>,
    name: String,
}

/// Longest name of a table, in bytes: the longest that a database takes, less what is put behind it.
const LONGEST: usize = 50;

/// The text is no name of a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} is no name of a table; 1 to {LONGEST} bytes expected without control characters and without more than one of `$$`, `//`, `;;`, \
     or a schema's name, a dot and such a name"
)]
pub struct NotAName {
    /// What was given.
    pub found: String,
}

impl Table {
    /// `table`, or `schema.table`.
    ///
    /// # Errors
    /// [`NotAName`].
    pub fn of(text: &str, engine: Engine) -> Result<Self, NotAName> {
        let (schema, name) = match text.split_once('.') {
            Some((schema, name)) => (Some(schema), name),
            None => (None, text),
        };
        let is_name = |name: &str| (1..=LONGEST).contains(&name.len()) && !name.contains(char::is_control);
        let marks =
            [text.contains("$$"), text.contains("//"), text.contains(";;"), text.contains("$mintage")];
        let is_odd = marks.iter().filter(|mark| **mark).count() > 1;
        if !is_name(name) || schema.is_some_and(|schema| !is_name(schema)) || is_odd {
            return Err(NotAName { found: text.to_owned() });
        }
        Ok(Self { engine, schema: schema.map(str::to_owned), name: name.to_owned() })
    }

    /// The same in this schema, unless it names one.
    #[must_use]
    pub(crate) fn within(mut self, schema: &str) -> Self {
        self.schema.get_or_insert_with(|| schema.to_owned());
        self
    }

    /// The name in quotes, with `behind` after it.
    #[must_use]
    pub fn with(&self, behind: &str) -> String {
        let name = self.engine.quoted(&format!("{}{behind}", self.name));
        match &self.schema {
            Some(schema) => format!("{}.{name}", self.engine.quoted(schema)),
            None => name,
        }
    }

    /// The name in quotes.
    #[must_use]
    pub fn quoted(&self) -> String {
        self.with("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_ends_its_quotes() {
        let of = |text, engine| Table::of(text, engine).unwrap().with("_next");
        assert_eq!(of("a\"b", Engine::Postgres), "\"a\"\"b_next\"");
        assert_eq!(of("app.a`; DROP", Engine::MySql), "`app`.`a``; DROP_next`");
        for bad in ["", ".a", "a.", "a\0", "a\n", &"x".repeat(51), "$$//"] {
            assert!(Table::of(bad, Engine::MySql).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn engines_go_by_their_names() {
        for engine in Engine::ALL {
            assert_eq!(Engine::by_name(engine.name()), Some(*engine));
        }
        assert_eq!(Engine::by_name("mariadb"), Some(Engine::MySql));
        assert_eq!(Engine::by_name("oracle"), None);
    }
}
