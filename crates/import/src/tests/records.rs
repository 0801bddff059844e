//! Every word of the records of other programs is in a memory or left out by its line or row, whatever fields and types they have.

use super::letters::{letters, lines_of, of_memory};
use super::{Home, contents, find};
use crate::db::made_up;
use loci_proto::foreign::{Format, Reading};
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value as Cell;
use serde_json::{Map, Value, json};

/// A program whose JSON is read: its format, the lists of a document, and an item of each.
fn programs() -> Vec<(Format, Vec<(&'static str, Value)>)> {
    vec![
        (
            Format::ServerMemory,
            vec![
                (
                    "entities",
                    json!({"name": "@", "entityType": "@", "observations": ["@ @", {"content": "@", "text": "@"}]}),
                ),
                ("relations", json!({"from": "@", "to": "@", "relationType": "@"})),
            ],
        ),
        (
            Format::Mem0,
            vec![(
                "results",
                json!({"id": "@", "memory": "@ @", "user_id": "@", "categories": ["@"], "hash": "@"}),
            )],
        ),
        (
            Format::Engram,
            vec![
                (
                    "observations",
                    json!({"id": "@", "session_id": "s", "type": "@", "title": "@", "content": "@ @", "project": "@"}),
                ),
                (
                    "sessions",
                    json!({"id": "s", "project": "@", "directory": "/srv/@", "summary": "@ @"}),
                ),
            ],
        ),
        (
            Format::Loomem,
            vec![
                (
                    "chunks",
                    json!({"id": "@", "content": "@ @", "stream": "@", "extraction_meta": {"subject": "@", "tone": "@"}}),
                ),
                ("entities", json!({"canonical_name": "@", "entity_type": "@", "aliases": ["@"]})),
                ("edges", json!({"source": "@", "target": "@", "relation_type": "@", "why": "@"})),
            ],
        ),
    ]
}

/// Names of fields that people's files have; most of them mean something to one of the programs.
const NAMES: [&str; 40] = [
    "notes",
    "summary",
    "text",
    "content",
    "memory",
    "data",
    "name",
    "title",
    "metadata",
    "observations",
    "contents",
    "relations",
    "type",
    "entityName",
    "entityType",
    "tags",
    "created_at",
    "updated_at",
    "score",
    "hash",
    "embedding",
    "id",
    "entities",
    "chunks",
    "results",
    "user_id",
    "project",
    "scope",
    "stream",
    "extraction_meta",
    "superseded_by",
    "from",
    "directory",
    "aliases",
    "state",
    "old_memory",
    "x@",
    "y@",
    "access_count",
    "session_id",
];
/// Fields that may be listed once for a file, by name.
const BOOKKEEPING: [&str; 17] = [
    "id",
    "hash",
    "score",
    "embedding",
    "created_at",
    "updated_at",
    "state",
    "access_count",
    "session_id",
    "user_id",
    "content_hash",
    "memory_id",
    "started_at",
    "ended_at",
    "deleted_at",
    "event",
    "actor_id",
];
/// Fields whose number is the time or the confidence of a memory, or says yes or no.
const TAKEN_NUMBERS: [&str; 6] =
    ["created_at", "updated_at", "score", "deleted_at", "confidence", "is_deleted"];

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => Just(json!("@ @")),
        2 => Just(json!("@")),
        1 => Just(json!(0)),
        1 => Just(json!(true)),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            fields(inner, 0..3).prop_map(Value::Object),
        ]
    })
}

