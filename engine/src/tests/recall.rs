//! Recall as a caller sees it: matches, visibility, and the content of the reply.
//!
//! Not here: exact scores (`search`).

use crate::handles::settings::Settings;
use crate::model::encoding::DocumentEncoding;
use crate::model::time::{DAY, HOUR};
use crate::model::withheld::Withheld;
use crate::ranking::fusion::Fusion;
use crate::tests::fixture::{
    T0, TestStore, axis, between_axes, by_test_model, document_encoding, id, query_encoding,
};
use crate::transaction::access::{Accesses, Boosting};
use loci_proto::requests::recall::RecalledMemory;
use serde_json::{Value, json};
use std::collections::HashMap;

fn note(content: &str) -> Value {
    json!({"content": content, "type": "episodic"})
}

#[test]
fn a_memory_is_found_by_its_vector_or_by_its_keywords() {
    let mut test_store = TestStore::new();
    test_store.store("a", note("The kettle is in the kitchen"), Some(&axis(0)));
    test_store.store("a", note("Invoices are paid on Mondays"), Some(&axis(1)));
    assert_eq!(
        test_store.found("a", json!({"query": "tea"}), Some(&between_axes(0, 2, 0.6))),
        ["The kettle is in the kitchen"]
    );
    assert_eq!(
        test_store.found("a", json!({"query": "paying invoices"}), Some(&axis(5))),
        ["Invoices are paid on Mondays"]
    );
}

#[test]
fn a_small_project_next_to_a_large_one_is_not_starved() {
    let mut test_store = TestStore::new();
    for i in 0..200 {
        test_store.store(
            "large",
            note(&format!("The deployment number {i} went well")),
            Some(&between_axes(0, 1 + i % 300, 0.99)),
        );
    }
    test_store.store(
        "small",
        note("The deployment of the small one failed"),
        Some(&between_axes(0, 300, 0.5)),
    );
    let found = test_store.found("small", json!({"query": "deployment"}), Some(&axis(0)));
    assert_eq!(found, ["The deployment of the small one failed"]);
}

#[test]
fn a_project_sees_its_own_and_the_global_memories() {
    let mut test_store = TestStore::new();
    test_store.store("a", note("plan of a"), None);
    test_store.store("b", note("plan of b"), None);
    test_store.store("b", json!({"content": "plan of all", "type": "semantic"}), None);
    let mut seen = test_store.found("a", json!({"query": "plan"}), None);
    seen.sort();
    assert_eq!(seen, ["plan of a", "plan of all"]);
    assert_eq!(
        test_store.found("a", json!({"query": "plan", "scope": "group"}), None),
        ["plan of a"]
    );
    assert_eq!(
        test_store.found("a", json!({"query": "plan", "type": "semantic"}), None),
        ["plan of all"]
    );
    assert_eq!(
        test_store.found("a", json!({"query": "plan", "group": "b", "scope": "group"}), None),
        ["plan of b"]
    );
}

#[test]
fn memories_below_a_given_min_confidence_are_not_found() {
    let mut test_store = TestStore::new();
    test_store.store(
        "a",
        json!({"content": "a faint memory", "type": "episodic", "confidence": 0.12}),
        None,
    );
    assert_eq!(test_store.found("a", json!({"query": "memory"}), None).len(), 1);
    test_store.now = T0.plus(60 * DAY);
    let found = |min_confidence: f64| {
        let request = json!({"query": "memory", "min_confidence": min_confidence});
        test_store.found("a", request, None).len()
    };
    assert_eq!((found(0.1), found(0.0)), (0, 1));
}

