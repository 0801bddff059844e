//! What `loci import --from` leaves out, and what it does not: projects in which loci is off, and notes beside the files of an export.

use crate::home::TestHome;
use crate::in_time::OutputInTime;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A message of a transcript of Claude Code in a folder.
fn transcript(folder: &Path) -> String {
    let text = "Always run the linter before each commit.";
    serde_json::json!({
        "type": "user", "uuid": "u1", "sessionId": "s1", "timestamp": "2026-11-02T10:00:00Z", "cwd": folder,
        "message": {"role": "user", "content": text},
    })
    .to_string()
}

/// Runs an import outside the projects; returns its reply.
fn import(home: &TestHome, arguments: &[&str]) -> Value {
    let mut command = home.command("loci");
    command.current_dir(home.path("")).args(["import", "--yes", "--json", "--from"]);
    let output = command.args(arguments).output_in_time().expect("loci runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

fn texts_of_all(home: &TestHome) -> String {
    String::from_utf8_lossy(&home.loci(&["dump"]).stdout).into_owned()
}

#[test]
fn nothing_is_imported_into_a_project_in_which_loci_is_off() {
    let home = TestHome::without_model();
    let folder = home.path("web");
    fs::create_dir_all(folder.join(".git")).expect("the folder is created");
    fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").expect("it is written");
    fs::write(folder.join("CLAUDE.md"), "The canary of the shop is yellow.\n").expect("written");
    let name = folder.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let transcripts = home.path("").join(".claude/projects").join(name);
    fs::create_dir_all(&transcripts).expect("the folder is created");
    fs::write(transcripts.join("s1.jsonl"), transcript(&folder)).expect("it is written");
    // The project has to be known to be switched off.
    let in_project = |arguments: &[&str]| {
        let mut command = home.command("loci");
        let output =
            command.current_dir(&folder).args(arguments).output_in_time().expect("loci runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
    };
    in_project(&["add", "A first text"]);
    in_project(&["groups", "off"]);
    let file = folder.join("CLAUDE.md");
    let file = file.to_str().expect("UTF-8");
    let tries = || {
        import(&home, &["claude-md", file]);
        import(&home, &["history"]);
    };
    tries();
    let stored = texts_of_all(&home);
    assert!(!stored.contains("canary") && !stored.contains("linter"), "{stored}");
    in_project(&["groups", "on"]);
    home.configure("[projects]\nopt_in = true");
    assert!(home.loci(&["ctl", "reload"]).status.success());
    let other = home.path("other");
    fs::create_dir_all(other.join(".git")).expect("the folder is created");
    fs::write(other.join(".git/HEAD"), "ref: refs/heads/main\n").expect("it is written");
    fs::write(other.join("CLAUDE.md"), "The canary of the shop is yellow.\n").expect("written");
    import(&home, &["claude-md", other.join("CLAUDE.md").to_str().expect("UTF-8")]);
    assert!(!texts_of_all(&home).contains("canary"), "{}", texts_of_all(&home));
    home.configure("");
    assert!(home.loci(&["ctl", "reload"]).status.success());
    tries();
    let stored = texts_of_all(&home);
    assert!(stored.contains("canary") && stored.contains("linter"), "{stored}");
}

#[test]
fn a_forgotten_statement_does_not_come_back_from_another_file() {
    let home = TestHome::without_model();
    let (first, second) = (home.path("project/CLAUDE.md"), home.path("project/AGENTS.md"));
    fs::write(&first, "- The canary of the shop is yellow.\n").expect("it is written");
    fs::copy(&first, &second).expect("it is copied");
    import(&home, &["claude-md", first.to_str().expect("UTF-8")]);
    let listed = home.loci(&["list", "--json"]);
    let reply: Value = serde_json::from_slice(&listed.stdout).expect("valid JSON");
    let id = reply["memories"][0]["id"].as_str().expect("it has an id");
    assert!(home.loci(&["forget", id]).status.success());
    let preview = import(&home, &["agents-md", second.to_str().expect("UTF-8")]);
    assert!(preview.to_string().contains("was forgotten here"), "{preview}");
}

#[test]
fn notes_beside_the_files_of_an_export_are_imported_too() {
    let (old, new) = (TestHome::without_model(), TestHome::without_model());
    assert!(old.loci(&["add", "The heron serves staging", "--type", "semantic"]).status.success());
    let notes = old.path("notes");
    let notes = notes.to_str().expect("UTF-8");
    assert!(old.loci(&["export", "--format", "markdown", "--output", notes]).status.success());
    fs::write(old.path("notes/plain.md"), "The kettle in the office is green.\n").expect("written");
    let output = new.loci(&["import", "--yes", "--from", "markdown", notes]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stored = texts_of_all(&new);
    assert!(stored.contains("heron serves staging") && stored.contains("kettle"), "{stored}");
}
