//! Lets every named place fail once, with an error and with the death of the process: each
//! acknowledged call has its effect once, every other call its whole effect or none, and the calls
//! go on as if nothing had happened.
//!
//! The process that dies is this test, started again with [`CHILD`] in its environment.
//! `FAILPOINTS=all` fails at every hit of every place; else at one or two of each.

mod scenario;

use crate::db::{dump, integrity, migrate};
use crate::failpoint::armed::{self, Action, Failpoint};
use crate::tests::fixture::{TestStore, folder_in_memory};
use loci_proto::requests::doctor::Verdict;
use loci_proto::requests::export::ExportRequest;
use scenario::{CALLS, IMPORT, Subject};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Names the folder, the place and the hit for the process that dies.
const CHILD: &str = "FAILPOINT_CHILD";
/// The test that runs the calls in another process.
const CHILD_TEST: &str = "tests::failpoints::every_failure_leaves_what_was_acknowledged";
/// The fewest places that make this test worth its name.
const MIN_PLACES: usize = 25;

/// What the store has after each call when nothing fails.
struct Expected {
    after: Vec<String>,
    hits: BTreeMap<&'static str, u32>,
}

/// A folder with a store of the first schema and a file to import.
fn prepared() -> TempDir {
    let folder = folder_in_memory();
    migrate::create_first(&folder.path().join("memory.db")).expect("the database is created");
    let mut other = TestStore::new();
    for text in ["The north field is sown", "The south field is fallow"] {
        other.store("b", json!({"content": text, "type": "semantic"}), None);
    }
    let mut file = Vec::new();
    other.reader.export(&ExportRequest::default(), &mut file).expect("the store is exported");
    fs::write(folder.path().join(IMPORT), file).expect("the file is written");
    folder
}

fn copy_of(prepared: &TempDir) -> TempDir {
    let folder = folder_in_memory();
    for name in ["memory.db", IMPORT] {
        fs::copy(prepared.path().join(name), folder.path().join(name)).expect("the file is copied");
    }
    folder
}

/// Runs all calls without a failure.
fn expected(prepared: &TempDir) -> Expected {
    let folder = copy_of(prepared);
    let mut subject = Subject::new(folder.path());
    let (mut after, mut hits) = (Vec::new(), BTreeMap::new());
    for (number, (name, _)) in CALLS.iter().enumerate() {
        armed::arm(None);
        let made = subject.make(number);
        made.unwrap_or_else(|error| panic!("{name}: {error}"));
        for (place, count) in armed::hits() {
            *hits.entry(place).or_default() += count;
        }
        after.push(content(&mut subject));
        check(&mut subject);
    }
    Expected { after, hits }
}

/// Returns what the store has.
fn content(subject: &mut Subject) -> String {
    dump::without_ids(&subject.opened().expect("the store opens").conn).expect("it is readable")
}

