//! Forgotten and hard-deleted memories.

use crate::db::{dump, log};
use crate::model::encoding::TextEncodings;
use crate::model::time::ClockReading;
use crate::tests::fixture::{TestStore, axis, by_test_model, parse};
use crate::tests::graph::{entity, refusal};
use serde_json::json;

#[test]
fn a_forgotten_memory_is_hidden_logged_and_restored() {
    let mut test_store = TestStore::new();
    let id = test_store
        .store(
            "a",
            json!({"content": "The door code is 4711", "type": "semantic", "scope": "group"}),
            Some(&axis(0)),
        )
        .id;
    assert!(
        refusal(test_store.forget("b", json!({"memory_id": id}))).starts_with("not_found"),
        "a memory of another group is not found"
    );
    let first = test_store
        .forget("a", json!({"memory_id": id, "reason": "changed"}))
        .expect("the memory is forgotten");
    assert!(!first.already_forgotten && first.act.is_some());
    assert!(
        test_store
            .forget("a", json!({"memory_id": id}))
            .expect("a repeated forget succeeds")
            .already_forgotten,
        "a second forget succeeds"
    );
    assert!(test_store.found("a", json!({"query": "door code"}), Some(&axis(0))).is_empty());
    assert_eq!(
        test_store.recall("a", json!({"ids": [id]}), None).reply.missing,
        std::slice::from_ref(&id),
        "a recall by id does not return it"
    );
    let shown = test_store
        .inspect("a", json!({"memory_id": id, "include_log": true}))
        .expect("the memory is shown");
    assert_eq!(
        (shown.memory.status.as_str(), shown.memory.forgotten_reason.as_deref()),
        ("forgotten", Some("changed"))
    );
    assert_eq!(
        shown.memory.superseded_by.as_deref(),
        Some("forgotten"),
        "replies say forgotten, though the column is empty"
    );
    assert_eq!(shown.log[0].operation, "forget");
    assert_eq!(
        (
            shown.log[0].client.as_deref(),
            shown.log[0].session.as_deref(),
            shown.log[0].group.as_deref()
        ),
        (Some("test"), Some("s1"), Some("a"))
    );
    let restored = test_store
        .writer
        .restore(&test_store.call("a", None), &parse(json!({"memory_id": id})))
        .expect("the memory is restored");
    assert_eq!((restored.status.as_str(), restored.was.as_str()), ("active", "forgotten"));
    assert_eq!(
        test_store.found("a", json!({"query": "door code"}), Some(&axis(0))),
        ["The door code is 4711"]
    );
}

#[test]
fn a_repeated_forget_gets_the_first_answer() {
    let mut test_store = TestStore::new();
    let id =
        test_store.store("a", json!({"content": "Said in passing", "type": "semantic"}), None).id;
    let request = parse(json!({"memory_id": id}));
    let call = test_store.call("a", Some("session:7"));
    let first = test_store.writer.forget(&call, &request).expect("the memory is forgotten");
    let again = test_store.writer.forget(&call, &request).expect("the repeated call is answered");
    assert_eq!(first, again);
    assert!(!again.already_forgotten);
    assert_eq!(
        test_store.reader.history(&parse(json!({}))).expect("the history is readable").acts.len(),
        1
    );
}

#[test]
fn a_hard_deleted_text_is_in_no_file_of_the_database() {
    let mut test_store = TestStore::new();
    let secret = "Xylophonquarz";
    let call = test_store.call("a", Some("s:1"));
    let arguments = json!({"content": format!("The word is {secret}"), "type": "entity", "metadata": {"name": secret}});
    let draft = crate::operations::store::Draft::new(parse(arguments), test_store.now)
        .expect("the request is valid");
    let id = test_store
        .writer
        .store(&call, &draft, &by_test_model(vec![axis(0)].into()))
        .expect("the memory is stored")
        .id;
    let other = entity(&mut test_store, "a", "Anna", &[]);
    test_store
        .relate("a", json!({"subject_id": id, "predicate": "knows", "object_id": other}))
        .expect("the relation is stored");
    let edit = json!({"memory_id": id, "content": format!("The word was {secret}")});
    test_store
        .writer
        .edit(&test_store.call("a", None), &parse(edit), &TextEncodings::default())
        .expect("the memory is edited");
    test_store
        .forget("a", json!({"memory_id": id, "reason": format!("{secret} is out")}))
        .expect("the memory is forgotten");
    let path = test_store.folder.path().join("memory.db");
    assert!(dump::file_contains(&path, secret), "the text is in the file before the hard delete");

    let reply = test_store
        .forget("a", json!({"memory_id": id, "hard_delete": true}))
        .expect("the memory is hard-deleted");
    assert_eq!(reply.status, "deleted");
    assert!(
        !dump::file_contains(&path, secret),
        "it is in neither the file nor the write-ahead log"
    );
    assert!(!dump::file_contains(&path, &secret.to_lowercase()), "it is not in the keyword index");
    assert!(refusal(test_store.inspect("a", json!({"memory_id": id}))).starts_with("not_found"));
    assert!(
        test_store
            .inspect("a", json!({"memory_id": other}))
            .expect("the memory is shown")
            .relations
            .is_empty()
    );
    assert!(
        test_store
            .forget("a", json!({"memory_id": id, "hard_delete": true}))
            .expect("a repeated forget succeeds")
            .already_forgotten
    );
    assert!(
        test_store
            .recall("a", json!({"query": secret}), Some(&axis(0)))
            .reply
            .results
            .iter()
            .all(|r| r.id != id)
    );
    let acts = test_store.reader.history(&parse(json!({}))).expect("the history is readable").acts;
    assert!(acts.iter().all(|act| act.act != "edit"), "{acts:?}");
}

