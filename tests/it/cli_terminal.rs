//! `loci` at a terminal (widths, colours, questions) and in a pipe.

use crate::home::TestHome;
use crate::in_time::{ExitInTime, OutputInTime, in_time};
use nix::pty::{Winsize, openpty};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, ExitStatus, Stdio};

/// Runs a command at a terminal of this width and types an answer; returns the screen and the exit
/// status.
fn at_a_terminal(mut command: Command, width: u16, typed: &str) -> (String, ExitStatus) {
    let size = Winsize { ws_row: 40, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(Some(&size), None).expect("the terminal opens");
    let end = || File::from(pty.slave.try_clone().expect("the descriptor is cloned"));
    let mut child =
        command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("the command starts");
    drop((command, pty.slave));
    let mut master = File::from(pty.master);
    master.write_all(typed.as_bytes()).expect("the terminal accepts input");
    let mut screen = Vec::new();
    // Reading fails when no process has the other end open any more.
    let _ = in_time("the end of the screen", || master.read_to_end(&mut screen));
    (
        String::from_utf8_lossy(&screen).replace("\r\n", "\n"),
        child.exit_in_time().expect("the process ends"),
    )
}

fn loci(home: &TestHome, arguments: &[&str]) -> Command {
    let mut command = home.command("loci");
    command.args(arguments);
    command
}

fn ids(home: &TestHome) -> Vec<String> {
    let listed: Value =
        serde_json::from_slice(&home.loci(&["list", "--json"]).stdout).expect("valid JSON");
    listed["memories"]
        .as_array()
        .expect("a JSON array")
        .iter()
        .map(|memory| memory["id"].as_str().expect("the reply has an id").to_owned())
        .collect()
}

#[test]
fn with_json_an_invalid_command_line_is_a_json_error() {
    let home = TestHome::without_model();
    for (arguments, expected) in [
        (&["search", "--json"][..], "required arguments were not provided"),
        (&["list", "--json", "--nope"], "unexpected argument '--nope'"),
        (&["--json", "lst"], "unexpected argument '--json'"),
    ] {
        let output = home.loci(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let reply: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        assert_eq!(reply["error"]["code"], "usage");
        assert!(
            reply["error"]["message"].as_str().is_some_and(|message| message.contains(expected)),
            "{reply}"
        );
    }
    assert!(
        home.loci(&["list", "--nope"]).stdout.is_empty(),
        "without --json the error is on standard error only"
    );
}

#[test]
fn rows_fit_the_terminal_and_are_coloured_only_there() {
    let home = TestHome::without_model();
    let text = "A memory that is rather long, so that it has to be wrapped in a narrow terminal and not in a wide one";
    home.session().store("semantic", text);
    let (narrow, _) = at_a_terminal(loci(&home, &["list"]), 60, "");
    let (wide, _) = at_a_terminal(loci(&home, &["list"]), 160, "");
    assert!(!narrow.contains(text) && wide.contains(text), "{narrow}\n{wide}");
    assert!(narrow.contains("\u{1b}[1m"), "{narrow:?}");
    let plain = without_escapes(&narrow);
    assert!(plain.lines().all(|line| line.chars().count() <= 60), "{plain}");
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(text), "nothing is lost: {plain}");
    let mut without = loci(&home, &["list"]);
    without.env("NO_COLOR", "1");
    assert!(!at_a_terminal(without, 60, "").0.contains('\u{1b}'));
    let piped = String::from_utf8(home.loci(&["list"]).stdout).expect("the output is UTF-8");
    assert!(
        !piped.contains('\u{1b}') && piped.lines().all(|line| line.chars().count() <= 80),
        "{piped}"
    );
}

/// Removes the sequences that set colours.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn a_confirmation_continues_only_after_yes() {
    let home = TestHome::without_model();
    home.session().store_all("episodic", ["One old thing", "Another old thing"]);
    for (typed, left) in [("\n", 2), ("n\n", 2), ("maybe\n", 2), ("\u{4}", 2), ("y\n", 0)] {
        let (screen, status) =
            at_a_terminal(loci(&home, &["forget", "--where", "text:old"]), 100, typed);
        assert!(
            screen.contains("One old thing") && screen.contains("Forget these 2 memories? [y/N]"),
            "{screen}"
        );
        assert_eq!((ids(&home).len(), status.success()), (left, left == 0), "{typed:?}: {screen}");
    }
    let (screen, _) = at_a_terminal(loci(&home, &["undo", "--last"]), 100, "n\n");
    assert!(
        screen.contains("forget") && screen.contains("Undo this act?") && ids(&home).is_empty(),
        "{screen}"
    );
    let (screen, _) = at_a_terminal(loci(&home, &["undo", "--last"]), 100, "yes\n");
    assert!(
        screen.contains("Undid 1 act; take it back with loci redo") && ids(&home).len() == 2,
        "{screen}"
    );
    let first = &ids(&home)[0];
    let (screen, _) = at_a_terminal(loci(&home, &["forget", first, "--hard"]), 100, "no\n");
    assert!(screen.contains("cannot be undone") && ids(&home).len() == 2, "{screen}");
    at_a_terminal(loci(&home, &["forget", first, "--hard"]), 100, "y\n");
    assert_eq!(ids(&home).len(), 1);
}

