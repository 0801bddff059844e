//! `forget_memory` through the shim: repeated, of other projects, and while a reader holds the
//! write-ahead log.

use crate::home::{Agent, TestHome};
use crate::in_time::{ExitInTime, in_time};
use crate::wire::{signal, wait_until};
use serde_json::{Value, json};
use std::io::Read;
use std::process::Stdio;

const UNKNOWN: &str = "01953a2b-7c1e-7000-8000-0123456789ab";

fn forget(agent: &mut Agent, id: &str, hard: bool) -> Result<Value, String> {
    agent.call("forget_memory", json!({"memory_id": id, "hard_delete": hard}))
}

#[test]
fn an_id_deleted_in_another_project_is_refused_like_one_that_never_existed() {
    let home = TestHome::without_model();
    let (mut mine, mut theirs) = (home.session_in("mine"), home.session_in("theirs"));
    let id = theirs.store("episodic", "Their secret");
    forget(&mut theirs, &id, true).expect("the call succeeds");
    for hard in [true, false] {
        let of_theirs = forget(&mut mine, &id, hard).expect_err("the call fails");
        let of_unknown = forget(&mut mine, UNKNOWN, hard).expect_err("the call fails");
        assert!(of_theirs.starts_with("not_found: "), "{of_theirs}");
        assert_eq!(of_theirs.replace(&id, "ID"), of_unknown.replace(UNKNOWN, "ID"));
    }
}

#[test]
fn forgetting_again_succeeds_in_every_order() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    for first_is_hard in [false, true] {
        for second_is_hard in [false, true] {
            let text = format!("Said once, {first_is_hard} then {second_is_hard}");
            let id = agent.store("episodic", &text);
            forget(&mut agent, &id, first_is_hard).expect("the call succeeds");
            let second = forget(&mut agent, &id, second_is_hard).expect("the call succeeds");
            let status = if first_is_hard || second_is_hard { "deleted" } else { "forgotten" };
            assert_eq!((&second["id"], &second["status"]), (&json!(id), &json!(status)));
            let is_new_act = !first_is_hard && second_is_hard;
            assert_eq!(second["already_forgotten"] == true, !is_new_act, "{text}: {second}");
        }
    }
    // A global memory was visible everywhere, so everybody may know that it is gone.
    let id = agent.store("semantic", "Known everywhere");
    forget(&mut agent, &id, true).expect("the call succeeds");
    let reply = forget(&mut home.session_in("elsewhere"), &id, false).expect("the call succeeds");
    assert_eq!(reply["already_forgotten"], true);
}

#[test]
fn a_deletion_stays_known_in_the_project_after_a_merge_and_a_restart() {
    let home = TestHome::without_model();
    let mut old = home.session_in("old");
    let id = old.store("episodic", "Said in the old project");
    forget(&mut old, &id, true).expect("the call succeeds");
    home.session_in("new").store("episodic", "Said in the new project");
    assert!(home.loci(&["groups", "merge", "old", "new", "--yes"]).status.success());
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let reply = forget(&mut home.session_in("new"), &id, false).expect("the call succeeds");
    assert_eq!(reply["already_forgotten"], true);
    let refused = forget(&mut home.session_in("other"), &id, false).expect_err("the call fails");
    assert!(refused.starts_with("not_found: "), "{refused}");
}

/// Returns the files of the home that contain a text.
fn files_with(home: &TestHome, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for name in ["memory.db", "memory.db-wal", "memory.db-shm", "memory.db-index", "logs/locid.log"]
    {
        let bytes = std::fs::read(home.path(".loci").join(name)).unwrap_or_default();
        if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
            found.push(name.to_owned());
        }
    }
    found
}

fn warnings(home: &TestHome) -> String {
    home.status()["warnings"].to_string()
}

#[test]
fn a_hard_forget_during_an_export_says_what_remains_and_finishes_by_itself() {
    const CANARY: &str = "zebracanaryquartz";
    let home = TestHome::without_model();
    let mut agent = home.session();
    let filler = "All work and no play. ".repeat(1400);
    for i in 0..60 {
        agent.store("episodic", &format!("{i} {filler}"));
    }
    let id = agent.store("episodic", &format!("The word is {CANARY}"));
    let mut export =
        home.command("loci").arg("export").stdout(Stdio::piped()).spawn().expect("loci starts");
    let mut first = [0];
    let mut output = export.stdout.take().expect("the output is a pipe");
    in_time("the export", || output.read_exact(&mut first)).expect("the export has begun");
    signal("-STOP", [export.id()]);
    let reply = forget(&mut agent, &id, true).expect("the call succeeds");
    assert_eq!(reply["status"], "deleted");
    assert!(!files_with(&home, CANARY).is_empty(), "the export reads what was there before");
    let note = reply["note"].as_str().unwrap_or_default().to_owned();
    assert!(note.contains("write-ahead log") && note.contains("removed"), "{reply}");
    assert!(warnings(&home).contains("Pending: the text of hard-deleted"), "{}", warnings(&home));
    let again = forget(&mut agent, &id, true).expect("the call succeeds");
    assert!(again["note"].as_str().is_some_and(|note| note.contains("write-ahead log")), "{again}");
    signal("-CONT", [export.id()]);
    in_time("the rest of the export", || std::io::copy(&mut output, &mut std::io::sink()))
        .expect("the rest is read");
    assert!(export.exit_in_time().expect("the export ends").success());
    wait_until("the text is gone", || files_with(&home, CANARY).is_empty());
    wait_until("nothing is pending", || !warnings(&home).contains("Pending"));
}
