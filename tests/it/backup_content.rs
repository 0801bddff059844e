//! What comes back with a backup, and what does not: hard-deleted memories and replaced secrets stay
//! away, provenance stays, and a database that was exchanged is named with the choices.
//!
//! Not here: how backups are made and restored (`backup`).

use crate::home::{TestHome, binaries, printed};
use crate::in_time::OutputInTime;
use crate::wire::{kill_daemon, wait_until};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

fn create(home: &TestHome) -> Value {
    home.json(&["backup", "create", "--json"])
}

fn id_of(backup: &Value) -> &str {
    backup["id"].as_str().expect("an id")
}

fn stop(home: &TestHome) {
    assert!(home.loci(&["ctl", "stop"]).status.success());
}

fn database(home: &TestHome) -> PathBuf {
    home.path(".loci/memory.db")
}

fn warnings(home: &TestHome) -> String {
    assert!(home.loci(&["stats"]).status.success());
    wait_until("the status is complete", || home.status()["warnings"].is_array());
    home.status()["warnings"].to_string()
}

fn exported(home: &TestHome) -> String {
    printed(&home.loci(&["export"]))
}

/// A token of the right shape; in two parts, so that scanners of repositories leave this file alone.
fn token() -> String {
    ["glp", "at-Zk4Qw8nV2xTbY6rLm0Pd"].concat()
}

#[test]
fn secrets_that_were_replaced_do_not_come_back_with_an_older_backup() {
    let (home, token) = (TestHome::without_model(), token());
    home.configure("[privacy]\nsecrets = \"allow\"");
    let mut agent = home.session();
    let id = agent.store("semantic", &format!("The CI token is {token}"));
    agent.call("recall_memory", json!({"ids": [id]})).expect("is answered");
    let made = create(&home);
    assert!(home.loci(&["scan", "--redact", "--yes"]).status.success());
    assert!(!exported(&home).contains(&token));
    let later = agent.store("semantic", "Stored after the redaction");
    let reply = home.json(&["backup", "restore", id_of(&made), "--yes", "--json"]);
    assert!(reply["redacted_again"].as_u64() >= Some(1), "{reply}");
    let found = exported(&home);
    assert!(!found.contains(&token) && found.contains("[SECRET:gitlab-token]"), "{found}");
    assert!(!found.contains(&later), "it is the state of the backup");
    stop(&home);
    let bytes = fs::read(database(&home)).expect("the database is readable");
    assert!(!String::from_utf8_lossy(&bytes).contains(&token), "no copy is in the database");
    // A backup from after the redaction is restored as it is.
    agent.store("semantic", &format!("A new token on purpose: {token}"));
    let made = create(&home);
    let reply = home.json(&["backup", "restore", id_of(&made), "--yes", "--json"]);
    assert_eq!(reply["redacted_again"], 0, "{reply}");
    assert!(exported(&home).contains(&token));
}

#[test]
fn a_backup_put_back_with_cp_is_served_without_what_was_hard_deleted_since() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "The ferry leaves at nine");
    let secret = agent.store("semantic", "The code of the safe is on the fridge");
    let made = create(&home);
    agent
        .call("forget_memory", json!({"memory_id": secret, "hard_delete": true}))
        .expect("the memory is deleted");
    agent.store("semantic", "Stored after the backup");
    stop(&home);
    let from = made["path"].as_str().expect("a path");
    fs::copy(from, database(&home)).expect("the backup is put back");
    let said = warnings(&home);
    for part in ["were deleted again: 1", "loci backup restore", "loci doctor --recover"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(agent.recall("ferry"), ["The ferry leaves at nine"], "the session goes on");
    let found = exported(&home);
    assert!(!found.contains("fridge") && !found.contains("Stored after"), "{found}");
    assert!(home.loci(&["doctor"]).status.success());
}

