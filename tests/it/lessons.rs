//! `loci reject`, `loci fix`, `loci how`, and memories whose files have changed.

use crate::home::TestHome;
use crate::in_time::{ExitInTime, OutputInTime};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

fn screen(home: &TestHome, arguments: &[&str]) -> String {
    let output = home.loci(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn an_attempt_that_was_given_up_is_marked_with_its_reason_until_that_is_undone() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let attempt = json!({"content": "Cache the prices in Redis", "type": "procedural"});
    let id = agent.call("store_memory", attempt).expect("it is stored")["id"].clone();
    let id = id.as_str().expect("an id");
    assert!(!home.loci(&["reject", id, "--why", " "]).status.success(), "a reason is needed");
    screen(&home, &["reject", id, "--why", "prices were stale at night"]);
    let query = json!({"query": "cache prices"});
    let found = agent.call("recall_memory", query.clone()).expect("it is found");
    let first = &found["results"][0];
    assert_eq!(
        (&first["status"], &first["rejected"]),
        (&"rejected".into(), &"prices were stale at night".into())
    );
    let text = screen(&home, &["search", "cache prices", "--full"]);
    assert!(text.contains("rejected: prices were stale at night"), "{text}");
    assert_eq!(screen(&home, &["list"]).lines().count(), 1, "it is not active");
    screen(&home, &["undo", "--last", "--yes"]);
    let found = agent.call("recall_memory", query).expect("it is found");
    assert_eq!(found["results"][0]["status"], Value::Null);
    let rejected = json!({"memory_id": id, "rejected": true, "reason": "again"});
    assert_eq!(agent.call("forget_memory", rejected).expect("an agent may")["status"], "rejected");
}

/// Returns what `loci fix -` prints for the output of a program.
fn fix_of_output(home: &TestHome, output: &[u8]) -> String {
    let mut command = home.command("loci");
    let piped = command.args(["fix", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.spawn().expect("loci starts");
    let stdin = child.stdin.take();
    stdin.expect("the stream is open").write_all(output).expect("loci reads");
    let printed = child.output_in_time().expect("loci ends").stdout;
    String::from_utf8_lossy(&printed).into_owned()
}

#[test]
fn an_error_finds_its_fix_from_an_argument_and_from_standard_input() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let fix = json!({"content": "Run pnpm install after switching branches", "type": "procedural",
        "metadata": {"error": "Error: Cannot find module 'heron-client'", "tool": "pnpm"}});
    agent.call("store_memory", fix).expect("it is stored");
    for number in 0..6 {
        let text = format!("Module {number}: the error handling cannot find its client");
        agent.call("store_memory", json!({"content": text, "type": "semantic"})).expect("stored");
    }
    let output =
        "> vitest run\n\nError: Cannot find module 'heron-client'\nRequire stack:\n- /a/b.ts\n";
    assert!(screen(&home, &["fix", output]).contains("pnpm install"));
    assert!(fix_of_output(&home, output.as_bytes()).contains("pnpm install"));
    // Of a long output that is not UTF-8 the end is read.
    let mut long = b"\xff\xfe step of the build\n".repeat(60_000);
    long.extend(output.as_bytes());
    assert!(fix_of_output(&home, &long).contains("pnpm install"));
    let recalled = agent.call("recall_memory", json!({"query": output, "max_results": 2}));
    let recalled = recalled.expect("it is found");
    assert_eq!(recalled["results"][0]["matched"], "error", "{recalled}");
    assert!(screen(&home, &["how", "PNPM"]).contains("switching branches"));
    assert!(screen(&home, &["how", "cargo"]).starts_with("Nothing is known of cargo"));
    let refused = home.loci(&["how", " "]);
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && error.contains("TOOL is empty"), "{error}");
    assert_eq!(
        screen(&home, &["fix", "quantum flux inverted"]),
        "This text has no line that states an error, and nothing is near it.\n"
    );
    assert_eq!(
        screen(&home, &["fix", "TypeError: quantum is not a function"]),
        "Nothing is known of this error.\n"
    );
    let empty = home.loci(&["fix", ""]);
    assert_eq!(empty.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&empty.stderr).contains("The error message is missing"));
}

#[test]
fn a_memory_says_how_many_of_its_files_have_changed() {
    let home = TestHome::without_model();
    let project = home.path("project");
    let git = Command::new("git").args(["init", "-q"]).current_dir(&project).exit_in_time();
    assert!(git.is_ok_and(|status| status.success()), "git runs");
    fs::create_dir(project.join("src")).expect("the folder is created");
    for file in ["src/cart.rs", "src/price.rs"] {
        fs::write(project.join(file), "fn main() {}\n").expect("the file is written");
    }
    let mut agent = home.session();
    let memory =
        json!({"content": "src/cart.rs rounds prices with src/price.rs", "type": "semantic"});
    agent.call("store_memory", memory).expect("it is stored");
    let mut stale = || {
        let found = agent.call("recall_memory", json!({"query": "rounds prices"}));
        let result = found.expect("it is found")["results"][0].clone();
        assert_eq!(result["metadata"], Value::Null, "agents do not pay for the ids: {result}");
        result["stale"].clone()
    };
    assert_eq!(stale(), Value::Null);
    fs::write(project.join("src/cart.rs"), "fn main() { round() }\n").expect("the file is written");
    assert_eq!(stale(), "1 of 2 files changed since");
    fs::remove_file(project.join("src/price.rs")).expect("the file is removed");
    assert_eq!(stale(), "2 of 2 files changed since");
    let elsewhere =
        home.session_in("other").call("recall_memory", json!({"query": "rounds prices"}));
    assert_eq!(elsewhere.expect("it is found")["results"][0]["stale"], Value::Null);
}
