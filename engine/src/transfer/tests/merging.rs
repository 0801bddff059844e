//! Imports into a store that already has the memories or groups of the file.

use crate::tests::fixture::{TestStore, named, parse};
use crate::transfer::tests::{export, import, memories_of, small_store};
use serde_json::{Value, json};

#[test]
fn an_import_never_revives_forgotten_memories() {
    let mut test_store = small_store();
    let before = export(&test_store, true);
    let id: Value = serde_json::from_str::<Value>(before.lines().nth(3).expect("the line exists"))
        .expect("the line is JSON")["id"]
        .clone();
    let (anna, call) = (memories_of(&test_store)[2].1.clone(), test_store.call("shop", None));
    test_store.now = test_store.now.plus(5000);
    let later = test_store.call("shop", None);
    test_store
        .writer
        .forget(&later, &parse(json!({"memory_id": id})))
        .expect("the memory is forgotten");
    test_store
        .writer
        .forget(&call, &parse(json!({"memory_id": anna, "hard_delete": true})))
        .expect("the entity is hard-deleted");
    let reply = import(&mut test_store, &before);
    assert_eq!(
        (reply.added, reply.changed, reply.unchanged, reply.refused),
        (0, 0, 2, 1),
        "{reply:?}"
    );
    assert_eq!(reply.refused_ids, [anna]);
    assert!(test_store.found("shop", json!({"query": "shop"}), None).is_empty());
}

#[test]
fn a_group_that_was_merged_here_stays_merged() {
    let mut test_store = TestStore::new();
    test_store.store("shop", json!({"content": "One", "type": "semantic"}), None);
    let conn = &test_store.writer.conn;
    crate::db::import_rows::add_alias(conn, "old", "shop").expect("the alias is added");
    let mut other = TestStore::new();
    other.store("old", json!({"content": "Two", "type": "episodic"}), None);
    import(&mut test_store, &export(&other, false));
    assert_eq!(test_store.found("shop", json!({"query": "two"}), None), ["Two"]);
    assert_eq!(named("shop").id, "shop");
}
