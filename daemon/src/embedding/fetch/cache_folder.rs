//! The models folder while files are put into it: one writer at a time, and only whole, right files under their names.
//!
//! Not here: where the bytes come from (`folder`, `hub`, `pip`).

use crate::embedding::model_files::{check, path_of};
use crate::embedding::pinned_files::{Artifact, RUNTIMES, TOKENIZER, WEIGHTS};
use sha2::{Digest, Sha256};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Prefix of the folders that packages are fetched into.
const SCRATCH: &str = ".fetch-";
const LOCK: &str = ".lock";

/// The models folder, locked for this process.
pub(crate) struct Store {
    models: PathBuf,
    /// Held until the store is dropped; the system lets go of it also when the process dies.
    _lock: File,
}

impl Store {
    /// Makes the folder, waits for the lock, and removes what an interrupted fetch left behind. `wait` is called before waiting.
    pub fn open(models: &Path, wait: impl FnOnce()) -> io::Result<Self> {
        fs::create_dir_all(models)?;
        let models = models.canonicalize()?;
        let lock =
            File::options().create(true).truncate(false).write(true).open(models.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => {
                wait();
                lock.lock()?;
            }
            Err(TryLockError::Error(e)) => return Err(e),
        }
        let store = Self { models, _lock: lock };
        store.sweep()?;
        Ok(store)
    }

    /// True when the artifact is there, byte for byte.
    pub fn holds(&self, artifact: &Artifact) -> bool {
        check(&path_of(&self.models, artifact), artifact).is_ok()
    }

    /// A folder for a package, on the same file system, removed with the value or by the next fetch.
    pub fn scratch(&self) -> io::Result<TempDir> {
        tempfile::Builder::new().prefix(SCRATCH).tempdir_in(&self.models)
    }

    /// Writes an artifact beside its place, and moves it there when it is whole and right. `step` hears how many bytes are done.
    pub fn put(
        &self,
        artifact: &Artifact,
        from: &mut dyn Read,
        step: &mut dyn FnMut(u64),
    ) -> Result<(), String> {
        let path = path_of(&self.models, artifact);
        let part = part_of(&path);
        let put = self.folder_of(&path).and_then(|()| copy(from, &part, artifact.size, step));
        let outcome = match put {
            Err(e) => Err(e.to_string()),
            Ok((size, _)) if size != artifact.size => {
                Err(format!("{} instead of {} bytes", larger(size, artifact.size), artifact.size))
            }
            Ok((_, sha256)) if sha256 != artifact.sha256 => {
                Err(format!("wrong file: SHA-256 {sha256} instead of {}", artifact.sha256))
            }
            Ok(_) => fs::rename(&part, &path)
                .and_then(|()| sync_folder(&path))
                .map_err(|e| e.to_string()),
        };
        if outcome.is_err() {
            // What stays is removed by the next fetch.
            let _ = fs::remove_file(&part);
        }
        outcome
    }

    fn folder_of(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path.parent().unwrap_or(&self.models))
    }

    fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.models)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(SCRATCH) {
                fs::remove_dir_all(entry.path())?;
            }
        }
        let libraries = RUNTIMES.iter().map(|runtime| &runtime.library);
        for artifact in [&WEIGHTS, &TOKENIZER].into_iter().chain(libraries) {
            // Most are not there.
            let _ = fs::remove_file(part_of(&path_of(&self.models, artifact)));
        }
        Ok(())
    }
}

fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// Copies to disk, one byte past `limit` at most; gives size and SHA-256.
fn copy(
    from: &mut dyn Read,
    to: &Path,
    limit: u64,
    step: &mut dyn FnMut(u64),
) -> io::Result<(u64, String)> {
    let mut from = from.take(limit + 1);
    let mut file = File::create(to)?;
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
        step(done);
    }
}

fn larger(size: u64, expected: u64) -> String {
    if size > expected { format!("more than {expected}") } else { size.to_string() }
}

/// Makes the new name last through a power cut.
fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
