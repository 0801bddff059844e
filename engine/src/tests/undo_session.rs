//! Undo of a session: everything that it did is taken back as one act, except what others built on.

use crate::model::encoding::TextEncodings;
use crate::model::time::HOUR;
use crate::tests::fixture::{TestStore, axis, between_axes, named, parse};
use loci_proto::memory::{MemoryId, Origin};
use loci_proto::requests::undo::UndoReply;
use serde_json::{Value, json};

fn store(test_store: &mut TestStore, text: &str, kind: &str) -> MemoryId {
    test_store.store("a", json!({"content": text, "type": kind}), None).id
}

fn entity(test_store: &mut TestStore, name: &str) -> MemoryId {
    let request = json!({"content": format!("{name} is a person"), "type": "entity", "metadata": {"name": name}});
    test_store.store("a", request, None).id
}

fn undo(test_store: &mut TestStore, request: Value) -> UndoReply {
    let session = std::mem::replace(&mut test_store.session, "person".to_owned());
    let mut call = test_store.call("a", None);
    test_store.session = session;
    call.actor.origin = Origin::Person;
    test_store.writer.undo(&call, &parse(request)).expect("the session is undone")
}

/// Returns the lines of the export without log lines and the end line, which every operation changes.
fn logical_export(test_store: &TestStore) -> Vec<String> {
    let mut file = Vec::new();
    test_store.reader.export(&parse(json!({})), &mut file).expect("the export succeeds");
    let file = String::from_utf8(file).expect("the export is UTF-8");
    let lines = file.lines().filter(|l| !l.contains("\"kind\":\"log\"") && !l.contains("\"end\""));
    lines.map(str::to_owned).collect()
}

/// Returns a store of the session `s1` with facts, entities and a relation.
fn honest_store() -> (TestStore, Vec<MemoryId>) {
    let mut test_store = TestStore::new();
    let mut ids = vec![
        store(&mut test_store, "The server is heron", "semantic"),
        store(&mut test_store, "Tea at four", "semantic"),
        store(&mut test_store, "Deploy with make", "procedural"),
        entity(&mut test_store, "Anna"),
        entity(&mut test_store, "Bruno"),
    ];
    let fact =
        json!({"content": "Anna likes the colour blue", "type": "semantic", "confidence": 0.5});
    ids.push(test_store.store("a", fact, Some(&axis(1))).id);
    let relation = json!({"subject_id": ids[3], "predicate": "knows", "object_id": ids[4]});
    test_store.relate("a", relation).expect("the relation is stored");
    test_store.now = test_store.now.plus(HOUR);
    (test_store, ids)
}

/// Does everything that a session can do.
fn be_rogue(test_store: &mut TestStore, ids: &[MemoryId]) {
    test_store.session = "rogue-1".to_owned();
    let replacement =
        json!({"content": "The server is egret", "type": "semantic", "supersedes": ids[0]});
    let replacement = test_store.store("a", replacement, Some(&axis(5))).id;
    test_store.forget("a", json!({"memory_id": ids[1], "reason": "x"})).expect("it is forgotten");
    let edit = json!({"memory_id": ids[2], "content": "Deploy with evil"});
    let call = test_store.call("a", None);
    test_store.writer.edit(&call, &parse(edit), &TextEncodings::default()).expect("it is edited");
    // A store that is merged: it raises confidence, changes metadata and adds a wording.
    let merged = json!({"content": "Anna likes the colour blue!", "type": "semantic", "metadata": {"subject": "Anna"}});
    let merged = test_store.store("a", merged, Some(&between_axes(1, 2, 0.97)));
    assert!(merged.deduplicated);
    store(test_store, "Tea with evil", "semantic");
    let mallory = entity(test_store, "Mallory");
    let relation = json!({"subject_id": mallory, "predicate": "knows", "object_id": ids[3], "evidence": [replacement]});
    test_store.relate("a", relation).expect("the relation is stored");
    let raised = json!({"subject_id": ids[3], "predicate": "knows", "object_id": ids[4], "evidence": [replacement]});
    test_store.relate("a", raised).expect("the evidence is added");
    let mine = store(test_store, "Stored and forgotten", "semantic");
    test_store.forget("a", json!({"memory_id": mine})).expect("it is forgotten");
    let twice = store(test_store, "Replaced within the session", "semantic");
    let request = json!({"content": "Its replacement", "type": "semantic", "supersedes": twice});
    test_store.store("a", request, None);
    test_store.session = "s1".to_owned();
    test_store.now = test_store.now.plus(HOUR);
}

#[test]
fn undoing_a_session_leaves_the_store_as_before_and_undoing_that_brings_it_back() {
    let (mut test_store, ids) = honest_store();
    let before = logical_export(&test_store);
    be_rogue(&mut test_store, &ids);
    let rogue = logical_export(&test_store);
    assert_ne!(rogue, before);

    let shown = undo(&mut test_store, json!({"session": "rogue", "preview": true}));
    assert_eq!(logical_export(&test_store), rogue, "a preview changes nothing");
    assert!(
        test_store.recall("a", json!({"query": "egret"}), Some(&axis(5))).reply.results[0].score
            > Some(0.5)
    );
    let undone = undo(&mut test_store, json!({"session": "rogue"}));
    assert_eq!(undone.session.as_deref(), Some("rogue-1"));
    assert_eq!((&shown.removed, shown.undone.len()), (&undone.removed, undone.undone.len()));
    assert!(undone.skipped.is_empty(), "{:?}", undone.skipped);
    assert_eq!(logical_export(&test_store), before);
    assert_eq!(test_store.found("a", json!({"query": "server"}), None), ["The server is heron"]);
    test_store.dump();

    let again = undo(&mut test_store, json!({"last": true}));
    assert_eq!(again.undone[0].act, "undo-session");
    assert_eq!(logical_export(&test_store), rogue);
    let found = test_store.found("a", json!({"query": "egret"}), None);
    assert_eq!(found, ["The server is egret"]);
    let once_more = undo(&mut test_store, json!({"session": "rogue-1"}));
    assert_eq!(once_more.undone.len(), undone.undone.len());
    assert_eq!(logical_export(&test_store), before);
}

