//! Bytes of the database are changed, and objects are added to or removed from its schema: what is
//! damaged is left out and named, everything else is served, and nothing foreign acts.
//!
//! Not here: databases that are replaced, cut or missing (`replaced_files`).

use crate::home::{Agent, TestHome};
use crate::in_time::OutputInTime;
use crate::wire::{kill_daemon, wait_until};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;

/// Stores notes, and returns their ids.
fn store_notes(agent: &mut Agent, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| {
            agent.store("semantic", &format!("Note {number} names drawer {}", number * 7))
        })
        .collect()
}

fn stop(home: &TestHome) {
    assert!(home.loci(&["ctl", "stop"]).status.success());
}

/// Changes the byte at an offset of a text in the file of the database, as a disk might. The last
/// byte of the pattern is changed.
fn change_byte(home: &TestHome, pattern: &str, change: impl Fn(u8) -> u8) {
    let path = home.path(".loci/memory.db");
    let mut bytes = fs::read(&path).expect("the database is readable");
    let found = bytes.windows(pattern.len()).position(|window| window == pattern.as_bytes());
    let at = found.expect("the text is in the file") + pattern.len() - 1;
    bytes[at] = change(bytes[at]);
    fs::write(&path, bytes).expect("the database is written");
}

/// Executes statements on a stopped database, as another program might.
fn execute(home: &TestHome, sql: &str) {
    let conn = Connection::open(home.path(".loci/memory.db")).expect("the database opens");
    conn.execute_batch(sql).expect("the statements run");
}

/// Returns the exit code of doctor and the findings that are no success.
fn doctor(home: &TestHome, arguments: &[&str]) -> (Option<i32>, String) {
    let output = home.loci(&[&["doctor", "--json"], arguments].concat());
    let reply: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let findings = reply["findings"].as_array().expect("a JSON array").iter();
    let faults: Vec<&str> = findings
        .filter(|finding| finding["verdict"] == "fail")
        .filter_map(|finding| finding["found"].as_str())
        .collect();
    (output.status.code(), faults.join("\n"))
}

fn warnings(home: &TestHome) -> String {
    home.loci(&["ctl", "start"]);
    // Waits until the store is open.
    let stats = home.loci(&["stats"]);
    assert!(stats.status.success(), "{stats:?}\n{}", home.log());
    home.status()["warnings"].to_string()
}