#[test]
fn the_state_of_yesterday_is_restored_with_one_command() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Stored the day before");
    let made = create(&home);
    // The backup was made 30 hours ago, so before the end of yesterday.
    let manifest = PathBuf::from(made["path"].as_str().expect("a path")).with_extension("json");
    let bytes = fs::read(&manifest).expect("the manifest is readable");
    let mut value: Value = serde_json::from_slice(&bytes).expect("valid JSON");
    let at = value["created_at"].as_i64().expect("a time") - 30 * 3_600_000;
    value["created_at"] = json!(at);
    fs::write(&manifest, value.to_string()).expect("the manifest is changed");
    agent.store("semantic", "Stored today");
    create(&home);
    let output = home.loci(&["backup", "restore", "--at", "yesterday", "--yes"]);
    assert!(output.status.success(), "{}", printed(&output));
    assert!(printed(&output).contains("To go back: loci backup restore"), "{}", printed(&output));
    let found = exported(&home);
    assert!(found.contains("Stored the day before") && !found.contains("Stored today"), "{found}");
    assert_eq!(agent.recall("stored"), ["Stored the day before"]);
}

#[test]
fn another_database_in_its_place_is_named_with_the_choices_and_the_one_before_comes_back() {
    let home = TestHome::without_model();
    home.session().store("semantic", "The ferry leaves at nine");
    let made = create(&home);
    stop(&home);
    let other = TestHome::without_model();
    other.session().store("semantic", "A note of another person");
    stop(&other);
    fs::copy(database(&other), database(&home)).expect("the database is replaced");
    let said = warnings(&home);
    for part in ["Another database was put in the place", "quarantine", "loci backup restore"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let found = exported(&home);
    assert!(found.contains("another person"), "{found}");
    let refused = home.loci(&["backup", "restore", "--yes"]);
    assert!(!refused.status.success());
    assert!(printed(&refused).contains(&format!("loci backup restore {}", id_of(&made))));
    home.json(&["backup", "restore", id_of(&made), "--yes", "--json"]);
    let found = exported(&home);
    assert!(found.contains("ferry") && !found.contains("another person"), "{found}");
}

#[test]
fn a_database_with_a_foreign_trigger_is_refused_until_doctor_recovers_its_memories() {
    let home = TestHome::without_model();
    home.session().store("semantic", "The ferry leaves at nine");
    stop(&home);
    let conn = Connection::open(database(&home)).expect("the database opens");
    conn.execute_batch(
        "CREATE TRIGGER t AFTER INSERT ON tombstones BEGIN DELETE FROM memories; END",
    )
    .expect("the trigger is created");
    drop(conn);
    let before = fs::read(database(&home)).expect("the database is readable");
    let daemon = home.command("locid").stdin(Stdio::null()).output_in_time().expect("locid runs");
    assert!(!daemon.status.success());
    for command in ["loci backup restore", "loci doctor --recover"] {
        assert!(printed(&daemon).contains(command), "{}", printed(&daemon));
    }
    assert_eq!(fs::read(database(&home)).expect("is readable"), before, "nothing was changed");
    let reply = home.json(&["doctor", "--recover", "--yes", "--json"]);
    assert_eq!((&reply["salvaged"], &reply["memories"]), (&json!(1), &json!(1)), "{reply}");
    let kept = PathBuf::from(reply["quarantine"].as_str().expect("a path")).join("memory.db");
    assert_eq!(fs::read(kept).expect("it is kept"), before);
    assert!(exported(&home).contains("ferry"));
}

#[test]
fn salvaged_memories_keep_their_provenance_and_the_newest_texts() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let edited = agent.store("semantic", "The ferry leaves at nine");
    create(&home);
    let add = ["add", "The user drinks tea", "--type", "semantic", "--scope", "global", "--json"];
    let added = home.json(&add);
    let edit = ["edit", &edited, "--content", "The ferry leaves at ten"];
    assert!(home.loci(&edit).status.success());
    stop(&home);
    let mut bytes = fs::read(database(&home)).expect("the database is readable");
    bytes[..4096].fill(0);
    fs::write(database(&home), bytes).expect("the database is damaged");
    let said = warnings(&home);
    assert!(said.contains("2 salvaged from the damaged files"), "{said}");
    let show = |id: &str| home.json(&["inspect", id, "--json"])["memory"].clone();
    let shown = show(added["id"].as_str().expect("an id"));
    assert_eq!(
        (&shown["trust"], &shown["origin"], &shown["scope"]),
        (&json!("person"), &json!("person"), &json!("global")),
        "{shown}"
    );
    let shown = show(&edited);
    assert_eq!(
        (&shown["content"], &shown["trust"]),
        (&json!("The ferry leaves at ten"), &json!("person")),
        "{shown}"
    );
}

