//! What the bridge never does, through the real `loci` and daemon: bring back what was forgotten, hold up other calls, write for an agent
//! or where loci is off, wait for a pipe.
//!
//! Not here: what it does (`bridge`).

use crate::bridge::Watched;
use crate::home::TestHome;
use crate::hooks::claude;
use crate::in_time::OutputInTime;
use crate::wire::wait_until;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use rusqlite::Connection;
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

const HERON: &str = "The deploy host is heron in Lisbon";
const OWLS: &str = "Owls hunt at night in the barn";
const BEES: &str = "Bees sleep in winter under snow";

fn list(statements: &[&str]) -> String {
    format!("- {}\n", statements.join("\n- "))
}

#[test]
fn what_was_forgotten_does_not_come_back_when_the_client_moves_it_to_another_file() {
    let text = list(&[HERON, OWLS, BEES]);
    let watched = Watched::new(TestHome::without_model(), &text);
    watched.on();
    watched.done(&["forget", &watched.id_of("heron"), "--yes"]);
    watched.done(&["forget", &watched.id_of("Owls"), "--hard", "--yes"]);
    watched.write("MEMORY.md", "");
    watched.write("debugging.md", &text);
    assert_eq!(watched.scan()["imported"], 2, "the forgotten one and the kept one");
    assert_eq!(watched.memories(), [BEES]);
    let version = watched.done(&["bridge", "history", "debugging.md", "--version", "1"]);
    assert_eq!(version, format!("- {HERON}\n[FORGOTTEN]\n- {BEES}\n"));
    let bees = watched.json(&["inspect", &watched.id_of("Bees")]);
    assert!(bees["memory"]["metadata"]["source_gone"].is_null(), "another file states it: {bees}");
    // What was undone does not come back either.
    watched.write("MEMORY.md", "- Hares run over the hill in april\n");
    watched.scan();
    watched.done(&["undo", "--last", "--yes"]);
    watched.write("MEMORY.md", "");
    watched.write("hares.md", "- Hares run over the hill in april\n");
    watched.scan();
    assert_eq!(watched.memories(), [BEES]);
}

#[test]
fn what_was_forgotten_does_not_come_back_under_another_heading() {
    let under = |heading: &str| format!("# {heading}\n\n{}", list(&[HERON, OWLS, BEES]));
    let watched = Watched::new(TestHome::without_model(), &under("Notes"));
    watched.on();
    watched.done(&["forget", &watched.id_of("heron"), "--yes"]);
    watched.done(&["forget", &watched.id_of("Owls"), "--hard", "--yes"]);
    watched.write("MEMORY.md", &under("Other notes"));
    watched.scan();
    assert_eq!(watched.memories(), [format!("Other notes: {BEES}")]);
    let version = watched.done(&["bridge", "history", "MEMORY.md", "--version", "2"]);
    assert_eq!(version, format!("# Other notes\n\n- {HERON}\n[FORGOTTEN]\n- {BEES}\n"));
    watched.write("more.md", &format!("# More\n\n{}", list(&[HERON, OWLS])));
    watched.scan();
    assert_eq!(watched.memories(), [format!("Other notes: {BEES}")]);
    // The import finds neither.
    let reply = watched.json(&["import", "--from", "claude-memory", "--yes"]);
    assert_eq!(reply["new"], 0, "{reply}");
    assert_eq!(watched.memories(), [format!("Other notes: {BEES}")]);
}

#[test]
fn a_file_that_cannot_be_read_hides_no_deletion_of_another() {
    let watched = Watched::new(TestHome::without_model(), &list(&[HERON]));
    watched.on();
    watched.write("large.md", &"x".repeat((1 << 20) + 1));
    watched.write("owls.md", &list(&[OWLS]));
    watched.scan();
    let owls = watched.id_of("Owls");
    fs::remove_file(watched.memory.join("owls.md")).expect("the file is removed");
    watched.scan();
    let memory = watched.json(&["inspect", &owls]);
    assert!(memory["memory"]["metadata"]["source_gone"].is_string(), "{memory}");
}

#[test]
fn a_look_that_met_a_busy_store_is_repeated_before_the_interval_is_over() {
    let home = TestHome::without_model();
    home.configure("[server]\nlog_level = \"debug\"\n[bridge]\ninterval_seconds = 3600");
    let watched = Watched::new(home, &list(&[HERON]));
    watched.on();
    // Another program has the store for writing.
    let store = Connection::open(watched.home.path(".loci/memory.db")).expect("it opens");
    store.execute_batch("BEGIN IMMEDIATE").expect("the store is locked");
    watched.write("MEMORY.md", &list(&[HERON, OWLS]));
    claude(&watched.home, "session-start", &json!({"session_id": "a", "source": "startup"}));
    wait_until("the look has failed", || watched.home.log().contains("were not scanned"));
    store.execute_batch("ROLLBACK").expect("the store is free");
    wait_until("the file is read", || watched.memories().len() == 2);
}

