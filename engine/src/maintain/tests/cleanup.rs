//! Cleanup: which memories are forgotten, which are not, and how long it can be undone.

use crate::maintain::tests::*;
use crate::transaction::access::Accesses;
use loci_proto::requests::cleanup::CleanupRequest;
use loci_proto::requests::pin::PinRequest;
use loci_proto::requests::undo::UndoRequest;

/// Stores an episode with this confidence.
fn store_with_confidence(test_store: &mut TestStore, text: &str, confidence: f64) -> MemoryId {
    test_store
        .store("a", json!({"content": text, "type": "episodic", "confidence": confidence}), None)
        .id
}

/// Returns the memories that a cleanup would forget.
fn cleanup_candidates(test_store: &TestStore) -> Vec<MemoryId> {
    test_store
        .reader
        .faded(test_store.now)
        .expect("the candidates are listed")
        .memories
        .into_iter()
        .map(|m| m.id)
        .collect()
}

fn cleanup(test_store: &mut TestStore) -> loci_proto::requests::cleanup::CleanupReply {
    let (call, at) = (test_store.call("a", None), Some(test_store.now.0));
    test_store
        .writer
        .cleanup(&call, &CleanupRequest { dry_run: false, at })
        .expect("the cleanup succeeds")
}

/// Returns the number of cleanup candidates after some days in a store with one memory.
fn candidates_after(rules: Rules, days: i64) -> usize {
    let mut test_store = store_with(rules);
    store_with_confidence(&mut test_store, "Hardly sure", 0.1);
    advance_days(&mut test_store, days);
    cleanup_candidates(&test_store).len()
}

#[test]
fn cleanup_confidence_floor_limits_which_memories_are_forgotten() {
    // 0.1 × 0.95^(100/7) is 0.048.
    let rules = |floor| Rules { cleanup_confidence_floor: floor, ..Rules::default() };
    assert_eq!([0.05, 0.04].map(|floor| candidates_after(rules(floor), 100)), [1, 0]);
}

#[test]
fn cleanup_no_access_days_limits_which_memories_are_forgotten() {
    let rules = |days| Rules { cleanup_no_access_days: days, ..Rules::default() };
    assert_eq!([100.0, 101.0].map(|days| candidates_after(rules(days), 100)), [1, 0]);
}

#[test]
fn pinned_used_and_superseded_memories_are_not_forgotten() {
    let mut test_store = store_with(Rules::default());
    let (pinned, used, unused) = (
        store_with_confidence(&mut test_store, "Pinned", 0.01),
        store_with_confidence(&mut test_store, "Used", 0.01),
        store_with_confidence(&mut test_store, "Unused", 0.01),
    );
    let old = store_with_confidence(&mut test_store, "Replaced", 0.01);
    test_store.store(
        "a",
        json!({"content": "The replacement", "type": "episodic", "supersedes": old}),
        None,
    );
    let call = test_store.call("a", None);
    test_store
        .writer
        .pin(&call, &PinRequest { memory_id: pinned, pinned: true, group: None })
        .expect("the memory is pinned");
    advance_days(&mut test_store, 95);
    let seq = memory(&test_store, &used).seq;
    let accesses = std::collections::HashMap::from([(seq, Accesses::boosting(1))]);
    test_store
        .writer
        .touch(&accesses, test_store.now.plus(-10 * DAY), crate::transaction::access::Boosting::Off)
        .expect("the access is counted");
    assert_eq!(cleanup_candidates(&test_store), std::slice::from_ref(&unused));
    let reply = cleanup(&mut test_store);
    assert_eq!((reply.memories.len(), reply.act.is_some()), (1, true));
    assert_eq!(
        (status(&test_store, &unused), status(&test_store, &old)),
        ("forgotten", "superseded")
    );
}

#[test]
fn a_cleanup_is_one_act_and_can_be_undone() {
    let mut test_store = store_with(Rules::default());
    let ids: Vec<MemoryId> = (0..4)
        .map(|i| store_with_confidence(&mut test_store, &format!("Faint {i}"), 0.01))
        .collect();
    advance_days(&mut test_store, 95);
    let before = dump(&test_store);
    let act = cleanup(&mut test_store).act.expect("the cleanup is an act");
    assert!(ids.iter().all(|id| status(&test_store, id) == "forgotten"));
    advance_days(&mut test_store, 29);
    assert_eq!(purge(&mut test_store), 0);
    let call = test_store.call("a", None);
    test_store
        .writer
        .undo(&call, &UndoRequest { id: Some(act), ..UndoRequest::default() })
        .expect("the cleanup is undone");
    assert_eq!(dump(&test_store), before);
}

fn purge(test_store: &mut TestStore) -> usize {
    let call = CallContext { now: test_store.now, actor: actor(""), key: None, shown: None };
    test_store.writer.purge(&call, 3).expect("the memories are deleted")
}

