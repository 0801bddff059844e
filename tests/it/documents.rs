//! Every `loci` command in a code block of the documents is valid, and runs: the real program in a temporary home.
//!
//! Placeholders get real values. A command that asks ends at its question, because there is no terminal. Not here: links
//! (`tests/tidy/hyperlinks.rs`), what a command prints (`cli_screens`).

use crate::bridge::claude_memory;
use crate::home::TestHome;
use crate::in_time::OutputInTime;
use clap::{CommandFactory, Parser};
use loci::cli::Cli;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Commands that are only parsed, by their beginning, and why.
const NOT_RUN: [(&str, &str); 13] = [
    ("demo", "the build server runs it; it downloads the model"),
    ("model download", "it uses the network"),
    ("model use", "it uses the network: tests/it/model_profiles.rs"),
    ("ctl install", "it changes the services of the machine"),
    ("ctl logs --follow", "it does not end"),
    ("ctl incognito", "it needs a running session: tests/it/switches.rs"),
    ("eval", "it needs the model: tests/it/eval.rs"),
    ("re-embed", "it needs the model: tests/it/reembed.rs"),
    ("mcp", "agents run it"),
    ("serve --http", "it does not end: tests/it/http_door.rs"),
    ("view", "it does not end: tests/it/view.rs"),
    ("browse", "it needs a terminal: tests/it/browse.rs"),
    ("top", "it needs a terminal: tests/it/browse.rs"),
];
/// Commands that may fail in a new home, by their beginning, and the words of the failure.
const MAY_FAIL: [(&str, &str); 14] = [
    ("doctor", ""),
    ("redo", "undo"),
    ("groups join", "without a folder"),
    ("model status", ""),
    ("backup restore", "backup"),
    ("undo --session", "session"),
    ("history --session", "session"),
    ("restore", "active"),
    ("bridge restore", "no kept version differs"),
    ("import --from", "no memories of"),
    ("import --mine", ""),
    ("encrypt", "no encryption"),
    ("rekey", "no encryption"),
    ("decrypt", "no encryption"),
];
/// Commands that change what the others meet, and what takes them back.
const TAKEN_BACK: [(&str, &[&str]); 3] = [
    ("groups off", &["groups", "on"]),
    ("ctl maintenance pause", &["ctl", "maintenance", "resume"]),
    ("ctl stop", &["ctl", "start"]),
];
/// Words after the name of the program in backticks that are no command: one of another program, and the first bytes of a file.
const NO_COMMANDS: [&str; 2] = ["remove", "enc"];
/// What a command without a terminal says in place of its question.
const QUESTION: &str = "needs a confirmation";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The documents: README.md, CONTRIBUTING.md and docs/*.md.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(repository().join("docs")).expect("the folder is read");
    let mut pages: Vec<PathBuf> = docs
        .map(|entry| entry.expect("the folder is read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.extend(["README.md", "CONTRIBUTING.md"].map(|name| repository().join(name)));
    pages.sort();
    pages
}

/// The words of a command line, up to a comment, a pipe or the next command; with quotes, and with what is read from a file left out.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut all, mut words, mut word) = (Vec::new(), Vec::new(), String::new());
    let (mut quote, mut is_word) = (None, false);
    for c in line.chars().chain(['\n']) {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => (quote, is_word) = (Some(c), true),
            (None, c) if c.is_whitespace() || ";|&#".contains(c) => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
                if ";|&#\n".contains(c) {
                    all.push(std::mem::take(&mut words));
                }
                if c == '#' {
                    break;
                }
            }
            (None, c) => {
                word.push(c);
                is_word = true;
            }
        }
    }
    all.into_iter().filter_map(loci_arguments).collect()
}

/// Returns the arguments of a command if it is one of `loci`.
fn loci_arguments(words: Vec<String>) -> Option<Vec<String>> {
    let is_variable = |word: &String| word.contains('=') && !word.starts_with('-');
    let mut words = words.into_iter().skip_while(is_variable);
    let program = words.next()?;
    if program != "loci" && program != "target/release/loci" {
        return None;
    }
    // A file that is read or written by the shell.
    Some(words.take_while(|word| word != "<" && word != ">").collect())
}

/// The commands of the code blocks of a page.
fn commands_of(text: &str) -> Vec<Vec<String>> {
    let (mut found, mut is_shell, mut is_block) = (Vec::new(), false, false);
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_block = !is_block;
            is_shell = is_block && ["sh", "bash", ""].contains(&language.trim());
        } else if is_shell && !line.starts_with("loci:") {
            found.extend(commands(line));
        }
    }
    found
}

/// Replaces placeholders by values of this home.
fn filled(home: &TestHome, arguments: &[String]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let mut id = |number: usize| {
        while ids.len() <= number {
            let text = format!("Entity {} of a document", uuid_like(ids.len()));
            let added = home.loci(&["add", &text, "--type", "entity", "--json"]);
            let reply: serde_json::Value =
                serde_json::from_slice(&added.stdout).expect("the memory is stored");
            ids.push(reply["id"].as_str().expect("it has an id").to_owned());
        }
        ids[number].clone()
    };
    let value = |word: &String| match word.as_str() {
        "5f0c9a1e" | "ID" => id(0),
        "77ab01cd" => id(1),
        "90aa12ef" => id(2),
        "8b1f1d0e" | "0199c2" | "SESSION" => "a-session".to_owned(),
        "CLIENT" => "claude".to_owned(),
        "EVENT" => "prompt".to_owned(),
        "PATH" => home.path("pages").display().to_string(),
        "notes" => notes(home),
        "shop" => "project".to_owned(),
        word => word.replace('~', &home.path("").display().to_string()),
    };
    arguments.iter().map(value).collect()
}

/// A folder with a Markdown file.
fn notes(home: &TestHome) -> String {
    let folder = home.path("notes");
    fs::create_dir_all(&folder).expect("the folder is created");
    fs::write(folder.join("pond.md"), "- The pond is green\n").expect("the file is written");
    folder.display().to_string()
}

/// A text that no earlier call has returned.
fn uuid_like(number: usize) -> String {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("{}-{number}", nanos.expect("the clock is past 1970").as_nanos())
}

/// Runs a command in a home; returns why it failed.
fn failure(home: &TestHome, arguments: &[String]) -> Option<String> {
    let mut child = home
        .command("loci")
        .args(filled(home, arguments))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("loci starts");
    // A command that does not need its input may end before it is written.
    let _ = child.stdin.take().expect("the stream is open").write_all(b"a question");
    let output = child.output_in_time().expect("the process ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = arguments.join(" ");
    let may_fail = MAY_FAIL
        .iter()
        .any(|(command, words)| line.starts_with(command) && said.to_lowercase().contains(words));
    let is_accepted = output.status.success() || said.contains(QUESTION) || may_fail;
    (!is_accepted).then(|| format!("loci {line}: {said}"))
}

#[test]
fn a_line_is_split_as_a_shell_does() {
    let split = |line: &str| commands(line).iter().map(|words| words.join("|")).collect::<Vec<_>>();
    assert_eq!(split("loci add 'a b' --type x # c"), ["add|a b|--type|x"]);
    assert_eq!(
        split("X=1 loci a; ssh b loci c | loci import - && target/release/loci demo"),
        ["a", "import|-", "demo"]
    );
    assert_eq!(split("loci search - < a.txt"), ["search|-"]);
    assert_eq!(commands_of("```sh\nloci a\n```\nloci b\n```json\nloci c\n```\n").len(), 1);
}

/// Returns the Rust sources of the programs.
fn sources() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = ["proto/src", "engine/src", "daemon/src", "shim/src"]
        .map(|name| repository().join(name))
        .into();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder is read") {
            let path = entry.expect("the folder is read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// Returns the words of "`loci …`" in a text: the first two after the program.
fn named_commands(text: &str) -> Vec<(&str, Option<&str>)> {
    let quoted = text.split("`loci ").skip(1).filter_map(|rest| rest.split('`').next());
    let words = quoted.filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()))
    });
    words.filter(|(first, _)| first.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')).collect()
}

#[test]
fn every_command_that_a_page_or_a_comment_names_exists() {
    let cli = Cli::command();
    let mut unknown = Vec::new();
    for path in pages().into_iter().chain(sources()) {
        let text = fs::read_to_string(&path).expect("the file is read");
        for (name, next) in named_commands(&text) {
            if NO_COMMANDS.contains(&name) {
                continue;
            }
            let command = cli.find_subcommand(name);
            let names_part = |command: &clap::Command| {
                let is_word =
                    |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
                let word = next.filter(is_word).filter(|word| !word.starts_with('-'));
                // A word after a command without parts is an argument.
                word.is_none_or(|word| {
                    !command.has_subcommands() || command.find_subcommand(word).is_some()
                })
            };
            if !command.is_some_and(names_part) {
                unknown.push(format!(
                    "{}: loci {name} {}",
                    path.display(),
                    next.unwrap_or_default()
                ));
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn every_command_of_the_documents_is_valid_and_runs() {
    let home = TestHome::without_model();
    claude_memory(&home, "- The pond of the garden is green\n");
    assert!(home.loci(&["bridge", "claude", "--on", "--yes"]).status.success());
    let mut done = BTreeSet::new();
    let mut failures = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("the page is read");
        for arguments in commands_of(&text) {
            if !done.insert(arguments.clone()) {
                continue;
            }
            let line = arguments.join(" ");
            let shown = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Err(fault) = Cli::try_parse_from(
                std::iter::once("loci".to_owned()).chain(arguments.iter().cloned()),
            ) && fault.use_stderr()
            {
                failures.push(format!("{shown}: loci {line}: {fault}"));
            } else if !NOT_RUN.iter().any(|(command, _)| line.starts_with(command)) {
                failures.extend(failure(&home, &arguments).map(|why| format!("{shown}: {why}")));
            }
            for (command, back) in TAKEN_BACK {
                if line.starts_with(command) {
                    home.loci(back);
                }
            }
        }
    }
    assert!(done.len() > 80, "only {} commands were found", done.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
