//! `backup`, `purge_backups` and `reset`: writes checked copies of the database, deletes the copies
//! that contain a memory, and empties the store after a backup.
//!
//! A backup is never rewritten. Not here: the schedule of backups.

use crate::db::{backup, connection, health, memories, tombstones};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::time::Timestamp;
use crate::transaction::change::CallContext;
use loci_proto::error::{Code, Failure};
use loci_proto::memory::MemoryId;
use loci_proto::requests::purge_backups::PurgeBackupsReply;
use loci_proto::requests::reset::{ResetReply, ResetRequest};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

impl Writer {
    /// Copies the database into a folder and checks the copy before it gets its final name.
    ///
    /// # Errors
    /// `Database`, `Damaged` or `storage_failed`; no partial copy remains then.
    pub fn back_up(&self, folder: &Path, now: Timestamp) -> Result<PathBuf> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|e| file_failure(folder, &e))?;
        let temporary = folder.join(format!(".tmp-{}", uuid::Uuid::now_v7().simple()));
        let backup = self.write_backup(&temporary, folder, now);
        if backup.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        backup
    }

    /// Writes and checks the copy under a temporary path, then renames it.
    fn write_backup(&self, temporary: &Path, folder: &Path, now: Timestamp) -> Result<PathBuf> {
        // Created before it has content, so that only its owner can ever read it.
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(temporary)
            .map_err(|e| file_failure(temporary, &e))?;
        backup::copy(&self.conn, temporary)?;
        failpoint!("after the copy of a backup");
        let (copied, stored) = (backup::check(temporary)?, memories::count(&self.conn)?);
        if copied != stored {
            let what = format!("the copy has {copied} memories, the store {stored}");
            return Err(Error::Damaged { path: temporary.to_path_buf(), what });
        }
        File::open(temporary)
            .and_then(|file| file.sync_all())
            .map_err(|e| file_failure(temporary, &e))?;
        let path = unused_path(folder, now);
        failpoint!("before a backup gets its name");
        std::fs::rename(temporary, &path).map_err(|e| file_failure(&path, &e))?;
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|e| file_failure(folder, &e))?;
        Ok(path)
    }

    /// Deletes all stored data after a backup into `folder`. Only that backup can restore it.
    ///
    /// # Errors
    /// As [`Writer::back_up`]; nothing is deleted then.
    pub fn reset(
        &mut self,
        call: &CallContext,
        request: &ResetRequest,
        folder: &Path,
    ) -> Result<ResetReply> {
        let memories = memories::count(&self.conn)?;
        if request.dry_run {
            return Ok(ResetReply { memories, backup: None });
        }
        let backup = self.back_up(folder, call.now)?;
        self.change(|conn, _, touched| {
            touched.emptied = true;
            connection::defer_foreign_keys(conn)?;
            backup::delete_all(conn)
        })?;
        failpoint!("after a reset");
        health::release_free_pages(&self.conn)?;
        self.scrub()?;
        Ok(ResetReply { memories, backup: Some(backup.display().to_string()) })
    }
}

impl Reader {
    /// Deletes the backups that contain a hard-deleted memory.
    ///
    /// # Errors
    /// `conflict` while the memory exists; `storage_failed` if a backup cannot be deleted.
    pub fn purge_backups(&self, id: &MemoryId, folder: &Path) -> Result<PurgeBackupsReply> {
        if !tombstones::has(&self.conn, id)? {
            let failure = Failure::new(
                Code::Conflict,
                format!("names a memory that was not permanently deleted: {id}"),
            )
            .at("memory_id");
            return Err(failure.hint("Forget it with --hard first").into());
        }
        let search = search(folder, id);
        for path in &search.containing {
            std::fs::remove_file(path).map_err(|e| file_failure(path, &e))?;
        }
        let to_texts = |paths: Vec<PathBuf>| {
            paths.into_iter().map(|path| path.display().to_string()).collect()
        };
        Ok(PurgeBackupsReply {
            removed: to_texts(search.containing),
            unreadable: to_texts(search.unreadable),
        })
    }
}

/// The backups of a folder that contain one memory, or may contain it.
#[derive(Debug, Default)]
pub struct BackupSearch {
    /// Backups that contain it, oldest first.
    pub containing: Vec<PathBuf>,
    /// Backups that cannot be read.
    pub unreadable: Vec<PathBuf>,
}

/// Searches every backup of a folder for one memory.
#[must_use]
pub fn search(folder: &Path, id: &MemoryId) -> BackupSearch {
    let mut search = BackupSearch::default();
    let Ok(entries) = std::fs::read_dir(folder) else { return search };
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "db"));
    // Names begin with the time of the backup.
    paths.sort();
    for path in paths {
        match backup::contains(&path, id) {
            Ok(true) => search.containing.push(path),
            Ok(false) => {}
            Err(_) => search.unreadable.push(path),
        }
    }
    search
}