#[test]
fn memories_that_are_only_in_the_log_of_a_damaged_database_are_salvaged() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Early: the ferry leaves at nine");
    create(&home);
    let in_file = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let uri = format!("file:{}?immutable=1", database(&home).display());
        let conn = Connection::open_with_flags(uri, flags).ok()?;
        conn.query_row("SELECT count(*) FROM memories", [], |row| row.get::<_, i64>(0)).ok()
    };
    wait_until("the first memory is checkpointed", || in_file() == Some(1));
    // A checkpoint moves nothing that is newer than what a reader sees.
    let reader = Connection::open_with_flags(database(&home), OpenFlags::SQLITE_OPEN_READ_ONLY)
        .expect("the database opens");
    let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    reader.set_db_config(no_checkpoint, true).expect("the option is set");
    reader.execute_batch("BEGIN; SELECT count(*) FROM meta").expect("a read transaction begins");
    for number in 0..5 {
        agent.store("semantic", &format!("Late {number} is in drawer {}", number * 7));
    }
    kill_daemon(&home);
    drop(reader);
    let mut bytes = fs::read(database(&home)).expect("the database is readable");
    bytes[..4096].fill(0);
    fs::write(database(&home), &bytes).expect("the database is damaged");
    let said = warnings(&home);
    assert!(said.contains("5 salvaged from the damaged files, no memory was lost"), "{said}");
    assert_eq!(exported(&home).matches("\"content\":\"Late ").count(), 5);
}

#[test]
fn without_space_for_a_backup_none_is_made_and_the_store_goes_on() {
    let home = TestHome::without_model();
    let script = r#"
        mount -t tmpfs -o size=12m,mode=0700 tmpfs "$HOME/.loci" || exit 77
        loci=$0; locid=$1
        $locid --backup-check 1 > /dev/null 2>&1 &
        for n in 1 2 3; do $loci add "Kept $n is in drawer $n" --type semantic > /dev/null || exit 1; done
        $loci backup create && exit 2
        $loci add "Newer 1 is in drawer 9" --type semantic > /dev/null || exit 3
        $loci export --output "$HOME/.loci/file" || exit 4
        $loci import "$HOME/.loci/file" > /dev/null || exit 5
        $loci ctl status | grep -c 'No backup could be made'
        $loci backup list
        ls -A "$HOME/.loci/backups" | grep -c 'tmp'
        $loci ctl stop > /dev/null
    "#;
    let mut command = home.command_at(std::path::Path::new("unshare"));
    command.args(["-rm", "sh", "-c", script]);
    command.arg(binaries().join("loci")).arg(binaries().join("locid"));
    let output = command.stdin(Stdio::null()).output_in_time().expect("unshare runs");
    if output.status.code() == Some(77) || printed(&output).contains("unshare failed") {
        loci_testkit::skipped::skip("this user may have no namespaces: no disk was filled");
        return;
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed(&output).contains("MiB are free, and a backup needs"), "{output:?}");
    assert!(said.contains("There are no backups") && said.ends_with("\n0\n"), "{output:?}");
}
