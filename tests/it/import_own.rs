//! Files that loci itself wrote, imported as one's own: dumps, edited Markdown; and where notes go.

use crate::home::TestHome;
use serde_json::{Value, json};
use std::fs;

fn done(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(&[arguments, &["--json"]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

fn dump(home: &TestHome) -> String {
    let output = home.loci(&["dump"]);
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

fn memory_lines(dump: &str) -> Vec<&str> {
    dump.lines().filter(|line| line.contains(r#""kind":"memory""#)).collect()
}

#[test]
fn a_dump_is_previewed_and_asked_for_and_a_dry_run_changes_nothing() {
    let old = TestHome::without_model();
    done(&old, &["add", "I prefer tea", "--type", "semantic"]);
    let file = old.path("memories.dump").to_str().expect("the path is UTF-8").to_owned();
    assert!(old.loci(&["dump", "--output", &file]).status.success());
    let new = TestHome::without_model();
    let arguments = ["import", "--from", "dump", "--mine", &file];
    let preview = done(&new, &[&arguments[..], &["--dry-run"]].concat());
    assert_eq!((&preview["new"], &preview["unchanged"]), (&json!(1), &json!(0)), "{preview}");
    let asked = new.loci(&arguments);
    assert_eq!(asked.status.code(), Some(2), "it asks");
    assert!(String::from_utf8_lossy(&asked.stdout).contains("I prefer tea"));
    assert!(memory_lines(&dump(&new)).is_empty(), "nothing was imported");
    let shown = new.loci(&[&arguments[..], &["--yes"]].concat());
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("1 memory added") && !shown.contains("confirm --imported"), "{shown}");
    let refused = new.loci(&["import", "--dry-run", &file]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(error.contains("--from dump --dry-run"), "{error}");
}

#[test]
fn the_line_of_a_memory_is_the_same_whichever_machine_dumps_it() {
    let one = TestHome::without_model();
    let mut agent = one.session();
    agent.store("semantic", "The staging server is called heron");
    drop(agent);
    done(&one, &["add", "I prefer tea", "--type", "semantic"]);
    fs::write(one.path("project/CLAUDE.md"), "- Use pnpm\n").expect("it is written");
    done(&one, &["import", "--from", "claude-md", "--yes"]);
    let first = dump(&one);
    let file = one.path("one.dump");
    fs::write(&file, &first).expect("it is written");
    let two = TestHome::without_model();
    let path = file.to_str().expect("the path is UTF-8").to_owned();
    done(&two, &["import", "--from", "dump", "--mine", &path, "--yes"]);
    let second = dump(&two);
    assert_eq!(memory_lines(&second), memory_lines(&first));
    assert_eq!(memory_lines(&first).len(), 3);
    // What is not said to be one's own is not believed.
    let three = TestHome::without_model();
    done(&three, &["import", "--from", "dump", &path, "--yes"]);
    assert!(memory_lines(&dump(&three)).iter().all(|line| line.contains(r#""trust":"import""#)));
}

#[test]
fn an_edited_file_of_an_export_is_shown_and_taken_with_mine() {
    let home = TestHome::without_model();
    let id = done(&home, &["add", "Tea is at four", "--type", "semantic"])["id"].to_string();
    let export = home.loci(&["export", "--format", "markdown", "--output", "notes"]);
    assert!(export.status.success());
    let folder = home.path("project/notes/project/semantic");
    let entry = fs::read_dir(&folder).expect("it is there").next().expect("one file");
    let path = entry.expect("it is readable").path();
    let text = fs::read_to_string(&path).expect("it is read");
    let line = text.lines().find(|line| line.starts_with("updated_at:")).expect("it has one");
    let text = text.replace("Tea is at four", "Tea is at five");
    let text = text.replace(line, "updated_at: \"2099-01-01T00:00:00Z\"");
    fs::write(&path, text).expect("it is written");
    let plain = done(&home, &["import", "--from", "markdown", "notes", "--dry-run"]);
    let kept = plain["kept"].to_string();
    assert!(kept.contains("--mine takes the file"), "{plain}");
    let preview = done(&home, &["import", "--from", "markdown", "notes", "--mine", "--dry-run"]);
    assert_eq!(
        preview["changed"],
        json!(["project · Tea is at four -> Tea is at five"]),
        "{preview}"
    );
    let reply = done(&home, &["import", "--from", "markdown", "notes", "--mine", "--yes"]);
    assert_eq!(reply["changed"], 1, "{reply}");
    assert!(dump(&home).contains("Tea is at five") && dump(&home).contains(id.trim_matches('"')));
}

#[test]
fn notes_outside_any_repository_go_to_the_project_here_and_a_renamed_folder_is_known() {
    let home = TestHome::without_model();
    fs::create_dir_all(home.path("notes/Daily")).expect("it is created");
    fs::write(home.path("notes/Daily/a.md"), "- The sauna has two benches\n").expect("a file");
    let notes = home.path("notes").to_str().expect("the path is UTF-8").to_owned();
    let reply = done(&home, &["import", "--from", "markdown", &notes, "--yes"]);
    assert_eq!(reply["preview"]["by_project"][0]["project"]["name"], "project", "{reply}");
    fs::rename(home.path("notes"), home.path("notes2")).expect("it is renamed");
    fs::write(home.path("notes2/Daily/b.md"), "- The door is oak\n").expect("a file");
    let renamed = format!("{notes}2");
    let again = done(&home, &["import", "--from", "markdown", &renamed, "--yes"]);
    let preview = &again["preview"];
    assert_eq!((&preview["new"], &preview["unchanged"]), (&json!(1), &json!(1)), "{again}");
    // Notes of a repository belong to it.
    fs::create_dir_all(home.path("other/.git")).expect("it is created");
    fs::write(home.path("other/.git/HEAD"), "ref: refs/heads/main\n").expect("a file");
    fs::write(home.path("other/notes.md"), "- The other one\n").expect("a file");
    let other = home.path("other").to_str().expect("the path is UTF-8").to_owned();
    let preview = done(&home, &["import", "--from", "markdown", &other, "--dry-run"]);
    assert_eq!(preview["by_project"][0]["project"]["name"], "other", "{preview}");
}

#[test]
fn what_is_confirmed_is_shown_first() {
    let home = TestHome::without_model();
    fs::write(home.path("project/a.md"), "- The sauna has two benches\n").expect("a file");
    done(&home, &["import", "--from", "markdown", "a.md", "--yes"]);
    let asked = home.loci(&["confirm", "--imported"]);
    assert_eq!(asked.status.code(), Some(2));
    let shown = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert!(shown.contains("two benches"), "{shown}");
}

#[test]
fn a_relation_to_an_unknown_entity_and_whole_reasons_are_in_the_preview() {
    let home = TestHome::without_model();
    let graph = "{\"type\":\"entity\",\"name\":\"Marta\",\"entityType\":\"person\",\"observations\":[]}\n{\"type\":\"relation\",\"from\":\"Marta\",\"to\":\"Nobody\",\"relationType\":\"knows\"}\n";
    fs::write(home.path("project/memory.jsonl"), graph).expect("a file");
    let output = home.loci(&["import", "--from", "server-memory", "memory.jsonl", "--dry-run"]);
    let shown =
        String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("a relation to an unknown entity: Nobody"), "{shown}");
}

#[test]
fn a_wrong_project_of_a_move_names_the_nearest() {
    let home = TestHome::without_model();
    let id = done(&home, &["add", "Tea is at four", "--type", "semantic"])["id"].to_string();
    let id = id.trim_matches('"');
    done(&home, &["add", "A thought", "--type", "semantic", "--group", "brain"]);
    let refused = home.loci(&["move", id, "--to", "brian"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(error.contains("names no project: brian") && error.contains("brain"), "{error}");
}
