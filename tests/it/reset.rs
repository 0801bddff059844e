//! `loci reset`, and backups that still hold a hard-deleted memory.

use crate::home::TestHome;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_reset_asks_backs_up_and_leaves_the_sessions_working() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "The zebra crossing is closed");
    let unconfirmed = home.loci(&["reset"]);
    assert_eq!(unconfirmed.status.code(), Some(2), "without a terminal nobody can confirm");
    assert!(String::from_utf8_lossy(&unconfirmed.stderr).contains("Add --yes"), "{unconfirmed:?}");
    assert_eq!(agent.recall("zebra").len(), 1);
    let pid = home.status()["pid"].clone();
    let done = home.loci(&["reset", "--yes", "--json"]);
    let reply: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"));
    assert_eq!(reply["memories"], 1);
    let backup = std::path::PathBuf::from(reply["backup"].as_str().expect("a JSON string"));
    assert!(backup.starts_with(home.path(".loci/backups")));
    assert_eq!(backup.metadata().expect("the file exists").permissions().mode() & 0o777, 0o600);
    let kept: i64 = rusqlite::Connection::open(&backup)
        .and_then(|conn| {
            conn.query_row(
                "SELECT count(*) FROM memories WHERE content LIKE '%zebra%'",
                [],
                |row| row.get(0),
            )
        })
        .expect("the backup is a database");
    assert_eq!(kept, 1);
    assert!(agent.recall("zebra").is_empty());
    agent.store("semantic", "The zebra crossing is open again");
    assert_eq!(agent.recall("zebra"), ["The zebra crossing is open again"]);
    assert_eq!(home.status()["pid"], pid, "the daemon was not restarted");
    for file in ["memory.db", "memory.db-wal"] {
        let bytes = std::fs::read(home.path(".loci").join(file)).unwrap_or_default();
        assert!(
            !bytes.windows(9).any(|part| part == b"is closed"),
            "{file} contains the deleted text"
        );
    }
}

#[test]
fn a_reset_is_confirmed_only_by_the_typed_number_of_memories() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "The zebra crossing is closed");
    for typed in ["", "y", "yes", "reset", "2", "11"] {
        let (code, screen) = home.at_terminal(&["reset"], "to continue:", typed);
        assert_eq!(code, Some(1), "{typed:?}: {screen}");
        assert!(
            screen.contains("Type 1 to continue:") && screen.contains("nothing was changed"),
            "{screen}"
        );
        assert_eq!(agent.recall("zebra").len(), 1, "{typed:?}");
    }
    let (code, screen) = home.at_terminal(&["reset"], "to continue:", "1");
    assert_eq!(code, Some(0), "{screen}");
    assert!(agent.recall("zebra").is_empty());
}

#[test]
fn a_hard_delete_names_the_backups_that_still_hold_the_memory() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let file = home.path("m.jsonl");
    let file = file.to_str().expect("the path is UTF-8");
    let id = agent.store("semantic", "The code of the safe is on the fridge");
    assert!(home.loci(&["export", "--output", file]).status.success());
    assert!(home.loci(&["reset", "--yes"]).status.success());
    assert!(home.loci(&["import", file]).status.success());
    let reply = agent
        .call("forget_memory", json!({"memory_id": id, "hard_delete": true}))
        .expect("the call succeeds");
    let note = reply["note"].as_str().unwrap_or_else(|| panic!("{reply}"));
    assert!(
        note.starts_with("1 backup still holds it, the oldest is memory-")
            && note.contains("--purge-backups"),
        "{note}"
    );
    let refused = home.loci(&["import", file]);
    let stdout = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(
        stdout.starts_with("0 memories added")
            && stdout.contains(&format!("memories were erased:\n  {id}")),
        "{stdout}"
    );
}
