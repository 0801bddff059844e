//! Databases of every released schema, written by their release: each is migrated, and nothing is
//! lost.

use crate::home::{TestHome, contents};
use crate::in_time::OutputInTime;
use crate::wire::wait_until;
use serde_json::json;
use std::io::Read;
use std::path::Path;

/// Written by loci 0.1.0 with schema 1: six memories of the group `shop`, one of them superseded,
/// one merged.
const SCHEMA_1: &[u8] = include_bytes!("../data/schema_1.db.gz");

pub fn unpack(packed: &[u8], to: &Path) {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("the data is gzip");
    std::fs::write(to, bytes).expect("the file is written");
}

/// Returns a home with the model and that database, in its group.
pub fn home_with_schema_1() -> TestHome {
    let home = TestHome::new().with("LOCI_GROUP", "shop");
    unpack(SCHEMA_1, &home.path(".loci/memory.db"));
    home
}

/// The same memories, written by the loci of schema 5, which has also hard-deleted a memory.
const SCHEMA_5: &[u8] = include_bytes!("../data/schema_5.db.gz");

/// The same, opened by the loci of schema 6, which has also stored a memory of a person and hard-deleted it.
const SCHEMA_6: &[u8] = include_bytes!("../data/schema_6.db.gz");

/// The same, opened by the loci of schema 7.
const SCHEMA_7: &[u8] = include_bytes!("../data/schema_7.db.gz");

/// The newest schema that has a database here.
const NEWEST: i64 = 7;

/// The frozen migrations from schema 1 on; each leads to the next schema. What a release of that schema stored is
/// added below. The migration to schema 5 needs the vector extension.
const MIGRATIONS: [&str; 3] = [
    include_str!("../../engine/src/db/migrations/0002_lifecycle.sql"),
    include_str!("../../engine/src/db/migrations/0003_word_codes.sql"),
    include_str!("../../engine/src/db/migrations/0004_known_answers.sql"),
];

/// Rows that only a later schema has.
const ROWS: [&str; 3] = [
    "INSERT INTO tombstones(id, created_at) VALUES ('01953a2b-7c1e-7000-8000-0123456789ab', 1770000000000);
     INSERT INTO clusters(key, kind, made_at) VALUES ('a', 'compact', 1770000000000);",
    "INSERT INTO word_codes(memory, model, codes) SELECT min(seq), 'all-MiniLM-L6-v2', zeroblob(96) FROM memories;",
    "INSERT INTO known_answers(query, memory, group_id) SELECT 'closing time', min(seq), 'shop' FROM memories;",
];

/// Writes the database of a schema.
pub fn write_schema(schema: i64, path: &Path) {
    match schema {
        5 => return unpack(SCHEMA_5, path),
        6 => return unpack(SCHEMA_6, path),
        7 => return unpack(SCHEMA_7, path),
        _ => unpack(SCHEMA_1, path),
    }
    let conn = rusqlite::Connection::open(path).expect("the database opens");
    for (migration, rows) in
        MIGRATIONS.iter().zip(ROWS).take(usize::try_from(schema - 1).unwrap_or(0))
    {
        conn.execute_batch(migration).expect("the migration runs");
        conn.execute_batch(rows).expect("the rows are stored");
    }
    conn.pragma_update(None, "user_version", schema).expect("the version is set");
}

/// Returns the schema of a database.
fn schema_of(path: &Path) -> i64 {
    let conn = rusqlite::Connection::open(path).expect("the database opens");
    conn.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("it has a version")
}

#[test]
fn every_schema_is_migrated_after_a_backup_while_agents_call() {
    for schema in 1..=NEWEST {
        let home = TestHome::without_model().with("LOCI_GROUP", "shop");
        // A session that began before the update goes on after it.
        let mut before = home.session();
        before.call("memory_stats", json!({})).expect("the call succeeds");
        assert!(home.loci(&["ctl", "stop"]).status.success());
        let database = home.path(".loci/memory.db");
        for suffix in ["-identity", "-sums"] {
            std::fs::remove_file(home.path(&format!(".loci/memory.db{suffix}")))
                .expect("is removed");
        }
        write_schema(schema, &database);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let found = before.recall("closing time of the shop");
                assert!(found.contains(&"The shop closes at eight in the evening".to_owned()));
            });
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut agent = home.session();
                    let found = agent.recall("closing time of the shop");
                    assert!(found.contains(&"The shop closes at eight in the evening".to_owned()));
                });
            }
        });
        let stats = home.loci(&["stats", "--json"]);
        let stats: serde_json::Value = serde_json::from_slice(&stats.stdout).expect("valid JSON");
        assert_eq!(stats["total_memories"], 6, "schema {schema}");
        let doctor = home.loci(&["doctor"]);
        assert!(doctor.status.success(), "{}", String::from_utf8_lossy(&doctor.stdout));
        let list = home.loci(&["backup", "list", "--json"]);
        let list: serde_json::Value = serde_json::from_slice(&list.stdout).expect("valid JSON");
        let current = schema_of(&database);
        assert!(current >= NEWEST, "the database has schema {current}");
        if schema == current {
            assert_eq!(list["backups"].as_array().map(Vec::len), Some(0), "{list}");
            continue;
        }
        let backup = &list["backups"][0];
        assert_eq!(
            (&backup["reason"], &backup["schema"], &backup["memories"]),
            (&json!("migration"), &json!(schema), &json!(6)),
            "{list}"
        );
        assert_eq!(list["backups"].as_array().map(Vec::len), Some(1), "{list}");
    }
}

