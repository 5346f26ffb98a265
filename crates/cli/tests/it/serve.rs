//! `mintage serve` and `mintage auth`: the real binary with the clients that people have.

use crate::{lines, mintage, refusal};
use mintage::time::pause;
use mintage_testkit::proxy::Proxy;
use mintage_testkit::servers::postgres::Postgres;
use mintage_testkit::{signal, tool};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

const SECOND: u64 = 1_000_000_000;

/// A folder that is gone afterwards.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("serve-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server that runs, killed when this is dropped.
pub(crate) struct Serving {
    child: Child,
    pub(crate) http: SocketAddr,
    pub(crate) redis: SocketAddr,
    /// What it printed, up to the commands to try.
    printed: Vec<String>,
    /// Kept, so that the server can write there.
    stderr: ChildStderr,
}

impl Serving {
    pub(crate) fn begin(folder: &Folder, args: &[&str]) -> Self {
        let data = folder.path("data");
        let mut command = Command::new(env!("CARGO_BIN_EXE_mintage"));
        command.args(["serve", "--data", &data, "--redis", "127.0.0.1:0"]).args(args);
        if !args.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        signal::ends_with_its_starter(&mut command);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut printed: Vec<String> = Vec::new();
        // Three commands stand behind the word.
        while printed.len() < 4 || !printed[printed.len() - 4].contains("try") {
            let mut line = String::new();
            if out.read_line(&mut line).unwrap() == 0 {
                let mut why = String::new();
                stderr.read_to_string(&mut why).unwrap();
                panic!("it ended: {why}");
            }
            printed.push(line.trim_end().to_owned());
        }
        let address = |name: &str, before: &str, after: &str| {
            let line =
                printed.iter().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix(before));
            line.unwrap().trim_end_matches(after).parse().unwrap()
        };
        let (http, redis) = (address("http", "http://", "/v1"), address("redis", "", ""));
        Self { child, http, redis, printed, stderr }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as an operator does; its exit code.
    fn terminate(mut self) -> Option<i32> {
        signal::terminate(self.pid()).unwrap();
        self.child.wait().unwrap().code()
    }

