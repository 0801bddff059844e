//! The bridge to clients' own memory, through the real `loci` and daemon: every version is kept, files come back, statements are imported
//! once, and what a client loads by itself is not given again.
//!
//! Not here: splitting a file into statements (`engine::bridge`), finding files (`daemon::service::bridge`).

use crate::cli_screens::Scene;
use crate::home::{TestHome, binaries};
use crate::hooks::run_hook;
use crate::wire::wait_until;
use loci_proto::requests::bridge::claude_folder_name;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const DEPLOY: &str = "Deploys of the shop go through just ship";

/// Writes the memory file of Claude Code for the project of a home; returns its folder.
pub(crate) fn claude_memory(home: &TestHome, text: &str) -> PathBuf {
    let project = home.path("project").canonicalize().expect("the folder exists");
    let memory = home
        .path(".claude/projects")
        .join(claude_folder_name(&project.to_string_lossy()))
        .join("memory");
    fs::create_dir_all(&memory).expect("the folder is created");
    fs::write(memory.join("MEMORY.md"), text).expect("the file is written");
    memory
}

/// A home with Claude Code's memory of the project in which the tests work.
pub(crate) struct Watched {
    pub(crate) home: TestHome,
    pub(crate) memory: PathBuf,
}

impl Watched {
    pub(crate) fn new(home: TestHome, text: &str) -> Self {
        let memory = claude_memory(&home, text);
        let watched = Self { home, memory };
        watched.write("MEMORY.md", text);
        watched
    }

    /// Writes a file as Claude Code would.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.memory.join(name);
        fs::write(&path, text).expect("the file is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("the mode is set");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.memory.join(name)).expect("the file is read")
    }

