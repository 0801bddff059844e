//! Summaries of summaries: those of a month, and those of a year with the summaries that are in no
//! month's summary.

use crate::maintain::tests::*;
use crate::model::time::moment_of;
use loci_proto::memory::Origin;
use loci_proto::requests::forget::ForgetRequest;

/// Stores five episodes on each of these days, which are in different weeks, and summarises the
/// weeks. Returns the ids of the episodes.
fn summarised_weeks(test_store: &mut TestStore, days: &[&str]) -> Vec<MemoryId> {
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

fn set_date(test_store: &mut TestStore, date: &str) {
    test_store.now = moment_of(date).expect("the text is a date");
}

#[test]
fn the_weeks_of_a_finished_month_become_one_summary_of_their_lines() {
    let mut test_store = store_with(Rules::default());
    let ids = summarised_weeks(&mut test_store, &OCTOBER);
    assert_eq!(plan(&test_store).steps.len(), 1, "the month is due after three months");
    set_date(&mut test_store, "2026-01-28");
    assert_eq!(plan(&test_store), Plan::default(), "one or two days before the month is due");
    set_date(&mut test_store, "2026-01-30");
    let report = run(&mut test_store).remove(0);
    let month = memory(&test_store, &report.made.clone().expect("the summary is stored"));
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
    assert!(month.content.ends_with("(From 5 summaries.)"), "{}", month.content);
    assert!(report.members.iter().all(|week| status(&test_store, week) == "compacted"));
    assert_eq!(status(&test_store, &ids[0]), "compacted");
    assert_eq!(plan(&test_store), Plan::default(), "no summary is made twice");
}

#[test]
fn the_rest_of_a_finished_year_becomes_its_summary() {
    let mut test_store = store_with(Rules::default());
    summarised_weeks(&mut test_store, &OCTOBER);
    set_date(&mut test_store, "2026-01-30");
    run(&mut test_store);
    summarised_weeks(&mut test_store, &["2025-02-05", "2025-03-05", "2025-06-05", "2025-09-05"]);
    assert_eq!(plan(&test_store), Plan::default(), "no month has five summaries");
    set_date(&mut test_store, "2026-04-02");
    let report = run(&mut test_store).remove(0);
    assert_eq!(
        (report.week.as_deref(), report.members.len()),
        (Some("2025"), 5),
        "four summaries of weeks and one of a month"
    );
    assert_eq!(plan(&test_store), Plan::default());
}

#[test]
fn an_undone_summary_of_summaries_restores_every_memory() {
    let mut test_store = store_with(Rules::default());
    summarised_weeks(&mut test_store, &OCTOBER);
    let before = dump(&test_store);
    run(&mut test_store);
    assert_ne!(dump(&test_store), before);
    undo_last(&mut test_store);
    assert_eq!(dump(&test_store), before);
    assert_eq!(plan(&test_store), Plan::default(), "an undone summary is not made again");
}

#[test]
fn a_hard_delete_removes_a_memory_from_every_summary_above_it() {
    let mut test_store = store_with(Rules::default());
    let ids = summarised_weeks(&mut test_store, &OCTOBER);
    let month = run(&mut test_store)[0].made.clone().expect("the summary is stored");
    let is_quoted = |test_store: &TestStore, number: usize| {
        memory(test_store, &month).content.contains(&format!(
            "Event {}-{} ",
            number / 5,
            number % 5
        ))
    };
    let number = (0..ids.len())
        .find(|number| is_quoted(&test_store, *number))
        .expect("the summary quotes an episode");
    let lines = memory(&test_store, &month).content.lines().count();
    let reply = hard_delete(&mut test_store, &ids[number]);
    assert!(!is_quoted(&test_store, number), "{}", memory(&test_store, &month).content);
    assert_eq!(
        memory(&test_store, &month).content.lines().count(),
        lines - 1,
        "only one line is removed"
    );
    assert_eq!(
        field(&memory(&test_store, &month), "source_ids").as_array().map(Vec::len),
        Some(5),
        "the week's summary remains a source"
    );
    assert_eq!(reply.note, None, "no other memory contains the text");
    let text = format!("Event {}-{} ", number / 5, number % 5);
    assert!(!test_store.dump().contains(&text), "the store does not contain the text");
}

fn hard_delete(
    test_store: &mut TestStore,
    id: &MemoryId,
) -> loci_proto::requests::forget::ForgetReply {
    let mut call = test_store.call("a", None);
    call.actor.origin = Origin::Person;
    let request = ForgetRequest {
        memory_id: id.clone(),
        reason: None,
        hard_delete: true,
        rejected: false,
        group: None,
    };
    test_store.writer.forget(&call, &request).expect("the memory is forgotten")
}

/// A summary of a month, and an episode that it quotes.
struct QuotedEpisode {
    month: MemoryId,
    id: MemoryId,
    /// The quoted text.
    text: String,
}

/// Stores episodes and summarises their weeks and month.
fn quoted_episode(test_store: &mut TestStore) -> QuotedEpisode {
    let ids = summarised_weeks(test_store, &OCTOBER);
    let month = run(test_store)[0].made.clone().expect("the summary is stored");
    let text = |n: usize| format!("Event {}-{} ", n / 5, n % 5);
    let number = (0..ids.len())
        .find(|n| memory(test_store, &month).content.contains(&text(*n)))
        .expect("the summary quotes an episode");
    QuotedEpisode { month, id: ids[number].clone(), text: text(number) }
}

fn edit(test_store: &mut TestStore, id: &MemoryId, change: Value) {
    let mut arguments = change;
    arguments["memory_id"] = json!(id);
    let call = test_store.call("a", None);
    test_store
        .writer
        .edit(&call, &crate::tests::fixture::parse(arguments), &TextEncodings::default())
        .expect("the memory is edited");
}

#[test]
fn an_edited_summary_is_not_rewritten_but_named_when_its_source_is_deleted() {
    let mut test_store = store_with(Rules::default());
    let QuotedEpisode { month, id, text } = quoted_episode(&mut test_store);
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
        "the summary is found by the words that a person added"
    );
    let note = hard_delete(&mut test_store, &id).note.expect("the note names the summary");
    assert!(note.contains(month.as_str()), "{note}");
    hard_delete(&mut test_store, &month);
    assert!(
        !test_store.dump().contains(&text),
        "the journal entry of the edit does not contain the text"
    );
}

