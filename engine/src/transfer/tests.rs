//! Whole stores out and in again, and every way in which a file can be wrong.

use crate::db::memories::StatusChange;
use crate::db::{lexical, memories};
use crate::model::encoding::DocumentEncoding;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::tests::fixture::{TestStore, axis, leaning, named, parse};
use loci_proto::memory::MemoryId;
use loci_proto::requests::doctor::Verdict;
use loci_proto::requests::export::{ExportRequest, Layout};
use loci_proto::requests::import::{ImportReply, ImportRequest};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::Cursor;

pub(crate) fn exported(test_store: &TestStore, vectors: bool) -> String {
    let mut out = Vec::new();
    test_store
        .reader
        .export(&ExportRequest { vectors, ..ExportRequest::default() }, &mut out)
        .expect("is exported");
    String::from_utf8(out).expect("is text")
}

pub(crate) fn import(
    test_store: &mut TestStore,
    text: &str,
    skip_bad: bool,
) -> Result<ImportReply, String> {
    let call = test_store.call("importer", None);
    test_store
        .writer
        .import(&call, &ImportRequest { skip_bad }, &mut Cursor::new(text.as_bytes()))
        .map_err(|error| error.to_string())
}

pub(crate) fn imported(test_store: &mut TestStore, text: &str) -> ImportReply {
    import(test_store, text, false).expect("is imported")
}

/// One thing that happens to a store; numbers choose among the memories that there are.
#[derive(Debug, Clone)]
enum Step {
    Store { kind: u8, group: u8, vector: Option<u8>, confidence: f64, metadata: bool },
    Again(usize),
    Supersede(usize),
    Forget { which: usize, hard: bool },
    Compact { which: usize, into: usize },
    Relate { one: usize, other: usize, evidence: usize },
    Pin(usize),
    Edit(usize),
    Restore(usize),
    Undo,
}

fn step() -> impl Strategy<Value = Step> {
    let which = 0..40_usize;
    prop_oneof![
        6 => (0..4_u8, 0..3_u8, proptest::option::of(0..200_u8), 0.0..=1.0_f64, any::<bool>())
            .prop_map(|(kind, group, vector, confidence, metadata)| Step::Store { kind, group, vector, confidence, metadata }),
        1 => which.clone().prop_map(Step::Again),
        2 => which.clone().prop_map(Step::Supersede),
        2 => (which.clone(), any::<bool>()).prop_map(|(which, hard)| Step::Forget { which, hard }),
        1 => (which.clone(), which.clone()).prop_map(|(which, into)| Step::Compact { which, into }),
        2 => (which.clone(), which.clone(), which.clone()).prop_map(|(one, other, evidence)| Step::Relate { one, other, evidence }),
        1 => which.clone().prop_map(Step::Pin),
        1 => which.clone().prop_map(Step::Edit),
        1 => which.prop_map(Step::Restore),
        1 => Just(Step::Undo),
    ]
}

fn lived(steps: &[Step]) -> TestStore {
    let mut test_store = TestStore::new();
    let mut ids: Vec<(String, MemoryId)> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        test_store.now = test_store.now.plus(977);
        happen(&mut test_store, &mut ids, number, step);
    }
    test_store
}

const KINDS: [&str; 4] = ["episodic", "semantic", "procedural", "entity"];

