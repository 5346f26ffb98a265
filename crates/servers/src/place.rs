//! Where a server lives, and how it is run so that it can't outlive the process that started it.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use mintage::time::pause;

/// The user that servers run as where this process is root's.
const SERVER_USER: &str = "postgres";

/// A folder of one's own that a server's user may write to; removed with its handle.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// In the folder of temporary files, for this process's user alone; its name begins with `mintage-`. Whatever has that name already, a
    /// link that somebody has put there included, isn't used.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn new(name: &str) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("mintage-{name}-{}-{count}", std::process::id()));
            // Servers and their programs run in `/`.
            let path = std::path::absolute(path)?;
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let told = format!(
                        "making {}: {error}; set TMPDIR to a folder that may be written to",
                        path.display()
                    );
                    return Err(io::Error::other(told));
                }
            }
        }
    }

    /// The same for the user that servers run as.
    ///
    /// # Errors
    /// When it can't be made, can't be given to that user, or that user can't reach it.
    pub fn of_server(name: &str) -> io::Result<Self> {
        let folder = Self::new(name)?;
        if is_root() {
            let given =
                run(Command::new("chown").arg(format!("{SERVER_USER}:{SERVER_USER}")).arg(folder.path()));
            given.map_err(|error| {
                io::Error::other(format!(
                    "giving {} to the user {SERVER_USER}, as servers don't run as root: {error}; make that user, or run this as another one than root",
                    folder.path().display()
                ))
            })?;
            if run(as_server("test").arg("-w").arg(folder.path())).is_err() {
                return Err(io::Error::other(format!(
                    "the user {SERVER_USER}, as whom servers run, can't reach {}; set TMPDIR to a folder that every user may enter, or run this as \
                     another one than root",
                    folder.path().display()
                )));
            }
        }
        Ok(folder)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
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
/// of its input. The shell ends with the server.
#[derive(Debug)]
pub struct Running {
    child: Child,
    input: Option<ChildStdin>,
}

impl Running {
    /// Its output goes to the end of `log`; `signal` (`QUIT`, `KILL`) ends it at once.
    ///
    /// # Errors
    /// When it can't be run.
    pub fn start(program: &str, arguments: &[String], signal: &str, log: &Path) -> io::Result<Self> {
        let script = format!(
            r#"exec 3<&0; "$@" </dev/null 3<&- & server=$!
            {{ read -r _ <&3; kill -{signal} $server; }} </dev/null & watch=$!
            wait $server; code=$?; kill $watch 2>/dev/null; exit $code"#
        );
        let log = fs::OpenOptions::new().create(true).append(true).open(log)?;
        let mut command = as_server("sh");
        command.args(["-c", &script, "sh", program]).args(arguments);
        // In a group of its own: Ctrl-C at the terminal is for whoever started it, and that one ends it.
        command.process_group(0);
        let child =
            command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log).current_dir("/").spawn();
        let mut child = child.map_err(|error| not_run(&command, &error))?;
        let input = child.stdin.take();
        Ok(Self { child, input })
    }

    /// Waits until somebody listens at the port; false when the server has ended.
    pub fn listens(&mut self, port: u16) -> bool {
        for _ in 0..1_000 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return true;
            }
            if !self.is_alive() {
                return false;
            }
            pause(10_000_000);
        }
        false
    }

    /// Whether the server hasn't ended.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

/// Waits until processes that were killed have ended, but for those that nobody has asked how; false when some don't.
pub(crate) fn all_end(processes: &[&str]) -> bool {
    let has_ended = |process: &&str| match fs::read_to_string(format!("/proc/{process}/stat")) {
        // `PID (NAME) STATE …`, and a name may have anything in it.
        Ok(line) => line.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X'])),
        Err(_) => true,
    };
    for _ in 0..1_000 {
        if processes.iter().all(has_ended) {
            return true;
        }
        pause(10_000_000);
    }
    false
}

/// A port that nobody listened at a moment ago.
///
/// # Errors
/// When there is none.
pub fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// A command run by the user that database servers want; nobody else can be asked of an ordinary user.
#[must_use]
pub fn as_server(program: &str) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={SERVER_USER}")).arg(format!("--regid={SERVER_USER}"));
    command.args(["--init-groups", program]);
    command
}

/// Gives a folder with all that is in it to the user that servers run as.
///
/// # Errors
/// When that can't be done.
pub fn give_to_server(folder: &Path) -> io::Result<()> {
    if is_root() {
        run(Command::new("chown").arg("-R").arg(format!("{SERVER_USER}:{SERVER_USER}")).arg(folder))?;
    }
    Ok(())
}

/// Runs a command to its end; its output when it went well. A Ctrl-C of the terminal doesn't reach it: whoever runs it says when all ends.
///
/// # Errors
/// Its name and what it said, when it didn't.
pub fn run(command: &mut Command) -> io::Result<String> {
    let output = command.stdin(Stdio::null()).current_dir("/").process_group(0).output();
    let output = output.map_err(|error| not_run(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    // Some say what is wrong on standard output.
    let said = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
    let words = String::from_utf8_lossy(said);
    let words = if words.trim().is_empty() { output.status.to_string() } else { words.trim().to_owned() };
    Err(io::Error::other(format!("{command:?}: {words}")))
}

fn not_run(command: &Command, error: &io::Error) -> io::Error {
    let program = command.get_program().display();
    io::Error::other(format!("running {program}: {error}; install it, or put its folder on the PATH"))
}

/// That a server isn't installed.
pub(crate) fn missing(name: &str, what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        format!("{name} isn't installed: {what}; install it, or choose another store"),
    )
}

/// That a server doesn't start, with the last that it said.
pub(crate) fn silent(name: &str, log: &Path) -> io::Error {
    const LINES: usize = 6;
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let end = lines[lines.len().saturating_sub(LINES)..].join("\n");
    io::Error::other(match end.as_str() {
        "" => format!("{name} doesn't start, and says nothing; see whether it starts by hand"),
        end => format!("{name} doesn't start; mend what its last words name:\n{end}"),
    })
}

/// Whether this process may become another user.
#[must_use]
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0)
}
