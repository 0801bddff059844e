//! The lifecycle on a real store with chosen vectors and a chosen time. One file a subject; here is what they share.

mod cleaning;
mod compaction;
mod facts;
mod telling;
mod upper;

use crate::Settings;
use crate::db::memories;
use crate::db::memories::Memory;
use crate::maintain::{Plan, Rules, Step, actor};
use crate::model::encoding::DocumentEncoding;
use crate::model::encoding::Embedding;
use crate::model::time::DAY;
use crate::tests::fixture::{House, T0, leaning};
use crate::transaction::change::CallContext;
use loci_proto::memory::MemoryId;
use loci_proto::requests::maintenance::StepReport;
use loci_proto::requests::undo::UndoRequest;
use serde_json::{Value, json};

/// 2026-02-01 is a Sunday; this Monday begins 2025-W51 and lies 48 days before [`T0`].
const MONDAY: &str = "2025-12-15";

fn house(rules: Rules) -> House {
    House::with(Settings { rules, ..Settings::for_model("test") })
}

/// A vector near one subject, unlike every other.
fn about(subject: usize, number: usize) -> Embedding {
    leaning(subject, 100 + number, 0.8)
}

/// Stores an episode of a day; its id.
fn episode(
    house: &mut House,
    group: &str,
    text: &str,
    date: &str,
    vector: Option<&Embedding>,
) -> MemoryId {
    let arguments = json!({"content": text, "type": "episodic", "metadata": {"event_date": date}});
    house.store(group, arguments, vector).id
}

/// Stores so many episodes of one subject in the week of [`MONDAY`]; their ids.
fn week(house: &mut House, group: &str, subject: usize, count: usize) -> Vec<MemoryId> {
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
            episode(house, group, &text, MONDAY, Some(&about(subject, number)))
        })
        .collect()
}

fn plan(house: &House) -> Plan {
    house.reader.plan(house.now).expect("is planned")
}

/// Does one step as the daemon does, but for the model.
fn step(house: &mut House, step: &Step) -> StepReport {
    let call = CallContext { now: house.now, actor: actor(step.group()), key: None };
    match step {
        Step::Compact(cluster) => {
            let draft = house.reader.draft(cluster).expect("is read").expect("is there");
            house
                .writer
                .compact(&call, cluster, &draft, &DocumentEncoding::default())
                .expect("is done")
        }
        Step::Promote(promotion) => house.writer.promote(&call, promotion).expect("is done"),
    }
}

fn run(house: &mut House) -> Vec<StepReport> {
    let plan = plan(house);
    plan.steps.iter().map(|next| step(house, next)).collect()
}

fn memory(house: &House, id: &MemoryId) -> Memory {
    memories::by_id(&house.reader.conn, id).expect("is read").expect("is there")
}

fn status(house: &House, id: &MemoryId) -> &'static str {
    memory(house, id).status.as_str()
}

fn undo_last(house: &mut House) {
    let call = house.call("a", None);
    house
        .writer
        .undo(&call, &UndoRequest { last: true, ..UndoRequest::default() })
        .expect("is undone");
}

/// Everything that a person could see of the store, but for when and how a row came to its status.
fn dump(house: &House) -> Vec<String> {
    let mut all = Vec::new();
    crate::db::listing::newest_first(&house.reader.conn, |m| {
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

fn later(house: &mut House, days: i64) {
    house.now = house.now.plus(days * DAY);
}

fn field(memory: &Memory, name: &str) -> Value {
    memory.metadata.get(name).cloned().unwrap_or_default()
}

#[test]
fn what_a_run_does_is_what_its_plan_said_and_nothing_else_changes() {
    let mut house = house(Rules::default());
    week(&mut house, "a", 0, 7);
    week(&mut house, "b", 1, 5);
    let alike = |i: usize| leaning(50, 300 + i, 0.97);
    for i in 0..3 {
        episode(
            &mut house,
            "a",
            &format!("The user likes tea, said for time {i}"),
            "2026-01-30",
            Some(&alike(i)),
        );
    }
    let other = house.store("a", json!({"content": "Left alone", "type": "semantic"}), None).id;
    later(&mut house, 20);
    let before = memory(&house, &other);
    let planned = plan(&house).told();
    assert_eq!((planned.steps.len(), planned.compacted, planned.promoted), (3, 12, 1));
    let done = run(&mut house);
    let bare = |deed: &StepReport| StepReport { made: None, journal: None, ..deed.clone() };
    assert_eq!(done.iter().map(bare).collect::<Vec<_>>(), planned.steps);
    assert!(done.iter().all(|deed| deed.made.is_some() && deed.journal.is_some()));
    let after = memory(&house, &other);
    assert_eq!(
        (before.anchor, before.updated_at),
        (after.anchor, after.updated_at),
        "a run fades nothing"
    );
    assert_eq!(plan(&house), Plan::default());
}

#[test]
fn a_run_that_was_broken_off_goes_on_where_it_was() {
    let mut whole = house(Rules::default());
    for (subject, count) in [(0, 6), (1, 4), (2, 3)] {
        week(&mut whole, "a", subject, count);
    }
    let all = plan(&whole).steps;
    assert_eq!(all.len(), 3);
    step(&mut whole, &all[0]);
    let mut house = whole.reopened();
    assert_eq!(
        plan(&house).steps,
        all[1..],
        "the four and the three that are left still are a week of thirteen"
    );
    run(&mut house);
    assert_eq!(plan(&house), Plan::default());
}

#[test]
fn pausing_and_the_last_run_outlive_a_restart() {
    let house = house(Rules::default());
    house.writer.set_paused(true).expect("is set");
    house.writer.run_ended(T0).expect("is set");
    let house = house.reopened();
    let standing = house.reader.standing().expect("is read");
    assert_eq!((standing.paused, standing.last_run), (true, Some(T0)));
    house.writer.set_paused(false).expect("is set");
    assert!(!house.reader.standing().expect("is read").paused);
}
