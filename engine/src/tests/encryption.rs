//! Encryption of a store: what is on the disk, what comes back, what a lost key and a damaged page
//! look like, and a conversion that fails or dies at each named place.
//!
//! The process that dies is this test, started again with [`CHILD`] in its environment.

use crate::backups::create::NewBackup;
use crate::backups::manifest::{self, Reason};
use crate::backups::prepare::Target;
use crate::backups::recover::{self, WithoutBackup};
use crate::backups::{restore, verify};
use crate::encryption::convert::{Converted, convert};
use crate::encryption::keys::{self, Key, KeyRing};
use crate::encryption::{KeyId, key_id_of};
use crate::error::Error;
use crate::failpoint::armed::{self, Action, Failpoint};
use crate::handles::open::open;
use crate::handles::settings::{BackupSettings, Settings};
use crate::model::time::DAY;
use crate::tests::fixture::{T0, TestStore, axis, folder_in_memory, seeded_vector};
use loci_proto::requests::export::ExportRequest;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

/// Names the folder, the place and the hit for the process that dies.
const CHILD: &str = "ENCRYPTION_CHILD";
/// The test that converts in another process.
const CHILD_TEST: &str =
    "tests::encryption::a_conversion_that_fails_or_dies_anywhere_goes_on_when_it_is_done_again";
/// A word that only the memories have.
const WORD: &str = "quokka";

/// Returns the id of one of the keys that every test of this process has.
fn key(number: u8) -> KeyId {
    let key = |number: u8| Key::new([number; 32]);
    let earlier = (1..4).map(key).collect();
    keys::use_keys(KeyRing { earlier, source: "/keys".to_owned(), ..KeyRing::default() });
    key(number).id()
}

fn target(folder: &Path, key: Option<KeyId>) -> Target {
    let folder = folder.canonicalize().expect("it exists");
    let backups = BackupSettings { folder: Some(folder.join("backups")), max_bytes: u64::MAX };
    Target {
        database: folder.join("memory.db"),
        backups: folder.join("backups"),
        settings: Settings { key, backups, ..Settings::for_model("test") },
        policy: Arc::default(),
        now: T0.plus(DAY),
    }
}

/// Fills a store with memories that have vectors, makes two backups, and closes it.
fn filled(folder: TempDir, key: Option<KeyId>) -> TempDir {
    let settings = target(folder.path(), key).settings;
    let mut store = TestStore::in_folder(folder, settings);
    for number in 0..40 {
        let text = format!("The {WORD} number {number} sleeps in shed {}", number * 7);
        let vector = seeded_vector(number);
        store.store("zoo", json!({"content": text, "type": "semantic"}), Some(&vector));
        if number % 20 == 19 {
            let backups = store.folder.path().join("backups");
            let (reason, now) = (Reason::Manual, store.now);
            let new = NewBackup { folder: backups, reason, now, max_bytes: u64::MAX };
            store.writer.back_up(&new).expect("the backup is made");
            store.now = store.now.plus(1_000);
        }
    }
    let first = store.found("zoo", json!({"query": WORD}), Some(&axis(1))).pop();
    assert!(first.is_some());
    closed(store)
}

fn closed(store: TestStore) -> TempDir {
    let TestStore { folder, writer, reader, .. } = store;
    drop(reader);
    writer.close().expect("the store closes");
    folder
}

/// Returns the export, and the best results of a search by words and vectors.
fn state(folder: &Path) -> (Vec<u8>, Vec<String>) {
    let target = target(folder, None);
    let writer = open(&target.database, target.settings.clone(), target.now).expect("it opens");
    assert_eq!(writer.findings(), Vec::<String>::new());
    let reader = writer.reader().expect("the reader opens");
    let mut bytes = Vec::new();
    reader.export(&ExportRequest::default(), &mut bytes).expect("the store is exported");
    let check = reader.full_check().expect("the store is checked");
    assert_eq!(check.fault(), None);
    let store = TestStore::of(folder_in_memory(), writer, reader, target.now);
    let query = json!({"query": format!("where does {WORD} number 7 sleep"), "max_results": 5});
    let found = store.found("zoo", query, Some(&seeded_vector(7)));
    closed(store);
    (bytes, found)
}

