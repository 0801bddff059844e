//! `loci import --from history --client opencode`: sessions in a database and in files, as `OpenCode` itself writes them.

use crate::home::TestHome;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The rows that matter of a database that `OpenCode` 1.18.33 has written.
const ROWS: &str = include_str!("../data/history/opencode/rows.json");
/// The columns that are read, and some of the others.
const TABLES: &str = "
    CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,
        title text NOT NULL, version text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
        data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
        time_updated integer NOT NULL, data text NOT NULL);
    CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
    CREATE INDEX part_message_id_id_idx ON part (message_id, id);";
const PREVIEW: [&str; 5] = ["import", "--from", "history", "--dry-run", "--json"];

/// Returns the rows with the folder of a project.
fn rows(folder: &Path) -> Value {
    let folder = folder.canonicalize().expect("the folder exists");
    serde_json::from_str(&ROWS.replace("PROJECT", &folder.display().to_string())).expect("JSON")
}

fn data_folder(home: &TestHome) -> PathBuf {
    let folder = home.path(".local/share/opencode");
    fs::create_dir_all(&folder).expect("the folder is created");
    folder
}

/// Creates an empty database, which is written through a log as that of `OpenCode`.
fn database(home: &TestHome) -> Connection {
    let conn =
        Connection::open(data_folder(home).join("opencode.db")).expect("the database is created");
    conn.pragma_update(None, "journal_mode", "WAL").expect("the mode is set");
    conn.execute_batch(TABLES).expect("the tables are created");
    conn
}

fn insert(conn: &Connection, rows: &Value) {
    let text = |row: &Value, name: &str| row[name].as_str().map(str::to_owned);
    for row in rows["session"].as_array().into_iter().flatten() {
        let (id, parent, folder) =
            (text(row, "id"), text(row, "parent_id"), text(row, "directory"));
        let (created, updated) = (row["time_created"].as_i64(), row["time_updated"].as_i64());
        let sql = "INSERT INTO session VALUES (?1, 'global', ?2, '', ?3, '', '1.18.33', ?4, ?5)";
        conn.execute(sql, params![id, parent, folder, created, updated]).expect("a row");
    }
    for row in rows["message"].as_array().into_iter().flatten() {
        let values = (text(row, "id"), text(row, "session_id"), row["time_created"].as_i64());
        let sql = "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        conn.execute(sql, params![values.0, values.1, values.2, row["data"].to_string()])
            .expect("a row");
    }
    for row in rows["part"].as_array().into_iter().flatten() {
        let (id, message, session) =
            (text(row, "id"), text(row, "message_id"), text(row, "session_id"));
        let sql = "INSERT INTO part VALUES (?1, ?2, ?3, 1, 1, ?4)";
        conn.execute(sql, params![id, message, session, row["data"].to_string()]).expect("a row");
    }
}

/// A session of single texts of the user, in a folder.
fn session(id: &str, folder: &Path, texts: &[&str]) -> Value {
    let at = 1_791_277_207_947_i64;
    let message = format!("msg_{id}");
    let part = |(number, text): (usize, &&str)| {
        json!({
            "id": format!("prt_{id}_{number}"), "message_id": message, "session_id": id, "data": {"type": "text", "text": text},
        })
    };
    json!({
        "session": [{"id": id, "directory": folder, "time_created": at, "time_updated": at}],
        "message": [{"id": message, "session_id": id, "time_created": at, "data": {"role": "user"}}],
        "part": texts.iter().enumerate().map(part).collect::<Vec<_>>(),
    })
}

/// Writes the rows as the files of versions before 1.2.
fn write_files(home: &TestHome, rows: &Value) {
    let storage = data_folder(home).join("storage");
    let write = |path: String, row: &Value, names: [(&str, &str); 2]| {
        let mut data = row["data"].clone();
        for (name, column) in names {
            data[name] = row[column].clone();
        }
        let path = storage.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is created");
        fs::write(path, format!("{data:#}")).expect("the file is written");
    };
    let text = |row: &Value, name: &str| row[name].as_str().expect("a text").to_owned();
    for row in rows["session"].as_array().into_iter().flatten() {
        let names = [("directory", "directory"), ("parentID", "parent_id")];
        let mut row = row.clone();
        row["data"] =
            json!({"time": {"created": row["time_created"], "updated": row["time_updated"]}});
        write(format!("session/global/{}.json", text(&row, "id")), &row, names);
    }
    for row in rows["message"].as_array().into_iter().flatten() {
        let path = format!("message/{}/{}.json", text(row, "session_id"), text(row, "id"));
        write(path, row, [("id", "id"), ("sessionID", "session_id")]);
    }
    for row in rows["part"].as_array().into_iter().flatten() {
        let path = format!("part/{}/{}.json", text(row, "message_id"), text(row, "id"));
        write(path, row, [("id", "id"), ("messageID", "message_id")]);
    }
}

