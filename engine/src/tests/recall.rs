//! The read path as a caller sees it.

use crate::Settings;
use crate::model::encoding::DocumentEncoding;
use crate::model::time::{DAY, HOUR};
use crate::ranking::fusion::Fusion;
use crate::tests::fixture::{House, T0, axis, id, leaning};
use crate::transaction::access::Boosting;
use serde_json::{Value, json};
use std::collections::HashMap;

fn note(content: &str) -> Value {
    json!({"content": content, "type": "episodic"})
}

#[test]
fn meaning_and_words_both_find() {
    let mut house = House::new();
    house.store("a", note("The kettle is in the kitchen"), Some(&axis(0)));
    house.store("a", note("Invoices are paid on Mondays"), Some(&axis(1)));
    assert_eq!(
        house.found("a", json!({"query": "tea"}), Some(&leaning(0, 2, 0.6))),
        ["The kettle is in the kitchen"]
    );
    assert_eq!(
        house.found("a", json!({"query": "paying invoices"}), Some(&axis(5))),
        ["Invoices are paid on Mondays"]
    );
}

#[test]
fn a_small_group_beside_a_large_one_is_not_starved() {
    let mut house = House::new();
    for i in 0..200 {
        house.store(
            "large",
            note(&format!("The deployment number {i} went well")),
            Some(&leaning(0, 1 + i % 300, 0.99)),
        );
    }
    house.store(
        "small",
        note("The deployment of the small one failed"),
        Some(&leaning(0, 300, 0.5)),
    );
    let found = house.found("small", json!({"query": "deployment"}), Some(&axis(0)));
    assert_eq!(found, ["The deployment of the small one failed"]);
}

#[test]
fn a_project_sees_its_own_and_the_global_ones() {
    let mut house = House::new();
    house.store("a", note("plan of a"), None);
    house.store("b", note("plan of b"), None);
    house.store("b", json!({"content": "plan of all", "type": "semantic"}), None);
    let mut seen = house.found("a", json!({"query": "plan"}), None);
    seen.sort();
    assert_eq!(seen, ["plan of a", "plan of all"]);
    assert_eq!(house.found("a", json!({"query": "plan", "scope": "group"}), None), ["plan of a"]);
    assert_eq!(
        house.found("a", json!({"query": "plan", "type": "semantic"}), None),
        ["plan of all"]
    );
    assert_eq!(
        house.found("a", json!({"query": "plan", "group": "b", "scope": "group"}), None),
        ["plan of b"]
    );
}

#[test]
fn faded_memories_are_out_below_min_confidence() {
    let mut house = House::new();
    house.store(
        "a",
        json!({"content": "a faint memory", "type": "episodic", "confidence": 0.12}),
        None,
    );
    assert_eq!(house.found("a", json!({"query": "memory"}), None).len(), 1);
    house.now = T0.plus(60 * DAY);
    assert!(house.found("a", json!({"query": "memory"}), None).is_empty());
    assert_eq!(house.found("a", json!({"query": "memory", "min_confidence": 0}), None).len(), 1);
}

#[test]
fn hydration_keeps_the_order_and_names_what_is_missing() {
    let mut house = House::new();
    let one = house.store("a", note("one"), None);
    let two = house.store("a", note("two"), None);
    let foreign = house.store("b", note("three"), None);
    let unknown = "01953a2b-7c1e-7000-8000-0123456789ab";
    let asked =
        json!({"ids": [id(&two), unknown, id(&one), id(&two), id(&foreign)], "query": "ignored"});
    let answer = house.recall("a", asked, None);
    let contents: Vec<_> =
        answer.reply.results.iter().filter_map(|r| r.content.as_deref()).collect();
    assert_eq!(contents, ["two", "one"]);
    assert_eq!(
        answer.reply.missing.iter().map(loci_proto::memory::MemoryId::as_str).collect::<Vec<_>>(),
        [unknown, foreign.id.as_str()]
    );
    assert!(answer.reply.note.expect("says so").contains("query was ignored"));
    assert_eq!(answer.given.len(), 2);
}

#[test]
fn previews_are_short_and_count_as_no_access() {
    let mut house = House::new();
    house.store("a", note(&format!("A long note {}", "x".repeat(500))), None);
    let answer = house.recall("a", json!({"query": "note", "summary_only": true}), None);
    assert_eq!(answer.reply.results[0].preview.as_ref().map(|p| p.chars().count()), Some(80));
    assert!(answer.reply.results[0].content.is_none() && answer.given.is_empty());
}

#[test]
fn any_query_is_answered() {
    let mut house = House::new();
    house.store("a", note("C++ and user's foo-bar at C:\\path (AND, OR, NOT)"), None);
    for query in [
        "C++", "foo-bar", "user's", "\"", "AND", "NEAR(", "*", "col:x", "🦀", "記憶", "x\u{0}y",
        "((((", "^x",
    ] {
        house.recall("a", json!({"query": query}), None);
    }
    assert_eq!(house.found("a", json!({"query": "foo-bar"}), None).len(), 1);
}

