//! A forked child: this process continued a second time, with everything that it has in memory, reporting over a pipe.

use crate::signal::die_after;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A child that was forked and not yet waited for.
#[derive(Debug)]
pub struct Forked {
    pid: libc::pid_t,
    report: PipeReader,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code: 0 when its work came to an end, 101 when it panicked.
    Code(i32),
    /// By this signal: SIGALRM when it hung.
    Signal(i32),
}

impl Forked {
    /// Forks. The child does `work`, ends, and never comes back from this call; after `limit` it is ended by SIGALRM.
    ///
    /// Of the parent's threads only the calling one lives on in the child. Whatever lock another one held stays locked there for
    /// ever: `work` may allocate (glibc sees to its own locks) and use what is under test, nothing else that is shared.
    ///
    /// # Errors
    /// When there can be no pipe or no child.
    pub fn run(limit: Duration, work: impl FnOnce(&mut PipeWriter)) -> io::Result<Self> {
        let (report, mut out) = io::pipe()?;
        #[expect(
            unsafe_code,
            reason = "std starts programs; a second life of this one is had from fork alone"
        )]
        // SAFETY: fork touches no memory of this process. The child runs `work` under the limits documented above and leaves by
        // `_exit` without returning to its caller.
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                die_after(limit);
                drop(report);
                let answer = catch_unwind(AssertUnwindSafe(|| work(&mut out)));
                exit_now(if answer.is_ok() { 0 } else { 101 })
            }
            _ => Ok(Self { pid, report }),
        }
    }

    /// Reads what the child writes until it ends.
    ///
    /// # Errors
    /// When reading or waiting fails.
    pub fn finish(mut self) -> io::Result<(Vec<u8>, End)> {
        let mut report = Vec::new();
        self.report.read_to_end(&mut report)?;
        let mut status = 0;
        loop {
            #[expect(unsafe_code, reason = "std waits only for children that it has started")]
            // SAFETY: `status` is a live integer, and `pid` a child of this process that nobody else waits for.
            let waited = unsafe { libc::waitpid(self.pid, &raw mut status, 0) };
            if waited == self.pid {
                break;
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        let end = if libc::WIFSIGNALED(status) {
            End::Signal(libc::WTERMSIG(status))
        } else {
            End::Code(libc::WEXITSTATUS(status))
        };
        Ok((report, end))
    }
}

/// Ends the process without the parent's exit handlers and unflushed buffers.
fn exit_now(code: i32) -> ! {
    #[expect(unsafe_code, reason = "std's exit runs handlers that belong to the parent")]
    // SAFETY: `_exit` takes any number, touches no memory and doesn't return.
    unsafe {
        libc::_exit(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_child_reports_and_ends() {
        let mine = std::process::id();
        let child = Forked::run(Duration::from_secs(10), |out| {
            let pid = std::process::id();
            out.write_all(&pid.to_be_bytes()).unwrap();
        });
        let (report, end) = child.unwrap().finish().unwrap();
        assert_eq!(end, End::Code(0));
        assert_ne!(report, mine.to_be_bytes());
        assert_eq!(report.len(), 4);
    }

    #[test]
    fn a_child_that_hangs_is_ended() {
        let child = Forked::run(Duration::from_secs(1), |_| {
            loop {
                std::thread::park();
            }
        });
        assert_eq!(child.unwrap().finish().unwrap(), (vec![], End::Signal(libc::SIGALRM)));
    }
}