/// Returns the files that contain a text, at any depth.
fn files_with(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if text.is_empty() || crate::db::dump::file_contains(&path, text) {
            found.push(path);
        }
    }
    found
}

fn keys_of(folder: &Path) -> Vec<Option<KeyId>> {
    let backups = manifest::list(&folder.join("backups"));
    let paths = backups.iter().map(|backup| backup.path.clone());
    [folder.join("memory.db")].into_iter().chain(paths).map(|path| key_id_of(&path)).collect()
}

fn convert_to(folder: &Path, key: Option<KeyId>) -> crate::error::Result<Converted> {
    convert(&target(folder, key), key)
}

/// Checks that every backup is as its manifest says.
fn verify_backups(folder: &Path) {
    let backups = manifest::list(&folder.join("backups"));
    assert_eq!(backups.len(), 2);
    for backup in backups {
        assert_eq!(verify::verify(&backup, T0).expect("it is verified").fault, None);
        assert!(backup.manifest.is_some_and(|manifest| manifest.replaced.is_none()));
    }
}

/// Returns every file with its content, to see that nothing was changed.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files_with(folder, "")
        .into_iter()
        .map(|p| (p.clone(), fs::read(p).unwrap_or_default()))
        .collect()
}

#[test]
fn a_store_that_is_encrypted_and_decrypted_unused_exports_byte_for_byte_as_before() {
    let folder = filled(folder_in_memory(), None);
    let before = state(folder.path());
    assert!(!files_with(folder.path(), WORD).is_empty(), "the search for plain texts works");
    let done = convert_to(folder.path(), Some(key(1))).expect("it is encrypted");
    assert_eq!((done.memories, done.database, done.backups), (40, true, 2));
    assert_eq!(done.left, []);
    assert_eq!(keys_of(folder.path()), [Some(key(1)); 3]);
    assert_eq!(files_with(folder.path(), WORD), Vec::<PathBuf>::new());
    verify_backups(folder.path());
    assert_eq!(state(folder.path()), before);
    assert_eq!(files_with(folder.path(), WORD), Vec::<PathBuf>::new());
    let done = convert_to(folder.path(), Some(key(2))).expect("the key is changed");
    assert_eq!((done.database, done.backups), (true, 2));
    assert_eq!(keys_of(folder.path()), [Some(key(2)); 3]);
    assert_eq!(state(folder.path()), before);
    let done = convert_to(folder.path(), Some(key(2))).expect("nothing is left to do");
    assert_eq!((done.database, done.backups), (false, 0));
    convert_to(folder.path(), None).expect("it is decrypted");
    assert_eq!(keys_of(folder.path()), [None; 3]);
    verify_backups(folder.path());
    assert_eq!(state(folder.path()), before);
}

#[test]
fn a_new_encrypted_store_writes_no_plain_byte_also_into_its_log_and_its_backups() {
    let folder = folder_in_memory();
    let settings = target(folder.path(), Some(key(1))).settings;
    let mut store = TestStore::in_folder(folder, settings);
    let text = format!("The {WORD} is awake");
    store.store("zoo", json!({"content": text, "type": "semantic"}), Some(&axis(1)));
    let path = store.folder.path().to_path_buf();
    assert!(path.join("memory.db-wal").metadata().expect("there is a log").len() > 0);
    assert_eq!(files_with(&path, WORD), Vec::<PathBuf>::new());
    assert_eq!(store.found("zoo", json!({"query": WORD}), Some(&axis(1))), [text]);
    // As a kill leaves it: the log is replayed.
    let copy = folder_in_memory();
    for name in ["memory.db", "memory.db-wal", "memory.db-identity", "memory.db-sums"] {
        fs::copy(path.join(name), copy.path().join(name)).expect("is copied");
    }
    let (bytes, _) = state(copy.path());
    assert!(String::from_utf8_lossy(&bytes).contains(WORD));
    assert_eq!(files_with(copy.path(), WORD), Vec::<PathBuf>::new());
    closed(store);
}

