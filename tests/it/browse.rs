//! `loci browse` and `loci top` in a pseudo-terminal: what they show, what keys do, and how they leave the terminal.

use crate::home::TestHome;
use crate::terminal::{Terminal, without_signals_of_size};
use crate::wire::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// A home with an entity, what is said about it, and procedures.
fn scene() -> TestHome {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store_with(
        json!({"content": "Anna Kowalska is the lead engineer of the shop", "type": "entity",
        "metadata": {"name": "Anna Kowalska", "entity_type": "person"}}),
    );
    agent.store("semantic", "The staging server of the shop is called heron");
    agent.store("episodic", "Anna Kowalska moved the database to the new disk");
    agent.store("procedural", "To deploy the shop, run the tests, then push the tag");
    agent.store("semantic", "日本語のメモも表示される 👩‍👧");
    home
}

fn browse(home: &TestHome, arguments: &[&str], columns: u16, rows: u16) -> Terminal {
    let mut command = home.command("loci");
    command.arg("browse").args(arguments).env("TERM", "xterm-256color");
    Terminal::start(command, columns, rows)
}

fn listed(home: &TestHome, arguments: &[&str]) -> Vec<Value> {
    let output = home.loci(&[&["list", "--json"], arguments].concat());
    let reply: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    reply["memories"].as_array().expect("a list").clone()
}

#[test]
fn typing_searches_and_filters_narrow_the_list() {
    let home = scene();
    let mut terminal = browse(&home, &[], 120, 40);
    let screen = terminal.wait_for("1 of 5");
    assert!(screen.contains("日本語のメモ") && screen.contains("heron"), "{screen}");
    terminal.press("her");
    terminal.wait_for("/ her");
    terminal.press("on");
    terminal.wait_for("/ heron");
    terminal.wait_for("1 of 1");
    // The memory beside the list follows.
    let screen = terminal.wait_without("push the tag");
    assert!(screen.contains("called heron"), "{screen}");
    // The selection stays on its memory.
    terminal.press("\r\u{1b}");
    terminal.wait_for(" of 5");
    terminal.press("t");
    let screen = terminal.wait_for("type episodic");
    assert!(screen.contains("filter") || screen.contains("status active"), "{screen}");
    terminal.wait_without("push the tag");
    terminal.press("0");
    terminal.wait_for(" of 5");
    terminal.press("c");
    terminal.wait_for("all clients");
    terminal.press("person\r");
    terminal.wait_for("No memory matches");
    terminal.press("0p");
    terminal.wait_for("project (");
    terminal.press("project (\r");
    terminal.wait_for(" of 5");
    terminal.press("q");
    assert!(terminal.end().0.success());
}

#[test]
fn what_is_typed_first_goes_into_the_query_and_changes_nothing() {
    let home = scene();
    let mut terminal = browse(&home, &[], 120, 40);
    terminal.wait_for("1 of 5");
    terminal.press("dy");
    terminal.wait_for("/ dy");
    terminal.press("\u{15}iquern0");
    terminal.wait_for("/ iquern0");
    assert!(terminal.is_full_screen());
    terminal.press("\u{3}");
    assert!(terminal.end().0.success());
    assert_eq!(listed(&home, &[]).len(), 5);
    assert_eq!(listed(&home, &["--status", "pinned"]).len(), 0);
}

#[test]
fn a_memory_is_read_and_its_relations_are_followed_and_left_again() {
    let home = scene();
    for (columns, rows) in [(80, 24), (200, 60)] {
        let mut terminal = browse(&home, &["--type", "entity"], columns, rows);
        terminal.wait_for("Anna Kowalska is the lead");
        terminal.press("\r\r");
        let screen = terminal.wait_for("Mentioned in");
        assert!(screen.contains("entity_type") && screen.contains("person"), "{screen}");
        terminal.press("j\r");
        terminal.wait_for("Mentions");
        terminal.press("\u{7f}");
        terminal.wait_for("Mentioned in");
        terminal.press("\u{1b}?");
        terminal.wait_for("Ctrl-L");
        terminal.press("xq");
        assert!(terminal.end().0.success());
    }
}

