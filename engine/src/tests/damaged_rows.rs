//! Damaged rows are put aside with their number and the reason, and everything else works on; a row
//! that is repaired leaves the list.

use crate::db::{ALL_SEQS, integrity, memories};
use crate::model::withheld::Withheld;
use crate::salvage;
use crate::tests::fixture::{T0, TestStore, axis, by_test_model, named, parse, seeded_vector};
use loci_proto::requests::doctor::Verdict;
use loci_proto::requests::export::ExportRequest;
use serde_json::{Value, json};

/// A store with five memories, of which the third is in row 3.
fn store() -> (TestStore, Vec<String>) {
    let mut store = TestStore::new();
    let ids = (1..=5)
        .map(|number| {
            let arguments =
                json!({"content": format!("Crate {number} is full"), "type": "episodic"});
            store.store("a", arguments, Some(&seeded_vector(number))).id.to_string()
        })
        .collect();
    (store, ids)
}

fn damaged(store: &TestStore) -> Vec<(String, i64, String)> {
    let rows = store.reader.damaged_rows().all().into_iter();
    rows.map(|row| (row.place, row.row, row.reason)).collect()
}

fn listed(store: &TestStore) -> Vec<String> {
    let request = parse(json!({"all_groups": true, "status": "all"}));
    let reply = store.reader.list(&request, &named("a"), T0).expect("the list is answered");
    reply.memories.into_iter().map(|memory| memory.id.to_string()).collect()
}

fn exported(store: &TestStore) -> (usize, u64) {
    let mut lines = Vec::new();
    store.reader.export(&ExportRequest::default(), &mut lines).expect("is exported");
    let text = String::from_utf8(lines).expect("is UTF-8");
    let end: Value =
        serde_json::from_str(text.lines().last().expect("has lines")).expect("is JSON");
    (text.matches("\"kind\":\"memory\"").count(), end["left_out"].as_u64().unwrap_or(0))
}

#[test]
fn one_bad_row_of_any_kind_leaves_the_others_served() {
    let damages = [
        ("content", "CAST(x'4300ff' AS TEXT)", "content is not UTF-8"),
        ("content", "'Crate 3 is empty'", "content does not match its hash"),
        ("content_hash", "x'00'", "content does not match its hash"),
        ("type", "'fact'", "type has an invalid value"),
        ("scope", "CAST(x'ff' AS TEXT)", "scope is not UTF-8"),
        ("status", "'odd'", "status is not a known status"),
        ("confidence", "7.5", "confidence is no confidence"),
        ("confidence", "'high'", "confidence is Text"),
        ("metadata", "'{\"a\": '", "metadata is no JSON object"),
        ("metadata", "'[]'", "metadata is no JSON object"),
        ("created_at", "'soon'", "created_at is Text"),
        ("id", "'not-an-id'", "id has an invalid value"),
    ];
    for (column, expression, reason) in damages {
        let (store, ids) = store();
        integrity::spoil_row(&store.writer.conn, 3, column, expression);
        // Found while it runs, and found by the next start.
        check(&store, &ids, reason);
        let mut store = store.reopened();
        assert!(!damaged(&store).is_empty(), "{reason}: known from the start");
        check(&store, &ids, reason);
        let again = json!({"content": "Crate 3 is full", "type": "episodic"});
        let reply = store.store("a", again, Some(&seeded_vector(3)));
        assert!(!reply.deduplicated, "{reason}: no duplicate of a damaged memory");
        assert!(store.reader.plan(T0.plus(400 * 86_400_000)).is_ok(), "{reason}");
        if column != "id" {
            let gone = json!({"memory_id": ids[2], "hard_delete": true});
            store.forget("a", gone).expect("a damaged memory can be deleted");
            assert_eq!(damaged(&store), [], "{reason}");
            assert_eq!(failures(&store), [""; 0], "{reason}");
        }
    }
}

fn failures(store: &TestStore) -> Vec<String> {
    let fails = store.findings().into_iter().filter(|finding| finding.verdict == Verdict::Fail);
    fails.map(|finding| finding.found).collect()
}

