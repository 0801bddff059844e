//! `loci import --from history`: what transcripts of real shape teach, as candidates.

use crate::home::TestHome;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Copies the transcripts of a client into a home, with the folder of the project filled in.
fn copy(from: &Path, to: &Path, project: &str) {
    fs::create_dir_all(to).expect("the folder is created");
    for entry in fs::read_dir(from).expect("the folder is readable") {
        let entry = entry.expect("the entry is readable");
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target, project);
        } else {
            let text = fs::read_to_string(&path).expect("the file is readable");
            fs::write(target, text.replace("PROJECT", project)).expect("the file is written");
        }
    }
}

/// Returns a home with three transcripts of the project.
fn home_with_transcripts() -> TestHome {
    let home = TestHome::without_model();
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data/history");
    let project = home.path("project").canonicalize().expect("the folder exists");
    let project = project.to_str().expect("the path is UTF-8");
    for client in ["claude", "codex", "gemini"] {
        copy(&data.join(client), &home.path(&format!(".{client}")), project);
    }
    home
}

fn json(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

fn texts(list: &Value) -> Vec<(String, String)> {
    let text = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let items = list.as_array().expect("a JSON array").iter();
    items.map(|item| (text(item, "kind"), text(item, "text"))).collect()
}

#[test]
fn the_preview_shows_what_is_taken_and_takes_nothing() {
    let home = home_with_transcripts();
    let preview = json(&home, &["import", "--from", "history", "--dry-run", "--json"]);
    let expected = [
        ("command", "Run the tests: `pnpm test`"),
        ("decision", "We decided to keep prices in cents because rounding lost money."),
        ("decision", "We agreed to deploy on Tuesdays only."),
        (
            "fix",
            "`pnpm test` failed with: Error: Cannot find module 'heron-client'\nMended by running `pnpm add heron-client`.",
        ),
        (
            "fix",
            "`pnpm build` failed with: src/cart.ts:12:3 - error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.\nMended by changing src/cart.ts.",
        ),
        ("preference", "Always use pnpm, never npm."),
        ("preference", "From now on write commit messages in English."),
    ];
    let expected = expected.map(|(kind, text)| (kind.to_owned(), text.to_owned()));
    assert_eq!(texts(&preview["found"]), expected);
    assert_eq!((&preview["transcripts"], &preview["skipped_lines"]), (&3.into(), &1.into()));
    assert_eq!(preview["with_secrets"], 1);
    let history = &preview["found"][0]["metadata"]["history"];
    assert!(history["file"].as_str().is_some_and(|file| file.starts_with("~/.claude/projects/")));
    assert!(history["line"].is_u64() && history["session"].is_string(), "{history}");
    assert_eq!(json(&home, &["stats", "--json"])["total_memories"], 0);
    let refused = home.loci(&["import", "--from", "history"]);
    assert!(!refused.status.success(), "without a terminal it needs --yes");
}

#[test]
fn a_client_and_a_time_limit_what_is_read() {
    let home = home_with_transcripts();
    let import = ["import", "--from", "history", "--dry-run", "--json"];
    let found = |more: &[&str]| texts(&json(&home, &[&import[..], more].concat())["found"]).len();
    assert_eq!(found(&["--client", "codex"]), 2);
    assert_eq!(found(&["--client", "codex", "--client", "gemini"]), 3);
    assert_eq!(found(&["--since", "1h"]), 0);
}

#[test]
fn an_import_is_one_act_keeps_the_dates_and_a_second_one_changes_nothing() {
    let home = home_with_transcripts();
    let import = ["import", "--from", "history", "--yes", "--json"];
    let reply = json(&home, &import);
    assert_eq!((&reply["added"], &reply["changed"]), (&7.into(), &0.into()), "{reply}");
    let list = json(&home, &["list", "--status", "candidate", "--json"]);
    let memories = list["memories"].as_array().expect("a JSON array");
    assert_eq!(memories.len(), 7);
    let created: Vec<&str> =
        memories.iter().filter_map(|memory| memory["created_at"].as_str()).collect();
    assert!(created.iter().all(|at| at.starts_with("2026-10-0")), "{created:?}");
    assert!(memories.iter().all(|memory| memory["origin"] == "import"), "{list}");
    let again = json(&home, &import);
    assert_eq!(
        (&again["added"], &again["changed"], &again["unchanged"]),
        (&0.into(), &0.into(), &7.into())
    );
    assert_eq!(json(&home, &["list", "--json"])["total"], 0, "none is active");
    assert!(home.loci(&["undo", "--last", "--yes"]).status.success());
    assert_eq!(json(&home, &["list", "--status", "all", "--json"])["total"], 0);
}

#[test]
fn candidates_answer_below_memories_are_never_injected_and_can_be_reviewed() {
    let home = home_with_transcripts();
    json(&home, &["import", "--from", "history", "--yes", "--json"]);
    let found = json(&home, &["search", "prices in cents", "--json"]);
    assert_eq!(found["results"][0]["status"], "candidate");
    let hook = json(&home, &["recall", "--for-hook", "--json", "do we keep prices in cents?"]);
    assert!(hook["memories"].as_array().is_none_or(Vec::is_empty), "{hook}");
    let fix = home.loci(&["fix", "lib/a.ts:99:1 - error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'."]);
    let fix = String::from_utf8_lossy(&fix.stdout).into_owned();
    assert!(fix.contains("(candidate)") && fix.contains("Mended by changing src/cart.ts"), "{fix}");
    let how = home.loci(&["how", "pnpm"]);
    let how = String::from_utf8_lossy(&how.stdout).into_owned();
    assert!(how.contains("Run the tests: `pnpm test`"), "{how}");
    let review = ["review", "--candidates", "--limit", "1"];
    let (code, screen) = home.at_terminal(&review, "Enter skips:", "a");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("Accepted") && screen.contains("~/.claude/projects/"), "{screen}");
    assert_eq!(json(&home, &["list", "--json"])["total"], 1);
    let (_, screen) = home.at_terminal(&review, "Enter skips:", "r");
    assert!(screen.contains("Forgotten"), "{screen}");
    assert_eq!(json(&home, &["list", "--status", "candidate", "--json"])["total"], 5);
    let export = home.loci(&["export"]);
    let export = String::from_utf8_lossy(&export.stdout).into_owned();
    assert_eq!(export.matches("\"status\":\"candidate\"").count(), 5);
}