#[test]
fn faded_memories_come_last_and_are_marked() {
    let mut test_store = TestStore::new();
    let episode = |content: &str| json!({"content": content, "type": "episodic"});
    test_store.store("a", episode("The pelican contract was signed in Ghent"), None);
    test_store.store("a", episode("The pelican contract was printed"), None);
    test_store.now = T0.plus(46 * 7 * DAY);
    test_store.store("a", episode("A pelican sat on the roof"), None);
    let faded = |request: Value| {
        let results = test_store.recall("a", request, None).reply.results;
        let text = |result: &RecalledMemory| result.content.clone().or(result.preview.clone());
        results.iter().map(|result| (text(result), result.faded)).collect::<Vec<_>>()
    };
    let query = "Where was the pelican contract signed?";
    let expected = [
        ("A pelican sat on the roof", false),
        ("The pelican contract was signed in Ghent", true),
        ("The pelican contract was printed", true),
    ]
    .map(|(text, is_faded)| (Some(text.to_owned()), is_faded));
    assert_eq!(faded(json!({"query": query})), expected);
    assert_eq!(faded(json!({"query": query, "summary_only": true})), expected);
    let by_score = faded(json!({"query": query, "min_confidence": 0}));
    assert_eq!(by_score[0], expected[1], "a caller who sets a minimum gets the order of scores");
    assert_eq!(faded(json!({"query": query, "min_confidence": 0.1})), expected[..1]);
    let best = faded(json!({"query": query, "max_results": 1}));
    assert_eq!(best, expected[1..2], "a faded memory is among the results if its score is");
}

#[test]
fn a_recall_by_id_keeps_the_order_and_lists_missing_ids() {
    let mut test_store = TestStore::new();
    let one = test_store.store("a", note("one"), None);
    let two = test_store.store("a", note("two"), None);
    let foreign = test_store.store("b", note("three"), None);
    let unknown = "01953a2b-7c1e-7000-8000-0123456789ab";
    let request =
        json!({"ids": [id(&two), unknown, id(&one), id(&two), id(&foreign)], "query": "ignored"});
    let answer = test_store.recall("a", request, None);
    let contents: Vec<_> =
        answer.reply.results.iter().filter_map(|r| r.content.as_deref()).collect();
    assert_eq!(contents, ["two", "one"]);
    assert_eq!(
        answer.reply.missing.iter().map(loci_proto::memory::MemoryId::as_str).collect::<Vec<_>>(),
        [unknown, foreign.id.as_str()]
    );
    assert!(answer.reply.note.expect("the reply has a note").contains("query was ignored"));
    assert_eq!(answer.accessed.len(), 2);
}

#[test]
fn previews_are_short_and_count_as_no_access() {
    let mut test_store = TestStore::new();
    test_store.store("a", note(&format!("A long note {}", "x".repeat(500))), None);
    let answer = test_store.recall("a", json!({"query": "note", "summary_only": true}), None);
    assert_eq!(answer.reply.results[0].preview.as_ref().map(|p| p.chars().count()), Some(80));
    assert!(answer.reply.results[0].content.is_none() && answer.accessed.is_empty());
}

#[test]
fn any_query_is_answered() {
    let mut test_store = TestStore::new();
    test_store.store("a", note("C++ and user's foo-bar at C:\\path (AND, OR, NOT)"), None);
    for query in [
        "C++", "foo-bar", "user's", "\"", "AND", "NEAR(", "*", "col:x", "🦀", "記憶", "x\u{0}y",
        "((((", "^x",
    ] {
        test_store.recall("a", json!({"query": query}), None);
    }
    assert_eq!(test_store.found("a", json!({"query": "foo-bar"}), None).len(), 1);
}

#[test]
fn any_word_of_a_query_finds_and_a_rare_word_ranks_best() {
    let mut test_store = TestStore::new();
    for text in [
        "The user works from home on Mondays",
        "The user drinks tea",
        "The user keeps bees in Lublin",
    ] {
        test_store.store("a", note(text), None);
    }
    let found = test_store.found(
        "a",
        json!({"query": "Does the user still have those bees somewhere?"}),
        None,
    );
    assert_eq!(
        found.first().map(String::as_str),
        Some("The user keeps bees in Lublin"),
        "no text has all words of the query"
    );
}

#[test]
fn a_request_without_query_and_ids_is_rejected() {
    for arguments in [json!({}), json!({"query": "  "}), json!({"ids": []})] {
        let request = crate::tests::fixture::parse(arguments);
        let refusal = crate::operations::recall::prepare(request, crate::tests::fixture::T0)
            .expect_err("the request is refused")
            .to_string();
        assert!(refusal.starts_with("invalid: query is missing"), "{refusal}");
    }
}

