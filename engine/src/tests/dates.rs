//! Dates in search: of memories, of filters, and in queries.

use crate::tests::fixture::{TestStore, between_axes, document_encoding, query_encoding};
use crate::tests::search::{episode, scores};
use loci_proto::requests::recall::RecalledMemory;
use serde_json::{Value, json};

#[test]
fn the_event_date_overrides_the_date_in_the_text_which_overrides_the_day_of_storing() {
    let best = |query: &str| {
        let mut store = TestStore::new();
        for (number, (text, date)) in [
            ("[2024-03-05] we met", None),
            ("[2024-03-05] we met again", Some("2023-07-01")),
            ("we met once more", None),
        ]
        .iter()
        .enumerate()
        {
            let mut arguments = episode(text);
            if let Some(date) = date {
                arguments["metadata"] = json!({"event_date": date});
            }
            store.store_encoded(
                "a",
                arguments,
                &document_encoding("met", between_axes(0, number + 1, 0.5)),
            );
        }
        scores(&store, "a", query, &query_encoding("met", between_axes(0, 9, 0.5)))[0].0.clone()
    };
    assert_eq!(best("whom we met in March 2024"), "[2024-03-05] we met");
    assert_eq!(best("whom we met in July 2023"), "[2024-03-05] we met again");
    assert_eq!(best("whom we met on 1 February 2026"), "we met once more");
}

/// Stores four meetings, dated by their text, by `event_date`, by the day of storing, and in the
/// future.
fn meetings() -> TestStore {
    let mut store = TestStore::new();
    let texts =
        ["[2026-01-20] we met", "we met for a walk", "we met at the pier", "we shall have met"];
    for (number, (text, date)) in texts
        .into_iter()
        .zip([None, Some("2026-01-28"), None, Some("2026-02-03T08:00:00Z")])
        .enumerate()
    {
        let mut arguments = episode(text);
        if let Some(date) = date {
            arguments["metadata"] = json!({"event_date": date});
        }
        store.store_encoded(
            "a",
            arguments,
            &document_encoding("met", between_axes(0, number + 1, 0.5)),
        );
    }
    store
}

/// Returns the contents found for `met`, in alphabetical order.
fn meetings_found(store: &TestStore, mut arguments: Value) -> Vec<String> {
    arguments["query"] = json!("met");
    let results = store
        .recall_encoded("a", arguments, Some(&query_encoding("met", between_axes(0, 9, 0.5))))
        .reply
        .results;
    let mut texts: Vec<String> = results.into_iter().filter_map(|result| result.content).collect();
    texts.sort();
    texts
}

#[test]
fn only_memories_within_the_date_filter_are_found() {
    let store = meetings();
    let [past, walk, pier, future] =
        ["[2026-01-20] we met", "we met for a walk", "we met at the pier", "we shall have met"];
    assert_eq!(
        meetings_found(&store, json!({"date_from": "2026-01-28"})),
        [pier, walk, future],
        "the first day is included"
    );
    assert_eq!(
        meetings_found(&store, json!({"date_to": "2026-01-28T01:00:00+02:00"})),
        [past, walk],
        "the last day is included"
    );
    assert_eq!(
        meetings_found(&store, json!({"date_from": "2026-02-01", "date_to": "2026-02-01"})),
        [pier]
    );
    assert!(meetings_found(&store, json!({"date_from": "2027-01-01"})).is_empty());
    assert_eq!(meetings_found(&store, json!({})).len(), 4);
}

#[test]
fn an_invalid_date_is_rejected_with_its_field() {
    for (arguments, expected) in [
        (
            json!({"query": "met", "date_from": "soon"}),
            "invalid: date_from must be a date (2026-12-31)",
        ),
        (json!({"query": "met", "date_to": "2026-02-30"}), "invalid: date_to must be a date"),
        (
            json!({"query": "met", "date_from": "2026-02-02", "date_to": "2026-02-01"}),
            "invalid: date_from is after date_to",
        ),
    ] {
        let request = crate::tests::fixture::parse(arguments);
        let refusal = crate::operations::recall::prepare(request, crate::tests::fixture::T0)
            .expect_err("the date is refused")
            .to_string();
        assert!(refusal.starts_with(expected), "{refusal}");
    }
}