#[expect(clippy::too_many_lines, reason = "one arm for each thing that can happen")]
fn happen(
    test_store: &mut TestStore,
    ids: &mut Vec<(String, MemoryId)>,
    number: usize,
    step: &Step,
) {
    let pick =
        |ids: &Vec<(String, MemoryId)>, which: usize| ids.get(which % ids.len().max(1)).cloned();
    // What the engine refuses (an end that is no entity, a memory that is gone) is no part of the test.
    match step {
        Step::Store { kind, group, vector, confidence, metadata } => {
            let group = format!("project {group}");
            let kind = KINDS[usize::from(*kind)];
            let details = match (kind, metadata) {
                ("entity", _) => {
                    json!({"name": format!("Thing {number}"), "properties": {"b": 0.1 + confidence, "a": [1, null]}})
                }
                (_, true) => json!({"z": confidence / 3.0, "a": {"y": "ü\u{1}", "x": []}}),
                _ => json!({}),
            };
            let text = format!("Text {number} of Thing {} \u{7f}\u{2028} \"quoted\"\n", number / 2);
            let asked = json!({"content": text, "type": kind, "confidence": confidence, "metadata": details});
            let reply = test_store.store(
                &group,
                asked,
                vector.map(|v| leaning(usize::from(v), 300, 0.3)).as_ref(),
            );
            ids.push((group, reply.id));
        }
        Step::Again(which) => {
            if let Some((group, id)) = pick(ids, *which)
                && let Ok(Some(memory)) = memories::by_id(&test_store.reader.conn, &id)
            {
                let again = memory.content.to_uppercase();
                let _ = test_store.try_store(
                    &group,
                    json!({"content": again, "type": memory.kind.as_str()}),
                    None,
                );
            }
        }
        Step::Supersede(which) => {
            if let Some((group, id)) = pick(ids, *which) {
                let asked = json!({"content": format!("Newer {number}"), "type": "semantic", "supersedes": id});
                if let Ok(reply) = test_store.try_store(&group, asked, Some(&axis(number % 300))) {
                    ids.push((group, reply.id));
                }
            }
        }
        Step::Forget { which, hard } => {
            if let Some((group, id)) = pick(ids, *which) {
                let call = test_store.call(&group, None);
                let _ = test_store.writer.forget(
                    &call,
                    &parse(json!({"memory_id": id, "reason": "why not", "hard_delete": hard})),
                );
            }
        }
        Step::Compact { which, into } => {
            let (Some((_, one)), Some((group, summary))) = (pick(ids, *which), pick(ids, *into))
            else {
                return;
            };
            let call = test_store.call(&group, None);
            let made = test_store.writer.run_idempotent(&call, |change| {
                let found = |id| memories::by_id(change.conn, id);
                let (Some(one), Some(summary)) = (found(&one)?, found(&summary)?) else {
                    return Ok(());
                };
                if one.seq < summary.seq && one.status == Status::Active {
                    memories::set_status(
                        change.conn,
                        one.seq,
                        StatusChange::compacted(&summary.id),
                        change.call.now,
                    )?;
                    memories::add_source(change.conn, summary.seq, one.seq)?;
                    change.touch(one.seq);
                }
                Ok(())
            });
            made.expect("is compacted");
        }
        Step::Relate { one, other, evidence } => {
            let (Some((group, one)), Some((_, other)), Some((_, memory))) =
                (pick(ids, *one), pick(ids, *other), pick(ids, *evidence))
            else {
                return;
            };
            let call = test_store.call(&group, None);
            let asked = json!({"subject_id": one, "predicate": "knows", "object_id": other, "evidence": [memory]});
            let _ = test_store.writer.relate(&call, &parse(asked));
        }
        Step::Pin(which) => {
            if let Some((group, id)) = pick(ids, *which) {
                let _ = test_store.writer.pin(
                    &test_store.call(&group, None),
                    &parse(json!({"memory_id": id, "pinned": true})),
                );
            }
        }
        Step::Edit(which) => {
            if let Some((group, id)) = pick(ids, *which) {
                let asked = json!({"memory_id": id, "content": format!("Edited {number}"), "confidence": 1.0 / 3.0, "expires_at": "9999-12-31"});
                let _ = test_store.writer.edit(
                    &test_store.call(&group, None),
                    &parse(asked),
                    &DocumentEncoding::default(),
                );
            }
        }
        Step::Restore(which) => {
            if let Some((group, id)) = pick(ids, *which) {
                let _ = test_store
                    .writer
                    .restore(&test_store.call(&group, None), &parse(json!({"memory_id": id})));
            }
        }
        Step::Undo => drop(
            test_store
                .writer
                .undo(&test_store.call("project 0", None), &parse(json!({"last": true}))),
        ),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn what_was_exported_imported_and_exported_again_is_equal_byte_for_byte(steps in proptest::collection::vec(step(), 1..30), vectors: bool) {
        let mut test_store = lived(&steps);
        let first = exported(&test_store, vectors);
        let mut other = TestStore::new();
        other.now = Timestamp(test_store.now.0 + 123_456_789);
        let reply = imported(&mut other, &first);
        prop_assert_eq!(reply.refused + reply.skipped, 0);
        prop_assert_eq!(&exported(&other, vectors), &first);
        // What an import does by hand leaves nothing that the tables' own checks would not have let in.
        prop_assert_eq!(crate::db::integrity::pages(&other.writer.conn).expect("reads"), "ok");
        // A second time there is nothing new in it.
        let again = imported(&mut other, &first);
        prop_assert_eq!((again.added, again.changed, again.act), (0, 0, None), "{:?}", again);
        prop_assert_eq!(&exported(&other, vectors), &first);
        // The warm index and the mentions are those of a store that was opened anew.
        let (index, mentions) = (index_of(&other), mentions_of(&other));
        let other = other.reopened();
        prop_assert_eq!(index, index_of(&other));
        let call = test_store.call("project 0", None);
        let seqs: Vec<i64> = listed(&test_store).into_iter().map(|(seq, ..)| seq).collect();
        test_store.writer.run_idempotent(&call, |change| crate::transaction::mentions::renew_all(change, &seqs, |_| false)).expect("are found");
        prop_assert_eq!(mentions, mentions_of(&test_store));
    }

    #[test]
    fn two_stores_that_import_from_each_other_agree(steps in proptest::collection::vec(step(), 1..12), ours in proptest::collection::vec(step(), 0..12), theirs in proptest::collection::vec(step(), 0..12)) {
        let base = exported(&lived(&steps), false);
        let [mut one, mut two] = [(&ours, 0), (&theirs, 50_000)].map(|(more, later)| {
            let mut test_store = TestStore::new();
            imported(&mut test_store, &base);
            test_store.now = test_store.now.plus(1_000_000 + later);
            let mut ids: Vec<(String, MemoryId)> = Vec::new();
            for (_, id, group) in listed(&test_store) {
                ids.push((group, id));
            }
            for (number, step) in more.iter().filter(|step| !matches!(step, Step::Forget { hard: true, .. } | Step::Undo | Step::Compact { .. })).enumerate() {
                test_store.now = test_store.now.plus(977);
                happen(&mut test_store, &mut ids, 1000 + number + usize::try_from(later).expect("is small"), step);
            }
            test_store
        });
        let (of_one, of_two) = (exported(&one, false), exported(&two, false));
        // Two people may have replaced each other's memories in a circle; the file is then refused whole.
        let (first, second) = (import(&mut one, &of_two, false), import(&mut two, &of_one, false));
        prop_assert_eq!(first.is_ok(), second.is_ok(), "{:?} {:?}", first, second);
        if first.is_ok() {
            prop_assert_eq!(sorted(&exported(&one, false)), sorted(&exported(&two, false)));
        }
    }
}

/// Memories, wordings, sources and relations, whatever their order in the file; a group keeps the moment at which each store met it.
fn sorted(export: &str) -> Vec<String> {
    let mut lines: Vec<String> = export
        .lines()
        .filter(|line| !line.contains("\"kind\":\"group\""))
        .map(str::to_owned)
        .collect();
    lines.sort();
    lines
}

pub(crate) fn listed(test_store: &TestStore) -> Vec<(i64, MemoryId, String)> {
    let mut found = Vec::new();
    memories::entries(&test_store.reader.conn, &crate::db::ALL_SEQS, |entry| {
        found.push(entry.seq);
        Ok(())
    })
    .expect("reads");
    found
        .into_iter()
        .filter_map(|seq| memories::by_seq(&test_store.reader.conn, seq).expect("reads"))
        .map(|memory| (memory.seq, memory.id, memory.group.unwrap_or_default()))
        .collect()
}

fn index_of(test_store: &TestStore) -> Vec<String> {
    let index = test_store.reader.shared.index();
    (0..index.len())
        .map(|slot| format!("{:?} {}", index.entry(slot), index.chunk_count(slot)))
        .collect()
}

/// Which entity is named where, by id.
fn mentions_of(test_store: &TestStore) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (seq, id, _) in listed(test_store) {
        for entity in crate::db::mentions::in_memory(&test_store.reader.conn, seq).expect("reads") {
            let entity = memories::by_seq(&test_store.reader.conn, entity)
                .expect("reads")
                .expect("is there");
            found.push((entity.id.to_string(), id.to_string()));
        }
    }
    found.sort();
    found
}

