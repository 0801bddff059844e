//! The cost of an operation, counted in virtual machine steps of SQLite, does not grow with the
//! store.

use crate::model::encoding::{DIMENSIONS, Embedding};
use crate::tests::fixture::{TestStore, axis, by_test_model, document_encoding, parse};
use loci_proto::memory::MemoryId;
use loci_proto::requests::pin::PinRequest;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const FEW: usize = 150;
const MANY: usize = 10 * FEW;

/// The name of an operation and the operation. It gets a memory to which no other row refers.
type Operation = (&'static str, fn(&mut TestStore, &MemoryId));

const OPERATIONS: [Operation; 13] = [
    ("store", |test_store, _| {
        drop(store(test_store, "The ferry to the island leaves at seven", 377));
    }),
    ("store a duplicate", |test_store, _| drop(store(test_store, &text(7), 7))),
    ("supersede", |test_store, id| {
        let arguments =
            json!({"content": "It was moved to ten", "type": "semantic", "supersedes": id});
        test_store.store_encoded(
            "a",
            arguments,
            &document_encoding("It was moved to ten", axis(378)),
        );
    }),
    ("relate", |test_store, _| {
        let [subject, object] = ["Ada", "Grace"].map(|name| {
            let arguments = json!({"content": name, "type": "entity", "metadata": {"name": name}});
            test_store.store("a", arguments, None).id
        });
        test_store
            .relate("a", json!({"subject_id": subject, "predicate": "knows", "object_id": object}))
            .expect("the relation is stored");
    }),
    ("edit", |test_store, id| {
        let (call, request) = (
            test_store.call("a", None),
            parse(json!({"memory_id": id, "content": "It opens at eight"})),
        );
        test_store
            .writer
            .edit(
                &call,
                &request,
                &by_test_model(document_encoding("It opens at eight", axis(379))),
            )
            .expect("the memory is edited");
    }),
    ("pin", |test_store, id| {
        let (call, request) = (
            test_store.call("a", None),
            PinRequest { memory_id: id.clone(), pinned: true, group: None },
        );
        test_store.writer.pin(&call, &request).expect("the memory is pinned");
    }),
    ("store an encoding", |test_store, _| {
        test_store.fill(9, document_encoding("new", axis(380)));
    }),
    ("forget", |test_store, id| {
        drop(test_store.forget("a", json!({"memory_id": id})).expect("the memory is forgotten"));
    }),
    ("undo", |test_store, _| drop(test_store.undo_last().expect("the last act is undone"))),
    ("hard-delete", |test_store, id| {
        drop(
            test_store
                .forget("a", json!({"memory_id": id, "hard_delete": true}))
                .expect("the memory is hard-deleted"),
        );
    }),
    ("inspect", |test_store, id| {
        drop(test_store.inspect("a", json!({"memory_id": id})).expect("the memory is shown"));
    }),
    ("recall", |test_store, _| {
        drop(test_store.recall(
            "a",
            json!({"query": "when does the ferry leave", "max_results": 5}),
            Some(&axis(377)),
        ));
    }),
    ("history", |test_store, _| {
        drop(test_store.reader.history(&parse(json!({}))).expect("the history is readable"));
    }),
];

fn text(number: usize) -> String {
    format!(
        "Note {number}: shelf {} holds the {} of crate {}",
        number % 17,
        ["nails", "ropes", "lamps"][number % 3],
        number * 7 + 1
    )
}

fn store(test_store: &mut TestStore, text: &str, number: usize) -> MemoryId {
    test_store
        .store_encoded(
            "a",
            json!({"content": text, "type": "semantic"}),
            &document_encoding(text, distinct_vector(number)),
        )
        .id
}

/// Returns a vector; those of different numbers are not similar.
fn distinct_vector(number: usize) -> Embedding {
    let mut values = vec![0.0; DIMENSIONS];
    values[number % DIMENSIONS] = 1.0;
    values[(number * 31 + number / DIMENSIONS * 7 + 1) % DIMENSIONS] += 0.9;
    Embedding::new(values).expect("the vector is not zero")
}

/// Counts the steps of each operation in a store of this many memories.
fn steps(memories: usize) -> Vec<u64> {
    let mut test_store = TestStore::new();
    for number in 0..memories {
        store(&mut test_store, &text(number), number);
    }
    let step_count = Arc::new(AtomicU64::new(0));
    for conn in [&mut test_store.writer.conn, &mut test_store.reader.conn] {
        let step_count = Arc::clone(&step_count);
        let count = move || {
            step_count.fetch_add(1, Ordering::Relaxed);
            false
        };
        conn.progress_handler(1, Some(count)).expect("the handler is installed");
    }
    let measure = |(number, (_, operation)): (usize, &Operation)| {
        let text = format!("Made to be used by act {number}");
        let id = store(&mut test_store, &text, 300 + number);
        step_count.store(0, Ordering::Relaxed);
        operation(&mut test_store, &id);
        step_count.load(Ordering::Relaxed)
    };
    OPERATIONS.iter().enumerate().map(measure).collect()
}

#[test]
fn no_operation_scans_every_memory() {
    for (((name, _), few), many) in OPERATIONS.iter().zip(steps(FEW)).zip(steps(MANY)) {
        // Reading a row takes at least three steps, so a scan would exceed one step per memory.
        let more_memories = u64::try_from(MANY - FEW).expect("the difference fits");
        assert!(
            many < few + more_memories,
            "{name} takes {few} steps among {FEW} memories, and {many} among {MANY}"
        );
    }
}