fn export(home: &TestHome) -> (String, String) {
    let output = home.loci(&["export"]);
    assert!(output.status.success(), "{output:?}");
    (
        String::from_utf8(output.stdout).expect("it is UTF-8"),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn a_damaged_row_is_left_out_named_and_can_be_written_again() {
    for (is_text, what) in [(true, "does not match its hash"), (false, "is not UTF-8")] {
        let home = TestHome::without_model();
        let mut agent = home.session();
        let ids = store_notes(&mut agent, 5);
        stop(&home);
        change_byte(&home, "Note 3 names", |byte| if is_text { byte ^ 1 } else { 0xFF });
        // The check after the start adds a warning of its own.
        wait_until("the store is checked", || {
            warnings(&home).contains("differs from its checksum")
        });
        let found = agent.call("recall_memory", json!({"ids": ids})).expect("it answers");
        assert_eq!(found["results"].as_array().map(Vec::len), Some(4), "{found}");
        assert_eq!(found["missing"], json!([ids[3]]));
        let notice = found["notice"].as_str().expect("the answer has a notice");
        assert!(notice.contains("1 page of memory.db changed on the disk"), "{notice}");
        assert!(notice.contains(&ids[3]) && notice.contains(what), "{notice}");
        let again = agent.call("recall_memory", json!({"ids": ids})).expect("it answers");
        assert!(again.get("notice").is_none(), "once for each session: {again}");
        let inspected = agent.call("memory_inspect", json!({"memory_id": ids[3]}));
        assert!(inspected.is_err_and(|error| error.contains("damaged")));
        assert_eq!(
            agent
                .recall("which drawer is in note 3")
                .iter()
                .filter(|text| text.contains("Note 3"))
                .count(),
            0
        );
        let listed = home.loci(&["list", "--json"]);
        let listed: Value = serde_json::from_slice(&listed.stdout).expect("the list is JSON");
        assert_eq!(listed["memories"].as_array().map(Vec::len), Some(4));
        let (exported, said) = export(&home);
        assert!(
            exported.contains("\"left_out\":1")
                && !exported.contains(&format!("\"id\":\"{}\"", ids[3]))
        );
        assert!(said.contains("1 damaged row was left out"), "{said}");
        let (code, faults) = doctor(&home, &[]);
        assert_eq!(code, Some(1));
        assert!(
            faults.contains(&ids[3]) && faults.contains("(row 4)") && faults.contains(what),
            "{faults}"
        );
        agent.store("semantic", "Stores go on");
        let restarted = home.loci(&["ctl", "restart"]);
        assert!(restarted.status.success());
        assert!(warnings(&home).contains(&ids[3]), "{}", warnings(&home));
        // A text that is stored again is not merged with the damaged one.
        let again = agent.store("semantic", "Note 3 names drawer 21");
        assert_ne!(again, ids[3]);
        agent.call("forget_memory", json!({"memory_id": again})).expect("it is forgotten");
        let edited = home.loci(&["edit", &ids[3], "--content", "Note 3 names drawer 21"]);
        assert!(edited.status.success(), "{edited:?}");
        wait_until("the page is written", || doctor(&home, &[]).0 == Some(0));
        assert_eq!(
            agent.recall("drawer of note 3").iter().filter(|text| text.contains("Note 3")).count(),
            1
        );
        home.loci(&["doctor", "--dismiss"]);
        assert_eq!(warnings(&home), "[]");
    }
}

#[test]
fn a_damaged_memory_is_recovered_from_the_newest_backup_that_has_it_whole() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let ids = store_notes(&mut agent, 5);
    assert!(home.loci(&["backup", "create"]).status.success());
    agent.store("semantic", "Stored after the backup");
    stop(&home);
    change_byte(&home, "Note 3 names", |byte| byte ^ 1);
    assert!(warnings(&home).contains(&ids[3]));
    let refused = home.loci(&["backup", "create"]);
    assert!(!refused.status.success(), "a damaged store is not backed up: {refused:?}");
    let recovered = home.loci(&["doctor", "--recover", "--yes"]);
    let said = String::from_utf8_lossy(&recovered.stdout).into_owned();
    assert!(recovered.status.success() && said.contains("no memory was lost"), "{recovered:?}");
    let (exported, _) = export(&home);
    assert!(exported.contains("Note 3 names drawer 21"), "{said}");
    assert!(exported.contains("Stored after the backup"), "{said}");
    assert_eq!(doctor(&home, &[]).0, Some(0));
    let again = home.loci(&["doctor", "--recover", "--yes"]);
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    assert!(said.contains("is whole"), "{said}");
}

#[test]
fn foreign_objects_in_the_schema_refuse_the_start_by_name() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, 3);
    stop(&home);
    let path = home.path(".loci/memory.db");
    let objects = [
        (
            "CREATE TRIGGER evil AFTER INSERT ON memories BEGIN DELETE FROM memories; END",
            "trigger evil",
            "DROP TRIGGER evil",
        ),
        ("CREATE VIEW looker AS SELECT content FROM memories", "view looker", "DROP VIEW looker"),
        ("CREATE TABLE extra(a)", "table extra", "DROP TABLE extra"),
        ("CREATE INDEX slow ON memories(content)", "index slow", "DROP INDEX slow"),
        (
            "DROP TRIGGER memories_fts_insert; CREATE TRIGGER memories_fts_insert AFTER INSERT ON memories BEGIN UPDATE memories SET content = 'owned'; END",
            "trigger memories_fts_insert (altered)",
            "DROP TRIGGER memories_fts_insert",
        ),
    ];
    for (create, name, remove) in objects {
        execute(&home, create);
        let before = fs::read(&path).expect("the database is readable");
        let mut daemon = home.command_at("timeout".as_ref());
        daemon.arg("20").arg(crate::home::binaries().join("locid"));
        let output = daemon.output_in_time().expect("the daemon runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(78), "{name}: {said}");
        assert!(said.contains(name), "{name}: {said}");
        assert!(fs::read(&path).expect("the database is readable") == before, "{name}: untouched");
        execute(&home, remove);
    }
    // The trigger of loci itself is missing now.
    assert!(warnings(&home).contains("memories_fts_insert"), "{}", warnings(&home));
    assert_eq!(agent.recall("drawer").len(), 3);
    agent.store("semantic", "The trigger works again");
    assert_eq!(agent.recall("trigger works").len(), 1);
}

