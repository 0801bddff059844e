//! Bytes of the database file are changed one at a time, while the store is closed: no answer is
//! changed without a finding, and one bad row does not take the store away.

use crate::db::{connection, integrity};
use crate::error::Error;
use crate::handles::open::open;
use crate::handles::settings::Settings;
use crate::tests::fixture::{T0, TestStore, document_encoding, named, parse, seeded_vector};
use loci_proto::requests::doctor::{Finding, Verdict};
use loci_proto::requests::export::ExportRequest;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Number of changed bytes; the variable is read when the test is compiled (`just flips`). Two of
/// five are bytes that are not zero, the others are anywhere in the file.
const FLIPS: Option<&str> = option_env!("FLIPPED_BYTES");
const DEFAULT_FLIPS: usize = 200;
const MEMORIES: usize = 200;
const PAGE: usize = 4096;

/// The files of a closed store, and what it answered before.
struct Sound {
    folder: tempfile::TempDir,
    files: Vec<(PathBuf, Vec<u8>, SystemTime)>,
    answers: BTreeMap<String, String>,
    /// What each page in use holds.
    owners: BTreeMap<usize, String>,
}

/// A store on a file system in memory where there is one: every opening waits for the disk.
fn store_in_memory() -> TestStore {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let folder = folder.expect("a folder");
    let path = folder.path().join("memory.db");
    let writer = open(&path, Settings::for_model("test"), T0).expect("the store opens");
    let reader = writer.reader().expect("a reader opens");
    TestStore::of(folder, writer, reader, T0)
}

/// Memories of all types with vectors, codes, metadata and relations, and some free pages.
fn sound() -> Sound {
    let mut store = store_in_memory();
    let kinds = ["episodic", "semantic", "procedural", "entity"];
    let (mut entities, mut deleted): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for number in 0..MEMORIES + 60 {
        let kind = kinds[number % 4];
        let text = format!(
            "Note {number}: the {} of drawer {} is kept by person {}",
            ["key", "map", "ledger", "lamp", "saw"][number % 5],
            number * 7,
            number % 13
        );
        let encoding = document_encoding(&text, seeded_vector(number as u64));
        // The long texts leave free pages when they are deleted.
        let text = if number < MEMORIES { text } else { text + &" and more".repeat(600) };
        let name = format!("Person {number}");
        let metadata =
            if kind == "entity" { json!({"name": name}) } else { json!({"shelf": number}) };
        let arguments = json!({"content": text, "type": kind, "metadata": metadata});
        let id = store.store_encoded("a", arguments, &encoding).id.to_string();
        if number >= MEMORIES {
            deleted.push(id);
        } else if kind == "entity" {
            if let Some(other) = entities.last() {
                let relation = json!({"subject_id": id, "predicate": "knows", "object_id": other});
                store.relate("a", relation).expect("the relation is stored");
            }
            entities.push(id);
        }
    }
    for id in deleted {
        let gone = json!({"memory_id": id, "hard_delete": true});
        store.forget("a", gone).expect("the memory is deleted");
    }
    let mut export = Vec::new();
    store.reader.export(&ExportRequest::default(), &mut export).expect("is exported");
    let ids = ids_of(&export);
    let answers = answers(&store, &ids).expect("the sound store answers");
    let path = store.folder.path().join("memory.db");
    let TestStore { folder, writer, reader, .. } = store;
    drop(reader);
    writer.close().expect("the store closes");
    let owners = owners(&path);
    let files = ["", "-identity", "-sums"].map(|suffix| {
        let path = PathBuf::from(format!("{}{suffix}", path.display()));
        let modified = fs::metadata(&path).and_then(|found| found.modified());
        (path.clone(), fs::read(&path).expect("is readable"), modified.expect("has a time"))
    });
    Sound { folder, files: files.into(), answers, owners }
}

fn ids_of(export: &[u8]) -> Vec<String> {
    let lines = export.split(|byte| *byte == b'\n');
    let records = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let memories = records.filter(|record| record["kind"] == "memory");
    memories.filter_map(|record| record["id"].as_str().map(str::to_owned)).collect()
}

/// Returns what each page in use holds.
fn owners(path: &Path) -> BTreeMap<usize, String> {
    let conn = connection::immutable(path).expect("the file opens");
    let pages = fs::read(path).expect("it is readable").len() / PAGE;
    let all: Vec<u32> = (1..=pages).filter_map(|page| u32::try_from(page).ok()).collect();
    let owners = integrity::owners(&conn, &all).expect("it is whole").into_iter();
    let mut owners: BTreeMap<usize, String> =
        owners.map(|(page, name)| (page as usize, name)).collect();
    owners.extend((2..=pages).step_by(PAGE / 5 + 1).map(|page| (page, "page map".to_owned())));
    owners
}

