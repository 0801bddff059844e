//! The database and its log are removed, cut, replaced or damaged, while the daemon is down and
//! while it runs: nothing acknowledged is lost without a word, and no empty store takes the place
//! of data.

use crate::home::{Agent, TestHome};
use crate::wire::{kill_daemon, wait_until};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Paths of the database of a home.
struct Files {
    database: PathBuf,
    log: PathBuf,
}

impl Files {
    fn of(home: &TestHome) -> Self {
        Self { database: home.path(".loci/memory.db"), log: home.path(".loci/memory.db-wal") }
    }
}

/// Stores `count` notes that begin with a word.
fn store_notes(agent: &mut Agent, word: &str, count: usize) {
    for number in 0..count {
        agent.store("semantic", &format!("{word} {number} is in drawer {}", number * 7));
    }
}

/// Returns the number of memories that `loci stats` counts.
fn memories(home: &TestHome) -> Option<u64> {
    let output = home.loci(&["stats", "--json"]);
    let stats: Value = serde_json::from_slice(&output.stdout).ok()?;
    stats["total_memories"].as_u64()
}

/// Returns how often a word is the first of a stored text.
fn notes(home: &TestHome, word: &str) -> usize {
    let output = home.loci(&["export"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.matches(&format!("\"content\":\"{word} ")).count()
}

/// Returns the warnings of the status.
fn warnings(home: &TestHome) -> String {
    home.loci(&["ctl", "start"]);
    wait_until("the status is complete", || home.status()["warnings"].is_array());
    home.status()["warnings"].to_string()
}

/// Returns the error of a start that is refused.
fn refused_start(home: &TestHome) -> String {
    let output = home.loci(&["ctl", "start"]);
    assert!(!output.status.success(), "the start is refused");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the files in the newest folder of the quarantine.
fn quarantined(home: &TestHome) -> Vec<String> {
    let folders = fs::read_dir(home.path(".loci/quarantine")).expect("there is a quarantine");
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.expect("is read").path()).collect();
    folders.sort();
    let newest = folders.last().expect("the quarantine has a folder");
    let files = fs::read_dir(newest).expect("the folder is readable");
    let mut names: Vec<String> = files
        .map(|entry| entry.expect("is read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// A home whose daemon was killed after it had stored 10 notes that are in the database, and 5 that
/// are only in the log.
fn crashed() -> TestHome {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, "Early", 10);
    let database = Files::of(&home).database;
    wait_until("the notes are checkpointed", || memories_without_log(&database) == Some(10));
    // A checkpoint moves nothing that is newer than what a reader sees.
    let reader = Connection::open_with_flags(&database, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .expect("the database opens");
    let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    reader.set_db_config(no_checkpoint, true).expect("the option is set");
    reader.execute_batch("BEGIN; SELECT count(*) FROM meta").expect("a read transaction begins");
    store_notes(&mut agent, "Late", 5);
    kill_daemon(&home);
    assert_eq!(memories_without_log(&database), Some(10));
    home
}

/// Returns the number of memories in the database file alone.
fn memories_without_log(database: &Path) -> Option<i64> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let uri = format!("file:{}?immutable=1", database.display());
    let conn = Connection::open_with_flags(uri, flags).ok()?;
    conn.query_row("SELECT count(*) FROM memories", [], |row| row.get(0)).ok()
}

/// A copy of a database with these notes, closed cleanly.
fn other_database(word: &str, count: usize) -> Vec<u8> {
    let home = TestHome::without_model();
    store_notes(&mut home.session(), word, count);
    assert!(home.loci(&["ctl", "stop"]).status.success());
    fs::read(Files::of(&home).database).expect("the database is readable")
}

#[test]
fn a_killed_daemon_leaves_nothing_to_report() {
    let home = crashed();
    assert_eq!((notes(&home, "Early"), notes(&home, "Late")), (10, 5));
    assert_eq!(warnings(&home), "[]");
    assert!(home.loci(&["ctl", "restart"]).status.success());
    assert_eq!(warnings(&home), "[]");
    assert!(!home.path(".loci/quarantine").exists());
}

#[test]
fn a_copy_put_back_over_a_crashed_store_is_served() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, "Kept", 8);
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let files = Files::of(&home);
    let backup = fs::read(&files.database).expect("the database is readable");
    store_notes(&mut agent, "Newer", 6);
    kill_daemon(&home);
    assert!(fs::metadata(&files.log).expect("the log exists").len() > 0);
    fs::write(&files.database, &backup).expect("the copy is put back");
    assert_eq!((notes(&home, "Kept"), notes(&home, "Newer")), (8, 0));
    let said = warnings(&home);
    assert!(said.contains("belongs to the file that was replaced"), "{said}");
    assert!(said.contains("6 acknowledged changes"), "{said}");
    assert_eq!(quarantined(&home), ["memory.db", "memory.db-wal", "report.txt"]);
}

#[test]
fn a_log_of_another_database_is_not_replayed() {
    let foreign = TestHome::without_model();
    store_notes(&mut foreign.session(), "Foreign", 5);
    kill_daemon(&foreign);
    let log = fs::read(Files::of(&foreign).log).expect("the log is readable");
    for is_clean in [false, true] {
        let home = crashed();
        if is_clean {
            assert_eq!(notes(&home, "Late"), 5);
            assert!(home.loci(&["ctl", "stop"]).status.success());
        }
        fs::write(Files::of(&home).log, &log).expect("the log is replaced");
        assert_eq!(notes(&home, "Foreign"), 0, "clean: {is_clean}");
        assert_eq!(notes(&home, "Early"), 10, "clean: {is_clean}");
        assert_eq!(notes(&home, "Late"), if is_clean { 5 } else { 0 });
        let said = warnings(&home);
        assert!(said.contains("belongs to another"), "{said}");
        assert!(is_clean || said.contains("5 acknowledged changes"), "{said}");
    }
}

#[test]
fn an_emptied_or_missing_database_is_not_replaced_by_an_empty_store() {
    for is_missing in [false, true] {
        let home = TestHome::without_model();
        let mut agent = home.session();
        store_notes(&mut agent, "Kept", 4);
        assert!(home.loci(&["ctl", "stop"]).status.success());
        let database = Files::of(&home).database;
        let whole = fs::read(&database).expect("the database is readable");
        if is_missing {
            fs::remove_file(&database).expect("the database is removed");
        } else {
            fs::write(&database, "").expect("the database is emptied");
        }
        let said = refused_start(&home);
        assert!(said.contains("it had 4 memories"), "{said}");
        assert_eq!(database.exists(), !is_missing, "nothing was created");
        fs::write(&database, whole).expect("the database is put back");
        assert_eq!(notes(&home, "Kept"), 4);
        assert_eq!(warnings(&home), "[]");
    }
}

#[test]
fn a_missing_damaged_or_cut_log_is_reported_with_the_number_of_missing_changes() {
    for damage in ["removed", "garbage", "cut"] {
        let home = crashed();
        let log = Files::of(&home).log;
        let bytes = fs::read(&log).expect("the log is readable");
        match damage {
            "removed" => fs::remove_file(&log).expect("the log is removed"),
            "garbage" => fs::write(&log, vec![7; bytes.len()]).expect("the log is overwritten"),
            _ => fs::write(&log, &bytes[..bytes.len() / 3]).expect("the log is cut"),
        }
        let said = warnings(&home);
        assert!(said.contains("acknowledged change"), "{damage}: {said}");
        assert_eq!(notes(&home, "Early"), 10, "{damage}");
        let mut agent = home.session();
        agent.store("semantic", "Stores go on");
        assert_eq!(agent.recall("stores go on").len(), 1);
    }
}

#[test]
fn nothing_is_acknowledged_into_a_database_that_is_gone() {
    for way in ["removed", "moved", "replaced"] {
        let home = TestHome::without_model();
        let mut agent = home.session();
        store_notes(&mut agent, "Kept", 5);
        let database = Files::of(&home).database;
        let (aside, other) = (home.path("aside.db"), other_database("Other", 3));
        match way {
            "removed" => fs::remove_file(&database).expect("the database is removed"),
            "moved" => fs::rename(&database, &aside).expect("the database is moved"),
            _ => {
                fs::rename(&database, &aside).expect("the database is moved");
                fs::write(&database, other).expect("another takes its place");
            }
        }
        let stored = agent.call("store_memory", json_note());
        let acknowledged = usize::from(stored.is_ok());
        assert!(stored.is_err() || way == "replaced", "{way}: {stored:?}");
        if way == "replaced" {
            // The daemon was started again and serves what was put there.
            wait_until("the other database is served", || notes(&home, "Other") == 3);
            assert_eq!(notes(&home, "Lost"), acknowledged);
            let said = warnings(&home);
            assert!(said.contains("Another database was put in the place"), "{said}");
        } else {
            wait_until("the start is refused", || !home.loci(&["ctl", "start"]).status.success());
            let said = refused_start(&home);
            assert!(said.contains("is missing"), "{way}: {said}");
        }
        let kept = quarantined_database(&home);
        assert!(kept >= 5, "{way}: the rescue copy has {kept} memories");
    }
}

/// The arguments of a store that must not be lost without a word.
fn json_note() -> Value {
    serde_json::json!({"content": "Lost 1 is acknowledged", "type": "semantic"})
}

/// Returns the most memories that a database in the quarantine has.
fn quarantined_database(home: &TestHome) -> i64 {
    let folders = fs::read_dir(home.path(".loci/quarantine")).expect("there is a quarantine");
    let count = |path: PathBuf| {
        let conn = Connection::open(path.join("memory.db")).ok()?;
        conn.query_row("SELECT count(*) FROM memories", [], |row| row.get(0)).ok()
    };
    folders.filter_map(|entry| count(entry.expect("is read").path())).max().unwrap_or(0)
}

#[test]
fn a_database_that_is_cut_or_overwritten_under_the_daemon_is_not_served() {
    for way in ["cut", "overwritten"] {
        let home = TestHome::without_model();
        let mut agent = home.session();
        store_notes(&mut agent, "Kept", 5);
        let (database, whole) = (Files::of(&home).database, home.path("whole.db"));
        assert!(home.loci(&["ctl", "stop"]).status.success());
        fs::copy(&database, &whole).expect("the database is copied");
        assert_eq!(notes(&home, "Kept"), 5);
        let length = fs::metadata(&database).expect("the database exists").len();
        match way {
            "cut" => fs::write(&database, "").expect("the database is cut"),
            _ => fs::write(&database, vec![0x55; usize::try_from(length).expect("is small")])
                .expect("the database is overwritten"),
        }
        let pid = home.path("run/loci/locid.lock");
        let pid = fs::read_to_string(pid).expect("the daemon runs").trim().to_owned();
        wait_until("the daemon shuts down", || !PathBuf::from(format!("/proc/{pid}/exe")).exists());
        assert!(!refused_start(&home).is_empty());
        fs::copy(&whole, &database).expect("the copy is put back");
        assert_eq!(notes(&home, "Kept"), 5, "{way}");
    }
}

#[test]
fn a_log_that_is_removed_under_the_daemon_costs_nothing() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, "Kept", 5);
    fs::remove_file(Files::of(&home).log).expect("the log is removed");
    store_notes(&mut agent, "More", 5);
    kill_daemon(&home);
    assert_eq!((notes(&home, "Kept"), notes(&home, "More")), (5, 5));
}

