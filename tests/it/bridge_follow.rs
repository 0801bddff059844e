//! The bridge follows the file, through the real `loci` and daemon: what a client rewords or takes out of its memory is no longer given
//! unasked, whatever was confirmed, and what the files say is not written into them again.
//!
//! Not here: versions, imports and restoring (`bridge`), what the bridge never does (`bridge_safety`).

use crate::bridge::Watched;
use crate::home::{TestHome, binaries};
use crate::hooks::run_hook;
use crate::wire::wait_until;
use serde_json::{Value, json};
use std::fmt::Write as _;

const PNPM: &str = "Use pnpm in this repository";
const NINE: &str = "Use pnpm 9 in this repository";
const POND: &str = "The pond behind the kiln is green";

fn list(statements: &[&str]) -> String {
    format!("- {}\n", statements.join("\n- "))
}

/// A home whose file has these statements, all of them confirmed.
fn confirmed(statements: &[&str]) -> Watched {
    let watched = Watched::new(TestHome::without_model(), &list(statements));
    watched.on();
    confirm_all(&watched);
    watched
}

fn confirm_all(watched: &Watched) {
    let (code, screen) = watched.home.at_terminal(&["confirm", "--imported"], "imported mem", "y");
    assert_eq!(code, Some(0), "{screen}");
}

fn rewrite(watched: &Watched, statements: &[&str]) {
    watched.write("MEMORY.md", &list(statements));
    watched.scan();
}

fn brief(watched: &Watched) -> String {
    watched.done(&["brief"])
}

fn memory(watched: &Watched, id: &str) -> Value {
    watched.json(&["inspect", id])["memory"].clone()
}

#[test]
fn a_new_wording_replaces_the_text_that_was_confirmed_and_waits_itself() {
    let watched = confirmed(&[PNPM, POND]);
    let old = watched.id_of("pnpm");
    assert!(brief(&watched).contains(PNPM));
    rewrite(&watched, &[NINE, POND]);
    assert_eq!(watched.memories(), [POND, NINE]);
    let text = brief(&watched);
    assert!(!text.contains("pnpm") && text.contains(POND), "{text}");
    assert!(text.contains("1 memory waits for the user"), "{text}");
    let new = memory(&watched, &watched.id_of("pnpm 9"));
    assert_eq!(new["trust"], "import", "a file raises no trust");
    // What happened is said, and taken back as the act of the bridge.
    let log = watched.json(&["inspect", &old, "--log"])["log"][0].clone();
    assert_eq!((&log["operation"], &log["client"]), (&json!("supersede"), &json!("loci bridge")));
    assert_eq!(
        (&log["details"]["reworded"], &log["details"]["confirmed"]),
        (&true.into(), &true.into())
    );
    assert_eq!(watched.json(&["bridge", "status"])["reworded"], 1);
    let status = watched.done(&["bridge", "status"]);
    assert!(status.contains("1 text that you confirmed was reworded in its file"), "{status}");
    let acts = watched.json(&["history"]);
    assert_eq!(acts["acts"][0]["act"], "bridge", "{acts}");
    watched.done(&["undo", &acts["acts"][0]["id"].to_string(), "--yes"]);
    assert_eq!(watched.memories(), [POND, PNPM]);
    assert!(brief(&watched).contains(PNPM));
    // What was undone does not come back, whatever else changes in the file.
    rewrite(&watched, &[NINE, POND, "Owls hunt at night in the barn"]);
    assert!(brief(&watched).contains(PNPM));
    assert!(watched.json(&["bridge", "status"])["reworded"].is_null());
}

#[test]
fn what_a_person_edited_or_stored_or_another_file_states_stays() {
    let watched = confirmed(&[PNPM, POND]);
    let edited = "Use pnpm in this repository, never yarn";
    watched.done(&["edit", &watched.id_of("pnpm"), "--content", edited]);
    watched.write("pond.md", &list(&[POND]));
    watched.done(&["add", "Bees sleep in winter under snow", "--type", "semantic"]);
    rewrite(&watched, &["Bees sleep in winter under snow"]);
    rewrite(
        &watched,
        &["Bees sleep in spring under snow", NINE, "The pond behind the kiln is dark"],
    );
    let text = brief(&watched);
    for stays in [edited, POND, "Bees sleep in winter"] {
        assert!(text.contains(stays), "{stays}: {text}");
    }
    std::fs::remove_file(watched.memory.join("pond.md")).expect("the file is deleted");
    watched.scan();
    assert!(!brief(&watched).contains(POND), "no file states it now");
    assert!(brief(&watched).contains(edited));
}