pub(crate) fn small() -> TestStore {
    let mut test_store = TestStore::new();
    let first = test_store.store(
        "shop",
        json!({"content": "The shop opens at nine", "type": "semantic"}),
        Some(&axis(1)),
    );
    test_store.now = test_store.now.plus(1000);
    test_store.store(
        "shop",
        json!({"content": "The shop opens at ten", "type": "semantic", "supersedes": first.id}),
        Some(&axis(2)),
    );
    test_store.store(
        "shop",
        json!({"content": "Anna runs the shop", "type": "entity", "metadata": {"name": "Anna"}}),
        None,
    );
    test_store
}

/// The export of [`small`] with one line changed.
fn with_line(line: usize, change: impl Fn(&mut Value)) -> String {
    let text = exported(&small(), false);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut value: Value = serde_json::from_str(&lines[line - 1]).expect("is JSON");
    change(&mut value);
    lines[line - 1] = value.to_string();
    lines.join("\n") + "\n"
}

fn refusal(text: &str) -> String {
    let mut test_store = TestStore::new();
    let before = exported(&test_store, false);
    let said = import(&mut test_store, text, false).expect_err("is refused");
    assert_eq!(exported(&test_store, false), before, "nothing of it was imported");
    said
}

#[test]
fn lines_come_in_storing_order_with_base_and_anchor() {
    let text = exported(&small(), false);
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("is JSON")).collect();
    assert_eq!(lines[0], json!({"loci": "export", "version": 1}));
    assert_eq!((&lines[1]["kind"], &lines[1]["id"]), (&json!("group"), &json!("shop")));
    assert_eq!(
        (&lines[2]["content"], &lines[2]["status"]),
        (&json!("The shop opens at nine"), &json!("superseded"))
    );
    assert_eq!(lines[2]["superseded_by"], lines[3]["id"]);
    assert_eq!(
        (&lines[3]["confidence"], &lines[3]["confidence_at"]),
        (&json!(1.0), &lines[3]["created_at"])
    );
    assert_eq!(lines.last(), Some(&json!({"kind": "end", "lines": lines.len() - 1})));
}