#[test]
fn a_memory_is_edited_pinned_forgotten_and_all_of_it_is_undone() {
    let home = scene();
    let editor = home.path("editor");
    std::fs::write(&editor, "#!/bin/sh\nsed -i s/heron/egret/ \"$1\"\n").expect("written");
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o700)).expect("executable");
    let mut command = home.command("loci");
    command.args(["browse", "heron"]).env("TERM", "xterm").env("EDITOR", &editor);
    let mut terminal = Terminal::start(command, 120, 30);
    terminal.wait_for("called heron");
    terminal.wait_for("confidence");
    terminal.press("\ri");
    terminal.wait_for("Pinned");
    assert_eq!(listed(&home, &["--status", "pinned"]).len(), 1);
    terminal.press("e");
    terminal.wait_for("Changed; u undoes it");
    assert!(listed(&home, &["--text", "egret"]).len() == 1 && terminal.is_full_screen());
    terminal.press("u");
    terminal.wait_for("Undo edit");
    terminal.press("y");
    terminal.wait_for("Undone");
    assert_eq!(listed(&home, &["--text", "egret"]).len(), 0);
    terminal.wait_for("called heron");
    terminal.press("d");
    terminal.wait_for("Forget “The staging server");
    terminal.press("n");
    terminal.wait_for("Nothing was changed");
    terminal.press("d");
    terminal.wait_for("Forget “");
    terminal.press("y");
    terminal.wait_for("Forgotten");
    assert_eq!(listed(&home, &["--text", "heron"]).len(), 0);
    terminal.press("\u{3}");
    assert!(terminal.end().0.success());
}

#[test]
fn candidates_are_accepted_and_rejected_and_other_memories_are_not() {
    let home = scene();
    let line = |uuid: &str, text: &str| {
        json!({
            "type": "user", "uuid": uuid, "sessionId": "s1", "timestamp": "2026-11-02T10:00:00Z", "cwd": home.path("project"),
            "message": {"role": "user", "content": text},
        })
        .to_string()
    };
    let lines = [
        line("u1", "Always run the linter before each commit."),
        line("u2", "We decided to keep prices in cents."),
    ];
    let folder = home.path(".claude/projects/p");
    std::fs::create_dir_all(&folder).expect("the folder is created");
    std::fs::write(folder.join("s1.jsonl"), lines.join("\n")).expect("it is written");
    assert!(home.loci(&["import", "--from", "history", "--yes"]).status.success());
    let mut terminal = browse(&home, &[], 120, 40);
    terminal.wait_for("1 of 5");
    terminal.press("\ry");
    terminal.wait_for("This is no candidate");
    terminal.press("a");
    terminal.wait_for("before each commit");
    terminal.press("y");
    terminal.wait_for("Accepted");
    terminal.wait_without("before each commit");
    terminal.press("n");
    terminal.wait_for("Rejected");
    terminal.press("q");
    assert!(terminal.end().0.success());
    assert!(listed(&home, &["--status", "candidate"]).is_empty());
    let text =
        |status: &str, part: &str| listed(&home, &["--status", status, "--text", part]).len();
    assert_eq!((text("active", "linter"), text("forgotten", "cents")), (1, 1));
}

#[test]
fn a_text_that_is_refused_is_not_lost_and_a_failing_editor_is_named() {
    let home = scene();
    let editor = home.path("editor");
    let key = format!("AKIA{}", "QYLPMN5HFIQR7XYZ");
    let script = format!(
        "#!/bin/sh\nif grep -q AKIA \"$1\"; then sed -i 's/ and the key AKIA.*/ of old/' \"$1\"\nelse sed -i 's/$/ and the key {key}/' \"$1\"; fi\n"
    );
    std::fs::write(&editor, script).expect("written");
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o700)).expect("executable");
    let mut command = home.command("loci");
    command.args(["browse", "heron"]).env("TERM", "xterm").env("EDITOR", &editor);
    let mut terminal = Terminal::start(command, 140, 30);
    terminal.wait_for("confidence");
    terminal.press("\re");
    terminal.wait_for("Press e to go on with your text");
    terminal.press("e");
    terminal.wait_for("Changed; u undoes it");
    assert_eq!(listed(&home, &["--text", "heron of old"]).len(), 1);
    terminal.press("q");
    assert!(terminal.end().0.success());
    for (editor, said) in [("no-such-editor", "cannot be started"), ("false", "failed")] {
        let mut command = home.command("loci");
        command.args(["browse", "heron"]).env("TERM", "xterm").env("EDITOR", editor);
        let mut terminal = Terminal::start(command, 140, 30);
        terminal.wait_for("confidence");
        terminal.press("\re");
        terminal.wait_for(said);
        terminal.press("q");
        assert!(terminal.end().0.success());
    }
}

