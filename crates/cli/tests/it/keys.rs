//! `mintage keys`: what it prints, and how it ends.

use crate::facade::Folder;
use crate::{lines, mintage, refusal};
use mintage_testkit::servers::postgres::Postgres;
use serde_json::Value;

/// A server with a key near its end, another past a quarter, and a name that would steer a terminal.
fn server() -> Option<(std::sync::Arc<Postgres>, String)> {
    let server = Postgres::shared()?;
    let database = server.database();
    let sql = "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE orders(id serial PRIMARY KEY, user_id int REFERENCES users);
               DO $$BEGIN EXECUTE format('CREATE TABLE %I(id bigserial PRIMARY KEY)', E'evil\\x1b[31m|\\n'); END$$;
               SELECT setval('users_id_seq', 1900000000), setval('orders_id_seq', 600000000)";
    server.query(&database, sql).unwrap();
    let url = server.url(&database);
    Some((server, url))
}

#[test]
fn the_report_names_what_ends_a_key_and_exits_with_one() {
    let Some((_server, url)) = server() else { return };
    let output = mintage(&["keys", "report", &url]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("The first to end is public.users.id: 88.5 % used"), "{text}");
    assert!(text.contains("ends with: public.orders.user_id integer (foreign key)"), "{text}");
    assert!(
        text.contains(r#"next: ALTER TABLE "public"."orders" ALTER COLUMN "user_id" TYPE bigint;"#),
        "{text}"
    );
    assert!(!text.contains('\x1b') && text.contains(r"evil\u{1b}[31m|\n"), "{text}");
    let code = |args: &[&str]| mintage(&[&["keys", "report", &url], args].concat()).status.code();
    assert_eq!(code(&["--fail", "95%"]), Some(0));
    assert_eq!(code(&["--warn", "95%", "--fail", "0.99"]), Some(0));
    assert_eq!(code(&["--warn", "60%", "--fail", "20%"]), Some(2));
    let folder = Folder::new("keys-ignore");
    let file = folder.file("known.txt");
    std::fs::write(&file, "key public.users.*  # on its way\n").unwrap();
    assert_eq!(code(&["--ignore", &file]), Some(0));
    std::fs::write(&file, "nonsense public.users.id\n").unwrap();
    assert_eq!(code(&["--ignore", &file]), Some(2));
}

#[test]
fn json_has_one_shape_and_its_large_numbers_are_strings() {
    let Some((_server, url)) = server() else { return };
    let output = mintage(&["keys", "report", "--json", &url, &url]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 2);
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for line in text.lines() {
        assert!(line.starts_with(r#"{"server":"#) && line.is_ascii(), "{line}");
        let report: Value = serde_json::from_str(line).unwrap();
        assert_eq!(names(&report), ["findings", "keys", "server"]);
        let key = &report["keys"][0];
        let mut expected = [
            "schema",
            "table",
            "column",
            "type",
            "sequence",
            "current",
            "current_source",
            "limit",
            "limited_by",
            "ratio",
            "dates",
            "confidence",
        ];
        expected.sort_unstable();
        assert_eq!(names(key), expected);
        assert_eq!((&key["current"], &key["limit"]), (&"1900000000".into(), &"2147483647".into()));
        assert!((key["ratio"].as_f64().unwrap() - 0.8847).abs() < 0.001 && key["dates"].is_null());
        assert_eq!(key["limited_by"], "public.orders.user_id integer (foreign key)");
        let finding = &report["findings"][0];
        assert_eq!(names(finding), ["code", "column", "message", "next", "schema", "severity", "table"]);
    }
}

#[test]
fn sarif_and_markdown_hold_hostile_names_harmlessly() {
    let Some((_server, url)) = server() else { return };
    let output = mintage(&["keys", "report", "--sarif", &url]);
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let (rules, results) = (&log["runs"][0]["tool"]["driver"]["rules"], &log["runs"][0]["results"]);
    let rules: Vec<&Value> = rules.as_array().unwrap().iter().map(|rule| &rule["id"]).collect();
    for result in results.as_array().unwrap() {
        assert!(rules.contains(&&result["ruleId"]), "{result}");
        assert!(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"].is_string());
    }
    assert_eq!(results[0]["ruleId"], "key-nearly-full");
    let output = mintage(&["keys", "report", "--markdown", &url]);
    let text = String::from_utf8(output.stdout).unwrap();
    let widths: Vec<usize> =
        text.lines().filter(|line| line.contains("evil")).map(|line| line.matches(" | ").count()).collect();
    assert!(widths.iter().all(|&bars| bars == 5) && !text.contains('\x1b'), "{text}");
}

#[test]
fn a_database_that_cant_be_reached_is_told_beside_those_that_can() {
    let folder = Folder::new("keys-reach");
    let file = folder.file("shop.db");
    let url = format!("sqlite:{file}");
    lines(&["store", "create", &url, "orders", "--block", "--last", "1000"]);
    assert_eq!(lines(&["keys", "report", &url]).iter().filter(|line| line.contains("  orders  ")).count(), 1);
    let output = mintage(&["keys", "report", &url, "postgres://app:secret@127.0.0.1:1/shop"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stdout).unwrap().contains("SQLite"));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("postgres://app:***@127.0.0.1:1/shop") && !told.contains("secret"), "{told}");
    for (args, code, word) in [
        (&["keys", "report", "sqlite:/nowhere.db"][..], 2, "no such file"),
        (&["keys", "report", "oracle://app:secret@db/shop"], 2, "mysql://"),
        (&["keys", "report", "--warn", "25", "sqlite:x"], 2, "at most 100%"),
        (&["keys", "report"], 2, "URL"),
    ] {
        let (found, text) = refusal(args);
        assert!(found == code && text.contains(word) && !text.contains("secret"), "{args:?}: {text}");
    }
}

#[test]
fn definitions_are_linted_in_every_form_with_their_lines() {
    let folder = Folder::new("keys-lint");
    std::fs::create_dir_all(folder.file("db/migrations")).unwrap();
    let write =
        |name: &str, text: &str| std::fs::write(folder.file(&format!("db/migrations/{name}")), text).unwrap();
    write(
        "V2__orders.sql",
        "CREATE TABLE orders(\n  id bigserial PRIMARY KEY,\n  user_id int REFERENCES users\n);\nFROB;\n",
    );
    write("V1__users.sql", "CREATE TABLE users(id bigserial PRIMARY KEY);\n");
    write("V10__evil.sql", "CREATE TABLE \"evil\u{1b}[31m|\"(id serial PRIMARY KEY);\n");
    write("U2__orders.sql", "DROP TABLE orders;\n");
    write("notes.txt", "no SQL");
    let path = folder.file("db");
    let output = mintage(&["keys", "lint", &path]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("PostgreSQL (as `serial` tells"), "{text}");
    assert!(
        text.contains("V2__orders.sql:3: public.orders.user_id: integer holds values up to 2147483647"),
        "{text}"
    );
    assert!(text.contains("V2__orders.sql:5: FROB\n"), "{text}");
    assert!(text.contains("1 left out that take migrations back.") && !text.contains('\x1b'), "{text}");
    let code = |args: &[&str]| mintage(&[&["keys", "lint", &path], args].concat()).status.code();
    assert_eq!(code(&["--fail-on", "error"]), Some(0));
    assert_eq!(code(&["--dialect", "oracle"]), Some(2));
    let known = folder.file("known.txt");
    std::fs::write(&known, "* public.*\n").unwrap();
    assert_eq!(code(&["--ignore", &known]), Some(0));
    let log: Value = serde_json::from_slice(&mintage(&["keys", "lint", "--sarif", &path]).stdout).unwrap();
    let run = &log["runs"][0];
    let result = run["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|result| result["ruleId"] == "narrow-foreign-key")
        .unwrap();
    let place = &result["locations"][0]["physicalLocation"];
    assert!(
        place["artifactLocation"]["uri"].as_str().unwrap().ends_with("db/migrations/V2__orders.sql"),
        "{place}"
    );
    assert_eq!(place["region"]["startLine"], 3);
    assert_eq!(run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len(), 1);
    let json: Value = serde_json::from_slice(&mintage(&["keys", "lint", "--json", &path]).stdout).unwrap();
    assert_eq!(
        (&json["dialect"], &json["files"], &json["tables"]),
        (&"PostgreSQL".into(), &3.into(), &3.into())
    );
    assert_eq!((&json["skipped"][0]["line"], &json["findings"][0]["line"]), (&5.into(), &1.into()));
    let markdown = String::from_utf8(mintage(&["keys", "lint", "--markdown", &path]).stdout).unwrap();
    let evil: Vec<&str> = markdown.lines().filter(|line| line.contains("evil")).collect();
    assert!(!evil.is_empty() && evil.iter().all(|line| line.matches(" | ").count() == 4), "{markdown}");
}

#[test]
fn standard_input_is_linted_and_what_isnt_there_is_wrong_use() {
    let read = |sql: &str| crate::mintage_reading(&["keys", "lint", "-"], sql.as_bytes());
    let output = read("CREATE TABLE a(id int AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB;");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.code() == Some(1) && text.contains("stdin:1: a.id: int, fed by a counter"),
        "{text}"
    );
    assert_eq!(read("CREATE TABLE a(id bigint PRIMARY KEY);").status.code(), Some(0));
    let folder = Folder::new("keys-lint-empty");
    std::fs::create_dir_all(folder.file("empty")).unwrap();
    for (path, word) in
        [("/nowhere.sql".to_owned(), "No such file"), (folder.file("empty"), "no *.sql in this folder")]
    {
        let (code, text) = refusal(&["keys", "lint", &path]);
        assert!(code == 2 && text.contains(word), "{path}: {text}");
    }
}