#[test]
fn a_fault_names_its_line_and_nothing_is_imported() {
    let wrong = |line, field: &'static str, value: Value| {
        refusal(&with_line(line, move |v| v[field] = value.clone()))
    };
    assert!(
        wrong(3, "confidence", json!(7))
            .contains("line 3 cannot be read: must be a number from 0 to 1")
    );
    assert!(
        wrong(4, "created_at", json!(-11_644_473_600_000_i64))
            .contains("line 4 created_at must be a moment from 1970"),
        "1601"
    );
    assert!(
        wrong(4, "updated_at", json!(253_370_764_800_000_i64))
            .contains("line 4 updated_at must be a moment"),
        "9999"
    );
    assert!(wrong(3, "content", json!("a\u{0}b")).contains("line 3 content holds U+0000"));
    assert!(
        wrong(3, "content", json!("x".repeat(40_000))).contains("line 3 content has 40000 bytes")
    );
    assert!(wrong(3, "status", json!("gone")).contains("line 3 status must be one of"));
    assert!(
        wrong(3, "trust", json!("confirmed"))
            .contains("line 3 cannot be read: unknown field `trust`")
    );
    assert!(
        wrong(3, "group", json!("elsewhere"))
            .contains("line 3 group names no group of an earlier line")
    );
    let nowhere = "01953a2b-7c1e-7000-8000-0123456789ab";
    assert!(
        wrong(4, "superseded_by", json!(nowhere))
            .contains("line 4 superseded_by names a memory that is neither")
    );
    let text = exported(&small(), false);
    let twice: Vec<&str> = text
        .lines()
        .enumerate()
        .map(|(n, line)| text.lines().nth(if n == 4 { 3 } else { n }).unwrap_or(line))
        .collect();
    assert!(refusal(&(twice.join("\n") + "\n")).contains("line 5 id is that of line 4"));
}