#[test]
fn a_permanent_deletion_takes_out_the_statement_that_was_edited_since() {
    let watched = Watched::new(TestHome::without_model(), &list(&[HERON, BEES]));
    watched.on();
    let id = watched.id_of("heron");
    watched.done(&["edit", &id, "--content", "The deploy host is otter in Porto"]);
    watched.done(&["edit", &id, "--content", "The deploy host is moved"]);
    watched.done(&["forget", &id, "--hard", "--yes"]);
    let first = watched.done(&["bridge", "history", "MEMORY.md", "--version", "1"]);
    assert_eq!(first, format!("[FORGOTTEN]\n- {BEES}\n"));
    watched.write("MEMORY.md", &list(&[HERON, BEES, OWLS]));
    watched.scan();
    assert_eq!(watched.memories(), [BEES, OWLS]);
}

#[test]
fn a_permanent_deletion_names_the_older_wording_that_stays() {
    let watched = Watched::new(TestHome::without_model(), &list(&[HERON]));
    watched.on();
    let older = watched.id_of("Lisbon");
    watched.write("MEMORY.md", &list(&[&HERON.replace("Lisbon", "Porto")]));
    watched.scan();
    let reply = watched.json(&["forget", &watched.id_of("Porto"), "--hard", "--yes"]);
    let note = reply["note"].as_str().expect("a note");
    assert!(note.contains("replaced by it") && note.contains(&older), "{reply}");
}

/// A thousand statements of `words` words, each time in other words.
fn thousand(seed: u64, words: usize) -> String {
    let mut state = seed;
    let mut text = String::new();
    for _ in 0..1000 {
        text.push('-');
        for _ in 0..words {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed);
            let _ = write!(text, " w{}", (state >> 33) % 300);
        }
        text.push('\n');
    }
    text
}

#[test]
fn a_file_with_a_thousand_reworded_statements_does_not_hold_up_a_store() {
    let watched = Watched::new(TestHome::without_model(), &thousand(1, 200));
    watched.on();
    watched.write("MEMORY.md", &thousand(3, 200));
    let mut scan = watched.home.command("loci");
    scan.args(["bridge", "status", "--scan"]).stdout(Stdio::null());
    let mut scan = scan.spawn().expect("loci starts");
    let mut longest = Duration::ZERO;
    let mut number = 0;
    let is_scanned = loop {
        let began = Instant::now();
        watched.done(&["add", &format!("Note number {number} of the shop"), "--type", "semantic"]);
        longest = longest.max(began.elapsed());
        number += 1;
        if let Some(status) = scan.try_wait().expect("its status is read") {
            break status.success();
        }
    };
    assert!(is_scanned && longest < Duration::from_secs(5), "a store waited {longest:?}");
    eprintln!("{number} stores during the look, the longest {longest:?}");
    let stats = watched.json(&["bridge", "status"]);
    assert_eq!(stats["clients"][0]["imported"], 2000, "{stats}");
}

fn as_agent(watched: &Watched, arguments: &[&str]) -> Output {
    let mut command = watched.home.command("loci");
    command.env("CLAUDE_CODE_SESSION_ID", "a").args(arguments).stdin(Stdio::null());
    command.output_in_time().expect("loci runs")
}

#[test]
fn no_file_is_written_for_an_agent_or_where_loci_is_off() {
    let watched = Watched::new(TestHome::without_model(), &list(&[HERON]));
    watched.on();
    watched.done(&["add", BEES, "--type", "semantic"]);
    watched.write("MEMORY.md", "changed by the client\n");
    watched.scan();
    let write = ["bridge", "write", "claude", "--yes"];
    for arguments in [&write[..], &["bridge", "restore", "MEMORY.md", "--yes"]] {
        let output = as_agent(&watched, arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains("only a person may do"), "{error}");
    }
    assert!(as_agent(&watched, &["bridge", "write", "claude", "--dry-run"]).status.success());
    assert_eq!(watched.read("MEMORY.md"), "changed by the client\n");
    watched.done(&write);
    let written = watched.read("MEMORY.md");
    assert!(written.contains(BEES), "{written}");
    watched.done(&["add", OWLS, "--type", "semantic"]);
    watched.done(&["groups", "off", "project"]);
    assert!(watched.refused(&write).contains("off"));
    watched.done(&["groups", "on", "project"]);
    let file = watched.home.path("project/.loci.toml");
    fs::write(&file, "off = true\n").expect("the file is written");
    assert!(watched.refused(&write).contains("off"));
    assert_eq!(watched.read("MEMORY.md"), written);
    // What was written can always be taken out.
    watched.done(&["bridge", "write", "claude", "--remove", "--yes"]);
    assert!(!watched.read("MEMORY.md").contains(BEES));
}

#[test]
fn a_pipe_in_place_of_a_file_is_refused_and_not_waited_for() {
    let watched = Watched::new(TestHome::without_model(), &list(&[HERON]));
    let settings = watched.home.path(".claude/settings.json");
    mkfifo(&settings, Mode::S_IRWXU).expect("the pipe is made");
    watched.on();
    let file = watched.memory.join("MEMORY.md");
    fs::remove_file(&file).expect("the file is deleted");
    mkfifo(&file, Mode::S_IRWXU).expect("the pipe is made");
    let refused = watched.refused(&["bridge", "restore", "MEMORY.md", "--version", "1", "--yes"]);
    assert!(refused.contains("it is not a file"), "{refused}");
}