#[test]
fn what_is_derived_from_the_memories_is_built_again() {
    let losses = [
        ("DROP TABLE memories_fts", "The keyword index"),
        ("DROP TABLE memories_fts_config", "The keyword index"),
        ("DROP TABLE memories_fts_data", "The keyword index"),
        ("DROP TABLE memories_vec_chunks", "The table of vectors"),
        ("DROP TABLE word_codes", "The table of word codes"),
        ("DROP TABLE vector_sets", "The table of vector sets"),
        ("DROP TABLE mentions", "The table of mentions"),
        ("DROP INDEX idx_memories_hash", "The index idx_memories_hash"),
    ];
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, 4);
    agent.store_with(json!({"content": "Heron", "type": "entity", "metadata": {"name": "Heron"}}));
    let naming = agent.store("semantic", "The server Heron is in the cellar");
    for (loss, name) in losses {
        stop(&home);
        // Shadow tables can be dropped only while the schema is writable.
        let without_virtual_table = format!("PRAGMA writable_schema = ON; {loss}");
        execute(&home, &without_virtual_table);
        let said = warnings(&home);
        assert!(said.contains(name) && said.contains("built again"), "{loss}: {said}");
        assert_eq!(
            agent.recall("drawer of note 2").first().map(String::as_str),
            Some("Note 2 names drawer 14")
        );
        agent.store("semantic", &format!("Stored after {loss}"));
        wait_until("doctor finds nothing", || doctor(&home, &["--fix"]).0 == Some(0));
        let entity =
            agent.call("memory_inspect", json!({"memory_id": naming})).expect("it answers");
        assert_eq!(entity["mentions"].as_array().map(Vec::len), Some(1), "{loss}: {entity}");
        home.loci(&["doctor", "--dismiss"]);
    }
}

#[test]
fn vectors_of_another_dimension_are_computed_again() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("semantic", ["The kettle is on the stove", "The train leaves at noon"]);
    wait_until("the vectors are stored", || doctor(&home, &[]).0 == Some(0));
    stop(&home);
    connection_with_vec(&home)
        .execute_batch(
            "DROP TABLE memories_vec;
             CREATE VIRTUAL TABLE memories_vec USING vec0(embedding float[768] distance_metric=cosine, chunk_size=64);",
        )
        .expect("the table is replaced");
    let said = warnings(&home);
    assert!(said.contains("The table of vectors") && said.contains("encoded again"), "{said}");
    assert_eq!(
        agent.recall("kettle").first().map(String::as_str),
        Some("The kettle is on the stove")
    );
    let without_vector = || {
        let output = home.loci(&["stats", "--json"]);
        serde_json::from_slice::<Value>(&output.stdout).ok()?["without_vector"].as_u64()
    };
    wait_until("the memories are encoded", || without_vector() == Some(0));
    assert_eq!(
        agent.recall("something to boil water").first().map(String::as_str),
        Some("The kettle is on the stove")
    );
}

/// The engine registers `vec0` for every connection of the process that opens a store.
fn connection_with_vec(home: &TestHome) -> Connection {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = loci_engine::Settings::for_model("m");
    let other = folder.path().join("other.db");
    let now = loci_engine::model::time::Timestamp(0);
    drop(loci_engine::open(&other, settings, now).expect("a store opens"));
    Connection::open(home.path(".loci/memory.db")).expect("the database opens")
}

#[test]
fn damage_that_is_found_while_it_runs_is_kept_until_a_check_finds_none() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, 30);
    stop(&home);
    execute(
        &home,
        "INSERT INTO memories_fts(memories_fts, rowid, content) SELECT 'delete', seq, content FROM memories WHERE seq = 7",
    );
    let (code, faults) = doctor(&home, &[]);
    assert_eq!(code, Some(1));
    assert!(faults.contains("the keyword index differs from the texts"), "{faults}");
    assert!(warnings(&home).contains("The database is damaged"));
    let recalled = agent.call("recall_memory", json!({"query": "drawer"})).expect("it answers");
    assert!(recalled["notice"].as_str().is_some_and(|text| text.contains("damaged")), "{recalled}");
    assert!(home.loci(&["ctl", "restart"]).status.success());
    assert!(warnings(&home).contains("The database is damaged"), "a clean stop keeps the mark");
    let fixed = home.loci(&["doctor", "--fix"]);
    let text = String::from_utf8_lossy(&fixed.stdout).into_owned();
    assert!(text.contains("the keyword index was built again"), "{text}");
    assert_eq!(doctor(&home, &[]).0, Some(0));
    home.loci(&["doctor", "--dismiss"]);
    assert_eq!(warnings(&home), "[]");
    assert!(home.status()["last_full_check"].is_string());
}

#[test]
fn an_unclean_stop_is_followed_by_a_check_of_indexes_too() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let ids = store_notes(&mut agent, 12);
    stop(&home);
    // One digit of the id in the row; the index of ids has the other.
    change_byte(&home, &ids[5], |byte| if byte == b'a' { b'b' } else { b'a' });
    agent.store("semantic", "Written after the damage");
    kill_daemon(&home);
    let said = warnings(&home);
    assert!(said.contains("damaged"), "{said}");
    let (_, faults) = doctor(&home, &[]);
    assert!(faults.contains("index"), "{faults}");
    let served = agent.call("recall_memory", json!({"ids": ids})).expect("it answers");
    assert_eq!(served["missing"], json!([ids[5]]), "{served}");
}
