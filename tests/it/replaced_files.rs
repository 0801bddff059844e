//! The database and its log are removed, cut, replaced or damaged, while the daemon is down and
//! while it runs: nothing acknowledged is lost without a word, and no empty store takes the place
//! of data.

use crate::home::{Agent, TestHome};
use crate::in_time::ExitInTime;
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
    let started = home.loci(&["ctl", "start"]);
    assert!(started.status.success(), "{started:?}");
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

/// Puts the log of another database beside a store whose daemon was killed, or stopped.
fn replay_of_another_log(is_clean: bool) {
    let foreign = TestHome::without_model();
    store_notes(&mut foreign.session(), "Foreign", 5);
    kill_daemon(&foreign);
    let log = fs::read(Files::of(&foreign).log).expect("the log is readable");
    let home = crashed();
    if is_clean {
        assert_eq!(notes(&home, "Late"), 5);
        assert!(home.loci(&["ctl", "stop"]).status.success());
    }
    fs::write(Files::of(&home).log, &log).expect("the log is replaced");
    assert_eq!((notes(&home, "Foreign"), notes(&home, "Early")), (0, 10));
    assert_eq!(notes(&home, "Late"), if is_clean { 5 } else { 0 });
    let said = warnings(&home);
    assert!(said.contains("belongs to another"), "{said}");
    assert!(is_clean || said.contains("5 acknowledged changes"), "{said}");
}

#[test]
fn a_log_of_another_database_is_not_replayed_after_a_crash() {
    replay_of_another_log(false);
}

#[test]
fn a_log_of_another_database_is_not_replayed_after_a_clean_stop() {
    replay_of_another_log(true);
}

/// Empties or removes the database of a stopped daemon; the start must be refused, and the database
/// be served when it is put back.
fn start_without_the_database(damage: impl Fn(&Path) -> std::io::Result<()>) {
    let home = TestHome::without_model();
    store_notes(&mut home.session(), "Kept", 4);
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let database = Files::of(&home).database;
    let whole = fs::read(&database).expect("the database is readable");
    damage(&database).expect("the database is damaged");
    let is_there = database.exists();
    let said = refused_start(&home);
    assert!(said.contains("it had 4 memories"), "{said}");
    assert_eq!(database.exists(), is_there, "nothing was created");
    fs::write(&database, whole).expect("the database is put back");
    assert_eq!(notes(&home, "Kept"), 4);
    assert_eq!(warnings(&home), "[]");
}

#[test]
fn an_emptied_database_is_not_taken_for_a_new_store() {
    start_without_the_database(|database| fs::write(database, ""));
}

#[test]
fn a_missing_database_is_not_replaced_by_an_empty_store() {
    start_without_the_database(|database| fs::remove_file(database));
}

/// Damages the log of a killed daemon; what is missing must be said.
fn start_with_a_damaged_log(damage: impl Fn(&Path, &[u8]) -> std::io::Result<()>) {
    let home = crashed();
    let log = Files::of(&home).log;
    let bytes = fs::read(&log).expect("the log is readable");
    damage(&log, &bytes).expect("the log is damaged");
    let said = warnings(&home);
    assert!(said.contains("acknowledged change"), "{said}");
    assert_eq!(notes(&home, "Early"), 10);
    assert!(notes(&home, "Late") < 5);
    let mut agent = home.session();
    agent.store("semantic", "Stores go on");
    assert_eq!(agent.recall("stores go on").len(), 1);
}

#[test]
fn a_removed_log_is_reported_with_the_number_of_missing_changes() {
    start_with_a_damaged_log(|log, _| fs::remove_file(log));
}

#[test]
fn a_log_of_garbage_is_reported_with_the_number_of_missing_changes() {
    start_with_a_damaged_log(|log, bytes| fs::write(log, vec![7; bytes.len()]));
}

#[test]
fn a_cut_log_is_reported_with_the_number_of_missing_changes() {
    start_with_a_damaged_log(|log, bytes| fs::write(log, &bytes[..bytes.len() / 3]));
}

