//! The cost of an operation does not grow with the store. It is counted in virtual machine steps of SQLite.

use crate::model::encoding::{DIMENSIONS, Embedding};
use crate::tests::fixture::{TestStore, axis, coded, parse};
use loci_proto::memory::MemoryId;
use loci_proto::requests::pin::PinRequest;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const FEW: usize = 150;
const MANY: usize = 10 * FEW;

/// An act and what it is called; it is given a memory that nothing else refers to.
type Act = (&'static str, fn(&mut TestStore, &MemoryId));

const ACTS: [Act; 13] = [
    ("store", |test_store, _| {
        drop(store(test_store, "The ferry to the island leaves at seven", 377));
    }),
    ("store what is known", |test_store, _| drop(store(test_store, &text(7), 7))),
    ("supersede", |test_store, id| {
        let arguments =
            json!({"content": "It was moved to ten", "type": "semantic", "supersedes": id});
        test_store.store_coded("a", arguments, &coded("It was moved to ten", axis(378)));
    }),
    ("relate", |test_store, _| {
        let [subject, object] = ["Ada", "Grace"].map(|name| {
            let arguments = json!({"content": name, "type": "entity", "metadata": {"name": name}});
            test_store.store("a", arguments, None).id
        });
        test_store
            .relate("a", json!({"subject_id": subject, "predicate": "knows", "object_id": object}))
            .expect("is told");
    }),
    ("edit", |test_store, id| {
        let (call, request) = (
            test_store.call("a", None),
            parse(json!({"memory_id": id, "content": "It opens at eight"})),
        );
        test_store
            .writer
            .edit(&call, &request, &coded("It opens at eight", axis(379)))
            .expect("is edited");
    }),
    ("pin", |test_store, id| {
        let (call, request) = (
            test_store.call("a", None),
            PinRequest { memory_id: id.clone(), pinned: true, group: None },
        );
        test_store.writer.pin(&call, &request).expect("is pinned");
    }),
    ("give a vector", |test_store, _| {
        test_store.writer.fill(9, &coded("anew", axis(380))).expect("is given");
    }),
    ("forget", |test_store, id| {
        drop(test_store.forget("a", json!({"memory_id": id})).expect("is forgotten"));
    }),
    ("undo", |test_store, _| drop(test_store.undo_last().expect("is undone"))),
    ("forget for good", |test_store, id| {
        drop(
            test_store
                .forget("a", json!({"memory_id": id, "hard_delete": true}))
                .expect("is removed"),
        );
    }),
    ("inspect", |test_store, id| {
        drop(test_store.inspect("a", json!({"memory_id": id})).expect("is shown"));
    }),
    ("recall", |test_store, _| {
        drop(test_store.recall(
            "a",
            json!({"query": "when does the ferry leave", "max_results": 5}),
            Some(&axis(377)),
        ));
    }),
    ("history", |test_store, _| {
        drop(test_store.reader.history(&parse(json!({}))).expect("is told"));
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

fn store(test_store: &mut TestStore, text: &str, direction: usize) -> MemoryId {
    test_store
        .store_coded(
            "a",
            json!({"content": text, "type": "semantic"}),
            &coded(text, towards(direction)),
        )
        .id
}

/// Directions that are not near one another.
fn towards(number: usize) -> Embedding {
    let mut values = vec![0.0; DIMENSIONS];
    values[number % DIMENSIONS] = 1.0;
    values[(number * 31 + number / DIMENSIONS * 7 + 1) % DIMENSIONS] += 0.9;
    Embedding::new(values).expect("has a direction")
}

/// Counts the steps of each operation in a store of this many memories.
fn steps(memories: usize) -> Vec<u64> {
    let mut test_store = TestStore::new();
    for number in 0..memories {
        store(&mut test_store, &text(number), number);
    }
    let taken = Arc::new(AtomicU64::new(0));
    for conn in [&mut test_store.writer.conn, &mut test_store.reader.conn] {
        let taken = Arc::clone(&taken);
        let count = move || {
            taken.fetch_add(1, Ordering::Relaxed);
            false
        };
        conn.progress_handler(1, Some(count)).expect("counts");
    }
    let measured = |(at, (_, act)): (usize, &Act)| {
        let id = store(&mut test_store, &format!("Made to be used by act {at}"), 300 + at);
        taken.store(0, Ordering::Relaxed);
        act(&mut test_store, &id);
        taken.load(Ordering::Relaxed)
    };
    ACTS.iter().enumerate().map(measured).collect()
}

#[test]
fn no_operation_scans_every_memory() {
    for (((name, _), few), many) in ACTS.iter().zip(steps(FEW)).zip(steps(MANY)) {
        // To look at a row takes three steps or more.
        let further = u64::try_from(MANY - FEW).expect("is a number");
        assert!(
            many < few + further,
            "{name} takes {few} steps among {FEW} memories, and {many} among {MANY}"
        );
    }
}
