//! Migrates any earlier schema to the current one: forward only, each step in one transaction with
//! its version number.
//!
//! A migration is only SQL text, so later changes of the code cannot change its effect. Not here:
//! the backup before the first step (`handles::open`).

use crate::db::{health, memories};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::model::time::Timestamp;
use loci_proto::error::{Code, Failure};
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// Every step in order; step `n` leads to schema `n + 1`.
const STEPS: &[&str] = &[
    include_str!("migrations/0001_initial.sql"),
    include_str!("migrations/0002_lifecycle.sql"),
    include_str!("migrations/0003_word_codes.sql"),
    include_str!("migrations/0004_known_answers.sql"),
    include_str!("migrations/0005_small_chunks.sql"),
    include_str!("migrations/0006_provenance.sql"),
    include_str!("migrations/0007_vector_sets.sql"),
    include_str!("migrations/0008_title_codes.sql"),
    include_str!("migrations/0009_isolated_groups.sql"),
    include_str!("migrations/0010_identity.sql"),
    include_str!("migrations/0011_hook_deliveries.sql"),
    include_str!("migrations/0012_folder_switches.sql"),
    include_str!("migrations/0013_candidates.sql"),
    include_str!("migrations/0014_bridge.sql"),
    include_str!("migrations/0015_time_travel.sql"),
    include_str!("migrations/0016_importance.sql"),
    include_str!("migrations/0017_wishes.sql"),
];

/// The schema version of this build.
pub(crate) const SCHEMA: i64 = 17;

/// The step that adds the table of mentions.
const STEP_TO_MENTIONS: i64 = 1;
/// The step from which on the journal has every change.
const STEP_TO_HISTORY: i64 = 14;

/// `LOCI` in ASCII: distinguishes our files from SQLite databases of other programs.
pub(crate) const APPLICATION_ID: u32 = 0x4C4F_4349;

/// Refuses a file that this build must not change.
///
/// # Errors
/// `NewerDatabase`, `NotOurs`, or `Database`; the file is then unchanged.
pub(crate) fn check(conn: &Connection, path: &Path) -> Result<()> {
    let found = version(conn)?;
    let id: u32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let not_ours = |reason: String| Err(Error::NotOurs { path: path.to_path_buf(), reason });
    match (id, found) {
        (APPLICATION_ID, found) if found > SCHEMA => {
            Err(Error::NewerDatabase { path: path.to_path_buf(), found, known: SCHEMA })
        }
        (APPLICATION_ID, 1..) => Ok(()),
        (0, 0) if tables == 0 => Ok(()),
        (0 | APPLICATION_ID, _) => not_ours("it contains tables of another program".to_owned()),
        (other, _) => not_ours(format!("its application id is {other:#x}")),
    }
}