#[test]
fn without_a_terminal_nothing_is_done_and_the_flag_is_named() {
    let home = TestHome::without_model();
    home.session().store_all("episodic", ["One old thing", "Another old thing"]);
    let id = &ids(&home)[0];
    for arguments in [
        &["forget", "--where", "text:old"][..],
        &["forget", id, "--hard"],
        &["forget", id, "--hard", "--json"],
    ] {
        let refused = home.loci(arguments);
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("--yes"));
    }
    assert_eq!(ids(&home).len(), 2);
}

#[test]
fn a_closed_pipe_ends_every_list_quietly() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    for n in 0..30 {
        agent.store("semantic", &format!("Memory number {n}"));
    }
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["search", "memory"],
        &["history"],
        &["man"],
        &["completions", "zsh"],
        &["config", "show"],
    ] {
        let mut child = loci(&home, arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        drop(child.stdout.take());
        let ended = child.output_in_time().expect("the process ends");
        assert!(
            ended.status.success() && ended.stderr.iter().all(u8::is_ascii),
            "{arguments:?}: {ended:?}"
        );
        assert!(!String::from_utf8_lossy(&ended.stderr).contains("panicked"), "{arguments:?}");
    }
}

#[test]
fn control_characters_are_escaped_in_tables_and_exact_in_json() {
    let home = TestHome::without_model();
    let hostile = "Red \u{1b}[31malert\u{7} and \u{202e}backwards";
    let mut agent = home.session();
    let id = &agent.store("semantic", "Red alert and backwards");
    home.set_stored(id, "content", hostile);
    let metadata = json!({"category": "a\u{1b}]0;title\u{7}"}).to_string();
    home.set_stored(id, "metadata", &metadata);
    for arguments in [
        &["list"][..],
        &["search", "backwards"],
        &["search", "backwards", "--full"],
        &["inspect", id, "--log"],
    ] {
        let screen = String::from_utf8(home.loci(arguments).stdout).expect("the output is UTF-8");
        assert!(!screen.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{screen:?}");
        assert!(screen.contains("\\u{1b}[31malert"), "{screen:?}");
    }
    let exact: Value =
        serde_json::from_slice(&home.loci(&["inspect", id, "--json"]).stdout).expect("valid JSON");
    assert_eq!(exact["memory"]["content"], hostile);
    let full: Value =
        serde_json::from_slice(&home.loci(&["search", "backwards", "--full", "--json"]).stdout)
            .expect("valid JSON");
    assert_eq!(full["results"][0]["content"], hostile);
}

#[test]
fn text_comes_from_standard_input_too() {
    let home = TestHome::without_model();
    let with_input = |arguments: &[&str], input: &[u8]| {
        let mut child = loci(&home, arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        // A command that refuses early closes its end.
        let _ = child.stdin.take().expect("the stream is open").write_all(input);
        child.output_in_time().expect("the process ends")
    };
    let stored = with_input(
        &["add", "-", "--type", "semantic", "--json"],
        "First line\nżółw, the second\n".as_bytes(),
    );
    let stored: Value = serde_json::from_slice(&stored.stdout).expect("valid JSON");
    let id = stored["id"].as_str().expect("the reply has an id");
    let content = || -> Value {
        let reply: Value = serde_json::from_slice(&home.loci(&["inspect", id, "--json"]).stdout)
            .expect("valid JSON");
        reply["memory"]["content"].clone()
    };
    assert_eq!(content(), "First line\nżółw, the second");
    assert!(with_input(&["edit", id, "--content", "-"], b"Changed\r\n").status.success());
    assert_eq!(content(), "Changed");
    for (input, expected) in [
        (&b"\xff\xfe"[..], "not UTF-8"),
        (&vec![b'x'; 40_000], "too_large"),
        (&vec![b'x'; 2_000_000], "too long"),
        (b"", "empty"),
    ] {
        let refused = with_input(&["add", "-", "--type", "semantic"], input);
        assert_eq!(refused.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&refused.stderr).contains(expected), "{refused:?}");
    }
}

#[test]
fn arguments_that_are_not_utf8_are_refused_and_help_needs_no_home() {
    let home = TestHome::without_model();
    let not_utf8 = std::ffi::OsStr::from_bytes(b"caf\xe9");
    for before in [
        &["search"][..],
        &["add", "--type", "semantic"],
        &["inspect"],
        &["forget", "--where"],
        &["list", "--text"],
    ] {
        let refused = home
            .command("loci")
            .args(before)
            .arg(not_utf8)
            .stdin(Stdio::null())
            .output_in_time()
            .expect("the command runs");
        assert_eq!(refused.status.code(), Some(2), "{before:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("UTF-8"), "{refused:?}");
    }
    for arguments in [
        &["--help"][..],
        &["help", "forget"],
        &["ctl", "status", "--help"],
        &["completions", "fish"],
        &["man"],
    ] {
        let helped = Command::new(crate::home::binaries().join("loci"))
            .args(arguments)
            .env_clear()
            .output_in_time()
            .expect("the command runs");
        assert!(helped.status.success() && !helped.stdout.is_empty(), "{arguments:?}: {helped:?}");
    }
}
