//! The whole screen of every command, from one seeded store: output, errors and exit codes. Ids,
//! times and paths are normalised.
//!
//! After an intended change, run the test `cli_screens` with `INSTA_UPDATE=always`, then review the
//! diff.

use crate::home::{Agent, TestHome};
use crate::normalize::{normalize_names, normalize_numbers, normalize_sessions, normalize_times};
use clap::CommandFactory;
use loci::cli::Cli;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Output;

const MONTHS: &str =
    "January February March April May June July August September October November December";
/// How a path of the home is shown.
const HOME: &str = "~";

/// A store with every type of memory. `ids` are in storage order.
pub(crate) struct Scene {
    // Connected, so that `ctl status` shows a session; dropped before its home.
    _agent: Option<Agent>,
    pub(crate) home: TestHome,
    ids: Vec<String>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let home = TestHome::without_model();
        let mut agent = home.session();
        let anna = agent.store_with(
            json!({"content": "Anna Kowalska is the lead engineer of the shop", "type": "entity",
            "metadata": {"name": "Anna Kowalska", "entity_type": "person", "aliases": ["Ania"]}}),
        );
        let shop = agent.store_with(
            json!({"content": "Initech is the company behind the shop", "type": "entity",
            "metadata": {"name": "Initech", "entity_type": "company"}}),
        );
        let mut ids = vec![id(&anna), id(&shop)];
        ids.push(agent.store("semantic", "The staging server of the shop is called heron"));
        ids.push(
            agent.store("procedural", "To deploy the shop, first run the tests,\nthen push the tag, then watch the logs for ten minutes"),
        );
        ids.push(agent.store(
            "episodic",
            "On 2026-03-04 Ania moved the database of the shop to the new disk",
        ));
        ids.push(
            agent.store("semantic", "A hostile text with colour and direction, 日本語 beside it"),
        );
        home.set_stored(
            &ids[5],
            "content",
            "A hostile text with \u{1b}[31mcolour\u{1b}[0m and \u{202e}direction, 日本語 beside it",
        );
        // The next call starts a daemon that reads the text from the database.
        assert!(home.loci(&["ctl", "stop"]).status.success());
        ids.push(agent.store("episodic", "The old server was switched off"));
        Self { _agent: Some(agent), home, ids }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.home.loci(arguments)
    }

    /// A memory's id as tables show it.
    pub(crate) fn short(&self, at: usize) -> String {
        self.ids[at][28..].to_owned()
    }

    /// The screen of a command: the command line, standard output, standard error, exit code.
    pub(crate) fn screen(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let mut text =
            format!("$ loci {}\n{}", arguments.join(" "), String::from_utf8_lossy(&output.stdout));
        if !output.stderr.is_empty() {
            let _ = write!(text, "[stderr]\n{}", String::from_utf8_lossy(&output.stderr));
        }
        let _ = writeln!(text, "[{}]", output.status.code().unwrap_or(-1));
        self.normalized(&text)
    }

    /// Replaces paths, ids, names and times that differ between runs.
    fn normalized(&self, text: &str) -> String {
        let mut text = text.replace(
            self.home.path("").to_str().expect("the path is UTF-8").trim_end_matches('/'),
            HOME,
        );
        for (at, id) in self.ids.iter().enumerate() {
            text = text
                .replace(id, &format!("00000000-0000-7000-8000-00000000000{at}"))
                .replace(&id[28..], &format!("0000000{at}"));
        }
        normalize_times(&normalize_names(&normalize_sessions(&text)))
    }
}

fn id(reply: &serde_json::Map<String, Value>) -> String {
    reply["id"].as_str().expect("the reply has an id").to_owned()
}

/// Replaces the numbers of a screen, except in the reply of a reload, where none vary.
fn without_numbers(screen: &str) -> String {
    let varies = !screen.starts_with("$ loci ctl reload");
    if varies { normalize_numbers(screen) } else { screen.trim_end().to_owned() }
}

/// All commands without subcommands, as they are typed.
fn commands() -> BTreeSet<String> {
    fn collect(command: &clap::Command, typed: &str, found: &mut BTreeSet<String>) {
        let name = if typed.is_empty() { String::new() } else { format!("{typed} ") };
        for sub in command.get_subcommands() {
            collect(sub, &format!("{name}{}", sub.get_name()), found);
        }
        if !command.has_subcommands() {
            found.insert(typed.to_owned());
        }
    }
    let mut found = BTreeSet::new();
    collect(&Cli::command(), "", &mut found);
    found
}

