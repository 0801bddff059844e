//! Undo: of the last act, of a given act, of all acts since a time, and of any sequence of acts.

use crate::error::Result;
use crate::model::encoding::TextEncodings;
use crate::model::time::HOUR;
use crate::tests::fixture::{T0, TestStore, axis, between_axes, by_test_model, parse};
use loci_proto::memory::MemoryId;
use loci_proto::requests::redo::RedoReply;
use proptest::prelude::*;
use serde_json::{Value, json};

fn fact(test_store: &mut TestStore, text: &str) -> MemoryId {
    test_store.store("a", json!({"content": text, "type": "semantic"}), None).id
}

#[test]
fn acts_are_undone_newest_first_and_only_once() {
    let mut test_store = TestStore::new();
    let id = fact(&mut test_store, "The code is 4711");
    let start = test_store.dump();
    test_store.now = test_store.now.plus(HOUR);
    test_store.forget("a", json!({"memory_id": id})).expect("the memory is forgotten");
    let undone = test_store.undo_last().expect("the last act is undone").undone;
    assert_eq!((undone.len(), undone[0].act.as_str()), (1, "forget"));
    assert_eq!(test_store.dump(), start);
    assert_eq!(test_store.found("a", json!({"query": "code"}), None), ["The code is 4711"]);
    assert!(
        test_store.undo_last().expect_err("no act is left").to_string().starts_with("not_found")
    );
    let again = test_store
        .writer
        .undo(&test_store.call("a", None), &parse(json!({"id": undone[0].id})))
        .expect_err("a second undo of the act is refused");
    assert!(again.to_string().starts_with("conflict"), "{again}");
}

#[test]
fn undoing_a_superseding_store_removes_the_new_memory() {
    let mut test_store = TestStore::new();
    let old = fact(&mut test_store, "The limit is 100");
    let start = test_store.dump();
    let new = test_store
        .store(
            "a",
            json!({"content": "The limit is 200", "type": "semantic", "supersedes": old}),
            Some(&axis(0)),
        )
        .id;
    test_store.undo_last().expect("the last act is undone");
    assert_eq!(test_store.dump(), start);
    assert_eq!(test_store.recall("a", json!({"ids": [new]}), None).reply.missing.len(), 1);
    assert_eq!(
        test_store.found("a", json!({"query": "limit"}), Some(&axis(0))),
        ["The limit is 100"]
    );
}

#[test]
fn an_act_with_later_dependents_is_not_undone_alone() {
    let mut test_store = TestStore::new();
    let old = fact(&mut test_store, "Anna is a painter");
    test_store.store(
        "a",
        json!({"content": "Anna is a sculptor", "type": "semantic", "supersedes": old}),
        None,
    );
    let supersede =
        test_store.reader.history(&parse(json!({}))).expect("the history is readable").acts[0].id;
    test_store.forget("a", json!({"memory_id": old})).expect("the memory is forgotten");
    let refusal = test_store
        .writer
        .undo(&test_store.call("a", None), &parse(json!({"id": supersede})))
        .expect_err("the undo is refused")
        .to_string();
    assert!(
        refusal.starts_with("conflict: act") && refusal.contains("Undo the later acts first"),
        "{refusal}"
    );
    test_store.undo_last().expect("the later act is undone");
    test_store.undo_last().expect("the earlier act is undone");
    assert_eq!(test_store.found("a", json!({"query": "Anna"}), None), ["Anna is a painter"]);
}

#[test]
fn accesses_since_an_act_are_kept_and_do_not_block_its_undo() {
    let mut test_store = TestStore::new();
    let id = fact(&mut test_store, "Tea at four");
    let edit = json!({"memory_id": id, "content": "Tea at five"});
    test_store
        .writer
        .edit(
            &test_store.call("a", None),
            &parse(edit),
            &by_test_model(vec![between_axes(0, 1, 0.5)].into()),
        )
        .expect("the memory is edited");
    test_store
        .writer
        .touch(
            &std::iter::once((1, crate::transaction::access::Accesses::boosting(3))).collect(),
            test_store.now,
            crate::transaction::access::Boosting::On,
        )
        .expect("the access is counted");
    test_store.undo_last().expect("the last act is undone");
    let shown =
        test_store.inspect("a", json!({"memory_id": id})).expect("the memory is shown").memory;
    assert_eq!((shown.content.as_str(), shown.access_count), ("Tea at four", 3));
    assert_eq!(
        test_store.reader.without_vector(9).expect("the memories are listed").len(),
        1,
        "the vector of the edited text is removed"
    );
}

