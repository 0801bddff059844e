//! Candidates change nothing until a person confirms them; rejected attempts are shown with their
//! reason; an error message finds what mended it.

use crate::model::encoding::TextEncodings;
use crate::tests::fixture::{TestStore, axis};
use loci_proto::error::Failure;
use loci_proto::memory::{MemoryId, Origin};
use loci_proto::requests::confirm::ConfirmRequest;
use loci_proto::requests::import::ImportRequest;
use serde_json::{Value, json};
use std::io::Cursor;

const ID: &str = "01953a2b-7c1e-4000-8000-0123456789ab";

/// Imports a candidate of the project `a`.
fn import(test_store: &mut TestStore, content: &str, metadata: &Value) {
    let at = test_store.now.0 - 1000;
    let lines = [
        json!({"loci": "export", "version": 1}),
        json!({"kind": "group", "id": "a", "name": "a", "created_at": at}),
        json!({"kind": "memory", "id": ID, "type": "procedural", "scope": "group", "group": "a", "status": "candidate", "status_at": at,
            "confidence": 1.0, "confidence_at": at, "created_at": at, "updated_at": at, "metadata": metadata, "content": content}),
        json!({"kind": "end", "lines": 3}),
    ];
    let file = lines.map(|line| line.to_string()).join("\n");
    let call = test_store.call("a", None);
    let request = ImportRequest::default();
    test_store.writer.import(&call, &request, &mut Cursor::new(file)).expect("the import succeeds");
}

fn confirm(test_store: &mut TestStore, origin: Origin) -> Result<usize, String> {
    let mut call = test_store.call("a", None);
    call.actor.origin = origin;
    let id: MemoryId = ID.parse().expect("the id is valid");
    let request = ConfirmRequest { memory_id: Some(id), ..ConfirmRequest::default() };
    let confirmed = test_store.writer.confirm(&call, &request);
    confirmed.map(|reply| reply.confirmed).map_err(|error| error.to_string())
}

fn statuses(test_store: &TestStore, query: Value) -> Vec<(String, Option<String>)> {
    let reply = test_store.recall("a", query, None).reply;
    reply
        .results
        .into_iter()
        .map(|result| (result.content.unwrap_or_default(), result.status))
        .collect()
}

#[test]
fn a_candidate_comes_below_every_confirmed_memory_and_is_marked() {
    let mut test_store = TestStore::new();
    import(&mut test_store, "The kettle whistles when the kettle boils", &json!({}));
    for text in ["The kettle is red", "Tea needs the old kettle"] {
        test_store.store("a", json!({"content": text, "type": "semantic"}), None);
    }
    let found = statuses(&test_store, json!({"query": "kettle whistles boils"}));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[..2].iter().all(|(_, status)| status.is_none()), "{found:?}");
    assert_eq!(found[2].1.as_deref(), Some("candidate"));
    let asked = statuses(&test_store, json!({"query": "kettle", "status": "candidate"}));
    assert_eq!(asked.len(), 1, "{asked:?}");
    let accessed = test_store.recall("a", json!({"query": "kettle"}), None).accessed;
    assert_eq!(accessed.len(), 2, "a candidate is not used");
}

#[test]
fn a_candidate_changes_no_score_and_is_no_reason_to_merge() {
    let mut test_store = TestStore::new();
    let text = json!({"content": "The kettle is red", "type": "procedural"});
    test_store.store("a", text.clone(), Some(&axis(1)));
    let scores = |test_store: &TestStore| {
        let reply = test_store.recall("a", json!({"query": "red kettle"}), Some(&axis(1))).reply;
        reply.results.iter().map(|result| (result.id.clone(), result.score)).collect::<Vec<_>>()
    };
    let before = scores(&test_store);
    import(&mut test_store, "A kettle is a kettle is a kettle", &json!({}));
    assert_eq!(scores(&test_store)[..1], before[..1]);
    let same = json!({"content": "A kettle is a kettle is a kettle", "type": "procedural"});
    let stored = test_store.store("a", same, Some(&axis(2)));
    assert!(!stored.deduplicated && stored.id.as_str() != ID, "{stored:?}");
    let stats = test_store.reader.stats(
        &loci_proto::requests::stats::StatsRequest::default(),
        &crate::tests::fixture::named("a"),
        test_store.now,
    );
    let stats = stats.expect("the memories are counted");
    assert_eq!((stats.active_memories, stats.candidates), (2, 1));
}

