//! What the host says of its own clock: the kernel's state of NTP, and chrony where it runs.

use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the kernel says of its clock. Source: adjtimex(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kernel {
    /// Whether something keeps it right.
    pub(crate) is_synchronized: bool,
    /// How far off it is.
    pub(crate) offset_nanos: i64,
    /// How far off it may be at most.
    pub(crate) max_error_nanos: i64,
}

/// Asks the kernel, without changing anything.
#[expect(unsafe_code, reason = "no safe crate here has adjtimex(2)")]
pub(crate) fn kernel() -> Option<Kernel> {
    // SAFETY: all zero is a value of this struct of numbers; with no mode set, the call only writes to it.
    let (state, timex) = unsafe {
        let mut timex: libc::timex = std::mem::zeroed();
        (libc::adjtimex(&raw mut timex), timex)
    };
    if state < 0 {
        return None;
    }
    // Microseconds, unless the kernel says nanoseconds.
    let unit = if timex.status & libc::STA_NANO == 0 { 1_000 } else { 1 };
    Some(Kernel {
        is_synchronized: timex.status & libc::STA_UNSYNC == 0 && state != libc::TIME_ERROR,
        offset_nanos: timex.offset * unit,
        max_error_nanos: timex.maxerror * 1_000,
    })
}

/// The last answer of chrony, in seconds; it is asked anew in the background, and never waited for.
pub(crate) fn chrony() -> Option<f64> {
    static LAST: Mutex<Option<f64>> = Mutex::new(None);
    static IS_ASKED: AtomicBool = AtomicBool::new(false);
    if !IS_ASKED.swap(true, Ordering::Relaxed) {
        let ask = || {
            let answer = ask_chrony();
            if let Ok(mut last) = LAST.lock() {
                *last = answer;
            }
            IS_ASKED.store(false, Ordering::Relaxed);
        };
        if std::thread::Builder::new().name("chrony".to_owned()).spawn(ask).is_err() {
            IS_ASKED.store(false, Ordering::Relaxed);
        }
    }
    LAST.lock().ok().and_then(|last| *last)
}

fn ask_chrony() -> Option<f64> {
    let asked = Command::new("chronyc")
        .args(["-c", "tracking"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    offset_of(&String::from_utf8_lossy(&asked.stdout))
}

/// `chronyc -c tracking` puts the offset of the system's clock fifth, in seconds, positive where it is slow.
fn offset_of(line: &str) -> Option<f64> {
    line.trim().split(',').nth(4)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_answers() {
        let kernel = kernel().unwrap();
        assert!(kernel.max_error_nanos >= 0, "{kernel:?}");
    }

    #[test]
    fn the_offset_is_the_fifth_of_what_chrony_says() {
        let line = "A29FC87B,162.159.200.123,4,1700000000.123,-0.000012345,0.000001,0.00002,-3.1,0.0,0.05,0.01,0.002,64.2,Normal\n";
        assert_eq!(offset_of(line), Some(-0.000_012_345));
        assert_eq!(offset_of("506 Cannot talk to daemon"), None);
    }
}