#[test]
fn an_access_raises_confidence_once_an_hour_and_is_counted_each_time() {
    let mut test_store = TestStore::new();
    let stored = test_store.store(
        "a",
        json!({"content": "used often", "type": "semantic", "confidence": 0.5}),
        None,
    );
    let confidence = |test_store: &TestStore| {
        test_store.recall("a", json!({"ids": [id(&stored)]}), None).reply.results[0]
            .confidence
            .expect("the reply has a confidence")
            .get()
    };
    let seq = test_store.recall("a", json!({"ids": [id(&stored)]}), None).accessed[0];
    for _ in 0..3 {
        test_store
            .writer
            .touch(&HashMap::from([(seq, Accesses::boosting(1))]), T0, Boosting::On)
            .expect("the access is counted");
    }
    assert!((confidence(&test_store) - 0.55).abs() < 1e-9);
    test_store.now = T0.plus(HOUR);
    test_store
        .writer
        .touch(&HashMap::from([(seq, Accesses::boosting(2))]), test_store.now, Boosting::On)
        .expect("the access is counted");
    assert!((confidence(&test_store) - 0.60).abs() < 1e-4);
}

#[test]
fn a_memory_stored_without_a_model_gets_its_vector_later() {
    let mut test_store = TestStore::new();
    test_store.store("a", note("kept without a vector"), None);
    assert_eq!(
        test_store
            .reader
            .stats(&crate::tests::fixture::parse(json!({})), &crate::tests::fixture::named("a"), T0)
            .expect("the statistics are counted")
            .without_vector,
        1
    );
    let waiting = test_store.reader.without_vector(10).expect("the memories are listed");
    assert!(
        test_store
            .reader
            .without_vector_after(waiting[0].0, 10, &Withheld::default())
            .expect("the memories are listed")
            .is_empty(),
        "no other memory waits for a vector"
    );
    let encoding = DocumentEncoding { vectors: vec![axis(4)], words: Some(Vec::new()) };
    test_store.fill(waiting[0].0, encoding);
    assert!(test_store.reader.without_vector(10).expect("the memories are listed").is_empty());
    assert_eq!(
        test_store.found("a", json!({"query": "zzz"}), Some(&axis(4))),
        ["kept without a vector"]
    );
}

#[test]
fn a_long_text_is_found_by_its_best_chunk() {
    let mut test_store = TestStore::new();
    let draft = crate::operations::store::Draft::new(
        crate::tests::fixture::parse(note("a long text of two chunks")),
        test_store.now,
    )
    .expect("the request is valid");
    test_store
        .writer
        .store(&test_store.call("a", None), &draft, &by_test_model(vec![axis(10), axis(11)].into()))
        .expect("the memory is stored");
    let test_store = test_store.reopened();
    let answer = test_store.recall("a", json!({"query": "zzz"}), Some(&axis(11)));
    assert!((answer.reply.results[0].score.expect("the result has a score") - 0.5).abs() < 1e-4);
}

#[test]
fn stats_count_active_and_superseded() {
    let mut test_store = TestStore::new();
    let old = test_store.store("a", json!({"content": "one", "type": "semantic"}), None);
    test_store.store(
        "b",
        json!({"content": "two", "type": "semantic", "supersedes": id(&old)}),
        None,
    );
    test_store.store("b", note("three"), None);
    let all = test_store
        .reader
        .stats(&crate::tests::fixture::parse(json!({})), &crate::tests::fixture::named("a"), T0)
        .expect("the statistics are counted");
    assert_eq!((all.total_memories, all.active_memories, all.superseded_memories), (3, 2, 1));
    assert_eq!(
        (all.by_type["semantic"], all.by_type["episodic"], all.by_type["entity"]),
        (1, 1, 0)
    );
    let of_a = test_store
        .reader
        .stats(
            &crate::tests::fixture::parse(json!({"group": "a"})),
            &crate::tests::fixture::named("a"),
            T0,
        )
        .expect("the statistics are counted");
    assert_eq!((of_a.total_memories, of_a.active_memories), (1, 0));
}

