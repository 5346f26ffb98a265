//! Where a server lives, and how it is run so that it can't outlive the tests.

use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use mintage::time::pause;

/// A folder of one's own that a server's user may write to; removed with its handle.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mintage-{name}-{}-{count}", std::process::id()));
        fs::create_dir_all(&path)?;
        if is_root() {
            run(Command::new("chown").arg("postgres:postgres").arg(&path))?;
        }
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Servers that are on their way out may still write.
        for _ in 0..50 {
            if fs::remove_dir_all(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            pause(20_000_000);
        }
    }
}

/// A server that ends when its handle is dropped, and also when this process dies by whatever means: a shell waits for the end
/// of its input.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    input: Option<ChildStdin>,
}

impl Running {
    /// `signal` ends it at once.
    pub(super) fn start(program: &str, arguments: &[String], signal: &str, log: &Path) -> io::Result<Self> {
        let script = format!(r#""$@" </dev/null & read -r _; kill -{signal} $!; wait $!"#);
        let log = fs::OpenOptions::new().create(true).append(true).open(log)?;
        let mut command = as_server("sh");
        command.args(["-c", &script, "sh", program]).args(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log).current_dir("/").spawn()?;
        let input = child.stdin.take();
        Ok(Self { child, input })
    }

    /// Waits until somebody listens at the port; false when the server has ended.
    pub(super) fn listens(&mut self, port: u16) -> bool {
        for _ in 0..1_000 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return true;
            }
            if !matches!(self.child.try_wait(), Ok(None)) {
                return false;
            }
            pause(10_000_000);
        }
        false
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

/// A port that nobody listened at a moment ago.
pub(super) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// A command run by the user that database servers want; nobody else can be asked of an ordinary user.
pub(super) fn as_server(program: &str) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--init-groups", program]);
    command
}

/// Runs a command to its end; its output when it went well.
pub(super) fn run(command: &mut Command) -> io::Result<String> {
    let output = command.stdin(Stdio::null()).current_dir("/").output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(format!("{command:?}: {words}")))
}

/// What a missing server means.
///
/// # Panics
/// When `CI` is `true`.
pub(super) fn missing(name: &str) {
    assert_ne!(
        std::env::var("CI").as_deref(),
        Ok("true"),
        "{name} is missing, and with CI=true nothing is skipped; see scripts/install-tools"
    );
    // Not by a macro: those are captured, and a skip must be seen.
    let _ = writeln!(io::stderr(), "skipped: {name} is missing; see scripts/install-tools");
}

/// Whether this process may become another user.
pub(super) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
}