#[test]
fn a_database_has_one_daemon_whatever_its_name() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, "Kept", 3);
    let files = Files::of(&home);
    let (link, runtime) = (home.path("link.db"), home.path("run2"));
    fs::hard_link(&files.database, &link).expect("the link is created");
    fs::create_dir(&runtime).expect("the folder is created");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&runtime, mode).expect("the mode is set");
    let mut second = home.command("locid");
    second.env("LOCI_DB", &link).env("XDG_RUNTIME_DIR", &runtime);
    assert_eq!(second.status().expect("locid runs").code(), Some(75), "a hard link");
    for lock in [".loci/memory.db.lock", "run/loci/locid.lock"] {
        fs::remove_file(home.path(lock)).expect("the lock file is removed");
    }
    let mut second = home.command("locid");
    second.env("XDG_RUNTIME_DIR", &runtime);
    assert_eq!(second.status().expect("locid runs").code(), Some(75), "removed lock files");
    store_notes(&mut agent, "More", 3);
    assert_eq!(memories(&home), Some(6));
}

#[test]
fn a_link_in_place_of_the_database_changes_nothing_behind_it() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::without_model();
    let letter = home.path("letter.txt");
    fs::write(&letter, "a letter to somebody").expect("the file is written");
    fs::set_permissions(&letter, fs::Permissions::from_mode(0o644)).expect("the mode is set");
    std::os::unix::fs::symlink(&letter, Files::of(&home).database).expect("the link is created");
    assert!(refused_start(&home).contains("not a loci database"));
    let mode = fs::metadata(&letter).expect("the file exists").permissions().mode() & 0o777;
    assert_eq!(mode, 0o644);
    assert_eq!(fs::read(&letter).expect("the file is readable"), b"a letter to somebody");
}
