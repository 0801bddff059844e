//! The index snapshot: written at a clean stop, loaded at the next start if nothing has changed,
//! and never otherwise.

use crate::backups::create::NewBackup;
use crate::backups::manifest::Reason;
use crate::db::connection;
use crate::handles::open::open;
use crate::handles::settings::Settings;
use crate::index::QuantizedVector;
use crate::index::snapshot;
use crate::operations::offline_check::{Depth, check_offline};
use crate::tests::fixture::{T0, TestStore, between_axes, document_encoding, query_encoding};
use crate::tests::index_contents::contents;
use loci_proto::requests::reset::ResetRequest;
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn settings() -> Settings {
    Settings { snapshot_from: 1, ..Settings::for_model("test") }
}

/// Returns a store with three memories and an entity.
fn small_store() -> TestStore {
    let mut test_store = TestStore::with(settings());
    let texts = [
        "Anna: The zebra crossing is closed",
        "[2026-01-05] The kettle is on the stove",
        "Klucze do piwnicy wiszą w kuchni",
    ];
    for (number, text) in texts.iter().enumerate() {
        test_store.store_encoded(
            "a",
            json!({"content": text, "type": "semantic"}),
            &document_encoding(text, between_axes(number, 9, 0.9)),
        );
    }
    test_store.store(
        "a",
        json!({"content": "Anna", "type": "entity", "metadata": {"name": "Anna"}}),
        None,
    );
    test_store
}

/// Closes the store; returns its folder.
fn close(test_store: TestStore) -> TempDir {
    let TestStore { folder, writer, reader, .. } = test_store;
    drop(reader);
    writer.close().expect("the store closes");
    folder
}

fn reopen(folder: TempDir) -> TestStore {
    let writer = open(&folder.path().join("memory.db"), settings(), T0).expect("the store opens");
    let reader = writer.reader().expect("the reader opens");
    TestStore::of(folder, writer, reader, T0)
}

/// Returns the path of the index snapshot.
fn snapshot_path(folder: &TempDir) -> PathBuf {
    snapshot::path(&folder.path().join("memory.db"))
}

/// Returns how the index was loaded.
fn origin(test_store: &TestStore) -> &'static str {
    test_store.writer.warmup().origin().expect("the index is loaded")
}

/// Returns all data of the index and the reply to a recall as text.
fn index_and_reply(test_store: &TestStore) -> String {
    let answer = test_store.recall_encoded(
        "a",
        json!({"query": "where is the kettle of Anna"}),
        Some(&query_encoding("kettle anna", between_axes(1, 9, 0.9))),
    );
    format!("{}\n{:?}", contents(&test_store.writer.shared.index()), answer.reply)
}

fn contains(file: &Path, needle: &[u8]) -> bool {
    fs::read(file)
        .expect("the file is readable")
        .windows(needle.len())
        .any(|window| window == needle)
}

const LOADED: &str = "loaded from the snapshot";

#[test]
fn a_start_loads_the_snapshot_of_the_last_stop_and_answers_the_same() {
    let test_store = small_store();
    let before = index_and_reply(&test_store);
    let folder = close(test_store);
    let mode = snapshot_path(&folder).metadata().expect("the file exists").permissions().mode();
    assert_eq!(
        (mode & 0o777, fs::read_dir(folder.path()).expect("the folder is readable").count()),
        (0o600, 4),
        "the folder has the database, its identity, its checksums and the snapshot"
    );
    let test_store = reopen(folder);
    assert_eq!((origin(&test_store), index_and_reply(&test_store) == before), (LOADED, true));
    assert!(!snapshot_path(&test_store.folder).exists(), "an open store has no snapshot");
    let findings = test_store.findings();
    assert!(
        findings.iter().any(|finding| finding.found.contains(LOADED))
            && findings.iter().all(|f| f.verdict == loci_proto::requests::doctor::Verdict::Ok)
    );
    // The same after another restart.
    let test_store = reopen(close(test_store));
    assert_eq!((origin(&test_store), index_and_reply(&test_store) == before), (LOADED, true));
}

#[test]
fn a_small_store_writes_no_snapshot() {
    let folder = close(TestStore::new());
    assert!(!snapshot_path(&folder).exists());
    assert_eq!(origin(&reopen(folder)), "built from the database");
}