/// The commands whose screens are stored in `snapshots`.
fn shown() -> BTreeSet<String> {
    let screens = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/it/snapshots"))
        .expect("the folder can be listed");
    let mut all = String::new();
    for screen in screens {
        all += &std::fs::read_to_string(screen.expect("the entry can be read").path())
            .expect("the file can be read");
    }
    commands()
        .into_iter()
        .filter(|command| {
            all.lines().any(|line| {
                line.strip_prefix("$ loci ")
                    .is_some_and(|typed| format!("{typed} ").starts_with(&format!("{command} ")))
            })
        })
        .collect()
}

#[test]
fn no_command_is_without_a_screen() {
    let shown = shown();
    let missing: Vec<String> =
        commands().into_iter().filter(|command| !shown.contains(command)).collect();
    assert!(missing.is_empty(), "no screen: {missing:?}; add one to tests/it/cli_screens.rs");
}

#[test]
fn commands_that_read_print_these_screens() {
    let scene = Scene::new();
    let [anna, heron, hostile] = [0, 2, 5].map(|at| scene.short(at));
    insta::assert_snapshot!(
        "search",
        scene.screen(&["search", "where", "is", "the", "shop", "deployed"])
    );
    insta::assert_snapshot!(
        "search_full",
        scene.screen(&["search", "the shop", "--full", "--limit", "2"])
    );
    insta::assert_snapshot!(
        "search_explain",
        scene.screen(&["search", "the shop", "--explain", "--limit", "2", "--from", "2026-01-01"])
    );
    insta::assert_snapshot!(
        "search_bad_date",
        scene.screen(&["search", "the shop", "--from", "soon"])
    );
    insta::assert_snapshot!("search_nothing", scene.screen(&["search", "zebra"]));
    insta::assert_snapshot!("list", scene.screen(&["list"]));
    insta::assert_snapshot!(
        "list_page",
        scene.screen(&["list", "--type", "semantic", "--limit", "1", "--all-groups"])
    );
    insta::assert_snapshot!("inspect", scene.screen(&["inspect", &heron]));
    insta::assert_snapshot!("inspect_entity", scene.screen(&["show", &anna]));
    insta::assert_snapshot!("inspect_hostile", scene.screen(&["inspect", &hostile, "--log"]));
    insta::assert_snapshot!("stats", scene.screen(&["stats"]));
    insta::assert_snapshot!("history_empty", scene.screen(&["history"]));
}

#[test]
fn commands_about_hooks_print_these_screens() {
    let scene = Scene::new();
    let screens = [
        scene.screen(&["injected"]),
        scene.screen(&["brief"]),
        scene.screen(&["recall", "--for-hook", "where is the shop deployed"]),
        scene.screen(&["hook", "claude", "prompt"]),
        scene.screen(&["injected", "--all", "--limit", "1"]),
    ];
    insta::assert_snapshot!("hooks", screens.join("\n"));
}

#[test]
fn commands_that_change_memories_print_these_screens() {
    let mut scene = Scene::new();
    let [anna, shop, heron, old] = [0, 1, 2, 6].map(|at| scene.short(at));
    let typed: &[&[&str]] = &[
        &["edit", &heron, "--content", "The staging server of the shop is called egret"],
        &["edit", &heron, "--content", "The staging server of the shop is called egret"],
        &["pin", &heron],
        &["pin", &heron, "--off"],
        &["confirm", &shop],
        &["confirm", &shop],
        &["confirm", "--imported"],
        &["relate", &anna, "works_at", &shop, "--evidence", &heron],
        &["relate", &anna, "works_at", &shop],
        &["forget", &old, "--reason", "it is gone"],
        &["list", "--status", "forgotten"],
        &["inspect", &old, "--log"],
        &["restore", &old],
        &["move", &old, "--to", "attic"],
        &["supersede", &old, &heron],
        &["undo", "--last", "--yes"],
        &["review"],
        &["reject", &heron, "--why", "it was too slow"],
        &["undo", "--last", "--yes"],
        &["fix", "error: the egret is away"],
        &["how", "pnpm"],
        &["import", "--from", "history", "--dry-run"],
        &["history"],
        &["undo", "--last", "--yes"],
        &["redo", "--yes"],
        &["undo", "--since", "1h", "--yes"],
        &["forget", "--where", "text:server type:episodic", "--yes"],
        &["forget", "--where", "text:zebra"],
        &["forget", &old, "--hard", "--yes"],
    ];
    let mut screens: Vec<String> = typed.iter().map(|arguments| scene.screen(arguments)).collect();
    let added = scene.run(&[
        "add",
        "A memory of the command line",
        "--type",
        "semantic",
        "--ttl",
        "30d",
        "--json",
    ]);
    let added: Value = serde_json::from_slice(&added.stdout).expect("valid JSON");
    scene.ids.push(added["id"].as_str().expect("the reply has an id").to_owned());
    screens.push(scene.screen(&[
        "add",
        "A memory of the command line",
        "--type",
        "semantic",
        "--ttl",
        "30d",
    ]));
    insta::assert_snapshot!("changing", screens.join("\n"));
}

