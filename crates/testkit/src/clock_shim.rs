//! The clock shim: a preloaded library (`clock_shim.c`) that moves the wall clock of one program, exactly and at full speed.
//!
//! The system's clock stays as it is, and so does the program's monotonic clock. The shim reaches programs that are linked
//! dynamically; whoever steps a clock asks the program what it saw.

use anyhow::{Context, Result, ensure};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

/// The shim's source, compiled where it is used.
const SOURCE: &str = include_str!("clock_shim.c");

/// Builds the shim in `folder`, which must exist; returns the library's path.
///
/// # Errors
/// When there is no `cc`, or it has something to say.
pub fn build(folder: &Path) -> Result<PathBuf> {
    let (source, library) = (folder.join("clock_shim.c"), folder.join("clock_shim.so"));
    fs::write(&source, SOURCE).with_context(|| format!("writing {}", source.display()))?;
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .output()
        .context("running cc: the clock shim needs a C compiler")?;
    ensure!(compiled.status.success(), "cc: {}", String::from_utf8_lossy(&compiled.stderr));
    Ok(library)
}

/// The wall clock of one program, as an offset to the system's. Its file goes when this does.
#[derive(Debug)]
pub struct SteppedClock {
    library: PathBuf,
    path: PathBuf,
    /// The offset, and the one that the program saw last, in memory that it shares.
    page: &'static [AtomicI64; 2],
}

impl SteppedClock {
    /// A clock that is right as yet, for a program run under the shim at `library`; its file goes beside that.
    ///
    /// # Errors
    /// When the file can't be made or mapped.
    pub fn new(library: PathBuf) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = library.with_file_name(format!("offset-{}-{number}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        let file = file.with_context(|| format!("making {}", path.display()))?;
        file.set_len(size_of::<[AtomicI64; 2]>() as u64)?;
        let page = map(&file).with_context(|| format!("mapping {}", path.display()))?;
        Ok(Self { library, path, page })
    }

    /// Sets `program` up to run by this clock.
    pub fn arm(&self, program: &mut Command) {
        program.env("LD_PRELOAD", &self.library).env("MINTAGE_CLOCK_OFFSET", &self.path);
    }

    /// Steps the clock, back when `nanos` is negative.
    pub fn step(&self, nanos: i64) {
        self.page[0].fetch_add(nanos, Ordering::Relaxed);
    }

    /// By how many nanoseconds the clock was off when the program read it last; 0 before it did.
    #[must_use]
    pub fn seen(&self) -> i64 {
        self.page[1].load(Ordering::Relaxed)
    }

    /// Whether a running program has the clock's page mapped, so that it can't but read this clock.
    ///
    /// # Errors
    /// When there is no such process, or no `/proc`.
    pub fn is_mapped_by(&self, pid: u32) -> io::Result<bool> {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
        Ok(maps.contains(&*self.path.to_string_lossy()))
    }
}

impl Drop for SteppedClock {
    fn drop(&mut self) {
        // A file left behind does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

#[expect(unsafe_code, reason = "memory shared with another process has no safe interface in std")]
fn map(file: &File) -> io::Result<&'static [AtomicI64; 2]> {
    // SAFETY: a new shared mapping at an address of the kernel's choice touches no memory of ours; the file has this length.
    let page = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size_of::<[AtomicI64; 2]>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if page == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping is page-aligned, readable, writable and never unmapped, the file isn't cut, and other processes read
    // and write it by atomic loads and stores.
    Ok(unsafe { &*page.cast::<[AtomicI64; 2]>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_reaches_a_program_that_is_running() {
        if !crate::tool::has("cc") {
            return;
        }
        let folder = std::env::temp_dir().join(format!("mintage-shim-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let clock = SteppedClock::new(build(&folder).unwrap()).unwrap();
        let year = |clock: &SteppedClock| {
            let mut date = Command::new("date");
            date.args(["-u", "+%Y"]);
            clock.arm(&mut date);
            String::from_utf8(date.output().unwrap().stdout).unwrap().trim().parse::<i64>().unwrap()
        };
        let now = year(&clock);
        clock.step(-20 * 365 * 86_400 * 1_000_000_000);
        let then = year(&clock);
        assert!((now - 21..=now - 19).contains(&then), "{now} became {then}");
        assert_eq!(clock.seen(), -20 * 365 * 86_400 * 1_000_000_000);
        drop(clock);
        fs::remove_dir_all(folder).unwrap();
    }
}
