//! `backup` and `reset`: checked copies of the database, which copies still hold a memory, and
//! emptying the store after a backup.
//!
//! A backup is never rewritten. Not here: the schedule of backups.

use crate::db::{backup, connection, health, memories, tombstones};
use crate::error::{Error, Result};
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
            .map_err(|e| failed(folder, &e))?;
        let draft = folder.join(format!(".tmp-{}", uuid::Uuid::now_v7().simple()));
        let made = self.draft(&draft, folder, now);
        if made.is_err() {
            let _ = std::fs::remove_file(&draft);
        }
        made
    }

    fn draft(&self, draft: &Path, folder: &Path, now: Timestamp) -> Result<PathBuf> {
        // Readable only by its owner before it has any content.
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(draft)
            .map_err(|e| failed(draft, &e))?;
        backup::copy(&self.conn, draft)?;
        let (copied, held) = (backup::check(draft)?, memories::count(&self.conn)?);
        if copied != held {
            let what = format!("the copy has {copied} memories, the store {held}");
            return Err(Error::Damaged { path: draft.to_path_buf(), what });
        }
        File::open(draft).and_then(|file| file.sync_all()).map_err(|e| failed(draft, &e))?;
        let path = free_name(folder, now);
        std::fs::rename(draft, &path).map_err(|e| failed(&path, &e))?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| failed(folder, &e))?;
        Ok(path)
    }

    /// Deletes all stored data after a backup into `folder`. That backup is the only way back.
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
        let copy = self.back_up(folder, call.now)?;
        self.change(|conn, _, touched| {
            touched.emptied = true;
            connection::defer_foreign_keys(conn)?;
            backup::empty(conn)
        })?;
        health::release_free_pages(&self.conn)?;
        self.scrub()?;
        Ok(ResetReply { memories, backup: Some(copy.display().to_string()) })
    }
}

impl Reader {
    /// Deletes the backups that still hold a hard-deleted memory.
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
        let found = holding(folder, id);
        for path in &found.holding {
            std::fs::remove_file(path).map_err(|e| failed(path, &e))?;
        }
        let told = |paths: Vec<PathBuf>| {
            paths.into_iter().map(|path| path.display().to_string()).collect()
        };
        Ok(PurgeBackupsReply { removed: told(found.holding), unreadable: told(found.unreadable) })
    }
}

/// The backups of a folder with regard to one memory.
#[derive(Debug, Default)]
pub struct BackupSearch {
    /// Backups that hold it, oldest first.
    pub holding: Vec<PathBuf>,
    /// Backups that cannot be read.
    pub unreadable: Vec<PathBuf>,
}

/// Searches every backup of a folder for one memory.
#[must_use]
pub fn holding(folder: &Path, id: &MemoryId) -> BackupSearch {
    let mut found = BackupSearch::default();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "db"));
    // Names begin with the time of the backup.
    paths.sort();
    for path in paths {
        match backup::holds(&path, id) {
            Ok(true) => found.holding.push(path),
            Ok(false) => {}
            Err(_) => found.unreadable.push(path),
        }
    }
    found
}

/// `memory-20260210T083000Z.db`, with a number if one of this second exists.
fn free_name(folder: &Path, now: Timestamp) -> PathBuf {
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

fn failed(path: &Path, error: &io::Error) -> Error {
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
    fn a_reset_leaves_only_a_backup_with_everything() {
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
        test_store.forget("shop", json!({"memory_id": id})).expect("is forgotten");
        let folder = test_store.folder.path().join("backups");
        let call = test_store.call("shop", None);
        assert_eq!(
            test_store
                .writer
                .reset(&call, &ResetRequest { dry_run: true }, &folder)
                .expect("counts")
                .memories,
            2
        );
        let reply =
            test_store.writer.reset(&call, &ResetRequest::default(), &folder).expect("is emptied");
        let copy = PathBuf::from(reply.backup.expect("has a backup"));
        assert_eq!(copy.metadata().expect("is there").permissions().mode() & 0o777, 0o600);
        assert_eq!(copy.file_name().and_then(|n| n.to_str()), Some("memory-20260201T000000Z.db"));
        assert_eq!(
            (backup::check(&copy).expect("is whole"), backup::holds(&copy, &id).expect("reads")),
            (2, true)
        );
        assert!(test_store.dump().is_empty() && test_store.reader.shared.index().len() == 0);
        assert!(
            !crate::db::dump::holds(&test_store.folder.path().join("memory.db"), "zebra crossing"),
            "nothing is left in the file"
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
        for shelf in 0..100 {
            test_store.store(
                "shop",
                json!({"content": format!("Shelf {shelf} is full"), "type": "semantic"}),
                Some(&axis(1)),
            );
        }
        let second =
            test_store.writer.reset(&call, &ResetRequest::default(), &folder).expect("is emptied");
        assert_eq!(
            crate::db::dump::free_pages(&test_store.writer.conn),
            0,
            "its space is given back"
        );
        assert!(second.backup.expect("has a backup").ends_with("000000Z-2.db"));
        assert_eq!(
            std::fs::read_dir(&folder).expect("is readable").count(),
            2,
            "no drafts are left"
        );
    }

    #[test]
    fn backups_with_a_memory_are_named_and_deleted_only_after_its_hard_delete() {
        let mut test_store = TestStore::new();
        let folder = test_store.folder.path().join("backups");
        assert!(holding(&folder, &MemoryId::from(uuid::Uuid::nil())).holding.is_empty());
        test_store.writer.back_up(&folder, test_store.now).expect("is copied");
        let id =
            test_store.store("shop", json!({"content": "A secret", "type": "semantic"}), None).id;
        let held =
            test_store.writer.back_up(&folder, test_store.now.plus(60_000)).expect("is copied");
        std::fs::write(folder.join("broken.db"), "no database").expect("is written");
        assert_eq!(holding(&folder, &id).holding, std::slice::from_ref(&held));
        assert!(test_store.reader.purge_backups(&id, &folder).is_err(), "it is still there");
        let call = test_store.call("shop", None);
        test_store
            .writer
            .forget(&call, &parse(json!({"memory_id": id, "hard_delete": true})))
            .expect("is removed");
        let reply = test_store.reader.purge_backups(&id, &folder).expect("is purged");
        assert_eq!(
            (reply.removed, reply.unreadable.len(), held.exists()),
            (vec![held.display().to_string()], 1, false)
        );
        assert_eq!(std::fs::read_dir(&folder).expect("is readable").count(), 2);
    }
}
