//! Exports that are imported again, with random histories.

use crate::db::memories;
use crate::model::time::Timestamp;
use crate::tests::fixture::TestStore;
use crate::transfer::tests::history::{History, Step};
use crate::transfer::tests::{
    confirm_imported, export, import, memories_of, small_store, try_import, without_provenance,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn an_export_that_is_imported_and_exported_again_is_equal_but_for_provenance(steps in vec(Step::any(), 1..30), vectors: bool) {
        let mut test_store = History::of(&steps);
        let first = export(&test_store, vectors);
        let mut other = TestStore::new();
        other.now = Timestamp(test_store.now.0 + 123_456_789);
        let reply = import(&mut other, &first);
        prop_assert_eq!(reply.refused + reply.skipped, 0);
        let second = export(&other, vectors);
        prop_assert_eq!(without_provenance(&second), without_provenance(&first));
        // Imports turn CHECK constraints off; their rows must satisfy them anyway.
        prop_assert_eq!(
            crate::db::integrity::structure(&other.writer.conn).expect("the check runs"),
            crate::db::integrity::Structure::default()
        );
        // A second import of the same file changes nothing.
        let again = import(&mut other, &first);
        prop_assert_eq!((again.added, again.changed, again.act), (0, 0, None), "{:?}", again);
        prop_assert_eq!(&export(&other, vectors), &second);
        // From the second store on, exports are equal byte for byte.
        let mut third = TestStore::new();
        import(&mut third, &second);
        prop_assert_eq!(&export(&third, vectors), &second);
        confirm_imported(&mut other);
        // The updated index equals one that is built from the database, and the mentions equal
        // those of the original store.
        let (index, mentions) = (index_of(&other), mentions_of(&other));
        let other = other.reopened();
        prop_assert_eq!(index, index_of(&other));
        let call = test_store.call("project 0", None);
        let seqs: Vec<i64> = memories_of(&test_store).into_iter().map(|(seq, ..)| seq).collect();
        test_store.writer.run_idempotent(&call, |change| crate::transaction::mentions::renew_all(change, &seqs, |_| false)).expect("the mentions are extracted");
        prop_assert_eq!(mentions, mentions_of(&test_store));
    }

    #[test]
    fn two_stores_that_import_from_each_other_agree(steps in vec(Step::any(), 1..12), ours in vec(Step::any(), 0..12), theirs in vec(Step::any(), 0..12)) {
        let base = export(&History::of(&steps), false);
        let [mut one, mut two] = [(&ours, 0), (&theirs, 50_000)].map(|(steps, offset_ms)| diverged(&base, steps, offset_ms));
        let (of_one, of_two) = (export(&one, false), export(&two, false));
        // The two stores may have superseded each other's memories in a cycle; both then refuse the
        // file.
        let (first, second) = (try_import(&mut one, &of_two, false), try_import(&mut two, &of_one, false));
        prop_assert_eq!(first.is_ok(), second.is_ok(), "{:?} {:?}", first, second);
        if first.is_ok() {
            let [one, two] = [&one, &two].map(|store| without_provenance(&export(store, false)));
            prop_assert_eq!(sorted_lines(&one), sorted_lines(&two));
        }
    }
}

/// Returns a store that imported `base` and then went through the steps, except those that exports
/// do not carry over.
fn diverged(base: &str, steps: &[Step], offset_ms: i64) -> TestStore {
    let mut test_store = TestStore::new();
    import(&mut test_store, base);
    test_store.now = test_store.now.plus(1_000_000 + offset_ms);
    let memories = memories_of(&test_store).into_iter().map(|(_, id, group)| (group, id)).collect();
    let mut history = History { test_store, memories };
    let carries_over = |step: &&Step| {
        !matches!(step, Step::Forget { hard: true, .. } | Step::Undo | Step::Compact { .. })
    };
    let first = 1000 + usize::try_from(offset_ms).expect("the offset is not negative");
    for (number, step) in steps.iter().filter(carries_over).enumerate() {
        history.apply(first + number, step);
    }
    history.test_store
}

/// Returns the lines of an export in order, without groups: each store has its own creation times
/// of groups.
fn sorted_lines(export: &str) -> Vec<String> {
    let mut lines: Vec<String> = export
        .lines()
        .filter(|line| !line.contains("\"kind\":\"group\""))
        .map(str::to_owned)
        .collect();
    lines.sort();
    lines
}

/// Returns the entries of the index and their numbers of chunks.
fn index_of(test_store: &TestStore) -> Vec<String> {
    let index = test_store.reader.shared.index();
    (0..index.slot_count())
        .map(|slot| format!("{:?} {}", index.entry(slot), index.chunk_count(slot)))
        .collect()
}

/// Returns pairs of an entity and a memory that mentions it, by id.
fn mentions_of(test_store: &TestStore) -> Vec<(String, String)> {
    let conn = &test_store.reader.conn;
    let mut pairs = Vec::new();
    for (seq, id, _) in memories_of(test_store) {
        for entity in crate::db::mentions::in_memory(conn, seq).expect("the mentions are readable")
        {
            let entity = memories::by_seq(conn, entity)
                .expect("the entity is readable")
                .expect("the entity exists");
            pairs.push((entity.id.to_string(), id.to_string()));
        }
    }
    pairs.sort();
    pairs
}

#[test]
fn memories_are_exported_in_storage_order_with_confidence_and_its_time() {
    let text = export(&small_store(), false);
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(lines[0], json!({"loci": "export", "version": 4}));
    assert_eq!((&lines[1]["kind"], &lines[1]["id"]), (&json!("group"), &json!("shop")));
    assert_eq!(
        (&lines[2]["content"], &lines[2]["status"]),
        (&json!("The shop opens at nine"), &json!("superseded"))
    );
    assert_eq!(lines[2]["superseded_by"], lines[3]["id"]);
    assert_eq!(
        (&lines[3]["confidence"], &lines[3]["confidence_at"]),
        (&json!(1.0), &lines[3]["created_at"])
    );
    assert_eq!(lines.last(), Some(&json!({"kind": "end", "lines": lines.len() - 1})));
}

#[test]
fn an_export_names_the_day_of_a_text_and_an_import_finds_it_again() {
    let mut test_store = TestStore::new();
    let note = json!({"content": "2026-01-10: the queue stopped", "type": "episodic"});
    test_store.store("a", note, None);
    let file = export(&test_store, false);
    assert!(file.contains(r#""event_date_derived":"2026-01-10""#), "{file}");
    let claimed = file.replace("2026-01-10\"", "2020-01-01\"");
    let mut other = TestStore::new();
    import(&mut other, &claimed);
    assert_eq!(without_provenance(&export(&other, false)), without_provenance(&file));
    import(&mut other, &file);
    assert_eq!(without_provenance(&export(&other, false)), without_provenance(&file));
}
