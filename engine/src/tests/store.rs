//! Storing: duplicates, supersession, group commits, restarts, a full disk.

use crate::model::encoding::TextEncodings;
use crate::model::time::DAY;
use crate::operations::store::Draft;
use crate::tests::fixture::{T0, TestStore, axis, between_axes, id, parse};
use loci_proto::error::{Code, Failure};
use loci_proto::requests::store::StoreRequest;
use serde_json::{Value, json};

fn fact(content: &str) -> Value {
    json!({"content": content, "type": "semantic"})
}

#[test]
fn a_similar_text_with_the_same_fact_is_merged_into_the_first_wording() {
    let mut test_store = TestStore::new();
    let first = test_store.store(
        "a",
        json!({"content": "The user prefers tea", "type": "semantic", "confidence": 0.5}),
        Some(&axis(0)),
    );
    let again =
        test_store.store("a", fact("The user prefers tea."), Some(&between_axes(0, 1, 0.97)));
    assert!(again.deduplicated && again.id == first.id && again.similar.is_empty());
    let shown = test_store.recall("a", json!({"ids": [id(&first)]}), None);
    assert!(
        (shown.reply.results[0].confidence.expect("the reply has a confidence").get() - 0.6).abs()
            < 1e-9
    );
    assert_eq!(shown.reply.results[0].content.as_deref(), Some("The user prefers tea"));
}

#[test]
fn a_similar_text_with_another_fact_is_stored_and_names_the_similar_memory() {
    let mut test_store = TestStore::new();
    let limit = test_store.store("a", fact("The rate limit is 100 requests"), Some(&axis(0)));
    let raised = test_store.store(
        "a",
        fact("The rate limit is 500 requests"),
        Some(&between_axes(0, 1, 0.97)),
    );
    assert!(!raised.deduplicated);
    assert_eq!(raised.similar, [limit.id]);
}

#[test]
fn a_text_that_is_true_in_another_time_is_no_wording_of_the_first() {
    let mut test_store = TestStore::new();
    let times = [
        json!({}),
        json!({"valid_to": "2026-03-31"}),
        json!({"valid_from": "2026-10-01"}),
        json!({"valid_from": "2026-10-01", "valid_to": "2027-01-01"}),
    ];
    for text in ["Kim is the release lead", "Kim is release lead."] {
        for (number, time) in times.iter().enumerate() {
            let mut arguments = fact(text);
            arguments
                .as_object_mut()
                .expect("an object")
                .extend(time.as_object().cloned().unwrap_or_default());
            let stored = test_store.store("a", arguments, Some(&axis(0)));
            assert_eq!(stored.deduplicated, text.ends_with('.'), "{number}: {stored:?}");
        }
    }
}

#[test]
fn one_wording_is_merged_and_named_and_other_words_are_kept() {
    let mut test_store = TestStore::new();
    let first = test_store.store("a", fact("Anna reviews the migrations"), Some(&axis(0)));
    let again =
        test_store.store("a", fact("Anna reviews migrations!"), Some(&between_axes(0, 1, 0.97)));
    assert!(again.deduplicated && again.id == first.id);
    let merged = again.merged.expect("the reply names what it was merged with");
    assert_eq!((merged.id, &*merged.preview), (first.id.clone(), "Anna reviews the migrations"));
    for (axis, text) in [
        (2, "The migrations are reviewed by Anna"),
        (3, "Anna's son reviews the migrations"),
        (4, "Anna could review the migrations"),
    ] {
        let kept = test_store.store("a", fact(text), Some(&between_axes(0, axis, 0.97)));
        assert!(!kept.deduplicated && kept.merged.is_none(), "{text}");
        assert!(kept.similar.contains(&first.id), "{text}");
    }
}

#[test]
fn a_negation_is_never_merged() {
    let mut test_store = TestStore::new();
    test_store.store("a", fact("Anna likes peanuts"), Some(&axis(0)));
    assert!(
        !test_store
            .store("a", fact("Anna does not like peanuts"), Some(&between_axes(0, 1, 0.98)))
            .deduplicated
    );
}