#[test]
fn what_left_its_file_is_in_no_brief_until_it_comes_back() {
    let watched = confirmed(&[PNPM, POND]);
    rewrite(&watched, &[PNPM]);
    let text = brief(&watched);
    assert!(text.contains(PNPM) && !text.contains(POND), "{text}");
    let id = watched.id_of("pond");
    let left = memory(&watched, &id);
    assert!(left["metadata"]["source_gone"].is_string(), "{left}");
    assert_eq!((&left["trust"], &left["status"]), (&json!("person"), &json!("active")));
    rewrite(&watched, &[PNPM, POND]);
    assert!(brief(&watched).contains(POND));
    // In another file it is back too.
    rewrite(&watched, &[PNPM]);
    watched.write("pond.md", &list(&[POND]));
    watched.scan();
    assert!(brief(&watched).contains(POND));
    // What a person wrote in its place is his.
    std::fs::remove_file(watched.memory.join("pond.md")).expect("the file is deleted");
    watched.scan();
    assert!(!brief(&watched).contains("pond"));
    watched.done(&["edit", &id, "--content", "The pond behind the kiln is clear"]);
    assert!(brief(&watched).contains("The pond behind the kiln is clear"));
}

#[test]
fn an_older_wording_that_comes_back_is_in_force_again() {
    let watched = confirmed(&[PNPM, POND]);
    rewrite(&watched, &[NINE, POND]);
    assert!(!brief(&watched).contains("pnpm"));
    rewrite(&watched, &[PNPM, POND]);
    assert_eq!(watched.memories(), [POND, PNPM]);
    assert!(brief(&watched).contains(PNPM), "the person confirmed this very text");
    // Through another file too, whichever is read first.
    rewrite(&watched, &[NINE, POND]);
    watched.write("MEMORY.md", &list(&[POND]));
    watched.write("z.md", &list(&[PNPM]));
    watched.scan();
    assert_eq!(watched.memories(), [POND, PNPM]);
    // What was forgotten stays so.
    watched.done(&["forget", &watched.id_of("pnpm"), "--yes"]);
    watched.write("z.md", &list(&[NINE]));
    watched.scan();
    watched.write("z.md", &list(&[PNPM]));
    watched.scan();
    assert!(!brief(&watched).contains("pnpm"), "{}", brief(&watched));
}

#[test]
fn what_left_its_file_is_found_and_not_given() {
    let watched = Watched::new(TestHome::new(), &list(&[PNPM, POND]));
    watched.on();
    confirm_all(&watched);
    let mut agent = watched.home.session();
    wait_until("the memories have vectors", || {
        let reply = agent.call("recall_memory", json!({"query": "pond", "dry_run": true}));
        let has_vectors = watched.home.status()["store"]["without_vector"] != json!(2);
        has_vectors && reply.expect("the call succeeds").get("degraded").is_none()
    });
    let question = "What colour is the pond behind the kiln?";
    // Codex does not load the file, so that it is given.
    let prompt = |session: &str| {
        let input = json!({"session_id": session, "prompt": question});
        let command = watched.home.command_at(&binaries().join("loci"));
        run_hook(command, "codex", "prompt", input.to_string().as_bytes()).to_string()
    };
    let mut sessions = 0..;
    wait_until("it is given while the file has it", || {
        prompt(&format!("before-{}", sessions.next().unwrap_or_default())).contains(POND)
    });
    rewrite(&watched, &[PNPM]);
    assert!(!prompt("after").contains("pond"));
    wait_until("the receipt says why", || {
        let receipts = watched.json(&["injected", "after", "--all"]);
        receipts["receipts"][0]["withheld"][0]["why"] == "no longer in its file"
    });
    assert!(agent.recall(question).iter().any(|text| text == POND), "a recall finds it");
}

/// Writes files of many shapes, each statement in words of its own.
struct Shapes {
    state: u64,
}

impl Shapes {
    fn next(&mut self, below: u64) -> u64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    fn words(&mut self, count: u64) -> String {
        const PARTS: [&str; 16] = [
            "kiln", "pond", "glaze", "ferry", "ledger", "socket", "branch", "harbour", "cellar",
            "queue", "lantern", "sieve", "anchor", "parser", "meadow", "token",
        ];
        let mut text = String::new();
        for at in 0..count {
            let part = PARTS[usize::try_from(self.next(16)).unwrap_or_default()];
            let number = self.next(90);
            let _ = write!(text, "{}{part}{number}", if at == 0 { "" } else { " " });
        }
        text
    }

