//! Rules for the scripts that people and the build server run: they exist, are executable, and stop
//! at the first failure.

use crate::assert_rule;
use crate::repository::{File, files, read, root};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn is_shell(file: &File) -> bool {
    let text = file.text();
    text.lines().next().is_some_and(|line| {
        line.starts_with("#!/") && (line.ends_with("bash") || line.ends_with("/sh"))
    })
}

fn without_strict_mode(file: &File) -> Vec<String> {
    let text = file.text();
    let first = text.lines().find(|line| !line.starts_with('#') && !line.trim().is_empty());
    // A POSIX shell may not know pipefail.
    let expected = if text.starts_with("#!/bin/sh\n") { "set -eu" } else { "set -euo pipefail" };
    if first == Some(expected) {
        Vec::new()
    } else {
        vec![format!("{}: begins with {first:?}", file.path)]
    }
}

#[test]
fn scripts_stop_at_the_first_failure() {
    let file = |text: &str| File { path: "a.sh".to_owned(), bytes: text.as_bytes().to_vec() };
    assert!(
        without_strict_mode(&file(
            "#!/usr/bin/env bash\n# What it does.\nset -euo pipefail\nfalse\n"
        ))
        .is_empty()
    );
    assert_eq!(
        without_strict_mode(&file("#!/usr/bin/env bash\nfalse\necho all is well\n")).len(),
        1
    );
    assert!(without_strict_mode(&file("#!/bin/sh\nset -eu\nfalse\n")).is_empty());
    let rule = "A shell script begins with `set -euo pipefail` (`set -eu` for /bin/sh): a failed step must not be reported as success.";
    assert_rule(
        rule,
        &files()
            .iter()
            .filter(|file| is_shell(file))
            .flat_map(without_strict_mode)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn scripts_are_executable() {
    let files = files();
    for known in [".ci/run", "tests/run.sh", "tests/clients/run.sh"] {
        assert!(
            files.iter().any(|file| file.path == known && is_shell(file)),
            "{known} is a shell script"
        );
    }
    let is_executable = |file: &File| {
        fs::metadata(root().join(&file.path))
            .is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
    };
    let violations = files.iter().filter(|file| is_shell(file) && !is_executable(file));
    assert_rule(
        "A shell script is executable (chmod +x).",
        &violations.map(|file| file.path.clone()).collect::<Vec<_>>(),
    );
}

#[test]
fn the_ablation_study_finds_the_constants_of_the_engine() {
    let study = Command::new("python3")
        .args(["bench/ablation.py", "--check"])
        .current_dir(root())
        .output()
        .expect("python3 runs");
    let stderr = String::from_utf8_lossy(&study.stderr).trim().to_owned();
    let rule = "bench/ablation.py finds the constants that it changes: if you move or rename a ranking constant, update its path there.";
    assert_rule(rule, if study.status.success() { &[] } else { std::slice::from_ref(&stderr) });
}

/// The commands in the `sh` code blocks of a page, in order.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        match line {
            "```sh" => in_block = true,
            "```" => in_block = false,
            command if in_block => {
                commands.push(command.split(" #").next().unwrap_or(command).trim_end().to_owned());
            }
            _ => {}
        }
    }
    commands
}

fn missing_commands(readme: &str, script: &str) -> Vec<String> {
    let runs = |command: &String| {
        script.lines().any(|line| line.trim_start_matches('(').trim_end_matches(')') == command)
    };
    let first = commands(readme).into_iter().take(2);
    first
        .filter(|command| !runs(command))
        .map(|command| format!(".ci/run does not run: {command}"))
        .collect()
}

#[test]
fn the_build_server_runs_the_first_two_commands_of_the_readme() {
    let made_up = "# x\n```sh\na && b   # both\n```\ntext\n```toml\nc = 1\n```\n```sh\nd\ne\n```\n";
    assert_eq!(commands(made_up), ["a && b", "d", "e"]);
    assert!(missing_commands(made_up, "set -euo pipefail\n(a && b)\nd\n").is_empty());
    assert_eq!(missing_commands(made_up, "a && b --fast\nd"), [".ci/run does not run: a && b"]);
    let rule = "The build server runs the first two commands of README.md word for word, so that the documented commands are the tested ones.";
    assert_rule(rule, &missing_commands(&read("README.md"), &read(".ci/run")));
}