#[test]
fn acts_since_a_time_are_undone_together() {
    let mut test_store = TestStore::new();
    let (a, b) = (fact(&mut test_store, "First fact"), fact(&mut test_store, "Second thing"));
    test_store.forget("a", json!({"memory_id": a})).expect("the memory is forgotten");
    test_store.now = T0.plus(3 * HOUR);
    test_store.forget("a", json!({"memory_id": b})).expect("the memory is forgotten");
    let undone = test_store
        .writer
        .undo(&test_store.call("a", None), &parse(json!({"since_seconds": 7200})))
        .expect("the acts are undone")
        .undone;
    assert_eq!(undone.len(), 1);
    assert_eq!(test_store.found("a", json!({"query": "fact thing"}), None), ["Second thing"]);
}

/// An operation that can be undone. A `usize` selects one of the memories, modulo their count; a
/// `u8` makes texts differ.
#[derive(Debug, Clone)]
enum Act {
    Supersede(usize, u8),
    Forget(usize),
    ForgetMany(usize, usize),
    Restore(usize),
    Edit(usize, u8),
    Pin(usize, bool),
    Relate(usize, usize),
}

fn act() -> impl Strategy<Value = Act> {
    let which = 0_usize..16;
    prop_oneof![
        (which.clone(), 0_u8..9).prop_map(|(i, n)| Act::Supersede(i, n)),
        which.clone().prop_map(Act::Forget),
        (which.clone(), which.clone()).prop_map(|(i, j)| Act::ForgetMany(i, j)),
        which.clone().prop_map(Act::Restore),
        (which.clone(), 0_u8..9).prop_map(|(i, n)| Act::Edit(i, n)),
        (which.clone(), any::<bool>()).prop_map(|(i, on)| Act::Pin(i, on)),
        (which.clone(), which).prop_map(|(i, j)| Act::Relate(i, j)),
    ]
}

