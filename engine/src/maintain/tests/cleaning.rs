//! Cleanup: what goes, what never goes, and for how long it can be brought back.

use crate::maintain::tests::*;
use loci_proto::requests::cleanup::CleanupRequest;
use loci_proto::requests::pin::PinRequest;
use loci_proto::requests::undo::UndoRequest;

fn faint(house: &mut House, text: &str, confidence: f64) -> MemoryId {
    house
        .store("a", json!({"content": text, "type": "episodic", "confidence": confidence}), None)
        .id
}

fn listed(house: &House) -> Vec<MemoryId> {
    house.reader.faded(house.now).expect("is read").memories.into_iter().map(|m| m.id).collect()
}

fn cleanup(house: &mut House) -> loci_proto::requests::cleanup::CleanupReply {
    let (call, at) = (house.call("a", None), Some(house.now.0));
    house.writer.cleanup(&call, &CleanupRequest { dry_run: false, at }).expect("is done")
}

fn after(rules: Rules, days: i64) -> usize {
    let mut house = house(rules);
    faint(&mut house, "Hardly sure", 0.1);
    later(&mut house, days);
    listed(&house).len()
}

#[test]
fn cleanup_confidence_floor_says_how_faded() {
    // 0.1 × 0.95^(100/7) is 0.048.
    let rules = |floor| Rules { cleanup_confidence_floor: floor, ..Rules::default() };
    assert_eq!([0.05, 0.04].map(|floor| after(rules(floor), 100)), [1, 0]);
}

#[test]
fn cleanup_no_access_days_says_how_long_unused() {
    let rules = |days| Rules { cleanup_no_access_days: days, ..Rules::default() };
    assert_eq!([100.0, 101.0].map(|days| after(rules(days), 100)), [1, 0]);
}

#[test]
fn what_is_pinned_used_or_superseded_stays() {
    let mut house = house(Rules::default());
    let (pinned, used, gone) = (
        faint(&mut house, "Pinned", 0.01),
        faint(&mut house, "Used", 0.01),
        faint(&mut house, "Unused", 0.01),
    );
    let old = faint(&mut house, "Replaced", 0.01);
    house.store(
        "a",
        json!({"content": "The replacement", "type": "episodic", "supersedes": old}),
        None,
    );
    let call = house.call("a", None);
    house
        .writer
        .pin(&call, &PinRequest { memory_id: pinned, pinned: true, group: None })
        .expect("is pinned");
    later(&mut house, 95);
    let seq = memory(&house, &used).seq;
    let accesses = std::collections::HashMap::from([(seq, 1)]);
    house
        .writer
        .touch(&accesses, house.now.plus(-10 * DAY), crate::transaction::access::Boosting::Off)
        .expect("is counted");
    assert_eq!(listed(&house), std::slice::from_ref(&gone));
    let reply = cleanup(&mut house);
    assert_eq!((reply.memories.len(), reply.act.is_some()), (1, true));
    assert_eq!((status(&house, &gone), status(&house, &old)), ("forgotten", "superseded"));
}

#[test]
fn a_cleanup_is_one_act_and_can_be_undone() {
    let mut house = house(Rules::default());
    let ids: Vec<MemoryId> =
        (0..4).map(|i| faint(&mut house, &format!("Faint {i}"), 0.01)).collect();
    later(&mut house, 95);
    let before = dump(&house);
    let act = cleanup(&mut house).act.expect("was done");
    assert!(ids.iter().all(|id| status(&house, id) == "forgotten"));
    later(&mut house, 29);
    assert_eq!(purge(&mut house), 0);
    let call = house.call("a", None);
    house
        .writer
        .undo(&call, &UndoRequest { id: Some(act), ..UndoRequest::default() })
        .expect("is undone");
    assert_eq!(dump(&house), before);
}

fn purge(house: &mut House) -> usize {
    let call = CallContext { now: house.now, actor: actor(""), key: None };
    house.writer.purge(&call, 3).expect("is done")
}

#[test]
fn a_month_later_what_was_cleaned_up_is_gone_for_good_in_small_steps() {
    let mut house = house(Rules::default());
    let ids: Vec<MemoryId> =
        (0..4).map(|i| faint(&mut house, &format!("Faint {i}"), 0.01)).collect();
    later(&mut house, 95);
    cleanup(&mut house);
    let other = faint(&mut house, "Forgotten by hand", 0.5);
    let request = loci_proto::requests::forget::ForgetRequest {
        memory_id: other.clone(),
        reason: None,
        hard_delete: false,
        group: None,
    };
    let call = house.call("a", None);
    house.writer.forget(&call, &request).expect("is forgotten");
    later(&mut house, 31);
    assert_eq!([purge(&mut house), purge(&mut house), purge(&mut house)], [3, 1, 0]);
    for id in &ids {
        assert!(memories::by_id(&house.reader.conn, id).expect("is read").is_none());
        assert!(crate::db::tombstones::has(&house.reader.conn, id).expect("is read"));
    }
    assert_eq!(status(&house, &other), "forgotten");
}

#[test]
fn what_was_used_since_the_list_was_shown_stays() {
    let mut house = house(Rules::default());
    let (first, second) = (faint(&mut house, "First", 0.01), faint(&mut house, "Second", 0.01));
    later(&mut house, 95);
    let at = house.now.0;
    let seq = memory(&house, &first).seq;
    house
        .writer
        .touch(
            &std::collections::HashMap::from([(seq, 1)]),
            house.now,
            crate::transaction::access::Boosting::On,
        )
        .expect("is counted");
    let call = house.call("a", None);
    house.writer.cleanup(&call, &CleanupRequest { dry_run: false, at: Some(at) }).expect("is done");
    assert_eq!((status(&house, &first), status(&house, &second)), ("active", "forgotten"));
}

#[test]
fn stats_count_what_is_flagged() {
    let mut house = house(Rules::default());
    faint(&mut house, "Faint", 0.05);
    faint(&mut house, "Clear", 0.5);
    let stats = house
        .reader
        .stats(
            &loci_proto::requests::stats::StatsRequest::default(),
            &crate::tests::fixture::named("a"),
            house.now,
        )
        .expect("counts");
    assert_eq!(stats.flagged, 1);
}

/// What is left of a sure memory after a week.
fn left(kind: &str, decay: crate::model::decay::Decay) -> f64 {
    let mut house = House::with(Settings { decay, ..Settings::for_model("test") });
    house.store("a", json!({"content": "Sure", "type": kind}), None);
    later(&mut house, 7);
    let listed = house
        .reader
        .list(
            &loci_proto::requests::list::ListRequest::default(),
            &crate::tests::fixture::named("a"),
            house.now,
        )
        .expect("is listed");
    (listed.memories[0].confidence.get() * 1e4).round() / 1e4
}

#[test]
fn decay_factors_and_the_interval_say_how_fast_memories_fade() {
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