    fn redis_cli(&self, args: &[&str]) -> String {
        let output = Command::new("redis-cli")
            .args(["-h", "127.0.0.1", "-p", &self.redis.port().to_string()])
            .args(args)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Both fail when it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One request on a connection of its own: its status and body.
pub(crate) fn asked(address: SocketAddr, head: &str, headers: &str) -> std::io::Result<(u16, String)> {
    let patience = std::time::Duration::from_secs(20);
    let mut stream = TcpStream::connect_timeout(&address, patience)?;
    stream.set_read_timeout(Some(patience))?;
    write!(stream, "{head} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let cut = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(cut)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(cut)?;
    Ok((status, body.to_owned()))
}

fn succeeded(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    out.into_owned()
}

/// What a script of Python prints, with the clients in the environment that the tests use; `None` where they are missing.
fn python(script: &str, args: &[&str]) -> Option<String> {
    let path = clients("python")?;
    let output = Command::new(path).arg("-c").arg(script).args(args).output().unwrap();
    Some(succeeded(&output))
}

fn clients(program: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/clients/bin").join(program);
    tool::has(path.to_str().unwrap()).then_some(path)
}

#[test]
fn what_it_prints_can_be_pasted() {
    if !(tool::has("curl") && tool::has("redis-cli")) {
        return;
    }
    let folder = Folder::new();
    let serving = Serving::begin(&folder, &[]);
    let pasted: Vec<String> = serving.printed[serving.printed.len() - 3..]
        .iter()
        .map(|line| succeeded(&Command::new("sh").arg("-ec").arg(line).output().unwrap()))
        .collect();
    assert!(pasted[0].starts_with("{\"ids\":[\"") && pasted[0].matches(',').count() == 2, "{pasted:?}");
    assert!(pasted[1].starts_with("{\"ids\":[\"0"), "{pasted:?}");
    assert_eq!(pasted[2].trim(), "1");
    assert_eq!(serving.terminate(), Some(0));
    // What was held is given back, and the counter goes on.
    let again = Serving::begin(&folder, &[]);
    assert_eq!(again.redis_cli(&["incr", "counter"]).trim(), "2");
}

#[test]
fn redis_cli_and_redis_benchmark_are_clients() {
    if !tool::has("redis-cli") {
        return;
    }
    let folder = Folder::new();
    let serving = Serving::begin(&folder, &[]);
    assert_eq!(serving.redis_cli(&["-3", "incrby", "counter", "10"]), "10\n");
    assert_eq!(serving.redis_cli(&["mint", "default", "2"]).lines().count(), 2);
    assert!(serving.redis_cli(&["incr", "conuter"]).starts_with("NOSPACE there is no space"));
    assert!(serving.redis_cli(&["--no-raw", "command", "count"]).starts_with("(integer)"));
    let port = serving.redis.port().to_string();
    for pipeline in ["1", "16"] {
        let args = ["-p", &port, "-q", "-n", "20000", "-c", "50", "-P", pipeline, "INCR", "counter"];
        let output = Command::new("redis-benchmark").args(args).output().unwrap();
        assert!(succeeded(&output).contains("requests per second"));
    }
    assert_eq!(serving.redis_cli(&["incr", "counter"]), "40011\n");
}

const REDIS_PY: &str = r#"
import sys, redis
for protocol in (2, 3):
    r = redis.Redis(port=int(sys.argv[1]), protocol=protocol, decode_responses=True)
    assert r.ping()
    first = r.incr("counter")
    assert r.incr("counter", 5) == first + 5
    pipeline = r.pipeline(transaction=False)
    for _ in range(1000):
        pipeline.incr("counter")
    values = pipeline.execute()
    assert values == list(range(first + 6, first + 1006)), values[:3]
    ids = r.execute_command("MINT", "default", 100)
    assert len(set(ids)) == 100 and all(i.isdigit() for i in ids)
    assert int(r.get("counter")) > values[-1]
    try:
        r.incr("nope")
        raise SystemExit("a key was made by asking")
    except redis.ResponseError as error:
        assert "there is no space" in str(error), error
    r.close()
print("done")
"#;

#[test]
fn redis_py_is_a_client_with_both_protocols() {
    let folder = Folder::new();
    let serving = Serving::begin(&folder, &[]);
    if let Some(said) = python(REDIS_PY, &[&serving.redis.port().to_string()]) {
        assert_eq!(said, "done\n");
    }
}

#[test]
fn a_client_in_perl_is_a_client() {
    if !tool::has("perl") {
        return;
    }
    let folder = Folder::new();
    let serving = Serving::begin(&folder, &[]);
    let script = "my $r = Redis->new(server => $ARGV[0]); print $r->incr('counter'), ' ', $r->incrby('counter', 3), ' ', \
                  length($r->mint('default')), ' ', $r->ping, \"\\n\"; eval { $r->incr('nope') }; print $@ =~ /no space/ ? 'told' : $@;";
    let output =
        Command::new("perl").args(["-MRedis", "-e", script, &serving.redis.to_string()]).output().unwrap();
    if !output.status.success() && String::from_utf8_lossy(&output.stderr).contains("Can't locate Redis.pm") {
        tool::skipped("a client in Perl", "libredis-perl");
        return;
    }
    assert_eq!(succeeded(&output), "1 4 18 PONG\ntold");
}

#[test]
fn what_the_document_says_is_what_the_server_does() {
    let Some(schemathesis) = clients("schemathesis") else { return };
    let folder = Folder::new();
    fs::create_dir_all(folder.path("keys")).unwrap();
    lines(&["facade", "keygen", "--kind", "permute", "--key-file", &folder.path("keys/orders.toml")]);
    let serving = Serving::begin(&folder, &["--facades", &folder.path("keys")]);
    // Facts of a space that don't go together, and texts that no key takes, can't be told by a schema.
    let config = folder.path("schemathesis.toml");
    let exempt = [
        "POST /v1/spaces",
        "POST /v1/facades/{name}/encode",
        "POST /v1/facades/{name}/decode",
        "POST /v1/spaces/{space}/leases",
        "PUT /v1/spaces/{space}/leases",
        "DELETE /v1/spaces/{space}/leases",
        "POST /v1/spaces/{space}/requests",
        "POST /v1/store/spaces",
    ];
    let exempt = exempt.map(|name| {
        format!(
            "[[operations]]\ninclude-name = \"{name}\"\nchecks.positive_data_acceptance.enabled = false\n"
        )
    });
    fs::write(&config, exempt.concat()).unwrap();
    let output = Command::new(schemathesis)
        .current_dir(&folder.0)
        .args(["--config-file", &config, "run", &format!("http://{}/openapi.json", serving.http)])
        .args(["--max-examples", "30", "--generation-deterministic", "--no-color"])
        .output()
        .unwrap();
    let said = succeeded(&output);
    assert!(said.contains("Test cases:") && !said.contains("FAILURES"), "{said}");
}

#[test]
fn tokens_are_made_listed_and_revoked_while_it_runs() {
    let folder = Folder::new();
    let data = folder.path("data");
    let token = lines(&["auth", "add", "shop", "--allow", "mint:counter", "--data", &data]).remove(0);
    assert!(token.starts_with("mintage_") && token.len() == 8 + 43 + 6, "{}", token.len());
    let serving = Serving::begin(&folder, &[]);
    assert!(serving.printed.iter().any(|line| line.contains("Bearer $TOKEN")), "{:?}", serving.printed);
    let with = format!("Authorization: Bearer {token}\r\n");
    let ids = |headers: &str| asked(serving.http, "POST /v1/spaces/counter/ids", headers).unwrap();
    assert_eq!(ids("").0, 401);
    assert_eq!(ids(&with), (200, "{\"ids\":[\"1\"]}".to_owned()));
    assert_eq!(asked(serving.http, "POST /v1/spaces/default/ids", &with).unwrap().0, 403);
    let listed = lines(&["auth", "list", "--data", &data]).join("\n");
    assert!(
        listed.contains("shop") && listed.contains("mint:counter") && !listed.contains(&token),
        "{listed}"
    );
    assert!(!fs::read_to_string(folder.path("data/credentials.toml")).unwrap().contains(&token[17..]));
    assert!(mintage(&["auth", "revoke", "shop", "--data", &data]).status.success());
    let ended = (0..100).any(|_| {
        pause(SECOND / 20);
        ids(&with).0 == 401
    });
    assert!(ended, "a revoked token went on");
    for (args, told) in [
        (&["auth", "revoke", "shop", "--data", &data][..], "there are none"),
        (&["auth", "add", "a b", "--allow", "read", "--data", &data], "1 to 64"),
        (&["auth", "add", "a", "--allow", "write", "--data", &data], "mint:SPACE"),
        (&["auth", "add", "a", "--data", &data], "--allow"),
    ] {
        let (code, text) = refusal(args);
        assert!(code == 2 && text.contains(told), "{args:?}: {text}");
    }
}

#[test]
fn what_is_not_safe_or_not_sound_is_refused_before_it_listens() {
    let folder = Folder::new();
    let data = folder.path("data");
    let file = folder.path("mintage.toml");
    for (args, code, told) in [
        (&["--listen", "0.0.0.0:0"][..], 2, "--insecure"),
        (&["--redis", "[::]:0"], 2, "mintage auth add"),
        (&["--listen", "localhost"], 2, "an address and a port"),
        (&["--tls-key", "x.pem"], 2, "go together"),
        (&["--tls-key", "x.pem", "--tls-certificate", "y.pem"], 3, "y.pem"),
        (&["--max-count", "0"], 2, "1 to 1000000"),
        (&["--facades", "/nowhere/at/all"], 3, "/nowhere/at/all"),
        (&["--store", "redis://x"], 2, "no store has such a URL"),
        (&["--config", &file], 2, "mintage.toml"),
    ] {
        let (is, text) = refusal(&[&["serve", "--data", &data], args].concat());
        assert!(is == code && text.contains(told), "{args:?}: {is} {text}");
    }
    let serving = Serving::begin(&folder, &[]);
    let (code, text) =
        refusal(&["serve", "--data", &folder.path("other"), "--listen", &serving.http.to_string()]);
    assert!(code == 3 && text.contains("can't be listened on"), "{text}");
}

#[test]
fn settings_come_from_flags_over_the_environment_over_a_file() {
    let folder = Folder::new();
    let file = folder.path("mintage.toml");
    fs::write(&file, "listen = '127.0.0.1:1'\nmax-count = 7\ndrain-seconds = 3\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mintage"))
        .args(["serve", "--config", &file, "--drain-seconds", "5", "--print-config"])
        .env("MINTAGE_MAX_COUNT", "8")
        .env("MINTAGE_STORE", "postgres://u:geheim@h/d")
        .output()
        .unwrap();
    let printed = succeeded(&output);
    for line in
        ["listen = \"127.0.0.1:1\"", "max-count = 8", "drain-seconds = 5", "store = \"postgres://u:***@h/d\""]
    {
        assert!(printed.lines().any(|own| own == line), "{line}: {printed}");
    }
    assert!(!printed.contains("geheim"));
}

#[test]
fn it_waits_for_its_store_and_says_so() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let proxy = Proxy::before(1).unwrap();
    let url = server.url(&database).replace(&server.port().to_string(), &proxy.port().to_string());
    let folder = Folder::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_mintage"))
        .args([
            "serve",
            "--data",
            &folder.path("data"),
            "--listen",
            "127.0.0.1:0",
            "--redis",
            "",
            "--store",
            &url,
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("waiting for the store"), "{line}");
    proxy.lead_to(server.port());
    let mut out = BufReader::new(child.stdout.take().unwrap());
    line.clear();
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("http "), "{line}");
    signal::terminate(child.id()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn systemd_is_told_when_it_is_ready_and_when_it_ends() {
    let folder = Folder::new();
    // Addresses of sockets are short.
    let name = std::env::temp_dir().join(format!("mintage-notify-{}", std::process::id()));
    let _ = fs::remove_file(&name);
    let socket = UnixDatagram::bind(&name).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_mintage"))
        .args(["serve", "--data", &folder.path("data"), "--listen", "127.0.0.1:0", "--redis", ""])
        .env("NOTIFY_SOCKET", &name)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let told = || {
        let mut bytes = [0; 100];
        let len = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..len].to_vec()).unwrap()
    };
    assert_eq!(told().trim_end(), "READY=1");
    signal::terminate(child.id()).unwrap();
    assert_eq!(told().trim_end(), "STOPPING=1");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let _ = fs::remove_file(&name);
}

#[test]
fn lines_of_the_log_are_json_and_hold_no_secret() {
    let folder = Folder::new();
    let data = folder.path("data");
    let token = lines(&["auth", "add", "a", "--allow", "mint:default", "--data", &data]).remove(0);
    let mut serving = Serving::begin(&folder, &["--log", "json", "--log-requests", "all"]);
    let with = format!("Authorization: Bearer {token}\r\nX-Request-Id: mine-1\r\n");
    assert_eq!(asked(serving.http, "POST /v1/spaces/default/ids", &with).unwrap().0, 200);
    assert_eq!(asked(serving.http, &format!("GET /v1/inspect/{token}"), &with).unwrap().0, 200);
    signal::terminate(serving.pid()).unwrap();
    let mut log = String::new();
    serving.stderr.read_to_string(&mut log).unwrap();
    let objects: Vec<Value> = log
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let has = |name: &str, value: &str| objects.iter().any(|object| object[name] == value);
    assert!(has("state", "ready") && has("state", "ended") && has("request_id", "mine-1"), "{log}");
    assert!(
        has("route", "/v1/spaces/{space}/ids") && has("event", "acquired") && has("event", "released"),
        "{log}"
    );
    assert!(!log.contains(&token[17..]), "{log}");
}
