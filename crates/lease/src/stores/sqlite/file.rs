//! Which file a store is: device and inode, the side-car that counts commits, and the file system below. Rules 16 and 17.
//!
//! The side-car (`PATH-serial`) holds the revision of the last commit that was answered, and when the file was made and changed. It is
//! written and synced after each commit and before the answer, under a lock that is held over the whole transaction. So a file that
//! has a lower revision than its side-car lost commits that were answered; a file that is ahead by one is what a crash between commit
//! and answer leaves. A file and a side-car that were put back together agree in their revisions, but not in their times, unless
//! whoever put the file back wrote into it and set its time of change back.

use mintage::time::pause;
use mintage::{Entropy, SystemEntropy};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::store::Deadline;

/// Device and inode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) device: u64,
    pub(super) inode: u64,
}

impl Place {
    /// What the path leads to now; `None` when nothing.
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        match std::fs::metadata(path) {
            Ok(meta) => Ok(Some(Self { device: meta.dev(), inode: meta.ino() })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Up to which commit the store has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The revision of the last commit that was answered.
    pub(super) revision: u64,
    /// The generation of the file that it belongs to.
    pub(super) generation: u64,
}

/// When a file was made and last changed, in nanoseconds since 1970; 0 where the file system doesn't tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) made: u64,
    pub(super) changed: u64,
}

impl Times {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let meta = std::fs::metadata(path)?;
        let nanos = |time: io::Result<SystemTime>| {
            let since = time.ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
            since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0)
        };
        Ok(Self { made: nanos(meta.created()), changed: nanos(meta.modified()) })
    }
}

/// What a side-car says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) mark: Mark,
    /// Of the file, right after that commit.
    pub(super) times: Times,
}

/// What is found where the store should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) place: Place,
    pub(super) times: Times,
    /// Whether what a crash left half written was undone just now, which changed the file.
    pub(super) is_mended: bool,
}

/// What the file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) mark: Mark,
    pub(super) place: Place,
    /// Whether it was written in the present boot of the host.
    pub(super) is_same_boot: bool,
}

/// Whether the file is the one that it says, with every commit that was answered.
///
/// Devices are numbered anew by a boot, so they compare only within one.
pub(super) fn is_whole(stored: &Stored, said: Option<Said>, found: &Found) -> bool {
    let Some(Said { mark, times }) = said else { return false };
    let is_made_then = times.made == found.times.made || times.made == 0 || found.times.made == 0;
    let is_as_left = match stored.mark.revision.checked_sub(mark.revision) {
        Some(0) => times.changed == found.times.changed || found.is_mended,
        Some(1) => true,
        _ => false,
    };
    let is_device_same = stored.place.device == found.place.device || !stored.is_same_boot;
    mark.generation == stored.mark.generation
        && is_as_left
        && is_made_then
        && stored.place.inode == found.place.inode
        && is_device_same
}

/// The side-car, locked.
#[derive(Debug)]
pub(super) struct SideCar {
    file: File,
}

const LINE: usize = 99;
const HEAD: &str = "mintage serial ";

impl SideCar {
    /// Where the side-car of a file lies.
    pub(super) fn path_of(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push("-serial");
        PathBuf::from(name)
    }

    /// Opens and locks it, and makes it where it is missing. `None` when the deadline came first.
    pub(super) fn lock(path: &Path, deadline: Deadline) -> io::Result<Option<Self>> {
        let path = Self::path_of(path);
        loop {
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
            loop {
                match file.try_lock() {
                    Ok(()) => break,
                    Err(TryLockError::Error(error)) => return Err(error),
                    Err(TryLockError::WouldBlock) if deadline.left().is_zero() => return Ok(None),
                    Err(TryLockError::WouldBlock) => pause(jitter_nanos(1_000_000)),
                }
            }
            // Whoever holds the lock of a file that is no longer there holds nothing.
            let meta = file.metadata()?;
            let locked = Place { device: meta.dev(), inode: meta.ino() };
            if Place::of(&path)? == Some(locked) {
                return Ok(Some(Self { file }));
            }
        }
    }