#[test]
fn a_snapshot_of_another_database_state_is_not_used() {
    let mut test_store = reopen(close(small_store()));
    let folder = close(test_store);
    let old_snapshot = fs::read(snapshot_path(&folder)).expect("the file is readable");
    let database = folder.path().join("memory.db");
    let database_copy = fs::read(&database).expect("the file is readable");
    test_store = reopen(folder);
    test_store.store("a", json!({"content": "A later fact", "type": "semantic"}), None);
    let folder = close(test_store);
    let new_snapshot = fs::read(snapshot_path(&folder)).expect("the file is readable");

    // An older snapshot next to a newer database.
    fs::write(snapshot_path(&folder), &old_snapshot).expect("the file is written");
    test_store = reopen(folder);
    assert!(origin(&test_store).contains("belongs to another state"), "{}", origin(&test_store));
    assert_eq!(test_store.writer.shared.index().size().memories, 5);
    // A newer snapshot next to an older database, as after a restored copy.
    let folder = close(test_store);
    fs::write(&database, &database_copy).expect("the file is written");
    fs::write(snapshot_path(&folder), &new_snapshot).expect("the file is written");
    test_store = reopen(folder);
    assert!(
        origin(&test_store).contains("belongs to another state")
            && test_store.writer.shared.index().size().memories == 4
    );
    // A copy of the same state in another file.
    let folder = close(test_store);
    let database_copy = fs::read(&database).expect("the file is readable");
    fs::remove_file(&database).expect("the file is removed");
    fs::write(&database, database_copy).expect("the file is written");
    test_store = reopen(folder);
    assert!(origin(&test_store).contains("belongs to another state"), "{}", origin(&test_store));
    // A database that another program has changed.
    let folder = close(test_store);
    let conn = connection::writer(&database, None).expect("the database opens");
    crate::db::integrity::spoil_words(&conn).expect("the keyword index is damaged");
    connection::truncate_log(&conn).expect("the log is emptied");
    drop(conn);
    test_store = reopen(folder);
    assert!(origin(&test_store).contains("belongs to another state"), "{}", origin(&test_store));
    // A snapshot belongs to the active vector set, not to the configured model.
    let folder = close(test_store);
    let other = open(&database, Settings { snapshot_from: 1, ..Settings::for_model("other") }, T0)
        .expect("the store opens");
    assert_eq!(other.warmup().origin(), Some("loaded from the snapshot"));
    drop((other, folder));
}

#[test]
fn a_store_that_was_not_closed_has_no_snapshot_and_a_device_in_its_place_is_not_read() {
    let mut test_store = reopen(close(small_store()));
    test_store.store("a", json!({"content": "A later fact", "type": "semantic"}), None);
    let TestStore { folder, writer, reader, .. } = test_store;
    drop((writer, reader));
    assert!(!snapshot_path(&folder).exists());
    let test_store = reopen(folder);
    assert_eq!(
        (origin(&test_store), test_store.writer.shared.index().size().memories),
        ("built from the database", 5)
    );
    let folder = close(test_store);
    fs::remove_file(snapshot_path(&folder)).expect("the file is removed");
    std::os::unix::fs::symlink("/dev/zero", snapshot_path(&folder)).expect("the link is created");
    assert_eq!(origin(&reopen(folder)), "built from the database: the snapshot cannot be read");
}

#[test]
fn a_folder_in_place_of_the_snapshot_blocks_neither_start_nor_checkpoint() {
    let folder = close(small_store());
    fs::remove_file(snapshot_path(&folder)).expect("the file is removed");
    fs::create_dir(snapshot_path(&folder)).expect("the folder is created");
    let mut test_store = reopen(folder);
    assert_eq!(origin(&test_store), "built from the database: the snapshot cannot be read");
    let secret = "The passphrase is quagmire";
    let id = test_store.store("a", json!({"content": secret, "type": "semantic"}), None).id;
    test_store
        .forget("a", json!({"memory_id": id, "hard_delete": true}))
        .expect("the memory is hard-deleted");
    assert!(!contains(&test_store.folder.path().join("memory.db-wal"), b"quagmire"));
}

#[test]
fn an_index_with_a_known_fault_is_not_written_to_a_snapshot() {
    let test_store = small_store();
    test_store.writer.shared.index_mut().set_codes(1, None);
    let findings = test_store.findings();
    assert!(
        findings
            .iter()
            .any(|finding| finding.verdict == loci_proto::requests::doctor::Verdict::Fail)
    );
    let test_store = reopen(close(test_store));
    assert_eq!(origin(&test_store), "built from the database");
    assert!(
        test_store
            .findings()
            .iter()
            .all(|finding| finding.verdict == loci_proto::requests::doctor::Verdict::Ok)
    );
}

#[test]
fn a_suspect_index_is_not_written_to_a_snapshot() {
    let mut test_store = small_store();
    test_store.writer.shared.suspect();
    test_store.store("a", json!({"content": "A later fact", "type": "semantic"}), None);
    assert_eq!(
        origin(&reopen(close(test_store))),
        "built from the database",
        "a later successful change does not clear the suspicion"
    );
}

#[test]
fn a_link_to_the_database_uses_the_snapshot_next_to_the_database() {
    let folder = close(small_store());
    let link_folder = tempfile::tempdir().expect("the folder is created");
    let link = link_folder.path().join("memory.db");
    std::os::unix::fs::symlink(folder.path().join("memory.db"), &link)
        .expect("the link is created");
    let writer = open(&link, settings(), T0).expect("the store opens");
    assert_eq!(writer.warmup().origin(), Some(LOADED));
    writer.close().expect("the store closes");
    assert!(
        snapshot_path(&folder).exists()
            && fs::read_dir(link_folder.path()).expect("the folder is readable").count() == 1
    );
}