    pub(crate) fn done(&self, arguments: &[&str]) -> String {
        let output = self.home.loci(arguments);
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {stdout}{stderr}");
        stdout.into_owned()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let text = self.done(&[arguments, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
    }

    pub(crate) fn refused(&self, arguments: &[&str]) -> String {
        let output = self.home.loci(arguments);
        assert!(!output.status.success(), "{arguments:?} must fail");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    pub(crate) fn on(&self) -> Value {
        self.json(&["bridge", "claude", "--on", "--yes"])
    }

    pub(crate) fn scan(&self) -> Value {
        self.json(&["bridge", "status", "--scan"])["clients"][0].clone()
    }

    /// The texts of the active memories of the project.
    pub(crate) fn memories(&self) -> Vec<String> {
        let reply = self.json(&["list"]);
        let mut texts: Vec<String> = reply["memories"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|memory| memory["preview"].as_str().unwrap_or_default().to_owned())
            .collect();
        texts.sort();
        texts
    }

    pub(crate) fn id_of(&self, text: &str) -> String {
        let reply = self.json(&["list", "--text", text]);
        reply["memories"][0]["id"].as_str().expect("the memory is listed").to_owned()
    }
}

#[test]
fn what_the_client_deleted_or_overwrote_comes_back_after_a_question() {
    let watched = Watched::new(TestHome::without_model(), "# Shop\n\n- Use pnpm here\n");
    assert!(watched.refused(&["bridge", "claude", "--on"]).contains("--yes"), "it asks");
    let switched = watched.on();
    assert_eq!((&switched["files"], &switched["versions"]), (&json!(1), &json!(1)));
    watched.write("MEMORY.md", "# Shop\n");
    watched.write("deploys.md", "Deploys go through just ship.\n");
    watched.scan();
    fs::remove_file(watched.memory.join("deploys.md")).expect("the file is deleted");
    let state = watched.scan();
    assert_eq!((&state["files"], &state["gone"]), (&json!(1), &json!(1)));

    let preview = watched.done(&["bridge", "restore", "MEMORY.md", "--dry-run"]);
    assert!(preview.contains("+- Use pnpm here"), "{preview}");
    assert!(watched.refused(&["bridge", "restore", "MEMORY.md"]).contains("--yes"), "it asks");
    assert_eq!(watched.read("MEMORY.md"), "# Shop\n");
    watched.done(&["bridge", "restore", "MEMORY.md", "--yes"]);
    assert_eq!(watched.read("MEMORY.md"), "# Shop\n\n- Use pnpm here\n");
    let mode = watched.memory.join("MEMORY.md").metadata().expect("it exists").permissions();
    assert_eq!(mode.mode() & 0o777, 0o644);
    // What was overwritten is a version, and so is what was restored.
    let history = watched.json(&["bridge", "history", "MEMORY.md"]);
    assert_eq!(history["versions"].as_array().map(Vec::len), Some(3), "{history}");
    watched.done(&["bridge", "restore", "MEMORY.md", "--version", "2", "--yes"]);
    assert_eq!(watched.read("MEMORY.md"), "# Shop\n");

    let restored = watched.json(&["bridge", "restore", "--yes"]);
    assert_eq!(restored["restored"].as_array().map(Vec::len), Some(1), "{restored}");
    assert_eq!(watched.read("deploys.md"), "Deploys go through just ship.\n");
    // A whole folder that is gone comes back too.
    fs::remove_dir_all(&watched.memory).expect("the folder is deleted");
    watched.done(&["bridge", "restore", "--yes"]);
    assert_eq!(watched.read("MEMORY.md"), "# Shop\n");
    // Without a model it does not succeed.
    let doctor = watched.home.loci(&["doctor"]).stdout;
    assert!(String::from_utf8_lossy(&doctor).contains("claude: last read"));
}

#[test]
fn a_version_survives_a_restart_and_a_backup_and_nothing_outside_is_written() {
    let watched = Watched::new(TestHome::without_model(), "- One two three\n");
    watched.on();
    watched.write("MEMORY.md", "- Four five six\n");
    watched.scan();
    watched.done(&["backup", "create"]);
    watched.done(&["ctl", "stop"]);
    watched.write("MEMORY.md", "- Seven eight nine\n");
    watched.done(&["ctl", "start"]);
    wait_until("the files are read at the start", || {
        let history = watched.json(&["bridge", "history", "MEMORY.md"]);
        history["versions"].as_array().is_some_and(|versions| versions.len() == 3)
    });
    let first = watched.done(&["bridge", "history", "MEMORY.md", "--version", "1"]);
    assert_eq!(first, "- One two three\n");
    // A link in place of the folder is not followed.
    let elsewhere = watched.home.path("elsewhere");
    fs::rename(&watched.memory, &elsewhere).expect("the folder is moved");
    std::os::unix::fs::symlink(&elsewhere, &watched.memory).expect("a link");
    let refused = watched.refused(&["bridge", "restore", "MEMORY.md", "--version", "1", "--yes"]);
    assert!(refused.contains("symbolic link"), "{refused}");
    let kept = fs::read_to_string(elsewhere.join("MEMORY.md")).expect("the file is read");
    assert_eq!(kept, "- Seven eight nine\n");
    assert!(watched.refused(&["bridge", "restore", "other.md"]).contains("names no memory file"));
}

#[test]
fn statements_are_imported_once_with_their_source_and_a_change_supersedes() {
    let text = "# Shop\n\n- [Deploys](deploys.md) — an index entry\n- Use pnpm in this repository\n- The wifi password is kX9#mQ2$vL7p\n";
    let watched = Watched::new(TestHome::without_model(), text);
    watched.write(
        "deploys.md",
        &format!("---\nname: deploys\ndescription: How deploys are done\ntype: feedback\n---\n\n{DEPLOY}\n"),
    );
    let switched = watched.on();
    assert_eq!(switched["imported"], 2, "{switched}");
    let deploy = "How deploys are done";
    assert_eq!(watched.memories(), [deploy, "Shop: Use pnpm in this repository"]);
    let memory = watched.json(&["inspect", &watched.id_of("pnpm")]);
    let memory = &memory["memory"];
    assert_eq!((&memory["trust"], &memory["origin"]), (&json!("import"), &json!("import")));
    let source = memory["metadata"]["source_file"].as_str().expect("it has a source");
    assert!(source.ends_with("/memory/MEMORY.md"), "{source}");

    watched.scan();
    watched.write("MEMORY.md", "# Shop\n\n- Use pnpm 9 in this repository\n");
    watched.scan();
    assert_eq!(watched.memories(), [deploy, "Shop: Use pnpm 9 in this repository"]);
    // What left its file stays, and says so; what was forgotten does not come back.
    watched.write("MEMORY.md", "# Shop\n");
    watched.scan();
    let left = watched.json(&["inspect", &watched.id_of("pnpm 9")]);
    assert!(left["memory"]["metadata"]["source_gone"].is_string(), "{left}");
    watched.done(&["forget", &watched.id_of("just ship"), "--yes"]);
    watched.write("deploys.md", &format!("{DEPLOY}\n"));
    watched.scan();
    assert_eq!(watched.memories(), ["Shop: Use pnpm 9 in this repository"]);
    // No version has the secret.
    let first = watched.done(&["bridge", "history", "MEMORY.md", "--version", "1"]);
    assert!(first.contains("[SECRET:") && !first.contains("kX9"), "{first}");
}

#[test]
fn a_permanently_deleted_statement_is_in_no_version_and_does_not_come_back() {
    let watched = Watched::new(TestHome::without_model(), "- Use pnpm here\n- The pond is green\n");
    watched.on();
    watched.write("MEMORY.md", "- The pond is green\n");
    watched.scan();
    watched.done(&["forget", &watched.id_of("pond"), "--hard", "--yes"]);
    let first = watched.done(&["bridge", "history", "MEMORY.md", "--version", "1"]);
    assert_eq!(first, "- Use pnpm here\n[FORGOTTEN]\n");
    watched.write("MEMORY.md", "- The pond is green\n- New statement here\n");
    watched.scan();
    let newest = watched.done(&["bridge", "history", "MEMORY.md", "--version", "3"]);
    assert_eq!(newest, "[FORGOTTEN]\n- New statement here\n");
    assert_eq!(watched.memories(), ["New statement here", "Use pnpm here"]);
}

#[test]
fn what_claude_loads_by_itself_is_withheld_from_claude_alone() {
    let watched = Watched::new(TestHome::new(), &format!("# Shop\n\n- {DEPLOY}.\n"));
    let mut agent = watched.home.session();
    agent.store("semantic", DEPLOY);
    wait_until("the model is ready", || {
        let reply = agent.call("recall_memory", json!({"query": "warm", "dry_run": true}));
        reply.expect("the call succeeds").get("degraded").is_none()
    });
    let prompt = |client: &str, session: &str| {
        let input = json!({"session_id": session, "prompt": "How do deploys of the shop go?"});
        let command = watched.home.command_at(&binaries().join("loci"));
        run_hook(command, client, "prompt", input.to_string().as_bytes()).to_string()
    };
    assert!(prompt("claude", "before").contains(DEPLOY), "it is given while nothing is watched");
    watched.on();
    // With its vector what was imported is the better match, and held back.
    wait_until("every memory has a vector", || {
        agent.call("memory_stats", json!({})).expect("is counted")["without_vector"] == 0
    });
    assert!(!prompt("claude", "own").contains(DEPLOY));
    assert!(prompt("codex", "other").contains(DEPLOY), "another client does not load the file");
    wait_until("the receipt is written", || {
        let receipts = watched.json(&["injected", "own", "--all"]);
        let why = &receipts["receipts"][0]["withheld"][0]["why"];
        why == "in the client's own memory"
    });
}

#[test]
fn a_block_is_written_only_by_the_command_and_taken_out_again() {
    let own = "# Shop\n\n- Use pnpm here\n";
    let watched = Watched::new(TestHome::without_model(), own);
    assert!(watched.refused(&["bridge", "write", "claude", "--yes"]).contains("is not watched"));
    watched.on();
    watched.done(&["add", DEPLOY, "--type", "semantic"]);
    watched.done(&["bridge", "write", "claude", "--dry-run"]);
    assert_eq!(watched.read("MEMORY.md"), own);
    assert!(watched.refused(&["bridge", "write", "claude"]).contains("--yes"), "it asks");
    let written = watched.json(&["bridge", "write", "claude", "--yes"]);
    assert_eq!((&written["memories"], &written["written"]), (&json!(1), &json!(true)));
    let text = watched.read("MEMORY.md");
    assert!(text.starts_with(own) && text.contains(&format!("- {DEPLOY} (")), "{text}");
    // What loci wrote is not imported, and writing again changes nothing.
    watched.scan();
    assert_eq!(watched.json(&["bridge", "write", "claude", "--yes"])["written"], false);
    assert_eq!(watched.json(&["list"])["memories"].as_array().map(Vec::len), Some(2));
    watched.done(&["bridge", "write", "claude", "--remove", "--yes"]);
    assert_eq!(watched.read("MEMORY.md"), own);
}

#[test]
fn the_handbook_of_codex_is_imported_into_the_projects_that_it_names() {
    let home = TestHome::without_model();
    let project = home.path("project").canonicalize().expect("the folder exists");
    let memories = home.path(".codex/memories/rollout_summaries");
    fs::create_dir_all(&memories).expect("the folder is created");
    let handbook = format!(
        "# Task Group: shop\nscope: deploys\napplies_to: cwd={}; reuse_rule=safe\n\n## Reusable knowledge\n\n- {DEPLOY}\n",
        project.display()
    );
    fs::write(home.path(".codex/memories/MEMORY.md"), handbook).expect("the file is written");
    fs::write(memories.join("one.md"), "A summary of a session\n").expect("the file is written");
    let watched = Watched::new(home, "");
    watched.done(&["add", "The shop sells tea", "--type", "semantic"]);
    let switched = watched.json(&["bridge", "codex", "--on", "--yes"]);
    assert_eq!((&switched["files"], &switched["imported"]), (&json!(2), &json!(1)));
    let deploy = format!("shop > Reusable knowledge: {DEPLOY}");
    assert_eq!(watched.memories(), ["The shop sells tea", &*deploy]);
    fs::remove_file(memories.join("one.md")).expect("the file is deleted");
    watched.done(&["bridge", "restore", "--yes"]);
    let back = fs::read_to_string(memories.join("one.md")).expect("the file is read");
    assert_eq!(back, "A summary of a session\n");
    watched.done(&["bridge", "codex", "--off"]);
    assert!(watched.done(&["bridge", "codex"]).contains("is not watched"));
}

#[test]
fn a_project_that_is_off_is_not_read() {
    let watched = Watched::new(TestHome::without_model(), "- Use pnpm here\n");
    let file = watched.home.path("project/.loci.toml");
    fs::write(&file, "off = true\n").expect("the file is written");
    assert_eq!(watched.on()["files"], 0);
    fs::remove_file(&file).expect("the file is deleted");
    assert_eq!(watched.on()["files"], 1);
}

#[test]
fn the_commands_print_these_screens() {
    let scene = Scene::new();
    let memory = claude_memory(&scene.home, "# Shop\n\n- The pond is green\n");
    let mut screens = vec![scene.screen(&["bridge", "status"])];
    screens.push(scene.screen(&["bridge", "claude", "--on", "--yes"]));
    fs::write(memory.join("MEMORY.md"), "# Shop\n").expect("the file is written");
    let typed: &[&[&str]] = &[
        &["bridge", "codex"],
        &["bridge", "write", "claude", "--dry-run"],
        &["bridge", "list", "--json"],
        &["bridge", "history", "MEMORY.md"],
        &["bridge", "restore", "MEMORY.md", "--yes"],
        &["bridge", "restore"],
        &["bridge", "claude", "--off"],
    ];
    screens.extend(typed.iter().map(|arguments| scene.screen(arguments)));
    let folder = memory.parent().and_then(|folder| folder.file_name()).expect("it has a name");
    let text = screens.join("\n").replace(&*folder.to_string_lossy(), "-home-anna-project");
    insta::assert_snapshot!(text);
}
