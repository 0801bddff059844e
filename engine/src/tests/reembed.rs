//! Encoding all memories again: the filling, its cursor, the change to the new set, what is kept of
//! the earlier one, and a restart at each step.

use crate::db::memories;
use crate::db::vectors::stored;
use crate::error::Error;
use crate::handles::open::open;
use crate::handles::reader::Reader;
use crate::handles::settings::Settings;
use crate::model::encoding::{Embedding, ModelEncoding, QueryEncoding, TextEncodings};
use crate::model::importance::Importance;
use crate::model::time::{DAY, Timestamp};
use crate::model::vector_set::ModelRef;
use crate::model::withheld::Withheld;
use crate::operations::recall::{RecallContext, prepare};
use crate::operations::reembed::{FillBatch, FilledMemory, Refill};
use crate::operations::store::Draft;
use crate::tests::fixture::{
    T0, TestStore, between_axes, document_encoding, named, parse, query_encoding,
};
use crate::tests::index_contents::contents;
use loci_proto::degraded::Degraded;
use loci_proto::memory::MemoryId;
use loci_proto::requests::doctor::Verdict;
use loci_proto::requests::export::ExportRequest;
use loci_proto::requests::import::ImportRequest;
use serde_json::json;
use std::collections::HashSet;
use std::io::Cursor;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) const TEXTS: [&str; 10] = [
    "The kettle is on the stove",
    "The stove was repaired in May",
    "Anna keeps the key of the cellar",
    "The cellar is under the kitchen",
    "Joan ordered a new kettle",
    "The old kettle leaks",
    "Tea is served at four",
    "The kitchen has two windows",
    "The key hangs behind the door",
    "The door sticks in winter",
];

fn model(id: &str) -> ModelRef {
    ModelRef { id: id.to_owned(), source: format!("/models/{id}") }
}

/// The vector of a text by a model: each model puts a text in a direction of its own.
fn vector(model: &str, text: &str) -> Embedding {
    let hash = blake3::hash(format!("{model} {text}").as_bytes());
    let [first, second, ..] = *hash.as_bytes();
    between_axes(usize::from(first), 256 + usize::from(second) / 2, 0.8)
}

pub(crate) fn encoded(model: &str, text: &str) -> ModelEncoding {
    let encoding = document_encoding(text, vector(model, text));
    ModelEncoding { model: model.into(), encoding }
}

fn store(test_store: &mut TestStore, text: &str, models: &[&str]) -> MemoryId {
    let encodings: TextEncodings = models.iter().map(|model| encoded(model, text)).collect();
    let arguments = json!({"content": text, "type": "semantic"});
    let draft = Draft::new(parse(arguments), test_store.now).expect("the request is valid");
    let call = test_store.call("a", None);
    test_store.writer.store(&call, &draft, &encodings).expect("the memory is stored").id
}

pub(crate) fn filled_store() -> TestStore {
    let mut test_store = TestStore::new();
    for text in TEXTS {
        store(&mut test_store, text, &["test"]);
    }
    test_store
}

fn query(model: &str) -> QueryEncoding {
    let text = "Where is the kettle";
    // Each model takes the query for another text, so that the order differs.
    let nearest = if model == "test" { TEXTS[4] } else { TEXTS[8] };
    QueryEncoding { model: model.into(), ..query_encoding(text, vector(model, nearest)) }
}

/// Ids and scores of the results of one query that a model has encoded.
fn recall_by(reader: &Reader, model: &str) -> Result<Vec<(MemoryId, u64)>, Error> {
    let encoding = query(model);
    let request = parse(json!({"query": "Where is the kettle", "max_results": 10}));
    let answer = reader.recall(
        &prepare(request, T0).expect("the request is valid"),
        RecallContext {
            viewer: (&named("a")).into(),
            client: None,
            encoding: Some(&encoding),
            now: T0,
            fusion: None,
            is_agent: false,
            names_project: false,
            files: None,
            rerank: None,
            degraded: &Degraded::default(),
        },
    )?;
    let results = answer.reply.results.into_iter();
    Ok(results.map(|r| (r.id, r.score.unwrap_or_default().to_bits())).collect())
}

fn recall(test_store: &TestStore, model: &str) -> Result<Vec<(MemoryId, u64)>, Error> {
    recall_by(&test_store.reader, model)
}

pub(crate) fn scores(test_store: &TestStore, model: &str) -> Vec<(MemoryId, u64)> {
    recall(test_store, model).expect("the recall is answered")
}