#[test]
fn groups_scopes_and_types_do_not_merge_into_each_other() {
    let mut test_store = TestStore::new();
    let in_group =
        |content: &str| json!({"content": content, "type": "semantic", "scope": "group"});
    test_store.store("a", in_group("Deploys happen on Fridays"), Some(&axis(0)));
    assert!(
        !test_store.store("b", in_group("Deploys happen on Fridays"), Some(&axis(0))).deduplicated,
        "another group"
    );
    assert!(
        !test_store.store("a", fact("Deploys happen on Fridays"), Some(&axis(0))).deduplicated,
        "another scope"
    );
    let other_type =
        json!({"content": "Deploys happen on Fridays", "type": "procedural", "scope": "group"});
    assert!(!test_store.store("a", other_type, Some(&axis(0))).deduplicated, "another type");
    assert!(
        test_store.store("a", in_group("Deploys happen on Fridays"), Some(&axis(0))).deduplicated
    );
    assert!(
        test_store.store("c", fact("Deploys happen on Fridays"), Some(&axis(0))).deduplicated,
        "a global memory merges with that of another group"
    );
}

#[test]
fn equal_texts_are_merged_without_vectors() {
    let mut test_store = TestStore::new();
    let first = test_store.store("a", fact("The door code is known to Ola"), None);
    let again = test_store.store("a", fact(" The door code is known to Ola."), None);
    assert!(again.deduplicated && again.id == first.id);
    let broken = test_store.store("a", fact("The door code\nis known to Ola"), None);
    assert!(!broken.deduplicated, "a line break may be code");
}

#[test]
fn a_superseded_memory_is_not_recalled() {
    let mut test_store = TestStore::new();
    let old = test_store.store("a", fact("Lunch is at noon"), Some(&axis(0)));
    let new = test_store.store(
        "a",
        json!({"content": "Lunch is at one", "type": "semantic", "supersedes": id(&old)}),
        Some(&between_axes(0, 1, 0.97)),
    );
    assert_eq!(new.superseded.as_ref(), Some(id(&old)));
    assert_eq!(
        test_store.found("a", json!({"query": "lunch"}), Some(&axis(0))),
        ["Lunch is at one"]
    );
    let shown = test_store.recall("a", json!({"ids": [id(&old)]}), None).reply;
    assert_eq!(shown.results[0].superseded_by.as_deref(), Some(new.id.as_str()));
}

#[test]
fn supersedes_is_honoured_when_the_new_text_is_merged() {
    let mut test_store = TestStore::new();
    let stale = test_store.store("a", fact("The office is in Berlin"), Some(&axis(0)));
    let known = test_store.store("a", fact("The office has moved to Gdynia"), Some(&axis(1)));
    let arguments = json!({"content": "The office has moved to Gdynia.", "type": "semantic", "supersedes": id(&stale)});
    let reply = test_store.store("a", arguments, Some(&between_axes(1, 2, 0.99)));
    assert!(reply.deduplicated);
    assert_eq!((reply.id, reply.superseded), (known.id, Some(stale.id)));
}

#[test]
fn an_invalid_supersedes_is_refused_and_nothing_is_stored() {
    let mut test_store = TestStore::new();
    let old = test_store.store("a", fact("Version one"), None);
    let new = test_store.store(
        "a",
        json!({"content": "Version two", "type": "semantic", "supersedes": id(&old)}),
        None,
    );
    let foreign =
        test_store.store("b", json!({"content": "A secret of b", "type": "episodic"}), None);
    let replace = |target: &str| json!({"content": "Version three", "type": "semantic", "supersedes": target});
    for (target, expected) in [
        ("01953a2b-7c1e-7000-8000-0123456789ab", "not_found: supersedes"),
        (foreign.id.as_str(), "not_found: supersedes"),
        (old.id.as_str(), "conflict: supersedes names a memory that is already superseded by"),
    ] {
        let refusal = test_store
            .try_store("a", replace(target), None)
            .expect_err("the memory is refused")
            .to_string();
        assert!(refusal.starts_with(expected), "{refusal}");
    }
    assert_eq!(test_store.found("a", json!({"query": "version"}), None), ["Version two"]);
    assert!(
        test_store.store("a", replace(new.id.as_str()), None).superseded.is_some(),
        "the newest version can be superseded"
    );
}

