//! The index from a stop to the next start: used when nothing has changed, and never otherwise.

use crate::handles::open::open;
use crate::handles::settings::Settings;
use crate::index::QuantizedVector;
use crate::index::compaction::tests::contents;
use crate::index::snapshot;
use crate::tests::fixture::{T0, TestStore, asked, coded, leaning};
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

fn store_holding() -> TestStore {
    let mut test_store = TestStore::with(settings());
    let texts = [
        "Anna: The zebra crossing is closed",
        "[2026-01-05] The kettle is on the stove",
        "Klucze do piwnicy wiszą w kuchni",
    ];
    for (number, text) in texts.iter().enumerate() {
        test_store.store_coded(
            "a",
            json!({"content": text, "type": "semantic"}),
            &coded(text, leaning(number, 9, 0.9)),
        );
    }
    test_store.store(
        "a",
        json!({"content": "Anna", "type": "entity", "metadata": {"name": "Anna"}}),
        None,
    );
    test_store
}

fn closed(test_store: TestStore) -> TempDir {
    let TestStore { folder, writer, reader, .. } = test_store;
    drop(reader);
    writer.close().expect("closes");
    folder
}

fn opened(folder: TempDir) -> TestStore {
    let writer = open(&folder.path().join("memory.db"), settings(), T0).expect("opens");
    let reader = writer.reader().expect("opens");
    TestStore { folder, writer, reader, now: T0 }
}

fn file(folder: &TempDir) -> PathBuf {
    snapshot::path(&folder.path().join("memory.db"))
}

fn origin(test_store: &TestStore) -> &'static str {
    test_store.writer.warmup().origin().expect("stands")
}

/// The contents of the index, and the reply to a recall.
fn reported(test_store: &TestStore) -> String {
    let found = test_store.recall_asked(
        "a",
        json!({"query": "where is the kettle of Anna"}),
        Some(&asked("kettle anna", leaning(1, 9, 0.9))),
    );
    format!("{}\n{:?}", contents(&test_store.writer.shared.index()), found.reply)
}

fn contains(file: &Path, needle: &[u8]) -> bool {
    fs::read(file).expect("is readable").windows(needle.len()).any(|window| window == needle)
}

const READ: &str = "loaded from the snapshot";

#[test]
fn a_start_reads_what_the_stop_before_has_left_and_answers_the_same() {
    let test_store = store_holding();
    let before = reported(&test_store);
    let folder = closed(test_store);
    let mode = file(&folder).metadata().expect("is there").permissions().mode();
    assert_eq!(
        (mode & 0o777, fs::read_dir(folder.path()).expect("is readable").count()),
        (0o600, 2),
        "and no draft is left"
    );
    let test_store = opened(folder);
    assert_eq!((origin(&test_store), reported(&test_store) == before), (READ, true));
    assert!(!file(&test_store.folder).exists(), "while the store is open there is none");
    let findings = test_store.reader.examine().expect("looks");
    assert!(
        findings.iter().any(|finding| finding.found.contains(READ))
            && findings.iter().all(|f| f.verdict == loci_proto::requests::doctor::Verdict::Ok)
    );
    // And so on.
    let test_store = opened(closed(test_store));
    assert_eq!((origin(&test_store), reported(&test_store) == before), (READ, true));
}

#[test]
fn a_small_store_keeps_none() {
    let folder = closed(TestStore::new());
    assert!(!file(&folder).exists());
    assert_eq!(origin(&opened(folder)), "built from the database");
}

