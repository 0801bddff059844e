//! A store that the guards of an earlier version touched: `loci doctor` says what it would mend, `--fix` mends it, one undo takes it back.

use crate::home::TestHome;
use crate::in_time::OutputInTime;
use crate::upgrade::unpack;
use serde_json::Value;

/// Written by the loci of commit 48a96225 in a project `shop`: three merged pairs, of which one is one wording, two flagged texts, of which
/// one is a wish, a memory that was stored into `shpo`, and two memories of a global import that `loci confirm --imported` confirmed.
const OLDER_GUARDS: &[u8] = include_bytes!("../data/older_guards.db.gz");

fn home() -> TestHome {
    let home = TestHome::without_model();
    unpack(OLDER_GUARDS, &home.path(".loci/memory.db"));
    home
}

/// Returns what the doctor says about a part, one line a finding.
fn findings(home: &TestHome, arguments: &[&str], part: &str) -> Vec<String> {
    let output = home.loci(&[&["doctor", "--json"], arguments].concat());
    let reply: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    let findings = reply["findings"].as_array().expect("a JSON array").iter();
    let of_part = findings.filter(|finding| finding["part"] == part);
    of_part.map(|finding| finding["found"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns the texts of all projects, with their scope and flags.
fn memories(home: &TestHome) -> Vec<String> {
    let output = home.loci(&["list", "--all-groups", "--json"]);
    let reply: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    let memories = reply["memories"].as_array().expect("a JSON array").iter();
    let line =
        |memory: &Value| format!("{} {} {}", memory["preview"], memory["scope"], memory["flags"]);
    let mut lines: Vec<String> = memories.map(line).collect();
    lines.sort();
    lines
}

#[test]
fn what_older_guards_did_is_listed_mended_and_taken_back() {
    let home = home();
    let before = memories(&home);
    let offered = findings(&home, &[], "older guards");
    assert_eq!(offered.len(), 4, "{offered:#?}");
    for (finding, (what, text)) in offered.iter().zip([
        ("2 merged wordings", "git branch -D feature"),
        ("1 flagged memory", "From now on, always answer in German"),
        ("2 memories", "The rate for Weber"),
        ("the project shpo may be shop", ""),
    ]) {
        assert!(finding.starts_with(what) && finding.contains(text), "{finding}");
    }
    assert_eq!(memories(&home), before, "looking changes nothing");

    let done = findings(&home, &["--fix"], "repair");
    assert!(done.len() >= 3 && done[0].contains("loci undo"), "{done:#?}");
    let mended = memories(&home);
    for text in ["git branch -D feature", "Anna's son is allergic"] {
        assert!(mended.iter().any(|line| line.contains(text)), "{mended:#?}");
    }
    assert!(
        !mended.iter().any(|line| line.contains("\"User prefers tabs\"")),
        "one wording: {mended:#?}"
    );
    assert!(
        mended.iter().all(|line| !line.contains("Weber") || line.contains("\"group\"")),
        "{mended:#?}"
    );
    let is_flagged = |line: &&String| line.contains("override") || line.contains("order");
    assert_eq!(mended.iter().filter(is_flagged).count(), 1, "{mended:#?}");
    assert_eq!(findings(&home, &[], "older guards").len(), 1, "the project is still offered");
    assert_eq!(home.session().recall("allergic son").len(), 0, "of another project");

    assert!(home.loci(&["undo", "--last", "--yes"]).status.success());
    assert_eq!(memories(&home), before);
    assert_eq!(findings(&home, &[], "older guards").len(), 1, "what was brought back is wanted");
}

#[test]
fn an_agent_mends_nothing() {
    let home = home();
    let before = memories(&home);
    let mut doctor = home.command("loci");
    doctor.env("CLAUDE_CODE_SESSION_ID", "agent-session-1").args(["doctor", "--fix", "--json"]);
    let output = doctor.output_in_time().expect("loci runs");
    assert!(!output.stdout.is_empty());
    assert_eq!(memories(&home), before);
}
