//! Recovers a damaged store: restores the newest whole backup, and adds what can still be read of
//! the damaged files and their write-ahead log. The files themselves are kept in the quarantine.
//!
//! Not here: when this is done (`handles::open` refuses a damaged store, the daemon decides),
//! reading damaged files (`db::salvage`).

use crate::backups::manifest::{self, Backup};
use crate::backups::prepare::{Prepared, Target, copy_private};
use crate::backups::verify;
use crate::database_files::wal_path;
use crate::db::salvage::{self, Salvage};
use crate::error::{Error, Result};
use crate::maintain;
use crate::transaction::change::CallContext;
use loci_proto::error::{Code, Failure};
use loci_proto::requests::import::ImportRequest;
use std::fs::OpenOptions;
use std::io::Seek;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// What a recovery did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The backup that was restored; `None` if there was none.
    pub backup: Option<String>,
    /// When it was made, ISO 8601.
    pub backup_from: Option<String>,
    /// The memories that the store has now.
    pub memories: usize,
    /// Memories and relations that were added or changed from the damaged files.
    pub salvaged: usize,
    /// An upper bound of the changes that are lost.
    pub lost: usize,
    /// Memories that were hard-deleted since the backup, and were deleted again.
    pub forgotten_again: usize,
    /// The folder with the damaged files.
    pub quarantine: PathBuf,
}

impl Recovered {
    /// Returns the report as sentences.
    #[must_use]
    pub fn sentences(&self) -> String {
        let source = match (&self.backup, &self.backup_from) {
            (Some(backup), Some(from)) => format!(
                "The database was damaged and was restored from the backup {backup} of {from}"
            ),
            _ => "The database was damaged, there was no backup, and a new one was made".to_owned(),
        };
        let lost = match self.lost {
            0 => "nothing was lost".to_owned(),
            1 => "up to 1 change was lost".to_owned(),
            lost => format!("up to {lost} changes were lost"),
        };
        format!(
            "{source}: {} memories, {} of the changes after it were salvaged, {lost}. The damaged files are in {}",
            self.memories,
            self.salvaged,
            self.quarantine.display()
        )
    }
}

/// Whether a recovery may begin with an empty store if there is no backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutBackup {
    /// Refuse; a person decides.
    Refuse,
    /// Begin with what can be read of the damaged files.
    Salvage,
}

/// Recovers the store.
///
/// # Errors
/// `not_found` if there is no whole backup and none may be done without; `conflict` if nothing can
/// be read; `File`, `Database`. The present files are unchanged then.
pub fn recover(target: &Target, without: WithoutBackup) -> Result<Recovered> {
    let backup = newest_whole(target)?;
    if backup.is_none() && without == WithoutBackup::Refuse {
        return Err(no_backup());
    }
    let mut prepared = Prepared::new(target, backup.as_ref().map(|backup| backup.path.as_path()))?;
    let restored_change = crate::db::health::last_change(&prepared.writer()?.conn)?;
    let forgotten_again = prepared.forget_again(target)?;
    let Added { salvaged, salvage } = add_salvaged(target, &mut prepared, backup.as_ref())?;
    if backup.is_none() && salvaged == 0 {
        return Err(nothing_readable());
    }
    let writer = prepared.writer()?;
    let memories = crate::db::memories::count(&writer.conn)?;
    let known = target.last_known().map(|known| known.last_change);
    let mut recovered = Recovered {
        backup: backup.as_ref().map(Backup::id),
        backup_from: backup.as_ref().map(|backup| backup.created_at.iso()),
        memories,
        salvaged,
        lost: lost(&salvage, known.unwrap_or(0), restored_change, salvaged),
        forgotten_again,
        quarantine: PathBuf::new(),
    };
    // The notice is part of the store before it takes its place, so it names the folder of the
    // quarantine in general.
    recovered.quarantine = target.database.with_file_name("quarantine");
    let notice = recovered.sentences();
    writer.add_notice(&notice, target.now)?;
    recovered.quarantine = prepared.put_in_place(target, &notice)?;
    Ok(recovered)
}

fn no_backup() -> Error {
    Failure::new(Code::NotFound, "there is no whole backup of this database")
        .hint("Run loci doctor --recover to keep what can still be read of it")
        .into()
}

fn nothing_readable() -> Error {
    Failure::new(
        Code::Conflict,
        "there is no whole backup, and nothing can be read of the damaged files",
    )
    .hint("Put a copy of the database in its place")
    .into()
}

/// Returns the newest backup of the database that passes a verification now.
fn newest_whole(target: &Target) -> Result<Option<Backup>> {
    let known = target.last_known().map(|known| known.database);
    for backup in manifest::list(&target.backups).into_iter().rev() {
        if backup.is_of(known.as_deref()) {
            match verify::verify(&backup, target.now) {
                Ok(verification) if verification.fault.is_none() => return Ok(Some(backup)),
                Ok(_) => {}
                Err(Error::File { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(None)
}

/// What was added from the damaged files.
#[derive(Debug, Default)]
struct Added {
    salvaged: usize,
    salvage: Salvage,
}

/// Reads a copy of the damaged files row by row and imports what is newer than the backup.
fn add_salvaged(
    target: &Target,
    prepared: &mut Prepared,
    backup: Option<&Backup>,
) -> Result<Added> {
    let damaged = prepared.folder().join("damaged.db");
    if !target.database.exists() {
        return Ok(Added::default());
    }
    copy_private(&target.database, &damaged)?;
    let log = wal_path(&target.database);
    if log.exists() {
        copy_private(&log, &wal_path(&damaged))?;
    }
    let lines = prepared.folder().join("salvaged.jsonl");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let mut file =
        options.open(&lines).map_err(|error| crate::backups::manifest::failed(&lines, error))?;
    let source = salvage::Source {
        damaged: &damaged,
        backup: backup.map(|backup| backup.path.as_path()),
        last_change: target.last_known().map_or(0, |known| known.last_change),
    };
    let salvage = salvage::write_lines(&source, &prepared.writer()?.conn, &mut file)?;
    file.rewind().map_err(|error| crate::backups::manifest::failed(&lines, error))?;
    let call = CallContext { now: target.now, actor: maintain::actor(""), key: None };
    let request = ImportRequest { skip_bad: true };
    let reply = prepared.writer()?.import(&call, &request, &mut file)?;
    Ok(Added { salvaged: reply.added + reply.changed + reply.relations, salvage })
}

/// Returns an upper bound of the lost changes: rows that could not be read, and changes after the
/// last that the damaged files show.
fn lost(salvage: &Salvage, known: i64, restored: i64, salvaged: usize) -> usize {
    let count = |number: i64| usize::try_from(number).unwrap_or(0);
    match salvage.last_change {
        Some(last) => salvage.unreadable + count(known - last.max(restored)),
        None => count(known - restored).saturating_sub(salvaged),
    }
}