#[test]
fn a_bad_expiry_is_refused_before_anything_is_encoded_also_of_a_repeated_text() {
    let mut test_store = TestStore::new();
    test_store.store("a", fact("The pass is blue"), Some(&axis(0)));
    for (given, expected) in [
        (json!({"expires_at": "2020-01-01"}), "expires_at is in the past"),
        (json!({"expires_at": "2099-01-01", "ttl_seconds": 60}), "ttl_seconds cannot be combined"),
    ] {
        for text in ["The pass is blue", "The gate is green"] {
            let mut arguments = fact(text);
            let fields = given.as_object().expect("an object").clone();
            arguments.as_object_mut().expect("an object").extend(fields);
            let refused = Draft::new(parse::<StoreRequest>(arguments), test_store.now);
            let refusal = refused.expect_err("the draft is refused").to_string();
            assert!(refusal.contains(expected), "{text}: {refusal}");
        }
    }
}

#[test]
fn yesterday_of_another_day_is_another_event() {
    let mut test_store = TestStore::new();
    let crash = || json!({"content": "The staging server crashed yesterday", "type": "episodic"});
    let first = test_store.store("a", crash(), Some(&axis(0)));
    let same_day = test_store.store("a", crash(), Some(&axis(0)));
    assert!(same_day.deduplicated && same_day.id == first.id, "{same_day:?}");
    assert_eq!(same_day.event_date, first.event_date);
    test_store.now = test_store.now.plus(3 * 24 * 60 * 60 * 1000);
    let later = test_store.store("a", crash(), Some(&axis(0)));
    assert!(!later.deduplicated, "{later:?}");
    assert_ne!(later.event_date, first.event_date);
    let reworded = json!({"content": "The staging server crashed yesterday.", "type": "episodic"});
    let again = test_store.store("a", reworded, Some(&axis(0)));
    assert!(again.deduplicated && again.id == later.id, "{again:?}");
}

#[test]
fn a_call_sent_twice_takes_effect_once() {
    let mut test_store = TestStore::new();
    let draft = Draft::new(parse::<StoreRequest>(fact("Said once")), test_store.now);
    let draft = draft.expect("the request is valid");
    let call = test_store.call("a", Some("s1:7"));
    let first = test_store
        .writer
        .store(&call, &draft, &TextEncodings::default())
        .expect("the memory is stored");
    let again = test_store
        .writer
        .store(&call, &draft, &TextEncodings::default())
        .expect("the repeated call is answered");
    assert_eq!(first, again);
    assert!(!again.deduplicated, "the stored answer is returned");
}

#[test]
fn stores_of_a_group_commit_see_earlier_ones_and_are_committed_together() {
    let mut test_store = TestStore::new();
    test_store.writer.begin_group().expect("the group commit begins");
    let first = test_store.store("a", fact("The user prefers tea"), Some(&axis(0)));
    let again =
        test_store.store("a", fact("The user prefers tea."), Some(&between_axes(0, 1, 0.97)));
    assert!(again.deduplicated && again.id == first.id);
    let anna =
        json!({"content": "Anna runs the shop", "type": "entity", "metadata": {"name": "Anna"}});
    let anna = test_store.store("a", anna, Some(&axis(1)));
    let note = test_store.store("a", fact("Ask Anna about the order"), Some(&axis(2)));
    assert!(
        test_store.try_store("a", fact(""), None).is_err(),
        "a refused store does not roll back the others"
    );
    assert!(
        test_store.found("a", json!({"query": "tea"}), Some(&axis(0))).is_empty(),
        "a recall does not see uncommitted memories"
    );
    test_store.writer.commit_group().expect("the group commits");
    assert_eq!(
        test_store.found("a", json!({"query": "tea"}), Some(&axis(0)))[0],
        "The user prefers tea"
    );
    assert_eq!(
        test_store
            .inspect("a", json!({"memory_id": note.id}))
            .expect("the memory is shown")
            .mentions[0]
            .id,
        anna.id
    );
    assert_eq!(test_store.reopened().found("a", json!({"query": "tea order"}), None).len(), 2);
}

