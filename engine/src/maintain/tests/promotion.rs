//! Promotion: a statement that is repeated three times becomes one fact of the projects that state
//! it.

use crate::maintain::tests::*;
use crate::transaction::access::{Accesses, Boosting};
use loci_proto::memory::{MemoryType, Scope};
use std::collections::HashMap;

/// Stores similar episodes that are too recent for compaction; the cosine of two of them is the
/// square of `lean`. Returns their ids.
fn repeat(test_store: &mut TestStore, group: &str, count: usize, lean: f32) -> Vec<MemoryId> {
    let first = if group == "a" { 0 } else { 30 };
    (0..count)
        .map(|i| {
            let place = if group == "b" { "Bergen" } else { group };
            let text = format!("In {place} the user asked for tabs, time {i}");
            let vector = between_axes(7, 200 + first + i, lean);
            episode(test_store, group, &text, "2026-01-31", Some(&vector))
        })
        .collect()
}

/// Returns the number of planned promotions of a store with similar episodes.
fn planned_facts(rules: Rules, count: usize, lean: f32) -> usize {
    let mut test_store = store_with(rules);
    repeat(&mut test_store, "a", count, lean);
    plan(&test_store).to_reply().promoted
}

#[test]
fn promotion_threshold_is_the_minimum_number_of_episodes() {
    let rules = |n| Rules { promotion_threshold: n, ..Rules::default() };
    assert_eq!([2, 3].map(|count| planned_facts(Rules::default(), count, 0.97)), [0, 1]);
    assert_eq!([2, 4].map(|n| planned_facts(rules(n), 3, 0.97)), [1, 0]);
}

#[test]
fn promotion_similarity_is_the_minimum_cosine() {
    let rules = |similarity| Rules { promotion_similarity: similarity, ..Rules::default() };
    // Cosines of 0.81 to each other.
    assert_eq!([0.8, 0.85].map(|similarity| planned_facts(rules(similarity), 3, 0.9)), [1, 0]);
}

#[test]
fn similar_reports_of_different_events_are_not_promoted() {
    let promoted = |texts: [&str; 3]| {
        let mut test_store = store_with(Rules::default());
        for (i, text) in texts.into_iter().enumerate() {
            episode(
                &mut test_store,
                "a",
                text,
                "2026-01-31",
                Some(&between_axes(7, 200 + i, 0.97)),
            );
        }
        plan(&test_store).to_reply().promoted
    };
    let report = |ticket, person, place| {
        format!("{person} traced ticket {ticket} about the mail gateway in {place} to a full disk.")
    };
    let (one, two, three) =
        (report(311, "Anna", "Oslo"), report(8125, "Bruno", "Lima"), report(77, "Chidi", "Porto"));
    assert_eq!(promoted([&one, &two, &three]), 0);
    let (two, three) = (report(8125, "Anna", "Oslo"), report(77, "Anna", "Oslo"));
    assert_eq!(promoted([&one, &two, &three]), 1, "one differing value may be a detail");
}

#[test]
fn a_fact_is_linked_with_its_episodes_which_do_not_change() {
    let mut test_store = store_with(Rules::default());
    let ids = repeat(&mut test_store, "a", 3, 0.97);
    let seq = memory(&test_store, &ids[1]).seq;
    test_store
        .writer
        .touch(&HashMap::from([(seq, Accesses::boosting(2))]), test_store.now, Boosting::Off)
        .expect("the accesses are counted");
    let before: Vec<_> = ids.iter().map(|id| format!("{:?}", memory(&test_store, id))).collect();
    let report = run(&mut test_store).remove(0);
    let fact = memory(&test_store, &report.made.expect("the fact is stored"));
    assert_eq!(
        (fact.kind, fact.scope, fact.content.as_str()),
        (MemoryType::Semantic, Scope::Group, "In a the user asked for tabs, time 1")
    );
    assert_eq!(
        report.from.as_ref(),
        Some(&ids[1]),
        "among equally central episodes, the one with most accesses"
    );
    assert_eq!((field(&fact, "promoted"), field(&fact, "source_ids")), (json!(true), json!(ids)));
    assert_eq!(
        ids.iter().map(|id| format!("{:?}", memory(&test_store, id))).collect::<Vec<_>>(),
        before
    );
    let sources =
        memories::sources(&test_store.reader.conn, fact.seq).expect("the sources are read");
    assert_eq!(sources.iter().map(|m| m.id.clone()).collect::<Vec<_>>(), ids);
    assert_eq!(
        test_store.found("b", json!({"query": "tabs"}), None),
        Vec::<String>::new(),
        "another project does not see it"
    );
}

#[test]
fn a_fact_has_the_sign_codes_of_its_episode() {
    let mut test_store = store_with(Rules::default());
    for i in 0..3 {
        let text = format!("The user asked for tabs, time {i}");
        let arguments =
            json!({"content": text, "type": "episodic", "metadata": {"event_date": "2026-01-31"}});
        test_store.session = format!("s{}", i % 2);
        test_store.store_encoded(
            "a",
            arguments,
            &crate::tests::fixture::document_encoding(&text, between_axes(7, 200 + i, 0.97)),
        );
    }
    let made = run(&mut test_store).remove(0).made.expect("the fact is stored");
    let fact = memory(&test_store, &made).seq;
    let index = test_store.reader.shared.index();
    let (fact, first) = (
        index.slot(fact).expect("the fact is in the index"),
        index.slot(1).expect("the episode is in the index"),
    );
    assert!(index.codes(first).is_some_and(|codes| !codes.is_empty()));
    assert_eq!(index.codes(fact), index.codes(first));
}

