//! The lifecycle on a real store with chosen vectors and a chosen time. One file a subject; here is what they share.

mod cleaning;
mod compaction;
mod facts;
mod telling;
mod upper;

use crate::db::memories;
use crate::handles::settings::Settings;
use crate::maintain::{Plan, Rules, Step, actor};
use crate::model::encoding::DocumentEncoding;
use crate::model::encoding::Embedding;
use crate::model::memory::Memory;
use crate::model::time::DAY;
use crate::tests::fixture::{T0, TestStore, leaning};
use crate::transaction::change::CallContext;
use loci_proto::memory::MemoryId;
use loci_proto::requests::maintenance::StepReport;
use loci_proto::requests::undo::UndoRequest;
use serde_json::{Value, json};

/// 2026-02-01 is a Sunday; this Monday begins 2025-W51 and lies 48 days before [`T0`].
const MONDAY: &str = "2025-12-15";

fn store_with(rules: Rules) -> TestStore {
    TestStore::with(Settings { rules, ..Settings::for_model("test") })
}

/// A vector near one subject, unlike every other.
fn about(subject: usize, number: usize) -> Embedding {
    leaning(subject, 100 + number, 0.8)
}

/// Stores an episode of a day; its id.
fn episode(
    test_store: &mut TestStore,
    group: &str,
    text: &str,
    date: &str,
    vector: Option<&Embedding>,
) -> MemoryId {
    let arguments = json!({"content": text, "type": "episodic", "metadata": {"event_date": date}});
    test_store.store(group, arguments, vector).id
}

/// Stores `count` episodes of one subject in the week of [`MONDAY`]; returns their ids.
fn week(test_store: &mut TestStore, group: &str, subject: usize, count: usize) -> Vec<MemoryId> {
    let name = ["mail gateway", "search index", "login page", "billing"][subject % 4];
    let one = |i: usize| {
        (
            format!("Episode {i} of {group} about the {name}, kept apart by {subject}{i}"),
            subject * 60 + i,
        )
    };
    (0..count)
        .map(|i| {
            let (text, number) = one(i);
            episode(test_store, group, &text, MONDAY, Some(&about(subject, number)))
        })
        .collect()
}

fn plan(test_store: &TestStore) -> Plan {
    test_store.reader.plan(test_store.now).expect("is planned")
}

/// Does one step as the daemon does, but for the model.
fn step(test_store: &mut TestStore, step: &Step) -> StepReport {
    let call = CallContext { now: test_store.now, actor: actor(step.group()), key: None };
    match step {
        Step::Compact(cluster) => {
            let draft = test_store.reader.draft(cluster).expect("is read").expect("is there");
            test_store
                .writer
                .compact(&call, cluster, &draft, &DocumentEncoding::default())
                .expect("is done")
        }
        Step::Promote(promotion) => test_store.writer.promote(&call, promotion).expect("is done"),
    }
}

fn run(test_store: &mut TestStore) -> Vec<StepReport> {
    let plan = plan(test_store);
    plan.steps.iter().map(|next| step(test_store, next)).collect()
}

fn memory(test_store: &TestStore, id: &MemoryId) -> Memory {
    memories::by_id(&test_store.reader.conn, id).expect("is read").expect("is there")
}

fn status(test_store: &TestStore, id: &MemoryId) -> &'static str {
    memory(test_store, id).status.as_str()
}

fn undo_last(test_store: &mut TestStore) {
    let call = test_store.call("a", None);
    test_store
        .writer
        .undo(&call, &UndoRequest { last: true, ..UndoRequest::default() })
        .expect("is undone");
}

/// Everything that a person could see of the store, but for when and how a row came to its status.
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
    .expect("is read");
    all
}

fn later(test_store: &mut TestStore, days: i64) {
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
    let alike = |i: usize| leaning(50, 300 + i, 0.97);
    for i in 0..3 {
        episode(
            &mut test_store,
            "a",
            &format!("The user likes tea, said for time {i}"),
            "2026-01-30",
            Some(&alike(i)),
        );
    }
    let other =
        test_store.store("a", json!({"content": "Left alone", "type": "semantic"}), None).id;
    later(&mut test_store, 20);
    let before = memory(&test_store, &other);
    let planned = plan(&test_store).to_reply();
    assert_eq!((planned.steps.len(), planned.compacted, planned.promoted), (3, 12, 1));
    let done = run(&mut test_store);
    let bare = |report: &StepReport| StepReport { made: None, journal: None, ..report.clone() };
    assert_eq!(done.iter().map(bare).collect::<Vec<_>>(), planned.steps);
    assert!(done.iter().all(|report| report.made.is_some() && report.journal.is_some()));
    let after = memory(&test_store, &other);
    assert_eq!(
        (before.anchor, before.updated_at),
        (after.anchor, after.updated_at),
        "a run fades nothing"
    );
    assert_eq!(plan(&test_store), Plan::default());
}

#[test]
fn an_interrupted_run_continues_where_it_stopped() {
    let mut whole = store_with(Rules::default());
    for (subject, count) in [(0, 6), (1, 4), (2, 3)] {
        week(&mut whole, "a", subject, count);
    }
    let all = plan(&whole).steps;
    assert_eq!(all.len(), 3);
    step(&mut whole, &all[0]);
    let mut test_store = whole.reopened();
    assert_eq!(
        plan(&test_store).steps,
        all[1..],
        "the four and the three that are left still are a week of thirteen"
    );
    run(&mut test_store);
    assert_eq!(plan(&test_store), Plan::default());
}

#[test]
fn pausing_and_the_last_run_outlive_a_restart() {
    let test_store = store_with(Rules::default());
    test_store.writer.set_paused(true).expect("is set");
    test_store.writer.run_ended(T0).expect("is set");
    let test_store = test_store.reopened();
    let standing = test_store.reader.maintenance_state().expect("is read");
    assert_eq!((standing.paused, standing.last_run), (true, Some(T0)));
    test_store.writer.set_paused(false).expect("is set");
    assert!(!test_store.reader.maintenance_state().expect("is read").paused);
}