/// Checks that the four good memories are served, and the third is named.
fn check(store: &TestStore, ids: &[String], reason: &str) {
    assert_eq!(exported(store), (4, 1), "{reason}");
    assert_eq!(listed(store).len(), 4, "{reason}");
    let found = store.recall("a", json!({"ids": ids}), None).reply;
    assert_eq!((found.results.len(), found.missing.len()), (4, 1), "{reason}");
    let found = store.found("a", json!({"query": "which crate is full"}), Some(&axis(1)));
    assert_eq!(found.len(), 4, "{reason}: {found:?}");
    assert!(store.inspect("a", json!({"memory_id": ids[2]})).is_err(), "{reason}");
    let rows = damaged(store);
    let known = rows
        .iter()
        .any(|(place, row, why)| place == "memory" && *row == 3 && why.starts_with(reason));
    assert!(known, "{reason}: {rows:?}");
    let findings = store.findings();
    let named = findings
        .iter()
        .any(|finding| finding.verdict == Verdict::Fail && finding.found.contains("(row 3)"));
    assert!(named, "{reason}: {findings:?}");
}

#[test]
fn an_edit_repairs_a_damaged_memory() {
    for (column, expression) in
        [("content", "CAST(x'ff' AS TEXT)"), ("metadata", "'{'"), ("type", "'x'")]
    {
        let (store, ids) = store();
        integrity::spoil_row(&store.writer.conn, 3, column, expression);
        let mut store = store.reopened();
        assert_eq!(damaged(&store).len(), 1);
        let request = parse(json!({"memory_id": ids[2], "content": "Crate 3 is full again"}));
        let encodings = by_test_model(vec![seeded_vector(9)].into());
        let call = store.call("a", None);
        store.writer.edit(&call, &request, &encodings).expect("it is written again");
        assert_eq!(damaged(&store), []);
        let found = store.recall("a", json!({"ids": [ids[2]]}), None).reply.results;
        assert_eq!(found[0].content.as_deref(), Some("Crate 3 is full again"));
        assert_eq!(failures(&store), [""; 0]);
        assert_eq!(damaged(&store.reopened()), []);
    }
}

#[test]
fn vectors_that_cannot_be_used_are_dropped_for_the_daemon_to_compute_again() {
    let (store, _) = store();
    let mut not_a_number = Vec::new();
    (0..384).for_each(|_| not_a_number.extend(f32::NAN.to_le_bytes()));
    integrity::spoil_vector(&store.writer.conn, 2, &not_a_number);
    let mut store = store.reopened();
    assert_eq!(damaged(&store)[0].0, "vector");
    assert_eq!(store.writer.drop_damaged_vectors().expect("it is dropped"), 1);
    assert_eq!(damaged(&store), []);
    let missing =
        store.reader.without_vector_after(0, 10, &Withheld::default()).expect("they are read");
    assert!(missing.iter().any(|(seq, _)| *seq == 2), "{missing:?}");
    assert!(store.findings().iter().all(|finding| finding.verdict == Verdict::Ok));
}

#[test]
fn every_good_row_is_salvaged_from_a_file_with_a_destroyed_page() {
    let mut store = TestStore::new();
    for number in 0..200 {
        let text = format!("Crate {number} {}", "of oranges ".repeat(8));
        store.store("a", json!({"content": text, "type": "episodic"}), None);
    }
    let TestStore { folder, writer, reader, .. } = store;
    drop(reader);
    writer.close().expect("the store closes");
    let path = folder.path().join("memory.db");
    assert_eq!(salvage(&path).expect("is read").memories, 200);
    let mut bytes = std::fs::read(&path).expect("is readable");
    let text = b"Crate 100 of";
    let at = bytes.windows(text.len()).position(|window| window == text).expect("is there");
    bytes[at / 4096 * 4096..][..4096].fill(0);
    std::fs::write(&path, bytes).expect("is written");
    let found = salvage(&path).expect("is read");
    assert!((150..200).contains(&found.memories), "{}", found.memories);
    assert_eq!(found.memories + found.damaged.len(), 200);
    assert!(found.unread.is_empty(), "{:?}", found.unread);
}

#[test]
fn a_damaged_row_keeps_the_slots_of_the_others_in_order() {
    let (store, _) = store();
    integrity::spoil_row(&store.writer.conn, 1, "type", "'x'");
    integrity::spoil_row(&store.writer.conn, 5, "type", "'x'");
    let store = store.reopened();
    let mut seqs = Vec::new();
    memories::entries(&store.reader.conn, &ALL_SEQS, |entry| {
        seqs.push(entry.seq);
        Ok(())
    })
    .expect("the entries are read");
    assert_eq!(seqs, [2, 3, 4]);
    for number in [2, 3, 4] {
        let query = json!({"query": "zzz", "max_results": 1});
        let found = store.found("a", query, Some(&seeded_vector(number)));
        assert_eq!(found, [format!("Crate {number} is full")]);
    }
}
