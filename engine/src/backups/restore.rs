//! Restores a backup: the present store is kept aside, and the backup takes its place without what
//! was hard-deleted since.
//!
//! Not here: stopping the daemon (the command line), a store that is only partly readable
//! (`recover`).

use crate::backups::create::NewBackup;
use crate::backups::manifest::{self, Backup, Reason};
use crate::backups::prepare::{Prepared, Target};
use crate::backups::verify;
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::handles::open::open_cold;
use crate::model::time::Timestamp;
use loci_proto::error::{Code, Failure};
use std::path::PathBuf;

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The memories that the store has now.
    pub memories: usize,
    /// The memories that it had before, if it could be read.
    pub memories_before: Option<usize>,
    /// Memories of the backup that were hard-deleted since, and were deleted again.
    pub forgotten_again: usize,
    /// Secrets of the backup that were replaced in the store since, and were replaced again.
    pub redacted_again: usize,
    /// The folder with the files as they were.
    pub quarantine: PathBuf,
    /// The backup of the store as it was, if one could be made.
    pub safety_backup: Option<String>,
}

/// Returns the newest backup of a database that was made at a time or before it.
///
/// # Errors
/// `not_found` if there is none.
pub fn newest_at(target: &Target, at: Timestamp) -> Result<Backup> {
    let known = target.last_known().map(|known| known.database);
    let newest = manifest::list(&target.backups)
        .into_iter()
        .rfind(|backup| backup.created_at <= at && backup.is_of(known.as_deref()));
    newest.ok_or_else(|| {
        let message = format!("there is no backup of this database from {} or before", at.iso());
        let backups = manifest::list(&target.backups);
        let hint = match backups.iter().find(|backup| backup.is_of(known.as_deref())) {
            Some(oldest) => {
                format!("The oldest is {}; all: loci backup list", oldest.id())
            }
            None => "Make one: loci backup create".to_owned(),
        };
        Failure::new(Code::NotFound, message).hint(hint).into()
    })
}

/// Returns the newest backup of the database that was not found faulty.
///
/// # Errors
/// `not_found` if there is none.
pub fn newest(target: &Target) -> Result<Backup> {
    let known = target.last_known().map(|known| known.database);
    let is_usable = |backup: &Backup| {
        backup.is_of(known.as_deref())
            && backup.manifest.as_ref().is_none_or(|manifest| manifest.fault.is_none())
    };
    let mut backups = manifest::list(&target.backups);
    if let Some(newest) = backups.iter().rfind(|backup| is_usable(backup)) {
        return Ok(newest.clone());
    }
    let failure = Failure::new(Code::NotFound, "there is no whole backup of this database");
    backups.retain(|backup| !backup.is_of(known.as_deref()));
    Err(match backups.pop() {
        Some(other) => failure.hint(format!(
            "The newest of another database is restored by its id: loci backup restore {}",
            other.id()
        )),
        None if target.database.exists() && target.memories_now().is_none() => {
            failure.hint("Run loci doctor --recover to keep what can still be read of it")
        }
        None => failure.hint("Make one: loci backup create"),
    }
    .into())
}

/// Restores a backup.
///
/// # Errors
/// `Damaged` if the backup is faulty; `File` or `Database`. The present store is unchanged then.
pub fn restore(target: &Target, backup: &Backup) -> Result<Restored> {
    if let Some(what) = verify::verify(backup, target.now)?.fault {
        return Err(Error::Damaged { path: backup.path.clone(), what });
    }
    let present = save_present(target)?;
    failpoint!("after the present store was saved");
    let mut prepared = Prepared::new(target, Some(&backup.path))?;
    prepared.continue_acts(target)?;
    let forgotten_again = prepared.forget_again(target)?;
    prepared.isolate_again(target)?;
    prepared.switch_off_again(target)?;
    let redacted_again = prepared.redact_again(target, backup)?;
    let writer = prepared.writer()?;
    let text = format!("The backup {} was restored", backup.id());
    writer.add_notice(&text, target.now)?;
    let memories = crate::db::memories::count(&writer.conn)?;
    let report = format!("{text}; these are the files as they were before.");
    let quarantine = prepared.put_in_place(target, &report)?;
    Ok(Restored {
        memories,
        memories_before: present.memories,
        forgotten_again,
        redacted_again,
        quarantine,
        safety_backup: present.backup,
    })
}

