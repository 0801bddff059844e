//! Summaries of summaries: of a month when it is over, and of the rest of a year with the year.

use crate::maintain::tests::*;
use crate::model::time::moment_of;
use loci_proto::requests::forget::ForgetRequest;

/// Stores five episodes on each of these days, a week apart, and summarises the weeks; returns the
/// ids of the episodes.
fn weeks(test_store: &mut TestStore, days: &[&str]) -> Vec<MemoryId> {
    let mut ids = Vec::new();
    for (week, day) in days.iter().enumerate() {
        for i in 0..5 {
            let text = format!("Event {week}-{i} of the gateway, kept apart by {week}{i}");
            ids.push(episode(test_store, "a", &text, day, Some(&about(0, week * 10 + i))));
        }
    }
    let done = run(test_store);
    assert_eq!(done.len(), days.len(), "a summary for each week");
    ids
}

const OCTOBER: [&str; 5] = ["2025-10-01", "2025-10-06", "2025-10-14", "2025-10-21", "2025-10-28"];

fn goes_to(test_store: &mut TestStore, date: &str) {
    test_store.now = moment_of(date).expect("is a date");
}

#[test]
fn the_weeks_of_a_finished_month_become_one_summary_of_their_lines() {
    let mut test_store = store_with(Rules::default());
    let ids = weeks(&mut test_store, &OCTOBER);
    assert_eq!(plan(&test_store).steps.len(), 1, "three months have gone by");
    goes_to(&mut test_store, "2026-01-28");
    assert_eq!(plan(&test_store), Plan::default(), "not quite");
    goes_to(&mut test_store, "2026-01-30");
    let report = run(&mut test_store).remove(0);
    let month = memory(&test_store, &report.made.clone().expect("is made"));
    assert_eq!((report.week.as_deref(), report.members.len()), (Some("2025-10"), 5));
    assert_eq!((field(&month, "month"), field(&month, "week")), (json!("2025-10"), Value::Null));
    assert!(
        month.content.lines().next().is_some_and(|line| line.starts_with("2025-10-01: Event 0-")),
        "{}",
        month.content
    );
    assert!(
        month.content.contains("\n2025-10-28: Event 4-"),
        "each line keeps its own date: {}",
        month.content
    );
    assert!(
        month.content.ends_with("(From 5 summaries; source_ids names them.)"),
        "{}",
        month.content
    );
    assert!(report.members.iter().all(|week| status(&test_store, week) == "compacted"));
    assert_eq!(status(&test_store, &ids[0]), "compacted");
    assert_eq!(plan(&test_store), Plan::default(), "nothing is done twice");
}

#[test]
fn the_rest_of_a_finished_year_becomes_its_summary() {
    let mut test_store = store_with(Rules::default());
    weeks(&mut test_store, &OCTOBER);
    goes_to(&mut test_store, "2026-01-30");
    run(&mut test_store);
    weeks(&mut test_store, &["2025-02-05", "2025-03-05", "2025-06-05", "2025-09-05"]);
    assert_eq!(plan(&test_store), Plan::default(), "no month of these has five");
    goes_to(&mut test_store, "2026-04-02");
    let report = run(&mut test_store).remove(0);
    assert_eq!(
        (report.week.as_deref(), report.members.len()),
        (Some("2025"), 5),
        "four weeks and a month"
    );
    assert_eq!(plan(&test_store), Plan::default());
}

#[test]
fn a_summary_of_summaries_is_undone_exactly() {
    let mut test_store = store_with(Rules::default());
    weeks(&mut test_store, &OCTOBER);
    let before = dump(&test_store);
    run(&mut test_store);
    assert_ne!(dump(&test_store), before);
    undo_last(&mut test_store);
    assert_eq!(dump(&test_store), before);
    assert_eq!(plan(&test_store), Plan::default(), "and is not made again");
}

#[test]
fn a_hard_delete_removes_a_memory_from_every_summary_above_it() {
    let mut test_store = store_with(Rules::default());
    let ids = weeks(&mut test_store, &OCTOBER);
    let month = run(&mut test_store)[0].made.clone().expect("is made");
    let quoted = |test_store: &TestStore, number: usize| {
        memory(test_store, &month).content.contains(&format!(
            "Event {}-{} ",
            number / 5,
            number % 5
        ))
    };
    let number =
        (0..ids.len()).find(|number| quoted(&test_store, *number)).expect("quotes something");
    let lines = memory(&test_store, &month).content.lines().count();
    let reply = hard(&mut test_store, &ids[number]);
    assert!(!quoted(&test_store, number), "{}", memory(&test_store, &month).content);
    assert_eq!(
        memory(&test_store, &month).content.lines().count(),
        lines - 1,
        "and nothing else is"
    );
    assert_eq!(
        field(&memory(&test_store, &month), "source_ids").as_array().map(Vec::len),
        Some(5),
        "its week's summary stays"
    );
    assert_eq!(reply.note, None, "nothing is left to remove by hand");
    let text = format!("Event {}-{} ", number / 5, number % 5);
    assert!(!test_store.dump().contains(&text), "no trace");
}