#[test]
fn refused_commands_print_these_errors() {
    let scene = Scene::new();
    let prefix = &scene.ids[0][..4];
    let old = scene.short(6);
    let cases: &[&[&str]] = &[
        &["inspect", ""],
        &["inspect", "abc"],
        &["inspect", "zebra"],
        &["inspect", "ffffffff"],
        &["inspect", prefix],
        &["inspect", "ffffffff-ffff-7fff-bfff-ffffffffffff", "--json"],
        &["forget", &old, "--hard"],
        &["forget", "--where", "type:episodic"],
        &["forget", "--where", ""],
        &["forget", "--where", "server"],
        &["undo", "--last"],
        &["undo", "77", "--yes"],
        &["add", "", "--type", "semantic"],
        &["add", "x", "--type", "fact"],
        &["add", "x", "--type", "semantic", "--metadata", "[1]"],
        &["list", "--older", "90"],
        &["edit", &old],
        &["diff"],
        &["encrypt"],
        &["decrypt", "--yes"],
        &["rekey", "--yes"],
    ];
    let screens: Vec<String> = cases.iter().map(|case| scene.screen(case)).collect();
    insta::assert_snapshot!("refusing", screens.join("\n"));
}

#[test]
fn daemon_and_configuration_commands_print_these_screens() {
    let scene = Scene::new();
    let first = [["ctl", "status"], ["ctl", "ps"], ["ctl", "cost"], ["config", "show"]];
    let mut screens: Vec<String> = first.iter().map(|typed| scene.screen(typed)).collect();
    scene.home.configure("[retrieval]\nrrf_k = 30\n[storage]\ndefault_group = \"attic\"\n");
    screens.push(scene.screen(&["ctl", "reload"]));
    screens.push(scene.screen(&["ctl", "reload"]));
    screens.push(scene.screen(&["config", "show"]));
    scene.home.configure("[retrieval]\nrrf_kk = 30\n");
    screens.push(scene.screen(&["ctl", "reload"]));
    scene.home.configure("");
    for command in
        [["ctl", "start"], ["ctl", "restart"], ["ctl", "drain"], ["ctl", "stop"], ["ctl", "status"]]
    {
        screens.push(scene.screen(&command));
    }
    screens.push(scene.screen(&["ctl", "status", "--json"]));
    screens.push(scene.screen(&["ctl", "logs", "-n", "0"]));
    screens.push(scene.screen(&["mcp"]));
    for typed in ["token list", "token add !", "token show x", "token remove x", "--sse"] {
        let words: Vec<&str> = std::iter::once("serve").chain(typed.split(' ')).collect();
        screens.push(scene.screen(&words));
    }
    screens.push(scene.screen(&["view", "--port", "0"]));
    insta::assert_snapshot!(
        "daemon_and_configuration",
        screens.iter().map(|screen| without_numbers(screen)).collect::<Vec<_>>().join("\n\n")
    );
}

