//! Files that only their owner may read.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

/// Rights of group and others.
const OTHERS: u32 = 0o077;

/// A new file that its owner alone may read and write; fails where there is one.
pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// The file's rights, when others than its owner have some.
pub(super) fn loose_mode(file: &File) -> io::Result<Option<u32>> {
    let mode = file.metadata()?.permissions().mode() & 0o7777;
    Ok((mode & OTHERS != 0).then_some(mode))
}

/// Gives `to` the owner and group of `from`.
pub(super) fn keep_owner(from: &File, to: &File) -> io::Result<()> {
    let (from, to_now) = (from.metadata()?, to.metadata()?);
    if (from.uid(), from.gid()) == (to_now.uid(), to_now.gid()) {
        return Ok(());
    }
    fchown(to, Some(from.uid()), Some(from.gid()))
}

/// Whether `path` still names this file.
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (open, named) = (file.metadata()?, path.metadata()?);
    Ok((open.dev(), open.ino()) == (named.dev(), named.ino()))
}