#[test]
fn replacements_in_a_circle_are_refused_with_a_line() {
    let text = exported(&small(), false);
    let first: Value =
        serde_json::from_str(text.lines().nth(2).expect("is there")).expect("is JSON");
    let mut second: Value =
        serde_json::from_str(text.lines().nth(3).expect("is there")).expect("is JSON");
    second["superseded_by"] = first["id"].clone();
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(n, l)| if n == 3 { second.to_string() } else { l.to_owned() })
        .collect();
    let said = refusal(&(lines.join("\n") + "\n"));
    assert!(said.contains("line 3 superseded_by leads back to the memory itself"), "{said}");
}

#[test]
fn what_is_no_export_is_refused_in_words() {
    let good = exported(&small(), false);
    assert!(refusal("").contains("the file is empty"));
    assert!(refusal("hello\n").contains("line 1 is no JSON object"));
    assert!(refusal("{\"a\": 1}\n").contains("line 1 is not the header"));
    assert!(
        refusal("{\"loci\":\"export\",\"version\":9}\n")
            .contains("line 1 says version 9; this loci reads version 1")
    );
    assert!(refusal("{\"loci\":\"export\",\"version\":1}\n").contains("the file was cut off"));
    let cut = &good[..good.len() - 10];
    assert!(refusal(cut).contains("ends too early"), "{}", refusal(cut));
    let whole_lines = good.lines().take(3).collect::<Vec<_>>().join("\n");
    assert!(refusal(&whole_lines).contains("line 3 is the last line, and no end line"));
    let mut long = good.clone();
    long.insert_str(good.find('\n').expect("has lines") + 1, &("x".repeat(2 << 20) + "\n"));
    assert!(refusal(&long).contains("line 2 is longer than 1048576 bytes"));
    let mut test_store = TestStore::new();
    assert_eq!(
        imported(&mut test_store, &format!("\u{FEFF}{}", good.replace('\n', "\r\n"))).added,
        3,
        "a mark and other line ends are taken"
    );
    let call = test_store.call("shop", None);
    let packed = test_store.writer.import(
        &call,
        &ImportRequest::default(),
        &mut Cursor::new([0x1f, 0x8b, 8, 0, 0]),
    );
    assert!(packed.expect_err("is refused").to_string().contains("is compressed. Unpack it first"));
}

#[test]
fn one_bad_line_of_many_is_left_out_when_that_was_asked_for() {
    let mut test_store = TestStore::new();
    for number in 0..300 {
        test_store.store(
            "shop",
            json!({"content": format!("Fact number {number}"), "type": "semantic"}),
            None,
        );
    }
    let mut lines: Vec<String> = exported(&test_store, false).lines().map(str::to_owned).collect();
    lines[99] = "{\"kind\":\"memory\"}".to_owned();
    let text = lines.join("\n");
    assert!(refusal(&text).contains("line 100 cannot be read: missing field"));
    let mut other = TestStore::new();
    let reply = import(&mut other, &text, true).expect("is imported");
    assert_eq!((reply.added, reply.skipped, reply.skipped_lines[0].line), (299, 1, 100));
    assert!(reply.skipped_lines[0].reason.contains("missing field"), "{reply:?}");
}