#[test]
fn a_group_commit_rolled_back_by_a_full_disk_leaves_no_changes() {
    let mut test_store = TestStore::new();
    test_store.store("a", fact("Apples are red"), Some(&axis(0)));
    test_store.writer.begin_group().expect("the group commit begins");
    test_store.store("a", fact("A group of plums"), Some(&axis(1)));
    // SQLite itself rolls back when the disk is full.
    test_store.writer.conn.execute_batch("ROLLBACK").expect("the transaction is open");
    assert!(!test_store.writer.is_group_open());
    assert!(test_store.writer.commit_group().is_err());
    assert!(test_store.found("a", json!({"query": "group"}), Some(&axis(1))).is_empty());
    test_store.store("a", fact("Pears are green"), Some(&axis(2)));
    assert_eq!(test_store.found("a", json!({"query": "apples group pears"}), None).len(), 2);
}

#[test]
fn stored_memories_survive_a_restart() {
    let mut test_store = TestStore::new();
    test_store.store("a", fact("Kept for good"), Some(&axis(3)));
    let test_store = test_store.reopened();
    assert_eq!(
        test_store.found("a", json!({"query": "anything else"}), Some(&axis(3))),
        ["Kept for good"]
    );
    assert_eq!(test_store.found("a", json!({"query": "kept"}), None), ["Kept for good"]);
}

#[test]
fn confidence_decays_and_a_repeated_store_raises_the_decayed_value() {
    let mut test_store = TestStore::new();
    let event = json!({"content": "A meeting was held", "type": "episodic"});
    let stored = test_store.store("a", event.clone(), None);
    test_store.now = T0.plus(70 * DAY);
    let decayed = test_store.recall("a", json!({"ids": [id(&stored)]}), None).reply.results[0]
        .confidence
        .expect("the reply has a confidence")
        .get();
    assert!((decayed - 0.95_f64.powi(10)).abs() < 1e-9);
    test_store.store("a", event, None);
    let raised = test_store.recall("a", json!({"ids": [id(&stored)]}), None).reply.results[0]
        .confidence
        .expect("the reply has a confidence")
        .get();
    assert!((raised - (decayed + 0.1)).abs() < 1e-9);
}

#[test]
fn a_full_disk_refuses_stores_without_loss_until_there_is_space() {
    let mut test_store = TestStore::new();
    let long = |n: usize| fact(&format!("{n} {}", "of some length ".repeat(500)));
    test_store.store("a", long(0), None);
    let pages = |test_store: &TestStore| {
        test_store
            .writer
            .conn
            .pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))
            .expect("the pragma is readable")
    };
    let page_count = pages(&test_store);
    test_store
        .writer
        .conn
        .pragma_update(None, "max_page_count", page_count)
        .expect("the pragma is set");
    for n in 1..4 {
        let refused =
            Failure::from(test_store.try_store("a", long(n), None).expect_err("the disk is full"));
        assert_eq!(refused.code, Code::StorageFailed);
        assert!(
            refused.to_string().contains("the disk is full; nothing was stored. Free some space"),
            "{refused}"
        );
    }
    assert_eq!(
        test_store.recall("a", json!({"query": "length"}), None).reply.total_matched,
        1,
        "no refused memory is stored in part"
    );
    test_store
        .writer
        .conn
        .pragma_update(None, "max_page_count", 2 * page_count + 100)
        .expect("the pragma is set");
    test_store.store("a", long(1), None);
    assert_eq!(test_store.recall("a", json!({"query": "length"}), None).reply.total_matched, 2);
}
