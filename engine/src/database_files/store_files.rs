//! The files of an open store: after each commit it is checked that they are still in place and the
//! identity is written; after each checkpoint the checksums of the changed pages are.
//!
//! Not here: commits and checkpoints themselves (`handles::writer`).

use crate::database_files::database_file::DatabaseFile;
use crate::database_files::identity::{FileStamp, Identity, IdentityFile};
use crate::database_files::page_sums::PageSums;
use crate::database_files::wal_file::WalHandle;
use crate::db::checkpoint::Moved;
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The files next to an open database, owned by its writer.
#[derive(Debug)]
pub(crate) struct StoreFiles {
    path: PathBuf,
    database: Arc<DatabaseFile>,
    page_size: u32,
    identity: Identity,
    identity_file: IdentityFile,
    sums: PageSums,
    wal: Option<WalHandle>,
    /// Committed frames of the log, counted by SQLite's hook.
    committed: Arc<AtomicU32>,
    /// Frames whose pages have their checksum.
    summed: u32,
    /// Whether the last checkpoint has moved only a part of the log.
    is_checkpoint_incomplete: bool,
    /// Pages whose checksums could not be written.
    unsummed: HashSet<u32>,
}

/// What is needed to begin with the files of a store.
#[derive(Debug)]
pub(crate) struct Begin<'a> {
    /// The database file.
    pub database: Arc<DatabaseFile>,
    /// The state of the store as it was opened.
    pub identity: Identity,
    /// The page size of the database in bytes.
    pub page_size: u32,
    /// Whether the existing checksums belong to the file.
    pub sums_are_valid: bool,
    /// The pages of a log that was replayed when the store was opened.
    pub replayed: &'a HashSet<u32>,
    /// The number of committed frames, which SQLite's hook writes.
    pub committed: Arc<AtomicU32>,
}

impl StoreFiles {
    /// Begins with the files of an opened store.
    ///
    /// # Errors
    /// `File`.
    pub fn begin(path: &Path, begin: Begin<'_>) -> Result<Self> {
        let Begin { database, identity, page_size, sums_are_valid, replayed, committed } = begin;
        let failed = |source| Error::File { path: path.to_path_buf(), source };
        let known = if sums_are_valid { PageSums::open(path, page_size) } else { Ok(None) };
        let sums = match known.map_err(failed)? {
            Some(sums) => sums,
            None => PageSums::create(path, &database, page_size).map_err(failed)?,
        };
        let identity_file = IdentityFile::open(path).map_err(failed)?;
        let mut this = Self {
            path: path.to_path_buf(),
            database,
            page_size,
            identity,
            identity_file,
            sums,
            wal: None,
            committed,
            summed: 0,
            is_checkpoint_incomplete: false,
            unsummed: HashSet::new(),
        };
        let mut write = || {
            this.sums.update(&this.database, replayed)?;
            this.find_wal()?;
            this.identity.file = FileStamp::of(path);
            this.write_identity()?;
            this.identity_file.sync()
        };
        write().map_err(failed)?;
        Ok(this)
    }

