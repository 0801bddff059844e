//! Screens of the commands that print memories, at a terminal of 80 and of 140 columns and in a pipe: what a person sees, without the escape
//! sequences. Ids and times are normalised.
//!
//! After an intended change, run
//! `INSTA_UPDATE=always cargo test --release -p loci-tests --test it cli_looks`, then look at the diff.

use crate::home::TestHome;
use crate::normalize::{normalize_names, normalize_numbers, normalize_sessions, normalize_times};
use crate::terminal::Terminal;
use serde_json::{Value, json};
use std::path::Path;

/// A store with every type, long texts, links and other scripts. The ids are in storage order.
struct Scene {
    home: TestHome,
    ids: Vec<String>,
}

impl Scene {
    fn new() -> Self {
        let home = TestHome::without_model();
        let mut agent = home.session();
        let id = |reply: &serde_json::Map<String, Value>| {
            reply["id"].as_str().expect("an id").to_owned()
        };
        let mut ids = vec![id(&agent.store_with(json!({
            "content": "Anna Kowalska is the lead engineer of the shop", "type": "entity",
            "metadata": {"name": "Anna Kowalska", "entity_type": "person", "url": "https://example.org/people/anna"}})))];
        ids.push(agent.store("semantic", "The runbook of the shop is at https://example.org/wiki/operations/runbook. It says nothing about backups, which are described elsewhere, in a document that nobody has read for years. The staging server is called heron and stands in the second rack, behind the printer that nobody uses."));
        ids.push(agent.store("procedural", "To deploy the shop, first run the tests,\nthen push the tag, then watch the logs for ten minutes"));
        ids.push(agent.store(
            "episodic",
            "On 2026-03-04 Anna Kowalska moved the database of the shop to the new disk",
        ));
        ids.push(agent.store("semantic", "日本語のメモは、端末の幅で折り返されなければならない。文字の幅は二桁であり、切れてはいけない。 👩‍👧"));
        drop(agent);
        let mut other = home.session_in("another-rather-long-project");
        ids.push(other.store("semantic", "Another project deploys its shop from the main branch"));
        Self { home, ids }
    }

    fn short(&self, at: usize) -> String {
        self.ids[at][28..].to_owned()
    }

    /// Returns the screen of a command at a terminal of this width.
    fn at(&self, columns: u16, arguments: &[&str]) -> String {
        let mut command = self.home.command("loci");
        command.args(arguments).env("TERM", "xterm-256color");
        let mut terminal = Terminal::start(command, columns, 60);
        let (status, screen) = terminal.end();
        let typed = arguments.join(" ");
        self.normalized(&format!("$ loci {typed}\n{screen}\n[{}]\n", status.code().unwrap_or(-1)))
    }