#[test]
fn a_lost_key_is_named_and_nothing_is_touched() {
    let folder = filled(folder_in_memory(), Some(key(1)));
    let (name, lost) = (folder.path().join("memory.db"), b"loci encLOSTKEY!");
    let mut backups: Vec<_> = manifest::list(&folder.path().join("backups"));
    for path in backups.iter().map(|backup| &backup.path).chain([&name]) {
        let mut bytes = fs::read(path).expect("is read");
        bytes[..16].copy_from_slice(lost);
        fs::write(path, bytes).expect("is written");
    }
    let before = contents(folder.path());
    let target = target(folder.path(), Some(key(1)));
    let is_named = |error: Error| {
        let failure = loci_proto::error::Failure::from(error);
        assert!(failure.message.contains("4c4f53544b455921"), "{failure}");
        assert!(failure.hint.is_some_and(|hint| hint.contains("/keys")));
    };
    is_named(open(&name, target.settings.clone(), T0).expect_err("it is refused"));
    is_named(convert(&target, Some(key(2))).expect_err("it is refused"));
    is_named(recover::recover(&target, WithoutBackup::Salvage).expect_err("it is refused"));
    let backup = backups.remove(0);
    is_named(verify::verify(&backup, T0).expect_err("it is refused"));
    is_named(restore::restore(&target, &backup).expect_err("it is refused"));
    assert_eq!(contents(folder.path()), before);
}

#[test]
fn a_damaged_page_of_an_encrypted_store_is_damage_and_is_recovered_from_a_backup() {
    let folder = filled(folder_in_memory(), Some(key(1)));
    let target = target(folder.path(), Some(key(1)));
    let mut bytes = fs::read(&target.database).expect("is read");
    let pages = bytes.len() / 4096;
    for page in (1..pages).step_by(3) {
        bytes[page * 4096 + 100] ^= 1;
    }
    fs::write(&target.database, bytes).expect("is written");
    let opened = open(&target.database, target.settings.clone(), target.now);
    let is_found = match opened {
        Err(error) => error.is_damage(),
        Ok(writer) => {
            let reader = writer.reader().expect("the reader opens");
            reader.full_check().map_or_else(|error| error.is_damage(), |c| c.fault().is_some())
        }
    };
    assert!(is_found);
    let done = recover::recover(&target, WithoutBackup::Refuse).expect("it is recovered");
    assert_eq!(done.memories, 40, "the newest backup has all");
    assert_eq!(keys_of(folder.path())[0], Some(key(1)));
    assert_eq!(files_with(folder.path(), WORD), Vec::<PathBuf>::new());
}

#[test]
fn what_an_encrypted_store_has_beyond_the_newest_backup_is_salvaged_beside_a_damaged_page() {
    let folder = filled(folder_in_memory(), Some(key(1)));
    let target = target(folder.path(), Some(key(1)));
    let writer = open(&target.database, target.settings.clone(), target.now).expect("it opens");
    let reader = writer.reader().expect("the reader opens");
    let mut store = TestStore::of(folder, writer, reader, target.now);
    for number in 40..60 {
        let text = format!("The {WORD} number {number} sleeps in shed {}", number * 7);
        let vector = seeded_vector(number);
        store.store("zoo", json!({"content": text, "type": "semantic"}), Some(&vector));
    }
    let leaf = crate::db::dump::first_leaf_of_memories(&store.reader.conn);
    let folder = closed(store);
    let mut bytes = fs::read(&target.database).expect("is read");
    bytes[(leaf - 1) * 4096 + 100] ^= 1;
    fs::write(&target.database, bytes).expect("is written");
    let done = recover::recover(&target, WithoutBackup::Refuse).expect("it is recovered");
    assert_eq!((done.memories, done.salvaged), (60, 20));
    assert_eq!(files_with(folder.path(), WORD), Vec::<PathBuf>::new());
}