    /// Checks that database and log still have their names. Takes two calls of the system.
    ///
    /// # Errors
    /// `Lost`.
    pub fn check_in_place(&self) -> Result<()> {
        if let Some(stamp) = &self.identity.file {
            self.database.check_in_place(stamp)?;
        }
        match &self.wal {
            Some(wal) if !wal.is_in_place(&self.path) => {
                Err(Error::LogLost { path: self.path.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Checks the files after a commit, and records the commit. Until this returns, no caller may be
    /// answered.
    ///
    /// # Errors
    /// `Lost` or `LogLost` if a file was removed or replaced, `File` if the identity cannot be
    /// written.
    pub fn record_commit(&mut self, last_change: i64) -> Result<()> {
        let failed = |path: &Path, source| Error::File { path: path.to_path_buf(), source };
        if self.wal.is_none() {
            self.find_wal().map_err(|e| failed(&self.path, e))?;
        }
        self.check_in_place()?;
        self.identity.last_change = last_change;
        self.write_identity().map_err(|e| failed(&self.path, e))
    }

    /// Returns the pages that the next checkpoint moves into the database.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn pages_to_move(&mut self) -> Result<HashSet<u32>> {
        let failed = |source| Error::File { path: self.path.clone(), source };
        if self.wal.is_none() {
            self.wal = WalHandle::open(&self.path).map_err(failed)?;
        }
        self.notice_restart();
        let committed = self.committed.load(Ordering::Relaxed);
        match &self.wal {
            Some(wal) if committed > self.summed => wal
                .pages(self.summed + 1..=committed, self.page_size)
                .map_err(|source| Error::File { path: self.path.clone(), source }),
            _ => Ok(HashSet::new()),
        }
    }

    /// Hashes the pages that a checkpoint has moved.
    ///
    /// # Errors
    /// `File`.
    pub fn record_checkpoint(
        &mut self,
        pages: &HashSet<u32>,
        moved: Moved,
        checkpoints: i64,
    ) -> Result<()> {
        if moved == Moved::ALL {
            self.committed.store(0, Ordering::Relaxed);
        }
        self.summed = moved.moved;
        self.is_checkpoint_incomplete = !moved.is_complete();
        if moved.is_complete() {
            self.identity.checkpoints = checkpoints;
        }
        self.hash_again(pages)
    }

    /// Hashes the pages that a failed checkpoint may have written. They still are in the log.
    ///
    /// # Errors
    /// `File`.
    pub fn record_interrupted_checkpoint(&mut self, pages: &HashSet<u32>) -> Result<()> {
        self.is_checkpoint_incomplete = true;
        self.hash_again(pages)
    }

    /// Hashes pages again that are to be kept as they are.
    ///
    /// # Errors
    /// `File`.
    pub fn sum_again(&mut self, pages: &HashSet<u32>) -> Result<()> {
        self.hash_again(pages)
    }

    /// Hashes pages, and those whose checksums could not be written before. The file is known as it
    /// is now in any case: otherwise it would be taken for one that another program has changed.
    fn hash_again(&mut self, pages: &HashSet<u32>) -> Result<()> {
        self.unsummed.extend(pages);
        let summed = self.sums.update(&self.database, &self.unsummed);
        if summed.is_ok() {
            self.unsummed.clear();
        }
        failpoint!("between the checksums and the identity");
        self.identity.file = FileStamp::of(&self.path);
        let written = summed.and(self.write_identity());
        written.map_err(|source| Error::File { path: self.path.clone(), source })
    }

    /// Records that the store was closed with an empty log and this many memories.
    ///
    /// # Errors
    /// `File`.
    pub fn close(mut self, memories: usize) -> Result<()> {
        self.identity.is_open = false;
        self.identity.memories = memories;
        (self.identity.frames, self.identity.moved) = (0, 0);
        self.identity.salt = None;
        self.identity.file = FileStamp::of(&self.path);
        let written = self
            .sums
            .update(&self.database, &self.unsummed)
            .and_then(|()| self.sums.sync())
            .and_then(|()| self.identity_file.write(&self.identity))
            .and_then(|()| self.identity_file.sync());
        written.map_err(|source| Error::File { path: self.path.clone(), source })
    }

    /// Writes the identity into a new file, if the old one was removed with its folder.
    ///
    /// # Errors
    /// `File`.
    pub fn write_identity_again(&self) -> Result<()> {
        let written = IdentityFile::open(&self.path).and_then(|file| {
            file.write(&self.identity)?;
            file.sync()
        });
        written.map_err(|source| Error::File { path: self.path.clone(), source })
    }

    /// Returns whether the last checkpoint has moved only a part of the log.
    pub fn is_checkpoint_incomplete(&self) -> bool {
        self.is_checkpoint_incomplete
    }

    /// Returns the first salt of the log in use.
    pub fn wal_salt(&self) -> Option<u32> {
        self.wal.as_ref().and_then(WalHandle::salt).map(|salt| salt[0])
    }

    fn find_wal(&mut self) -> io::Result<()> {
        self.wal = WalHandle::open(&self.path)?;
        Ok(())
    }

    /// Notices that SQLite has begun the log again from its start, with other salts.
    fn notice_restart(&mut self) {
        let salt = self.wal.as_ref().and_then(WalHandle::salt);
        if salt != self.identity.salt {
            self.identity.salt = salt;
            self.summed = 0;
        }
    }

    fn write_identity(&mut self) -> io::Result<()> {
        self.notice_restart();
        self.identity.frames = self.committed.load(Ordering::Relaxed);
        self.identity.moved = self.summed;
        self.identity.log = self.wal.as_ref().map(WalHandle::inode);
        self.identity_file.write(&self.identity)
    }
}
