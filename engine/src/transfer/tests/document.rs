//! Exports that are one JSON document.

use crate::tests::fixture::TestStore;
use crate::transfer::tests::{export, import, small_store, without_provenance};
use crate::transfer::{document_to_lines, is_document};
use loci_proto::requests::export::{ExportRequest, Layout};
use serde_json::{Value, json};
use std::io::Cursor;

#[test]
fn a_document_in_any_layout_imports_like_the_lines() {
    let test_store = small_store();
    let mut document = Vec::new();
    test_store
        .reader
        .export(
            &ExportRequest { layout: Layout::Document, vectors: true, as_of: None },
            &mut document,
        )
        .expect("the export succeeds");
    let value: Value = serde_json::from_slice(&document).expect("the export is one JSON document");
    assert_eq!((&value["version"], &value["vectors"]), (&json!(4), &json!("test")));
    let exported_lines = export(&test_store, true);
    assert_eq!(
        String::from_utf8_lossy(&document).lines().count(),
        exported_lines.lines().count() + 1,
        "record N is on line N + 1"
    );
    assert!(
        !is_document(exported_lines.as_bytes())
            && !is_document(b"hello")
            && !is_document(b"{\"a\": 1}\n")
    );
    for text in [
        document.clone(),
        value.to_string().into_bytes(),
        serde_json::to_vec_pretty(&value).expect("the document is serialisable"),
    ] {
        assert!(is_document(&text));
        let mut lines = Vec::new();
        document_to_lines(&mut Cursor::new(&text), &mut lines).expect("the document is converted");
        let mut other = TestStore::new();
        import(&mut other, std::str::from_utf8(&lines).expect("the lines are UTF-8"));
        assert_eq!(without_provenance(&export(&other, true)), without_provenance(&exported_lines));
    }
    let unfinished = [b"{\"records\":[\"".to_vec(), vec![b'x'; 4 << 20]].concat();
    let error = document_to_lines(&mut Cursor::new(&unfinished), &mut Vec::new())
        .expect_err("the unfinished document is refused")
        .to_string();
    assert!(error.contains("document cannot be read"), "{error}");
    let huge = [unfinished, b"\"],\"loci\":\"export\",\"version\":1}".to_vec()].concat();
    let error = document_to_lines(&mut Cursor::new(&huge), &mut Vec::new())
        .expect_err("the huge record is refused")
        .to_string();
    assert!(error.contains("a record is longer than"), "{error}");
}