/// Applies an operation, and checks that it changes nothing if it is refused.
fn perform(test_store: &mut TestStore, ids: &mut Vec<MemoryId>, act: &Act) {
    let id = |i: usize| ids[i % ids.len()].clone();
    let call = test_store.call("a", None);
    let before = test_store.dump();
    let is_refused = match act {
        Act::Supersede(i, n) => {
            let arguments = json!({"content": format!("Version {n} of the matter"), "type": "entity", "supersedes": id(*i), "metadata": {"name": format!("Matter {n}")}});
            test_store.try_store("a", arguments, None).map(|reply| ids.push(reply.id)).is_err()
        }
        Act::Forget(i) => {
            test_store.writer.forget(&call, &parse(json!({"memory_id": id(*i)}))).is_err()
        }
        Act::ForgetMany(i, j) => test_store
            .writer
            .forget_many(&call, &parse(json!({"memory_ids": [id(*i), id(*j)]})))
            .is_err(),
        Act::Restore(i) => {
            test_store.writer.restore(&call, &parse(json!({"memory_id": id(*i)}))).is_err()
        }
        Act::Edit(i, n) => {
            let request = json!({"memory_id": id(*i), "content": format!("Edited {n}"), "metadata": {"name": format!("Edited {n}")}, "confidence": 0.5});
            test_store.writer.edit(&call, &parse(request), &TextEncodings::default()).is_err()
        }
        Act::Pin(i, on) => test_store
            .writer
            .pin(&call, &parse(json!({"memory_id": id(*i), "pinned": on})))
            .is_err(),
        Act::Relate(i, j) => {
            let triple = json!({"subject_id": id(*i), "predicate": "knows", "object_id": id(*j), "evidence": [id(*i)]});
            test_store.writer.relate(&call, &parse(triple)).is_err()
        }
    };
    assert!(
        !is_refused || test_store.dump() == before,
        "{act:?} was refused and changed something"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn undoing_every_act_restores_the_store_and_redoing_them_restores_the_acts(acts in prop::collection::vec(act(), 1..24)) {
        let mut test_store = TestStore::new();
        let mut ids: Vec<MemoryId> = (0..5).map(|n| {
            let arguments = json!({"content": format!("Entity number {n}"), "type": "entity", "metadata": {"name": format!("Number {n}")}});
            test_store.store("a", arguments, Some(&axis(n))).id
        }).collect();
        let start = test_store.dump();
        for act in &acts {
            test_store.now = test_store.now.plus(HOUR);
            perform(&mut test_store, &mut ids, act);
        }
        let end = test_store.dump();
        let mut undone = 0;
        while test_store.undo_last().is_ok() {
            undone += 1;
        }
        prop_assert_eq!(test_store.undo_last().expect_err("no act is left").to_string(), "not_found: there is nothing to undo");
        prop_assert_eq!(test_store.dump(), start.clone());
        for _ in 0..undone {
            redo(&mut test_store, json!({})).expect("the undo is taken back");
        }
        prop_assert_eq!(test_store.dump(), end);
        let nothing = redo(&mut test_store, json!({})).expect_err("nothing is undone").to_string();
        prop_assert!(nothing.starts_with("not_found: there is nothing to redo"), "{}", nothing);
        while test_store.undo_last().is_ok() {}
        prop_assert_eq!(test_store.dump(), start);
    }
}

fn redo(test_store: &mut TestStore, request: Value) -> Result<RedoReply> {
    let call = test_store.call("a", None);
    test_store.writer.redo(&call, &parse(request))
}

#[test]
fn a_redo_names_its_acts_and_is_refused_if_a_later_change_depends_on_the_undo() {
    let mut test_store = TestStore::new();
    let (a, b) = (fact(&mut test_store, "First fact"), fact(&mut test_store, "Second thing"));
    test_store.forget("a", json!({"memory_id": a})).expect("the memory is forgotten");
    test_store.forget("a", json!({"memory_id": b})).expect("the memory is forgotten");
    let history = test_store.reader.history(&parse(json!({}))).expect("the history is readable");
    let acts: Vec<i64> = history.acts.iter().map(|act| act.id).collect();
    let texts: Vec<&str> = history.acts.iter().map(|act| act.changed[0].preview.as_str()).collect();
    assert_eq!(texts, ["Second thing", "First fact"]);
    let not_undone = redo(&mut test_store, json!({"id": acts[0]})).expect_err("it is not undone");
    assert!(not_undone.to_string().contains("it is not undone"), "{not_undone}");
    test_store
        .writer
        .undo(&test_store.call("a", None), &parse(json!({"ids": acts})))
        .expect("the acts are undone");
    let preview =
        redo(&mut test_store, json!({"id": acts[1], "preview": true})).expect("it is shown");
    let ids: Vec<i64> = preview.redone.iter().map(|act| act.id).collect();
    assert_eq!(ids, [acts[1], acts[0]], "acts that were undone together are redone together");
    assert_eq!(test_store.found("a", json!({"query": "fact thing"}), None).len(), 2);
    test_store.forget("a", json!({"memory_id": b})).expect("the memory is forgotten");
    let refused = redo(&mut test_store, json!({})).expect_err("a later change depends on the undo");
    let message = refused.to_string();
    assert!(message.starts_with("conflict: the undo of act"), "{message}");
    assert!(message.contains("was changed later"), "{message}");
    test_store.undo_last().expect("the later act is undone");
    redo(&mut test_store, json!({"id": acts[1]})).expect("the undo is taken back");
    assert!(test_store.found("a", json!({"query": "fact thing"}), None).is_empty());
}
