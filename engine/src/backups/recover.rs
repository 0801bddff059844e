//! Recovers a damaged store: restores the newest whole backup, and adds what can still be read of
//! the damaged files and their write-ahead log. The files themselves are kept in the quarantine.
//!
//! Not here: when this is done (`handles::open` refuses a damaged store, the daemon decides),
//! reading damaged files (`db::salvage`).

use crate::backups::manifest::{self, Backup, failed};
use crate::backups::prepare::{Prepared, Target, copy_private};
use crate::backups::verify::{self, Verification};
use crate::database_files::wal_path;
use crate::db::damage::DamagedRow;
use crate::db::salvage::{self, Salvage};
use crate::db::{
    cipher, damaged_copy, export_rows, health, import_rows, isolated_groups, migrate, switches,
};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::maintain;
use crate::transaction::change::CallContext;
use crate::transfer::{GroupLine, LineWriter, MemoryLine, Record};
use loci_proto::error::{Code, Failure};
use loci_proto::requests::import::ImportReply;
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{Cursor, Seek, Write};
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
    /// Secrets that were replaced since the backup, and were replaced again.
    pub redacted_again: usize,
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
            0 => "no memory was lost".to_owned(),
            1 => "up to 1 change was lost".to_owned(),
            lost => format!("up to {lost} changes were lost"),
        };
        format!(
            "{source}: {} memories, {} salvaged from the damaged files, {lost}{}. The damaged files are in {}",
            self.memories,
            self.salvaged,
            if self.backup.is_some() {
                ". Changes of project names since then are lost, and changes since then cannot be undone"
            } else {
                ""
            },
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
    prepared.continue_acts(target)?;
    let restored_change = crate::db::health::last_change(&prepared.writer()?.conn)?;
    let forgotten_again = prepared.forget_again(target)?;
    prepared.isolate_again(target)?;
    prepared.switch_off_again(target)?;
    let added = add_salvaged(target, &mut prepared, backup.as_ref())?;
    if backup.is_none() && added.salvaged == 0 {
        return Err(nothing_readable());
    }
    failpoint!("after the salvaged rows");
    // After the salvaged rows, whose journal has the texts before.
    let redacted_again = match &backup {
        Some(backup) => prepared.redact_again(target, backup)?,
        None => 0,
    };
    let writer = prepared.writer()?;
    let memories = crate::db::memories::count(&writer.conn)?;
    let known = target.last_known().map(|known| known.last_change);
    let mut recovered = Recovered {
        backup: backup.as_ref().map(Backup::id),
        backup_from: backup.as_ref().map(|backup| backup.created_at.iso()),
        memories,
        salvaged: added.salvaged,
        lost: lost(&added, known.unwrap_or(0), restored_change),
        forgotten_again,
        redacted_again,
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

/// Returns the newest backup of the database that passes a verification now. One in which texts are
/// damaged is taken only if there is no other.
///
/// # Errors
/// `Database`.
pub fn newest_whole(target: &Target) -> Result<Option<Backup>> {
    let known = target.last_known().map(|known| known.database);
    let mut with_damage = None;
    for backup in manifest::list(&target.backups).into_iter().rev() {
        if backup.is_of(known.as_deref()) {
            match verify::verify(&backup, target.now) {
                Ok(Verification { manifest, fault: None }) => {
                    let backup = Backup { manifest: Some(manifest), ..backup };
                    if !backup.has_damage() {
                        return Ok(Some(backup));
                    }
                    with_damage = with_damage.or(Some(backup));
                }
                Ok(_) | Err(Error::File { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(with_damage)
}

/// What was added from the damaged files.
#[derive(Debug, Default)]
struct Added {
    /// Memories and relations that were added or changed.
    salvaged: usize,
    /// Rows that are newer than the backup, and tables, that cannot be read.
    unreadable: usize,
    /// The last change in the damaged files, if that can be read.
    last_change: Option<i64>,
}

/// Reads a copy of the damaged files row by row and imports what the backup does not have.
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
    let Some(mut conn) = damaged_copy::open(&damaged, backup.map(|backup| backup.path.as_path()))
    else {
        return Ok(Added::default());
    };
    // The columns of an older schema are others. What cannot be migrated is not read.
    let _ = migrate::run(&mut conn, target.now);
    let salvage = salvage::read(&mut conn, &|| damaged_copy::open_readable(&damaged))?;
    let isolated = isolated_groups::all_of_any_schema(&conn).unwrap_or_default();
    let off = switches::off_of_any_schema(&conn).unwrap_or_default();
    let last_change = health::last_change(&conn).ok().filter(|last| *last > 0);
    drop(conn);
    prepared.writer()?.isolate_again(&isolated, target.now)?;
    prepared.writer()?.switch_off_again(&off, target.now)?;
    let known = health::last_row(&prepared.writer()?.conn, "memories").unwrap_or(0);
    let is_new = |row: &&DamagedRow| row.place == DamagedRow::MEMORY && row.row > known;
    let unreadable = salvage.damaged.iter().filter(is_new).count() + salvage.unread.len();
    let missing = missing(&salvage, known);
    let reply = import(target, prepared, salvage.records)?;
    Ok(Added {
        salvaged: reply.added + reply.changed + reply.relations,
        unreadable: unreadable + missing,
        last_change,
    })
}

/// Returns an upper bound of the memories after row `known` that are neither readable nor named as
/// damaged: their rows are gone with a page. Hard-deleted memories have a tombstone.
fn missing(salvage: &Salvage, known: i64) -> usize {
    let given = usize::try_from(salvage.last_row - known).unwrap_or(0);
    let is_tombstone = |record: &&Record| matches!(record, Record::Tombstone(_));
    let is_new = |row: &&DamagedRow| row.place == DamagedRow::MEMORY && row.row > known;
    let found = salvage.rows.iter().filter(|row| **row > known).count()
        + salvage.damaged.iter().filter(is_new).count()
        + salvage.records.iter().filter(is_tombstone).count();
    given.saturating_sub(found)
}

/// Imports the records that the restored store does not have in the same state.
fn import(target: &Target, prepared: &mut Prepared, records: Vec<Record>) -> Result<ImportReply> {
    let call = CallContext { now: target.now, actor: maintain::actor(""), key: None, shown: None };
    if cipher::key_of(&prepared.writer()?.conn).is_some() {
        // No plain text of an encrypted store is written to the disk.
        let mut lines = Cursor::new(Vec::new());
        write_lines(records, &prepared.writer()?.conn, &mut lines)?;
        lines.set_position(0);
        return prepared.writer()?.import_own(&call, &mut lines);
    }
    let path = prepared.folder().join("salvaged.jsonl");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let mut file = options.open(&path).map_err(|error| failed(&path, error))?;
    write_lines(records, &prepared.writer()?.conn, &mut file)?;
    file.rewind().map_err(|error| failed(&path, error))?;
    prepared.writer()?.import_own(&call, &mut file)
}

/// Writes the lines of an import. The log and the tombstones are left out: what was hard-deleted is
/// known from the file next to the backups.
fn write_lines(records: Vec<Record>, restored: &Connection, sink: &mut dyn Write) -> Result<()> {
    let mut lines = LineWriter::begin(sink)?;
    let mut groups: BTreeSet<String> = BTreeSet::new();
    for record in records {
        match &record {
            Record::Group(line) => {
                groups.insert(line.id.clone());
            }
            Record::Memory(line) => {
                if is_known(restored, line)? {
                    continue;
                }
                if let Some(group) = line.group.as_ref().filter(|group| !groups.contains(*group)) {
                    lines.write(&Record::Group(unreadable_group(group, line.created_at)))?;
                    groups.insert(group.clone());
                }
            }
            Record::Variant(_) | Record::Source(_) | Record::Relation(_) => {}
            _ => continue,
        }
        lines.write(&record)?;
    }
    lines.finish()
}

/// Returns whether the restored store has a memory in the same state.
fn is_known(restored: &Connection, line: &MemoryLine) -> Result<bool> {
    match import_rows::find(restored, &line.id)? {
        Some((seq, _)) => Ok(export_rows::memory_line(restored, seq)?.as_ref() == Some(line)),
        None => Ok(false),
    }
}

/// Returns a group whose row cannot be read, under its id.
fn unreadable_group(id: &str, created_at: i64) -> GroupLine {
    GroupLine {
        id: id.to_owned(),
        name: id.to_owned(),
        created_at,
        aliases: Vec::new(),
        isolated: false,
    }
}

/// Returns an upper bound of the lost changes: rows that could not be read, and changes after the
/// last that the damaged files show.
fn lost(added: &Added, known: i64, restored: i64) -> usize {
    let count = |number: i64| usize::try_from(number).unwrap_or(0);
    match added.last_change {
        Some(last) => added.unreadable + count(known - last.max(restored)),
        None => count(known - restored).saturating_sub(added.salvaged).max(added.unreadable),
    }
}
