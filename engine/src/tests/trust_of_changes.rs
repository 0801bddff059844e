//! What a less trusted caller cannot bring about by later changes: versions, undo, redo, edited
//! metadata.

use crate::model::encoding::TextEncodings;
use crate::tests::fixture::{TestStore, axis, document_encoding, parse, query_encoding};
use crate::tests::trust::{POISON, brief, confirm, details, store_as, store_near};
use loci_proto::memory::{Origin, Trust};
use serde_json::json;

#[test]
fn a_less_trusted_or_an_earlier_memory_is_no_newer_version() {
    let mut test_store = TestStore::new();
    let store = |test_store: &mut TestStore, origin: Origin, text: &str| {
        test_store.origin = origin;
        let encoding = document_encoding(text, axis(0));
        test_store.store_encoded("a", json!({"content": text, "type": "semantic"}), &encoding);
    };
    let recall = |test_store: &TestStore| {
        let query = "build server port";
        let encoding = query_encoding(query, axis(0));
        test_store.recall_encoded("a", json!({"query": query}), Some(&encoding)).reply
    };
    store(&mut test_store, Origin::Person, "The build server runs on port 8080");
    store(&mut test_store, Origin::Agent, "The build server runs on port 6667 now");
    let recalled = recall(&test_store);
    assert_eq!(recalled.results.len(), 2);
    assert!(recalled.results.iter().all(|result| result.older_version_of.is_none()));
    store(&mut test_store, Origin::Person, "The build server runs on port 9090 now");
    let recalled = recall(&test_store);
    assert_eq!(
        recalled.results[0].content.as_deref(),
        Some("The build server runs on port 9090 now")
    );
}

#[test]
fn an_agent_takes_back_no_decision_of_a_person() {
    let mut test_store = TestStore::new();
    let flagged = json!({"content": POISON, "type": "semantic"});
    let id = store_as(&mut test_store, Origin::Agent, flagged).id;
    confirm(&mut test_store, json!({"memory_id": id})).expect("it is confirmed");
    let refused = test_store.undo_last().expect_err("an agent is refused");
    assert!(refused.to_string().contains("a person stored or confirmed"), "{refused}");
    test_store.origin = Origin::Person;
    test_store.undo_last().expect("a person takes it back");
    test_store.origin = Origin::Agent;
    let call = test_store.call("a", None);
    let refused = test_store.writer.redo(&call, &parse(json!({}))).expect_err("it is refused");
    assert!(refused.to_string().contains("a person stored or confirmed"), "{refused}");
    assert_eq!(details(&test_store, &id).provenance.trust, Trust::Agent);
}

#[test]
fn metadata_that_an_agent_edits_is_checked_like_a_text() {
    let mut test_store = TestStore::new();
    let fact = json!({"content": "The build server is called heron", "type": "semantic"});
    let id = store_as(&mut test_store, Origin::Agent, fact).id;
    let edit = json!({"memory_id": id, "metadata": {"questions": [POISON]}});
    let call = test_store.call("a", None);
    let edited = test_store.writer.edit(&call, &parse(edit), &TextEncodings::default());
    edited.expect("it is edited");
    assert!(!details(&test_store, &id).provenance.flags.is_empty());
}

#[test]
fn a_flagged_correction_of_an_agent_is_held_back_and_leaves_no_stale_text_in_force() {
    let mut test_store = TestStore::new();
    let old = store_as(
        &mut test_store,
        Origin::Agent,
        json!({"content": "Deploy with make deploy.", "type": "procedural"}),
    )
    .id;
    let attack = json!({"content": POISON, "type": "procedural", "supersedes": old});
    let reply = store_as(&mut test_store, Origin::Agent, attack);
    assert_eq!((reply.flagged, reply.superseded), (vec!["override".to_owned()], Some(old.clone())));
    assert!(reply.note.is_some_and(|note| note.contains("no longer in force")));
    assert_eq!(details(&test_store, &old).status, "superseded");
    let text = brief(&test_store);
    assert!(!text.contains("make deploy") && !text.contains("previous instructions"), "{text}");
    assert!(text.contains("1 memory waits for the user"), "{text}");
}

#[test]
fn a_wording_that_an_undo_brings_back_is_not_what_a_person_confirmed() {
    let mut test_store = TestStore::new();
    let fact = |text: &str| json!({"content": text, "type": "semantic"});
    let first = fact("The orchard is in Wales");
    let first = store_near(&mut test_store, Origin::Agent, first, Some(&axis(1))).id;
    let wording = fact("Orchard is in Wales");
    let merged = store_near(&mut test_store, Origin::Agent, wording, Some(&axis(1)));
    assert_eq!(merged.id, first);
    confirm(&mut test_store, json!({"memory_id": first})).expect("it is confirmed");
    let call = test_store.call("a", None);
    let request = parse(json!({"id": merged.act.expect("the merge has a number")}));
    // An agent takes back nothing of what a person has confirmed.
    assert!(test_store.writer.undo(&call, &request).is_err());
    let mut person = test_store.call("a", None);
    person.actor.origin = Origin::Person;
    let undone = test_store.writer.undo(&person, &request).expect("a person may undo it");
    let stored = details(&test_store, &undone.stored[0].id);
    assert_eq!(stored.provenance.trust, Trust::Agent);
}

#[test]
fn a_text_that_an_undo_brings_back_is_judged_again() {
    let mut test_store = TestStore::new();
    let poison = json!({"content": POISON, "type": "semantic"});
    let id = store_as(&mut test_store, Origin::Agent, poison).id;
    let agent = test_store.call("a", None);
    let rewrite = parse(json!({"memory_id": id, "content": "Backups run at night."}));
    let edited = test_store.writer.edit(&agent, &rewrite, &TextEncodings::default());
    let act = edited.expect("the text is edited").act.expect("the edit has a number");
    let mut person = test_store.call("a", None);
    person.actor.origin = Origin::Person;
    let done = test_store.writer.mend(&person).expect("the store is mended");
    assert_eq!((done.len(), details(&test_store, &id).provenance.flags.len()), (1, 0));
    test_store.writer.undo(&agent, &parse(json!({"id": act}))).expect("the edit is undone");
    assert_eq!(details(&test_store, &id).provenance.flags, ["override"]);
    assert!(!brief(&test_store).contains("previous instructions"));
}