#[test]
fn the_sources_of_a_summary_survive_an_edit_of_its_metadata() {
    let mut test_store = store_with(Rules::default());
    let QuotedEpisode { month, id, text } = quoted_episode(&mut test_store);
    edit(&mut test_store, &month, json!({"metadata": {"topic": "gateways"}}));
    let summary = memory(&test_store, &month);
    assert_eq!(
        (field(&summary, "topic"), field(&summary, "method")),
        (json!("gateways"), json!("extractive/1"))
    );
    assert_eq!(hard_delete(&mut test_store, &id).note, None);
    assert!(!test_store.dump().contains(&text));
}

#[test]
fn a_month_summary_loses_all_lines_of_a_week_that_was_rewritten_by_hand() {
    let mut test_store = store_with(Rules::default());
    let QuotedEpisode { month, id, text } = quoted_episode(&mut test_store);
    let week: MemoryId = memory(&test_store, &id)
        .superseded_by
        .expect("a summary of its week replaced the episode")
        .parse()
        .expect("the id is valid");
    let call = test_store.call("a", None);
    let request = crate::tests::fixture::parse(json!({"memory_id": week}));
    test_store.writer.restore(&call, &request).expect("the memory is restored");
    let content = memory(&test_store, &week).content.replace("Event", "Incident");
    edit(&mut test_store, &week, json!({"content": content}));
    assert!(memory(&test_store, &month).content.contains(&text));
    let note = hard_delete(&mut test_store, &id)
        .note
        .expect("the note names the edited summary of the week");
    assert!(note.contains(week.as_str()) && !note.contains(month.as_str()), "{note}");
    assert!(
        !memory(&test_store, &month).content.contains(&text),
        "{}",
        memory(&test_store, &month).content
    );
}

