//! Supersession of stored memories, and the review of pairs that look like versions.

use crate::tests::fixture::{TestStore, axis, between_axes, named, parse};
use loci_proto::memory::MemoryId;
use loci_proto::memory::Origin;
use loci_proto::requests::review::ReviewReply;
use serde_json::{Value, json};

fn fact(test_store: &mut TestStore, text: &str, cosine: f32) -> MemoryId {
    let vector = between_axes(1, 2, cosine);
    test_store.store("a", json!({"content": text, "type": "semantic"}), Some(&vector)).id
}

fn supersede(test_store: &mut TestStore, old: &str, new: &str) -> Result<Option<i64>, String> {
    let call = test_store.call("a", None);
    let request = parse(json!({"old": old, "new": new}));
    let reply = test_store.writer.supersede(&call, &request);
    reply.map(|reply| reply.act).map_err(|error| error.to_string())
}

fn review(test_store: &TestStore, arguments: Value) -> ReviewReply {
    let reviewed = test_store.reader.review(&parse(arguments), &named("a"), test_store.now);
    reviewed.expect("the pairs are listed")
}

#[test]
fn a_superseded_memory_is_not_found_until_the_undo() {
    let mut test_store = TestStore::new();
    let old = fact(&mut test_store, "The server is called heron", 1.0);
    let new = fact(&mut test_store, "The server is called egret", 0.79);
    let before = test_store.dump();
    supersede(&mut test_store, old.as_str(), new.as_str()).expect("it is superseded");
    let found = test_store.found("a", json!({"query": "server called"}), None);
    assert_eq!(found, ["The server is called egret"]);
    test_store.undo_last().expect("it is undone");
    assert_eq!(test_store.dump(), before);
}

#[test]
fn every_pair_of_ids_that_cannot_be_is_refused_with_its_reason() {
    let mut test_store = TestStore::new();
    let old = fact(&mut test_store, "The server is called heron", 1.0);
    let new = fact(&mut test_store, "The server is called egret", 0.79);
    let gone = fact(&mut test_store, "The lamp is green", 0.1);
    let erased = fact(&mut test_store, "The lamp is red", 0.0);
    let arguments = json!({"memory_id": gone});
    test_store.forget("a", arguments).expect("it is forgotten");
    let arguments = json!({"memory_id": erased, "hard_delete": true});
    test_store.forget("a", arguments).expect("it is deleted");
    supersede(&mut test_store, old.as_str(), new.as_str()).expect("it is superseded");
    let (old, new) = (old.as_str(), new.as_str());
    let unknown = "01953a2b-7c1e-7000-8000-0123456789ab";
    for (one, other, reason) in [
        (new, new, "old is the replacing memory itself"),
        (new, old, "new was itself replaced by"),
        (old, gone.as_str(), "old names a memory that is already superseded by"),
        (gone.as_str(), new, "old names a memory that is forgotten"),
        (erased.as_str(), new, "old names a memory that was deleted permanently"),
        (new, erased.as_str(), "new names a memory that was deleted permanently"),
        (unknown, new, "old"),
        (new, unknown, "new"),
    ] {
        let refused = supersede(&mut test_store, one, other).expect_err("it is refused");
        assert!(refused.contains(reason), "{refused} | {reason}");
    }
}

#[test]
fn an_edit_can_supersede_with_and_without_another_change() {
    for change in [json!({}), json!({"confidence": 0.7})] {
        let mut test_store = TestStore::new();
        let old = fact(&mut test_store, "The server is called heron", 1.0);
        let new = fact(&mut test_store, "The server is called egret", 0.79);
        let before = test_store.dump();
        let mut arguments = json!({"memory_id": new, "supersedes": old});
        let fields = arguments.as_object_mut().expect("an object");
        fields.extend(change.as_object().expect("an object").clone());
        let call = test_store.call("a", None);
        let none = crate::model::encoding::TextEncodings::default();
        let reply = test_store.writer.edit(&call, &parse(arguments), &none);
        let reply = reply.expect("it is edited");
        assert!(reply.changed.iter().any(|name| name == "supersedes"), "{reply:?}");
        assert_eq!(test_store.found("a", json!({"query": "server"}), None).len(), 1);
        test_store.undo_last().expect("it is undone");
        assert_eq!(test_store.dump(), before);
    }
}