#[test]
fn the_predicate_of_an_erased_relation_is_in_no_file_of_the_database() {
    let mut test_store = TestStore::new();
    let path = test_store.folder.path().join("memory.db");
    let other = entity(&mut test_store, "a", "Piotr", &[]);
    for (predicate, is_undone, is_subject) in [
        ("xylophonquarz", false, true),
        ("waldhornquarz", true, true),
        ("oboenquarz", false, false),
    ] {
        let id = entity(&mut test_store, "a", "Anna", &[]);
        let (subject, object) = if is_subject { (&id, &other) } else { (&other, &id) };
        test_store
            .relate(
                "a",
                json!({"subject_id": subject, "predicate": predicate, "object_id": object}),
            )
            .expect("the relation is stored");
        if is_undone {
            test_store.undo_last().expect("the relation is undone");
        }
        assert!(dump::file_contains(&path, predicate));
        test_store
            .forget("a", json!({"memory_id": id, "hard_delete": true}))
            .expect("the memory is hard-deleted");
        assert!(!dump::file_contains(&path, predicate), "{predicate}");
    }
    let inspected = test_store.inspect("a", json!({"memory_id": other, "include_log": true}));
    let log = inspected.expect("the memory is shown").log;
    assert_eq!(log.iter().filter(|line| line.operation == "relate").count(), 3, "{log:?}");
}

#[test]
fn a_reader_only_delays_the_erasure_of_a_hard_delete() {
    let mut test_store = TestStore::new();
    let secret = "Xylophonquarz";
    let id = test_store
        .store("a", json!({"content": format!("The word is {secret}"), "type": "semantic"}), None)
        .id;
    let path = test_store.folder.path().join("memory.db");
    let other_reader = test_store.writer.reader().expect("the reader opens");
    let read_transaction =
        crate::db::export_rows::snapshot(&other_reader.conn).expect("the read transaction begins");
    assert_eq!(crate::db::stats::active(&read_transaction).expect("the memories are counted"), 1);
    test_store
        .forget("a", json!({"memory_id": id, "hard_delete": true}))
        .expect("the memory is hard-deleted");
    assert!(dump::file_contains(&path, secret), "a read transaction keeps the text in the log");
    let reading = ClockReading { now: test_store.now, is_trusted: true };
    assert!(
        test_store.writer.checkpoint(reading).expect("the checkpoint runs") > 0,
        "pages are left, so the daemon tries again"
    );
    drop(read_transaction);
    assert_eq!(test_store.writer.checkpoint(reading).expect("the checkpoint runs"), 0);
    assert!(!dump::file_contains(&path, secret));
}

#[test]
fn a_deletion_of_an_earlier_version_is_known_to_the_project_that_deleted_it() {
    let mut test_store = TestStore::new();
    let text = json!({"content": "Deleted long ago", "type": "episodic"});
    let id = test_store.store("a", text, None).id;
    let hard = json!({"memory_id": id, "hard_delete": true});
    test_store.forget("a", hard.clone()).expect("the memory is deleted");
    // Earlier versions did not write who could see the memory.
    log::set_deletion_details(&test_store.writer.conn, Some("{\"hard\":true}"));
    assert!(test_store.forget("a", hard.clone()).expect("it is known").already_forgotten);
    let unknown = refusal(test_store.forget("b", hard.clone()));
    assert!(unknown.starts_with("not_found"), "{unknown}");
    log::set_deletion_details(&test_store.writer.conn, None);
    assert!(test_store.forget("a", hard).expect("it is known").already_forgotten);
}
