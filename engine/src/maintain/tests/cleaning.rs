//! Cleanup: what goes, what never goes, and for how long it can be brought back.

use crate::maintain::tests::*;
use loci_proto::requests::cleanup::CleanupRequest;
use loci_proto::requests::pin::PinRequest;
use loci_proto::requests::undo::UndoRequest;

fn faint(test_store: &mut TestStore, text: &str, confidence: f64) -> MemoryId {
    test_store
        .store("a", json!({"content": text, "type": "episodic", "confidence": confidence}), None)
        .id
}

fn listed(test_store: &TestStore) -> Vec<MemoryId> {
    test_store
        .reader
        .faded(test_store.now)
        .expect("is read")
        .memories
        .into_iter()
        .map(|m| m.id)
        .collect()
}

fn cleanup(test_store: &mut TestStore) -> loci_proto::requests::cleanup::CleanupReply {
    let (call, at) = (test_store.call("a", None), Some(test_store.now.0));
    test_store.writer.cleanup(&call, &CleanupRequest { dry_run: false, at }).expect("is done")
}

fn after(rules: Rules, days: i64) -> usize {
    let mut test_store = store_with(rules);
    faint(&mut test_store, "Hardly sure", 0.1);
    later(&mut test_store, days);
    listed(&test_store).len()
}

#[test]
fn cleanup_confidence_floor_limits_which_memories_are_forgotten() {
    // 0.1 × 0.95^(100/7) is 0.048.
    let rules = |floor| Rules { cleanup_confidence_floor: floor, ..Rules::default() };
    assert_eq!([0.05, 0.04].map(|floor| after(rules(floor), 100)), [1, 0]);
}

#[test]
fn cleanup_no_access_days_limits_which_memories_are_forgotten() {
    let rules = |days| Rules { cleanup_no_access_days: days, ..Rules::default() };
    assert_eq!([100.0, 101.0].map(|days| after(rules(days), 100)), [1, 0]);
}

#[test]
fn pinned_used_and_superseded_memories_stay() {
    let mut test_store = store_with(Rules::default());
    let (pinned, used, gone) = (
        faint(&mut test_store, "Pinned", 0.01),
        faint(&mut test_store, "Used", 0.01),
        faint(&mut test_store, "Unused", 0.01),
    );
    let old = faint(&mut test_store, "Replaced", 0.01);
    test_store.store(
        "a",
        json!({"content": "The replacement", "type": "episodic", "supersedes": old}),
        None,
    );
    let call = test_store.call("a", None);
    test_store
        .writer
        .pin(&call, &PinRequest { memory_id: pinned, pinned: true, group: None })
        .expect("is pinned");
    later(&mut test_store, 95);
    let seq = memory(&test_store, &used).seq;
    let accesses = std::collections::HashMap::from([(seq, 1)]);
    test_store
        .writer
        .touch(&accesses, test_store.now.plus(-10 * DAY), crate::transaction::access::Boosting::Off)
        .expect("is counted");
    assert_eq!(listed(&test_store), std::slice::from_ref(&gone));
    let reply = cleanup(&mut test_store);
    assert_eq!((reply.memories.len(), reply.act.is_some()), (1, true));
    assert_eq!(
        (status(&test_store, &gone), status(&test_store, &old)),
        ("forgotten", "superseded")
    );
}

#[test]
fn a_cleanup_is_one_act_and_can_be_undone() {
    let mut test_store = store_with(Rules::default());
    let ids: Vec<MemoryId> =
        (0..4).map(|i| faint(&mut test_store, &format!("Faint {i}"), 0.01)).collect();
    later(&mut test_store, 95);
    let before = dump(&test_store);
    let act = cleanup(&mut test_store).act.expect("was done");
    assert!(ids.iter().all(|id| status(&test_store, id) == "forgotten"));
    later(&mut test_store, 29);
    assert_eq!(purge(&mut test_store), 0);
    let call = test_store.call("a", None);
    test_store
        .writer
        .undo(&call, &UndoRequest { id: Some(act), ..UndoRequest::default() })
        .expect("is undone");
    assert_eq!(dump(&test_store), before);
}

fn purge(test_store: &mut TestStore) -> usize {
    let call = CallContext { now: test_store.now, actor: actor(""), key: None };
    test_store.writer.purge(&call, 3).expect("is done")
}

