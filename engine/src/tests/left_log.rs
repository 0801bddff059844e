//! A write-ahead log that was not moved into the database file: both are recognised as one store
//! by the next start. Not here: processes that die (`failpoints`).

use crate::db::dump;
use crate::handles::open::open;
use crate::handles::settings::Settings;
use crate::model::time::ClockReading;
use crate::tests::fixture::{T0, TestStore, folder_in_memory};
use serde_json::json;

#[test]
fn the_log_of_several_blocked_checkpoints_is_replayed_after_a_restart_of_the_machine() {
    let settings = Settings::for_model("test");
    let mut store = TestStore::in_folder(folder_in_memory(), settings.clone());
    let reading = ClockReading { now: T0, is_trusted: true };
    store.store("a", json!({"content": "Stored before", "type": "semantic"}), None);
    store.writer.checkpoint(reading).expect("the checkpoint runs");
    dump::begin_read(&store.reader.conn);
    for number in 0..4 {
        let text = format!("Stored during a long read, number {number}");
        store.store("a", json!({"content": text, "type": "semantic"}), None);
        let left = store.writer.checkpoint(reading).expect("the checkpoint runs");
        assert!(left > 0, "the reader blocks it");
    }
    // Without the identity nothing is known of the log, as after a restart of the machine.
    let copy = folder_in_memory();
    for name in ["memory.db", "memory.db-wal"] {
        let from = store.folder.path().join(name);
        std::fs::copy(from, copy.path().join(name)).expect("the file is copied");
    }
    let opened = open(&copy.path().join("memory.db"), settings, T0).expect("the store opens");
    assert_eq!(opened.findings(), Vec::<String>::new());
    assert_eq!(dump::count(&opened.conn, "memories"), 5);
}

#[test]
fn a_store_that_was_dropped_without_being_closed_is_opened_without_a_finding() {
    let settings = Settings::for_model("test");
    let mut store = TestStore::in_folder(folder_in_memory(), settings.clone());
    store.store("a", json!({"content": "Stored before", "type": "semantic"}), None);
    let TestStore { folder, writer, reader, .. } = store;
    drop((reader, writer));
    let opened = open(&folder.path().join("memory.db"), settings, T0).expect("the store opens");
    assert_eq!(opened.findings(), Vec::<String>::new());
    assert_eq!(dump::count(&opened.conn, "memories"), 1);
}

#[test]
fn a_connection_whose_first_read_follows_the_loss_of_the_log_still_reads_it() {
    let settings = Settings::for_model("test");
    let mut store = TestStore::in_folder(folder_in_memory(), settings);
    store.store("a", json!({"content": "Stored before", "type": "semantic"}), None);
    let unused = store.reader.try_clone().expect("the connection opens");
    let log = store.folder.path().join("memory.db-wal");
    std::fs::remove_file(log).expect("the log is removed");
    assert_eq!(dump::count(&unused.conn, "memories"), 1);
}

#[test]
fn a_kill_between_an_emptied_log_and_its_record_is_no_finding() {
    let settings = Settings::for_model("test");
    let mut store = TestStore::in_folder(folder_in_memory(), settings.clone());
    let id = store.store("a", json!({"content": "Stored before", "type": "semantic"}), None).id;
    store.store("a", json!({"content": "Stored after", "type": "semantic"}), None);
    let copy = folder_in_memory();
    let folder = store.folder.path().to_path_buf();
    let keep = |name: &str| {
        let from = folder.join(name);
        std::fs::copy(from, copy.path().join(name)).expect("the file is copied");
    };
    let request = crate::tests::fixture::parse(json!({"memory_id": id, "hard_delete": true}));
    store.writer.forget(&store.call("a", None), &request).expect("it is deleted");
    // The deletion empties the log after its commit; the next commit fills it again.
    store.store("a", json!({"content": "Stored last", "type": "semantic"}), None);
    keep("memory.db-identity");
    keep("memory.db-sums");
    store.writer.scrub().expect("the log is emptied");
    keep("memory.db");
    keep("memory.db-wal");
    let log = std::fs::metadata(copy.path().join("memory.db-wal")).expect("there is a log");
    assert_eq!(log.len(), 0);
    let opened = open(&copy.path().join("memory.db"), settings, T0).expect("the store opens");
    assert_eq!(opened.findings(), Vec::<String>::new());
    assert_eq!(dump::count(&opened.conn, "memories"), 2);
}

#[test]
fn a_start_that_dies_after_it_emptied_the_log_is_no_finding() {
    let settings = Settings::for_model("test");
    let mut store = TestStore::in_folder(folder_in_memory(), settings.clone());
    store.store("a", json!({"content": "Stored before", "type": "semantic"}), None);
    let TestStore { folder, writer, reader, .. } = store;
    drop((reader, writer));
    let path = folder.path().join("memory.db");
    // What a start does with a log whose pages have no checksums, before it records anything.
    dump::empty_log(&path);
    let opened = open(&path, settings, T0).expect("the store opens");
    assert_eq!(opened.findings(), Vec::<String>::new());
    assert_eq!(dump::count(&opened.conn, "memories"), 1);
}

#[test]
fn a_log_with_acknowledged_changes_that_is_gone_is_a_finding() {
    let settings = Settings::for_model("test");
    let mut store = TestStore::in_folder(folder_in_memory(), settings.clone());
    let reading = ClockReading { now: T0, is_trusted: true };
    store.store("a", json!({"content": "Stored before", "type": "semantic"}), None);
    store.writer.checkpoint(reading).expect("the checkpoint runs");
    store.store("a", json!({"content": "Stored after", "type": "semantic"}), None);
    let TestStore { folder, writer, reader, .. } = store;
    drop((reader, writer));
    let path = folder.path().join("memory.db");
    std::fs::remove_file(folder.path().join("memory.db-wal")).expect("the log is removed");
    let opened = open(&path, settings, T0).expect("the store opens");
    assert!(opened.findings()[0].contains("is missing"), "{:?}", opened.findings());
}