#[test]
fn cleaned_up_memories_are_deleted_in_small_steps_after_30_days() {
    let mut test_store = store_with(Rules::default());
    let ids: Vec<MemoryId> = (0..4)
        .map(|i| store_with_confidence(&mut test_store, &format!("Faint {i}"), 0.01))
        .collect();
    advance_days(&mut test_store, 95);
    cleanup(&mut test_store);
    let other = store_with_confidence(&mut test_store, "Forgotten by hand", 0.5);
    let request = loci_proto::requests::forget::ForgetRequest {
        memory_id: other.clone(),
        reason: None,
        hard_delete: false,
        rejected: false,
        group: None,
    };
    let call = test_store.call("a", None);
    test_store.writer.forget(&call, &request).expect("the memory is forgotten");
    advance_days(&mut test_store, 31);
    assert_eq!([purge(&mut test_store), purge(&mut test_store), purge(&mut test_store)], [3, 1, 0]);
    for id in &ids {
        assert!(
            memories::by_id(&test_store.reader.conn, id).expect("the row is readable").is_none()
        );
        assert!(
            crate::db::tombstones::has(&test_store.reader.conn, id)
                .expect("the tombstone is readable")
        );
    }
    assert_eq!(status(&test_store, &other), "forgotten");
}

#[test]
fn memories_used_after_the_candidates_were_listed_are_not_forgotten() {
    let mut test_store = store_with(Rules::default());
    let (first, second) = (
        store_with_confidence(&mut test_store, "First", 0.01),
        store_with_confidence(&mut test_store, "Second", 0.01),
    );
    advance_days(&mut test_store, 95);
    let at = test_store.now.0;
    let seq = memory(&test_store, &first).seq;
    test_store
        .writer
        .touch(
            &std::collections::HashMap::from([(seq, Accesses::boosting(1))]),
            test_store.now,
            crate::transaction::access::Boosting::On,
        )
        .expect("the access is counted");
    let call = test_store.call("a", None);
    test_store
        .writer
        .cleanup(&call, &CleanupRequest { dry_run: false, at: Some(at) })
        .expect("the cleanup succeeds");
    assert_eq!(
        (status(&test_store, &first), status(&test_store, &second)),
        ("active", "forgotten")
    );
}

#[test]
fn stats_count_flagged_memories() {
    let mut test_store = store_with(Rules::default());
    store_with_confidence(&mut test_store, "Faint", 0.05);
    store_with_confidence(&mut test_store, "Clear", 0.5);
    let stats = test_store
        .reader
        .stats(
            &loci_proto::requests::stats::StatsRequest::default(),
            &crate::tests::fixture::named("a"),
            test_store.now,
        )
        .expect("the memories are counted");
    assert_eq!(stats.flagged, 1);
}

/// Returns the confidence of a memory one week after it was stored with confidence 1.
fn confidence_after_a_week(kind: &str, decay: crate::model::decay::Decay) -> f64 {
    let mut test_store = TestStore::with(Settings { decay, ..Settings::for_model("test") });
    test_store.store("a", json!({"content": "Sure", "type": kind}), None);
    advance_days(&mut test_store, 7);
    let listed = test_store
        .reader
        .list(
            &loci_proto::requests::list::ListRequest::default(),
            &crate::tests::fixture::named("a"),
            test_store.now,
        )
        .expect("the memories are listed");
    (listed.memories[0].confidence.get() * 1e4).round() / 1e4
}

#[test]
fn decay_factors_and_the_interval_set_the_rate_of_decay() {
    use crate::model::decay::Decay;
    let default = Decay::default();
    assert_eq!(
        (
            confidence_after_a_week("episodic", default).to_string(),
            confidence_after_a_week("semantic", default).to_string()
        ),
        ("0.95".to_owned(), "0.99".to_owned())
    );
    let episodes = Decay { episodic_factor: 0.8, ..default };
    assert_eq!(
        (
            confidence_after_a_week("episodic", episodes).to_string(),
            confidence_after_a_week("semantic", episodes).to_string()
        ),
        ("0.8".to_owned(), "0.99".to_owned())
    );
    let others = Decay { semantic_factor: 0.7, ..default };
    assert_eq!(
        (
            confidence_after_a_week("episodic", others).to_string(),
            confidence_after_a_week("semantic", others).to_string()
        ),
        ("0.95".to_owned(), "0.7".to_owned())
    );
    let slower = Decay { interval_days: 14.0, ..default };
    assert_eq!(
        (
            confidence_after_a_week("episodic", slower).to_string(),
            confidence_after_a_week("semantic", slower).to_string()
        ),
        ("0.9747".to_owned(), "0.995".to_owned())
    );
}
