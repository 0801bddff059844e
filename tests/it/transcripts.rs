//! `loci import --from history`: what transcripts of real shape teach, as candidates.

use crate::home::TestHome;
use crate::terminal::Terminal;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
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
    items.map(|item| (text(&item["metadata"], "kind"), text(item, "content"))).collect()
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
    assert_eq!(texts(&preview["memories"]), expected);
    assert_eq!(preview["files"].as_array().map(Vec::len), Some(3));
    let left_out = serde_json::json!({"lines that cannot be read": 1, "may hold a secret": 1});
    assert_eq!(preview["left_out_more"], left_out);
    let history = &preview["memories"][0]["metadata"]["history"];
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
    let found =
        |more: &[&str]| texts(&json(&home, &[&import[..], more].concat())["memories"]).len();
    assert_eq!(found(&["--client", "codex"]), 2);
    assert_eq!(found(&["--client", "codex", "--client", "gemini"]), 3);
    assert_eq!(found(&["--since", "1h"]), 0);
}

#[test]
fn an_import_is_one_act_keeps_the_dates_and_a_second_one_changes_nothing() {
    let home = home_with_transcripts();
    let import = ["import", "--from", "history", "--yes", "--json"];
    let reply = json(&home, &import)["import"].clone();
    assert_eq!((&reply["added"], &reply["changed"]), (&7.into(), &0.into()), "{reply}");
    let list = json(&home, &["list", "--status", "candidate", "--json"]);
    let memories = list["memories"].as_array().expect("a JSON array");
    assert_eq!(memories.len(), 7);
    let created: Vec<&str> =
        memories.iter().filter_map(|memory| memory["created_at"].as_str()).collect();
    assert!(created.iter().all(|at| at.starts_with("2026-10-0")), "{created:?}");
    assert!(memories.iter().all(|memory| memory["origin"] == "import"), "{list}");
    let again = json(&home, &import);
    assert_eq!((&again["new"], &again["unchanged"]), (&0.into(), &7.into()));
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

/// Writes a transcript of Claude Code into a home: lines of who said or did what, in a folder.
struct Transcript {
    lines: Vec<Value>,
    folder: String,
    calls: usize,
}

impl Transcript {
    fn of(folder: &Path) -> Self {
        let folder = folder.canonicalize().expect("the folder exists");
        Self { lines: Vec::new(), folder: folder.display().to_string(), calls: 0 }
    }

    fn add(&mut self, kind: &str, content: &Value, more: &Value) {
        let at =
            format!("2026-10-05T09:{:02}:{:02}.000Z", self.lines.len() / 60, self.lines.len() % 60);
        let mut line = serde_json::json!({
            "type": kind, "isSidechain": false, "cwd": self.folder, "sessionId": "s1", "timestamp": at,
            "uuid": format!("u{}", self.lines.len()), "message": {"role": kind, "content": content},
        });
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object()) {
            line.extend(more.clone());
        }
        self.lines.push(line);
    }

    fn says(&mut self, text: &str) {
        self.add("user", &text.into(), &Value::Null);
    }

    fn tool(&mut self, name: &str, input: &Value, output: &str, failed: bool) {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        let call =
            serde_json::json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        self.add("assistant", &call, &Value::Null);
        let output = if failed { format!("Exit code 1\n{output}") } else { output.to_owned() };
        let result = serde_json::json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]);
        self.add("user", &result, &Value::Null);
    }

    fn runs(&mut self, command: &str, output: &str, failed: bool) {
        self.tool("Bash", &serde_json::json!({"command": command}), output, failed);
    }

    fn write(&self, home: &TestHome, name: &str) {
        let folder = home.path(".claude/projects/p");
        fs::create_dir_all(&folder).expect("the folder is created");
        let lines: Vec<String> = self.lines.iter().map(Value::to_string).collect();
        fs::write(folder.join(name), lines.join("\n") + "\n").expect("the file is written");
    }
}

