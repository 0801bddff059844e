//! Vectors, sign codes and the keyword index after an import.

use crate::db::vectors;
use crate::model::encoding::{DocumentEncoding, SignCode, TextEncodings};
use crate::tests::fixture::{TestStore, axis, parse};
use crate::transfer::tests::{export, import, small_store, try_import, without_provenance};
use serde_json::{Value, json};

#[test]
fn vectors_and_sign_codes_are_imported() {
    let mut test_store = TestStore::new();
    let encoding = DocumentEncoding {
        vectors: vec![axis(1)],
        words: Some(vec![SignCode::of(axis(2).as_slice()), SignCode::of(axis(3).as_slice())]),
    };
    test_store.store_encoded(
        "shop",
        json!({"content": "The oven ticks", "type": "semantic"}),
        &encoding,
    );
    let file = export(&test_store, true);
    let mut other = TestStore::new();
    import(&mut other, &file);
    assert_eq!(
        (
            other.reader.without_vector(9).expect("the list is readable"),
            without_provenance(&export(&other, true))
        ),
        (Vec::new(), without_provenance(&file))
    );
    assert_eq!(
        vectors::encoding(&other.reader.conn, 1, "test").expect("the encoding is readable"),
        encoding
    );
    // A memory with truncated codes is encoded again; its vector is stored.
    let line = file.lines().find(|line| line.contains("codes")).expect("the file has codes");
    let line: Value = serde_json::from_str(line).expect("the line is JSON");
    let codes = line["codes"].as_str().expect("the codes are text");
    let mut third = TestStore::new();
    assert_eq!(import(&mut third, &file.replace(codes, &codes[4..])).vectors, 1);
    assert_eq!(third.reader.without_vector(9).expect("the list is readable").len(), 1);
}

#[test]
fn a_vector_of_other_content_is_not_imported() {
    let mut test_store = TestStore::new();
    let id = test_store
        .store("shop", json!({"content": "Opens at nine", "type": "semantic"}), Some(&axis(1)))
        .id;
    let (plain, file) = (export(&test_store, false), export(&test_store, true));
    let mut other = TestStore::new();
    import(&mut other, &plain);
    other.now = other.now.plus(1000);
    let request = parse(json!({"memory_id": id, "content": "Opens at ten"}));
    other
        .writer
        .edit(&other.call("shop", None), &request, &TextEncodings::default())
        .expect("the memory is edited");
    assert_eq!(import(&mut other, &file).vectors, 0);
    assert_eq!(other.reader.without_vector(9).expect("the list is readable").len(), 1);
}

#[test]
fn an_invalid_vector_names_its_line_or_is_skipped() {
    let file = export(&small_store(), true);
    let index = file.lines().position(|line| line.contains("\"kind\":\"vector\""));
    let line_number = index.expect("the file has vectors") + 1;
    let bad = file.replacen("\"piece\":0", "\"piece\":\"none\"", 1);
    let mut test_store = TestStore::new();
    let error = try_import(&mut test_store, &bad, false).expect_err("the file is refused");
    assert!(
        error
            .contains(&format!("line {line_number} cannot be read: invalid type: string \"none\""))
            && error.contains("Nothing was imported"),
        "{error}"
    );
    assert_eq!(
        crate::db::memories::count(&test_store.writer.conn).expect("the memories are counted"),
        0,
        "nothing was imported"
    );
    let reply = try_import(&mut test_store, &bad, true).expect("the import succeeds");
    assert_eq!(
        (reply.added, reply.vectors, reply.skipped, reply.skipped_lines[0].line),
        (3, 1, 1, line_number)
    );
}

#[test]
fn the_keyword_index_is_correct_after_an_import_and_later_changes() {
    let mut test_store = small_store();
    let check_index = |test_store: &TestStore| {
        crate::db::integrity::words(&test_store.writer.conn).expect("the keyword index is correct");
    };
    check_index(&test_store);
    let newer = export(&test_store, false)
        .replace("\"updated_at\":17", "\"updated_at\":19")
        .replace("The", "That");
    assert!(import(&mut test_store, &newer).changed > 0);
    check_index(&test_store);
    try_import(&mut test_store, &newer.replace("\"end\"", "\"and\""), false)
        .expect_err("the file is refused");
    test_store.store("shop", json!({"content": "Stored after all that", "type": "semantic"}), None);
    check_index(&test_store);
}

#[test]
fn vectors_of_another_model_are_skipped_with_a_note() {
    let mut text = export(&small_store(), true);
    text = text.replacen("\"vectors\":\"test\"", "\"vectors\":\"another\"", 1);
    let mut test_store = TestStore::new();
    let reply = import(&mut test_store, &text);
    assert_eq!((reply.added, reply.vectors), (3, 0));
    assert!(reply.notes[0].contains("from the model another"), "{reply:?}");
    assert_eq!(
        test_store.reader.without_vector(10).expect("the list is readable").len(),
        2,
        "the active memories await their vectors"
    );
    let short = export(&small_store(), true).replacen("AAAA", "", 2);
    let reply = import(&mut TestStore::new(), &short);
    assert!(reply.vectors < 2 && reply.notes[0].contains("cannot be used"), "{reply:?}");
}

#[test]
fn duplicate_vectors_after_those_of_another_memory_are_ignored() {
    let text = export(&small_store(), true);
    let vectors: Vec<&str> =
        text.lines().filter(|line| line.contains("\"kind\":\"vector\"")).collect();
    assert!(vectors.len() >= 2, "two memories have vectors");
    let line_count = text.lines().count();
    let duplicated = text.replace(vectors[1], &format!("{}\n{}", vectors[1], vectors[0]));
    let duplicated = duplicated
        .replace(&format!("\"lines\":{}", line_count - 1), &format!("\"lines\":{line_count}"));
    assert_eq!(duplicated.lines().count(), line_count + 1);
    let reply = import(&mut TestStore::new(), &duplicated);
    assert_eq!(reply.vectors, import(&mut TestStore::new(), &text).vectors, "{reply:?}");
}