#[test]
fn a_newer_value_comes_first_where_results_are_judged() {
    let first = |fusion| {
        let mut test_store = TestStore::with(Settings { fusion, ..Settings::for_model("test") });
        let mut store = |content: &str| {
            let encoding = document_encoding(content, axis(0));
            let fact = json!({"content": content, "type": "semantic"});
            test_store.store_encoded("a", fact, &encoding);
        };
        store("the portal is built with JDK 17");
        store("the portal is built with JDK 21 and with Gradle");
        let encoding = query_encoding("portal JDK", axis(0));
        let arguments = json!({"query": "portal JDK"});
        let reply = test_store.recall_encoded("a", arguments, Some(&encoding)).reply;
        let is_marked = reply.results[1].older_version_of.as_ref() == Some(&reply.results[0].id);
        (reply.results[0].content.clone(), is_marked)
    };
    let newer = Some("the portal is built with JDK 21 and with Gradle".to_owned());
    assert_eq!(first(Fusion::Soft), (newer, true));
    assert!(!first(Fusion::Rrf { k: 60.0 }).1);
}

#[test]
fn the_fusion_is_a_setting() {
    let order = |fusion| {
        let mut test_store = TestStore::with(Settings { fusion, ..Settings::for_model("test") });
        test_store.store(
            "a",
            note("alpha beta gamma delta epsilon zeta eta theta"),
            Some(&between_axes(0, 1, 0.9)),
        );
        test_store.store("a", note("alpha"), Some(&between_axes(0, 2, 0.6)));
        test_store.store("a", note("nothing of it"), Some(&between_axes(0, 3, 0.95)));
        test_store.store("a", note("little of it"), Some(&between_axes(0, 4, 0.7)));
        test_store.found("a", json!({"query": "alpha"}), Some(&axis(0)))
    };
    assert_eq!(order(Fusion::Weighted { vector_weight: 1.0 })[0], "nothing of it");
    assert_eq!(order(Fusion::Weighted { vector_weight: 0.0 })[0], "alpha");
    assert_eq!(order(Fusion::Rrf { k: 60.0 })[0], "alpha beta gamma delta epsilon zeta eta theta");
}

#[test]
fn a_query_does_not_name_the_group_of_what_is_stored_outside_projects() {
    let mut test_store = TestStore::new();
    for (group, text) in [("a", "The default port is 80"), ("default", "The default port is 90")] {
        test_store.store(group, json!({"content": text, "type": "semantic"}), None);
    }
    let found = test_store.found("a", json!({"query": "what is the default port"}), None);
    assert_eq!(found[0], "The default port is 80");
}

/// Stores log lines of one pattern, in this order, and returns their texts.
fn store_scrubs(test_store: &mut TestStore) -> [&'static str; 4] {
    let lines = [
        "[2026-11-01] scrub of the tank pool took 41 min and found 0 errors",
        "[2026-11-08] scrub of the tank pool took 40 min and found 0 errors",
        "[2026-11-15] scrub of the tank pool took 52 min and found 2 errors",
        "[2026-10-25] scrub of the tank pool took 42 min and found 0 errors",
    ];
    for line in lines {
        test_store.store("a", json!({"content": line, "type": "episodic"}), None);
    }
    lines
}

#[test]
fn a_page_shows_the_newest_of_repeated_log_lines() {
    let mut test_store = TestStore::new();
    let lines = store_scrubs(&mut test_store);
    let found = test_store.found("a", json!({"query": "scrub found errors"}), None);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&lines[2].to_owned()), "the newest by its day: {found:?}");
}

#[test]
fn the_latest_of_repeated_log_lines_comes_first_if_the_query_asks_for_it() {
    let mut test_store = TestStore::new();
    let lines = store_scrubs(&mut test_store);
    for query in ["how long did the last scrub take", "latest scrub of the tank pool"] {
        let found = test_store.found("a", json!({"query": query}), None);
        assert_eq!(found[0], lines[2], "{query}: {found:?}");
    }
}
