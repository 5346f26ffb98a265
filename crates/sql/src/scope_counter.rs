//! Numbers per scope in the caller's own transaction: gapless, as a transaction that ends without its row gives its number back.
//!
//! The row of a scope is locked from the moment when a number is taken until the transaction ends, which is what makes it gapless, and what
//! others of that scope wait for: take the number last.
//!
//! PostgreSQL makes and raises the row in one statement, `INSERT … ON CONFLICT DO UPDATE … RETURNING`. MariaDB and MySQL have no such
//! answer of a raised row; there `LAST_INSERT_ID(expr)` keeps what the statement saw, on both of its ways: an expression on the way of
//! the update alone leaves the session's last value after a row was made, so that the first two numbers of a scope were one.

use crate::{Engine, Function, Script, Table};

pub(crate) const FUNCTION: Function = Function {
    name: "scope-counter",
    summary: "numbers per scope without gaps, taken in the caller's own transaction",
    table: "scope_counter",
    script,
};

fn script(engine: Engine, table: &Table) -> Script {
    match engine {
        Engine::Postgres => postgres(table),
        Engine::MySql => mysql(table),
    }
}

const ABOUT: [&str; 4] = [
    "Numbers per scope (issue 1, 2, 3 of project 42), taken in your own transaction: what is rolled back leaves no gap. A scope begins",
    "when it is first used. Its row stays locked until the transaction ends, and others of that scope wait for it: take the number last.",
    "An import moves a scope up; it never moves one back. A call that asks for several gets the first of them, the others follow.",
    "",
];

fn about(more: &[String]) -> Vec<String> {
    ABOUT.iter().map(|line| (*line).to_owned()).chain(more.iter().cloned()).collect()
}

/// The schema of a table that names none. Whoever calls has a path of schemas of his own, in front of which stand his temporary tables: every
/// name in the text has its schema, and the bodies find built-in functions alone.
const SCHEMA: &str = "public";

/// What no name of a scope has, as in the stores of Mintage: a character that doesn't show.
const CONTROL: &str = "[\\u0001-\\u001f\\u007f-\\u009f]";

fn postgres(table: &Table) -> Script {
    let table = &table.clone().within(SCHEMA);
    let (counter, next, bump) = (table.quoted(), table.with("_next"), table.with("_bump"));
    let mark = Engine::Postgres.free_mark(&counter);
    let is_no_scope =
        format!("scope_ IS NULL OR octet_length(scope_) NOT BETWEEN 1 AND 255 OR scope_ ~ '{CONTROL}'");
    let about = about(&[
        format!("  INSERT INTO issue (project_id, number) VALUES (42, {next}('42'));"),
        format!("  SELECT {next}('42', 10);     -- ten of them"),
        format!("  SELECT {bump}('42', 1307);   -- the next one is 1307, or what it was where that is more"),
        String::new(),
        "In a transaction above READ COMMITTED, two that take a number of one scope at once end by a serialization failure: run that again."
            .to_owned(),
    ]);
    let statements = vec![
        format!(
            "CREATE TABLE {counter} (\n    \"scope\" text COLLATE \"C\" PRIMARY KEY\n        \
             CHECK (octet_length(\"scope\") BETWEEN 1 AND 255 AND \"scope\" !~ '{CONTROL}'),\n    \
             \"next\" bigint NOT NULL CHECK (\"next\" >= 1)\n) WITH (fillfactor = 50)"
        ),
        format!(
            "CREATE FUNCTION {next}(scope_ text, size_ bigint DEFAULT 1) RETURNS bigint\nLANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS {mark}\n\
             DECLARE\n    after_ bigint;\nBEGIN\n    \
             IF {is_no_scope} OR size_ IS NULL OR size_ < 1 THEN\n        \
             RAISE EXCEPTION 'a scope of 1 to 255 bytes without control characters and at least one number expected, not % and %',\n            \
             left(scope_, 80), size_ USING ERRCODE = '22023';\n    \
             END IF;\n    \
             INSERT INTO {counter} AS c (\"scope\", \"next\") VALUES (scope_, 1 + size_)\n    \
             ON CONFLICT (\"scope\") DO UPDATE SET \"next\" = c.\"next\" + size_\n    \
             RETURNING c.\"next\" INTO after_;\n    RETURN after_ - size_;\nEND\n{mark}"
        ),
        format!(
            "CREATE FUNCTION {bump}(scope_ text, next_ bigint) RETURNS bigint\nLANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS {mark}\n\
             DECLARE\n    after_ bigint;\nBEGIN\n    \
             IF {is_no_scope} OR next_ IS NULL OR next_ < 1 THEN\n        \
             RAISE EXCEPTION 'a scope of 1 to 255 bytes without control characters and a number from 1 on expected, not % and %',\n            \
             left(scope_, 80), next_ USING ERRCODE = '22023';\n    \
             END IF;\n    \
             INSERT INTO {counter} AS c (\"scope\", \"next\") VALUES (scope_, next_)\n    \
             ON CONFLICT (\"scope\") DO UPDATE SET \"next\" = greatest(c.\"next\", next_)\n    \
             RETURNING c.\"next\" INTO after_;\n    RETURN after_;\nEND\n{mark}"
        ),
    ];
    Script { engine: Engine::Postgres, about, statements }
}