#[test]
fn a_forgotten_memory_is_not_quoted_by_new_summaries() {
    let mut test_store = store_with(Rules::default());
    let ids = summarised_weeks(&mut test_store, &OCTOBER);
    let call = test_store.call("a", None);
    for id in &ids[..3] {
        let request = ForgetRequest {
            memory_id: id.clone(),
            reason: None,
            hard_delete: false,
            rejected: false,
            group: None,
        };
        test_store.writer.forget(&call, &request).expect("the memory is forgotten");
    }
    let month = run(&mut test_store)[0].made.clone().expect("the summary is stored");
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
    let QuotedEpisode { month, id, .. } = quoted_episode(&mut test_store);
    let week: MemoryId = memory(&test_store, &id)
        .superseded_by
        .expect("a summary of its week replaced the episode")
        .parse()
        .expect("the id is valid");
    hard_delete(&mut test_store, &month);
    assert_eq!(
        (status(&test_store, &week), memory(&test_store, &week).superseded_by),
        ("active", None)
    );
    hard_delete(&mut test_store, &week);
    assert_eq!(status(&test_store, &id), "active");
    assert_eq!(memory(&test_store, &id).superseded_by, None);
}

#[test]
fn a_restored_memory_is_not_summarised_again() {
    let mut test_store = store_with(Rules::default());
    let ids = summarised_weeks(&mut test_store, &OCTOBER[..1]);
    let call = test_store.call("a", None);
    for id in &ids[..3] {
        test_store
            .writer
            .restore(&call, &crate::tests::fixture::parse(json!({"memory_id": id})))
            .expect("the memory is restored");
    }
    assert_eq!(plan(&test_store), Plan::default());
}

#[test]
fn a_confident_summary_quoting_a_memory_of_low_confidence_is_found_by_its_own_words() {
    let mut test_store = store_with(Rules::default());
    for i in 0..6 {
        let (text, confidence) = if i == 0 {
            ("The pelican contract was signed".to_owned(), 0.2)
        } else {
            (format!("Event {i} of the gateway"), 1.0)
        };
        let arguments = json!({"content": text, "type": "episodic", "confidence": confidence, "metadata": {"event_date": "2025-12-15"}});
        test_store.store("a", arguments, Some(&about(0, i)));
    }
    let made = run(&mut test_store)[0].made.clone().expect("the summary is stored");
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
    let ids = summarised_weeks(&mut test_store, &OCTOBER);
    let month = run(&mut test_store)[0].made.clone().expect("the summary is stored");
    let unquoted = (0..ids.len()).find(|n| {
        !memory(&test_store, &month).content.contains(&format!("Event {}-{} ", n / 5, n % 5))
    });
    let unquoted = unquoted.expect("the summary does not quote every episode");
    for i in 0..8 {
        episode(
            &mut test_store,
            "a",
            &format!("Lunch {i} near the gateway"),
            "2026-01-30",
            Some(&about(3, i)),
        );
    }
    let query = json!({"query": format!("kept apart by {}{}", unquoted / 5, unquoted % 5), "max_results": 20});
    let results = test_store.recall("a", query, None).reply.results;
    assert_eq!(results[0].id, month, "the only active summary comes first");
    assert_eq!(
        results[0].sources.first().map(|source| &source.id),
        Some(&ids[unquoted]),
        "the summary names the episode whose score it took over"
    );
    assert!(results[0].sources[0].preview.starts_with(&format!(
        "Event {}-{}",
        unquoted / 5,
        unquoted % 5
    )));
    let episode_result = results
        .iter()
        .find(|result| result.id == ids[unquoted])
        .expect("the episode is also a result");
    assert!(
        (episode_result.score.unwrap_or_default() * 2.0 - results[0].score.unwrap_or_default())
            .abs()
            < 2e-4,
        "the episode has half the score of the summary"
    );
    let lunches = test_store.recall("a", json!({"query": "lunch"}), None).reply.results;
    assert!(
        lunches.iter().all(|result| result.sources.is_empty()),
        "a result that took over no score has no sources"
    );
}