#[test]
fn an_import_never_revives() {
    let mut test_store = small();
    let before = exported(&test_store, true);
    let id: Value = serde_json::from_str::<Value>(before.lines().nth(3).expect("is there"))
        .expect("is JSON")["id"]
        .clone();
    let (anna, call) = (listed(&test_store)[2].1.clone(), test_store.call("shop", None));
    test_store.now = test_store.now.plus(5000);
    let later = test_store.call("shop", None);
    test_store.writer.forget(&later, &parse(json!({"memory_id": id}))).expect("is forgotten");
    test_store
        .writer
        .forget(&call, &parse(json!({"memory_id": anna, "hard_delete": true})))
        .expect("is removed");
    let reply = imported(&mut test_store, &before);
    assert_eq!(
        (reply.added, reply.changed, reply.unchanged, reply.refused),
        (0, 0, 2, 1),
        "{reply:?}"
    );
    assert_eq!(reply.refused_ids, [anna]);
    assert!(test_store.found("shop", json!({"query": "shop"}), None).is_empty());
}

/// An export without what tells of acts.
fn kept(export: &str) -> Vec<&str> {
    export
        .lines()
        .filter(|line| !line.contains("\"kind\":\"log\"") && !line.contains("\"end\""))
        .collect()
}

#[test]
fn an_import_is_one_act_that_can_be_undone() {
    let mut test_store = small();
    let text = exported(&small(), true);
    let before = exported(&test_store, true);
    let reply = imported(&mut test_store, &text);
    assert_eq!(reply.added, 3);
    let both = test_store.recall("shop", json!({"query": "ten"}), Some(&axis(2))).reply;
    assert_eq!(
        (both.total_matched, both.results[0].also.len()),
        (2, 1),
        "both are there, and say the same"
    );
    let undo = test_store.call("shop", None);
    let undone =
        test_store.writer.undo(&undo, &parse(json!({"id": reply.act}))).expect("is undone");
    assert_eq!(undone.undone[0].act, "import");
    assert_eq!(kept(&exported(&test_store, true)), kept(&before));
}

#[test]
fn a_large_import_that_is_undone_leaves_the_words_of_what_was_there() {
    let mut other = TestStore::new();
    for number in 0..1100 {
        other.store(
            "shop",
            json!({"content": format!("Crate {number} was counted"), "type": "episodic"}),
            None,
        );
    }
    let mut test_store = small();
    let found = |test_store: &TestStore, word: &str| {
        lexical::search(&test_store.writer.conn, word).expect("is asked").len()
    };
    let (before, shops) = (exported(&test_store, false), found(&test_store, "shop"));
    imported(&mut test_store, &exported(&other, false));
    assert!(
        lexical::is_rebuild_cheaper(&test_store.writer.conn, 1100).expect("is counted"),
        "the keyword index is made anew"
    );
    assert_eq!((found(&test_store, "crate"), shops), (1100, 3));
    test_store.undo_last().expect("is undone");
    assert_eq!(kept(&exported(&test_store, false)), kept(&before));
    assert_eq!((found(&test_store, "crate"), found(&test_store, "shop")), (0, shops));
    assert_eq!(test_store.reader.shared.index().len(), 3, "it keeps no places for what is gone");
    assert!(test_store.writer.examine_words().verdict == Verdict::Ok);
    test_store.store("a", json!({"content": "Another crate came", "type": "episodic"}), None);
    assert_eq!(found(&test_store, "crate"), 1, "it is kept in step again");
}

