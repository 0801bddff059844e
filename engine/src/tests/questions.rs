//! The questions that a memory answers: searched as its text is, and no part of it.

use crate::model::document::{Document, with_questions};
use crate::model::encoding::DocumentEncoding;
use crate::tests::fixture::{TestStore, between_axes, by_test_model, document_encoding, parse};
use loci_proto::memory::MemoryId;
use loci_proto::requests::store::StoreReply;
use serde_json::{Value, json};

const TEXT: &str = "Piotr looks after the kiln";

/// The encoding of [`TEXT`]; with questions, their vector is orthogonal to it.
fn encoding(questions: &str) -> DocumentEncoding {
    let text = document_encoding(TEXT, between_axes(1, 2, 1.0));
    if questions.is_empty() {
        return text;
    }
    with_questions(text, document_encoding(questions, between_axes(5, 6, 1.0)))
}

fn store(test_store: &mut TestStore, questions: &[&str]) -> StoreReply {
    let arguments = json!({"content": TEXT, "type": "semantic", "questions": questions});
    test_store.store_encoded("a", arguments, &encoding(&questions.join("\n")))
}

fn waiting(test_store: &TestStore) -> Vec<Document> {
    let waiting = test_store.reader.without_vector(9).expect("the memories are listed");
    waiting.into_iter().map(|(_, document)| document).collect()
}

fn edit(test_store: &mut TestStore, id: &MemoryId, arguments: &Value) {
    let mut request = json!({"memory_id": id});
    request.as_object_mut().expect("an object").extend(
        arguments
            .as_object()
            .expect("an object")
            .iter()
            .map(|(key, value)| (key.clone(), value.clone())),
    );
    let call = test_store.call("a", None);
    let encodings = by_test_model(encoding(""));
    test_store.writer.edit(&call, &parse(request), &encodings).expect("it is edited");
}

#[test]
fn a_memory_is_found_by_the_words_and_by_the_vector_of_its_questions() {
    let mut test_store = TestStore::new();
    store(&mut test_store, &["Who mends the oven?"]);
    assert_eq!(test_store.found("a", json!({"query": "oven"}), None), [TEXT]);
    let vector = between_axes(5, 6, 1.0);
    assert_eq!(test_store.found("a", json!({"query": "stove"}), Some(&vector)), [TEXT]);
}

#[test]
fn questions_are_neither_part_of_the_text_nor_of_the_check_for_duplicates() {
    let mut test_store = TestStore::new();
    let first = store(&mut test_store, &["Who mends the oven?"]);
    let again = store(&mut test_store, &[]);
    assert_eq!((again.id, again.deduplicated), (first.id.clone(), true));
    let reworded = json!({"content": "The kiln: Piotr looks after it", "type": "semantic"});
    let near = document_encoding("The kiln: Piotr looks after it", between_axes(1, 2, 0.99));
    let similar = test_store.store_encoded("a", reworded, &near);
    assert!(similar.deduplicated || similar.similar == [first.id], "{similar:?}");
}

#[test]
fn the_index_of_a_reopened_store_has_the_questions() {
    let mut test_store = TestStore::new();
    store(&mut test_store, &["Who mends the oven?"]);
    let test_store = test_store.reopened();
    assert_eq!(test_store.found("a", json!({"query": "oven"}), None), [TEXT]);
}

#[test]
fn a_known_memory_gets_questions_if_it_has_none_and_is_encoded_with_them() {
    let mut test_store = TestStore::new();
    store(&mut test_store, &[]);
    assert_eq!(waiting(&test_store), []);
    assert!(store(&mut test_store, &["Who mends the oven?"]).deduplicated);
    let document =
        Document { content: TEXT.to_owned(), questions: "Who mends the oven?".to_owned() };
    assert_eq!(waiting(&test_store), [document]);
    test_store.fill(1, encoding("Who mends the oven?"));
    assert!(store(&mut test_store, &["Whom do I call?"]).deduplicated);
    assert_eq!(waiting(&test_store), [], "its own questions stay");
    assert_eq!(test_store.found("a", json!({"query": "oven"}), None), [TEXT]);
}

#[test]
fn changed_questions_are_encoded_again_also_by_an_undo() {
    let mut test_store = TestStore::new();
    let id = store(&mut test_store, &["Who mends the oven?"]).id;
    edit(&mut test_store, &id, &json!({"metadata": {"questions": ["Whom do I call?"]}}));
    let questions = |test_store: &TestStore| -> Vec<String> {
        waiting(test_store).into_iter().map(|document| document.questions).collect()
    };
    assert_eq!(questions(&test_store), ["Whom do I call?"]);
    assert_eq!(test_store.found("a", json!({"query": "oven"}), None), [""; 0]);
    test_store.fill(1, encoding("Whom do I call?"));
    test_store.undo_last().expect("it is undone");
    assert_eq!(questions(&test_store), ["Who mends the oven?"]);
    assert_eq!(test_store.found("a", json!({"query": "oven"}), None), [TEXT]);
    test_store.fill(1, encoding("Who mends the oven?"));
    edit(&mut test_store, &id, &json!({"content": "Piotr repairs the kiln"}));
    assert_eq!(questions(&test_store), ["Who mends the oven?"], "the new text waits with them");
    edit(&mut test_store, &id, &json!({"metadata": {}, "content": "Piotr mends the kiln"}));
    assert_eq!(questions(&test_store), [""; 0], "the text alone was encoded by the call");
}

#[test]
fn questions_that_cannot_be_are_refused_by_name() {
    let mut test_store = TestStore::new();
    for (questions, refusal) in [
        (json!(["a", "b", "c", "d", "e", "f"]), "questions has 6 questions; at most 5 are allowed"),
        (
            json!(["Who?", "x".repeat(201)]),
            "questions[1] has 201 characters; at most 200 are allowed",
        ),
        (json!(["?!"]), "questions[0] has no word"),
        (json!(["one\ntwo"]), "questions[0] contains a control character"),
    ] {
        let arguments = json!({"content": TEXT, "type": "semantic", "questions": questions});
        let refused = test_store.try_store("a", arguments, None).expect_err("it is refused");
        assert!(refused.to_string().contains(refusal), "{refused}");
    }
    let twice = json!({"content": TEXT, "type": "semantic", "questions": ["Who?"],
        "metadata": {"questions": ["Who?"]}});
    let refused = test_store.try_store("a", twice, None).expect_err("it is refused");
    assert!(refused.to_string().contains("questions is given twice"), "{refused}");
    let wrong = json!({"content": TEXT, "type": "semantic", "metadata": {"questions": "Who?"}});
    let refused = test_store.try_store("a", wrong, None).expect_err("it is refused");
    assert!(
        refused.to_string().contains("metadata.questions must be an array of texts"),
        "{refused}"
    );
}