fn hard(test_store: &mut TestStore, id: &MemoryId) -> loci_proto::requests::forget::ForgetReply {
    let call = test_store.call("a", None);
    let request =
        ForgetRequest { memory_id: id.clone(), reason: None, hard_delete: true, group: None };
    test_store.writer.forget(&call, &request).expect("is forgotten")
}

/// The month's summary, one of the memories that it quotes, and what it says of it.
fn quoted(test_store: &mut TestStore) -> (MemoryId, MemoryId, String) {
    let ids = weeks(test_store, &OCTOBER);
    let month = run(test_store)[0].made.clone().expect("is made");
    let text = |n: usize| format!("Event {}-{} ", n / 5, n % 5);
    let number = (0..ids.len())
        .find(|n| memory(test_store, &month).content.contains(&text(*n)))
        .expect("quotes something");
    (month, ids[number].clone(), text(number))
}

fn edit(test_store: &mut TestStore, id: &MemoryId, change: Value) {
    let mut arguments = change;
    arguments["memory_id"] = json!(id);
    let call = test_store.call("a", None);
    test_store
        .writer
        .edit(&call, &crate::tests::fixture::parse(arguments), &DocumentEncoding::default())
        .expect("is edited");
}

#[test]
fn an_edited_summary_is_kept_and_named_when_its_source_is_deleted() {
    let mut test_store = store_with(Rules::default());
    let (month, id, text) = quoted(&mut test_store);
    let content = memory(&test_store, &month).content.replacen("Event", "An event", 1);
    edit(
        &mut test_store,
        &month,
        json!({"content": format!("{content}\nRoot cause found later: the kumquat firmware")}),
    );
    assert_eq!(
        (
            field(&memory(&test_store, &month), "method"),
            field(&memory(&test_store, &month), "quotes")
        ),
        (json!("edited"), Value::Null)
    );
    let found = test_store.recall("a", json!({"query": "kumquat firmware"}), None).reply.results;
    assert_eq!(
        found.first().map(|result| &result.id),
        Some(&month),
        "found by the person's own words"
    );
    let note = hard(&mut test_store, &id).note.expect("says what is left");
    assert!(note.contains(month.as_str()), "{note}");
    hard(&mut test_store, &month);
    assert!(!test_store.dump().contains(&text), "neither in the journal of the edit");
}

#[test]
fn the_sources_of_a_summary_survive_an_edit_of_its_metadata() {
    let mut test_store = store_with(Rules::default());
    let (month, id, text) = quoted(&mut test_store);
    edit(&mut test_store, &month, json!({"metadata": {"topic": "gateways"}}));
    let summary = memory(&test_store, &month);
    assert_eq!(
        (field(&summary, "topic"), field(&summary, "method")),
        (json!("gateways"), json!("extractive"))
    );
    assert_eq!(hard(&mut test_store, &id).note, None);
    assert!(!test_store.dump().contains(&text));
}

#[test]
fn a_month_summary_loses_all_lines_of_a_week_that_was_rewritten_by_hand() {
    let mut test_store = store_with(Rules::default());
    let (month, id, text) = quoted(&mut test_store);
    let week: MemoryId = memory(&test_store, &id)
        .superseded_by
        .expect("stands below a week")
        .parse()
        .expect("is an id");
    let call = test_store.call("a", None);
    let request = crate::tests::fixture::parse(json!({"memory_id": week}));
    test_store.writer.restore(&call, &request).expect("is restored");
    let content = memory(&test_store, &week).content.replace("Event", "Incident");
    edit(&mut test_store, &week, json!({"content": content}));
    assert!(memory(&test_store, &month).content.contains(&text));
    let note = hard(&mut test_store, &id).note.expect("the week is in a person's words");
    assert!(note.contains(week.as_str()) && !note.contains(month.as_str()), "{note}");
    assert!(
        !memory(&test_store, &month).content.contains(&text),
        "{}",
        memory(&test_store, &month).content
    );
}

#[test]
fn a_forgotten_memory_is_in_no_new_summary() {
    let mut test_store = store_with(Rules::default());
    let ids = weeks(&mut test_store, &OCTOBER);
    let call = test_store.call("a", None);
    for id in &ids[..3] {
        let request =
            ForgetRequest { memory_id: id.clone(), reason: None, hard_delete: false, group: None };
        test_store.writer.forget(&call, &request).expect("is forgotten");
    }
    let month = run(&mut test_store)[0].made.clone().expect("is made");
    let content = memory(&test_store, &month).content;
    assert!(
        ["0-0", "0-1", "0-2"].iter().all(|event| !content.contains(&format!("Event {event} "))),
        "{content}"
    );
    assert!(content.contains("Event 1-"), "{content}");
}

