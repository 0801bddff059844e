//! Purge: only what was forgotten long ago is planned and erased, and only if that is configured.

use crate::db::tombstones;
use crate::maintain::Step;
use crate::maintain::tests::*;
use loci_proto::requests::maintenance::StepReport;

/// A store with a forgotten memory, one that was forgotten 40 days later, and one that was not.
fn store_of_forgotten(purge_forgotten_days: f64) -> (TestStore, Vec<MemoryId>) {
    let mut test_store = store_with(Rules { purge_forgotten_days, ..Rules::default() });
    let texts = ["The secret kettle", "The other kettle", "The kettle that stays"];
    let ids: Vec<MemoryId> = texts
        .iter()
        .map(|text| test_store.store("a", json!({"content": text, "type": "episodic"}), None).id)
        .collect();
    for id in &ids[..2] {
        test_store.forget("a", json!({"memory_id": id})).expect("the memory is forgotten");
        advance_days(&mut test_store, 40);
    }
    (test_store, ids)
}

/// Runs every step of the plan that erases.
fn purge(test_store: &mut TestStore) -> Vec<StepReport> {
    let plan = test_store.reader.plan(test_store.now).expect("the run is planned");
    let described = test_store.reader.describe_plan(&plan).expect("the plan is described");
    let mut reports = Vec::new();
    for step in plan.steps {
        let Step::Purge(purge) = step else { continue };
        let call = test_store.call("a", None);
        reports.push(test_store.writer.purge_forgotten(&call, &purge).expect("it is erased"));
    }
    let planned: usize =
        described.steps.iter().filter(|s| s.is_purge()).map(|s| s.members.len()).sum();
    assert_eq!(described.purged, planned);
    reports
}

#[test]
fn by_default_no_forgotten_memory_is_ever_erased() {
    let (mut test_store, ids) = store_of_forgotten(0.0);
    advance_days(&mut test_store, 3650);
    assert!(purge(&mut test_store).is_empty());
    assert!(test_store.inspect("a", json!({"memory_id": ids[0]})).is_ok());
}

#[test]
fn only_what_was_forgotten_long_enough_ago_is_erased_and_nothing_brings_it_back() {
    let (mut test_store, ids) = store_of_forgotten(60.0);
    let reports = purge(&mut test_store);
    assert_eq!(reports.iter().flat_map(|report| &report.members).collect::<Vec<_>>(), [&ids[0]]);
    assert!(test_store.inspect("a", json!({"memory_id": ids[0]})).is_err());
    assert!(test_store.inspect("a", json!({"memory_id": ids[1]})).is_ok(), "forgotten later");
    assert!(test_store.inspect("a", json!({"memory_id": ids[2]})).is_ok(), "not forgotten");
    assert!(tombstones::has(&test_store.writer.conn, &ids[0]).expect("it is readable"));
    assert!(!test_store.dump().contains("secret kettle"));
    assert!(purge(&mut test_store).is_empty(), "nothing is left to do");
}

#[test]
fn a_memory_that_was_restored_since_the_plan_is_not_erased() {
    let (mut test_store, ids) = store_of_forgotten(60.0);
    let plan = test_store.reader.plan(test_store.now).expect("the run is planned");
    let call = test_store.call("a", None);
    let restore = crate::tests::fixture::parse(json!({"memory_id": ids[0]}));
    test_store.writer.restore(&call, &restore).expect("the memory is restored");
    let step = plan.steps.into_iter().find_map(|step| match step {
        Step::Purge(purge) => Some(purge),
        _ => None,
    });
    let report = test_store.writer.purge_forgotten(&call, &step.expect("a step is planned"));
    assert!(report.expect("the step runs").members.is_empty());
    assert!(test_store.inspect("a", json!({"memory_id": ids[0]})).is_ok());
}

#[test]
fn the_days_of_a_memory_that_an_undo_made_forgotten_again_begin_with_the_undo() {
    let (mut test_store, ids) = store_of_forgotten(60.0);
    let call = test_store.call("a", None);
    let restore = crate::tests::fixture::parse(json!({"memory_id": ids[0]}));
    test_store.writer.restore(&call, &restore).expect("the memory is restored");
    test_store.undo_last().expect("the restore is undone");
    assert!(purge(&mut test_store).is_empty());
    advance_days(&mut test_store, 59);
    let erased = |test_store: &mut TestStore| -> Vec<MemoryId> {
        purge(test_store).into_iter().flat_map(|report| report.members).collect()
    };
    assert_eq!(erased(&mut test_store), [ids[1].clone()]);
    advance_days(&mut test_store, 2);
    assert_eq!(erased(&mut test_store), [ids[0].clone()]);
}