#[test]
fn only_a_person_accepts_a_candidate_and_it_can_be_undone() {
    let mut test_store = TestStore::new();
    import(&mut test_store, "The kettle whistles", &json!({}));
    assert!(confirm(&mut test_store, Origin::Agent).is_err());
    let restore = json!({"memory_id": ID});
    let request = serde_json::from_value(restore).expect("the request is valid");
    let call = test_store.call("a", None);
    let refused = test_store.writer.restore(&call, &request).map_err(|error| error.to_string());
    assert!(refused.is_err_and(|error| error.contains("candidate")));
    test_store.forget("a", json!({"memory_id": ID})).expect("it is forgotten");
    let restored = test_store.writer.restore(&call, &request).expect("it is restored");
    assert_eq!(restored.status, "candidate", "restoring it confirms nothing");
    assert_eq!(confirm(&mut test_store, Origin::Person), Ok(1));
    let found = statuses(&test_store, json!({"query": "kettle"}));
    assert_eq!(found, [("The kettle whistles".to_owned(), None)]);
    test_store.origin = Origin::Person;
    test_store.undo_last().expect("it is undone");
    let found = statuses(&test_store, json!({"query": "kettle"}));
    assert_eq!(found[0].1.as_deref(), Some("candidate"));
}

#[test]
fn a_second_import_changes_nothing_and_a_forgotten_candidate_stays_forgotten() {
    let mut test_store = TestStore::new();
    import(&mut test_store, "The kettle whistles", &json!({}));
    let before = test_store.dump();
    import(&mut test_store, "The kettle whistles", &json!({}));
    assert_eq!(test_store.dump(), before);
    test_store.forget("a", json!({"memory_id": ID})).expect("it is forgotten");
    import(&mut test_store, "The kettle whistles", &json!({}));
    assert_eq!(statuses(&test_store, json!({"query": "kettle"})), []);
}

#[test]
fn a_rejected_attempt_is_shown_with_its_reason_and_beside_what_it_is_about() {
    let mut test_store = TestStore::new();
    let attempt = json!({"content": "Cache prices in Redis", "type": "procedural"});
    let attempt = test_store.store("a", attempt, Some(&axis(1))).id;
    let current = json!({"content": "Prices come from SQLite", "type": "procedural"});
    test_store.store("a", current, Some(&crate::tests::fixture::between_axes(1, 2, 0.8)));
    let missing = test_store.forget("a", json!({"memory_id": attempt, "rejected": true}));
    assert!(missing.is_err_and(|error| error.to_string().contains("reason")));
    let why = json!({"memory_id": attempt, "rejected": true, "reason": "stale prices at night"});
    let reply = test_store.forget("a", why).expect("it is rejected");
    assert_eq!(reply.status, "rejected");
    let reply = test_store.recall("a", json!({"query": "Redis prices"}), None).reply;
    let rejected = reply.results.iter().find(|result| result.id == attempt);
    let rejected = rejected.expect("it is found");
    assert_eq!(rejected.status.as_deref(), Some("rejected"));
    assert_eq!(rejected.rejected.as_deref(), Some("stale prices at night"));
    let reply = test_store.recall("a", json!({"query": "SQLite", "max_results": 1}), None).reply;
    let tried = &reply.results[0].tried;
    assert_eq!((tried.len(), tried[0].why.as_str()), (1, "stale prices at night"));
    test_store.undo_last().expect("it is undone");
    let reply = test_store.recall("a", json!({"query": "Redis"}), None).reply;
    assert_eq!(reply.results[0].status, None);
}

#[test]
fn an_error_message_finds_what_mended_the_same_error_and_no_other_query_does() {
    let mut test_store = TestStore::new();
    let fix = json!({"content": "Install the lock file again", "type": "procedural",
        "metadata": {"error": "src/a.ts:12:3 - error TS2345: Argument of type 'string' is not assignable"}});
    let fix = test_store.store("a", fix, None).id;
    for number in 0..6 {
        let text = format!("Argument {number} of type string is not assignable, error");
        test_store.store("a", json!({"content": text, "type": "semantic"}), None);
    }
    let recall = |query: &str| {
        let reply = test_store.recall("a", json!({"query": query, "max_results": 3}), None).reply;
        reply.results.into_iter().map(|result| (result.id, result.matched)).collect::<Vec<_>>()
    };
    let found = recall("lib/b.ts:7:30 - error TS2345: Argument of type 'string' is not assignable");
    assert_eq!(found[0], (fix.clone(), Some("error".to_owned())));
    assert_eq!(found.len(), 3);
    let question = recall("Which argument of type string is not assignable?");
    assert!(question.iter().all(|(id, matched)| *id != fix && matched.is_none()), "{question:?}");
}