/// Returns an unused path such as `memory-20260210T083000Z.db`, with a number if there is a backup
/// of this second.
fn unused_path(folder: &Path, now: Timestamp) -> PathBuf {
    let moment: String = now.iso().chars().take(19).filter(char::is_ascii_alphanumeric).collect();
    let name = |number: usize| {
        if number == 1 {
            format!("memory-{moment}Z.db")
        } else {
            format!("memory-{moment}Z-{number}.db")
        }
    };
    (1..10_000)
        .map(|number| folder.join(name(number)))
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join(name(1)))
}

fn file_failure(path: &Path, error: &io::Error) -> Error {
    Failure::new(Code::StorageFailed, format!("{}: {error}", path.display()))
        .hint("Free some space, or look at the folder's permissions")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::{TestStore, axis, parse};
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_reset_empties_the_store_after_a_complete_backup() {
        let mut test_store = TestStore::new();
        let id = test_store
            .store(
                "shop",
                json!({"content": "The zebra crossing is closed", "type": "semantic"}),
                Some(&axis(1)),
            )
            .id;
        test_store.store(
            "shop",
            json!({"content": "Anna", "type": "entity", "metadata": {"name": "Anna"}}),
            None,
        );
        test_store.forget("shop", json!({"memory_id": id})).expect("the memory is forgotten");
        let folder = test_store.folder.path().join("backups");
        let call = test_store.call("shop", None);
        assert_eq!(
            test_store
                .writer
                .reset(&call, &ResetRequest { dry_run: true }, &folder)
                .expect("the dry run counts the memories")
                .memories,
            2
        );
        let reply = test_store
            .writer
            .reset(&call, &ResetRequest::default(), &folder)
            .expect("the store is emptied");
        let copy = PathBuf::from(reply.backup.expect("the reply names the backup"));
        assert_eq!(copy.metadata().expect("the backup exists").permissions().mode() & 0o777, 0o600);
        assert_eq!(copy.file_name().and_then(|n| n.to_str()), Some("memory-20260201T000000Z.db"));
        assert_eq!(
            (
                backup::check(&copy).expect("the backup is intact"),
                backup::contains(&copy, &id).expect("the backup is readable")
            ),
            (2, true)
        );
        assert!(test_store.dump().is_empty() && test_store.reader.shared.index().len() == 0);
        assert!(
            !crate::db::dump::file_contains(
                &test_store.folder.path().join("memory.db"),
                "zebra crossing"
            ),
            "the database file has no copy of the text"
        );
        test_store.store(
            "shop",
            json!({"content": "A new beginning", "type": "semantic"}),
            Some(&axis(1)),
        );
        assert_eq!(
            test_store.found("shop", json!({"query": "beginning"}), Some(&axis(1))),
            ["A new beginning"]
        );
    }

    #[test]
    fn a_second_backup_in_one_second_gets_a_number_and_a_reset_releases_all_pages() {
        let mut test_store = TestStore::new();
        let folder = test_store.folder.path().join("backups");
        let call = test_store.call("shop", None);
        test_store.writer.back_up(&folder, test_store.now).expect("the backup is written");
        for shelf in 0..100 {
            test_store.store(
                "shop",
                json!({"content": format!("Shelf {shelf} is full"), "type": "semantic"}),
                Some(&axis(1)),
            );
        }
        let reply = test_store
            .writer
            .reset(&call, &ResetRequest::default(), &folder)
            .expect("the store is emptied");
        assert_eq!(
            crate::db::dump::free_pages(&test_store.writer.conn),
            0,
            "the free pages are released"
        );
        assert!(reply.backup.expect("the reply names the backup").ends_with("000000Z-2.db"));
        assert_eq!(
            std::fs::read_dir(&folder).expect("the folder is readable").count(),
            2,
            "there are no temporary files"
        );
    }

    #[test]
    fn backups_with_a_memory_are_deleted_only_after_its_hard_delete() {
        let mut test_store = TestStore::new();
        let folder = test_store.folder.path().join("backups");
        assert!(search(&folder, &MemoryId::from(uuid::Uuid::nil())).containing.is_empty());
        test_store.writer.back_up(&folder, test_store.now).expect("the backup is written");
        let id =
            test_store.store("shop", json!({"content": "A secret", "type": "semantic"}), None).id;
        let backup = test_store
            .writer
            .back_up(&folder, test_store.now.plus(60_000))
            .expect("the backup is written");
        std::fs::write(folder.join("broken.db"), "no database").expect("the file is written");
        assert_eq!(search(&folder, &id).containing, std::slice::from_ref(&backup));
        assert!(test_store.reader.purge_backups(&id, &folder).is_err(), "the memory still exists");
        let call = test_store.call("shop", None);
        test_store
            .writer
            .forget(&call, &parse(json!({"memory_id": id, "hard_delete": true})))
            .expect("the memory is deleted");
        let reply = test_store.reader.purge_backups(&id, &folder).expect("the backup is deleted");
        assert_eq!(
            (reply.removed, reply.unreadable.len(), backup.exists()),
            (vec![backup.display().to_string()], 1, false)
        );
        assert_eq!(std::fs::read_dir(&folder).expect("the folder is readable").count(), 2);
    }
}