/// Encodes one batch; returns the memories of it.
pub(crate) fn fill(test_store: &mut TestStore, limit: usize) -> Vec<i64> {
    let batch =
        test_store.reader.fill_batch(limit, &Withheld::default()).expect("the batch is read");
    let FillBatch { set, memories } = batch.expect("a set is being filled");
    let filled: Vec<FilledMemory> = memories
        .into_iter()
        .map(|(seq, document)| {
            let encoding = Some(encoded(&set.model, &document.content).encoding);
            FilledMemory { seq, document, encoding }
        })
        .collect();
    test_store.writer.store_fill_batch(&set.name, &filled).expect("the batch is stored");
    filled.iter().map(|memory| memory.seq).collect()
}

pub(crate) fn finish(test_store: &mut TestStore) -> bool {
    let now = test_store.now;
    let withheld = Withheld::default();
    test_store.writer.finish_refill(&HashSet::new(), &withheld, now).expect("the sets are changed")
}

/// Fills the next set to the end and changes to it.
pub(crate) fn complete(test_store: &mut TestStore) {
    while !fill(test_store, 4).is_empty() {}
    if !finish(test_store) {
        complete(test_store);
    }
}

pub(crate) fn begin(test_store: &mut TestStore, id: &str) {
    let now = test_store.now;
    test_store.writer.use_model(&model(id), now).expect("the model is taken into use");
}

/// Names of the active set and of the one that is being filled.
pub(crate) fn sets(test_store: &TestStore) -> (String, Option<String>) {
    let sets = test_store.writer.active_sets().get();
    (sets.active.name.clone(), sets.filling.as_ref().map(|set| set.name.clone()))
}

/// Opens the store again without closing it, as after a kill.
pub(crate) fn killed(test_store: TestStore) -> TestStore {
    let TestStore { folder, writer, reader, now, .. } = test_store;
    drop((writer, reader));
    let writer = open(&folder.path().join("memory.db"), Settings::for_model("test"), now)
        .expect("the store opens");
    let reader = writer.reader().expect("the reader opens");
    TestStore::of(folder, writer, reader, now)
}