#[test]
fn the_sources_of_a_deleted_summary_are_active_again() {
    let mut test_store = store_with(Rules::default());
    let (month, id, _) = quoted(&mut test_store);
    let week: MemoryId = memory(&test_store, &id)
        .superseded_by
        .expect("stands below a week")
        .parse()
        .expect("is an id");
    hard(&mut test_store, &month);
    assert_eq!(
        (status(&test_store, &week), memory(&test_store, &week).superseded_by),
        ("active", None)
    );
    hard(&mut test_store, &week);
    assert_eq!(status(&test_store, &id), "active");
    assert_eq!(memory(&test_store, &id).superseded_by, None);
}

#[test]
fn a_restored_memory_is_not_summarised_again() {
    let mut test_store = store_with(Rules::default());
    let ids = weeks(&mut test_store, &OCTOBER[..1]);
    let call = test_store.call("a", None);
    for id in &ids[..3] {
        test_store
            .writer
            .restore(&call, &crate::tests::fixture::parse(json!({"memory_id": id})))
            .expect("is restored");
    }
    assert_eq!(plan(&test_store), Plan::default());
}

#[test]
fn a_summary_with_the_only_sufficient_confidence_is_found_by_its_own_words() {
    let mut test_store = store_with(Rules::default());
    for i in 0..6 {
        let (text, sure) = if i == 0 {
            ("The pelican contract was signed".to_owned(), 0.2)
        } else {
            (format!("Event {i} of the gateway"), 1.0)
        };
        let arguments = json!({"content": text, "type": "episodic", "confidence": sure, "metadata": {"event_date": "2025-12-15"}});
        test_store.store("a", arguments, Some(&about(0, i)));
    }
    let made = run(&mut test_store)[0].made.clone().expect("is made");
    assert!(memory(&test_store, &made).content.contains("pelican"));
    let found = test_store
        .recall("a", json!({"query": "pelican contract", "min_confidence": 0.3}), None)
        .reply
        .results;
    assert_eq!(found.first().map(|result| &result.id), Some(&made));
}

#[test]
fn a_note_with_the_metadata_of_a_summary_is_still_found() {
    let mut test_store = store_with(Rules::default());
    for i in 0..6 {
        let text = if i == 0 {
            "Purification of the enzyme papain".to_owned()
        } else {
            format!("Event {i} of the gateway")
        };
        let metadata = json!({"event_date": "2025-12-15", "method": "extractive"});
        test_store.store(
            "a",
            json!({"content": text, "type": "episodic", "metadata": metadata}),
            Some(&about(0, i)),
        );
    }
    run(&mut test_store);
    assert!(
        !test_store.recall("a", json!({"query": "papain enzyme"}), None).reply.results.is_empty()
    );
}

#[test]
fn an_old_memory_is_found_by_the_summary_that_covers_it() {
    let mut test_store = store_with(Rules::default());
    let ids = weeks(&mut test_store, &OCTOBER);
    let month = run(&mut test_store)[0].made.clone().expect("is made");
    let hidden = (0..ids.len()).find(|n| {
        !memory(&test_store, &month).content.contains(&format!("Event {}-{} ", n / 5, n % 5))
    });
    let hidden = hidden.expect("not all are quoted");
    for i in 0..8 {
        episode(
            &mut test_store,
            "a",
            &format!("Lunch {i} near the gateway"),
            "2026-01-30",
            Some(&about(3, i)),
        );
    }
    let query =
        json!({"query": format!("kept apart by {}{}", hidden / 5, hidden % 5), "max_results": 20});
    let results = test_store.recall("a", query, None).reply.results;
    assert_eq!(results[0].id, month, "the only summary in use comes first");
    assert_eq!(
        results[0].sources.first().map(|source| &source.id),
        Some(&ids[hidden]),
        "and names what it is given for"
    );
    assert!(results[0].sources[0].preview.starts_with(&format!(
        "Event {}-{}",
        hidden / 5,
        hidden % 5
    )));
    let own = results.iter().find(|result| result.id == ids[hidden]).expect("is found itself, too");
    assert!(
        (own.score.unwrap_or_default() * 2.0 - results[0].score.unwrap_or_default()).abs() < 2e-4,
        "at half the score"
    );
    let named = test_store.recall("a", json!({"query": "lunch"}), None).reply.results;
    assert!(
        named.iter().all(|result| result.sources.is_empty()),
        "who speaks for nobody names nobody"
    );
}