#[test]
fn what_others_built_on_is_kept_and_reported() {
    let (mut test_store, ids) = honest_store();
    test_store.session = "rogue-2".to_owned();
    let edited = store(&mut test_store, "The rogue fact is red", "semantic");
    let replaced = store(&mut test_store, "The gate opens at noon", "semantic");
    let related = entity(&mut test_store, "Nadia");
    let alone = store(&mut test_store, "Nobody used this one", "semantic");
    let old = json!({"content": "Tea at five", "type": "semantic", "supersedes": ids[1]});
    let superseding = test_store.store("a", old, None).id;

    test_store.session = "s3".to_owned();
    let edit = json!({"memory_id": edited, "content": "The fact is green"});
    let call = test_store.call("a", None);
    test_store.writer.edit(&call, &parse(edit), &TextEncodings::default()).expect("it is edited");
    let new =
        json!({"content": "The gate opens at one", "type": "semantic", "supersedes": replaced});
    let newer = test_store.store("a", new, None).id;
    let relation = json!({"subject_id": related, "predicate": "knows", "object_id": ids[3]});
    test_store.relate("a", relation).expect("the relation is stored");
    let new = json!({"content": "Tea at six", "type": "semantic", "supersedes": superseding});
    test_store.store("a", new, None);

    let undone = undo(&mut test_store, json!({"session": "rogue-2"}));
    let removed: Vec<&MemoryId> = undone.removed.iter().map(|memory| &memory.id).collect();
    assert_eq!(removed, [&alone]);
    assert!(undone.undone.is_empty());
    let kept: Vec<&MemoryId> = undone.skipped.iter().filter_map(|s| s.id.as_ref()).collect();
    assert_eq!(kept, [&superseding, &related, &replaced, &edited]);
    assert!(undone.skipped[0].act.is_some() && undone.skipped[0].reason.contains("changed later"));
    let shown = test_store.inspect("a", json!({"memory_id": newer})).expect("it is shown").memory;
    assert_eq!(shown.status, "active");
}

#[test]
fn a_session_is_found_by_the_beginning_of_its_id_and_its_history_has_its_stores() {
    let (mut test_store, ids) = honest_store();
    be_rogue(&mut test_store, &ids);
    test_store.session = "rogue-2".to_owned();
    store(&mut test_store, "Another rogue", "semantic");
    let call = test_store.call("a", None);
    let refusal = |test_store: &mut TestStore, session: &str| {
        let request = parse(json!({"session": session}));
        test_store.writer.undo(&call, &request).expect_err("it is refused").to_string()
    };
    let ambiguous = refusal(&mut test_store, "rogue");
    assert!(
        ambiguous.starts_with("conflict: session rogue is the beginning of several"),
        "{ambiguous}"
    );
    assert!(refusal(&mut test_store, "nobody").starts_with("not_found: session"));
    let both = parse::<loci_proto::requests::undo::UndoRequest>(
        json!({"session": "rogue-1", "last": true}),
    );
    assert!(both.target().is_err());

    let history =
        test_store.reader.history(&parse(json!({"session": "rogue-1"}))).expect("it is read");
    let acts: Vec<&str> = history.acts.iter().map(|act| act.act.as_str()).collect();
    assert_eq!(
        acts,
        ["supersede", "forget", "relate", "relate", "merge", "edit", "forget", "supersede"]
    );
    assert_eq!(history.stored.len(), 6);
    assert_eq!(history.stored[0].preview, "Its replacement");
    let all = test_store.reader.history(&parse(json!({}))).expect("it is read");
    assert!(all.acts.iter().all(|act| act.act != "merge") && all.stored.is_empty());
}

#[test]
fn a_hard_delete_and_an_imported_claim_are_not_undone() {
    let (mut test_store, ids) = honest_store();
    test_store.session = "rogue-3".to_owned();
    store(&mut test_store, "A plain store", "semantic");
    let hard = json!({"memory_id": ids[1], "hard_delete": true});
    test_store.origin = Origin::Person;
    test_store.forget("a", hard).expect("it is deleted");
    let undone = undo(&mut test_store, json!({"session": "rogue-3"}));
    assert_eq!(undone.skipped.len(), 1);
    assert!(
        undone.skipped[0].id == Some(ids[1].clone())
            && undone.skipped[0].reason.contains("permanently")
    );

    let mut other = TestStore::new();
    let file = {
        let mut file = Vec::new();
        test_store.reader.export(&parse(json!({})), &mut file).expect("the export succeeds");
        String::from_utf8(file).expect("the export is UTF-8")
    };
    let call = other.call("importer", None);
    other
        .writer
        .import(&call, &parse(json!({})), &mut std::io::Cursor::new(file.as_bytes()))
        .expect("the file is imported");
    other.session = "s9".to_owned();
    let request = parse(json!({"session": "rogue"}));
    let call = other.call("a", None);
    let refusal = other.writer.undo(&call, &request).expect_err("no session is known");
    assert!(refusal.to_string().starts_with("not_found"), "{refusal}");
    let listed = other.reader.list(&parse(json!({"all_groups": true})), &named("a"), other.now);
    assert_eq!(listed.expect("the memories are listed").total, ids.len() - 1);
}
