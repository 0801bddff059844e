//! Hard-deleted memories stay deleted, whatever a file contains.

use crate::model::encoding::DocumentEncoding;
use crate::tests::fixture::{TestStore, leaning, parse};
use crate::transfer::tests::{export, import, memories_of, small_store};
use loci_proto::memory::MemoryId;
use serde_json::{Value, json};

#[test]
fn an_import_does_not_bring_back_quotes_of_a_hard_deleted_memory() {
    let (mut here, mut there) = (TestStore::new(), TestStore::new());
    let texts = |i: usize| format!("Episode {i} of the relay, kept apart by {i}{i}");
    for i in 0..6 {
        let arguments = json!({"content": texts(i), "type": "episodic", "metadata": {"event_date": "2025-12-15"}});
        here.store("a", arguments, Some(&leaning(0, 100 + i, 0.8)));
    }
    let call = here.call("a", None);
    for step in here.reader.plan(here.now).expect("is planned").steps {
        if let crate::maintain::Step::Compact(cluster) = step {
            let draft = here.reader.draft(&cluster).expect("is read").expect("is there");
            here.writer
                .compact(&call, &cluster, &draft, &DocumentEncoding::default())
                .expect("is done");
        }
    }
    import(&mut there, &export(&here, false));
    let summary = |test_store: &TestStore| {
        test_store
            .recall("a", json!({"query": "relay", "max_results": 1}), None)
            .reply
            .results
            .remove(0)
    };
    let made = summary(&here);
    assert!(made.content.as_ref().is_some_and(|text| text.contains(&texts(3))), "{made:?}");
    let deleted =
        here.recall("a", json!({"query": texts(3), "max_results": 20}), None).reply.results;
    let deleted =
        deleted.into_iter().find(|result| result.content == Some(texts(3))).expect("is found").id;
    here.forget("a", json!({"memory_id": deleted, "hard_delete": true})).expect("is deleted");
    there.now = there.now.plus(crate::model::time::DAY);
    let later = there.call("a", None);
    let edit = parse(json!({"memory_id": made.id, "confidence": 0.9}));
    there
        .writer
        .edit(&later, &edit, &DocumentEncoding::default())
        .expect("is edited after the deletion");
    import(&mut here, &export(&there, false));
    assert!(!here.dump().contains(&texts(3)), "{}", here.dump());
    assert!(here.dump().contains(&texts(4)));
}

#[test]
fn memories_that_are_sources_of_each_other_can_be_hard_deleted() {
    let mut test_store = TestStore::new();
    let metadata = json!({"summary": true, "method": "agent"});
    let ids: Vec<MemoryId> = ["One of two", "The other"]
        .map(|text| {
            test_store
                .store(
                    "a",
                    json!({"content": text, "type": "episodic", "metadata": metadata}),
                    None,
                )
                .id
        })
        .into();
    let mut lines: Vec<Value> = export(&test_store, false)
        .lines()
        .map(|line| serde_json::from_str(line).expect("is JSON"))
        .collect();
    let after = lines.iter().rposition(|line| line["kind"] == "memory").expect("has memories") + 1;
    for (memory, source) in [(0, 1), (1, 0)] {
        lines
            .insert(after, json!({"kind": "source", "memory": ids[memory], "source": ids[source]}));
    }
    let count = lines.len() - 1;
    lines[count]["lines"] = json!(count);
    let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
    assert_eq!(import(&mut test_store, &text).other, 2);
    test_store.forget("a", json!({"memory_id": ids[0], "hard_delete": true})).expect("is deleted");
    assert!(!test_store.dump().contains("One of two"));
}

#[test]
fn a_tombstone_of_another_store_deletes_nothing_here_and_blocks_absent_memories() {
    let mut test_store = small_store();
    let full = export(&test_store, false);
    let mut copy = TestStore::new();
    import(&mut copy, &full);
    let anna = memories_of(&test_store)[2].1.clone();
    test_store
        .writer
        .forget(
            &test_store.call("shop", None),
            &parse(json!({"memory_id": anna, "hard_delete": true})),
        )
        .expect("is deleted");
    let without = export(&test_store, false);
    let reply = import(&mut copy, &without);
    assert!(
        reply.notes[0].contains("1 memories were hard-deleted in the store of the file"),
        "{reply:?}"
    );
    assert_eq!(memories_of(&copy).len(), 3);
    let mut fresh = TestStore::new();
    import(&mut fresh, &without);
    assert_eq!(import(&mut fresh, &full).refused, 1);
}
