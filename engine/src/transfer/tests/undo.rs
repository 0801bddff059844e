//! Imports that are undone.

use crate::db::lexical;
use crate::tests::fixture::{TestStore, axis, parse};
use crate::transfer::tests::{export, import, lines_without_log, small_store};
use loci_proto::error::{Code, Failure};
use loci_proto::requests::doctor::Verdict;
use serde_json::json;

#[test]
fn an_import_is_one_act_that_can_be_undone() {
    let mut test_store = small_store();
    let text = export(&small_store(), true);
    let before = export(&test_store, true);
    let reply = import(&mut test_store, &text);
    assert_eq!(reply.added, 3);
    let reply_to_recall = test_store.recall("shop", json!({"query": "ten"}), Some(&axis(2))).reply;
    assert_eq!(
        (reply_to_recall.total_matched, reply_to_recall.results[0].also.len()),
        (2, 1),
        "both replacements match and state the same fact"
    );
    let undo = test_store.call("shop", None);
    let undone = test_store
        .writer
        .undo(&undo, &parse(json!({"id": reply.act})))
        .expect("the import is undone");
    assert_eq!(undone.undone[0].act, "import");
    assert_eq!(lines_without_log(&export(&test_store, true)), lines_without_log(&before));
}

#[test]
fn undoing_a_large_import_keeps_the_keyword_index_of_the_other_memories() {
    let mut other = TestStore::new();
    for number in 0..1100 {
        other.store(
            "shop",
            json!({"content": format!("Crate {number} was counted"), "type": "episodic"}),
            None,
        );
    }
    let mut test_store = small_store();
    let count = |test_store: &TestStore, word: &str| {
        lexical::search(&test_store.writer.conn, word).expect("the keyword index is searched").len()
    };
    let (before, shops) = (export(&test_store, false), count(&test_store, "shop"));
    import(&mut test_store, &export(&other, false));
    assert!(
        lexical::is_rebuild_cheaper(&test_store.writer.conn, 1100)
            .expect("the memories are counted"),
        "the keyword index is rebuilt"
    );
    assert_eq!((count(&test_store, "crate"), shops), (1100, 3));
    test_store.undo_last().expect("the import is undone");
    assert_eq!(lines_without_log(&export(&test_store, false)), lines_without_log(&before));
    assert_eq!((count(&test_store, "crate"), count(&test_store, "shop")), (0, shops));
    assert_eq!(
        test_store.reader.shared.index().slot_count(),
        3,
        "the index has no slots of undone memories"
    );
    assert!(test_store.findings().iter().all(|finding| finding.verdict == Verdict::Ok));
    test_store.store("a", json!({"content": "Another crate came", "type": "episodic"}), None);
    assert_eq!(count(&test_store, "crate"), 1, "the keyword index is updated again");
}

#[test]
fn a_redo_whose_memories_an_import_brought_again_is_a_conflict() {
    let mut test_store = small_store();
    let text = export(&small_store(), true);
    import(&mut test_store, &text);
    test_store.undo_last().expect("the import is undone");
    import(&mut test_store, &text);
    let before = export(&test_store, true);
    let call = test_store.call("shop", None);
    for preview in [true, false] {
        let request = parse(json!({"preview": preview}));
        let refused = test_store.writer.redo(&call, &request).expect_err("it is refused");
        let failure = Failure::from(refused);
        assert_eq!(failure.code, Code::Conflict, "{failure}");
        assert!(failure.message.ends_with("bring back is there again"), "{failure}");
    }
    assert_eq!(export(&test_store, true), before);
}
