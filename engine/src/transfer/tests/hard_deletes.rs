//! Imports of files that contain hard-deleted memories, tombstones or quotes of them.

use crate::model::encoding::TextEncodings;
use crate::tests::fixture::{TestStore, between_axes, parse};
use crate::transfer::tests::{export, import, memories_of, small_store};
use loci_proto::memory::MemoryId;
use serde_json::{Value, json};

#[test]
fn an_import_does_not_bring_back_quotes_of_a_hard_deleted_memory() {
    let (mut here, mut there) = (TestStore::new(), TestStore::new());
    let text = |i: usize| format!("Episode {i} of the relay, kept apart by {i}{i}");
    for i in 0..6 {
        let arguments = json!({"content": text(i), "type": "episodic", "metadata": {"event_date": "2025-12-15"}});
        here.store("a", arguments, Some(&between_axes(0, 100 + i, 0.8)));
    }
    let call = here.call("a", None);
    for step in here.reader.plan(here.now).expect("the plan is made").steps {
        if let crate::maintain::Step::Compact(cluster) = step {
            let draft = here
                .reader
                .draft(&cluster)
                .expect("the draft is read")
                .expect("the cluster is current");
            here.writer
                .compact(&call, &cluster, &draft, &TextEncodings::default())
                .expect("the cluster is compacted");
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
    let own_summary = summary(&here);
    assert!(
        own_summary.content.as_ref().is_some_and(|content| content.contains(&text(3))),
        "{own_summary:?}"
    );
    let results =
        here.recall("a", json!({"query": text(3), "max_results": 20}), None).reply.results;
    let deleted = results
        .into_iter()
        .find(|result| result.content == Some(text(3)))
        .expect("the episode is found")
        .id;
    here.forget("a", json!({"memory_id": deleted, "hard_delete": true}))
        .expect("the episode is deleted");
    there.now = there.now.plus(crate::model::time::DAY);
    let later = there.call("a", None);
    let edit = parse(json!({"memory_id": own_summary.id, "confidence": 0.9}));
    there
        .writer
        .edit(&later, &edit, &TextEncodings::default())
        .expect("the summary is edited after the deletion");
    import(&mut here, &export(&there, false));
    assert!(!here.dump().contains(&text(3)), "{}", here.dump());
    assert!(here.dump().contains(&text(4)));
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
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    let after =
        lines.iter().rposition(|line| line["kind"] == "memory").expect("the export has memories")
            + 1;
    for (memory, source) in [(0, 1), (1, 0)] {
        lines
            .insert(after, json!({"kind": "source", "memory": ids[memory], "source": ids[source]}));
    }
    let count = lines.len() - 1;
    lines[count]["lines"] = json!(count);
    let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
    assert_eq!(import(&mut test_store, &text).other, 2);
    test_store
        .forget("a", json!({"memory_id": ids[0], "hard_delete": true}))
        .expect("the first memory is deleted");
    assert!(!test_store.dump().contains("One of two"));
}

#[test]
fn a_tombstone_of_another_store_deletes_nothing_here_and_blocks_absent_memories() {
    let mut test_store = small_store();
    let file_with_anna = export(&test_store, false);
    let mut copy = TestStore::new();
    import(&mut copy, &file_with_anna);
    let anna = memories_of(&test_store)[2].1.clone();
    test_store
        .writer
        .forget(
            &test_store.call("shop", None),
            &parse(json!({"memory_id": anna, "hard_delete": true})),
        )
        .expect("the entity is deleted");
    let file_with_tombstone = export(&test_store, false);
    let reply = import(&mut copy, &file_with_tombstone);
    assert!(
        reply.notes[0].contains("1 memory was hard-deleted in the store of the file"),
        "{reply:?}"
    );
    assert_eq!(memories_of(&copy).len(), 3);
    let mut fresh = TestStore::new();
    import(&mut fresh, &file_with_tombstone);
    assert_eq!(import(&mut fresh, &file_with_anna).refused, 1);
}
