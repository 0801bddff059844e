//! Compaction: which episodes are compacted, the content of the summary, and the state of its
//! sources.

use crate::maintain::tests::*;
use crate::maintain::topics::MAX_TOPIC;
use crate::model::encoding::TextEncodings;
use loci_proto::error::Code;
use loci_proto::requests::forget::ForgetRequest;
use loci_proto::requests::pin::PinRequest;

fn forget(test_store: &mut TestStore, id: &MemoryId) {
    let call = test_store.call("a", None);
    let request = ForgetRequest {
        memory_id: id.clone(),
        reason: None,
        hard_delete: false,
        rejected: false,
        group: None,
    };
    test_store.writer.forget(&call, &request).expect("the memory is forgotten");
}

/// Returns how many of `count` episodes of a week are planned to be compacted.
fn planned_members(rules: Rules, count: usize) -> usize {
    let mut test_store = store_with(rules);
    week(&mut test_store, "a", 0, count);
    plan(&test_store).to_reply().compacted
}

#[test]
fn a_week_of_five_episodes_is_compacted_and_a_week_of_four_is_not() {
    assert_eq!([4, 5].map(|count| planned_members(Rules::default(), count)), [0, 5]);
}

#[test]
fn compaction_min_group_size_changes_which_weeks_are_compacted() {
    let rules = |n| Rules { compaction_min_group_size: n, ..Rules::default() };
    assert_eq!([3, 4].map(|n| planned_members(rules(n), 3)), [3, 0]);
    assert_eq!([2, 6].map(|n| planned_members(rules(n), 5)), [5, 0]);
}

#[test]
fn compaction_age_days_changes_which_weeks_are_compacted() {
    let rules = |days| Rules { compaction_age_days: days, ..Rules::default() };
    assert_eq!(
        [47.0, 48.0].map(|days| planned_members(rules(days), 5)),
        [5, 0],
        "an episode of exactly that age is not older"
    );
}

#[test]
fn a_memory_without_event_date_has_the_age_of_its_creation() {
    let mut test_store = store_with(Rules::default());
    for i in 0..5 {
        test_store.store(
            "a",
            json!({"content": format!("Undated {i}"), "type": "episodic"}),
            Some(&about(0, i)),
        );
    }
    assert_eq!(plan(&test_store).steps.len(), 0);
    advance_days(&mut test_store, 31);
    assert_eq!(plan(&test_store).to_reply().compacted, 5);
}

#[test]
fn weeks_projects_and_scopes_do_not_mix() {
    let mut test_store = store_with(Rules::default());
    week(&mut test_store, "a", 0, 3);
    week(&mut test_store, "b", 0, 2);
    episode(&mut test_store, "a", "The week before", "2025-12-14", Some(&about(0, 50)));
    for i in 0..4 {
        let arguments = json!({"content": format!("For all {i}"), "type": "episodic", "scope": "global", "metadata": {"event_date": MONDAY}});
        test_store.store("a", arguments, Some(&about(0, 51 + i)));
    }
    assert_eq!(plan(&test_store), Plan::default());
}

#[test]
fn pinned_expiring_and_derived_memories_are_not_compacted() {
    let mut test_store = store_with(Rules::default());
    let ids = week(&mut test_store, "a", 0, 5);
    let call = test_store.call("a", None);
    test_store
        .writer
        .pin(&call, &PinRequest { memory_id: ids[0].clone(), pinned: true, group: None })
        .expect("the memory is pinned");
    assert_eq!(plan(&test_store), Plan::default());
    for (text, extra) in
        [("One that ends", json!({})), ("A summary of before", json!({"summary": true}))]
    {
        let mut metadata = extra;
        metadata["event_date"] = json!(MONDAY);
        let mut arguments = json!({"content": text, "type": "episodic", "metadata": metadata});
        if text.ends_with("ends") {
            arguments["ttl_seconds"] = json!(100_000);
        }
        test_store.store("a", arguments, None);
    }
    assert_eq!(plan(&test_store), Plan::default());
}

