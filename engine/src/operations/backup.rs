//! `backup`, `purge_backups` and `reset`: makes a verified copy of the store, deletes the copies that
//! contain a memory, and empties the store after a backup.
//!
//! A backup is never rewritten. Not here: how a backup is made (`backups::create`), when (the
//! daemon), how one is restored (`backups::restore`).

use crate::backups::create::{self, NewBackup};
use crate::backups::due;
use crate::backups::manifest::{self, Backup};
use crate::db::{backup, connection, health, memories, tombstones};
use crate::error::Result;
use crate::failpoint::failpoint;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use loci_proto::error::{Code, Failure};
use loci_proto::memory::MemoryId;
use loci_proto::requests::purge_backups::PurgeBackupsReply;
use loci_proto::requests::reset::{ResetReply, ResetRequest};
use std::path::{Path, PathBuf};

impl Writer {
    /// Makes a verified backup.
    ///
    /// # Errors
    /// `storage_failed` if too little space is free; `Damaged` if the copy is faulty; `Database`,
    /// `File`. No partial copy remains then.
    pub fn back_up(&self, new: &NewBackup) -> Result<Backup> {
        self.reader()?.back_up(new, &mut || Ok(()))
    }

    /// Deletes all stored data after a backup, or after the newest one if that has everything. Only
    /// that backup can restore it.
    ///
    /// # Errors
    /// As [`Writer::back_up`]; nothing is deleted then.
    pub fn reset(&mut self, request: &ResetRequest, new: &NewBackup) -> Result<ResetReply> {
        let memories = memories::count(&self.conn)?;
        if request.dry_run {
            return Ok(ResetReply { memories, backup: None });
        }
        let (database, last_change) =
            (health::database_uuid(&self.conn)?, health::last_change(&self.conn)?);
        let listed = manifest::list(&new.folder);
        let backup = match due::saved(&listed, &database, last_change) {
            Some(saved) => saved.path.clone(),
            None => self.back_up(new)?.path,
        };
        self.change(|conn, _, touched| {
            touched.emptied = true;
            connection::defer_foreign_keys(conn)?;
            backup::delete_all(conn)?;
            health::begin_history(conn, new.now)
        })?;
        failpoint!("after a reset");
        health::release_free_pages(&self.conn)?;
        self.scrub()?;
        Ok(ResetReply { memories, backup: Some(backup.display().to_string()) })
    }
}

impl Reader {
    /// Makes a verified backup while other connections read and write. Use a reader of its own
    /// ([`Reader::try_clone`]). `between` is called between two parts of the copy; its error ends
    /// the backup.
    ///
    /// # Errors
    /// As [`Writer::back_up`].
    pub fn back_up(
        &self,
        new: &NewBackup,
        between: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Backup> {
        create::create(&self.conn, new, between)
    }

    /// Returns the id of the database and the number of its last change.
    ///
    /// # Errors
    /// `Database`.
    pub fn last_change(&self) -> Result<(String, i64)> {
        Ok((health::database_uuid(&self.conn)?, health::last_change(&self.conn)?))
    }

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
            manifest::remove(path)?;
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
    for found in manifest::list(folder) {
        match backup::contains(&found.path, id) {
            Ok(true) => search.containing.push(found.path),
            Ok(false) => {}
            Err(_) => search.unreadable.push(found.path),
        }
    }
    search
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backups::manifest::Reason;
    use crate::model::time::Timestamp;
    use crate::tests::fixture::{TestStore, axis, parse};
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt;

    fn new_backup(folder: &Path, now: Timestamp) -> NewBackup {
        NewBackup { folder: folder.to_path_buf(), reason: Reason::Reset, now, max_bytes: u64::MAX }
    }

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
        let new = new_backup(&folder, test_store.now);
        assert_eq!(
            test_store
                .writer
                .reset(&ResetRequest { dry_run: true }, &new)
                .expect("the dry run counts the memories")
                .memories,
            2
        );
        let reply =
            test_store.writer.reset(&ResetRequest::default(), &new).expect("the store is emptied");
        let copy = PathBuf::from(reply.backup.expect("the reply names the backup"));
        assert_eq!(copy.metadata().expect("the backup exists").permissions().mode() & 0o777, 0o600);
        assert_eq!(copy.file_name().and_then(|n| n.to_str()), Some("memory-20260201T000000Z.db"));
        assert_eq!(
            (
                backup::examine(&copy).expect("the backup is intact").memories,
                backup::contains(&copy, &id).expect("the backup is readable")
            ),
            (2, true)
        );
        assert!(test_store.dump().is_empty() && test_store.reader.shared.index().slot_count() == 0);
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
        let new = new_backup(&folder, test_store.now);
        test_store.writer.back_up(&new).expect("the backup is written");
        for shelf in 0..100 {
            test_store.store(
                "shop",
                json!({"content": format!("Shelf {shelf} is full"), "type": "semantic"}),
                Some(&axis(1)),
            );
        }
        let reply =
            test_store.writer.reset(&ResetRequest::default(), &new).expect("the store is emptied");
        assert_eq!(
            crate::db::dump::free_pages(&test_store.writer.conn),
            0,
            "the free pages are released"
        );
        assert!(reply.backup.expect("the reply names the backup").ends_with("000000Z-2.db"));
        assert_eq!(
            std::fs::read_dir(&folder).expect("the folder is readable").count(),
            4,
            "there are no temporary files"
        );
    }

    #[test]
    fn backups_with_a_memory_are_deleted_only_after_its_hard_delete() {
        let mut test_store = TestStore::new();
        let folder = test_store.folder.path().join("backups");
        assert!(search(&folder, &MemoryId::from(uuid::Uuid::nil())).containing.is_empty());
        test_store
            .writer
            .back_up(&new_backup(&folder, test_store.now))
            .expect("the backup is written");
        let id =
            test_store.store("shop", json!({"content": "A secret", "type": "semantic"}), None).id;
        let backup = test_store
            .writer
            .back_up(&new_backup(&folder, test_store.now.plus(60_000)))
            .expect("the backup is written")
            .path;
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
        assert_eq!(std::fs::read_dir(&folder).expect("the folder is readable").count(), 3);
    }
}
