//! A statement that several ways lead to is stored once: the bridge and the import, in either order, and two files of a project.

use crate::bridge::claude_memory;
use crate::home::TestHome;
use serde_json::{Value, json};
use std::fs;

const NOTES: &str = "# Shop memory\n\n- [Kiln](kiln.md) - the kiln\n\n## People\n\n- Marta owns the kiln and the glazes\n- Tomasz reviews the shop\n";
const KILN: &str = "---\nname: kiln\ndescription: How the kiln is fired\n---\n\nNever fire it above 1220 degrees.\n";

fn done(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(&[arguments, &["--json"]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

/// The active memories of a store: their texts.
fn texts(home: &TestHome) -> Vec<String> {
    let output = home.loci(&["dump"]);
    let text = String::from_utf8(output.stdout).expect("it is UTF-8");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("valid JSON"));
    let active = lines.filter(|line| line["kind"] == "memory" && line["status"] == "active");
    let mut texts: Vec<String> =
        active.map(|line| line["content"].as_str().unwrap_or_default().to_owned()).collect();
    texts.sort();
    texts
}

/// A home with the memory of Claude Code and of Codex.
fn home() -> TestHome {
    let home = TestHome::without_model();
    let memory = claude_memory(&home, NOTES);
    fs::write(memory.join("kiln.md"), KILN).expect("the file is written");
    let project = home.path("project").canonicalize().expect("the folder exists");
    let handbook = format!(
        "# Task Group: shop\nscope: deploys\napplies_to: cwd={}; reuse_rule=safe\n\n## Reusable knowledge\n\n- Deploys go through just ship\n",
        project.display()
    );
    fs::create_dir_all(home.path(".codex/memories")).expect("the folder is created");
    fs::write(home.path(".codex/memories/MEMORY.md"), handbook).expect("the file is written");
    done(&home, &["add", "The shop sells tea", "--type", "semantic"]);
    home
}

const EXPECTED: [&str; 5] = [
    "How the kiln is fired\n\nNever fire it above 1220 degrees.",
    "Shop memory > People: Marta owns the kiln and the glazes",
    "Shop memory > People: Tomasz reviews the shop",
    "The shop sells tea",
    "shop > Reusable knowledge: Deploys go through just ship",
];

fn switch_on(home: &TestHome) {
    done(home, &["bridge", "claude", "--on", "--yes"]);
    done(home, &["bridge", "codex", "--on", "--yes"]);
}

fn import(home: &TestHome) -> [Value; 2] {
    ["claude-memory", "codex-memory"].map(|from| done(home, &["import", "--from", from, "--yes"]))
}

#[test]
fn the_bridge_and_the_import_store_a_statement_once_whichever_comes_first() {
    let bridged = home();
    switch_on(&bridged);
    assert_eq!(texts(&bridged), EXPECTED);
    for preview in import(&bridged) {
        assert_eq!(preview["new"], 0, "{preview}");
    }
    let imported = home();
    import(&imported);
    assert_eq!(texts(&imported), EXPECTED);
    switch_on(&imported);
    assert_eq!(texts(&imported), EXPECTED);
    let status = done(&imported, &["bridge", "status"]);
    assert_eq!(status["clients"][0]["imported"], 3, "{status}");
    // A new wording is one memory too, and both ways find it.
    let memory = claude_memory(&imported, &NOTES.replace("Marta owns", "Marta and Ida own"));
    assert!(memory.join("kiln.md").exists());
    done(&imported, &["bridge", "status", "--scan"]);
    assert!(!texts(&imported).iter().any(|text| text.contains("Marta owns")));
    assert_eq!(import(&imported)[0]["new"], 0);
    assert_eq!(texts(&imported).len(), EXPECTED.len());
}

#[test]
fn what_was_erased_after_the_one_does_not_come_back_with_the_other() {
    for is_bridge_first in [true, false] {
        let home = home();
        if is_bridge_first {
            switch_on(&home);
        } else {
            import(&home);
        }
        let found = done(&home, &["list", "--text", "Marta"]);
        let id = found["memories"][0]["id"].as_str().expect("it is listed").to_owned();
        done(&home, &["forget", &id, "--hard", "--yes"]);
        import(&home);
        switch_on(&home);
        let texts = texts(&home);
        assert!(texts.len() == 4 && !texts.iter().any(|text| text.contains("Marta")), "{texts:?}");
    }
}

#[test]
fn what_loci_wrote_into_the_file_is_not_imported() {
    let home = home();
    switch_on(&home);
    done(&home, &["bridge", "write", "claude", "--yes"]);
    assert_eq!(import(&home)[0]["new"], 0);
    assert_eq!(texts(&home), EXPECTED);
}

#[test]
fn a_statement_of_two_files_of_a_project_is_stored_once_and_the_preview_names_the_other_file() {
    let home = TestHome::without_model();
    let rule = "Salinity is stored in PSU, temperature in millikelvin";
    let own = format!("# Tidepool\n\n## Conventions\n\n- {rule}\n- Run it twice\n");
    let agents = format!("# Agents\n\n- {rule}\n\n## Deploys\n\n- Run it twice\n");
    fs::write(home.path("project/CLAUDE.md"), own).expect("it is written");
    fs::write(home.path("project/AGENTS.md"), agents).expect("it is written");
    let first = done(&home, &["import", "--from", "claude-md", "--yes"]);
    assert_eq!(first["import"]["added"], 2, "{first}");
    let second = done(&home, &["import", "--from", "agents-md", "--yes"]);
    let left_out = &second["preview"]["left_out"];
    assert_eq!(second["import"]["added"], 1, "short words mean what their heading says: {second}");
    let reasons: Vec<_> =
        left_out.as_array().into_iter().flatten().map(|of| &of["reason"]).collect();
    let expected = ["a title that says nothing", "is stored already, from ~/project/CLAUDE.md"];
    assert_eq!(reasons, expected, "{second}");
    assert_eq!(
        texts(&home),
        [
            "Deploys: Run it twice".to_owned(),
            "Tidepool > Conventions: Run it twice".to_owned(),
            format!("Tidepool > Conventions: {rule}"),
        ]
    );
}

#[test]
fn a_renamed_heading_brings_back_nothing_and_doubles_nothing() {
    let home = TestHome::without_model();
    let path = home.path("notes.md");
    let statements = ["bicycle", "ladder", "boat"]
        .map(|thing| format!("- Keep the red {thing} in the dry cellar\n"));
    let under = |heading: &str| format!("# {heading}\n\n{}", statements.concat());
    let import = |text: &str| {
        fs::write(&path, text).expect("the file is written");
        let path = path.to_str().expect("a path");
        done(&home, &["import", "--from", "markdown", path, "--yes"])
    };
    assert_eq!(import(&under("Alpha"))["import"]["added"], 3);
    for (thing, hard) in [("ladder", false), ("boat", true)] {
        let found = done(&home, &["list", "--text", thing]);
        let id = found["memories"][0]["id"].as_str().expect("it is listed").to_owned();
        let hard = if hard { vec!["--hard"] } else { vec![] };
        done(&home, &[&["forget", &id, "--yes"], &hard[..]].concat());
    }
    let again = import(&under("Beta"));
    assert_eq!(
        (&again["import"]["added"], &again["import"]["changed"]),
        (&json!(0), &json!(1)),
        "{again}"
    );
    assert_eq!(texts(&home), ["Beta: Keep the red bicycle in the dry cellar"]);
}
