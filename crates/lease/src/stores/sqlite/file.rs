//! Which file a store is: device and inode, the side-car that counts commits, and the file system below. Rules 16 and 17.
//!
//! The side-car (`PATH-serial`) holds the revision of the last commit that was answered. It is written and synced after each
//! commit and before the answer, under a lock that is held over the whole transaction. So a file that has a lower revision than
//! its side-car lost commits that were answered; a file that is ahead by one is what a crash between commit and answer leaves.

use mintage::time::pause;
use mintage::{Entropy, SystemEntropy};
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

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

/// What a side-car says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The revision of the last commit that was answered.
    pub(super) revision: u64,
    /// The generation of the file that it belongs to.
    pub(super) generation: u64,
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
pub(super) fn is_whole(stored: &Stored, side_car: Option<Mark>, place: Place) -> bool {
    let Some(side_car) = side_car else { return false };
    let ahead = stored.mark.revision.checked_sub(side_car.revision);
    let is_device_same = stored.place.device == place.device || !stored.is_same_boot;
    side_car.generation == stored.mark.generation
        && matches!(ahead, Some(0 | 1))
        && stored.place.inode == place.inode
        && is_device_same
}

/// The side-car, locked.
#[derive(Debug)]
pub(super) struct SideCar {
    file: File,
}

const LINE: usize = 57;

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

    /// What it says; `None` when it is new or can't be read.
    pub(super) fn read(&self) -> io::Result<Option<Mark>> {
        let mut line = [0; LINE];
        match self.file.read_exact_at(&mut line, 0) {
            Ok(()) => Ok(std::str::from_utf8(&line).ok().and_then(parse)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes it, durably. A line is one write within one sector.
    pub(super) fn write(&self, mark: Mark) -> io::Result<()> {
        self.file.write_all_at(line(mark).as_bytes(), 0)?;
        self.file.sync_data()
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

fn line(mark: Mark) -> String {
    format!("mintage serial {:020} {:020}\n", mark.revision, mark.generation)
}

fn parse(line: &str) -> Option<Mark> {
    let mut words = line.strip_prefix("mintage serial ")?.strip_suffix('\n')?.split(' ');
    let mark = Mark { revision: words.next()?.parse().ok()?, generation: words.next()?.parse().ok()? };
    words.next().is_none().then_some(mark)
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
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let found = rustix::fs::statfs(folder)?.f_type;
    Ok(REMOTE
        .iter()
        .find(|(magic, _)| i128::from(found) & 0xffff_ffff == i128::from(*magic))
        .map(|(_, n)| *n))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn remote_file_system(_: &Path) -> io::Result<Option<&'static str>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { device: 1, inode: 2 };
    const STORED: Stored =
        Stored { mark: Mark { revision: 10, generation: 5 }, place: PLACE, is_same_boot: true };

    fn with(revision: u64) -> Option<Mark> {
        Some(Mark { revision, generation: 5 })
    }

    #[test]
    fn rule_17_a_file_is_whole_with_the_revision_of_its_side_car_or_one_more() {
        assert!(is_whole(&STORED, with(10), PLACE));
        assert!(is_whole(&STORED, with(9), PLACE));
        for side_car in [None, with(11), with(8), Some(Mark { revision: 10, generation: 6 })] {
            assert!(!is_whole(&STORED, side_car, PLACE), "{side_car:?}");
        }
    }

    #[test]
    fn rule_17_another_inode_or_within_a_boot_another_device_is_another_file() {
        assert!(!is_whole(&STORED, with(10), Place { inode: 3, ..PLACE }));
        let moved = Place { device: 9, ..PLACE };
        assert!(!is_whole(&STORED, with(10), moved));
        assert!(is_whole(&Stored { is_same_boot: false, ..STORED }, with(10), moved));
    }

    #[test]
    fn a_side_car_says_what_was_written_last() {
        for mark in [Mark { revision: 0, generation: 1 }, Mark { revision: u64::MAX, generation: u64::MAX }] {
            assert_eq!(parse(&line(mark)), Some(mark));
            assert_eq!(line(mark).len(), LINE);
        }
        assert_eq!(parse("mintage serial x 1\n"), None);
        assert_eq!(parse(""), None);
    }
}
