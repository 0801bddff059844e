//! Errors of files that cannot be imported.

use crate::tests::fixture::TestStore;
use crate::transfer::tests::{export, import, small_store, try_import};
use loci_proto::requests::import::ImportRequest;
use serde_json::{Value, json};
use std::io::Cursor;

/// Returns the export of [`small_store`] with one line changed.
fn with_line(line: usize, change: impl Fn(&mut Value)) -> String {
    let text = export(&small_store(), false);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut value: Value = serde_json::from_str(&lines[line - 1]).expect("the line is JSON");
    change(&mut value);
    lines[line - 1] = value.to_string();
    lines.join("\n") + "\n"
}

/// Imports an invalid file and checks that nothing was imported; returns the error.
fn refusal(text: &str) -> String {
    let mut test_store = TestStore::new();
    let before = export(&test_store, false);
    let error = try_import(&mut test_store, text, false).expect_err("the file is refused");
    assert_eq!(export(&test_store, false), before, "nothing was imported");
    error
}

#[test]
fn an_error_names_its_line_and_nothing_is_imported() {
    let refusal_with = |line, field: &'static str, value: Value| {
        refusal(&with_line(line, move |v| v[field] = value.clone()))
    };
    assert!(
        refusal_with(3, "confidence", json!(7))
            .contains("line 3 cannot be read: must be a number from 0 to 1")
    );
    assert!(
        refusal_with(4, "created_at", json!(-11_644_473_600_000_i64))
            .contains("line 4 created_at must be a time from 1970"),
        "the year 1601"
    );
    assert!(
        refusal_with(4, "updated_at", json!(253_370_764_800_000_i64))
            .contains("line 4 updated_at must be a time"),
        "the year 9999"
    );
    assert!(
        refusal_with(3, "content", json!("a\u{0}b")).contains("line 3 content contains U+0000")
    );
    assert!(
        refusal_with(3, "content", json!("x".repeat(40_000)))
            .contains("line 3 content has 40000 bytes")
    );
    assert!(
        refusal_with(3, "session", json!("x".repeat(257)))
            .contains("line 3 session has more than 256 characters")
    );
    assert!(refusal_with(3, "status", json!("gone")).contains("line 3 status must be one of"));
    assert!(
        refusal_with(3, "trusted", json!(true))
            .contains("line 3 cannot be read: unknown field `trusted`")
    );
    assert!(
        refusal_with(3, "group", json!("elsewhere"))
            .contains("line 3 group is not a group of an earlier line")
    );
    let nowhere = "01953a2b-7c1e-7000-8000-0123456789ab";
    assert!(
        refusal_with(4, "superseded_by", json!(nowhere))
            .contains("line 4 superseded_by names a memory that is in neither")
    );
    let text = export(&small_store(), false);
    let duplicated: Vec<&str> = text
        .lines()
        .enumerate()
        .map(|(n, line)| text.lines().nth(if n == 4 { 3 } else { n }).unwrap_or(line))
        .collect();
    assert!(
        refusal(&(duplicated.join("\n") + "\n")).contains("line 5 id is also the id of line 4")
    );
}

#[test]
fn replacements_that_form_a_cycle_are_refused_with_their_line() {
    let text = export(&small_store(), false);
    let first: Value = serde_json::from_str(text.lines().nth(2).expect("the line exists"))
        .expect("the line is JSON");
    let mut second: Value = serde_json::from_str(text.lines().nth(3).expect("the line exists"))
        .expect("the line is JSON");
    second["superseded_by"] = first["id"].clone();
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(n, l)| if n == 3 { second.to_string() } else { l.to_owned() })
        .collect();
    let error = refusal(&(lines.join("\n") + "\n"));
    assert!(error.contains("line 3 superseded_by leads back to the memory itself"), "{error}");
}

#[test]
fn a_file_that_is_not_an_export_is_refused_with_a_reason() {
    let good = export(&small_store(), false);
    assert!(refusal("").contains("the file is empty"));
    assert!(refusal("hello\n").contains("line 1 is not a JSON object"));
    assert!(refusal("{\"a\": 1}\n").contains("line 1 is not the header"));
    assert!(
        refusal("{\"loci\":\"export\",\"version\":9}\n")
            .contains("line 1 has version 9; this loci reads versions 1 to 4")
    );
    assert!(refusal("{\"loci\":\"export\",\"version\":1}\n").contains("the file is truncated"));
    let truncated = &good[..good.len() - 10];
    assert!(refusal(truncated).contains("ends too early"), "{}", refusal(truncated));
    let whole_lines = good.lines().take(3).collect::<Vec<_>>().join("\n");
    assert!(refusal(&whole_lines).contains("line 3 is the last line but not an end line"));
    let mut long = good.clone();
    long.insert_str(
        good.find('\n').expect("the export has lines") + 1,
        &("x".repeat(2 << 20) + "\n"),
    );
    assert!(refusal(&long).contains("line 2 is longer than 1048576 bytes"));
    let mut test_store = TestStore::new();
    assert_eq!(
        import(&mut test_store, &format!("\u{FEFF}{}", good.replace('\n', "\r\n"))).added,
        3,
        "a byte order mark and CRLF are accepted"
    );
    let call = test_store.call("shop", None);
    let compressed = test_store.writer.import(
        &call,
        &ImportRequest::default(),
        &mut Cursor::new([0x1f, 0x8b, 8, 0, 0]),
    );
    assert!(
        compressed
            .expect_err("the file is refused")
            .to_string()
            .contains("is compressed. Unpack it first")
    );
}

#[test]
fn skip_bad_skips_a_bad_line_and_imports_the_others() {
    let mut test_store = TestStore::new();
    for number in 0..300 {
        test_store.store(
            "shop",
            json!({"content": format!("Fact number {number}"), "type": "semantic"}),
            None,
        );
    }
    let mut lines: Vec<String> = export(&test_store, false).lines().map(str::to_owned).collect();
    lines[99] = "{\"kind\":\"memory\"}".to_owned();
    let text = lines.join("\n");
    assert!(refusal(&text).contains("line 100 cannot be read: missing field"));
    let mut other = TestStore::new();
    let reply = try_import(&mut other, &text, true).expect("the import succeeds");
    assert_eq!((reply.added, reply.skipped, reply.skipped_lines[0].line), (299, 1, 100));
    assert!(reply.skipped_lines[0].reason.contains("missing field"), "{reply:?}");
}