#[test]
fn model_and_demo_commands_print_these_screens() {
    let scene = Scene { _agent: None, home: TestHome::new(), ids: Vec::new() };
    let models = crate::home::models();
    let screens = [
        scene.screen(&["model", "status"]),
        scene.screen(&["model", "download"]),
        scene.screen(&["model", "use"]),
        scene.screen(&["demo"]),
    ];
    let normalized = |screen: &String| {
        let screen = normalize_numbers(
            &screen.replace(models.to_str().expect("the path is UTF-8"), "MODELS"),
        );
        let place =
            |word: &str| if word.contains("/loci-demo-") { "PLACE," } else { word }.to_owned();
        let month = |word: String| {
            if MONTHS.split(' ').any(|month| month == word) { "MONTH".to_owned() } else { word }
        };
        let line = |line: &str| {
            line.split(' ').map(|word| month(place(word))).collect::<Vec<_>>().join(" ")
        };
        screen.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(
        "model_and_demo",
        screens.iter().map(normalized).collect::<Vec<_>>().join("\n\n")
    );
}

#[test]
fn completions_man_pages_and_help_cover_all_commands() {
    let scene = Scene { _agent: None, home: TestHome::without_model(), ids: Vec::new() };
    let start = |screen: String| screen.lines().take(12).collect::<Vec<_>>().join("\n");
    let screens = [
        start(scene.screen(&["completions", "bash"])),
        start(scene.screen(&["man"])),
        scene.screen(&["--help"]),
    ];
    insta::assert_snapshot!("generated_pages", screens.join("\n\n"));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = scene.run(&["completions", shell]);
        assert!(
            script.status.success() && String::from_utf8_lossy(&script.stdout).contains("inspect"),
            "{shell}"
        );
    }
    let folder = scene.home.path("man");
    assert!(
        scene.run(&["man", "--dir", folder.to_str().expect("the path is UTF-8")]).status.success()
    );
    let pages: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("the folder can be listed")
        .map(|page| page.expect("the entry can be read").file_name().to_string_lossy().into_owned())
        .collect();
    let expected = |command: &String| format!("loci-{}.1", command.replace(' ', "-"));
    let missing: Vec<String> =
        commands().iter().map(expected).filter(|page| !pages.contains(page)).collect();
    assert!(pages.contains("loci.1") && missing.is_empty(), "no page: {missing:?} in {pages:?}");
}

#[test]
fn setup_prints_these_screens() {
    let scene = Scene { _agent: None, home: TestHome::without_model(), ids: Vec::new() };
    let program = crate::home::binaries().join("loci").to_string_lossy().into_owned();
    let screen = |arguments: &[&str]| {
        let screen = scene.screen(arguments).replace(&program, "LOCI");
        screen
            .lines()
            .filter(|line| !line.starts_with("Warning: LOCI is in a folder"))
            .fold(String::new(), |text, line| text + line + "\n")
    };
    let screens = [
        screen(&["setup", "claude"]),
        screen(&["setup", "codex", "--dry-run", "--no-hooks"]),
        screen(&["setup", "cursor", "--yes"]),
        screen(&["setup", "cursor", "--remove", "--yes"]),
        screen(&["setup", "claude-desktop", "--print"]),
        screen(&["setup", "claude", "--remove", "--yes"]),
    ];
    // The warning about the folder is the only text of these streams.
    let text = screens.join("\n").replace("[stderr]\n[0]", "[0]");
    insta::assert_snapshot!("setup", text);
}

#[test]
fn installation_commands_print_these_screens() {
    let scene = Scene { _agent: None, home: TestHome::without_model(), ids: Vec::new() };
    let screens = [
        scene.screen(&["update"]),
        scene.screen(&["ctl", "install", "--uninstall"]),
        scene.screen(&["uninstall", "--dry-run"]),
        scene.screen(&["uninstall"]),
        scene.screen(&["uninstall", "--dry-run", "--yes"]),
    ];
    insta::assert_snapshot!("installation", screens.join("\n"));
}

