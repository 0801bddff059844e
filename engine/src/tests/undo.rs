//! Acts taken back: one by one, out of order, and any number of them.

use crate::model::encoding::DocumentEncoding;
use crate::model::time::HOUR;
use crate::tests::fixture::{T0, TestStore, axis, leaning, parse};
use loci_proto::memory::MemoryId;
use proptest::prelude::*;
use serde_json::json;

fn fact(test_store: &mut TestStore, text: &str) -> MemoryId {
    test_store.store("a", json!({"content": text, "type": "semantic"}), None).id
}

#[test]
fn the_newest_act_is_taken_back_first_and_each_once() {
    let mut test_store = TestStore::new();
    let id = fact(&mut test_store, "The code is 4711");
    let start = test_store.dump();
    test_store.now = test_store.now.plus(HOUR);
    test_store.forget("a", json!({"memory_id": id})).expect("is forgotten");
    let undone = test_store.undo_last().expect("is undone").undone;
    assert_eq!((undone.len(), undone[0].act.as_str()), (1, "forget"));
    assert_eq!(test_store.dump(), start);
    assert_eq!(test_store.found("a", json!({"query": "code"}), None), ["The code is 4711"]);
    assert!(test_store.undo_last().expect_err("is none").to_string().starts_with("not_found"));
    let again = test_store
        .writer
        .undo(&test_store.call("a", None), &parse(json!({"id": undone[0].id})))
        .expect_err("is undone already");
    assert!(again.to_string().starts_with("conflict"), "{again}");
}

#[test]
fn undoing_a_superseding_store_takes_the_new_memory_back() {
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
    test_store.undo_last().expect("is undone");
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
    let supersede = test_store.reader.history(&parse(json!({}))).expect("is read").acts[0].id;
    test_store.forget("a", json!({"memory_id": old})).expect("is forgotten");
    let said = test_store
        .writer
        .undo(&test_store.call("a", None), &parse(json!({"id": supersede})))
        .expect_err("is refused")
        .to_string();
    assert!(
        said.starts_with("conflict: act") && said.contains("Undo the later acts first"),
        "{said}"
    );
    test_store.undo_last().expect("the later one");
    test_store.undo_last().expect("now this one too");
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
            &DocumentEncoding::from(vec![leaning(0, 1, 0.5)]),
        )
        .expect("is edited");
    test_store
        .writer
        .touch(
            &std::iter::once((1, 3)).collect(),
            test_store.now,
            crate::transaction::access::Boosting::On,
        )
        .expect("is counted");
    test_store.undo_last().expect("is undone");
    let shown = test_store.inspect("a", json!({"memory_id": id})).expect("is shown").memory;
    assert_eq!((shown.content.as_str(), shown.access_count), ("Tea at four", 3));
    assert_eq!(
        test_store.reader.without_vector(9).expect("is read").len(),
        1,
        "its vector was that of the other text"
    );
}

#[test]
fn acts_since_a_moment_are_taken_back_together() {
    let mut test_store = TestStore::new();
    let (a, b) = (fact(&mut test_store, "First fact"), fact(&mut test_store, "Second thing"));
    test_store.forget("a", json!({"memory_id": a})).expect("is forgotten");
    test_store.now = T0.plus(3 * HOUR);
    test_store.forget("a", json!({"memory_id": b})).expect("is forgotten");
    let undone = test_store
        .writer
        .undo(&test_store.call("a", None), &parse(json!({"since_seconds": 7200})))
        .expect("is undone")
        .undone;
    assert_eq!(undone.len(), 1);
    assert_eq!(test_store.found("a", json!({"query": "fact thing"}), None), ["Second thing"]);
}

/// One thing that a person or an agent does; numbers choose among the memories that there are.
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

/// Applies an operation if it is valid; a refused one changes nothing.
fn perform(test_store: &mut TestStore, ids: &mut Vec<MemoryId>, act: &Act) {
    let id = |i: usize| ids[i % ids.len()].clone();
    let call = test_store.call("a", None);
    let before = test_store.dump();
    let refused = match act {
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
            test_store.writer.edit(&call, &parse(request), &DocumentEncoding::default()).is_err()
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
    assert!(!refused || test_store.dump() == before, "{act:?} was refused and changed something");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Any sequence of acts, then all of them taken back, gives the same store.
    #[test]
    fn any_acts_and_then_all_of_them_undone_change_nothing(acts in prop::collection::vec(act(), 1..24)) {
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
        while test_store.undo_last().is_ok() {}
        prop_assert_eq!(test_store.undo_last().expect_err("is none").to_string(), "not_found: there is nothing to undo");
        prop_assert_eq!(test_store.dump(), start);
    }
}