    fn block(&mut self) -> String {
        let size = 2 + self.next(7);
        let [a, b, c] = [(); 3].map(|()| self.words(size));
        match self.next(12) {
            0 => format!("- {a}.\n- {b}\n- `{c}`\n"),
            1 => format!("- {a}\n  - {b}\n    - {c}\n"),
            2 => format!("1. {a}\n2. {b}\n3. {c}\n"),
            3 => format!("{a}. {b},\n{c}.\n"),
            4 => format!("**{a}:** {b} *{c}*\n"),
            5 => format!("| Name | Value |\n|---|---|\n| {a} | {b} |\n| {c} | 4711 |\n"),
            6 => format!("> {a}\n> {b}\n\n> {c}\n"),
            7 => format!("{a}:\n\n```sh\n{b} --{c}\n```\n"),
            8 => format!("- [ ] {a}\n- [x] {b}\n- [{c}](https://example.com/{size})\n"),
            9 => format!("### {a}\n\n#### {b}\n\n{c}\n"),
            10 => format!("- **{a}**: {b}\n\n  {c}\n"),
            _ => format!("<details><summary>{a}</summary>\n\n{b}\n\n</details>\n\n## {c}\n"),
        }
    }

    fn file(&mut self) -> String {
        let mut text = String::new();
        for section in 0..3 {
            if section > 0 || self.next(2) == 0 {
                let _ = write!(text, "{} {}\n\n", "#".repeat(section + 1), self.words(2));
            }
            for _ in 0..2 {
                let _ = writeln!(text, "{}", self.block());
            }
        }
        text
    }
}

#[test]
fn a_block_repeats_nothing_that_the_files_state() {
    let watched = Watched::new(TestHome::without_model(), "");
    watched.on();
    watched.done(&["add", "Only loci knows of the heron", "--type", "semantic"]);
    let mut shapes = Shapes { state: 7 };
    for round in 0..12 {
        let (memory, topic) = (shapes.file(), shapes.file());
        watched.write("MEMORY.md", &format!("{memory}\n- [Topic](topic.md) - more\n"));
        let top = if round % 2 == 0 {
            "---\nname: topic\ndescription: What it is about\n---\n\n"
        } else {
            ""
        };
        watched.write("topic.md", &format!("{top}{topic}"));
        assert_ne!(watched.scan()["imported"], 0);
        confirm_all(&watched);
        let shown = watched.done(&["bridge", "write", "claude", "--dry-run"]);
        let added: Vec<&str> = shown.lines().filter(|line| line.starts_with("+- ")).collect();
        assert!(
            added.len() == 1 && added[0].contains("Only loci knows of the heron"),
            "{shown}\n{memory}\n{topic}"
        );
    }
}

#[test]
fn a_block_has_no_other_wording_and_no_part_of_what_the_files_state() {
    let text = "# Shop\n\n## People\n\n- Marta owns the kiln, the clay and the glazes; ask her first\n\n| Host | Port |\n|---|---|\n| heron | 4711 |\n";
    let watched = Watched::new(TestHome::without_model(), text);
    watched.write("style.md", "---\ndescription: How we write\n---\n\nShort sentences.\n\n- No passive voice in titles\n- The oxford comma stays\n");
    watched.on();
    let said = [
        "Marta owns the kiln, the clay and the glazes; ask her first!",
        "marta owns the kiln",
        "Shop > People: Marta owns the kiln, the clay and the glazes; ask her first",
        "People: Marta owns the kiln",
        "Host: heron; Port: 4711",
        "no passive voice in titles",
        "No passive voice in titles.\nThe Oxford comma stays.",
    ];
    for text in said {
        watched.done(&["add", text, "--type", "semantic"]);
    }
    let new = ["Marta owns the wheel", "Host: heron; Port: 4712"];
    for text in new {
        watched.done(&["add", text, "--type", "semantic"]);
    }
    let shown = watched.done(&["bridge", "write", "claude", "--dry-run"]);
    let added: Vec<&str> = shown.lines().filter(|line| line.starts_with("+- ")).collect();
    assert_eq!(added.len(), new.len(), "{shown}");
    // A label is not shown as one to a model.
    let shown = shown.replace(" –", ":");
    assert!(new.iter().all(|text| shown.contains(text)), "{shown}");
    // A text that a person has changed is another one, whatever it was imported from.
    let id = watched.id_of("wheel");
    watched.done(&["forget", &id, "--yes"]);
    let id = watched.json(&["list", "--text", "How we write"])["memories"][0]["id"].clone();
    watched.done(&[
        "edit",
        id.as_str().expect("it is listed"),
        "--content",
        "Long sentences are fine",
    ]);
    let shown = watched.done(&["bridge", "write", "claude", "--dry-run"]);
    assert!(shown.contains("Long sentences are fine"), "{shown}");
}