#[test]
fn a_relative_time_raises_scores_and_hides_nothing() {
    let store = meetings();
    let found =
        |query: &str| scores(&store, "a", query, &query_encoding("met", between_axes(0, 9, 0.5)));
    for (query, best) in [
        ("whom we met last week", "[2026-01-20] we met"),
        ("whom we met last Wednesday", "we met for a walk"),
        ("whom we met two weeks ago", "[2026-01-20] we met"),
        ("whom we met today", "we met at the pier"),
        ("whom we have met in the past 3 days", "we met at the pier"),
        ("whom we met next week", "we shall have met"),
    ] {
        let found = found(query);
        assert_eq!((found[0].0.as_str(), found.len()), (best, 4), "{query}: {found:?}");
    }
}

/// Two notes with the same statement about different times, an event between them, and a note that
/// only mentions the event. Each with its date.
const NOTES: [(&str, &str); 4] = [
    ("2025-03-04", "plans for release"),
    ("2025-04-01", "files kept here"),
    ("2025-06-10", "release shipped"),
    ("2025-09-15", "files kept there"),
];

#[test]
fn an_event_or_a_date_with_a_preposition_raises_the_memories_on_that_side() {
    let mut store = TestStore::new();
    for (number, (day, text)) in NOTES.into_iter().enumerate() {
        let arguments =
            json!({"content": text, "type": "episodic", "metadata": {"event_date": day}});
        store.store_encoded(
            "a",
            arguments,
            &document_encoding(text, between_axes(0, number + 1, 0.5)),
        );
    }
    let [here, there] = ["files kept here", "files kept there"];
    let best_note = |query: &str| {
        let found = scores(
            &store,
            "a",
            query,
            &query_encoding(&query.replace(',', ""), between_axes(0, 9, 0.5)),
        );
        found
            .into_iter()
            .map(|(text, _)| text)
            .find(|text| text.starts_with("files"))
            .expect("a note about files is found")
    };
    for (query, best) in [
        ("files kept before release shipped", here),
        ("before release shipped, files kept", here),
        ("files kept until release shipped", here),
        ("files kept after release shipped", there),
        ("files kept since release shipped", there),
        ("files kept before June 2025", here),
        ("files kept until 2025-06-10", here),
        ("files kept since 1 May 2025", there),
        ("files kept after April 2025", there),
    ] {
        assert_eq!(best_note(query), best, "{query}");
    }
    // No event: the first is in no memory, only a rule mentions the second, and the third is a
    // procedure.
    store.store_encoded(
        "a",
        episode("before payday send reminders"),
        &document_encoding("before payday send reminders", between_axes(0, 5, 0.5)),
    );
    let steps = json!({"content": "invoice steps", "type": "procedural", "metadata": {"steps": ["write", "send"]}});
    store.store_encoded("a", steps, &document_encoding("invoice steps", between_axes(0, 6, 0.5)));
    for query in [
        "files kept before merger concluded",
        "files kept before payday",
        "files kept before invoice steps",
    ] {
        let request = json!({"query": query, "explain": true});
        let results = store
            .recall_encoded("a", request, Some(&query_encoding(query, between_axes(0, 9, 0.5))))
            .reply
            .results;
        let steps: Vec<String> = results
            .into_iter()
            .filter_map(|result| result.why)
            .flat_map(|why| why.parts)
            .map(|part| part.step)
            .collect();
        assert!(
            steps.iter().any(|step| step == "words") && steps.iter().all(|step| step != "date"),
            "{query}: {steps:?}"
        );
    }
}

#[test]
fn a_day_that_the_text_names_filters_and_is_shown_as_derived() {
    let mut store = TestStore::new();
    store.store("a", episode("Incident 22 January 2026: the queue stopped"), None);
    store.store("a", episode("The queue must be replaced by 22 January 2026"), None);
    let mut given = episode("2026-01-22: the queue was emptied");
    given["metadata"] = json!({"event_date": "2026-01-20"});
    store.store("a", given, None);
    let request = json!({"query": "queue", "date_from": "2026-01-22", "date_to": "2026-01-22"});
    let results = store.recall("a", request, None).reply.results;
    let shown =
        |result: &RecalledMemory| (result.content.clone(), result.event_date_derived.clone());
    let expected = (
        Some("Incident 22 January 2026: the queue stopped".to_owned()),
        Some("2026-01-22".to_owned()),
    );
    assert_eq!(results.iter().map(shown).collect::<Vec<_>>(), [expected]);
    let details = store
        .inspect("a", json!({"memory_id": results[0].id}))
        .expect("the memory is shown")
        .memory;
    assert_eq!(details.event_date_derived.as_deref(), Some("2026-01-22"));
    let all = store.recall("a", json!({"query": "queue", "summary_only": true}), None);
    let derived = all.reply.results.iter().filter(|result| result.event_date_derived.is_some());
    assert_eq!(derived.count(), 1, "neither a deadline nor a given date is derived");
}