fn run(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

fn found(preview: &Value) -> Vec<(String, String)> {
    let text = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let items = preview["memories"].as_array().into_iter().flatten();
    items.map(|item| (text(&item["metadata"], "kind"), text(item, "content"))).collect()
}

/// What the session teaches.
fn expected() -> Vec<(String, String)> {
    [
        ("command", "Run the tests: `./scripts/test.sh`"),
        ("decision", "We decided to keep prices in cents because rounding lost money."),
        (
            "fix",
            "`./scripts/test.sh` failed with: Error: Cannot find module 'heron-client'\nMended by running `cp package.json node_modules`.",
        ),
        ("preference", "Always use pnpm, never npm."),
    ]
    .map(|(kind, text)| (kind.to_owned(), text.to_owned()))
    .to_vec()
}

/// Returns the names of the files of the database, and the bytes of all but the index of the log.
fn bytes(home: &TestHome) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(data_folder(home)).expect("the folder is readable");
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.expect("the entry is readable").path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let bytes = fs::read(&path).expect("the file is readable");
            let bytes = if name.ends_with("-shm") { Vec::new() } else { bytes };
            (name, bytes)
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_session_in_the_database_teaches_once_and_the_database_stays_as_it_is() {
    let home = TestHome::without_model();
    insert(&database(&home), &rows(&home.path("project")));
    let before = bytes(&home);
    assert_eq!(before.len(), 1, "the log is gone");
    let preview = run(&home, &PREVIEW);
    assert_eq!(found(&preview), expected());
    assert_eq!(preview["left_out_more"], json!({}));
    let history = &preview["memories"][1]["metadata"]["history"];
    assert_eq!(history["client"], "opencode");
    assert_eq!(history["file"], "~/.local/share/opencode/opencode.db");
    assert_eq!(history["session"], "ses_de729716affe0HoVNnEobBInsN");
    assert_eq!(
        (&preview["memories"][1]["created_at"], &history["line"]),
        (&1_791_277_207_947_i64.into(), &8.into())
    );
    let import = ["import", "--from", "history", "--client", "opencode", "--yes", "--json"];
    assert_eq!(run(&home, &import)["import"]["added"], 4);
    let again = run(&home, &import);
    assert_eq!((&again["new"], &again["unchanged"]), (&0.into(), &4.into()));
    assert!(found(&run(&home, &[&PREVIEW[..], &["--since", "1h"]].concat())).is_empty());
    assert!(found(&run(&home, &[&PREVIEW[..], &["--client", "codex"]].concat())).is_empty());
    assert_eq!(bytes(&home), before);
}

#[test]
fn a_database_in_use_and_one_that_was_left_with_its_log_are_read_as_they_are() {
    let home = TestHome::without_model();
    let conn = database(&home);
    insert(&conn, &rows(&home.path("project")));
    let names: Vec<String> = bytes(&home).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["opencode.db", "opencode.db-shm", "opencode.db-wal"]);
    conn.execute_batch("BEGIN IMMEDIATE; DELETE FROM session").expect("a change has begun");
    let before = bytes(&home);
    assert_eq!(found(&run(&home, &PREVIEW)), expected(), "what is committed is read");
    assert_eq!(bytes(&home), before);
    conn.execute_batch("ROLLBACK").expect("the change is taken back");
    let copies = before.iter().filter(|(name, _)| !name.ends_with("-shm"));
    let copies: Vec<_> = copies.cloned().collect();
    drop(conn);
    for (name, bytes) in &copies {
        fs::write(data_folder(&home).join(name), bytes).expect("the file is written");
    }
    assert_eq!(bytes(&home), copies);
    assert_eq!(found(&run(&home, &PREVIEW)), expected(), "a log without its index is read");
    assert_eq!(bytes(&home), copies, "no index of the log is left behind");
}

#[test]
fn files_of_earlier_versions_are_read_and_a_session_in_both_is_taken_once() {
    let home = TestHome::without_model();
    let rows = rows(&home.path("project"));
    write_files(&home, &rows);
    let preview = run(&home, &PREVIEW);
    assert_eq!(found(&preview), expected());
    assert_eq!(preview["memories"][0]["metadata"]["history"]["count"], 3);
    let file = preview["memories"][1]["metadata"]["history"]["file"].as_str().unwrap_or_default();
    let session = "storage/session/global/ses_de729716affe0HoVNnEobBInsN.json";
    assert_eq!(file, format!("~/.local/share/opencode/{session}"));
    insert(&database(&home), &rows);
    let preview = run(&home, &PREVIEW);
    assert_eq!(found(&preview), expected());
    assert_eq!(preview["memories"][0]["metadata"]["history"]["count"], 3);
}

#[test]
fn a_folder_moved_by_its_variable_is_found() {
    let home = TestHome::without_model();
    insert(&database(&home), &rows(&home.path("project")));
    fs::create_dir_all(home.path("data")).expect("the folder is created");
    fs::rename(home.path(".local/share/opencode"), home.path("data/opencode")).expect("moved");
    assert!(found(&run(&home, &PREVIEW)).is_empty());
    let data = home.path("data");
    let home = home.with("XDG_DATA_HOME", data);
    assert_eq!(found(&run(&home, &PREVIEW)), expected());
}