#[test]
fn a_backup_of_another_form_is_restored_in_the_form_of_the_store() {
    let folder = filled(folder_in_memory(), None);
    let backups = manifest::list(&folder.path().join("backups"));
    let target = target(folder.path(), Some(key(3)));
    restore::restore(&target, &backups[0]).expect("the backup is restored");
    assert_eq!(key_id_of(&target.database), Some(key(3)));
}

/// Returns at which hits of a place something happens: it fails at the first and dies at the last.
fn chosen(hits: u32) -> [(u32, Action); 2] {
    [(1, Action::Error), (hits, Action::Abort)]
}

/// The steps of a store: encrypted, with another key, decrypted.
fn steps() -> [Option<KeyId>; 3] {
    [Some(key(1)), Some(key(2)), None]
}

fn be_child(instruction: &str) {
    let (folder, step, place, hit): (PathBuf, usize, String, u32) =
        serde_json::from_str(instruction).expect("the instruction is valid");
    let key = steps()[step];
    armed::arm(Some(Failpoint { place, hit, action: Action::Abort }));
    drop(convert_to(&folder, key));
}

fn die_in_child(folder: &Path, step: usize, place: &str, hit: u32) {
    let instruction = json!([folder, step, place, hit]).to_string();
    let mut child = Command::new(std::env::current_exe().expect("the path is known"));
    child.args([CHILD_TEST, "--exact", "--test-threads=1"]).env(CHILD, instruction);
    let status = child.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let signal = std::os::unix::process::ExitStatusExt::signal(&status.expect("it starts"));
    assert_eq!(signal, Some(libc::SIGABRT), "{place}, hit {hit}");
}

#[test]
fn a_conversion_that_fails_or_dies_anywhere_goes_on_when_it_is_done_again() {
    if let Ok(instruction) = std::env::var(CHILD) {
        be_child(&instruction);
        return;
    }
    let folder = filled(folder_in_memory(), None);
    let before = state(folder.path());
    let mut failures = 0;
    for (number, to) in steps().into_iter().enumerate() {
        let copy = copied(folder.path(), number);
        armed::arm(None);
        convert_to(copy.path(), to).expect("it is converted");
        let hits = armed::hits();
        for (place, hits) in hits {
            for (hit, action) in chosen(hits) {
                println!("step {number}: {place}, hit {hit}: {action:?}");
                let copy = copied(folder.path(), number);
                if action == Action::Abort {
                    die_in_child(copy.path(), number, place, hit);
                } else {
                    armed::arm(Some(Failpoint { place: place.to_owned(), hit, action }));
                    drop(convert_to(copy.path(), to));
                    armed::arm(None);
                }
                check_resumed(copy.path(), to, &before);
                failures += 1;
            }
        }
    }
    println!("{failures} failures");
    assert!(failures > 40, "{failures}");
}

/// Checks that a conversion that was interrupted has left a whole store, and goes on.
fn check_resumed(folder: &Path, to: Option<KeyId>, before: &(Vec<u8>, Vec<String>)) {
    assert_eq!(&state(folder), before, "it is whole in the one form or the other");
    convert_to(folder, to).expect("it goes on");
    assert_eq!(keys_of(folder), [to; 3]);
    assert_eq!(to.is_none(), !files_with(folder, WORD).is_empty());
    verify_backups(folder);
    assert_eq!(&state(folder), before);
}

/// Returns a copy of a store before a step.
fn copied(from: &Path, step: usize) -> TempDir {
    let to = folder_in_memory();
    fs::create_dir(to.path().join("backups")).expect("is created");
    for path in files_with(from, "") {
        let name = path.strip_prefix(from).expect("it is in the folder");
        fs::copy(&path, to.path().join(name)).expect("is copied");
    }
    if step > 0 {
        convert_to(to.path(), steps()[step - 1]).expect("it is converted");
    }
    to
}