fn fields(
    value: impl Strategy<Value = Value> + 'static,
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = Map<String, Value>> {
    let field = (prop::sample::select(NAMES.as_slice()).prop_map(str::to_owned), value);
    prop::collection::vec(field, count).prop_map(Map::from_iter)
}

/// Gives each `@` a word of its own, and each number.
fn fill(value: Value, count: &mut usize) -> Value {
    let mut words = |text: &str| -> String {
        let one = |c: char| match c {
            '@' => {
                *count += 1;
                format!("kq{count}z")
            }
            c => c.to_string(),
        };
        text.chars().map(one).collect()
    };
    match value {
        Value::String(text) => Value::from(words(&text)),
        Value::Number(_) => {
            *count += 1;
            Value::from(7_000_000 + *count)
        }
        Value::Array(items) => items.into_iter().map(|item| fill(item, count)).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| (words(&name), value);
            let named: Vec<_> = fields.into_iter().map(field).collect();
            named.into_iter().map(|(name, value)| (name, fill(value, count))).collect()
        }
        other => other,
    }
}

/// Adds each word of a value with the name of its field.
fn words(value: &Value, field: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => found.extend(
            text.split(|c: char| !c.is_alphanumeric())
                .filter(|word| word.starts_with("kq"))
                .map(|word| (word.to_owned(), field.to_owned())),
        ),
        Value::Number(number) if !TAKEN_NUMBERS.contains(&field) => {
            found.push((number.to_string(), field.to_owned()));
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, field, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                let before = found.len();
                words(value, name, found);
                if found.len() > before {
                    words(&Value::from(name.as_str()), name, found);
                }
            }
        }
        _ => {}
    }
}

/// Returns the words that are in no memory and not left out; `is_at` says whether a place has a word.
fn lost(
    mut all: Vec<(String, String)>,
    reading: &Reading,
    is_at: &dyn Fn(&str, &str) -> bool,
) -> Vec<(String, String)> {
    let memories: String = reading.memories.iter().map(of_memory).collect();
    all.retain(|(word, field)| {
        let is_left_out = reading.skipped.iter().any(|text| {
            if text.reason.starts_with("fields that only serve") {
                let is_listed = text.reason.contains(&format!(" {field} ("));
                return is_listed && BOOKKEEPING.contains(&field.as_str());
            }
            letters(&format!("{} {}", text.place, text.reason)).contains(word)
                || is_at(&text.place, word)
        });
        !memories.contains(word) && !is_left_out
    });
    all
}

/// What is around the items of a document.
fn wrapped(around: usize, lists: &Map<String, Value>, loose: &Value) -> (String, Vec<Value>) {
    let all = || lists.values().flat_map(|list| list.as_array().cloned().unwrap_or_default());
    let document = match around {
        0 => json!(lists),
        1 => json!({"data": lists, "loose@": loose}),
        2 => json!({"version": "@", "result": {"graph": lists}}),
        3 => all().collect(),
        4 => json!({"items": all().collect::<Vec<_>>(), "total": 0}),
        5 => all().next().unwrap_or_default(),
        _ => {
            let mut count = 0;
            let lines: Vec<Value> = all().map(|item| fill(item, &mut count)).collect();
            let text: Vec<String> = lines.iter().map(Value::to_string).collect();
            return (text.join("\n"), lines);
        }
    };
    let document = fill(document, &mut 0);
    (serde_json::to_string_pretty(&document).expect("it is JSON"), vec![document])
}

/// An item of each list: the usual one with other fields, or anything.
type Items = Vec<(usize, Map<String, Value>, Option<Value>)>;

fn check_json(around: usize, items: &Items, loose: &Value) -> Result<(), TestCaseError> {
    let home = Home::new();
    for (format, kinds) in programs() {
        let mut lists = Map::new();
        for (kind, further, odd) in items {
            let (list, usual) = &kinds[kind % kinds.len()];
            let mut item = usual.clone();
            item.as_object_mut().expect("an object").extend(further.clone());
            let item = odd.clone().unwrap_or(item);
            let list = lists.entry(*list).or_insert_with(|| json!([]));
            list.as_array_mut().expect("a list").push(item);
        }
        let (text, document) = wrapped(around, &lists, loose);
        let Ok(reading) = home.try_read(format, &[home.write("export.json", &text)]) else {
            prop_assert!(text.trim().is_empty(), "{format} refuses\n{text}");
            continue;
        };
        let mut all = Vec::new();
        words(&Value::from(document), "", &mut all);
        let lines: Vec<&str> = text.lines().collect();
        let lost = lost(all, &reading, &|place, word| {
            lines_of(place).is_some_and(|range| {
                lines[range.start() - 1..*range.end()].iter().any(|line| line.contains(word))
            })
        });
        prop_assert!(lost.is_empty(), "{format}: {lost:?} of\n{text}\n{reading:#?}");
    }
    Ok(())
}