    fn piped(&self, arguments: &[&str]) -> String {
        let output = self.home.loci(arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        self.normalized(&format!("$ loci {} | cat\n{text}", arguments.join(" ")))
    }

    fn normalized(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (at, id) in self.ids.iter().enumerate() {
            text = text
                .replace(id, &format!("00000000-0000-7000-8000-00000000000{at}"))
                .replace(&id[28..], &format!("0000000{at}"));
        }
        normalize_times(&normalize_names(&normalize_sessions(&text)))
    }
}

#[test]
fn memories_look_like_this_at_two_widths_and_in_a_pipe() {
    let scene = Scene::new();
    let (anna, runbook, deploy) = (scene.short(0), scene.short(1), scene.short(2));
    assert!(
        scene
            .home
            .loci(&[
                "edit",
                &deploy,
                "--content",
                "To deploy the shop, run the tests, push the tag, and watch the logs"
            ])
            .status
            .success()
    );
    assert!(scene.home.loci(&["pin", &runbook]).status.success());
    let commands: &[&[&str]] = &[
        &["search", "what is the staging server called"],
        &["search", "deploy the shop", "--explain", "--limit", "2"],
        &["list", "--all-groups"],
        &["list", "--text", "heron"],
        &["inspect", &anna],
        &["inspect", &runbook],
        &["history"],
    ];
    for columns in [80, 140] {
        let screens: Vec<String> =
            commands.iter().map(|command| scene.at(columns, command)).collect();
        insta::assert_snapshot!(format!("looks_{columns}"), screens.join("\n"));
    }
    let piped: Vec<String> = commands.iter().map(|command| scene.piped(command)).collect();
    insta::assert_snapshot!("looks_pipe", piped.join("\n"));
}

#[test]
fn charts_and_top_look_like_this() {
    let scene = Scene::new();
    let chart = |columns| scene.at(columns, &["stats", "--chart"]);
    let refused = scene.home.loci(&["browse"]);
    let full_screen = format!("$ loci browse\n{}", String::from_utf8_lossy(&refused.stderr));
    let screens = [chart(80), chart(140), scene.piped(&["stats", "--chart"]), full_screen];
    insta::assert_snapshot!("looks_chart", screens.join("\n"));
    insta::assert_snapshot!("looks_top", normalize_numbers(&scene.piped(&["top", "--once"])));
}

#[test]
fn a_terminal_gets_colours_bars_and_links_and_a_pipe_none_of_them() {
    let scene = Scene::new();
    let raw = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = scene.home.command("loci");
        command.args(arguments).env("TERM", "xterm-256color").envs(variables.iter().copied());
        let mut terminal = Terminal::start(command, 100, 60);
        terminal.end();
        String::from_utf8(terminal.raw.clone()).expect("UTF-8")
    };
    let search = &["search", "staging server"][..];
    let coloured = raw(&[("FORCE_HYPERLINK", "1")], search);
    // The type in its colour, the searched words in bold, a bar, the address as a link.
    for part in ["\u{1b}[32msemantic", "\u{1b}[1mserver\u{1b}[0m", "█"] {
        assert!(coloured.contains(part), "{part:?}: {coloured:?}");
    }
    let listed = raw(&[("FORCE_HYPERLINK", "1")], &["list", "--text", "runbook"]);
    assert!(
        listed.contains("\u{1b}]8;;https://example.org/wiki/operations/runbook\u{1b}\\"),
        "{listed:?}"
    );
    let is_background = |part: &str| {
        part.split('m').next().is_some_and(|code| {
            code.split(';').any(|n| n.parse().is_ok_and(|n: u16| (40..50).contains(&n) || n >= 100))
        })
    };
    assert!(!coloured.split("\u{1b}[").skip(1).any(is_background), "{coloured:?}");
    let plain = raw(&[("NO_COLOR", "1"), ("FORCE_HYPERLINK", "0")], search);
    assert!(!plain.contains('\u{1b}') && plain.contains('█'), "{plain:?}");
    let piped = scene.piped(search);
    assert!(!piped.contains('\u{1b}') && !piped.contains('█') && piped.contains("FIT"), "{piped}");
}

#[test]
fn a_project_that_does_not_exist_is_an_error_where_it_is_read() {
    let scene = Scene::new();
    let id = &scene.ids[0];
    let commands: &[&[&str]] = &[
        &["search", "heron", "--group", "projcet"],
        &["list", "--group", "projcet"],
        &["stats", "--group", "projcet"],
        &["stats", "--chart", "--group", "projcet"],
        &["brief", "--group", "projcet"],
        &["recall", "--for-hook", "heron", "--group", "projcet"],
        &["review", "--list", "--group", "projcet"],
        &["inspect", id, "--group", "projcet"],
        &["forget", "--where", "text:heron group:projcet", "--yes"],
    ];
    for arguments in commands {
        let refused = scene.home.loci(arguments);
        let error = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {error}");
        assert!(error.contains("group") && error.contains("names no project: projcet"), "{error}");
        assert!(
            error.contains("Did you mean project?") && error.contains("loci groups list"),
            "{error}"
        );
    }
    let added =
        scene.home.loci(&["add", "A first memory", "--type", "semantic", "--group", "projcet"]);
    assert!(added.status.success(), "{added:?}");
    assert!(scene.home.loci(&["list", "--group", "projcet"]).status.success());
}

#[test]
fn a_word_of_another_program_is_answered_with_the_command() {
    let home = TestHome::without_model();
    for (typed, expected) in [
        (&["remember", "this"][..], "did you mean loci add?"),
        (&["install"], "did you mean loci setup or loci ctl install?"),
        (&["delete", "5f0c"], "did you mean loci forget?"),
        (&["backup", "now"], "did you mean loci backup create?"),
    ] {
        let refused = home.loci(typed);
        let error = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(2) && error.contains(expected), "{typed:?}: {error}");
    }
    assert!(!Path::new(&home.path(".loci/memory.db")).exists(), "nothing was started");
}