pub(crate) fn assert_healthy(test_store: &TestStore) {
    let findings = test_store.findings();
    let faults: Vec<_> = findings.iter().filter(|finding| finding.verdict != Verdict::Ok).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn a_filling_resumes_at_its_cursor_after_each_kill_while_the_earlier_vectors_serve() {
    let mut test_store = filled_store();
    let before = scores(&test_store, "test");
    begin(&mut test_store, "next");
    let mut seen = Vec::new();
    loop {
        test_store = killed(test_store);
        assert_eq!(sets(&test_store), ("test".to_owned(), Some("next".to_owned())));
        assert_eq!(scores(&test_store, "test"), before);
        assert!(matches!(recall(&test_store, "next"), Err(Error::OtherModel)));
        let batch = fill(&mut test_store, 3);
        if batch.is_empty() {
            break;
        }
        seen.extend(batch);
    }
    assert_eq!(seen, (1..=10).collect::<Vec<i64>>(), "each memory is encoded once");
    assert!(finish(&mut test_store));
    let after = scores(&test_store, "next");
    assert!(matches!(recall(&test_store, "test"), Err(Error::OtherModel)));
    assert_healthy(&test_store);
    test_store = killed(test_store);
    assert_eq!(sets(&test_store), ("next".to_owned(), None));
    assert_eq!((scores(&test_store, "next") == after, after == before), (true, false));
    assert_healthy(&test_store);
}

#[test]
fn a_store_after_the_change_equals_one_that_had_the_new_model_from_the_start() {
    let mut test_store = filled_store();
    begin(&mut test_store, "next");
    fill(&mut test_store, 4);
    store(&mut test_store, "The kettle whistles", &["test", "next"]);
    complete(&mut test_store);
    let fresh_folder = tempfile::tempdir().expect("the folder is created");
    let path = fresh_folder.path().join("memory.db");
    let writer = open(&path, Settings::for_model("next"), T0).expect("the store opens");
    let reader = writer.reader().expect("the reader opens");
    let mut fresh = TestStore::of(fresh_folder, writer, reader, T0);
    for text in TEXTS.into_iter().chain(["The kettle whistles"]) {
        store(&mut fresh, text, &["next"]);
    }
    // Importance stays what the vectors of the earlier model said.
    for test_store in [&mut test_store, &mut fresh] {
        let made_equal = test_store.writer.change(|tx, _, touched| {
            touched.seqs = memories::seqs(tx)?;
            let mut seqs = touched.seqs.iter();
            seqs.try_for_each(|seq| memories::set_importance(tx, *seq, Importance::NEUTRAL))
        });
        made_equal.expect("the importance is set");
    }
    let index = |test_store: &TestStore| contents(&test_store.writer.shared.index());
    assert_eq!(index(&test_store), index(&fresh));
    let results = |test_store: &TestStore| -> Vec<u64> {
        scores(test_store, "next").into_iter().map(|(_, score)| score).collect()
    };
    assert_eq!(results(&test_store), results(&fresh));
}

#[test]
fn a_recall_during_the_change_sees_one_set_or_is_refused() {
    let mut test_store = filled_store();
    let old = scores(&test_store, "test");
    begin(&mut test_store, "next");
    while !fill(&mut test_store, 4).is_empty() {}
    let is_done = AtomicBool::new(false);
    let reader = test_store.writer.reader().expect("the reader opens");
    let (seen_old, seen_new) = std::thread::scope(|scope| {
        let is_done = &is_done;
        let watching = scope.spawn(move || {
            let (mut seen_old, mut seen_new) = (HashSet::new(), HashSet::new());
            // One more round after the change.
            let mut is_last = false;
            while !std::mem::replace(&mut is_last, is_done.load(Ordering::Acquire)) {
                seen_old.extend(recall_by(&reader, "test").ok());
                seen_new.extend(recall_by(&reader, "next").ok());
            }
            (seen_old, seen_new)
        });
        assert!(finish(&mut test_store));
        is_done.store(true, Ordering::Release);
        watching.join().expect("the thread ends")
    });
    assert!(seen_old.iter().all(|scores| *scores == old), "the earlier scores, or refused");
    assert_eq!(seen_new, HashSet::from([scores(&test_store, "next")]));
}

#[test]
fn an_edit_or_a_hard_forget_during_the_filling_leaves_nothing_of_the_text_in_any_set() {
    let mut test_store = filled_store();
    begin(&mut test_store, "next");
    while !fill(&mut test_store, 4).is_empty() {}
    let rows = |test_store: &TestStore, seq| stored::rows(&test_store.writer.conn, Some(seq));
    assert_eq!((rows(&test_store, 3), rows(&test_store, 4)), ([2, 2, 2], [2, 2, 2]));
    let id = |test_store: &TestStore, seq| {
        let memory = crate::db::memories::by_seq(&test_store.writer.conn, seq);
        memory.expect("the memory is readable").expect("the memory exists").id
    };
    let (edited, forgotten) = (id(&test_store, 3), id(&test_store, 4));
    let call = test_store.call("a", None);
    let edit = parse(json!({"memory_id": edited, "content": "Bert keeps the key"}));
    test_store.writer.edit(&call, &edit, &TextEncodings::default()).expect("the memory is edited");
    test_store
        .forget("a", json!({"memory_id": forgotten, "hard_delete": true}))
        .expect("the memory is deleted");
    assert_eq!((rows(&test_store, 3), rows(&test_store, 4)), ([0; 3], [0; 3]));
    assert_eq!(stored::rows(&test_store.writer.conn, None), [16, 16, 16]);
    assert!(!finish(&mut test_store), "the edited memory is missing in the new set");
    assert_eq!(fill(&mut test_store, 4), [3], "the next pass begins at the first memory");
    assert!(finish(&mut test_store));
    assert_healthy(&test_store);
}

#[test]
fn withheld_memories_are_passed_over_and_encoded_once_they_are_not_withheld() {
    let mut test_store = filled_store();
    stored::take_out_of_projects(&test_store.writer.conn, 2);
    stored::expire_after(&test_store.writer.conn, 7, Timestamp(5));
    begin(&mut test_store, "next");
    let expired = Withheld { groups: vec!["other".to_owned()], expired_at: Some(Timestamp(5)) };
    let groups: Vec<String> = [named("a").id].into_iter().chain(["other".to_owned()]).collect();
    let all_but_one = Withheld { groups, ..Withheld::default() };
    let missing = |withheld: &Withheld| {
        let reader = &test_store.reader;
        (
            reader.missing_in("next", withheld).expect("they are counted"),
            reader.missing_bytes_in("next", withheld).expect("they are counted"),
            reader.fill_batch(20, withheld).expect("is read").expect("is filled").memories.len(),
        )
    };
    let bytes = |texts: &[&str]| texts.iter().map(|text| text.len() as u64).sum::<u64>();
    assert_eq!(missing(&expired), (7, bytes(&TEXTS[..7]), 7));
    assert_eq!(missing(&all_but_one), (1, bytes(&TEXTS[1..2]), 1));
    assert_eq!(missing(&Withheld::default()), (10, bytes(&TEXTS), 10));

    let FillBatch { set, memories } =
        test_store.reader.fill_batch(20, &expired).expect("is read").expect("is filled");
    let encode = |(seq, document): (i64, crate::model::document::Document)| {
        let encoding = Some(encoded("next", &document.content).encoding);
        FilledMemory { seq, document, encoding }
    };
    let filled: Vec<FilledMemory> = memories.into_iter().map(encode).collect();
    test_store.writer.store_fill_batch(&set.name, &filled).expect("the batch is stored");
    let finished = test_store.writer.finish_refill(&HashSet::new(), &expired, T0);
    assert!(finished.expect("the sets are changed"));
    let without = |withheld: &Withheld| {
        let reader = &test_store.reader;
        reader.without_vector_after(0, 20, withheld).expect("they are listed").len()
    };
    assert_eq!([without(&expired), without(&Withheld::default())], [0, 3]);
}

#[test]
fn the_encoding_of_a_text_that_was_changed_or_deleted_meanwhile_is_not_stored() {
    let mut test_store = filled_store();
    begin(&mut test_store, "next");
    let batch = test_store
        .reader
        .fill_batch(2, &Withheld::default())
        .expect("the batch is read")
        .expect("is filled");
    let id = crate::db::memories::by_seq(&test_store.writer.conn, 1)
        .expect("the memory is readable")
        .expect("the memory exists")
        .id;
    test_store
        .forget("a", json!({"memory_id": id, "hard_delete": true}))
        .expect("the memory is deleted");
    let filled: Vec<FilledMemory> = batch
        .memories
        .iter()
        .map(|(seq, _)| FilledMemory {
            seq: *seq,
            document: "an earlier text".to_owned().into(),
            encoding: Some(encoded("next", "an earlier text").encoding),
        })
        .collect();
    test_store.writer.store_fill_batch("next", &filled).expect("the batch is stored");
    assert_eq!(stored::rows(&test_store.writer.conn, Some(1)), [0; 3]);
    assert_eq!(stored::rows(&test_store.writer.conn, Some(2)), [1; 3], "only the first set");
}

#[test]
fn a_cancelled_filling_stays_cancelled_and_a_later_start_uses_what_it_had() {
    let mut test_store = filled_store();
    begin(&mut test_store, "next");
    assert_eq!(fill(&mut test_store, 4), [1, 2, 3, 4]);
    let active = test_store.writer.cancel_refill("next", T0).expect("the filling is cancelled");
    assert_eq!(active.name, "test");
    test_store = killed(test_store);
    begin(&mut test_store, "next");
    assert_eq!(sets(&test_store), ("test".to_owned(), None), "a declined model is not used");
    assert!(test_store.writer.cancel_refill("next", T0).is_err(), "nothing is left to cancel");
    let started = test_store.writer.start_refill(&model("next"), Refill::IfOtherModel, T0);
    assert!(started.expect("the filling starts"));
    assert_eq!(fill(&mut test_store, 20), [5, 6, 7, 8, 9, 10]);
    assert!(finish(&mut test_store));
}

#[test]
fn the_earlier_set_comes_back_at_once_and_only_lacks_what_was_stored_since() {
    let mut test_store = filled_store();
    let before = scores(&test_store, "test");
    begin(&mut test_store, "next");
    complete(&mut test_store);
    let later = store(&mut test_store, "Coffee is served at five", &["next"]);
    let returned = test_store.writer.cancel_refill("next", T0).expect("the return begins");
    assert_eq!(returned.name, "test");
    assert_eq!(fill(&mut test_store, 20), [11]);
    assert!(finish(&mut test_store));
    let now: Vec<_> = scores(&test_store, "test");
    assert_eq!(now.iter().filter(|(id, _)| *id != later).count(), before.len());
    begin(&mut test_store, "next");
    assert_eq!(sets(&test_store), ("test".to_owned(), None), "the configured model is declined");
    begin(&mut test_store, "third");
    begin(&mut test_store, "next");
    assert_eq!(sets(&test_store).1.as_deref(), Some("next"), "another model ends that");
}

#[test]
fn the_same_model_encodes_everything_again_into_a_set_of_its_own() {
    let mut test_store = filled_store();
    let before = scores(&test_store, "test");
    let nothing = test_store.writer.start_refill(&model("test"), Refill::IfOtherModel, T0);
    assert!(!nothing.expect("the state is read"));
    test_store.writer.start_refill(&model("test"), Refill::Always, T0).expect("it starts");
    store(&mut test_store, "The kettle whistles", &["test"]);
    assert_eq!(stored::rows(&test_store.writer.conn, Some(11)), [2; 3], "a row in both sets");
    complete(&mut test_store);
    assert_eq!(sets(&test_store).0, "test#2");
    test_store = killed(test_store);
    let kept = |scores: Vec<(MemoryId, u64)>| -> HashSet<MemoryId> {
        scores.into_iter().map(|(id, _)| id).collect()
    };
    assert!(kept(scores(&test_store, "test")).is_superset(&kept(before)));
}

#[test]
fn a_set_out_of_use_is_deleted_after_its_time_in_small_batches() {
    let mut test_store = filled_store();
    begin(&mut test_store, "next");
    complete(&mut test_store);
    assert_eq!(stored::rows(&test_store.writer.conn, None), [20; 3]);
    let mut purge = |now: Timestamp| {
        test_store.writer.purge_kept_sets(now.plus(-7 * DAY), 4).expect("the set is deleted")
    };
    assert_eq!(purge(T0.plus(DAY)), 0, "it is kept for a return");
    let late = T0.plus(8 * DAY);
    assert_eq!([purge(late), purge(late), purge(late), purge(late)], [4, 4, 2, 0]);
    assert_eq!(stored::rows(&test_store.writer.conn, None), [10; 3]);
    assert!(test_store.reader.kept_sets().expect("the sets are listed").is_empty());
    assert_healthy(&test_store);
}

#[test]
fn a_store_without_vectors_takes_the_model_into_use_at_once() {
    let mut test_store = TestStore::with(Settings::for_model(""));
    assert_eq!(sets(&test_store), (String::new(), None));
    store(&mut test_store, TEXTS[0], &["next"]);
    begin(&mut test_store, "next");
    assert_eq!(sets(&test_store), ("next".to_owned(), None));
    assert_eq!(test_store.reader.without_vector(9).expect("the memories are listed").len(), 1);
    assert!(recall(&test_store, "next").is_ok());
}

#[test]
fn vectors_of_either_model_in_use_are_imported_and_the_export_without_vectors_does_not_change() {
    let export = |test_store: &TestStore, vectors| {
        let mut file = Vec::new();
        let request = ExportRequest { vectors, ..ExportRequest::default() };
        test_store.reader.export(&request, &mut file).expect("the store is exported");
        file
    };
    let mut source = filled_store();
    let (plain, by_test) = (export(&source, false), export(&source, true));
    begin(&mut source, "next");
    fill(&mut source, 4);
    assert_eq!((export(&source, false) == plain, export(&source, true) == by_test), (true, true));
    complete(&mut source);
    let by_next = export(&source, true);
    assert_eq!((export(&source, false) == plain, by_next == by_test), (true, false));

    for (file, in_active, in_filling) in [(by_test, 10, 0), (by_next, 0, 10)] {
        let mut target = TestStore::new();
        store(&mut target, "A fact of the target", &["test"]);
        begin(&mut target, "next");
        let call = target.call("a", None);
        let reply = target
            .writer
            .import(&call, &ImportRequest::default(), &mut Cursor::new(file))
            .expect("the file is imported");
        assert_eq!(reply.vectors, 10, "{reply:?}");
        assert!(!reply.notes.iter().any(|note| note.contains("vectors")), "{reply:?}");
        let missing = |set: &str| {
            target.reader.missing_in(set, &Withheld::default()).expect("the rows are counted")
        };
        assert_eq!((10 - missing("test"), 11 - missing("next")), (in_active, in_filling));
        assert_healthy(&target);
    }
}

#[test]
fn vectors_of_another_dimension_are_deleted_at_the_start_and_computed_again() {
    let mut test_store = filled_store();
    stored::set_dimension(&test_store.writer.conn, 768);
    test_store = killed(test_store);
    assert!(
        test_store.writer.findings().iter().any(|finding| finding.contains("table of vectors")),
        "{:?}",
        test_store.writer.findings()
    );
    assert_eq!(stored::rows(&test_store.writer.conn, None), [0, 0, 10]);
    let found = test_store.found("a", json!({"query": "kettle"}), None);
    assert!(found.contains(&TEXTS[0].to_owned()), "{found:?}");
    let waiting = test_store.reader.without_vector(20).expect("the memories are listed");
    assert_eq!(waiting.len(), 10);
    for (seq, document) in waiting {
        test_store.fill(seq, encoded("test", &document.content).encoding);
    }
    assert_healthy(&test_store);
    test_store = killed(test_store);
    assert!(test_store.writer.findings().is_empty(), "{:?}", test_store.writer.findings());
}