/// Returns the schema version of a file, 0 for a new one.
pub(crate) fn version(conn: &Connection) -> Result<i64> {
    Ok(conn.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Refuses a database that must be migrated before this build can read it.
///
/// # Errors
/// `Refused`, `Database`.
pub(crate) fn require_current(conn: &Connection) -> Result<()> {
    let found = version(conn)?;
    if found == SCHEMA {
        return Ok(());
    }
    let message = format!("the database has schema {found} and must be migrated to {SCHEMA}");
    Err(Failure::new(Code::StorageFailed, message)
        .hint("Make its disk writable and free some space; loci then migrates it")
        .into())
}

/// Migrates a checked database to [`SCHEMA`]; returns its previous version, 0 for a new file.
///
/// # Errors
/// `Database`; the file then has the version of the last completed step.
pub(crate) fn run(conn: &mut Connection, now: Timestamp) -> Result<i64> {
    let previous = version(conn)?;
    if previous == 0 {
        // Takes effect only before the first table is created.
        conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;")?;
    }
    for step in previous..SCHEMA {
        apply(conn, step, now)?;
    }
    if (1..SCHEMA).contains(&previous) {
        // A step may have rewritten a table. On failure later rows reuse the free pages.
        let _ = health::release_free_pages(conn);
    }
    Ok(previous)
}

/// Returns whether the database has an older schema.
pub(crate) fn is_due(conn: &Connection) -> Result<bool> {
    Ok((1..SCHEMA).contains(&version(conn)?))
}

fn apply(conn: &mut Connection, step: i64, now: Timestamp) -> Result<()> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let sql = STEPS[usize::try_from(step).unwrap_or_default()];
    tx.execute_batch(sql)?;
    failpoint!("before the commit of a migration step");
    if step == 0 {
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        let uuid = uuid::Uuid::now_v7().to_string();
        for (key, value) in [("database_uuid", uuid), ("created_at", now.0.to_string())] {
            tx.execute("INSERT INTO meta(key, value) VALUES (?1, ?2)", (key, value))?;
        }
    }
    if step == STEP_TO_MENTIONS && memories::count(&tx)? > 0 {
        // In the same transaction: the next step may be interrupted.
        health::request_mention_backfill(&tx)?;
    }
    if step == STEP_TO_HISTORY {
        health::begin_history(&tx, now)?;
    }
    tx.pragma_update(None, "user_version", step + 1)?;
    tx.commit()?;
    failpoint!("after a migration step");
    Ok(())
}

/// Creates a database of the first schema with two memories, as the first version of loci left it.
#[cfg(test)]
pub(crate) fn create_first(path: &Path) -> Result<()> {
    crate::db::connection::configure_sqlite();
    let mut conn = Connection::open(path)?;
    conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;")?;
    apply(&mut conn, 0, Timestamp(0))?;
    crate::db::dump::fill_first_schema(&conn)
}

/// Takes the steps after schema 6 back, as if an earlier version of loci had left the database.
#[cfg(test)]
pub(crate) fn take_back_to_schema_6(conn: &Connection) -> Result<()> {
    let earlier = crate::db::expected_schema::of(6);
    let codes = &earlier["word_codes"].sql;
    conn.execute_batch(&format!(
        "DROP INDEX idx_journal_created; DROP TABLE bridge_clients; DROP TABLE bridge_projects; DROP TABLE bridge_statements; DROP TABLE bridge_versions;
         DROP TABLE bridge_texts; DROP TABLE bridge_files;
         DROP TABLE hook_memories; DROP TABLE hook_events; DROP TABLE folders; DROP TABLE folder_switches; DROP TABLE group_switches; DROP TABLE incognito_sessions;
         DROP TABLE wishes; DROP TABLE isolated_groups; DROP TABLE kept_pairs; DROP TABLE vector_sets; ALTER TABLE word_codes RENAME TO codes; {codes};
         INSERT INTO word_codes SELECT memory, model, codes FROM codes; DROP TABLE codes;"
    ))?;
    take_back_memories(conn, &earlier)?;
    Ok(conn.pragma_update(None, "user_version", 6)?)
}

/// Writes the memories into the table of an earlier schema. A column that a step has moved cannot be moved back.
#[cfg(test)]
fn take_back_memories(
    conn: &Connection,
    earlier: &crate::db::expected_schema::Objects,
) -> Result<()> {
    // A comment in the statement ends its line, which the single spaces of the list do not show.
    let table = earlier["memories"].sql.replace("disk has changed. ", "disk has changed.\n");
    let table = table.replace("(engine::decay). ", "(engine::decay).\n");
    conn.execute_batch(&format!(
        "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; ALTER TABLE memories RENAME TO later; {table};"
    ))?;
    let columns: String = conn.query_row(
        "SELECT group_concat(name) FROM pragma_table_info('memories')",
        [],
        |row| row.get(0),
    )?;
    conn.execute_batch(&format!(
        "INSERT INTO memories({columns}) SELECT {columns} FROM later; DROP TABLE later;"
    ))?;
    let is_of_memories =
        |sql: &str| [" ON memories(", " ON memories "].iter().any(|on| sql.contains(on));
    for object in earlier.values().filter(|object| is_of_memories(&object.sql)) {
        conn.execute_batch(&object.sql)?;
    }
    Ok(conn.execute_batch("PRAGMA legacy_alter_table = OFF; PRAGMA foreign_keys = ON;")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::expected_schema::Objects;
    use crate::db::{connection, schema_check};

    fn open(path: &Path) -> Result<Connection> {
        new_file(path);
        let mut conn = connection::writer(path, None)?;
        check(&conn, path)?;
        connection::make_durable(&conn)?;
        run(&mut conn, Timestamp(0))?;
        Ok(conn)
    }

    /// Creates an empty file if there is none.
    fn new_file(path: &Path) {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        drop(file.expect("the file is created"));
    }

    #[test]
    fn every_step_has_its_number() {
        assert_eq!(i64::try_from(STEPS.len()), Ok(SCHEMA));
    }

    /// To write the file again, copy the text of the failure into it.
    #[test]
    fn the_expected_schema_is_what_the_migrations_create() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let path = folder.path().join("memory.db");
        new_file(&path);
        let mut conn = connection::writer(&path, None).expect("the file is created");
        conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;").expect("the mode is set");
        let (mut text, mut before) = (String::new(), Objects::new());
        for step in 0..SCHEMA {
            apply(&mut conn, step, Timestamp(0)).expect("the step is applied");
            text += &schema_check::expected_lines(&conn, &mut before, step + 1);
            let parts = schema_check::check(&conn, &path, step + 1);
            assert!(
                parts.is_ok_and(|parts| parts.is_empty()),
                "expected_schema.txt must be\n{text}"
            );
        }
        assert_eq!(include_str!("expected_schema.txt"), text);
    }

    #[test]
    fn a_new_file_gets_the_schema_and_keeps_it() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let path = folder.path().join("memory.db");
        drop(open(&path).expect("the database is created"));
        let conn = open(&path).expect("the database opens again");
        assert_eq!(version(&conn).expect("the version is readable"), SCHEMA);
        let auto_vacuum: i64 = conn
            .pragma_query_value(None, "auto_vacuum", |row| row.get(0))
            .expect("the pragma is readable");
        assert_eq!(auto_vacuum, 2, "2 is incremental");
    }

    #[test]
    fn the_migration_to_small_chunks_keeps_vectors_bit_by_bit() {
        let folder = tempfile::tempdir().expect("the folder is created");
        new_file(&folder.path().join("memory.db"));
        let mut conn = connection::writer(&folder.path().join("memory.db"), None)
            .expect("the file is created");
        conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;").expect("the mode is set");
        (0..4).for_each(|step| apply(&mut conn, step, Timestamp(0)).expect("the step is applied"));
        // Row numbers with gaps, as deletions leave them.
        let vector_bytes = |id: i64| {
            (0..384).flat_map(|i| ((id * 384 + i) as f32).sin().to_le_bytes()).collect::<Vec<u8>>()
        };
        let ids: Vec<i64> = (1..=150).filter(|id| id % 7 != 0).map(|id| id * 3).collect();
        for id in &ids {
            conn.execute(
                "INSERT INTO memories_vec(rowid, embedding) VALUES (?1, ?2)",
                (id, vector_bytes(*id)),
            )
            .expect("the vector is stored");
        }
        run(&mut conn, Timestamp(0)).expect("the database is migrated");
        let stored_vector = |id: i64| {
            conn.query_row("SELECT embedding FROM memories_vec WHERE rowid = ?1", [id], |row| {
                row.get::<_, Vec<u8>>(0)
            })
        };
        assert!(
            ids.iter().all(|id| stored_vector(*id).expect("the row exists") == vector_bytes(*id))
        );
        let count = |sql: &str| {
            conn.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("the rows are counted")
        };
        let stored = i64::try_from(ids.len()).expect("the count fits");
        assert_eq!(count("SELECT count(*) FROM memories_vec"), stored);
        assert_eq!(count("SELECT count(*) FROM memories_vec_chunks"), (stored + 63) / 64);
        assert_eq!(
            count("SELECT count(*) FROM sqlite_schema WHERE name = 'vectors_before'"),
            0,
            "the temporary table is dropped"
        );
        assert_eq!(crate::db::dump::free_pages(&conn), 0, "free pages are released");
    }

    #[test]
    fn the_migration_to_provenance_gives_old_rows_what_their_log_knows() {
        let folder = tempfile::tempdir().expect("the folder is created");
        new_file(&folder.path().join("memory.db"));
        let mut conn = connection::writer(&folder.path().join("memory.db"), None)
            .expect("the file is created");
        conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;").expect("the mode is set");
        (0..5).for_each(|step| apply(&mut conn, step, Timestamp(0)).expect("the step is applied"));
        let log_lines = [
            ("agent", "create", Some("claude-code 2.0"), Some("s1")),
            ("agent", "merge", Some("codex 1"), Some("s2")),
            ("command", "create", Some("loci 0.1.0"), Some("s3")),
            ("summary", "create", Some("loci maintenance"), None),
            ("imported", "import", Some("loci 0.1.0"), Some("s4")),
            ("imported", "create", Some("claude-code 2.0"), Some("s5")),
        ];
        for id in ["agent", "command", "summary", "imported", "unlogged"] {
            let insert = "INSERT INTO memories(id, type, content, confidence_at, created_at, updated_at, content_hash)
                          VALUES (?1, 'semantic', 'x', 0, 0, 0, x'00')";
            conn.execute(insert, [id]).expect("the row is stored");
        }
        for line in log_lines {
            let insert = "INSERT INTO memory_log(memory_id, operation, client, session, created_at) VALUES (?1, ?2, ?3, ?4, 0)";
            conn.execute(insert, line).expect("the line is stored");
        }
        run(&mut conn, Timestamp(0)).expect("the database is migrated");
        let row = |id: &str| {
            let sql = "SELECT coalesce(origin, '-'), coalesce(client, '-'), coalesce(session, '-'), trust FROM memories WHERE id = ?1";
            let read = |row: &rusqlite::Row<'_>| {
                Ok([row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, row.get(3)?].join("|"))
            };
            conn.query_row(sql, [id], read).expect("the row is readable")
        };
        assert_eq!(row("agent"), "agent|claude-code 2.0|s1|agent");
        assert_eq!(row("command"), "-|loci 0.1.0|s3|agent", "a client chooses its own name");
        assert_eq!(row("summary"), "maintenance|loci maintenance|-|agent");
        assert_eq!(row("imported"), "import|loci 0.1.0|s4|agent");
        assert_eq!(row("unlogged"), "-|-|-|agent");
    }

    #[test]
    fn the_migration_to_vector_sets_keeps_codes_and_the_model_of_the_vectors() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let path = folder.path().join("memory.db");
        new_file(&path);
        let mut conn = connection::writer(&path, None).expect("the file is created");
        conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;").expect("the mode is set");
        (0..6).for_each(|step| apply(&mut conn, step, Timestamp(0)).expect("the step is applied"));
        for seq in 1..=3_i64 {
            conn.execute(
                "INSERT INTO memories(seq, id, type, content, confidence_at, created_at, updated_at, content_hash)
                 VALUES (?1, ?1, 'semantic', 'text', 0, 0, 0, x'00')",
                [seq],
            )
            .expect("the memory is stored");
            conn.execute(
                "INSERT INTO memory_pieces(memory, piece, model) VALUES (?1, 0, iif(?1 = 2, 'rare', 'usual'))",
                [seq],
            )
            .expect("the chunk is stored");
            conn.execute(
                "INSERT INTO word_codes(memory, model, codes) VALUES (?1, 'usual', ?2)",
                (seq, vec![7_u8; 48]),
            )
            .expect("the codes are stored");
        }
        run(&mut conn, Timestamp(0)).expect("the database is migrated");
        let rows = |sql: &str| -> Vec<String> {
            let mut statement = conn.prepare(sql).expect("the statement is valid");
            let rows = statement.query_map([], |row| row.get(0)).expect("the rows are read");
            rows.collect::<Result<_, _>>().expect("the rows are read")
        };
        assert_eq!(
            rows("SELECT name || ' ' || model || ' ' || state FROM vector_sets ORDER BY name"),
            ["rare rare retired", "usual usual active"]
        );
        assert_eq!(
            rows("SELECT memory || ' ' || model || ' ' || length(codes) FROM word_codes"),
            ["1 usual 48", "2 usual 48", "3 usual 48"]
        );
        conn.execute("DELETE FROM memories WHERE seq = 1", []).expect("the memory is deleted");
        assert_eq!(rows("SELECT memory || '' FROM word_codes"), ["2", "3"], "as its codes are");
    }

    #[test]
    fn the_migration_to_title_codes_drops_the_codes_of_titled_texts_only() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let path = folder.path().join("memory.db");
        new_file(&path);
        let mut conn = connection::writer(&path, None).expect("the file is created");
        conn.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM;").expect("the mode is set");
        (0..7).for_each(|step| apply(&mut conn, step, Timestamp(0)).expect("the step is applied"));
        let texts = [
            "Deploy Heron: merge to main",
            "Anna: did you see it?",
            "Anna: never mind",
            "Anna: I found it",
            "No title here",
            "[2024-05-01 10:00] Deploy: done",
        ];
        for (seq, text) in (1_i64..).zip(texts) {
            conn.execute(
                "INSERT INTO memories(seq, id, type, content, confidence_at, created_at, updated_at, content_hash)
                 VALUES (?1, ?1, 'semantic', ?2, 0, 0, 0, x'00')",
                (seq, text),
            )
            .expect("the memory is stored");
            conn.execute(
                "INSERT INTO word_codes(memory, model, codes) VALUES (?1, 'usual', x'00')",
                [seq],
            )
            .expect("the codes are stored");
        }
        run(&mut conn, Timestamp(0)).expect("the database is migrated");
        let mut kept = conn.prepare("SELECT memory FROM word_codes ORDER BY memory").expect("SQL");
        let kept = kept.query_map([], |row| row.get(0)).expect("the rows are read");
        assert_eq!(
            kept.collect::<Result<Vec<i64>, _>>().expect("the rows are read"),
            [2, 3, 4, 5, 6]
        );
    }

    #[test]
    fn a_newer_foreign_or_garbage_file_is_refused_unchanged() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let newer = folder.path().join("newer.db");
        open(&newer)
            .expect("the database is created")
            .pragma_update(None, "user_version", 99)
            .expect("the version is set");
        let foreign = folder.path().join("foreign.db");
        Connection::open(&foreign)
            .expect("the database is created")
            .execute_batch("CREATE TABLE bookmarks(url)")
            .expect("the table is created");
        let garbage = folder.path().join("garbage.db");
        std::fs::write(
            &garbage,
            "this is a letter, not a database, and it is long enough to have a header of one hundred bytes or more in it",
        )
        .expect("the file is written");

        for (path, expected) in [
            (&newer, "newer loci"),
            (&foreign, "not a loci database"),
            (&garbage, "not a loci database"),
        ] {
            let before = std::fs::read(path).expect("the file is readable");
            let error = open(path).expect_err("the file is refused").to_string();
            assert!(error.contains(expected), "{error}");
            assert!(
                std::fs::read(path).expect("the file is readable") == before,
                "{} was changed",
                path.display()
            );
        }
    }
}