/// Creates a git repository as far as loci looks at it.
fn repository(home: &TestHome, name: &str) -> PathBuf {
    let folder = home.path(name);
    fs::create_dir_all(folder.join(".git")).expect("the folder is created");
    fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").expect("the file is written");
    folder
}

const PREVIEW: [&str; 5] = ["import", "--from", "history", "--dry-run", "--json"];

#[test]
fn a_summary_of_the_client_is_left_out_and_a_fix_names_what_lay_between() {
    let home = TestHome::without_model();
    let mut session = Transcript::of(&home.path("project"));
    let summary = "This session is being continued from a previous conversation.\nWe decided to rewrite everything in Rust.";
    session.add("user", &summary.into(), &serde_json::json!({"isCompactSummary": true}));
    session.says(summary);
    let denied = "dial unix /var/run/docker.sock: connect: permission denied";
    session.runs("go test ./... --day 2026-11-02", denied, true);
    session.runs("sudo usermod -aG docker $USER", "", false);
    session.runs("git commit -m wip", "", false);
    session.runs("sg docker -c 'go test ./...'", "ok", false);
    for _ in 0..3 {
        session.runs("./scripts/ship.sh staging", "ok", false);
        session.runs("git status", "clean", false);
    }
    session.write(&home, "a.jsonl");
    let found = texts(&json(&home, &PREVIEW)["memories"]);
    let expected = [
        ("command", "`./scripts/ship.sh staging` works in this project".to_owned()),
        (
            "fix",
            format!(
                "`go test ./... --day 2026-11-02` failed with: {denied}\nMended by running `sudo usermod -aG docker $USER` and running `sg docker -c 'go test ./...'`."
            ),
        ),
    ];
    assert_eq!(found, expected.map(|(kind, text)| (kind.to_owned(), text)));
    assert!(home.loci(&["import", "--from", "history", "--yes"]).status.success());
    let list = json(&home, &["list", "--status", "candidate", "--json"]);
    assert!(!list.to_string().contains("event_date_derived"), "{list}");
}

#[test]
fn an_accepted_attempt_is_a_rejected_one_with_its_reason() {
    let home = TestHome::without_model();
    let mut session = Transcript::of(&home.path("project"));
    session.says("We tried DuckDB for the readings and reverted it: it takes a lock.");
    session.write(&home, "a.jsonl");
    assert!(home.loci(&["import", "--from", "history", "--yes"]).status.success());
    let (_, screen) = home.at_terminal(&["review", "--candidates"], "Enter skips:", "a");
    assert!(screen.contains("1 of 1") && screen.contains("given up: it takes a lock"), "{screen}");
    assert!(screen.contains("1 accepted, 0 rejected, 0 left"), "{screen}");
    let list = json(&home, &["list", "--status", "rejected", "--json"]);
    assert_eq!(list["memories"][0]["rejected"], "it takes a lock");
    let list = home.loci(&["list", "--status", "rejected"]);
    assert!(String::from_utf8_lossy(&list.stdout).contains("rejected: it takes a lock"));
    assert!(home.loci(&["undo", "--last", "--yes"]).status.success());
    assert_eq!(json(&home, &["list", "--status", "candidate", "--json"])["total"], 1);
}

#[test]
fn what_is_left_out_is_counted_and_what_is_known_is_not_new() {
    let home = TestHome::without_model();
    let mut session = Transcript::of(&home.path("project"));
    for number in 0..33 {
        session.runs(&format!("make target-{number}x"), "ok", false);
        session.runs(&format!("make target-{number}x"), "ok", false);
    }
    session.write(&home, "a.jsonl");
    let preview = json(&home, &PREVIEW);
    assert_eq!(texts(&preview["memories"]).len(), 30);
    assert_eq!(
        preview["left_out_more"],
        serde_json::json!({"a command in project: there are too many": 3})
    );
    let text =
        |arguments: &[&str]| String::from_utf8_lossy(&home.loci(arguments).stdout).into_owned();
    let shown = text(&["import", "--from", "history", "--dry-run"]);
    assert!(shown.contains("3: a command in project: there are too many"), "{shown}");
    assert!(home.loci(&["import", "--from", "history", "--yes"]).status.success());
    let again = text(&["import", "--from", "history"]);
    assert!(again.contains("Nothing to import."), "{again}");
    assert!(again.contains("project  procedural    0        0         30"), "{again}");
}