#[test]
fn the_summary_names_its_sources_and_they_rank_below_it() {
    let mut test_store = store_with(Rules::default());
    let ids = week(&mut test_store, "a", 0, 6);
    let done = run(&mut test_store);
    let made = done[0].made.clone().expect("the summary is stored");
    let summary = memory(&test_store, &made);
    assert_eq!(
        (field(&summary, "summary"), field(&summary, "method")),
        (json!(true), json!("extractive/1"))
    );
    assert_eq!(
        (field(&summary, "week"), field(&summary, "event_date")),
        (json!("2025-W51"), json!(MONDAY))
    );
    assert_eq!(field(&summary, "source_ids"), json!(ids));
    assert!(
        summary.content.lines().next().is_some_and(|line| line.starts_with("2025-12-15: Episode ")),
        "{}",
        summary.content
    );
    assert!(
        summary.anchor.confidence.get() <= 1.0
            && summary.group.as_deref() == Some(crate::tests::fixture::named("a").id.as_str())
    );
    for id in &ids {
        assert_eq!(
            (status(&test_store, id), memory(&test_store, id).superseded_by),
            ("compacted", Some(made.to_string()))
        );
    }
    let sources =
        memories::sources(&test_store.reader.conn, summary.seq).expect("the sources are read");
    assert_eq!(sources.iter().map(|m| m.id.clone()).collect::<Vec<_>>(), ids);
    let found = test_store
        .recall("a", json!({"query": "mail gateway episode", "max_results": 20}), None)
        .reply
        .results;
    let also: usize = found.iter().map(|result| result.also.len()).sum();
    assert_eq!(
        (found.len() + also, &found[0].id),
        (7, &made),
        "the summary first, then its sources"
    );
    let shown = test_store.recall("a", json!({"ids": ids}), None).reply.results;
    assert_eq!((shown.len(), shown[0].status.as_deref()), (6, Some("compacted")));
}

#[test]
fn the_confidence_of_a_summary_is_the_mean_of_its_sources() {
    let mut test_store = store_with(Rules::default());
    for i in 0..5 {
        let confidence = if i == 0 { 0.2 } else { 0.7 };
        let metadata = json!({"event_date": MONDAY});
        let arguments = json!({"content": format!("Sure {i}"), "type": "episodic", "confidence": confidence, "metadata": metadata});
        test_store.store("a", arguments, Some(&about(0, i)));
    }
    let made = run(&mut test_store)[0].made.clone().expect("the summary is stored");
    assert!((memory(&test_store, &made).anchor.confidence.get() - 0.6).abs() < 1e-9);
}

#[test]
fn an_undone_compaction_restores_every_memory_and_is_not_repeated() {
    let mut test_store = store_with(Rules::default());
    week(&mut test_store, "a", 0, 6);
    week(&mut test_store, "a", 1, 5);
    let before = dump(&test_store);
    assert_eq!(run(&mut test_store).len(), 2);
    assert_ne!(dump(&test_store), before);
    undo_last(&mut test_store);
    undo_last(&mut test_store);
    assert_eq!(dump(&test_store), before);
    assert_eq!(plan(&test_store), Plan::default());
    let query = json!({"query": "mail gateway", "max_results": 20});
    let found = test_store.recall("a", query, None).reply.results;
    assert_eq!(
        found.iter().map(|result| 1 + result.also.len()).sum::<usize>(),
        6,
        "the index is updated"
    );
}

#[test]
fn a_memory_forgotten_during_a_run_is_not_summarised() {
    let mut test_store = store_with(Rules::default());
    let ids = week(&mut test_store, "a", 0, 6);
    let planned = plan(&test_store);
    let Step::Compact(cluster) = &planned.steps[0] else {
        panic!("the first step compacts a cluster")
    };
    let draft =
        test_store.reader.draft(cluster).expect("the members are read").expect("all members exist");
    forget(&mut test_store, &ids[2]);
    let call = CallContext { now: test_store.now, actor: actor("a"), key: None, shown: None };
    let report = test_store
        .writer
        .compact(&call, cluster, &draft, &TextEncodings::default())
        .expect("the step is skipped");
    assert_eq!((report.made, report.journal), (None, None));
    assert_eq!(status(&test_store, &ids[0]), "active");
    let made = run(&mut test_store)[0].made.clone().expect("the other five are summarised");
    assert!(!memory(&test_store, &made).content.contains("Episode 2 "));
    assert_eq!(status(&test_store, &ids[2]), "forgotten");
}