#[test]
fn a_hard_deleted_text_is_in_no_snapshot() {
    let mut test_store = small_store();
    let secret = "The passphrase is quagmire";
    let vector = between_axes(40, 41, 0.3);
    let id = test_store
        .store_encoded(
            "a",
            json!({"content": secret, "type": "semantic"}),
            &document_encoding(secret, vector.clone()),
        )
        .id;
    let bytes: Vec<u8> = QuantizedVector::from(&vector).high[38..44]
        .iter()
        .map(|byte| byte.cast_unsigned())
        .collect();
    let code = crate::tests::fixture::code("quagmire").bytes();
    let folder = close(test_store);
    let traces =
        |file: &Path| [contains(file, b"quagmir"), contains(file, &bytes), contains(file, &code)];
    assert_eq!(
        traces(&snapshot_path(&folder)),
        [true; 3],
        "the snapshot before the deletion contains text, vector and sign code"
    );
    let snapshot_bytes = fs::read(snapshot_path(&folder)).expect("the file is readable");
    test_store = reopen(folder);
    // The deletion also removes a snapshot that another program has put there.
    fs::write(snapshot_path(&test_store.folder), &snapshot_bytes).expect("the file is written");
    test_store
        .forget("a", json!({"memory_id": id, "hard_delete": true}))
        .expect("the memory is hard-deleted");
    assert!(!snapshot_path(&test_store.folder).exists());
    let folder = close(test_store);
    assert_eq!(traces(&snapshot_path(&folder)), [false; 3]);
    test_store = reopen(folder);
    assert_eq!(origin(&test_store), LOADED);
    fs::write(snapshot_path(&test_store.folder), &snapshot_bytes).expect("the file is written");
    let backups = test_store.folder.path().join("backups");
    let new = NewBackup {
        folder: backups.clone(),
        reason: Reason::Reset,
        now: test_store.now,
        max_bytes: u64::MAX,
    };
    test_store.writer.reset(&ResetRequest::default(), &new).expect("the store is reset");
    assert!(
        !snapshot_path(&test_store.folder).exists()
            && fs::read_dir(backups).expect("the folder is readable").count() == 2
    );
}

/// A change of a file.
#[derive(Debug, Clone)]
enum Damage {
    Cut(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    Zero(prop::sample::Index, usize),
    Append(Vec<u8>),
    Double,
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<prop::sample::Index>().prop_map(Damage::Cut),
        (any::<prop::sample::Index>(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (any::<prop::sample::Index>(), 1..600_usize)
            .prop_map(|(at, count)| Damage::Zero(at, count)),
        prop::collection::vec(any::<u8>(), 1..80).prop_map(Damage::Append),
        Just(Damage::Double),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_changed_snapshot_is_never_used(damage in damage()) {
        let before = small_store();
        let expected = index_and_reply(&before);
        let folder = close(before);
        let whole = fs::read(snapshot_path(&folder)).expect("the file is readable");
        let mut bytes = whole.clone();
        match damage {
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Damage::Flip(at, bit) => {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            Damage::Zero(at, count) => {
                let at = at.index(bytes.len());
                let end = bytes.len().min(at + count);
                bytes[at..end].fill(0);
            }
            Damage::Append(more) => bytes.extend(more),
            Damage::Double => bytes.extend(&whole),
        }
        let changed = bytes != whole;
        fs::write(snapshot_path(&folder), bytes).expect("the file is written");
        let test_store = reopen(folder);
        prop_assert_eq!(origin(&test_store).contains("is damaged"), changed, "{}", origin(&test_store));
        prop_assert_eq!(index_and_reply(&test_store), expected);
        prop_assert!(!snapshot_path(&test_store.folder).exists());
    }
}

#[test]
fn a_check_without_a_daemon_compares_the_snapshot_and_keeps_it() {
    let folder = close(small_store());
    let (path, file) = (folder.path().join("memory.db"), snapshot_path(&folder));
    let index_finding = || {
        let check = check_offline(&path, settings(), Depth::EveryRow, T0).expect("it is checked");
        let found = check.findings.into_iter().find(|finding| finding.part == "index");
        found.expect("the index is checked").found
    };
    let whole = fs::read(&file).expect("the snapshot is readable");
    let found = index_finding();
    assert!(found.starts_with("4 memories and 3 vectors, equal to the database ("), "{found}");
    assert!(found.ends_with("); loaded from the snapshot"), "{found}");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(&file, &damaged).expect("the snapshot is written");
    let found = index_finding();
    assert!(found.ends_with("built from the database: the snapshot is damaged"), "{found}");
    assert_eq!(fs::read(&file).expect("the snapshot is there"), damaged);
    fs::write(&file, &whole).expect("the snapshot is written");
    assert_eq!(origin(&reopen(folder)), "loaded from the snapshot");
}