fn mysql(table: &Table) -> Script {
    let (counter, next, bump) = (table.quoted(), table.with("_next"), table.with("_bump"));
    let about = about(&[
        format!("  CALL {next}('42', 1, @number); INSERT INTO issue (project_id, number) VALUES (42, @number);"),
        format!("  CALL {next}('42', 10, @first);  -- ten of them"),
        format!("  CALL {bump}('42', 1307);        -- the next one is 1307, or what it was where that is more"),
        String::new(),
        "Each call sets LAST_INSERT_ID(). Where the first two of a scope come at once and one is rolled back, the other may end by a deadlock".to_owned(),
        "(1213): run that transaction again, as after any other. Names of scopes have at most 255 bytes, and are compared byte by byte.".to_owned(),
    ]);
    let refuse = |expected: &str| {
        format!(
            "SIGNAL SQLSTATE '22023' SET MESSAGE_TEXT = 'a scope of 1 to 255 bytes without control characters and {expected} expected';"
        )
    };
    let is_no_scope =
        "p_scope IS NULL OR OCTET_LENGTH(p_scope) NOT BETWEEN 1 AND 255 OR p_scope REGEXP '[[:cntrl:]]'";
    let statements = vec![
        format!(
            "CREATE TABLE {counter} (\n    `scope` varbinary(255) NOT NULL PRIMARY KEY CHECK (OCTET_LENGTH(`scope`) >= 1),\n    `next` bigint unsigned NOT NULL\n) ENGINE = InnoDB"
        ),
        format!(
            "CREATE PROCEDURE {next}(IN p_scope varchar(1020) CHARACTER SET utf8mb4, IN p_size bigint, OUT p_first bigint unsigned)\n    \
             MODIFIES SQL DATA\n    SQL SECURITY INVOKER\nBEGIN\n    \
             IF {is_no_scope} OR p_size IS NULL OR p_size < 1 THEN\n        {}\n    END IF;\n    \
             -- On both ways LAST_INSERT_ID(expr) keeps the first number for this session, whatever others do meanwhile.\n    \
             INSERT INTO {counter} (`scope`, `next`) VALUES (CAST(p_scope AS BINARY), LAST_INSERT_ID(1) + p_size)\n    \
             ON DUPLICATE KEY UPDATE `next` = LAST_INSERT_ID(`next`) + p_size;\n    \
             SET p_first = LAST_INSERT_ID();\nEND",
            refuse("at least one number")
        ),
        format!(
            "CREATE PROCEDURE {bump}(IN p_scope varchar(1020) CHARACTER SET utf8mb4, IN p_next bigint)\n    \
             MODIFIES SQL DATA\n    SQL SECURITY INVOKER\nBEGIN\n    \
             IF {is_no_scope} OR p_next IS NULL OR p_next < 1 THEN\n        {}\n    END IF;\n    \
             INSERT INTO {counter} (`scope`, `next`) VALUES (CAST(p_scope AS BINARY), p_next)\n    \
             ON DUPLICATE KEY UPDATE `next` = GREATEST(`next`, p_next);\nEND",
            refuse("a number from 1 on")
        ),
    ];
    Script { engine: Engine::MySql, about, statements }
}