#[test]
fn a_memory_of_group_scope_does_not_replace_a_global_one() {
    let mut test_store = TestStore::new();
    let old = fact(&mut test_store, "The server is called heron", 1.0);
    let arguments =
        json!({"content": "The server is called egret", "type": "semantic", "scope": "group"});
    let new = test_store.store("a", arguments, None).id;
    let refused = supersede(&mut test_store, old.as_str(), new.as_str()).expect_err("is refused");
    assert!(refused.contains("is not visible wherever the old memory is"), "{refused}");
}

#[test]
fn a_store_names_the_memory_with_another_value_and_its_text() {
    let mut test_store = TestStore::new();
    let old = fact(&mut test_store, "The server is called heron", 1.0);
    let far = json!({"content": "The cellar has a window", "type": "semantic"});
    let reply = test_store.store("a", far, Some(&between_axes(1, 2, 0.7)));
    assert!(reply.similar.is_empty() && reply.note.is_none(), "{reply:?}");
    let other = json!({"content": "The server is called egret", "type": "semantic"});
    let reply = test_store.store("a", other.clone(), Some(&between_axes(1, 3, 0.79)));
    assert_eq!(reply.similar.as_slice(), std::slice::from_ref(&old));
    assert_eq!(reply.similar_texts[0].preview, "The server is called heron");
    assert!(reply.note.is_some_and(|note| note.contains("supersedes")));
    let mut again = other;
    again["supersedes"] = json!(old);
    let reply = test_store.store("a", again, Some(&between_axes(1, 3, 0.79)));
    assert_eq!((reply.superseded, reply.deduplicated), (Some(old), true));
}

#[test]
fn pairs_are_listed_newest_first_page_by_page_until_both_are_kept() {
    let mut test_store = TestStore::new();
    for (axis_number, text) in [(1, "server"), (5, "printer"), (9, "router")] {
        for (name, cosine) in [("heron", 1.0), ("egret", 0.9)] {
            let content = format!("The {text} in the cellar is called {name}");
            let vector = between_axes(axis_number, axis_number + 1, cosine);
            test_store.store("a", json!({"content": content, "type": "semantic"}), Some(&vector));
        }
    }
    let event = json!({"content": "The server is called ibis", "type": "episodic"});
    test_store.store("a", event, Some(&axis(1)));
    let texts = |reply: &ReviewReply| -> Vec<String> {
        reply.pairs.iter().map(|pair| pair.older.preview.clone()).collect()
    };
    let all = review(&test_store, json!({}));
    let expected = ["router", "printer", "server"]
        .map(|text| format!("The {text} in the cellar is called heron"));
    assert_eq!(texts(&all), expected);
    assert_eq!((all.next, all.pairs[0].looks_like.as_str()), (None, "other value"));
    let first = review(&test_store, json!({"limit": 2}));
    let rest = review(&test_store, json!({"limit": 2, "before": first.next}));
    assert_eq!([texts(&first), texts(&rest)].concat(), expected);
    let kept = json!({"keep": [all.pairs[0].newer.id, all.pairs[0].older.id]});
    let mut call = test_store.call("a", None);
    call.actor.origin = Origin::Person;
    assert!(test_store.writer.decide(&call, &parse(kept)).expect("it is recorded").kept);
    assert_eq!(texts(&review(&test_store, json!({}))), expected[1..]);
    assert_eq!(texts(&review(&test_store, json!({"all": true}))), expected);
    let (old, new) = (all.pairs[1].older.id.clone(), all.pairs[1].newer.id.clone());
    supersede(&mut test_store, old.as_str(), new.as_str()).expect("it is superseded");
    assert_eq!(texts(&review(&test_store, json!({}))), expected[2..]);
}
