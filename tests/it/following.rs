//! The project of a session follows the folder of its client, through the real hooks and MCP sessions, and the agent is told.
//!
//! Not here: finding the project of a folder (`project` of the shim), folders that are recognised elsewhere (`groups`).

use crate::home::{Agent, TestHome};
use crate::hooks::{run_hook, text};
use crate::in_time::OutputInTime;
use serde_json::json;
use std::fs;

const SESSION: &str = "following";

/// An MCP session of the client that runs the hooks.
fn agent(home: &TestHome) -> Agent {
    let mut command = home.command("loci");
    command.env("CLAUDE_CODE_SESSION_ID", SESSION);
    Agent::start(command)
}

/// The text of a hook of Claude Code that has gone to a folder of the home.
fn prompt_in(home: &TestHome, folder: &str, project_dir: Option<&str>) -> String {
    let input = json!({"session_id": SESSION, "prompt": "go on please", "cwd": home.path(folder)});
    let mut command = home.command("loci");
    if let Some(top) = project_dir {
        command.env("CLAUDE_PROJECT_DIR", home.path(top));
    }
    text(&run_hook(command, "claude", "prompt", input.to_string().as_bytes()))
}

/// The texts that a person finds in a folder of the home.
fn stored_in(home: &TestHome, folder: &str) -> Vec<String> {
    let mut command = home.command("loci");
    command.current_dir(home.path(folder)).args(["list", "--json"]);
    let output = command.output_in_time().expect("loci runs");
    let reply: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let memories = reply["memories"].as_array().expect("a list").iter();
    // Those of other projects are visible here too.
    let own = memories.filter(|memory| memory["group"] == folder);
    own.map(|memory| memory["preview"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_session_follows_its_client_to_another_folder_and_back() {
    let home = TestHome::without_model();
    fs::create_dir(home.path("garden")).expect("the folder is created");
    let mut agent = agent(&home);
    agent.store("semantic", "The kiln is in the shed");
    let first = prompt_in(&home, "project", None);
    assert!(!first.contains("this session is in"), "{first}");
    let moved = prompt_in(&home, "garden", None);
    let line = "loci: this session is in project \"garden\" now; it was in \"project\".";
    assert!(moved.contains(line), "{moved}");
    assert!(!prompt_in(&home, "garden", None).contains("this session is in"), "it is said once");
    let reply = agent.store_with(json!({"content": "Roses are cut in march", "type": "semantic"}));
    assert!(reply.get("notice").is_none(), "the hook has said it: {reply:?}");
    assert_eq!(stored_in(&home, "garden"), ["Roses are cut in march"]);
    assert_eq!(stored_in(&home, "project"), ["The kiln is in the shed"]);
    assert_eq!(agent.recall("roses march")[0], "Roses are cut in march");
    // The brief of the project to which it comes back is given with the line.
    let back = prompt_in(&home, "project", None);
    assert!(back.contains("is in project \"project\" now") && back.contains("kiln"), "{back}");
    agent.store("semantic", "The clay is in the cellar");
    assert_eq!(stored_in(&home, "project").len(), 2);
}

#[test]
fn a_reply_says_it_where_no_hook_could() {
    let home = TestHome::without_model();
    fs::create_dir(home.path("garden")).expect("the folder is created");
    let mut agent = agent(&home);
    agent.store("semantic", "The kiln is in the shed");
    let stop = |folder: &str| {
        let input = json!({"session_id": SESSION, "cwd": home.path(folder)}).to_string();
        run_hook(home.command("loci"), "claude", "stop", input.as_bytes())
    };
    stop("project");
    stop("garden");
    let reply = agent.store_with(json!({"content": "Roses are cut in march", "type": "semantic"}));
    let notice = reply["notice"].as_str().unwrap_or_default();
    assert!(notice.contains("is in project \"garden\" now"), "{reply:?}");
    let reply = agent.store_with(json!({"content": "Tulips come in april", "type": "semantic"}));
    assert!(reply.get("notice").is_none(), "{reply:?}");
}

#[test]
fn a_folder_below_that_of_the_client_is_no_other_project() {
    let home = TestHome::without_model();
    fs::create_dir_all(home.path("project/vendor/.git")).expect("the folder is created");
    fs::write(home.path("project/vendor/.git/HEAD"), "ref: refs/heads/main\n").expect("a file");
    fs::create_dir(home.path("garden")).expect("the folder is created");
    let mut agent = agent(&home);
    agent.store("semantic", "The kiln is in the shed");
    prompt_in(&home, "project", Some("project"));
    let below = prompt_in(&home, "project/vendor", Some("project"));
    assert!(!below.contains("this session is in"), "{below}");
    let other = prompt_in(&home, "garden", Some("project"));
    assert!(other.contains("is in project \"garden\" now"), "{other}");
}

#[test]
fn a_session_whose_folder_is_gone_stays_in_its_project_and_says_so_once() {
    let home = TestHome::without_model();
    fs::create_dir(home.path("garden")).expect("the folder is created");
    let mut command = home.command("loci");
    command.env("CLAUDE_CODE_SESSION_ID", SESSION).current_dir(home.path("garden"));
    let mut agent = Agent::start(command);
    agent.store("semantic", "Roses are cut in march");
    prompt_in(&home, "garden", None);
    fs::remove_dir(home.path("garden")).expect("the folder is removed");
    let gone = prompt_in(&home, "garden", None);
    let line = "the folder of this session no longer exists; it stays in project \"garden\"";
    assert!(gone.contains(line) && !gone.contains("is in project"), "{gone}");
    assert!(!prompt_in(&home, "garden", None).contains("no longer exists"), "it is said once");
    let reply = agent.store_with(json!({"content": "Tulips come in april", "type": "semantic"}));
    assert!(reply["notice"].as_str().is_some_and(|notice| notice.contains(line)), "{reply:?}");
    let reply = agent.store_with(json!({"content": "Asters come in may", "type": "semantic"}));
    assert!(reply.get("notice").is_none(), "{reply:?}");
    fs::create_dir(home.path("garden")).expect("the folder is created");
    assert_eq!(stored_in(&home, "garden").len(), 3);
}

#[test]
fn a_store_says_where_a_memory_went_if_nobody_would_guess() {
    let home = TestHome::without_model();
    let kiln = json!({"content": "The kiln is in the shed", "type": "semantic"});
    let plain = home.session().store_with(kiln.clone());
    assert!(plain.get("group").is_none() && plain.get("note").is_none(), "{plain:?}");
    // The text is known from another project.
    let merged = home.session_in("garden").store_with(kiln);
    assert_eq!((&merged["deduplicated"], &merged["group"]), (&json!(true), &json!("project")));
    let mut command = home.command("loci");
    command.current_dir(home.path(""));
    let mut outside = Agent::start(command);
    let reply =
        outside.store_with(json!({"content": "Roses are cut in march", "type": "semantic"}));
    assert_eq!(reply["group"], "default");
    let note = reply["note"].as_str().unwrap_or_default();
    assert!(note.contains("in no project; what it stores goes to project default"), "{reply:?}");
    let named = json!({"content": "Tulips come in april", "type": "semantic", "group": "garden"});
    let reply = outside.store_with(named);
    assert_eq!(reply["group"], "garden");
    assert!(reply.get("note").is_none(), "{reply:?}");
}