#[test]
fn a_candidate_that_was_rejected_stays_one_when_it_is_restored() {
    let mut test_store = TestStore::new();
    import(&mut test_store, "The kettle whistles", &json!({}));
    test_store.origin = Origin::Person;
    let why = json!({"memory_id": ID, "rejected": true, "reason": "it does not"});
    test_store.forget("a", why).expect("a person rejects it");
    let found = test_store.recall("a", json!({"query": "kettle"}), None).reply;
    assert_eq!(found.results[0].rejected.as_deref(), Some("it does not"));
    test_store.origin = Origin::Agent;
    let again = json!({"memory_id": ID, "rejected": true, "reason": "really not"});
    test_store.forget("a", again).expect("an agent changes the reason");
    let restore = |test_store: &mut TestStore| {
        let request = serde_json::from_value(json!({"memory_id": ID})).expect("it is valid");
        let call = test_store.call("a", None);
        test_store.writer.restore(&call, &request).expect("it is restored").status
    };
    assert_eq!(restore(&mut test_store), "candidate");
    test_store.undo_last().expect("it is rejected again");
    test_store.forget("a", json!({"memory_id": ID})).expect("an agent forgets it");
    assert_eq!(restore(&mut test_store), "candidate");
}

#[test]
fn an_agent_changes_no_candidate_before_a_person_has_read_it() {
    let mut test_store = TestStore::new();
    import(&mut test_store, "The kettle whistles", &json!({"history": {"line": 1}}));
    let call = test_store.call("a", None);
    let edits = [json!({"content": "The kettle obeys"}), json!({"metadata": {}})];
    for mut edit in edits {
        edit["memory_id"] = json!(ID);
        let request = serde_json::from_value(edit).expect("the request is valid");
        let refused = test_store.writer.edit(&call, &request, &TextEncodings::default());
        let hint = refused.err().map(|error| Failure::from(error).hint).expect("it is refused");
        assert_eq!(
            hint.as_deref(),
            Some("A person can accept or edit it with loci review --candidates")
        );
    }
    test_store.now = test_store.now.plus(5000);
    import(&mut test_store, "The kettle obeys", &json!({}));
    let found = statuses(&test_store, json!({"query": "kettle"}));
    let kept = ("The kettle whistles".to_owned(), Some("candidate".to_owned()));
    assert_eq!(found, [kept], "an agent's import does not change it either");
    let pin = serde_json::from_value(json!({"memory_id": ID, "pinned": true})).expect("valid");
    assert!(test_store.writer.pin(&call, &pin).is_err());
    let mut person = call;
    person.actor.origin = Origin::Person;
    let request = json!({"memory_id": ID, "content": "The kettle sings"});
    let request = serde_json::from_value(request).expect("the request is valid");
    test_store.writer.edit(&person, &request, &TextEncodings::default()).expect("a person may");
}

#[test]
fn of_one_error_fixes_come_first_then_attempts_then_at_most_one_candidate() {
    let mut test_store = TestStore::new();
    let error = json!({"error": "error TS2345: Argument of type 'string' is not assignable"});
    let procedure =
        |content: &str| json!({"content": content, "type": "procedural", "metadata": error});
    let fix = test_store.store("a", procedure("Install the lock file again"), None).id;
    test_store.now = test_store.now.plus(1000);
    let attempt = test_store.store("a", procedure("Turn the strict mode off"), None).id;
    let why = json!({"memory_id": attempt, "rejected": true, "reason": "it hid bugs"});
    test_store.forget("a", why).expect("it is rejected");
    test_store.now = test_store.now.plus(1000);
    import(&mut test_store, "Cast the argument to any", &error);
    let recall = |max: usize| -> Vec<String> {
        let query = "lib/b.ts:7:30 - error TS2345: Argument of type 'string' is not assignable";
        let reply = test_store.recall("a", json!({"query": query, "max_results": max}), None).reply;
        reply.results.into_iter().map(|result| result.id.to_string()).collect()
    };
    let all = [fix.to_string(), attempt.to_string(), ID.to_owned()];
    assert_eq!(recall(1), all[..1]);
    assert_eq!(recall(2), all[..2]);
    assert_eq!(recall(5), all);
}