/// Columns with usual texts.
type Row = &'static [(&'static str, &'static str)];

/// The tables of each program with a database, and a usual row of each.
const TABLES: [(Format, &str, Row); 6] = [
    (
        Format::McpMemoryService,
        "memories",
        &[
            ("id", "@"),
            ("content_hash", "@"),
            ("content", "@ @"),
            ("tags", "@,@"),
            ("memory_type", "@"),
            ("metadata", "{\"a\": \"@\"}"),
            ("created_at", "1772618400"),
            ("deleted_at", ""),
            ("notes", "@ @"),
            ("embedding", "@"),
        ],
    ),
    (
        Format::Engram,
        "observations",
        &[
            ("id", "@"),
            ("session_id", "s"),
            ("type", "@"),
            ("title", "@"),
            ("content", "@ @"),
            ("project", "@"),
            ("scope", "project"),
            ("created_at", "2026-03-14"),
            ("deleted_at", ""),
            ("topic_key", "@"),
            ("summary", "@ @"),
        ],
    ),
    (
        Format::Engram,
        "sessions",
        &[
            ("id", "s"),
            ("project", "@"),
            ("directory", "/srv/@"),
            ("started_at", "2026-03-14"),
            ("summary", "@"),
            ("notes", "@"),
        ],
    ),
    (
        Format::Mem0,
        "history",
        &[
            ("id", "@"),
            ("memory_id", "m@"),
            ("old_memory", "@"),
            ("new_memory", "@ @"),
            ("event", "ADD"),
            ("created_at", "2026-03-14"),
            ("is_deleted", ""),
            ("actor_id", "@"),
            ("memory", "@"),
            ("data", "@"),
        ],
    ),
    (
        Format::LociMcp,
        "memories",
        &[
            ("id", "i"),
            ("type", "semantic"),
            ("content", "@ @"),
            ("source_group", "@"),
            ("scope", "global"),
            ("confidence", "1"),
            ("created_at", "2026-03-14"),
            ("superseded_by", ""),
            ("metadata", "{\"a\": \"@\"}"),
            ("notes", "@ @"),
        ],
    ),
    (
        Format::LociMcp,
        "entity_relations",
        &[("id", "@"), ("subject_id", "i"), ("predicate", "@"), ("object_id", "@"), ("why", "@ @")],
    ),
];

/// A cell: the usual text, or 1 text, 2 number, 3 text as bytes, 4 bytes, 5 nothing, 6 JSON.
fn cell(kind: usize, usual: &str, count: &mut usize) -> Cell {
    let usual = fill(Value::from(usual), count);
    let text = fill(Value::from("@ @"), count).as_str().expect("a text").to_owned();
    match kind {
        1 => Cell::Text(text),
        2 => Cell::Integer(fill(json!(0), count).as_i64().expect("a number")),
        3 => Cell::Blob(text.into_bytes()),
        4 => Cell::Blob(vec![0, 159, 200]),
        5 => Cell::Null,
        6 => Cell::Text(json!({"inner": [text, {"deep": true}]}).to_string()),
        _ => Cell::Text(usual.as_str().expect("a text").to_owned()),
    }
}