#[test]
fn a_damaged_database_of_an_older_schema_is_recovered_and_migrated() {
    for schema in [1, 3, 5] {
        let home = TestHome::without_model().with("LOCI_GROUP", "shop");
        let path = home.path(".loci/memory.db");
        write_schema(schema, &path);
        let conn = rusqlite::Connection::open(&path).expect("the database opens");
        let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'idempotency'";
        let page: u32 = conn.query_row(root, [], |row| row.get(0)).expect("the table exists");
        drop(conn);
        let mut bytes = std::fs::read(&path).expect("the database is readable");
        let page = usize::try_from(page).expect("it is small") * 4096;
        bytes[page - 4096..page].fill(0x5a);
        std::fs::write(&path, &bytes).expect("the database is damaged");
        let daemon = home.command("locid").output_in_time().expect("locid runs");
        assert!(!daemon.status.success(), "{daemon:?}");
        let said = String::from_utf8_lossy(&daemon.stderr).into_owned();
        assert!(said.contains("loci doctor --recover"), "{said}");
        assert!(std::fs::read(&path).expect("is readable") == bytes, "nothing was changed");
        let recovered = home.loci(&["doctor", "--recover", "--yes", "--json"]);
        let said = String::from_utf8_lossy(&recovered.stdout).into_owned();
        let reply: serde_json::Value = serde_json::from_str(&said).expect("valid JSON");
        assert_eq!(reply["memories"], 6, "schema {schema}: {reply}");
        let found = home.session().recall("closing time of the shop");
        assert!(found.contains(&"The shop closes at eight in the evening".to_owned()));
    }
}

#[test]
fn a_newer_database_is_refused_unchanged_and_names_the_backup_to_restore() {
    let home = TestHome::without_model().with("LOCI_GROUP", "shop");
    let path = home.path(".loci/memory.db");
    write_schema(4, &path);
    assert!(home.loci(&["stats"]).status.success());
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let conn = rusqlite::Connection::open(&path).expect("the database opens");
    conn.pragma_update(None, "user_version", 99).expect("the version is set");
    drop(conn);
    let before = std::fs::read(&path).expect("the database is readable");
    let daemon = home.command("locid").output_in_time().expect("locid runs");
    assert_eq!(daemon.status.code(), Some(78), "{daemon:?}");
    let said = String::from_utf8_lossy(&daemon.stderr).into_owned();
    let list = home.loci(&["backup", "list", "--json"]);
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).expect("valid JSON");
    let id = list["backups"][0]["id"].as_str().expect("an id");
    assert!(said.contains(&format!("loci backup restore {id}")), "{said}");
    assert!(std::fs::read(&path).expect("the database is readable") == before, "it was changed");
    let restored = home.loci(&["backup", "restore", id, "--yes", "--json"]);
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    let stats = home.loci(&["stats", "--json"]);
    let stats: serde_json::Value = serde_json::from_slice(&stats.stdout).expect("valid JSON");
    assert_eq!(stats["total_memories"], 6);
}

#[test]
fn a_database_of_schema_1_is_migrated_without_loss() {
    let home = home_with_schema_1();
    let mut agent = home.session();
    let stats = agent.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!(
        (&stats["total_memories"], &stats["active_memories"], &stats["without_vector"]),
        (&json!(6), &json!(5), &json!(0))
    );
    assert_eq!(agent.recall("closing time")[0], "The shop closes at eight in the evening");
    // Its sign codes are computed in the background; from then on results are ranked by late interaction.
    wait_until("the sign codes are computed", || {
        let query = json!({"query": "closing time", "explain": true});
        let reply = agent.call("recall_memory", query).expect("the call succeeds");
        reply["explain"]["ranking"] == "soft"
    });
    let found = agent
        .call("recall_memory", json!({"query": "AK", "type": "entity"}))
        .expect("the call succeeds");
    assert_eq!(
        contents(&found),
        ["Anna Kowalska runs the shop"],
        "the names of the entity are searched"
    );
    let id = &found["results"][0]["id"];
    let shown = agent
        .call("memory_inspect", json!({"memory_id": id, "include_log": true}))
        .expect("the call succeeds");
    assert_eq!(shown["log"][0]["operation"], "create");
    assert_eq!(
        shown["mentioned_in"].as_array().map(Vec::len),
        Some(1),
        "mentions are found in memories of the old schema"
    );
    agent.call("forget_memory", json!({"memory_id": id})).expect("the call succeeds");
    agent.call("restore_memory", json!({"memory_id": id})).expect("the call succeeds");
}