#[test]
fn the_confidence_of_a_fact_is_the_mean_of_its_episodes() {
    let mut test_store = store_with(Rules::default());
    repeat(&mut test_store, "a", 3, 0.97);
    advance_days(&mut test_store, 7);
    let made = run(&mut test_store)[0].made.clone().expect("the fact is stored");
    assert!((memory(&test_store, &made).anchor.confidence.get() - 0.95).abs() < 1e-9);
}

#[test]
fn no_episode_is_promoted_twice() {
    let mut test_store = store_with(Rules::default());
    repeat(&mut test_store, "a", 3, 0.97);
    run(&mut test_store);
    assert_eq!(plan(&test_store), Plan::default());
    episode(
        &mut test_store,
        "a",
        "In a the user asked for tabs once more",
        "2026-01-31",
        Some(&between_axes(7, 260, 0.97)),
    );
    assert_eq!(
        plan(&test_store),
        Plan::default(),
        "the same episodes and one more are not promoted again"
    );
    undo_last(&mut test_store);
    assert_eq!(plan(&test_store), Plan::default(), "an undone promotion is not repeated");
}

#[test]
fn summaries_and_forgotten_episodes_are_not_promoted() {
    let mut test_store = store_with(Rules::default());
    let ids = repeat(&mut test_store, "a", 3, 0.97);
    let request = loci_proto::requests::forget::ForgetRequest {
        memory_id: ids[0].clone(),
        reason: None,
        hard_delete: false,
        rejected: false,
        group: None,
    };
    let call = test_store.call("a", None);
    test_store.writer.forget(&call, &request).expect("the memory is forgotten");
    let arguments =
        json!({"content": "Tabs, summed up", "type": "episodic", "metadata": {"summary": true}});
    test_store.store("a", arguments, Some(&between_axes(7, 270, 0.97)));
    assert_eq!(plan(&test_store), Plan::default());
}

#[test]
fn compacted_episodes_can_be_promoted() {
    let mut test_store = store_with(Rules { promotion_threshold: 6, ..Rules::default() });
    for i in 0..6 {
        episode(
            &mut test_store,
            "a",
            &format!("Tabs again {i}"),
            MONDAY,
            Some(&between_axes(7, 200 + i, 0.97)),
        );
    }
    let planned = plan(&test_store);
    assert_eq!(planned.steps.len(), 2);
    step(&mut test_store, &planned.steps[0]);
    assert_eq!(plan(&test_store).steps, planned.steps[1..]);
    assert!(step(&mut test_store, &planned.steps[1]).made.is_some());
}

#[test]
fn a_fact_is_global_only_if_two_projects_agree() {
    let mut test_store = store_with(Rules::default());
    repeat(&mut test_store, "a", 3, 0.97);
    repeat(&mut test_store, "b", 4, 0.97);
    let done = run(&mut test_store);
    assert_eq!((done.len(), done[0].scope, done[0].members.len()), (1, Scope::Global, 7));
    let fact = memory(&test_store, &done[0].made.clone().expect("the fact is stored"));
    assert!(
        fact.content.starts_with("In Bergen "),
        "the text is that of the larger group: {}",
        fact.content
    );
    assert_eq!(test_store.found("c", json!({"query": "tabs"}), None).len(), 1);
}

#[test]
fn similar_but_different_facts_of_two_projects_stay_local() {
    let mut test_store = store_with(Rules::default());
    for (group, pin) in [("a", 4711), ("b", 9023)] {
        for (i, verb) in ["told me", "told me again", "reminded me"].into_iter().enumerate() {
            let text = format!("The user {verb} that the PIN of the safe is {pin}");
            episode(
                &mut test_store,
                group,
                &text,
                "2026-01-31",
                Some(&between_axes(7, 200 + pin / 100 + i, 0.945)),
            );
        }
    }
    let done = run(&mut test_store);
    assert_eq!(
        done.iter().map(|report| (report.scope, report.members.len())).collect::<Vec<_>>(),
        [(Scope::Group, 3), (Scope::Group, 3)]
    );
    assert!(test_store.found("c", json!({"query": "PIN of the safe"}), None).is_empty());
}

#[test]
fn an_existing_fact_is_linked_and_not_stored_again() {
    let mut test_store = store_with(Rules::default());
    let ids = repeat(&mut test_store, "a", 3, 0.97);
    let text = memory(&test_store, &ids[0]).content;
    let arguments = json!({"content": text, "type": "semantic", "scope": "group"});
    let known = test_store.store("a", arguments, Some(&between_axes(7, 200, 0.97))).id;
    let before = dump(&test_store);
    let report = run(&mut test_store).remove(0);
    assert_eq!(
        (report.act, report.made.as_ref()),
        (loci_proto::requests::maintenance::StepKind::Link, Some(&known))
    );
    assert_eq!(dump(&test_store), before, "no memory was stored or changed");
    assert_eq!(
        memories::sources(&test_store.reader.conn, memory(&test_store, &known).seq)
            .expect("the sources are read")
            .len(),
        3
    );
    undo_last(&mut test_store);
    assert_eq!(
        memories::sources(&test_store.reader.conn, memory(&test_store, &known).seq)
            .expect("the sources are read")
            .len(),
        0
    );
}

#[test]
fn an_entry_of_a_log_is_not_promoted() {
    for (text, facts) in [
        ("2025-12-15: the backup of the archive has ended without errors", 0),
        ("On 15 December 2025 the backup of the archive has ended without errors", 0),
        ("The backup of the archive is made at night", 1),
    ] {
        let mut test_store = store_with(Rules::default());
        for i in 0..3 {
            episode(
                &mut test_store,
                "a",
                &format!("{text}, time {i}"),
                "2026-01-30",
                Some(&between_axes(0, 100 + i, 0.99)),
            );
        }
        assert_eq!(plan(&test_store).to_reply().promoted, facts, "{text}");
    }
}
