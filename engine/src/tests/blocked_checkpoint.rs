//! Checkpoints that a reader keeps from moving the whole log: the database file falls behind its
//! log, and both are still recognised as one store.

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
