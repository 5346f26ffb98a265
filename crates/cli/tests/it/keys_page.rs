//! docs/keys.md, "First hour with the key doctor": its commands run as printed, against servers of their own.

use crate::facade::Folder;
use mintage_testkit::servers::postgres::Postgres;
use std::path::Path;
use std::process::Command;

/// A block of the page in which something runs.
struct Block {
    /// `sql`, `sh` or `console`; of `text name=FILE` a file that commands read.
    kind: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(kind) if !is_open => {
                is_open = true;
                blocks.push(Block { kind: kind.trim().to_owned(), text: String::new() });
            }
            Some(_) => is_open = false,
            None if is_open => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            None => {}
        }
    }
    blocks
}

/// Commands of a `sh` block; a line that ends with `\\` goes on.
fn commands(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

/// Commands with what they print, of a `console` block: `$ command`, then lines, of which `…` stands for any.
fn sessions(text: &str) -> Vec<(String, Vec<String>)> {
    let mut sessions: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), sessions.last_mut()) {
            (Some(command), _) => sessions.push((command.to_owned(), Vec::new())),
            (None, Some((_, printed))) => printed.push(line.to_owned()),
            (None, None) => panic!("a console block begins with a command: {line}"),
        }
    }
    sessions
}

/// Runs a command line in a shell, in a folder in which `mintage` is the real binary; exit code, standard output and error.
fn shell(folder: &Path, server: &Postgres, database: &str, line: &str) -> (i32, String, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_mintage"));
    let paths = [program.parent().unwrap().to_owned(), server.programs().to_owned()];
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(paths.into_iter().chain(std::env::split_paths(&others))).unwrap();
    let here = format!("@127.0.0.1:{}/{database}", server.port());
    let line = line.replace("@localhost/shop", &here);
    let done = Command::new("bash")
        .args(["-o", "pipefail", "-c", &line])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().replace(&here, "@localhost/shop");
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

/// Whether a printed line is as the page says, in which `…` stands for any characters.
fn is_like(shown: &str, printed: &str) -> bool {
    let mut rest = printed;
    let parts: Vec<&str> = shown.split('…').collect();
    for (number, part) in parts.iter().enumerate() {
        match rest.find(part) {
            Some(at) if number > 0 || at == 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || shown.ends_with('…')
}

#[test]
fn the_first_hour_with_the_key_doctor_runs_as_printed() {
    let Some(server) = Postgres::shared() else { return };
    let page = include_str!("../../../../docs/keys.md");
    let (folder, database) = (Folder::new("keys-page"), server.database());
    let root = Path::new(&folder.file("x")).parent().unwrap().to_owned();
    let mut run = 0;
    for block in blocks(page) {
        let (kind, name) = block.kind.split_once(" name=").unwrap_or((&block.kind, ""));
        match kind {
            _ if !name.is_empty() => {
                let file = root.join(name);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, &block.text).unwrap();
            }
            "sql" => {
                server.query(&database, &block.text).unwrap();
            }
            "sh" => {
                // What isn't ours to run needs a checkout or hours.
                for line in commands(&block.text).iter().filter(|line| !line.starts_with("cargo ")) {
                    let (code, out, error) = shell(&root, &server, &database, line);
                    // Something was found is no failure.
                    assert!(code < 2, "{line}: {code}\n{error}");
                    assert!(!out.is_empty() || line.contains('>'), "{line} prints nothing");
                    run += 1;
                }
            }
            "console" => {
                for (line, shown) in sessions(&block.text) {
                    let (code, out, error) = shell(&root, &server, &database, &line);
                    assert!(code < 2, "{line}: {code}\n{error}");
                    let printed: Vec<&str> = out.lines().collect();
                    let is_same = shown.len() == printed.len()
                        && shown.iter().zip(&printed).all(|(a, b)| is_like(a, b));
                    assert!(is_same, "{line} prints\n{out}\nand the page says\n{}", shown.join("\n"));
                    run += 1;
                }
            }
            _ => {}
        }
    }
    assert!(run >= 8, "the page has {run} commands");
}