/// Every answer of the store about these memories, by what was asked.
fn answers(store: &TestStore, ids: &[String]) -> Result<BTreeMap<String, String>, Error> {
    let (group, now) = (named("a"), store.now);
    let mut answers = BTreeMap::new();
    for ids in ids.chunks(10) {
        let request = json!({"ids": ids, "token_budget": 100_000, "dry_run": true});
        let prepared = crate::operations::recall::prepare(parse(request), now)?;
        let context = crate::operations::recall::RecallContext {
            client: None,
            viewer: (&group).into(),
            encoding: None,
            now,
            fusion: None,
            is_agent: false,
            names_project: false,
            files: None,
            rerank: None,
            degraded: &loci_proto::degraded::Degraded::default(),
        };
        for found in store.reader.recall(&prepared, context)?.reply.results {
            answers.insert(format!("recall {}", found.id), text(&found));
        }
    }
    for id in ids {
        let request = parse(json!({"memory_id": id, "include_log": true}));
        if let Ok(found) = store.reader.inspect(&request, &group, now) {
            answers.insert(format!("inspect {id}"), text(&found));
        }
    }
    let list = parse(json!({"all_groups": true, "status": "all", "limit": 1000}));
    for memory in store.reader.list(&list, &group, now)?.memories {
        answers.insert(format!("list {}", memory.id), text(&memory));
    }
    let mut export = Vec::new();
    store.reader.export(&ExportRequest::default(), &mut export)?;
    let export = String::from_utf8_lossy(&export).into_owned();
    for (number, line) in
        export.lines().filter(|line| !line.contains("\"kind\":\"end\"")).enumerate()
    {
        answers.insert(format!("export {line}"), number.to_string().replace(char::is_numeric, ""));
    }
    Ok(answers)
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("it is encoded")
}

impl Sound {
    /// Writes the files as they were left, with one byte changed. If it is silent, the time of the
    /// file stays, as if the disk had changed the byte.
    fn flip(&self, at: usize, mask: u8, is_silent: bool) {
        for suffix in ["-wal", "-shm", "-index"] {
            let _ = fs::remove_file(format!("{}{suffix}", self.files[0].0.display()));
        }
        for (path, bytes, modified) in &self.files {
            fs::write(path, bytes).expect("is written");
            let file = File::options().write(true).open(path).expect("opens");
            file.set_modified(*modified).expect("the time is set");
        }
        let (path, bytes, modified) = &self.files[0];
        let file = File::options().write(true).open(path).expect("opens");
        std::os::unix::fs::FileExt::write_all_at(&file, &[bytes[at] ^ mask], at as u64)
            .expect("the byte is changed");
        let time =
            if is_silent { *modified } else { *modified + std::time::Duration::from_secs(9) };
        file.set_modified(time).expect("the time is set");
    }

    /// Opens the store as it is, and answers everything.
    fn examine(&self, ids: &[String]) -> Outcome {
        let now = T0;
        let writer = match open(&self.files[0].0, Settings::for_model("test"), now) {
            Ok(writer) => writer,
            Err(error) => return Outcome::Refused(error),
        };
        let said_at_start = !writer.findings().is_empty();
        let reader = writer.reader().expect("a reader opens");
        let folder = tempfile::tempdir().expect("a folder");
        let store = TestStore::of(folder, writer, reader, now);
        let answers = answers(&store, ids);
        let mut findings = Vec::new();
        let check = store.reader.full_check().and_then(|mut check| {
            let finished = store.writer.finish_full_check(&mut check, now);
            findings.append(&mut check.findings);
            finished
        });
        if let Err(fault) = check {
            findings.push(Finding::fail("database", fault.to_string(), "Restore a backup"));
        }
        Outcome::Served { answers, findings, said_at_start }
    }
}

enum Outcome {
    Refused(Error),
    Served {
        answers: Result<BTreeMap<String, String>, Error>,
        findings: Vec<Finding>,
        said_at_start: bool,
    },
}

/// Counts of one part of the file.
#[derive(Default)]
struct Line {
    flips: usize,
    refused: usize,
    reported: usize,
    unharmed: usize,
    lost: usize,
}

/// A generator of numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("it is below the limit")
    }
}

fn part(owner: Option<&String>) -> &'static str {
    match owner.map(String::as_str) {
        None => "free pages",
        Some("memories") => "memories",
        Some(name)
            if name.starts_with("memories_vec")
                || name == "word_codes"
                || name == "memory_pieces" =>
        {
            "vectors"
        }
        Some(name) if name.starts_with("memories_fts") => "keyword index",
        Some(name) if name.starts_with("idx_") || name.starts_with("sqlite_autoindex") => "indexes",
        Some(_) => "other tables",
    }
}