#[test]
fn a_hard_delete_removes_a_memory_from_its_summary() {
    let mut test_store = store_with(Rules::default());
    let ids = week(&mut test_store, "a", 0, 6);
    let made = run(&mut test_store)[0].made.clone().expect("the summary is stored");
    assert!(memory(&test_store, &made).content.contains("Episode 3 "));
    let call = test_store.call("a", None);
    let request = ForgetRequest {
        memory_id: ids[3].clone(),
        reason: None,
        hard_delete: true,
        rejected: false,
        group: None,
    };
    test_store.writer.forget(&call, &request).expect("the memory is forgotten");
    let summary = memory(&test_store, &made);
    assert!(
        !summary.content.contains("Episode 3 ") && summary.content.contains("Episode 4 "),
        "{}",
        summary.content
    );
    assert_eq!(field(&summary, "source_ids").as_array().map(Vec::len), Some(5));
    assert!(
        test_store
            .found("a", json!({"query": "\"Episode 3\" kept apart by 03"}), None)
            .iter()
            .all(|text| !text.contains("Episode 3 "))
    );
    let refused =
        test_store.writer.undo(&call, &UndoRequest { last: true, ..UndoRequest::default() });
    assert!(
        matches!(refused, Err(crate::error::Error::Refused(failure)) if failure.code == Code::Conflict)
    );
}

#[test]
fn batch_and_topic_similarity_limit_what_one_summary_covers() {
    let sizes = |rules: Rules| {
        let mut test_store = store_with(rules);
        for i in 0..12 {
            // Cosine 0.64 within a subject, 0 between two.
            let text = format!("Line {i} of a week");
            episode(&mut test_store, "a", &text, MONDAY, Some(&about(i % 2, i)));
        }
        let steps = plan(&test_store).to_reply().steps;
        steps.iter().map(|report| report.members.len()).collect::<Vec<_>>()
    };
    assert_eq!(sizes(Rules::default()), [6, 6]);
    assert_eq!(sizes(Rules { compaction_batch: 3, ..Rules::default() }), [3, 3, 3, 3]);
    assert_eq!(sizes(Rules { topic_similarity: 0.0, ..Rules::default() }), [12]);
}

#[test]
fn a_huge_week_becomes_many_bounded_steps() {
    let mut test_store = store_with(Rules::default());
    for i in 0..600 {
        episode(
            &mut test_store,
            "a",
            &format!("Line {i} of a long week"),
            MONDAY,
            Some(&about(i % 3, i % 250)),
        );
    }
    let planned = plan(&test_store);
    let sizes: Vec<usize> =
        planned.to_reply().steps.iter().map(|report| report.members.len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 600);
    assert!(sizes.iter().all(|size| (3..=MAX_TOPIC).contains(size)), "{sizes:?}");
    let made = step(&mut test_store, &planned.steps[0]).made.expect("the summary is stored");
    assert!(memory(&test_store, &made).content.chars().count() <= 1000);
}

#[test]
fn a_hard_delete_keeps_the_dates_of_the_other_lines() {
    let mut test_store = store_with(Rules::default());
    let mut ids = Vec::new();
    for i in 0..6 {
        let text = format!("2025-12-15: event {i} of the gateway was caused by disk {i}");
        let arguments = json!({"content": text, "type": "episodic"});
        ids.push(test_store.store("a", arguments, Some(&about(0, i))).id);
    }
    let made = run(&mut test_store)[0].made.clone().expect("the summary is stored");
    let content = memory(&test_store, &made).content;
    assert_eq!(content.matches("2025-12-15").count(), 1, "the date is written once: {content}");
    let first = content.lines().next().expect("the summary has lines");
    let number = (0..6).find(|i| first.contains(&format!("event {i} "))).expect("it is quoted");
    test_store
        .forget("a", json!({"memory_id": ids[number], "hard_delete": true}))
        .expect("the memory is deleted");
    let rest = memory(&test_store, &made).content;
    assert!(!rest.contains(&format!("event {number} ")), "{rest}");
    assert!(rest.starts_with("2025-12-15: event "), "{rest}");
    assert_eq!(rest.matches("2025-12-15").count(), 1, "{rest}");
}
