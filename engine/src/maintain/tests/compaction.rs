//! Compaction: which episodes, what the summary says, and that nothing is lost.

use crate::maintain::tests::*;
use crate::maintain::topics::MOST;
use crate::model::encoding::DocumentEncoding;
use loci_proto::error::Code;
use loci_proto::requests::forget::ForgetRequest;
use loci_proto::requests::pin::PinRequest;

fn forget(house: &mut House, id: &MemoryId) {
    let call = house.call("a", None);
    let request =
        ForgetRequest { memory_id: id.clone(), reason: None, hard_delete: false, group: None };
    house.writer.forget(&call, &request).expect("is forgotten");
}

fn members(rules: Rules, count: usize) -> usize {
    let mut house = house(rules);
    week(&mut house, "a", 0, count);
    plan(&house).told().compacted
}

#[test]
fn a_week_of_four_is_left_and_a_week_of_five_is_compacted() {
    assert_eq!([4, 5].map(|count| members(Rules::default(), count)), [0, 5]);
}

#[test]
fn compaction_min_group_size_changes_which_weeks_are_compacted() {
    let rules = |n| Rules { compaction_min_group_size: n, ..Rules::default() };
    assert_eq!([3, 4].map(|n| members(rules(n), 3)), [3, 0]);
    assert_eq!([2, 6].map(|n| members(rules(n), 5)), [5, 0]);
}

#[test]
fn compaction_age_days_changes_which_weeks_are_compacted() {
    let rules = |days| Rules { compaction_age_days: days, ..Rules::default() };
    assert_eq!(
        [47.0, 48.0].map(|days| members(rules(days), 5)),
        [5, 0],
        "exactly as old is not older"
    );
}

#[test]
fn a_memory_without_a_date_has_that_of_its_storing() {
    let mut house = house(Rules::default());
    for i in 0..5 {
        house.store(
            "a",
            json!({"content": format!("Undated {i}"), "type": "episodic"}),
            Some(&about(0, i)),
        );
    }
    assert_eq!(plan(&house).steps.len(), 0);
    later(&mut house, 31);
    assert_eq!(plan(&house).told().compacted, 5);
}

#[test]
fn weeks_projects_and_audiences_do_not_mix() {
    let mut house = house(Rules::default());
    week(&mut house, "a", 0, 3);
    week(&mut house, "b", 0, 2);
    episode(&mut house, "a", "The week before", "2025-12-14", Some(&about(0, 50)));
    for i in 0..4 {
        let arguments = json!({"content": format!("For all {i}"), "type": "episodic", "scope": "global", "metadata": {"event_date": MONDAY}});
        house.store("a", arguments, Some(&about(0, 51 + i)));
    }
    assert_eq!(plan(&house), Plan::default());
}

#[test]
fn pinned_ending_and_made_memories_are_left() {
    let mut house = house(Rules::default());
    let ids = week(&mut house, "a", 0, 5);
    let call = house.call("a", None);
    house
        .writer
        .pin(&call, &PinRequest { memory_id: ids[0].clone(), pinned: true, group: None })
        .expect("is pinned");
    assert_eq!(plan(&house), Plan::default());
    for (text, extra) in
        [("One that ends", json!({})), ("A summary of before", json!({"summary": true}))]
    {
        let mut metadata = extra;
        metadata["event_date"] = json!(MONDAY);
        let mut arguments = json!({"content": text, "type": "episodic", "metadata": metadata});
        if text.ends_with("ends") {
            arguments["ttl_seconds"] = json!(100_000);
        }
        house.store("a", arguments, None);
    }
    assert_eq!(plan(&house), Plan::default());
}

#[test]
fn the_summary_names_its_sources_and_they_stand_below_it() {
    let mut house = house(Rules::default());
    let ids = week(&mut house, "a", 0, 6);
    let done = run(&mut house);
    let made = done[0].made.clone().expect("is made");
    let summary = memory(&house, &made);
    assert_eq!(
        (field(&summary, "summary"), field(&summary, "method")),
        (json!(true), json!("extractive"))
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
            (status(&house, id), memory(&house, id).superseded_by),
            ("compacted", Some(made.to_string()))
        );
    }
    let sources = memories::sources(&house.reader.conn, summary.seq).expect("is read");
    assert_eq!(sources.iter().map(|m| m.id.clone()).collect::<Vec<_>>(), ids);
    let found = house
        .recall("a", json!({"query": "mail gateway episode", "max_results": 20}), None)
        .reply
        .results;
    assert_eq!((found.len(), &found[0].id), (7, &made), "the summary first, then its sources");
    let shown = house.recall("a", json!({"ids": ids}), None).reply.results;
    assert_eq!((shown.len(), shown[0].status.as_deref()), (6, Some("compacted")));
}