#[test]
fn cleaned_up_memories_are_deleted_in_small_steps_a_month_later() {
    let mut test_store = store_with(Rules::default());
    let ids: Vec<MemoryId> =
        (0..4).map(|i| faint(&mut test_store, &format!("Faint {i}"), 0.01)).collect();
    later(&mut test_store, 95);
    cleanup(&mut test_store);
    let other = faint(&mut test_store, "Forgotten by hand", 0.5);
    let request = loci_proto::requests::forget::ForgetRequest {
        memory_id: other.clone(),
        reason: None,
        hard_delete: false,
        group: None,
    };
    let call = test_store.call("a", None);
    test_store.writer.forget(&call, &request).expect("is forgotten");
    later(&mut test_store, 31);
    assert_eq!([purge(&mut test_store), purge(&mut test_store), purge(&mut test_store)], [3, 1, 0]);
    for id in &ids {
        assert!(memories::by_id(&test_store.reader.conn, id).expect("is read").is_none());
        assert!(crate::db::tombstones::has(&test_store.reader.conn, id).expect("is read"));
    }
    assert_eq!(status(&test_store, &other), "forgotten");
}

#[test]
fn memories_used_after_the_list_was_shown_stay() {
    let mut test_store = store_with(Rules::default());
    let (first, second) =
        (faint(&mut test_store, "First", 0.01), faint(&mut test_store, "Second", 0.01));
    later(&mut test_store, 95);
    let at = test_store.now.0;
    let seq = memory(&test_store, &first).seq;
    test_store
        .writer
        .touch(
            &std::collections::HashMap::from([(seq, 1)]),
            test_store.now,
            crate::transaction::access::Boosting::On,
        )
        .expect("is counted");
    let call = test_store.call("a", None);
    test_store
        .writer
        .cleanup(&call, &CleanupRequest { dry_run: false, at: Some(at) })
        .expect("is done");
    assert_eq!(
        (status(&test_store, &first), status(&test_store, &second)),
        ("active", "forgotten")
    );
}

#[test]
fn stats_count_flagged_memories() {
    let mut test_store = store_with(Rules::default());
    faint(&mut test_store, "Faint", 0.05);
    faint(&mut test_store, "Clear", 0.5);
    let stats = test_store
        .reader
        .stats(
            &loci_proto::requests::stats::StatsRequest::default(),
            &crate::tests::fixture::named("a"),
            test_store.now,
        )
        .expect("counts");
    assert_eq!(stats.flagged, 1);
}

/// What is left of a sure memory after a week.
fn left(kind: &str, decay: crate::model::decay::Decay) -> f64 {
    let mut test_store = TestStore::with(Settings { decay, ..Settings::for_model("test") });
    test_store.store("a", json!({"content": "Sure", "type": kind}), None);
    later(&mut test_store, 7);
    let listed = test_store
        .reader
        .list(
            &loci_proto::requests::list::ListRequest::default(),
            &crate::tests::fixture::named("a"),
            test_store.now,
        )
        .expect("is listed");
    (listed.memories[0].confidence.get() * 1e4).round() / 1e4
}

#[test]
fn decay_factors_and_the_interval_set_the_rate_of_decay() {
    use crate::model::decay::Decay;
    let usual = Decay::default();
    assert_eq!(
        (left("episodic", usual).to_string(), left("semantic", usual).to_string()),
        ("0.95".to_owned(), "0.99".to_owned())
    );
    let episodes = Decay { episodic_factor: 0.8, ..usual };
    assert_eq!(
        (left("episodic", episodes).to_string(), left("semantic", episodes).to_string()),
        ("0.8".to_owned(), "0.99".to_owned())
    );
    let others = Decay { semantic_factor: 0.7, ..usual };
    assert_eq!(
        (left("episodic", others).to_string(), left("semantic", others).to_string()),
        ("0.95".to_owned(), "0.7".to_owned())
    );
    let slower = Decay { interval_days: 14.0, ..usual };
    assert_eq!(
        (left("episodic", slower).to_string(), left("semantic", slower).to_string()),
        ("0.9747".to_owned(), "0.995".to_owned())
    );
}