/// Judges what came of one changed byte in a page that holds `owner`.
fn judge(line: &mut Line, sound: &Sound, outcome: Outcome, flip: &Flip<'_>) {
    let Flip { owner, is_silent, place } = flip;
    line.flips += 1;
    let (answers, findings, said_at_start) = match outcome {
        Outcome::Refused(error) => {
            assert!(is_about_the_file(&error), "{place}: {error}");
            line.refused += 1;
            return;
        }
        Outcome::Served { answers, findings, said_at_start } => (answers, findings, said_at_start),
    };
    let is_reported = findings.iter().any(|finding| finding.verdict == Verdict::Fail);
    // Of the free pages, those with the list of the others matter.
    let is_free_list = findings.iter().any(|finding| finding.found.contains("Freelist"));
    // The start makes the definition of a derived table or index again and says so; a silent change leaves nothing else to report.
    let is_rebuilt =
        *is_silent && said_at_start && owner.is_some_and(|owner| owner == "sqlite_schema");
    if !is_rebuilt {
        assert_eq!(is_reported, owner.is_some() || is_free_list, "{place}: {findings:?}");
    }
    let counts_free = findings.iter().any(|finding| finding.found.contains("free page differs"));
    assert_eq!(counts_free, owner.is_none(), "{place}: {findings:?}");
    assert!(said_at_start || *is_silent, "{place}: the start says nothing");
    line.reported += usize::from(is_reported);
    match answers {
        Ok(answers) if answers == sound.answers => line.unharmed += 1,
        Ok(answers) => {
            line.lost += usize::from(!is_reported);
            assert_no_other_text(&sound.answers, &answers, place);
        }
        Err(error) => assert!(is_about_the_file(&error), "{place}: {error}"),
    }
}

/// A changed byte.
struct Flip<'a> {
    owner: Option<&'a String>,
    is_silent: bool,
    place: String,
}

#[test]
fn no_changed_byte_changes_an_answer_unseen() {
    let sound = sound();
    let bytes = &sound.files[0].1;
    let asked = sound.answers.keys().filter_map(|asked| asked.strip_prefix("recall "));
    let ids: Vec<String> = asked.map(str::to_owned).collect();
    assert_eq!(ids.len(), MEMORIES);
    let flips = FLIPS.map_or(DEFAULT_FLIPS, |count| count.parse().expect("it is a number"));
    let mut numbers = Numbers(0x10C1_5EED);
    let mut table: BTreeMap<&str, Line> = BTreeMap::new();
    for flip in 0..flips {
        let is_any = flip % 5 < 3;
        let at = std::iter::repeat_with(|| numbers.below(bytes.len()))
            .find(|at| is_any || bytes[*at] != 0)
            .expect("the file has such bytes");
        let (mask, is_silent) = (1 << numbers.below(8), numbers.below(2) == 0);
        sound.flip(at, mask, is_silent);
        let page = at / PAGE + 1;
        let owner = sound.owners.get(&page);
        let around = bytes[at.saturating_sub(16)..(at + 16).min(bytes.len())].escape_ascii();
        let place = format!(
            "byte {at} ^ {mask} in `{around}`, page {page} ({owner:?}), silent: {is_silent}"
        );
        let line = table.entry(part(owner)).or_default();
        judge(line, &sound, sound.examine(&ids), &Flip { owner, is_silent, place });
    }
    println!("| part | changed bytes | start refused | reported | all answers unchanged | lost |");
    for (part, Line { flips, refused, reported, unharmed, lost }) in &table {
        println!("| {part} | {flips} | {refused} | {reported} | {unharmed} | {lost} |");
    }
    assert!(table.values().all(|line| line.lost == 0));
    drop(sound.folder);
}

/// Returns whether an error names the database as damaged, rather than one of its values.
fn is_about_the_file(error: &Error) -> bool {
    match error {
        Error::Damaged { .. }
        | Error::NotOurs { .. }
        | Error::NewerDatabase { .. }
        | Error::ForeignSchema { .. } => true,
        Error::Database(fault) => fault.sqlite_error().is_some(),
        _ => false,
    }
}

/// Fails if a memory is given out with a text that it never had.
fn assert_no_other_text(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
    place: &str,
) {
    let content = |answer: &String| {
        serde_json::from_str::<Value>(answer).expect("is JSON")["content"].clone()
    };
    for (asked, answer) in after.iter().filter(|(asked, _)| asked.starts_with("recall ")) {
        if let Some(known) = before.get(asked) {
            assert_eq!(content(answer), content(known), "{place}: {asked}");
        }
    }
}
