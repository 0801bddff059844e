//! The screens of `loci import --from`: preview, import, nothing new, a changed text, and errors.
//!
//! After an intended change, run
//! `INSTA_UPDATE=always cargo test --release -p loci-tests --test it import_screens`.

use crate::home::TestHome;
use crate::normalize::normalize_names;
use std::fmt::Write as _;

const CLAUDE_MD: &str = "# CLAUDE.md\n\nThe shop sells pots.\n\n@AGENTS.md\n\n## Commands\n\n- `just serve` starts the shop on port 8077\n\nTo release:\n\n1. Run the tests\n2. Push the tag\n";

/// The command line, standard output, standard error and exit code.
fn screen(home: &TestHome, arguments: &[&str]) -> String {
    let output = home.loci(arguments);
    let mut text =
        format!("$ loci {}\n{}", arguments.join(" "), String::from_utf8_lossy(&output.stdout));
    if !output.stderr.is_empty() {
        let _ = write!(text, "[stderr]\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let _ = writeln!(text, "[{}]", output.status.code().unwrap_or(-1));
    normalize_names(&text.replace(home.path("").to_str().expect("the path is UTF-8"), "~/"))
}

#[test]
fn an_import_of_another_program_prints_these_screens() {
    let home = TestHome::without_model();
    let file = home.path("project/CLAUDE.md");
    std::fs::write(&file, CLAUDE_MD).expect("it is written");
    let mut screens = vec![
        screen(&home, &["import", "--from", "claude-md"]),
        screen(&home, &["import", "--from", "claude-md", "--yes"]),
        screen(&home, &["import", "--from", "claude-md"]),
    ];
    std::fs::write(&file, CLAUDE_MD.replace("8077", "9090")).expect("it is written");
    screens.push(screen(&home, &["import", "--from", "claude-md", "--yes", "--mine"]));
    screens.push(screen(&home, &["import", "--from", "markdown"]));
    screens.push(screen(&home, &["import", "--from", "engram", "nowhere.db"]));
    screens.push(screen(&home, &["import", "--dry-run", "all.jsonl"]));
    insta::assert_snapshot!("import_from", screens.join("\n"));
}
