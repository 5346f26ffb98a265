//! The file of a picture: opened before the drill, so that one that can't be written costs nobody a run, and written at its end.

use crate::exit::Failure;
use anyhow::Context;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that keeps what it has until the picture is there; one that was made for it is removed when none comes.
#[derive(Debug)]
pub(super) struct SvgFile {
    path: PathBuf,
    file: File,
    is_new: bool,
}

impl SvgFile {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let told = || format!("opening {} for the picture", path.display());
        let mut options = OpenOptions::new();
        options.write(true);
        let (file, is_new) = match options.clone().create_new(true).open(path) {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (options.create(true).open(path).with_context(told)?, false)
            }
            Err(error) => return Err(anyhow::Error::new(error).context(told()).into()),
        };
        Ok(Self { path: path.to_owned(), file, is_new })
    }

    pub(super) fn write(mut self, picture: &str) -> Result<(), Failure> {
        self.replace(picture).with_context(|| format!("writing {}", self.path.display()))?;
        self.is_new = false;
        Ok(())
    }

    fn replace(&mut self, picture: &str) -> io::Result<()> {
        // A device has no length.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        self.file.write_all(picture.as_bytes())
    }
}

impl Drop for SvgFile {
    fn drop(&mut self) {
        // An empty file left behind does no harm.
        if self.is_new {
            let _ = fs::remove_file(&self.path);
        }
    }
}