#[test]
fn store_administration_commands_print_these_screens() {
    let scene = Scene::new();
    for (name, typed) in [
        ("compact_dry", &["compact", "--dry-run"][..]),
        ("compact", &["compact"]),
        ("cleanup_dry", &["cleanup", "--dry-run"]),
        ("reembed_dry", &["re-embed", "--dry-run"]),
        ("reembed", &["re-embed"]),
        ("reembed_cancel", &["re-embed", "--cancel"]),
        ("maintenance_status", &["ctl", "maintenance", "status"]),
        ("maintenance_plan", &["ctl", "maintenance", "plan"]),
        ("maintenance_pause", &["ctl", "maintenance", "pause"]),
        ("maintenance_paused_run", &["ctl", "maintenance", "run"]),
        ("maintenance_resume", &["ctl", "maintenance", "resume"]),
        ("maintenance_run", &["ctl", "maintenance", "run"]),
        ("export_file", &["export", "--output", "memories.jsonl"]),
        ("export_again", &["export", "--output", "memories.jsonl"]),
        ("import", &["import", "memories.jsonl"]),
        ("dump_file", &["dump", "--output", "memories.dump"]),
        ("export_markdown", &["export", "--format", "markdown", "--output", "notes"]),
        ("import_markdown", &["import", "notes", "--yes"]),
        ("import_from_nothing", &["import", "--from", "codex-memory"]),
        ("import_nothing", &["import", "nowhere.jsonl"]),
        ("groups_list", &["groups", "list"]),
        ("groups_rename", &["groups", "rename", "project", "shop"]),
        ("groups_alias", &["groups", "alias", "shop", "store"]),
        ("groups_off", &["groups", "off", "shop"]),
        ("groups_on", &["groups", "on", "shop"]),
        ("groups_allow", &["groups", "allow"]),
        ("incognito_unknown", &["ctl", "incognito", "0199c2aa"]),
        ("groups_merge_unknown", &["groups", "merge", "nowhere", "shop", "--yes"]),
        ("groups_join_nothing", &["groups", "join", "--yes"]),
        ("reset_without_yes", &["reset"]),
        ("backup_unknown", &["backup", "verify", "nowhere"]),
    ] {
        insta::assert_snapshot!(name, scene.screen(typed));
    }
    let eval = |setting: &str| scene.screen(&["eval", "--set", setting]);
    insta::assert_snapshot!("eval", normalize_numbers(&eval("retrieval.fusion=rrf")));
    insta::assert_snapshot!("eval_refused", eval("retrieval.fusion=best"));
    insta::assert_snapshot!("doctor", normalize_numbers(&scene.screen(&["doctor"])));
    scan_screens(&scene);
    backup_screens(&scene);
    crate::doctor_offline::screens(&scene);
    insta::assert_snapshot!("reset", normalize_numbers(&scene.screen(&["reset", "--yes"])));
}

/// The screens of `backup`; the names of the files are times.
fn backup_screens(scene: &Scene) {
    for (name, typed) in [
        ("backup_create", &["backup", "create"][..]),
        ("backup_list", &["backup", "list"]),
        ("backup_verify", &["backup", "verify", "latest"]),
        ("backup_restore_without_yes", &["backup", "restore"]),
        ("backup_restore", &["backup", "restore", "--yes"]),
        ("doctor_recover_whole", &["doctor", "--recover", "--yes"]),
    ] {
        // Two backups in one second differ by a number.
        let screen = scene.screen(typed).replace("00000000T000000Z-0", "00000000T000000Z");
        insta::assert_snapshot!(name, normalize_numbers(&screen));
    }
}

/// The screens of `scan`: nothing found, then a token that is stored while secrets are allowed.
fn scan_screens(scene: &Scene) {
    insta::assert_snapshot!("scan", normalize_numbers(&scene.screen(&["scan"])));
    scene.home.configure("[privacy]\nsecrets = \"allow\"");
    assert!(scene.home.loci(&["ctl", "reload"]).status.success());
    // In two parts, so that scanners of repositories leave this file alone.
    let token = ["gh", "p_q7Rk2Zp0vL9sXc4TnB8wYd3MfH6jUa1EgK5i"].concat();
    let content = format!("The CI token is {token}");
    let added = scene.home.loci(&["add", &content, "--type", "semantic", "--json"]);
    let added: Value = serde_json::from_slice(&added.stdout).expect("valid JSON");
    let id = added["id"].as_str().expect("the reply has an id");
    scene.home.configure("[privacy]\nsecrets = \"redact\"");
    assert!(scene.home.loci(&["ctl", "reload"]).status.success());
    let redacted = scene.screen(&["scan", "--redact", "--yes"]).replace(id, "ID");
    insta::assert_snapshot!("scan_redact", normalize_numbers(&redacted));
    scene.home.configure("");
    assert!(scene.home.loci(&["ctl", "reload"]).status.success());
}
