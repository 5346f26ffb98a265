//! Faults of the store in a file: locked by somebody else, put back from an older copy.

use super::process_faults::evidence;
use super::store::{FilePlace, Store};
use super::{Evidence, Fault, MS, Scene, store::Kind};
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Another process has the store and doesn't let go.
pub const LOCKED: Fault = Fault {
    name: "locked",
    what: "another process holds the file's lock, for longer than a window at times",
    stores: &[Kind::Sqlite],
    run: |scene| {
        let place = place(scene)?;
        let lock = place.lock()?;
        let refused = File::open(place.side_car())?;
        ensure!(matches!(refused.try_lock(), Err(TryLockError::WouldBlock)), "the lock keeps nobody out");
        let before = fs::read(place.side_car())?;
        let nanos = scene.windows(50, 250);
        scene.fleet.wait(nanos)?;
        ensure!(fs::read(place.side_car())? == before, "somebody wrote to a store that is locked");
        drop(lock);
        Ok(evidence([("locked_ms", json!(nanos / MS))]))
    },
};

/// An older copy over the file, whose inode stays.
pub const COPIED_BACK: Fault = Fault {
    name: "copied-back",
    what: "an older copy of the file is written over it; its side-car stays",
    stores: &[Kind::Sqlite],
    run: |scene| {
        put_back(scene, |backup, place| {
            fs::write(&place.path, fs::read(&backup.path)?)?;
            Ok(())
        })
    },
};

/// The same of file and side-car: the file looks whole, and only who saw more can tell.
pub const COPIED_BACK_WITH_SIDE_CAR: Fault = Fault {
    name: "copied-back-with-side-car",
    what: "older copies of the file and its side-car are written over both",
    stores: &[Kind::Sqlite],
    run: |scene| {
        put_back(scene, |backup, place| {
            fs::write(&place.path, fs::read(&backup.path)?)?;
            fs::write(place.side_car(), fs::read(backup.side_car())?)?;
            Ok(())
        })
    },
};

/// An older copy in place of the file, which others have open.
pub const RENAMED_OVER: Fault = Fault {
    name: "renamed-over",
    what: "an older copy of the file is renamed over it",
    stores: &[Kind::Sqlite],
    run: |scene| {
        let inode = fs::metadata(&place(scene)?.path)?.ino();
        let mut shown = put_back(scene, |backup, place| Ok(fs::rename(&backup.path, &place.path)?))?;
        let after = fs::metadata(&place(scene)?.path)?.ino();
        ensure!(inode != after, "the file has the inode that it had");
        shown.insert("inode_changed".to_owned(), json!(true));
        Ok(shown)
    },
};

/// Takes a copy, lets windows be granted, and puts the copy back while nobody writes.
fn put_back(scene: &mut Scene, put: fn(&FilePlace, &FilePlace) -> Result<()>) -> Result<Evidence> {
    let place = place(scene)?;
    let backup = FilePlace { path: PathBuf::from(format!("{}.backup", place.path.display())) };
    let lock = place.lock()?;
    fs::copy(&place.path, &backup.path)?;
    fs::copy(place.side_car(), backup.side_car())?;
    let copied = place.revision()?;
    drop(lock);
    let nanos = scene.windows(50, 150);
    scene.fleet.wait(nanos)?;
    let before = scene.holds()?;
    let lock = place.lock()?;
    let lost = place.revision()?.checked_sub(copied).filter(|lost| *lost > 0);
    let lost = lost.context("nothing was granted since the copy was taken")?;
    put(&backup, &place)?;
    drop(lock);
    let holds = scene.hold_after(before)?;
    Ok(evidence([("commits_lost", json!(lost)), ("holds", json!(holds))]))
}

fn place(scene: &Scene) -> Result<FilePlace> {
    match &scene.store {
        Store::File(place) => Ok(place.clone()),
        _ => bail!("the store is no file of the run"),
    }
}