#[test]
fn the_terminal_is_left_clean_after_signals_and_follows_its_size() {
    let home = scene();
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130), (Signal::SIGHUP, 129)] {
        let mut terminal = browse(&home, &[], 80, 24);
        terminal.wait_for("1 of 5");
        assert!(terminal.is_full_screen());
        terminal.resize(120, 40);
        // From 100 columns on, the memory is beside the list.
        terminal.wait_for("stored by");
        terminal.resize(30, 5);
        terminal.wait_for("too small");
        terminal.signal(signal);
        assert_eq!(terminal.end().0.code(), Some(code));
    }
    let without = home.loci(&["browse"]);
    assert_eq!(without.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&without.stderr).contains("needs a terminal"));
}

#[test]
fn a_new_size_is_seen_without_its_signal() {
    let home = scene();
    let mut command = home.command("loci");
    command.arg("browse").env("TERM", "xterm-256color");
    without_signals_of_size(&mut command);
    let mut terminal = Terminal::start(command, 80, 24);
    terminal.wait_for("1 of 5");
    terminal.resize(120, 40);
    terminal.wait_for("stored by");
    terminal.press("\rq");
    assert!(terminal.end().0.success());
}

#[test]
fn a_terminal_that_claims_the_largest_size_is_drawn_in_part() {
    let home = scene();
    let mut command = home.command("loci");
    command.arg("browse").env("TERM", "xterm-256color");
    let mut terminal = Terminal::start_claiming(command, (u16::MAX, u16::MAX), (120, 40));
    // The last line is drawn last.
    terminal.wait_for("Ctrl-C quit");
    terminal.press("\u{3}");
    assert!(terminal.end().0.success());
}

#[test]
fn a_daemon_that_dies_is_said_so_and_found_again() {
    let home = scene();
    let mut terminal = browse(&home, &[], 120, 30);
    terminal.wait_for("1 of 5");
    let pid = home.status()["pid"].as_i64().expect("a pid");
    kill(Pid::from_raw(i32::try_from(pid).expect("a pid")), Signal::SIGKILL).expect("it is killed");
    // The ping finds that it is gone, or a call that was on its way starts another one unseen.
    wait_until("browse starts another daemon", || {
        let output = home.loci(&["ctl", "status", "--json"]);
        let status: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        status["pid"].as_i64().is_some_and(|found| found != pid)
    });
    terminal.press("heron");
    terminal.wait_for("1 of 1");
    assert!(home.loci(&["ctl", "stop", "--hold"]).status.success());
    terminal.wait_for("The daemon does not answer");
    assert!(home.loci(&["ctl", "start"]).status.success());
    terminal.wait_for("Connected again");
    terminal.press("\rq");
    assert!(terminal.end().0.success());
}

#[test]
fn top_shows_sessions_calls_and_latencies_and_prints_one_frame_in_a_pipe() {
    let home = scene();
    let mut agent = home.session();
    agent.recall("heron");
    let once = home.loci(&["top", "--once"]);
    let text = String::from_utf8(once.stdout).expect("UTF-8");
    assert!(once.status.success() && !text.contains('\u{1b}'), "{text}");
    for part in ["memories  5", "Sessions (", "store_memory", "recall_memory", "P99 MS", "queues"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for (columns, rows) in [(80, 24), (140, 40)] {
        let mut command = home.command("loci");
        command.args(["top", "--interval-ms", "100"]).env("TERM", "xterm");
        let mut terminal = Terminal::start(command, columns, rows);
        terminal.wait_for("recall_memory");
        agent.recall("heron");
        let screen = terminal.wait_for("+1");
        assert!(screen.contains("calls/s"), "{screen}");
        terminal.press("q");
        assert!(terminal.end().0.success());
    }
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let absent = home.loci(&["top", "--once"]);
    assert_eq!(absent.status.code(), Some(3), "it starts no daemon");
}