    /// What it says; `None` when it is new, or was being made when the host crashed.
    pub(super) fn read(&self) -> io::Result<Option<Said>> {
        let mut line = Vec::new();
        let mut file = &self.file;
        file.rewind()?;
        file.take(LINE as u64 + 1).read_to_end(&mut line)?;
        let said = std::str::from_utf8(&line).ok().and_then(parse);
        let is_ours = line.starts_with(HEAD.as_bytes()) || line.iter().all(|byte| *byte == 0);
        if said.is_none() && !is_ours {
            let what =
                "PATH-serial, which lies beside the file, is something else: move it, or choose another path";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(said)
    }

    /// Writes it, durably. A line is one write within one sector.
    pub(super) fn write(&self, said: Said) -> io::Result<()> {
        self.file.write_all_at(line(said).as_bytes(), 0)?;
        self.file.sync_data()
    }

    /// Removes one that was made in vain.
    pub(super) fn discard(self, path: &Path) {
        if self.read().is_ok_and(|said| said.is_none()) {
            let _ = std::fs::remove_file(Self::path_of(path));
        }
    }

    /// The number of the process that holds the side-car's lock, where the system tells.
    ///
    /// Source: `proc_locks(5)`: `1: FLOCK ADVISORY WRITE 1234 00:2f:5678 0 EOF`, with device and inode after the process.
    pub(super) fn holder(path: &Path) -> Option<u32> {
        let inode = std::fs::metadata(Self::path_of(path)).ok()?.ino().to_string();
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        locks.lines().find_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_held = words.get(1) == Some(&"FLOCK") && words.get(5)?.rsplit(':').next() == Some(&inode);
            is_held.then(|| words.get(4)?.parse().ok()).flatten()
        })
    }
}

impl Drop for SideCar {
    /// Unlocks by word, not by closing: a child that was forked meanwhile has the file open too.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Makes a new file's name durable.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

fn line(Said { mark, times }: Said) -> String {
    let [a, b, c, d] = [mark.revision, mark.generation, times.made, times.changed];
    format!("{HEAD}{a:020} {b:020} {c:020} {d:020}\n")
}

fn parse(line: &str) -> Option<Said> {
    let mut words = line.strip_prefix(HEAD)?.strip_suffix('\n')?.split(' ');
    let mut next = || words.next()?.parse().ok();
    let mark = Mark { revision: next()?, generation: next()? };
    let times = Times { made: next()?, changed: next()? };
    words.next().is_none().then_some(Said { mark, times })
}

/// Whether a journal lies beside the file that a crash left: opening the file undoes what was half written.
pub(super) fn has_journal(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push("-journal");
    std::fs::metadata(PathBuf::from(name)).is_ok_and(|meta| meta.len() > 0)
}

/// A pause of `nanos` on average, so that those who wait don't come all at once.
pub(super) fn jitter_nanos(nanos: u64) -> u64 {
    let mut byte = [128];
    let _ = SystemEntropy.fill(&mut byte);
    nanos / 2 + nanos * u64::from(byte[0]) / 255
}

/// The name of a file system whose locks or syncs reach over a network, or can't be known; `None` for a local one. Rule 16.
///
/// Source: `statfs(2)`, and `include/uapi/linux/magic.h` of Linux.
#[cfg(target_os = "linux")]
pub(super) fn remote_file_system(path: &Path) -> io::Result<Option<&'static str>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // One file alone can be mounted too.
    let at = if path.exists() { path } else { folder };
    Ok(remote_name(i128::from(rustix::fs::statfs(at)?.f_type)))
}