#[test]
fn a_summary_is_as_sure_as_its_memories_are_on_average() {
    let mut house = house(Rules::default());
    for i in 0..5 {
        let confidence = if i == 0 { 0.2 } else { 0.7 };
        let metadata = json!({"event_date": MONDAY});
        let arguments = json!({"content": format!("Sure {i}"), "type": "episodic", "confidence": confidence, "metadata": metadata});
        house.store("a", arguments, Some(&about(0, i)));
    }
    let made = run(&mut house)[0].made.clone().expect("is made");
    assert!((memory(&house, &made).anchor.confidence.get() - 0.6).abs() < 1e-9);
}

#[test]
fn undo_restores_exactly_and_the_cluster_is_not_made_again() {
    let mut house = house(Rules::default());
    week(&mut house, "a", 0, 6);
    week(&mut house, "a", 1, 5);
    let before = dump(&house);
    assert_eq!(run(&mut house).len(), 2);
    assert_ne!(dump(&house), before);
    undo_last(&mut house);
    undo_last(&mut house);
    assert_eq!(dump(&house), before);
    assert_eq!(plan(&house), Plan::default());
    assert_eq!(
        house.found("a", json!({"query": "mail gateway", "max_results": 20}), None).len(),
        6,
        "and the index knows"
    );
}

#[test]
fn what_is_forgotten_while_a_run_is_under_way_is_in_no_summary() {
    let mut house = house(Rules::default());
    let ids = week(&mut house, "a", 0, 6);
    let planned = plan(&house);
    let Step::Compact(cluster) = &planned.steps[0] else { panic!("is a cluster") };
    let draft = house.reader.draft(cluster).expect("is read").expect("is there");
    forget(&mut house, &ids[2]);
    let call = CallContext { now: house.now, actor: actor("a"), key: None };
    let deed = house
        .writer
        .compact(&call, cluster, &draft, &DocumentEncoding::default())
        .expect("is left out");
    assert_eq!((deed.made, deed.journal), (None, None));
    assert_eq!(status(&house, &ids[0]), "active");
    let made = run(&mut house)[0].made.clone().expect("the five that are left");
    assert!(!memory(&house, &made).content.contains("Episode 2 "));
    assert_eq!(status(&house, &ids[2]), "forgotten");
}

#[test]
fn a_hard_forgotten_memory_leaves_its_summary_too() {
    let mut house = house(Rules::default());
    let ids = week(&mut house, "a", 0, 6);
    let made = run(&mut house)[0].made.clone().expect("is made");
    assert!(memory(&house, &made).content.contains("Episode 3 "));
    let call = house.call("a", None);
    let request =
        ForgetRequest { memory_id: ids[3].clone(), reason: None, hard_delete: true, group: None };
    house.writer.forget(&call, &request).expect("is forgotten");
    let summary = memory(&house, &made);
    assert!(
        !summary.content.contains("Episode 3 ") && summary.content.contains("Episode 4 "),
        "{}",
        summary.content
    );
    assert_eq!(field(&summary, "source_ids").as_array().map(Vec::len), Some(5));
    assert!(
        house
            .found("a", json!({"query": "\"Episode 3\" kept apart by 03"}), None)
            .iter()
            .all(|text| !text.contains("Episode 3 "))
    );
    let refused = house.writer.undo(&call, &UndoRequest { last: true, ..UndoRequest::default() });
    assert!(
        matches!(refused, Err(crate::error::Error::Refused(failure)) if failure.code == Code::Conflict)
    );
}

#[test]
fn a_huge_week_becomes_many_bounded_steps() {
    let mut house = house(Rules::default());
    for i in 0..600 {
        episode(
            &mut house,
            "a",
            &format!("Line {i} of a long week"),
            MONDAY,
            Some(&about(i % 3, i % 250)),
        );
    }
    let planned = plan(&house);
    let sizes: Vec<usize> = planned.told().steps.iter().map(|deed| deed.members.len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 600);
    assert!(sizes.iter().all(|size| (3..=MOST).contains(size)), "{sizes:?}");
    let made = step(&mut house, &planned.steps[0]).made.expect("is made");
    assert!(memory(&house, &made).content.chars().count() <= 1000);
}
