//! Encoding all memories again in a damaged store: damaged vectors of every set, damaged memories,
//! and a lost or damaged table of sets.

use crate::db::vectors::stored;
use crate::db::{integrity, migrate, vector_sets};
use crate::model::withheld::Withheld;
use crate::tests::fixture::{TestStore, parse};
use crate::tests::reembed::{
    TEXTS, assert_healthy, begin, complete, encoded, fill, filled_store, finish, killed, scores,
    sets,
};
use loci_proto::requests::doctor::Verdict;
use serde_json::json;

/// What the failed findings of the full check and of the comparison with the index say.
fn failures(test_store: &TestStore) -> Vec<String> {
    let failed = |verdict| verdict == Verdict::Fail;
    let findings = test_store.findings().into_iter().filter(|finding| failed(finding.verdict));
    findings.map(|finding| finding.found).collect()
}

/// Encodes the memories again that have no vector of the active set.
fn fill_active(test_store: &mut TestStore) -> Vec<i64> {
    let missing = test_store.reader.without_vector(20).expect("the memories are listed");
    let seqs = missing.iter().map(|(seq, _)| *seq).collect();
    for (seq, document) in missing {
        test_store.fill(seq, encoded("test", &document.content).encoding);
    }
    seqs
}

#[test]
fn a_damaged_vector_of_any_set_is_found_by_the_full_check_and_computed_again() {
    for set in ["test", "next"] {
        let mut test_store = filled_store();
        begin(&mut test_store, "next");
        fill(&mut test_store, 8);
        assert_healthy(&test_store);
        let before = scores(&test_store, "test");
        stored::spoil(&test_store.writer.conn, 5, set);
        let found = failures(&test_store);
        assert!(found[0].contains("vector") && found[0].contains("(row 5)"), "{set}: {found:?}");
        assert_eq!(test_store.writer.drop_damaged_vectors().expect("they are deleted"), 1);
        assert_eq!(fill_active(&mut test_store), [5], "{set}");
        assert_healthy(&test_store);
        assert_eq!(scores(&test_store, "test"), before);
        complete(&mut test_store);
        assert_eq!(
            test_store.reader.missing_in("next", &Withheld::default()).expect("they are counted"),
            0,
            "{set}"
        );
        assert_healthy(&test_store);
    }
}

#[test]
fn a_vector_that_is_damaged_before_the_change_is_left_out_and_computed_again() {
    let mut test_store = filled_store();
    begin(&mut test_store, "next");
    while !fill(&mut test_store, 8).is_empty() {}
    stored::spoil(&test_store.writer.conn, 5, "next");
    assert!(finish(&mut test_store));
    assert_eq!(test_store.writer.drop_damaged_vectors().expect("they are deleted"), 1);
    let missing = test_store.reader.without_vector(20).expect("the memories are listed");
    assert_eq!(missing, [(5, TEXTS[4].to_owned().into())]);
    assert_healthy(&test_store);
}

#[test]
fn damaged_memories_neither_end_a_filling_early_nor_keep_it_from_its_end() {
    let mut test_store = filled_store();
    for seq in 1..=3 {
        integrity::spoil_row(&test_store.writer.conn, seq, "content", "'changed'");
    }
    test_store = killed(test_store);
    begin(&mut test_store, "next");
    assert!(!finish(&mut test_store), "seven memories are missing");
    assert_eq!(fill(&mut test_store, 2), [4, 5]);
    complete(&mut test_store);
    assert_eq!(sets(&test_store), ("next".to_owned(), None));
    let vectors = |test_store: &TestStore| test_store.writer.shared.index().size().vectors;
    assert_eq!(vectors(&test_store), 7);

    let id = test_store.writer.damaged_rows().all()[0].id.clone();
    let request = parse(json!({"memory_id": id, "content": TEXTS[0]}));
    let encodings = [encoded("next", TEXTS[0])].into_iter().collect();
    let call = test_store.call("a", None);
    test_store.writer.edit(&call, &request, &encodings).expect("it is written again");
    assert_eq!(vectors(&test_store), 8);
}

#[test]
fn a_lost_or_damaged_table_of_sets_is_derived_from_the_vectors() {
    for damage in vector_sets::DAMAGES {
        let mut test_store = filled_store();
        let before = scores(&test_store, "test");
        begin(&mut test_store, "next");
        fill(&mut test_store, 4);
        vector_sets::spoil(&test_store.writer.conn, damage);
        test_store = killed(test_store);
        let notices = test_store.writer.findings();
        assert!(
            notices.iter().any(|notice| notice.starts_with("The table of vector sets")),
            "{damage}: {notices:?}"
        );
        assert_eq!(sets(&test_store), ("test".to_owned(), None), "{damage}");
        assert_eq!(scores(&test_store, "test"), before, "{damage}");
        begin(&mut test_store, "next");
        assert_eq!(sets(&test_store).1.as_deref(), Some("next"));
        assert_eq!(
            test_store.reader.missing_in("next", &Withheld::default()).expect("they are counted"),
            6
        );
        complete(&mut test_store);
        assert_healthy(&test_store);
        test_store = killed(test_store);
        assert_eq!(test_store.writer.findings(), Vec::<String>::new());
    }
}

#[test]
fn a_store_of_the_earlier_version_that_was_killed_is_migrated_without_a_finding() {
    let mut test_store = filled_store();
    let before = scores(&test_store, "test");
    migrate::take_back_to_schema_6(&test_store.writer.conn).expect("the steps are taken back");
    test_store = killed(test_store);
    assert_eq!(test_store.writer.findings(), Vec::<String>::new());
    assert_eq!(sets(&test_store), ("test".to_owned(), None));
    assert_eq!(scores(&test_store, "test"), before);
    assert_healthy(&test_store);
}
