//! The models folder during a download: one writer at a time, and only complete, verified files under their final names.
//!
//! Not here: where the bytes come from (`local_folder`, `hub`, `pip`).

use crate::embedding::model_files::{path_of, verify};
use crate::embedding::pinned_files::{
    Artifact, MULTILINGUAL_WEIGHTS, RUNTIMES, TOKENIZER, WEIGHTS,
};
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Prefix of the temporary folders for downloaded packages.
const TEMP_PREFIX: &str = ".fetch-";
/// Maximum size of a file that is not pinned, in bytes: an ONNX file with its weights in it is smaller.
const MAX_UNPINNED: u64 = 2 << 30;
/// Name of the lock file.
const LOCK: &str = ".lock";

/// The result of one source for one artifact.
pub(crate) type SourceOutcome = (&'static Artifact, Result<(), String>);

/// The models folder, locked by this process.
pub(crate) struct ModelsFolder {
    path: PathBuf,
    /// Locked until this is dropped; the system also releases the lock when the process dies.
    _lock: File,
}

impl ModelsFolder {
    /// Creates the folder, waits for the lock, and removes the partial files of an interrupted download. Calls `on_wait` before it waits.
    pub fn lock(models: &Path, on_wait: impl FnOnce()) -> io::Result<Self> {
        fs::create_dir_all(models)?;
        let path = models.canonicalize()?;
        let lock =
            not_through_a_link().create(true).truncate(false).write(true).open(path.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => {
                on_wait();
                lock.lock()?;
            }
            Err(TryLockError::Error(e)) => return Err(e),
        }
        let folder = Self { path, _lock: lock };
        folder.remove_partial_files()?;
        Ok(folder)
    }

    /// Returns true if the folder has the artifact with the pinned hash.
    pub fn has(&self, artifact: &Artifact) -> bool {
        verify(&path_of(&self.path, artifact), artifact).is_ok()
    }

    /// Creates a temporary folder for packages, on the same file system. Dropping it removes it; after a crash the
    /// next download does.
    pub fn temp_folder(&self) -> io::Result<TempDir> {
        tempfile::Builder::new().prefix(TEMP_PREFIX).tempdir_in(&self.path)
    }

    /// Writes an artifact to a `.part` file and renames it when size and hash are right. Calls `on_progress` with the number of bytes
    /// written.
    pub fn put(
        &self,
        artifact: &Artifact,
        from: &mut dyn Read,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<(), String> {
        let path = path_of(&self.path, artifact);
        let part = part_path(&path);
        let written =
            self.create_parent(&path).and_then(|()| copy(from, &part, artifact.size, on_progress));
        let outcome = match written {
            Err(e) => Err(e.to_string()),
            Ok((size, _)) if size != artifact.size => Err(format!(
                "{} instead of {} bytes",
                describe_size(size, artifact.size),
                artifact.size
            )),
            Ok((_, sha256)) if sha256 != artifact.sha256 => {
                Err(format!("wrong file: SHA-256 {sha256} instead of {}", artifact.sha256))
            }
            Ok(_) => fs::rename(&part, &path)
                .and_then(|()| sync_folder(&path))
                .map_err(|e| e.to_string()),
        };
        if outcome.is_err() {
            // If this fails, the next download removes the file.
            let _ = fs::remove_file(&part);
        }
        outcome
    }

    /// Writes a file that is not pinned to a `.part` file and renames it when it is complete; `name` has the folder in front. Returns its
    /// SHA-256. Calls `on_progress` with the number of bytes written.
    pub fn put_unpinned(
        &self,
        name: &Path,
        from: &mut dyn Read,
        on_progress: &mut dyn FnMut(u64),
    ) -> Result<String, String> {
        let path = self.path.join(name);
        let part = part_path(&path);
        let written =
            self.create_parent(&path).and_then(|()| copy(from, &part, MAX_UNPINNED, on_progress));
        let outcome = match written {
            Err(e) => Err(e.to_string()),
            Ok((0, _)) => Err("the file is empty".to_owned()),
            Ok((size, _)) if size > MAX_UNPINNED => Err(format!("more than {MAX_UNPINNED} bytes")),
            Ok((_, sha256)) => fs::rename(&part, &path)
                .and_then(|()| sync_folder(&path))
                .map(|()| sha256)
                .map_err(|e| e.to_string()),
        };
        if outcome.is_err() {
            // If this fails, the next download replaces the file.
            let _ = fs::remove_file(&part);
        }
        outcome
    }

    /// Returns the path of a folder in the models folder.
    pub fn join(&self, folder: &str) -> PathBuf {
        self.path.join(folder)
    }

    fn create_parent(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(&self.path))
    }

    fn remove_partial_files(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(TEMP_PREFIX) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        let libraries = RUNTIMES.iter().map(|runtime| &runtime.library);
        for artifact in [&WEIGHTS, &TOKENIZER, &MULTILINGUAL_WEIGHTS].into_iter().chain(libraries) {
            // Fails for most of them, because they do not exist.
            let _ = fs::remove_file(part_path(&path_of(&self.path, artifact)));
        }
        Ok(())
    }
}

/// Returns options that refuse to open a symbolic link.
fn not_through_a_link() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        nix::fcntl::OFlag::O_NOFOLLOW.bits(),
    );
    options
}

fn part_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// Copies to disk, at most one byte more than `limit`; returns the number of bytes and their SHA-256.
fn copy(
    from: &mut dyn Read,
    to: &Path,
    limit: u64,
    on_progress: &mut dyn FnMut(u64),
) -> io::Result<(u64, String)> {
    let mut from = from.take(limit + 1);
    // What a link at this path led to stays as it is.
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = not_through_a_link().write(true).create_new(true).open(to)?;
    let (mut hash, mut done, mut buffer) = (Sha256::new(), 0, vec![0; 256 * 1024]);
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            file.sync_all()?;
            return Ok((done, format!("{:x}", hash.finalize())));
        }
        file.write_all(&buffer[..read])?;
        hash.update(&buffer[..read]);
        done += read as u64;
        on_progress(done);
    }
}

/// Returns a size for an error message. At most one byte more than `expected` is read, so a larger size is not known exactly.
fn describe_size(size: u64, expected: u64) -> String {
    if size > expected { format!("more than {expected}") } else { size.to_string() }
}

/// Writes the folder entry to disk, so that the new name survives a power failure.
fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