fn check_tables(rows: &[Vec<usize>]) -> Result<(), TestCaseError> {
    let home = Home::new();
    let mut count = 0;
    for format in [Format::McpMemoryService, Format::Engram, Format::Mem0, Format::LociMcp] {
        let path = home.path(&format!("{format}.db"));
        let conn = Connection::open(&path).expect("it opens");
        made_up::create(&conn, "schema_meta", &["key TEXT"]);
        let mut places: Vec<(String, Vec<(String, String)>)> = Vec::new();
        for (_, table, columns) in TABLES.iter().filter(|(of, ..)| *of == format) {
            let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
            made_up::create(&conn, table, &names);
            for (number, kinds) in rows.iter().enumerate() {
                let cells: Vec<Cell> = columns
                    .iter()
                    .zip(kinds)
                    .map(|((_, usual), kind)| cell(*kind, usual, &mut count))
                    .collect();
                made_up::insert(&conn, table, &cells);
                let mut all = Vec::new();
                for (name, cell) in names.iter().zip(&cells) {
                    let value = match cell {
                        Cell::Text(text) => Value::from(text.as_str()),
                        Cell::Integer(number) => Value::from(*number),
                        Cell::Blob(bytes) => Value::from(String::from_utf8_lossy(bytes)),
                        _ => Value::Null,
                    };
                    words(&value, name, &mut all);
                }
                places.push((format!("row {} of {table}", number + 1), all));
            }
        }
        drop(conn);
        let reading = home.read(format, std::slice::from_ref(&path));
        std::fs::remove_file(&path).expect("it is removed");
        for (here, all) in places {
            let lost = lost(all, &reading, &|place, _| place == here);
            prop_assert!(lost.is_empty(), "{format} {here}: {lost:?}\n{reading:#?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]
    #[test]
    fn every_word_of_any_json_is_accounted_for(
        around in 0..7_usize,
        items in prop::collection::vec((0..3_usize, fields(any_value(), 0..5), prop::option::weighted(0.2, any_value())), 1..5),
        loose in any_value()
    ) {
        check_json(around, &items, &loose)?;
    }

    #[test]
    fn every_word_of_any_table_is_accounted_for(
        rows in prop::collection::vec(prop::collection::vec(prop_oneof![3 => Just(0_usize), 2 => 1..7_usize], 11), 1..4)
    ) {
        check_tables(&rows)?;
    }
}

#[test]
fn a_record_says_all_that_it_has() {
    let home = Home::new();
    let read = |format, document: Value| {
        let text = serde_json::to_string_pretty(&document).expect("it is JSON");
        home.read(format, &[home.write("export.json", &text)])
    };
    let reading = read(
        Format::Mem0,
        json!({"id": "a1", "memory": "The kiln is red", "text": "Anna said so", "data": ["old"], "hash": "9af", "score": 0.5}),
    );
    assert_eq!(contents(&reading), ["The kiln is red"]);
    let expected = json!({"fields": {"text": "Anna said so", "data": ["old"]}});
    assert_eq!(Value::from(reading.memories[0].metadata.clone()), expected);
    assert_eq!(
        reading.skipped[0].reason,
        "fields that only serve the program: hash (1), score (1)"
    );
    let reading = read(
        Format::ServerMemory,
        json!([{"name": "Kiln", "type": "machine", "observations": [["Is red"], {"text": "Hums", "by": "Anna"}]}]),
    );
    assert_eq!(contents(&reading), ["Kiln (machine)", "Kiln: Is red", "Kiln: Hums"]);
    assert_eq!(find(&reading, "Hums").metadata["fields"], json!({"by": "Anna"}));
}

#[test]
fn what_has_no_room_in_the_metadata_is_named_with_its_line() {
    let home = Home::new();
    let long = "word ".repeat(4_000);
    let text =
        json!({"id": "a1", "memory": "The kiln is red", "notes": long, "by": "Anna"}).to_string();
    let reading = home.read(Format::Mem0, &[home.write("export.json", &text)]);
    assert_eq!(reading.memories[0].metadata["fields"], json!({"by": "Anna"}));
    assert_eq!(reading.skipped[0].reason, "has too large fields: notes");
    assert!(reading.skipped[0].place.starts_with("line 1"), "{:?}", reading.skipped);
}