#[test]
fn what_is_of_another_state_of_the_database_is_not_used() {
    let mut test_store = opened(closed(store_holding()));
    let folder = closed(test_store);
    let old = fs::read(file(&folder)).expect("is there");
    let database = folder.path().join("memory.db");
    let copy = fs::read(&database).expect("is there");
    test_store = opened(folder);
    test_store.store("a", json!({"content": "A later fact", "type": "semantic"}), None);
    let folder = closed(test_store);
    let new = fs::read(file(&folder)).expect("is there");

    // An older snapshot next to a newer database.
    fs::write(file(&folder), &old).expect("is written");
    test_store = opened(folder);
    assert!(origin(&test_store).contains("belongs to another state"), "{}", origin(&test_store));
    assert_eq!(test_store.writer.shared.index().size().memories, 5);
    // A newer snapshot next to an older database, as after a restored copy.
    let folder = closed(test_store);
    fs::write(&database, &copy).expect("is written");
    fs::write(file(&folder), &new).expect("is written");
    test_store = opened(folder);
    assert!(
        origin(&test_store).contains("belongs to another state")
            && test_store.writer.shared.index().size().memories == 4
    );
    // A copy of the very state, that lies elsewhere.
    let folder = closed(test_store);
    let copy = fs::read(&database).expect("is there");
    fs::remove_file(&database).expect("is removed");
    fs::write(&database, copy).expect("is written");
    test_store = opened(folder);
    assert!(origin(&test_store).contains("belongs to another state"), "{}", origin(&test_store));
    // Another program has written into it.
    let folder = closed(test_store);
    crate::db::integrity::spoil_words(&crate::db::connection::writer(&database).expect("opens"))
        .expect("is spoilt");
    test_store = opened(folder);
    assert!(origin(&test_store).contains("belongs to another state"), "{}", origin(&test_store));
    // Another model.
    let folder = closed(test_store);
    let other = open(&database, Settings { snapshot_from: 1, ..Settings::for_model("other") }, T0)
        .expect("opens");
    assert!(
        other.warmup().origin().is_some_and(|origin| origin.contains("belongs to another state"))
    );
    drop((other, folder));
}

#[test]
fn a_store_that_was_not_closed_left_none_and_a_pipe_in_its_place_is_not_waited_for() {
    let mut test_store = opened(closed(store_holding()));
    test_store.store("a", json!({"content": "A later fact", "type": "semantic"}), None);
    let TestStore { folder, writer, reader, .. } = test_store;
    drop((writer, reader));
    assert!(!file(&folder).exists());
    let test_store = opened(folder);
    assert_eq!(
        (origin(&test_store), test_store.writer.shared.index().size().memories),
        ("built from the database", 5)
    );
    let folder = closed(test_store);
    fs::remove_file(file(&folder)).expect("is there");
    std::os::unix::fs::symlink("/dev/zero", file(&folder)).expect("is linked");
    assert_eq!(origin(&opened(folder)), "built from the database: the snapshot cannot be read");
}

#[test]
fn a_folder_in_place_of_the_snapshot_blocks_neither_start_nor_checkpoint() {
    let folder = closed(store_holding());
    fs::remove_file(file(&folder)).expect("is there");
    fs::create_dir(file(&folder)).expect("is made");
    let mut test_store = opened(folder);
    assert_eq!(origin(&test_store), "built from the database: the snapshot cannot be read");
    let secret = "The passphrase is quagmire";
    let id = test_store.store("a", json!({"content": secret, "type": "semantic"}), None).id;
    test_store.forget("a", json!({"memory_id": id, "hard_delete": true})).expect("is removed");
    assert!(!contains(&test_store.folder.path().join("memory.db-wal"), b"quagmire"));
}

#[test]
fn an_index_that_a_check_has_found_wrong_is_not_kept() {
    let test_store = store_holding();
    test_store.writer.shared.index_mut().set_codes(1, None);
    let findings = test_store.reader.examine().expect("looks");
    assert!(
        findings
            .iter()
            .any(|finding| finding.verdict == loci_proto::requests::doctor::Verdict::Fail)
    );
    let test_store = opened(closed(test_store));
    assert_eq!(origin(&test_store), "built from the database");
    assert!(
        test_store
            .reader
            .examine()
            .expect("looks")
            .iter()
            .all(|finding| finding.verdict == loci_proto::requests::doctor::Verdict::Ok)
    );
}

