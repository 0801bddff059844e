//! Tests of maintenance on a real store with chosen vectors and a chosen time, one file per
//! subject. This file has the fixtures.

mod agent_summary;
mod cleanup;
mod compaction;
mod months_and_years;
mod promotion;
mod purge;

use crate::db::memories;
use crate::handles::settings::Settings;
use crate::maintain::{Plan, Rules, Step, actor};
use crate::model::encoding::Embedding;
use crate::model::encoding::TextEncodings;
use crate::model::memory::Memory;
use crate::model::time::DAY;
use crate::tests::fixture::{T0, TestStore, between_axes};
use crate::transaction::change::CallContext;
use loci_proto::memory::MemoryId;
use loci_proto::requests::maintenance::StepReport;
use loci_proto::requests::undo::UndoRequest;
use serde_json::{Value, json};

/// 2026-02-01 is a Sunday; this Monday is the first day of 2025-W51, 48 days before [`T0`].
const MONDAY: &str = "2025-12-15";

fn store_with(rules: Rules) -> TestStore {
    TestStore::with(Settings { rules, ..Settings::for_model("test") })
}

/// Returns a vector near that of a subject and far from those of other subjects.
fn about(subject: usize, number: usize) -> Embedding {
    between_axes(subject, 100 + number, 0.8)
}

/// Stores an episode with this event date; returns its id.
fn episode(
    test_store: &mut TestStore,
    group: &str,
    text: &str,
    date: &str,
    vector: Option<&Embedding>,
) -> MemoryId {
    // Two sessions take turns, since repetition within one session is no evidence.
    test_store.session = if test_store.session == "s1" { "s2".to_owned() } else { "s1".to_owned() };
    let arguments = json!({"content": text, "type": "episodic", "metadata": {"event_date": date}});
    test_store.store(group, arguments, vector).id
}

/// Stores `count` episodes of one subject in the week of [`MONDAY`]; returns their ids.
fn week(test_store: &mut TestStore, group: &str, subject: usize, count: usize) -> Vec<MemoryId> {
    let name = ["mail gateway", "search index", "login page", "billing"][subject % 4];
    (0..count)
        .map(|i| {
            let text =
                format!("Episode {i} of {group} about the {name}, kept apart by {subject}{i}");
            episode(test_store, group, &text, MONDAY, Some(&about(subject, subject * 60 + i)))
        })
        .collect()
}

fn plan(test_store: &TestStore) -> Plan {
    test_store.reader.plan(test_store.now).expect("the run is planned")
}

/// Runs one step as the daemon does, but without the model.
fn step(test_store: &mut TestStore, step: &Step) -> StepReport {
    let call =
        CallContext { now: test_store.now, actor: actor(step.group()), key: None, shown: None };
    match step {
        Step::Compact(cluster) => {
            let draft = test_store
                .reader
                .draft(cluster)
                .expect("the members are read")
                .expect("all members exist");
            test_store
                .writer
                .compact(&call, cluster, &draft, &TextEncodings::default())
                .expect("the cluster is compacted")
        }
        Step::Promote(promotion) => {
            test_store.writer.promote(&call, promotion).expect("the fact is stored")
        }
        Step::Purge(purge) => {
            test_store.writer.purge_forgotten(&call, purge).expect("the memories are erased")
        }
    }
}

/// Plans a run and runs its steps.
fn run(test_store: &mut TestStore) -> Vec<StepReport> {
    let plan = plan(test_store);
    plan.steps.iter().map(|planned| step(test_store, planned)).collect()
}

fn memory(test_store: &TestStore, id: &MemoryId) -> Memory {
    memories::by_id(&test_store.reader.conn, id)
        .expect("the row is readable")
        .expect("the memory exists")
}

fn status(test_store: &TestStore, id: &MemoryId) -> &'static str {
    memory(test_store, id).status.as_str()
}

fn undo_last(test_store: &mut TestStore) {
    let call = test_store.call("a", None);
    test_store
        .writer
        .undo(&call, &UndoRequest { last: true, ..UndoRequest::default() })
        .expect("the last act is undone");
}

/// Returns the visible state of every memory.
fn dump(test_store: &TestStore) -> Vec<String> {
    let mut all = Vec::new();
    crate::db::listing::newest_first(&test_store.reader.conn, |m| {
        all.push(format!(
            "{} {} {:?} {:?} {:?} {:?}",
            m.id,
            m.content,
            m.status,
            m.superseded_by,
            m.metadata,
            (m.anchor, m.updated_at)
        ));
    })
    .expect("the memories are read");
    all
}

fn advance_days(test_store: &mut TestStore, days: i64) {
    test_store.now = test_store.now.plus(days * DAY);
}

fn field(memory: &Memory, name: &str) -> Value {
    memory.metadata.get(name).cloned().unwrap_or_default()
}

#[test]
fn a_run_does_exactly_what_its_plan_says() {
    let mut test_store = store_with(Rules::default());
    week(&mut test_store, "a", 0, 7);
    week(&mut test_store, "b", 1, 5);
    let near_tea = |i: usize| between_axes(50, 300 + i, 0.97);
    for i in 0..3 {
        episode(
            &mut test_store,
            "a",
            &format!("The user likes tea, said for time {i}"),
            "2026-01-30",
            Some(&near_tea(i)),
        );
    }
    let other =
        test_store.store("a", json!({"content": "Not touched", "type": "semantic"}), None).id;
    advance_days(&mut test_store, 20);
    let before = memory(&test_store, &other);
    let planned = plan(&test_store).to_reply();
    assert_eq!((planned.steps.len(), planned.compacted, planned.promoted), (3, 12, 1));
    let done = run(&mut test_store);
    let planned_part =
        |report: &StepReport| StepReport { made: None, journal: None, ..report.clone() };
    assert_eq!(done.iter().map(planned_part).collect::<Vec<_>>(), planned.steps);
    assert!(done.iter().all(|report| report.made.is_some() && report.journal.is_some()));
    let after = memory(&test_store, &other);
    assert_eq!(
        (before.anchor, before.updated_at),
        (after.anchor, after.updated_at),
        "a run does not change other memories"
    );
    assert_eq!(plan(&test_store), Plan::default());
}

#[test]
fn an_interrupted_run_continues_where_it_stopped() {
    let mut test_store = store_with(Rules::default());
    for (subject, count) in [(0, 6), (1, 4), (2, 3)] {
        week(&mut test_store, "a", subject, count);
    }
    let all = plan(&test_store).steps;
    assert_eq!(all.len(), 3);
    step(&mut test_store, &all[0]);
    let mut test_store = test_store.reopened();
    assert_eq!(
        plan(&test_store).steps,
        all[1..],
        "the compacted episodes still count for the size of the week"
    );
    run(&mut test_store);
    assert_eq!(plan(&test_store), Plan::default());
}

#[test]
fn the_pause_and_the_time_of_the_last_run_are_kept_after_a_restart() {
    let test_store = store_with(Rules::default());
    test_store.writer.set_paused(true).expect("maintenance is paused");
    test_store.writer.run_ended(T0).expect("the end of the run is recorded");
    let test_store = test_store.reopened();
    let state = test_store.reader.maintenance_state().expect("the state is read");
    assert_eq!((state.paused, state.last_run), (true, Some(T0)));
    test_store.writer.set_paused(false).expect("maintenance is resumed");
    assert!(!test_store.reader.maintenance_state().expect("the state is read").paused);
}