#[cfg(target_os = "linux")]
fn remote_name(magic: i128) -> Option<&'static str> {
    const REMOTE: &[(u32, &str)] = &[
        (0x6969, "nfs"),
        (0x517b, "smb"),
        (0xfe53_4d42, "smb2"),
        (0xff53_4d42, "cifs"),
        (0x00c3_6400, "ceph"),
        (0x0102_1997, "9p"),
        (0x5346_414f, "afs"),
        (0x7375_7245, "coda"),
        (0x0116_1970, "gfs2"),
        (0x7461_636f, "ocfs2"),
        (0x0bd0_0bd0, "lustre"),
        (0x4750_4653, "gpfs"),
        (0x786f_4256, "vboxsf"),
        (0xbeef_dead, "snfs"),
        (0x6573_5546, "fuse"),
    ];
    let found = REMOTE.iter().find(|(number, _)| magic & 0xffff_ffff == i128::from(*number));
    found.map(|(_, name)| *name)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn remote_file_system(_: &Path) -> io::Result<Option<&'static str>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times { made: 7, changed: 8 };
    const FOUND: Found = Found { place: Place { device: 1, inode: 2 }, times: TIMES, is_mended: false };
    const STORED: Stored =
        Stored { mark: Mark { revision: 10, generation: 5 }, place: FOUND.place, is_same_boot: true };

    fn with(revision: u64) -> Option<Said> {
        Some(Said { mark: Mark { revision, generation: 5 }, times: TIMES })
    }

    #[test]
    fn rule_17_a_file_is_whole_with_the_revision_of_its_side_car_or_one_more() {
        assert!(is_whole(&STORED, with(10), &FOUND));
        assert!(is_whole(&STORED, with(9), &FOUND));
        let foreign = Some(Said { mark: Mark { revision: 10, generation: 6 }, times: TIMES });
        for said in [None, with(11), with(8), foreign] {
            assert!(!is_whole(&STORED, said, &FOUND), "{said:?}");
        }
    }

    #[test]
    fn rule_17_another_inode_or_within_a_boot_another_device_is_another_file() {
        let at = |place| Found { place, ..FOUND };
        assert!(!is_whole(&STORED, with(10), &at(Place { inode: 3, ..FOUND.place })));
        let moved = at(Place { device: 9, ..FOUND.place });
        assert!(!is_whole(&STORED, with(10), &moved));
        assert!(is_whole(&Stored { is_same_boot: false, ..STORED }, with(10), &moved));
    }

    #[test]
    fn rule_17_a_file_that_was_made_or_changed_at_another_time_was_put_back() {
        let at = |times| Found { times, ..FOUND };
        let changed = at(Times { changed: 9, ..TIMES });
        assert!(!is_whole(&STORED, with(10), &changed));
        assert!(!is_whole(&STORED, with(10), &at(Times { made: 9, ..TIMES })));
        // After a crash it is changed by what mends it, or was before the side-car was written.
        assert!(is_whole(&STORED, with(10), &Found { is_mended: true, ..changed }));
        assert!(is_whole(&STORED, with(9), &changed));
        assert!(is_whole(&STORED, with(10), &at(Times { made: 0, ..TIMES })));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn rule_16_network_file_systems_are_told_from_local_ones() {
        // As a kernel that extends the sign shows it, too.
        assert_eq!(
            [0x6969, 0xff53_4d42, -11_317_950].map(remote_name),
            [Some("nfs"), Some("cifs"), Some("cifs")]
        );
        // ext4, xfs, btrfs, tmpfs, overlayfs.
        assert_eq!([0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630].map(remote_name), [None; 5]);
    }

    #[test]
    fn a_side_car_says_what_was_written_last() {
        for number in [0, u64::MAX] {
            let mark = Mark { revision: number, generation: number };
            let said = Said { mark, times: Times { made: number, changed: number } };
            assert_eq!(parse(&line(said)), Some(said));
            assert_eq!(line(said).len(), LINE);
        }
        assert_eq!(parse("mintage serial x 1 1 1\n"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn a_side_car_that_is_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.db");
        for (text, is_ours) in [("my notes", false), ("mintage serial 12", true), ("\0\0", true), ("", true)]
        {
            std::fs::write(SideCar::path_of(&path), text).unwrap();
            let soon = Deadline::after(std::time::Duration::from_secs(5));
            let side_car = SideCar::lock(&path, soon).unwrap().unwrap();
            assert_eq!(side_car.read().is_ok(), is_ours, "{text:?}");
            assert_eq!(SideCar::holder(&path), Some(std::process::id()));
        }
    }
}
