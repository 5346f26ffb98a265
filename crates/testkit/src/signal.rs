//! Signals: stopping a process, letting it go on, asking it to end, and an end to one that hangs or that nobody is left to end.

use std::io;
use std::process::Command;
use std::time::Duration;

/// Stops a process (SIGSTOP); it can't catch or ignore it.
///
/// # Errors
/// What the system says: no such process, or not ours.
pub fn stop(pid: u32) -> io::Result<()> {
    send(pid, libc::SIGSTOP)
}

/// Lets a stopped process go on (SIGCONT).
///
/// # Errors
/// See [`stop`].
pub fn resume(pid: u32) -> io::Result<()> {
    send(pid, libc::SIGCONT)
}

/// Asks a process to end (SIGTERM).
///
/// # Errors
/// See [`stop`].
pub fn terminate(pid: u32) -> io::Result<()> {
    send(pid, libc::SIGTERM)
}

/// Interrupts a process as Ctrl-C does (SIGINT).
///
/// # Errors
/// See [`stop`].
pub fn interrupt(pid: u32) -> io::Result<()> {
    send(pid, libc::SIGINT)
}

/// Whether every thread of the process is stopped, as `/proc` shows it.
///
/// # Errors
/// When there is no such process, or no `/proc`.
pub fn is_stopped(pid: u32) -> io::Result<bool> {
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let stat = std::fs::read_to_string(task?.path().join("stat"))?;
        // The state follows the name, which stands in parentheses and may itself hold some.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        if state != Some('T') {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Ends this process by SIGALRM after `limit` (whole seconds, at least one), also when all its threads hang. Forked children
/// don't inherit it.
pub fn die_after(limit: Duration) {
    let seconds = u32::try_from(limit.as_secs()).unwrap_or(u32::MAX).max(1);
    #[expect(unsafe_code, reason = "alarm has no safe interface in std")]
    // SAFETY: alarm takes any number and touches no memory; nobody here handles SIGALRM, so the process just ends.
    unsafe {
        libc::alarm(seconds);
    }
}

/// Lets a program that is started by this thread end with it, by SIGKILL, which a stopped process can't outlast either: whoever started it
/// may be killed and end nothing. Where the system has no such thing (any but Linux), it does nothing.
pub fn ends_with_its_starter(program: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let starter = std::process::id();
        let arm = move || {
            #[expect(unsafe_code, reason = "prctl has no safe interface in std")]
            // SAFETY: with PR_SET_PDEATHSIG prctl takes a number, and touches no memory.
            if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
                return Err(io::Error::last_os_error());
            }
            // It may have died before.
            if std::os::unix::process::parent_id() != starter {
                return Err(io::Error::from(io::ErrorKind::BrokenPipe));
            }
            Ok(())
        };
        #[expect(unsafe_code, reason = "a system call between fork and exec")]
        // SAFETY: both calls are safe after a fork of a process with threads: they take no lock and no memory.
        unsafe {
            program.pre_exec(arm);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = program;
}

fn send(pid: u32, signal: i32) -> io::Result<()> {
    let pid = i32::try_from(pid).ok().filter(|pid| *pid > 1);
    // 0, -1 and the like name groups of processes.
    let pid = pid.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a process id"))?;
    #[expect(unsafe_code, reason = "kill has no safe interface in std")]
    // SAFETY: kill takes any numbers and touches no memory of this process.
    let answer = unsafe { libc::kill(pid, signal) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_process_is_seen_to_be_stopped() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(!is_stopped(child.id()).unwrap());
        stop(child.id()).unwrap();
        while !is_stopped(child.id()).unwrap() {
            std::thread::yield_now();
        }
        resume(child.id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn groups_of_processes_are_out_of_reach() {
        assert!(stop(0).is_err());
        assert!(stop(u32::MAX).is_err());
    }
}
