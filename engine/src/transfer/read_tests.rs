//! What comes with an import beside the texts: vectors, codes of words, the keyword index.

use crate::db::vectors;
use crate::model::encoding::{DocumentEncoding, SignCode};
use crate::tests::fixture::{TestStore, axis, parse};
use crate::transfer::tests::{exported, import, imported, small};
use serde_json::{Value, json};

#[test]
fn what_the_model_has_read_comes_along() {
    let mut test_store = TestStore::new();
    let read = DocumentEncoding {
        pieces: vec![axis(1)],
        words: Some(vec![SignCode::of(axis(2).as_slice()), SignCode::of(axis(3).as_slice())]),
    };
    test_store.store_coded("shop", json!({"content": "The oven ticks", "type": "semantic"}), &read);
    let file = exported(&test_store, true);
    let mut other = TestStore::new();
    imported(&mut other, &file);
    assert_eq!(
        (other.reader.without_vector(9).expect("lists"), exported(&other, true)),
        (Vec::new(), file.clone())
    );
    assert_eq!(vectors::encoding(&other.reader.conn, 1, "test").expect("reads"), read);
    // Codes that are cut short are read anew, and the vector stays.
    let codes: Value =
        serde_json::from_str(file.lines().find(|line| line.contains("codes")).expect("has codes"))
            .expect("is JSON");
    let codes = codes["codes"].as_str().expect("is text");
    let mut third = TestStore::new();
    assert_eq!(imported(&mut third, &file.replace(codes, &codes[4..])).vectors, 1);
    assert_eq!(third.reader.without_vector(9).expect("lists").len(), 1);
}

#[test]
fn the_vector_of_another_wording_is_not_taken() {
    let mut test_store = TestStore::new();
    let id = test_store
        .store("shop", json!({"content": "Opens at nine", "type": "semantic"}), Some(&axis(1)))
        .id;
    let (plain, file) = (exported(&test_store, false), exported(&test_store, true));
    let mut other = TestStore::new();
    imported(&mut other, &plain);
    other.now = other.now.plus(1000);
    let asked = parse(json!({"memory_id": id, "content": "Opens at ten"}));
    other
        .writer
        .edit(&other.call("shop", None), &asked, &DocumentEncoding::default())
        .expect("is edited");
    assert_eq!(imported(&mut other, &file).vectors, 0);
    assert_eq!(other.reader.without_vector(9).expect("lists").len(), 1);
}

#[test]
fn a_vector_that_cannot_be_read_names_its_line_or_is_left_out() {
    let file = exported(&small(), true);
    let at =
        file.lines().position(|line| line.contains("\"kind\":\"vector\"")).expect("has vectors")
            + 1;
    let bad = file.replacen("\"piece\":0", "\"piece\":\"none\"", 1);
    let mut test_store = TestStore::new();
    let said = import(&mut test_store, &bad, false).expect_err("is refused");
    assert!(
        said.contains(&format!("line {at} cannot be read: invalid type: string \"none\""))
            && said.contains("Nothing was imported"),
        "{said}"
    );
    assert_eq!(
        crate::db::memories::count(&test_store.writer.conn).expect("counts"),
        0,
        "nothing was"
    );
    let reply = import(&mut test_store, &bad, true).expect("is imported");
    assert_eq!(
        (reply.added, reply.vectors, reply.skipped, reply.skipped_lines[0].line),
        (3, 1, 1, at)
    );
}

#[test]
fn the_keyword_index_follows_an_import_and_what_comes_after_it() {
    let mut test_store = small();
    let whole = |test_store: &TestStore| {
        crate::db::integrity::words(&test_store.writer.conn).expect("is in step")
    };
    whole(&test_store);
    let newer = exported(&test_store, false)
        .replace("\"updated_at\":17", "\"updated_at\":19")
        .replace("The", "That");
    assert!(imported(&mut test_store, &newer).changed > 0);
    whole(&test_store);
    import(&mut test_store, &newer.replace("\"end\"", "\"and\""), false).expect_err("is refused");
    test_store.store("shop", json!({"content": "Stored after all that", "type": "semantic"}), None);
    whole(&test_store);
}