#[test]
fn a_log_with_a_changed_bit_is_reported_with_the_number_of_missing_changes() {
    start_with_a_damaged_log(|log, bytes| {
        let mut changed = bytes.to_vec();
        // In the middle of the frames with the salts of the header; older frames follow them.
        let frame = 24 + 4096;
        let frames = bytes[32..].chunks(frame);
        let current = frames.take_while(|frame| frame[8..16] == bytes[16..24]).count();
        changed[32 + frame * (current / 2) + 100] ^= 1;
        fs::write(log, changed)
    });
}

/// A session that has stored five notes, after which the database was taken away.
fn after_losing_the_database(take: impl Fn(&TestHome, &Path)) -> (TestHome, Agent) {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, "Kept", 5);
    take(&home, &Files::of(&home).database);
    (home, agent)
}

/// The store must be refused, as must the next start, and a copy be in the quarantine.
fn assert_store_is_refused(home: &TestHome, agent: &mut Agent) {
    let stored = agent.call("store_memory", json_note());
    assert!(stored.is_err(), "{stored:?}");
    wait_until("the start is refused", || !home.loci(&["ctl", "start"]).status.success());
    let said = refused_start(home);
    assert!(said.contains("is missing"), "{said}");
    let kept = quarantined_database(home);
    assert!(kept >= 5, "the rescue copy has {kept} memories");
}

#[test]
fn nothing_is_acknowledged_into_a_removed_database() {
    let (home, mut agent) = after_losing_the_database(|_, database| {
        fs::remove_file(database).expect("the database is removed");
    });
    assert_store_is_refused(&home, &mut agent);
}

#[test]
fn nothing_is_acknowledged_into_a_moved_database() {
    let (home, mut agent) = after_losing_the_database(|home, database| {
        fs::rename(database, home.path("aside.db")).expect("the database is moved");
    });
    assert_store_is_refused(&home, &mut agent);
}

#[test]
fn nothing_is_acknowledged_into_a_moved_folder() {
    let (home, mut agent) = after_losing_the_database(|home, _| {
        fs::rename(home.path(".loci"), home.path("aside")).expect("the folder is moved");
    });
    let stored = agent.call("store_memory", json_note());
    assert!(stored.is_err(), "{stored:?}");
    let kept = memories_without_log(&home.path("aside/memory.db"));
    assert!(kept.is_some(), "the moved database is as it was");
}

#[test]
fn nothing_is_lost_without_a_word_in_a_replaced_database() {
    let (home, mut agent) = after_losing_the_database(|home, database| {
        let other = other_database("Other", 3);
        fs::rename(database, home.path("aside.db")).expect("the database is moved");
        fs::write(database, other).expect("another takes its place");
    });
    let acknowledged = usize::from(agent.call("store_memory", json_note()).is_ok());
    // The daemon was started again and serves what was put there.
    wait_until("the other database is served", || notes(&home, "Other") == 3);
    assert_eq!(notes(&home, "Lost"), acknowledged);
    let said = warnings(&home);
    assert!(said.contains("Another database was put in the place"), "{said}");
    let kept = quarantined_database(&home);
    assert!(kept >= 5, "the rescue copy has {kept} memories");
}