#[test]
fn an_index_that_may_have_missed_a_change_is_not_kept() {
    let mut test_store = store_holding();
    test_store.writer.shared.suspect();
    test_store.store("a", json!({"content": "A later fact", "type": "semantic"}), None);
    assert_eq!(
        origin(&opened(closed(test_store))),
        "built from the database",
        "a change that went well says nothing of the one before it"
    );
}

#[test]
fn a_link_to_the_database_uses_the_snapshot_next_to_the_database() {
    let folder = closed(store_holding());
    let elsewhere = tempfile::tempdir().expect("a folder");
    let link = elsewhere.path().join("memory.db");
    std::os::unix::fs::symlink(folder.path().join("memory.db"), &link).expect("is linked");
    let writer = open(&link, settings(), T0).expect("opens");
    assert_eq!(writer.warmup().origin(), Some(READ));
    writer.close().expect("closes");
    assert!(
        file(&folder).exists() && fs::read_dir(elsewhere.path()).expect("is readable").count() == 1
    );
}

#[test]
fn a_hard_deleted_text_is_in_no_snapshot() {
    let mut test_store = store_holding();
    let secret = "The passphrase is quagmire";
    let vector = leaning(40, 41, 0.3);
    let id = test_store
        .store_coded(
            "a",
            json!({"content": secret, "type": "semantic"}),
            &coded(secret, vector.clone()),
        )
        .id;
    let bytes: Vec<u8> = QuantizedVector::from(&vector).high[38..44]
        .iter()
        .map(|byte| byte.cast_unsigned())
        .collect();
    let code = crate::tests::fixture::code("quagmire").bytes();
    let folder = closed(test_store);
    let traces =
        |file: &Path| [contains(file, b"quagmir"), contains(file, &bytes), contains(file, &code)];
    assert_eq!(traces(&file(&folder)), [true; 3], "else nothing would be shown below");
    let kept = fs::read(file(&folder)).expect("is there");
    test_store = opened(folder);
    // Whatever has put it there: it is gone before the answer is.
    fs::write(file(&test_store.folder), &kept).expect("is written");
    test_store.forget("a", json!({"memory_id": id, "hard_delete": true})).expect("is removed");
    assert!(!file(&test_store.folder).exists());
    let folder = closed(test_store);
    assert_eq!(traces(&file(&folder)), [false; 3]);
    test_store = opened(folder);
    assert_eq!(origin(&test_store), READ);
    fs::write(file(&test_store.folder), &kept).expect("is written");
    let (call, backups) = (test_store.call("a", None), test_store.folder.path().join("backups"));
    test_store.writer.reset(&call, &ResetRequest::default(), &backups).expect("is emptied");
    assert!(
        !file(&test_store.folder).exists() && fs::read_dir(backups).expect("is there").count() == 1
    );
}

/// What becomes of a file.
#[derive(Debug, Clone)]
enum Damage {
    Cut(prop::sample::Index),
    Flip(prop::sample::Index, u8),
    Zero(prop::sample::Index, usize),
    Longer(Vec<u8>),
    Doubled,
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<prop::sample::Index>().prop_map(Damage::Cut),
        (any::<prop::sample::Index>(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (any::<prop::sample::Index>(), 1..600_usize)
            .prop_map(|(at, count)| Damage::Zero(at, count)),
        prop::collection::vec(any::<u8>(), 1..80).prop_map(Damage::Longer),
        Just(Damage::Doubled),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_file_that_is_not_as_it_was_written_is_never_used(damage in damage()) {
        let before = store_holding();
        let expected = reported(&before);
        let folder = closed(before);
        let whole = fs::read(file(&folder)).expect("is there");
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
            Damage::Longer(more) => bytes.extend(more),
            Damage::Doubled => bytes.extend(&whole),
        }
        let changed = bytes != whole;
        fs::write(file(&folder), bytes).expect("is written");
        let test_store = opened(folder);
        prop_assert_eq!(origin(&test_store).contains("is damaged"), changed, "{}", origin(&test_store));
        prop_assert_eq!(reported(&test_store), expected);
        prop_assert!(!file(&test_store.folder).exists());
    }
}