/// Checks the structure of the database, its keyword index, the index in memory, and that the start
/// found nothing wrong with the files.
fn check(subject: &mut Subject) {
    let writer = subject.opened().expect("the store opens");
    assert_eq!(writer.findings(), Vec::<String>::new());
    assert_eq!(dump::integrity(&writer.conn).expect("the check runs"), "ok");
    assert_eq!(integrity::dangling(&writer.conn).expect("the check runs"), 0);
    integrity::words(&writer.conn).expect("the keyword index matches the texts");
    let (_, reader) = subject.store.as_ref().expect("the store is open");
    let mut findings = reader.full_check().expect("the store is checked").findings;
    findings.push(reader.examine_index().expect("the index is compared"));
    let faults: Vec<_> = findings.iter().filter(|finding| finding.verdict != Verdict::Ok).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

/// Makes the remaining calls again, the first of them with the key of the call that failed.
fn finish(subject: &mut Subject, from: usize, expected: &Expected) {
    for (number, (name, _)) in CALLS.iter().enumerate().skip(from) {
        // A step of maintenance has no key: made again after its commit, it would be the next step.
        if *name == "drop vectors" && content(subject) == expected.after[number] {
            continue;
        }
        let made = subject.make(number);
        made.unwrap_or_else(|error| panic!("{name} again: {error}"));
        check(subject);
        assert_same(&content(subject), &expected.after[number], name);
    }
}

/// Fails with the first lines that differ.
fn assert_same(found: &str, expected: &str, what: &str) {
    if found != expected {
        let (found, expected): (Vec<_>, Vec<_>) =
            (found.lines().collect(), expected.lines().collect());
        let extra: Vec<_> = found.iter().filter(|line| !expected.contains(line)).take(4).collect();
        let missing: Vec<_> =
            expected.iter().filter(|line| !found.contains(line)).take(4).collect();
        panic!("{what}: too much {extra:#?}, missing {missing:#?}");
    }
}

fn fail_with_error(prepared: &TempDir, failpoint: &Failpoint, expected: &Expected) {
    let folder = copy_of(prepared);
    let mut subject = Subject::new(folder.path());
    armed::arm(Some(failpoint.clone()));
    let failed = (0..CALLS.len()).find(|number| subject.make(*number).is_err());
    armed::arm(None);
    let Some(failed) = failed else {
        // A restore does not depend on the backup of the store that it replaces.
        assert!(failpoint.place.contains("a backup"), "{failpoint:?}: no call failed");
        let last = expected.after.last().expect("there are calls");
        assert_same(&content(&mut subject), last, "after all calls");
        return;
    };
    let before = failed.checked_sub(1).map(|number| &expected.after[number]);
    if before == Some(&content(&mut subject)) {
        // Nothing took effect, so the index must not be ahead of the database.
        check(&mut subject);
    }
    finish(&mut subject, failed, expected);
}

fn fail_with_death(prepared: &TempDir, failpoint: &Failpoint, expected: &Expected) {
    let folder = copy_of(prepared);
    let acknowledged = run_child(folder.path(), failpoint);
    let mut subject = Subject::new(folder.path());
    let found = content(&mut subject);
    check(&mut subject);
    let before = expected.after[acknowledged.saturating_sub(1)].as_str();
    if found != before || acknowledged == 0 {
        assert_same(&found, &expected.after[acknowledged], "neither all nor nothing");
    }
    finish(&mut subject, acknowledged, expected);
}

/// Runs the calls in another process until it dies; returns how many were acknowledged.
fn run_child(folder: &Path, failpoint: &Failpoint) -> usize {
    let instruction = json!([folder, failpoint.place, failpoint.hit]).to_string();
    let mut child = Command::new(std::env::current_exe().expect("the path is known"));
    child.args([CHILD_TEST, "--exact", "--test-threads=1"]).env(CHILD, instruction);
    let status = child.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.expect("the process starts");
    assert!(!status.success(), "{failpoint:?} did not end the process");
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    assert_eq!(signal, Some(libc::SIGABRT), "{failpoint:?}");
    fs::read(folder.join("acknowledged")).expect("the file is readable").len()
}

/// Makes the calls as [`run_child`] says: one byte for each acknowledged call.
fn be_child(instruction: &str) {
    let (folder, place, hit): (PathBuf, String, u32) =
        serde_json::from_str(instruction).expect("the instruction is valid");
    let mut acknowledged =
        fs::File::create(folder.join("acknowledged")).expect("the file is created");
    let mut subject = Subject::new(&folder);
    armed::arm(Some(Failpoint { place, hit, action: Action::Abort }));
    for number in 0..CALLS.len() {
        subject.make(number).expect("nothing fails before the process dies");
        acknowledged.write_all(b".").expect("the file is written");
    }
}

/// Returns the hits of a place at which it fails: all, or the first and one in the middle.
fn chosen_hits(hits: u32, all: bool) -> Vec<u32> {
    let middle = hits.div_ceil(2);
    match (all, middle) {
        (true, _) => (1..=hits).collect(),
        (false, 1) => (1..=hits.min(2)).collect(),
        (false, middle) => vec![1, middle],
    }
}

#[test]
fn every_failure_leaves_what_was_acknowledged() {
    if let Ok(instruction) = std::env::var(CHILD) {
        be_child(&instruction);
        return;
    }
    let prepared = prepared();
    let expected = expected(&prepared);
    assert!(expected.hits.len() >= MIN_PLACES, "{:?}", expected.hits);
    let all = std::env::var("FAILPOINTS").is_ok_and(|value| value == "all");
    let mut places = Vec::new();
    for (place, hits) in &expected.hits {
        let chosen = chosen_hits(*hits, all);
        places.extend(chosen.into_iter().map(|hit| ((*place).to_owned(), hit)));
    }
    let at = |(place, hit): &(String, u32), action| {
        println!("{place}, hit {hit}: {action:?}");
        Failpoint { place: place.clone(), hit: *hit, action }
    };
    // Places are armed for one thread.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for place in &places {
                fail_with_error(&prepared, &at(place, Action::Error), &expected);
            }
        });
        for place in &places {
            fail_with_death(&prepared, &at(place, Action::Abort), &expected);
        }
    });
    println!("{} places, {} failures", expected.hits.len(), 2 * places.len());
}