#[test]
fn a_sentence_belongs_to_the_folder_of_the_session_and_review_names_other_projects() {
    let home = TestHome::without_model();
    let (tide, kiln) = (repository(&home, "tide"), repository(&home, "kiln"));
    fs::write(kiln.join("store.go"), "package store\n").expect("the file is written");
    let mut session = Transcript::of(&tide);
    session.says("We decided to use Zig for the gateway.");
    let folder = std::mem::replace(&mut session.folder, kiln.display().to_string());
    session.says("We agreed that logs go to stderr.");
    session.runs("make lint", "store.go:1: error: unused", true);
    let file = kiln.join("store.go").display().to_string();
    session.tool("Edit", &serde_json::json!({"file_path": file}), "updated", false);
    session.runs("make lint", "ok", false);
    session.folder = folder;
    session.write(&home, "a.jsonl");
    let preview = json(&home, &PREVIEW);
    let groups = |kind: &str| -> Vec<&Value> {
        let found = preview["memories"].as_array().into_iter().flatten();
        found
            .filter(|found| found["metadata"]["kind"] == kind)
            .map(|found| &found["project"]["name"])
            .collect()
    };
    assert_eq!(groups("decision"), ["tide", "tide"], "{preview}");
    assert_eq!(groups("fix"), ["kiln"], "{preview}");
    let fix = preview["memories"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|found| found["metadata"]["kind"] == "fix");
    let files = fix.map(|fix| &fix["metadata"]["files"]);
    assert!(files.is_some_and(|files| files["store.go"].is_string()), "{preview}");
    assert!(home.loci(&["import", "--from", "history", "--yes"]).status.success());
    let review = home.loci(&["review", "--candidates", "--list"]);
    let review = String::from_utf8_lossy(&review.stdout).into_owned();
    assert!(review.contains("3 candidates in other projects (kiln 1, tide 2)"), "{review}");
    let review = home.loci(&["review", "--candidates", "--all-groups", "--list"]);
    assert!(String::from_utf8_lossy(&review.stdout).contains("3 of 3 candidates"));
    let stats = home.loci(&["stats"]);
    assert!(
        String::from_utf8_lossy(&stats.stdout)
            .contains("3 (loci review --candidates --all-groups)")
    );
}

#[test]
fn review_opens_the_text_in_the_editor_answers_unknown_input_and_wraps_at_words() {
    let home = TestHome::without_model();
    let mut session = Transcript::of(&home.path("project"));
    session.says("We decided that the readings of the institute are kept in Postgres and nowhere else, whatever their number.");
    session.write(&home, "a.jsonl");
    assert!(home.loci(&["import", "--from", "history", "--yes"]).status.success());
    let list = home.loci(&["review", "--candidates", "--list"]);
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(list.contains("whatever their number."), "{list}");
    let editor = home.path("editor");
    fs::write(&editor, "#!/bin/sh\nsed -i s/Postgres/SQLite/ \"$1\"\n").expect("written");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o700)).expect("executable");
    let mut command = home.command("loci");
    command.args(["review", "--candidates"]).env("TERM", "xterm").env("EDITOR", &editor);
    command.env_remove("VISUAL");
    let mut terminal = Terminal::start(command, 60, 30);
    terminal.wait_for("institute are kept");
    terminal.wait_for("Enter skips:");
    terminal.press("x\n");
    terminal.wait_for("x is no answer. Type one of the letters in brackets.");
    terminal.press("e\n");
    terminal.wait_for("1 accepted, 0 rejected, 0 left");
    assert!(terminal.end().0.success());
    let list = json(&home, &["list", "--json", "--text", "SQLite"]);
    assert_eq!(list["total"], 1, "{list}");
}
