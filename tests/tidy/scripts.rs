//! The commands that people and the build server run: they are there, can be run, and stop at the first thing that fails.

use crate::keep;
use crate::repository::{File, files, root};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn is_shell(file: &File) -> bool {
    file.bytes.starts_with(b"#!") && file.text().lines().next().is_some_and(|line| line.ends_with("bash") || line.ends_with("/sh"))
}

fn careless(file: &File) -> Vec<String> {
    let text = file.text();
    let code = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let careful = code.take(1).any(|line| line == "set -euo pipefail");
    if careful { Vec::new() } else { vec![format!("{}: does not begin with `set -euo pipefail`", file.path)] }
}

#[test]
fn scripts_stop_at_the_first_failure() {
    let file = |text: &str| File { path: "a.sh".to_owned(), bytes: text.as_bytes().to_vec() };
    assert!(careless(&file("#!/usr/bin/env bash\n# What it does.\nset -euo pipefail\nfalse\n")).is_empty());
    assert_eq!(careless(&file("#!/usr/bin/env bash\nfalse\necho all is well\n")).len(), 1);
    let rule = "A shell script begins with `set -euo pipefail`: a step that failed must not end in a green light.";
    keep(rule, &files().iter().filter(|file| is_shell(file)).flat_map(careless).collect::<Vec<_>>());
}

#[test]
fn scripts_can_be_run() {
    let files = files();
    for known in [".ci/run", "tests/run.sh"] {
        assert!(files.iter().any(|file| file.path == known && is_shell(file)), "{known} is a shell script");
    }
    let runnable = |file: &File| fs::metadata(root().join(&file.path)).is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
    let lame = files.iter().filter(|file| is_shell(file) && !runnable(file));
    keep("A file that begins with `#!` can be run (chmod +x).", &lame.map(|file| file.path.clone()).collect::<Vec<_>>());
}
