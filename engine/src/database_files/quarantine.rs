//! Copies that are kept aside before anything is changed: `quarantine/<time>/` next to the
//! database, with a report in words.
//!
//! Nothing is ever deleted here. Not here: why something is kept aside (`recognition`).

use crate::error::{Error, Result};
use crate::model::time::Timestamp;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The folder next to the database.
const FOLDER: &str = "quarantine";

/// One folder of the quarantine.
#[derive(Debug)]
pub(crate) struct Quarantine {
    folder: PathBuf,
}

impl Quarantine {
    /// Creates a folder named after the time, with the report.
    ///
    /// # Errors
    /// `File` if it cannot be created.
    pub fn create(database: &Path, now: Timestamp, report: &str) -> Result<Self> {
        let parent = database.with_file_name(FOLDER);
        let time: String = now.iso().chars().take(19).filter(char::is_ascii_alphanumeric).collect();
        let names = (1..1_000).map(|number| match number {
            1 => format!("{time}Z"),
            number => format!("{time}Z-{number}"),
        });
        let folder = names
            .map(|name| parent.join(name))
            .find(|folder| !folder.exists())
            .unwrap_or_else(|| parent.join("full"));
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&folder).map_err(|e| failed(&folder, e))?;
        let this = Self { folder };
        let path = this.folder.join("report.txt");
        new_file(&path)
            .and_then(|mut file| writeln!(file, "{report}"))
            .map_err(|e| failed(&path, e))?;
        Ok(this)
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Copies a file into the folder, on the disk before it returns.
    ///
    /// # Errors
    /// `File`; the original is unchanged.
    pub fn keep_copy(&self, path: &Path) -> Result<()> {
        let kept = self.path_of(path);
        let copy = || {
            let mut target = new_file(&kept)?;
            io::copy(&mut File::open(path)?, &mut target)?;
            target.sync_all()
        };
        copy().map_err(|e| failed(&kept, e))
    }

    /// Gives a file a second name in the folder, or copies it where the file system has no links.
    /// Does nothing if there is no such file.
    ///
    /// # Errors
    /// `File`; the original is unchanged.
    pub fn keep_link(&self, path: &Path) -> Result<()> {
        match std::fs::hard_link(path, self.path_of(path)) {
            Ok(()) => Ok(()),
            Err(_) if std::fs::symlink_metadata(path).is_err() => Ok(()),
            Err(_) => self.keep_copy(path),
        }
    }

    /// Moves a file into the folder.
    ///
    /// # Errors
    /// `File`; the original is unchanged.
    pub fn take(&self, path: &Path) -> Result<()> {
        let kept = self.path_of(path);
        std::fs::rename(path, &kept).map_err(|e| failed(&kept, e))
    }

    fn path_of(&self, path: &Path) -> PathBuf {
        self.folder.join(path.file_name().unwrap_or_default())
    }
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::File { path: path.to_path_buf(), source }
}