#[test]
fn a_question_finds_by_any_of_its_words_and_best_by_the_rare_one() {
    let mut house = House::new();
    for text in [
        "The user works from home on Mondays",
        "The user drinks tea",
        "The user keeps bees in Lublin",
    ] {
        house.store("a", note(text), None);
    }
    let found =
        house.found("a", json!({"query": "Does the user still have those bees somewhere?"}), None);
    assert_eq!(
        found.first().map(String::as_str),
        Some("The user keeps bees in Lublin"),
        "B3: no text has all the words"
    );
}

#[test]
fn neither_query_nor_ids_is_refused() {
    let house = House::new();
    for nothing in [json!({}), json!({"query": "  "}), json!({"ids": []})] {
        let request = crate::tests::fixture::parse(nothing);
        let said = crate::operations::recall::prepare(request).expect_err("is refused").to_string();
        assert!(said.starts_with("invalid: query is missing"), "{said}");
    }
    drop(house);
}

#[test]
fn an_access_raises_confidence_once_an_hour_and_is_counted_each_time() {
    let mut house = House::new();
    let stored = house.store(
        "a",
        json!({"content": "used often", "type": "semantic", "confidence": 0.5}),
        None,
    );
    let confidence = |house: &House| {
        house.recall("a", json!({"ids": [id(&stored)]}), None).reply.results[0]
            .confidence
            .expect("is full")
            .get()
    };
    let seq = house.recall("a", json!({"ids": [id(&stored)]}), None).given[0];
    for _ in 0..3 {
        house.writer.touch(&HashMap::from([(seq, 1)]), T0, Boosting::On).expect("is counted");
    }
    assert!((confidence(&house) - 0.55).abs() < 1e-9);
    house.now = T0.plus(HOUR);
    house.writer.touch(&HashMap::from([(seq, 2)]), house.now, Boosting::On).expect("is counted");
    assert!((confidence(&house) - 0.60).abs() < 1e-4);
}

#[test]
fn a_memory_stored_without_a_model_gets_its_vector_later() {
    let mut house = House::new();
    house.store("a", note("kept without a vector"), None);
    assert_eq!(
        house
            .reader
            .stats(&crate::tests::fixture::parse(json!({})), &crate::tests::fixture::named("a"), T0)
            .expect("counts")
            .without_vector,
        1
    );
    let waiting = house.reader.without_vector(10).expect("lists");
    assert!(
        house.reader.without_vector_after(waiting[0].0, 10).expect("lists").is_empty(),
        "none is behind it"
    );
    house
        .writer
        .fill(waiting[0].0, &DocumentEncoding { pieces: vec![axis(4)], words: Some(Vec::new()) })
        .expect("is filled");
    assert!(house.reader.without_vector(10).expect("lists").is_empty());
    assert_eq!(
        house.found("a", json!({"query": "zzz"}), Some(&axis(4))),
        ["kept without a vector"]
    );
}

#[test]
fn a_long_text_is_found_by_its_best_piece() {
    let mut house = House::new();
    let draft = crate::operations::store::Draft::new(crate::tests::fixture::parse(note(
        "a long text of two pieces",
    )))
    .expect("is fine");
    house
        .writer
        .store(&house.call("a", None), &draft, &DocumentEncoding::from(vec![axis(10), axis(11)]))
        .expect("is stored");
    let house = house.reopened();
    let answer = house.recall("a", json!({"query": "zzz"}), Some(&axis(11)));
    assert!((answer.reply.results[0].score.expect("is ranked") - 0.5).abs() < 1e-4);
}

#[test]
fn stats_count_active_and_superseded() {
    let mut house = House::new();
    let old = house.store("a", json!({"content": "one", "type": "semantic"}), None);
    house.store("b", json!({"content": "two", "type": "semantic", "supersedes": id(&old)}), None);
    house.store("b", note("three"), None);
    let all = house
        .reader
        .stats(&crate::tests::fixture::parse(json!({})), &crate::tests::fixture::named("a"), T0)
        .expect("counts");
    assert_eq!((all.total_memories, all.active_memories, all.superseded_memories), (3, 2, 1));
    assert_eq!(
        (all.by_type["semantic"], all.by_type["episodic"], all.by_type["entity"]),
        (1, 1, 0)
    );
    let of_a = house
        .reader
        .stats(
            &crate::tests::fixture::parse(json!({"group": "a"})),
            &crate::tests::fixture::named("a"),
            T0,
        )
        .expect("counts");
    assert_eq!((of_a.total_memories, of_a.active_memories), (1, 0));
}

#[test]
fn the_fusion_is_a_setting() {
    let order = |fusion| {
        let mut house = House::with(Settings { fusion, ..Settings::for_model("test") });
        house.store(
            "a",
            note("alpha beta gamma delta epsilon zeta eta theta"),
            Some(&leaning(0, 1, 0.9)),
        );
        house.store("a", note("alpha"), Some(&leaning(0, 2, 0.6)));
        house.store("a", note("nothing of it"), Some(&leaning(0, 3, 0.95)));
        house.store("a", note("little of it"), Some(&leaning(0, 4, 0.7)));
        house.found("a", json!({"query": "alpha"}), Some(&axis(0)))
    };
    assert_eq!(order(Fusion::Weighted { vector_weight: 1.0 })[0], "nothing of it");
    assert_eq!(order(Fusion::Weighted { vector_weight: 0.0 })[0], "alpha");
    assert_eq!(order(Fusion::Rrf { k: 60.0 })[0], "alpha beta gamma delta epsilon zeta eta theta");
}
