//! The store as Markdown files, and back.

use crate::privacy::Policy;
use crate::tests::fixture::TestStore;
use crate::transfer::tests::history::{History, Step};
use crate::transfer::tests::{export, import, lines_without_log, small_store, without_provenance};
use loci_import::{Places, read};
use loci_proto::foreign::Format;
use loci_proto::requests::export::{ExportRequest, Layout};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Writes the files of a store into a folder.
fn write_files(test_store: &TestStore, folder: &Path) -> Vec<String> {
    let mut out = Vec::new();
    let request = ExportRequest { layout: Layout::Markdown, ..ExportRequest::default() };
    test_store.reader.export(&request, &mut out).expect("the export succeeds");
    let text = String::from_utf8(out).expect("it is UTF-8");
    let mut paths = Vec::new();
    for line in text.lines() {
        let file: Value = serde_json::from_str(line).expect("the line is JSON");
        let path = file["path"].as_str().expect("it has a path").to_owned();
        let target = folder.join(&path);
        fs::create_dir_all(target.parent().expect("it has a folder")).expect("it is created");
        fs::write(&target, file["text"].as_str().expect("it has a text")).expect("it is written");
        paths.push(path);
    }
    paths
}

/// Reads the files of a folder as an export.
fn read_files(folder: &Path) -> String {
    let places = Places {
        home: folder.to_path_buf(),
        working_dir: folder.to_path_buf(),
        variable: |_| None,
    };
    let reading = read(Format::Markdown, &places, &[folder.to_path_buf()], &Policy::default())
        .expect("the files are read");
    assert!(reading.memories.is_empty() && reading.skipped.is_empty(), "{reading:?}");
    let mut lines = vec![json!({"loci": "export", "version": 4}).to_string()];
    lines.extend(reading.records.iter().map(Value::to_string));
    lines.push(json!({"kind": "end", "lines": lines.len()}).to_string());
    lines.join("\n")
}

/// The records of an export, in any order.
fn records(export: &str) -> Vec<String> {
    let text = without_provenance(export);
    let mut lines: Vec<String> = lines_without_log(&text).into_iter().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn each_memory_is_a_file_with_links_and_each_project_has_an_index() {
    let (test_store, folder) = (small_store(), tempfile::tempdir().expect("a folder"));
    let paths = write_files(&test_store, folder.path());
    assert_eq!(paths.len(), 4, "{paths:?}");
    let old = paths.iter().find(|path| path.contains("opens-at-nine")).expect("it has a file");
    let text = fs::read_to_string(folder.path().join(old)).expect("it is readable");
    assert!(text.starts_with("---\nloci: \"memory\"\n"), "{text}");
    assert!(text.contains("\n---\n\nThe shop opens at nine\n\n<!-- loci: links -->\n"), "{text}");
    assert!(text.contains("- replaced by [The shop opens at ten](../../shop/semantic/"), "{text}");
    let index = fs::read_to_string(folder.path().join("shop/index.md")).expect("there is one");
    assert!(
        index
            .contains("\n# shop\n\n## entity\n\n- [Anna runs the shop](entity/anna-runs-the-shop-")
    );
}

#[test]
fn a_text_that_a_person_edited_in_a_file_comes_back() {
    let (mut test_store, folder) = (small_store(), tempfile::tempdir().expect("a folder"));
    let paths = write_files(&test_store, folder.path());
    let path =
        folder.path().join(paths.iter().find(|path| path.contains("ten")).expect("it is there"));
    let text = fs::read_to_string(&path).expect("it is readable");
    let text = text
        .replace("opens at ten", "opens at eleven")
        .replace("updated_at: \"20", "updated_at: \"2030-01-01\" # 20");
    fs::write(&path, text).expect("it is written");
    let reply = import(&mut test_store, &read_files(folder.path()));
    assert_eq!((reply.added, reply.changed), (0, 1), "{reply:?}");
    assert_eq!(
        test_store.found("shop", json!({"query": "eleven"}), None),
        ["The shop opens at eleven"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn files_bring_back_every_memory(steps in proptest::collection::vec(Step::any(), 0..25)) {
        let (test_store, folder) = (History::of(&steps), tempfile::tempdir().expect("a folder"));
        write_files(&test_store, folder.path());
        let mut copy = TestStore::new();
        import(&mut copy, &read_files(folder.path()));
        prop_assert_eq!(records(&export(&copy, false)), records(&export(&test_store, false)));
    }
}