#[test]
fn a_database_that_cannot_be_read_is_named_and_the_others_are_read() {
    let home = TestHome::without_model();
    let folder = data_folder(&home);
    fs::write(folder.join("opencode-beta.db"), "no database at all, but a text\n".repeat(99))
        .expect("the file is written");
    let other = Connection::open(folder.join("opencode-dev.db")).expect("the database opens");
    other.execute_batch("CREATE TABLE session (id text)").expect("the table is created");
    let old = Connection::open(folder.join("opencode-old.db")).expect("the database opens");
    old.execute_batch("CREATE TABLE session (id text); CREATE TABLE message (id text); CREATE TABLE part (id text)")
        .expect("the tables are created");
    insert(&database(&home), &rows(&home.path("project")));
    let preview = run(&home, &PREVIEW);
    assert_eq!(found(&preview), expected());
    assert_eq!(preview["left_out"].as_array().map(Vec::len), Some(3));
    let shown = home.loci(&["import", "--from", "history", "--dry-run"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "opencode-beta.db: cannot be read as an SQLite database: ",
        "opencode-dev.db: is not a database of OpenCode: it has no table message",
        "opencode-old.db: cannot be read completely: no such column: ",
    ] {
        let line = format!("~/.local/share/opencode/{line}");
        assert!(shown.contains(line.trim()), "{line}\n{shown}");
    }
}

#[test]
fn what_comes_before_a_damage_is_taken() {
    let home = TestHome::without_model();
    let conn = database(&home);
    insert(&conn, &rows(&home.path("project")));
    for number in 0..40 {
        let filler = "x".repeat(8000);
        let id = format!("ses_z{number:02}");
        insert(&conn, &session(&id, &home.path("project"), &[&filler]));
    }
    drop(conn);
    let path = data_folder(&home).join("opencode.db");
    let mut bytes = fs::read(&path).expect("the file is readable");
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0xa5);
    fs::write(&path, bytes).expect("the file is written");
    let preview = run(&home, &PREVIEW);
    assert_eq!(preview["left_out"].as_array().map(Vec::len), Some(1), "{preview}");
    let reason = preview["left_out"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("cannot be read completely: "), "{reason}");
    assert_eq!(found(&preview), expected(), "{preview}");
}

#[test]
fn a_session_belongs_to_its_folder_and_nothing_is_taken_of_a_project_that_is_off() {
    let home = TestHome::without_model();
    let repository = |name: &str| {
        let folder = home.path(name);
        fs::create_dir_all(folder.join(".git")).expect("the folder is created");
        fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").expect("it is written");
        folder
    };
    let (tide, kiln) = (repository("tide"), repository("kiln"));
    fs::write(kiln.join(".loci.toml"), "off = true\n").expect("the file is written");
    let conn = database(&home);
    insert(&conn, &session("ses_a", &tide, &["We decided to use Zig for the gateway."]));
    insert(&conn, &session("ses_b", &kiln, &["We decided to use Rust for the oven."]));
    let secret = "Always call the API with the token ghp_16C7e42F292c6912E7710c838347Ae178B4a.";
    insert(&conn, &session("ses_c", &tide, &[secret]));
    let preview = run(&home, &PREVIEW);
    let decision = ("decision".to_owned(), "We decided to use Zig for the gateway.".to_owned());
    assert_eq!(found(&preview), [decision]);
    assert_eq!(preview["memories"][0]["project"]["name"], "tide");
    assert_eq!(preview["left_out_more"], json!({"may hold a secret": 1}));
}

#[test]
fn texts_of_the_client_and_parts_that_cannot_be_read_are_left_out() {
    let home = TestHome::without_model();
    let conn = database(&home);
    let mut rows = session("ses_a", &home.path("project"), &["We decided to use Zig.", "", "", ""]);
    let own = "We agreed to rewrite everything in Rust.";
    rows["part"][1]["data"] = json!({"type": "text", "text": own, "synthetic": true});
    rows["part"][2]["data"] = json!({"type": "file", "url": "data:image/png;base64,", "text": own});
    rows["part"][3]["data"] =
        json!({"type": "text", "text": format!("{own}{}", "x".repeat(9 << 20))});
    let summary = json!({"id": "msg_b", "session_id": "ses_a", "time_created": 1_791_277_201_000_i64,
        "data": {"role": "assistant", "summary": true}});
    rows["message"].as_array_mut().expect("an array").push(summary);
    let part = json!({"id": "prt_b", "message_id": "msg_b", "session_id": "ses_a", "data": {"type": "text", "text": own}});
    rows["part"].as_array_mut().expect("an array").push(part);
    insert(&conn, &rows);
    conn.execute_batch(
        "INSERT INTO message VALUES ('msg_c', 'ses_a', 1791277202000, 1, '{not JSON')",
    )
    .expect("a row");
    let preview = run(&home, &PREVIEW);
    let decision = ("decision".to_owned(), "We decided to use Zig.".to_owned());
    assert_eq!(found(&preview), [decision], "{preview}");
    let left_out = &preview["left_out_more"]["lines that cannot be read"];
    assert_eq!(left_out, 2, "the long part and the broken message");
}