#[test]
fn vectors_of_another_model_are_left_out_and_said_so() {
    let mut text = exported(&small(), true);
    text = text.replacen("\"vectors\":\"test\"", "\"vectors\":\"another\"", 1);
    let mut test_store = TestStore::new();
    let reply = imported(&mut test_store, &text);
    assert_eq!((reply.added, reply.vectors), (3, 0));
    assert!(reply.notes[0].contains("of the model another"), "{reply:?}");
    assert_eq!(
        test_store.reader.without_vector(10).expect("reads").len(),
        2,
        "the active ones wait for the model"
    );
    let short = exported(&small(), true).replacen("AAAA", "", 2);
    let reply = imported(&mut TestStore::new(), &short);
    assert!(reply.vectors < 2 && reply.notes[0].contains("cannot use"), "{reply:?}");
}

#[test]
fn vectors_that_come_once_more_after_another_memorys_are_passed_over() {
    let text = exported(&small(), true);
    let vectors: Vec<&str> =
        text.lines().filter(|line| line.contains("\"kind\":\"vector\"")).collect();
    assert!(vectors.len() >= 2, "of two memories");
    let (before, after) = (text.lines().count() - 1, text.lines().count());
    let twice = text.replace(vectors[1], &format!("{}\n{}", vectors[1], vectors[0]));
    let twice = twice.replace(&format!("\"lines\":{before}"), &format!("\"lines\":{after}"));
    assert_eq!(twice.lines().count(), after + 1);
    let reply = imported(&mut TestStore::new(), &twice);
    assert_eq!(reply.vectors, imported(&mut TestStore::new(), &text).vectors, "{reply:?}");
}

#[test]
fn a_document_holds_the_same_and_may_be_laid_out_anew() {
    let test_store = small();
    let mut document = Vec::new();
    test_store
        .reader
        .export(&ExportRequest { layout: Layout::Document, vectors: true }, &mut document)
        .expect("is exported");
    let value: Value = serde_json::from_slice(&document).expect("is one document");
    assert_eq!((&value["version"], &value["vectors"]), (&json!(1), &json!("test")));
    let plain = exported(&test_store, true);
    assert_eq!(
        String::from_utf8_lossy(&document).lines().count(),
        plain.lines().count() + 1,
        "record N stands in line N + 1"
    );
    assert!(
        !super::is_document(plain.as_bytes())
            && !super::is_document(b"hello")
            && !super::is_document(b"{\"a\": 1}\n")
    );
    for text in [
        document.clone(),
        value.to_string().into_bytes(),
        serde_json::to_vec_pretty(&value).expect("is JSON"),
    ] {
        assert!(super::is_document(&text));
        let mut lines = Vec::new();
        super::unfold(&mut Cursor::new(&text), &mut lines).expect("is unfolded");
        let mut other = TestStore::new();
        imported(&mut other, std::str::from_utf8(&lines).expect("is text"));
        assert_eq!(exported(&other, true), plain);
    }
    let endless = [b"{\"records\":[\"".to_vec(), vec![b'x'; 4 << 20]].concat();
    let said = super::unfold(&mut Cursor::new(&endless), &mut Vec::new())
        .expect_err("is refused")
        .to_string();
    assert!(said.contains("document cannot be read"), "{said}");
    let huge = [endless, b"\"],\"loci\":\"export\",\"version\":1}".to_vec()].concat();
    let said = super::unfold(&mut Cursor::new(&huge), &mut Vec::new())
        .expect_err("is refused")
        .to_string();
    assert!(said.contains("a record is longer than"), "{said}");
}

#[test]
fn a_group_that_was_merged_away_here_stays_merged() {
    let mut test_store = TestStore::new();
    test_store.store("shop", json!({"content": "One", "type": "semantic"}), None);
    let conn = &test_store.writer.conn;
    crate::db::import_rows::add_alias(conn, "old", "shop").expect("is added");
    let mut other = TestStore::new();
    other.store("old", json!({"content": "Two", "type": "episodic"}), None);
    imported(&mut test_store, &exported(&other, false));
    assert_eq!(test_store.found("shop", json!({"query": "two"}), None), ["Two"]);
    assert_eq!(named("shop").id, "shop");
}