/// The present store before a restore.
#[derive(Debug, Default)]
struct Present {
    memories: Option<usize>,
    backup: Option<String>,
}

/// Makes a backup of the present store, unless it is damaged: its files are kept in the quarantine in
/// any case.
///
/// # Errors
/// Why none can be made of a whole store, such as too little space: it is the way back.
fn save_present(target: &Target) -> Result<Present> {
    let Target { database, backups, settings, now, .. } = target;
    if !database.exists() {
        return Ok(Present::default());
    }
    let Ok(writer) = open_cold(database, settings.clone(), *now) else {
        return Ok(Present { memories: target.memories_now(), backup: None });
    };
    let memories = crate::db::memories::count(&writer.conn).ok();
    let new = NewBackup {
        folder: backups.clone(),
        reason: Reason::Restore,
        now: *now,
        // The rotation must not delete the backup that is restored.
        max_bytes: u64::MAX,
    };
    let backup = writer.back_up(&new);
    // A store that cannot be closed cleanly is kept as it is.
    let _ = writer.close();
    match backup {
        Ok(backup) => Ok(Present { memories, backup: Some(backup.id()) }),
        Err(error) if error.is_damage() => Ok(Present { memories, backup: None }),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backups::manifest::list;
    use crate::backups::recover::{self, WithoutBackup};
    use crate::backups::redactions;
    use crate::handles::open::open;
    use crate::handles::settings::{BackupSettings, Settings};
    use crate::model::time::{DAY, HOUR};
    use crate::tests::fixture::{TestStore, axis, parse};
    use loci_proto::requests::export::{ExportRequest, Layout};
    use loci_proto::requests::groups::SwitchRequest;
    use serde_json::json;
    use std::path::Path;
    use std::sync::Arc;

    fn settings(folder: &Path) -> Settings {
        let folder = Some(folder.join("backups"));
        let backups = BackupSettings { folder, ..BackupSettings::default() };
        Settings { backups, ..Settings::for_model("test") }
    }

    /// A store with backups in its folder, and how to replace it.
    fn store() -> (TestStore, Target) {
        let test_store = TestStore::new();
        let settings = settings(test_store.folder.path());
        test_store.writer.set_settings(settings.clone());
        let target = Target {
            database: test_store.folder.path().canonicalize().expect("exists").join("memory.db"),
            backups: test_store.folder.path().join("backups"),
            settings,
            policy: Arc::default(),
            now: test_store.now.plus(DAY),
        };
        (test_store, target)
    }

    fn back_up(test_store: &TestStore, reason: Reason) -> Backup {
        let folder = test_store.folder.path().join("backups");
        let new = NewBackup { folder, reason, now: test_store.now, max_bytes: u64::MAX };
        test_store.writer.back_up(&new).expect("the backup is made")
    }

    fn store_note(test_store: &mut TestStore, text: &str) -> loci_proto::memory::MemoryId {
        test_store.store("shop", json!({"content": text, "type": "semantic"}), Some(&axis(1))).id
    }

    /// Returns the exported memories, without the audit log.
    fn export(test_store: &TestStore) -> String {
        let mut bytes = Vec::new();
        let request = ExportRequest { layout: Layout::Lines, ..ExportRequest::default() };
        test_store.reader.export(&request, &mut bytes).expect("the store is exported");
        let text = String::from_utf8(bytes).expect("an export is UTF-8");
        let is_state = |line: &&str| {
            !line.contains(r#""kind":"log""#)
                && !line.contains(r#""kind":"end""#)
                && !line.contains(r#""kind":"tombstone""#)
        };
        text.lines().filter(is_state).collect::<Vec<_>>().join("\n")
    }

    /// Closes the store and returns its folder.
    fn closed(test_store: TestStore) -> tempfile::TempDir {
        let TestStore { folder, writer, reader, .. } = test_store;
        drop(reader);
        writer.close().expect("the store closes");
        folder
    }

    fn reopened(folder: tempfile::TempDir, target: &Target) -> TestStore {
        let writer =
            open(&target.database, target.settings.clone(), target.now).expect("the store opens");
        let reader = writer.reader().expect("the reader opens");
        TestStore::of(folder, writer, reader, target.now)
    }

    #[test]
    fn a_restored_backup_equals_the_export_of_its_time_without_what_was_hard_deleted_since() {
        let (mut test_store, target) = store();
        let kept = store_note(&mut test_store, "The zebra crossing is closed");
        let secret = store_note(&mut test_store, "The code of the safe is on the fridge");
        let expected: Vec<String> = export(&test_store)
            .lines()
            .filter(|line| !line.contains("fridge"))
            .map(str::to_owned)
            .collect();
        let backup = back_up(&test_store, Reason::Manual);
        test_store.now = test_store.now.plus(HOUR);
        store_note(&mut test_store, "The bakery has moved to Main Street");
        test_store.forget("shop", json!({"memory_id": kept})).expect("is forgotten");
        test_store
            .forget("shop", json!({"memory_id": secret, "hard_delete": true}))
            .expect("is deleted");
        let folder = closed(test_store);
        let restored = restore(&target, &backup).expect("the backup is restored");
        assert_eq!(
            (restored.memories, restored.memories_before, restored.forgotten_again),
            (1, Some(2), 1)
        );
        let safety = restored.safety_backup.expect("the present store was saved");
        assert!(list(&target.backups).iter().any(|b| b.id() == safety && b.is_verified()));
        assert!(restored.quarantine.join("memory.db").exists());
        let test_store = reopened(folder, &target);
        assert_eq!(export(&test_store).lines().collect::<Vec<_>>(), expected);
        assert!(!crate::db::dump::file_contains(&target.database, "fridge"));
        let notices = test_store.reader.notices().expect("the notices are read");
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(notices[0].text.contains(&backup.id()));
    }

    #[test]
    fn a_project_that_was_isolated_since_the_backup_stays_isolated() {
        let (mut test_store, target) = store();
        store_note(&mut test_store, "The zebra crossing is closed");
        let backup = back_up(&test_store, Reason::Manual);
        let (call, now) = (test_store.call("shop", None), test_store.now);
        test_store.writer.set_isolated(&call, true, now).expect("the project is isolated");
        let group = crate::tests::fixture::named("shop");
        for damaged in [false, true] {
            let folder = closed(test_store);
            if damaged {
                recover::recover(&target, WithoutBackup::Refuse).expect("the store is recovered");
            } else {
                restore(&target, &backup).expect("the backup is restored");
            }
            test_store = reopened(folder, &target);
            assert!(test_store.writer.isolated_groups().contains(&group.id), "{damaged}");
        }
    }

    /// Files next to the backups that say what is in force.
    const SIDE_FILES: [&str; 6] = [
        "forgotten-ids",
        "forgotten-ids-copy",
        "policies",
        "policies-copy",
        "redactions",
        "redactions-copy",
    ];

    #[test]
    fn no_fault_of_one_file_weakens_a_policy_or_brings_a_text_back() {
        let (mut test_store, target) = store();
        store_note(&mut test_store, "The zebra crossing is closed");
        let erased = store_note(&mut test_store, "The fridge of the mill is red");
        let backup = back_up(&test_store, Reason::Manual);
        let (mut call, now) = (test_store.call("shop", None), test_store.now);
        test_store.writer.set_isolated(&call, true, now).expect("the project is isolated");
        call.actor.origin = loci_proto::memory::Origin::Person;
        let off = SwitchRequest { group: Some("mill".parse().expect("a name")), off: true };
        test_store.store("mill", json!({"content": "The mill is old", "type": "semantic"}), None);
        test_store.writer.switch_group(&call, &off, None).expect("it is off");
        let request = parse(json!({"memory_id": erased, "hard_delete": true}));
        test_store.writer.forget(&call, &request).expect("it is deleted");
        let database = test_store.writer.shared.path.clone();
        redactions::record(&target.backups, "d", 1).expect("it is recorded");
        let mut folder = closed(test_store);
        let group = crate::tests::fixture::named("shop");
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for (number, name) in SIDE_FILES.iter().cycle().take(36).enumerate() {
            let file = target.backups.join(name);
            let mut bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(random >> 33).unwrap_or(0) % bytes.len();
            match number / 12 {
                0 => bytes[at] ^= 1 << (number % 7),
                1 => bytes.truncate(at),
                _ => bytes.clear(),
            }
            std::fs::write(&file, bytes).expect("it is changed");
            if number % 5 == 0 {
                std::fs::remove_file(&file).expect("it is removed");
            }
            // The database is whole, damaged or lost.
            match number % 3 {
                0 => {}
                1 => std::fs::write(&database, "no database").expect("it is damaged"),
                _ => std::fs::remove_file(&database).expect("it is lost"),
            }
            assert!(redactions::is_needed(&target.backups, &backup).expect("it is read"), "{name}");
            restore(&target, &backup).expect("the backup is restored");
            let test_store = reopened(folder, &target);
            let shared = &test_store.writer.shared;
            assert!(shared.isolated.read().contains(&group.id), "{number}: {name} at {at}");
            assert!(shared.switches.read().is_off("mill"), "{number}: {name} at {at}");
            let back = crate::db::memories::by_id(&test_store.writer.conn, &erased);
            assert!(back.expect("it is read").is_none(), "{number}: {name} at {at}");
            folder = closed(test_store);
        }
    }

    #[test]
    fn the_number_of_an_act_since_the_backup_names_no_other_act_after_a_restore() {
        let (mut test_store, target) = store();
        let id = store_note(&mut test_store, "The mill is red");
        let forget = |test_store: &mut TestStore| {
            let call = test_store.call("shop", None);
            let request = parse(json!({"memory_id": id}));
            test_store.writer.forget(&call, &request).expect("it is forgotten").act
        };
        let backup = back_up(&test_store, Reason::Daily);
        let before = forget(&mut test_store).expect("it is an act");
        let folder = closed(test_store);
        restore(&target, &backup).expect("the backup is restored");
        let mut test_store = reopened(folder, &target);
        assert_eq!(forget(&mut test_store), Some(before + 1));
    }

    #[test]
    fn what_was_hard_deleted_stays_deleted_if_the_present_database_is_lost() {
        let (mut test_store, target) = store();
        let secret = store_note(&mut test_store, "The code of the safe is on the fridge");
        store_note(&mut test_store, "The zebra crossing is closed");
        let backup = back_up(&test_store, Reason::Daily);
        test_store
            .writer
            .forget(
                &test_store.call("shop", None),
                &parse(json!({"memory_id": secret, "hard_delete": true})),
            )
            .expect("is deleted");
        let folder = closed(test_store);
        for suffix in ["", "-identity", "-sums"] {
            let _ =
                std::fs::remove_file(crate::database_files::with_suffix(&target.database, suffix));
        }
        let restored = restore(&target, &backup).expect("the backup is restored");
        assert_eq!((restored.memories, restored.memories_before), (1, None));
        let test_store = reopened(folder, &target);
        assert_eq!(
            test_store.found("shop", json!({"query": "code of the safe zebra"}), None),
            ["The zebra crossing is closed"]
        );
    }

    #[test]
    fn a_backup_whose_bytes_have_changed_is_refused_and_the_store_stays() {
        let (mut test_store, target) = store();
        store_note(&mut test_store, "The zebra crossing is closed");
        let backup = back_up(&test_store, Reason::Daily);
        let mut bytes = std::fs::read(&backup.path).expect("is read");
        let at = bytes.len() - 10;
        bytes[at] ^= 1;
        std::fs::write(&backup.path, bytes).expect("is written");
        let folder = closed(test_store);
        let before = std::fs::read(&target.database).expect("is read");
        let error = restore(&target, &backup).expect_err("it is refused").to_string();
        assert!(error.contains("have changed since"), "{error}");
        assert_eq!(std::fs::read(&target.database).expect("is read"), before);
        assert!(!list(&target.backups)[0].is_verified(), "the manifest records the fault");
        assert!(!folder.path().join("quarantine").exists());
    }

    #[test]
    fn a_damaged_store_is_recovered_from_the_backup_and_what_can_be_read() {
        for damage in ["first page", "cut", "middle"] {
            let (mut test_store, target) = store();
            for n in 0..40 {
                store_note(&mut test_store, &format!("Early note {n} about drawer {}", n * 7));
            }
            back_up(&test_store, Reason::Daily);
            test_store.now = test_store.now.plus(HOUR);
            for n in 0..5 {
                store_note(&mut test_store, &format!("Late note {n} about shelf {}", n * 13));
            }
            let folder = closed(test_store);
            let mut bytes = std::fs::read(&target.database).expect("is read");
            let half = bytes.len() / 2 / 4096 * 4096;
            match damage {
                "first page" => bytes[..4096].fill(0),
                "cut" => bytes.truncate(half),
                _ => bytes[half..half + 4096].fill(0x5a),
            }
            std::fs::write(&target.database, &bytes).expect("is written");
            let recovered =
                recover::recover(&target, WithoutBackup::Refuse).expect("the store is recovered");
            assert!(recovered.memories >= 40, "{damage}: {recovered:?}");
            assert!(
                recovered.memories == 45 || recovered.lost > 0,
                "{damage}: what is missing is reported: {recovered:?}"
            );
            if damage == "first page" {
                assert_eq!((recovered.salvaged, recovered.memories), (5, 45), "{recovered:?}");
            }
            assert_eq!(
                std::fs::read(recovered.quarantine.join("memory.db")).expect("is kept"),
                bytes
            );
            let test_store = reopened(folder, &target);
            let notices = test_store.reader.notices().expect("the notices are read");
            assert!(notices[0].text.contains("was restored from the backup"), "{notices:?}");
            assert!(
                test_store.found("shop", json!({"query": "drawer 91"}), None)[0].contains("13")
            );
        }
    }

    #[test]
    fn without_a_backup_a_damaged_store_is_salvaged_only_if_asked() {
        let (mut test_store, target) = store();
        for n in 0..10 {
            store_note(&mut test_store, &format!("Early note {n} about drawer {}", n * 7));
        }
        let folder = closed(test_store);
        let bytes = std::fs::read(&target.database).expect("is read");
        std::fs::write(&target.database, &bytes[..bytes.len() - 4096 * 8]).expect("is cut");
        let refused = recover::recover(&target, WithoutBackup::Refuse).expect_err("is refused");
        assert!(refused.to_string().contains("no whole backup"), "{refused}");
        assert!(!folder.path().join("quarantine").exists());
        let recovered =
            recover::recover(&target, WithoutBackup::Salvage).expect("the rows are salvaged");
        assert_eq!((recovered.salvaged, recovered.memories), (10, 10), "{recovered:?}");
        std::fs::write(&target.database, vec![0; 40_960]).expect("is overwritten");
        let before = std::fs::read(&target.database).expect("is read");
        assert!(recover::recover(&target, WithoutBackup::Salvage).is_err(), "nothing is readable");
        assert_eq!(std::fs::read(&target.database).expect("is read"), before);
    }
}