#[test]
fn a_database_replaced_before_a_kill_keeps_its_content_and_the_old_log_is_kept_aside() {
    let other = other_database("Other", 40);
    let home = TestHome::without_model();
    let mut agent = home.session();
    let (new, files) = (home.path("new.db"), Files::of(&home));
    fs::write(&new, other).expect("the other database is written");
    store_notes(&mut agent, "Kept", 6);
    fs::rename(&new, &files.database).expect("it takes the place");
    kill_daemon(&home);
    assert_eq!((notes(&home, "Other"), notes(&home, "Kept")), (40, 0));
    let said = warnings(&home);
    assert!(said.contains("Another database was put in the place of memory.db"), "{said}");
    assert_eq!(quarantined(&home), ["memory.db", "memory.db-wal", "report.txt"]);
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

/// Damages the database under the daemon; it must shut down, the next start be refused, and a copy
/// that is put back be served.
fn damage_under_the_daemon(damage: impl Fn(&Path, u64) -> std::io::Result<()>) {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, "Kept", 5);
    let (database, whole) = (Files::of(&home).database, home.path("whole.db"));
    assert!(home.loci(&["ctl", "stop"]).status.success());
    fs::copy(&database, &whole).expect("the database is copied");
    assert_eq!(notes(&home, "Kept"), 5);
    let length = fs::metadata(&database).expect("the database exists").len();
    damage(&database, length).expect("the database is damaged");
    let pid = home.path("run/loci/locid.lock");
    let pid = fs::read_to_string(pid).expect("the daemon runs").trim().to_owned();
    wait_until("the daemon shuts down", || !PathBuf::from(format!("/proc/{pid}/exe")).exists());
    assert!(!refused_start(&home).is_empty());
    fs::copy(&whole, &database).expect("the copy is put back");
    assert_eq!(notes(&home, "Kept"), 5);
}

#[test]
fn a_database_that_is_cut_under_the_daemon_is_not_served() {
    damage_under_the_daemon(|database, _| fs::write(database, ""));
}

#[test]
fn a_database_that_is_overwritten_under_the_daemon_is_not_served() {
    damage_under_the_daemon(|database, length| {
        fs::write(database, vec![0x55; usize::try_from(length).expect("it is small")])
    });
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

/// Starts a second daemon on the database under another name, with a socket folder of its own; the
/// first must go on alone.
fn assert_second_daemon_is_refused(home: &TestHome, program: &str, prepare: impl Fn(&Path)) {
    let mut agent = home.session();
    store_notes(&mut agent, "Kept", 3);
    let runtime = home.path("run2");
    fs::create_dir(&runtime).expect("the folder is created");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&runtime, mode).expect("the mode is set");
    let other_name = home.path("other.db");
    prepare(&other_name);
    let mut second = home.command_at("sh".as_ref());
    second.args(["-c", program]).arg(crate::home::binaries().join("locid"));
    if other_name.exists() {
        second.env("LOCI_DB", &other_name);
    }
    second.env("XDG_RUNTIME_DIR", &runtime);
    assert_eq!(second.exit_in_time().expect("locid runs").code(), Some(75));
    store_notes(&mut agent, "More", 3);
    assert_eq!(memories(home), Some(6));
}

#[test]
fn a_hard_linked_database_has_one_daemon() {
    let home = TestHome::without_model();
    let database = Files::of(&home).database;
    assert_second_daemon_is_refused(&home, "timeout 20 \"$0\"", |other_name| {
        fs::hard_link(&database, other_name).expect("the link is created");
    });
}

#[test]
fn a_bind_mounted_database_has_one_daemon() {
    let home = TestHome::without_model();
    let mount = "mount --bind \"$HOME/.loci/memory.db\" \"$LOCI_DB\"";
    let unshare = format!(
        "exec unshare --map-root-user --mount -- sh -c '{mount} && exec timeout 20 \"$0\"' \"$0\""
    );
    let mut probe = home.command_at("unshare".as_ref());
    probe.args(["--map-root-user", "--mount", "--", "true"]);
    if !probe.exit_in_time().is_ok_and(|status| status.success()) {
        loci_testkit::skipped::skip("this user may have no namespaces: nothing was mounted");
        return;
    }
    assert_second_daemon_is_refused(&home, &unshare, |other_name| {
        fs::write(other_name, "").expect("the mount point is created");
    });
}

#[test]
fn a_database_has_one_daemon_without_its_lock_files() {
    let home = TestHome::without_model();
    let locks = [".loci/memory.db.lock", "run/loci/locid.lock"].map(|path| home.path(path));
    assert_second_daemon_is_refused(&home, "timeout 20 \"$0\"", |_| {
        for lock in &locks {
            fs::remove_file(lock).expect("the lock file is removed");
        }
    });
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
