//! Tests of export and import, one file for each behaviour, and the helpers that they share.

mod document;
mod dumps;
mod encodings;
mod hard_deletes;
mod history;
mod invalid_files;
mod markdown;
mod merging;
mod round_trip;
mod screening;
mod undo;

use crate::db::memories;
use crate::db::rows::{self, Image, Row};
use crate::tests::fixture::{TestStore, axis};
use crate::transaction::change::Change;
use crate::transaction::mentions;
use loci_proto::memory::{MemoryId, Origin};
use loci_proto::requests::confirm::ConfirmRequest;
use loci_proto::requests::export::ExportRequest;
use loci_proto::requests::import::{ImportReply, ImportRequest};
use serde_json::{Map, Value, json};
use std::io::Cursor;

/// Returns the export of a store as lines.
fn export(test_store: &TestStore, vectors: bool) -> String {
    let mut out = Vec::new();
    test_store
        .reader
        .export(&ExportRequest { vectors, ..ExportRequest::default() }, &mut out)
        .expect("the export succeeds");
    String::from_utf8(out).expect("the export is UTF-8")
}

/// Imports a file, or returns the error as text.
fn try_import(
    test_store: &mut TestStore,
    file: &str,
    skip_bad: bool,
) -> Result<ImportReply, String> {
    let call = test_store.call("importer", None);
    test_store
        .writer
        .import(
            &call,
            &ImportRequest { skip_bad, ..ImportRequest::default() },
            &mut Cursor::new(file.as_bytes()),
        )
        .map_err(|error| error.to_string())
}

/// Imports a valid file.
fn import(test_store: &mut TestStore, file: &str) -> ImportReply {
    try_import(test_store, file, false).expect("the import succeeds")
}

/// Returns sequence number, id and group of every memory, in storage order.
fn memories_of(test_store: &TestStore) -> Vec<(i64, MemoryId, String)> {
    let mut seqs = Vec::new();
    memories::entries(&test_store.reader.conn, &crate::db::ALL_SEQS, |entry| {
        seqs.push(entry.seq);
        Ok(())
    })
    .expect("the entries are readable");
    seqs.into_iter()
        .filter_map(|seq| {
            memories::by_seq(&test_store.reader.conn, seq).expect("the memory is readable")
        })
        .map(|memory| (memory.seq, memory.id, memory.group.unwrap_or_default()))
        .collect()
}

/// Returns a store with a superseded memory, its replacement and an entity.
fn small_store() -> TestStore {
    let mut test_store = TestStore::new();
    let first = test_store.store(
        "shop",
        json!({"content": "The shop opens at nine", "type": "semantic"}),
        Some(&axis(1)),
    );
    test_store.now = test_store.now.plus(1000);
    test_store.store(
        "shop",
        json!({"content": "The shop opens at ten", "type": "semantic", "supersedes": first.id}),
        Some(&axis(2)),
    );
    test_store.store(
        "shop",
        json!({"content": "Anna runs the shop", "type": "entity", "metadata": {"name": "Anna"}}),
        None,
    );
    test_store
}

/// Returns the lines of an export except log lines and the end line, which each operation changes.
fn lines_without_log(export: &str) -> Vec<&str> {
    export
        .lines()
        .filter(|line| !line.contains("\"kind\":\"log\"") && !line.contains("\"end\""))
        .collect()
}

/// Returns an export without provenance, which each store sets itself.
fn without_provenance(export: &str) -> String {
    let without = |line: &str| {
        let mut object: Map<String, Value> = serde_json::from_str(line).expect("the line is JSON");
        if object.get("kind") == Some(&json!("memory")) {
            for name in ["origin", "client", "session", "trust", "flags", "echo"] {
                object.remove(name);
            }
        }
        format!("{}\n", Value::Object(object))
    };
    export.lines().map(without).collect()
}

/// Confirms every imported memory, as a person, and makes those global that are so in their file.
fn confirm_imported(test_store: &mut TestStore) {
    let conn = &test_store.writer.conn;
    let is_wide = |seq: &i64| {
        let image = rows::image(conn, &Row::Memory(*seq)).expect("the row is readable");
        image.is_some_and(|image| image["scope"] == "global")
    };
    let imported = memories::unconfirmed_imports(conn).expect("the rows are readable");
    let seqs: Vec<i64> = imported.iter().map(|memory| memory.seq).filter(is_wide).collect();
    let mut call = test_store.call("importer", None);
    call.actor.origin = Origin::Person;
    let request = ConfirmRequest { imported: true, ..ConfirmRequest::default() };
    test_store.writer.confirm(&call, &request).expect("the memories are confirmed");
    let widen = |change: &mut Change<'_>| {
        for seq in &seqs {
            let scope = Image::from_iter([("scope".to_owned(), json!("global"))]);
            rows::update(change.conn, &Row::Memory(*seq), &scope)?;
            change.touch(*seq);
        }
        mentions::renew_all(change, &seqs, |_| false)
    };
    test_store.writer.run_idempotent(&call, widen).expect("their scope is set");
}
