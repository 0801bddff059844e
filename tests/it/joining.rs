//! Projects without a folder here, through the real programs: after an import on another machine they are offered to the folder of the same
//! name, and joined when a person says so.
//!
//! Not here: folders that are recognised (`identity`), other imports (`transfer`).

use crate::home::{TestHome, printed};
use crate::hooks::start;
use crate::in_time::OutputInTime;
use serde_json::{Value, json};

const KILN: &str = "The kiln stands in the shed";
const OFFER: &str = "Memories of project \"project\" from another machine are here: ask the user to run loci groups join project";

/// Writes the export of another machine, on which a project of the same name has one memory; returns its path.
fn export_of_other_machine(home: &TestHome, name: &str) -> String {
    let other = TestHome::without_model();
    other.session().store("episodic", KILN);
    let file = home.path(name);
    let output = other.loci(&["export", "--output", file.to_str().expect("the path is UTF-8")]);
    assert!(output.status.success(), "{}", printed(&output));
    file.to_str().expect("the path is UTF-8").to_owned()
}

fn import(home: &TestHome, file: &str) {
    let output = home.loci(&["import", file]);
    assert!(output.status.success(), "{}", printed(&output));
}

fn recall(home: &TestHome) -> Value {
    let asked = json!({"query": "where does the kiln stand", "scope": "group"});
    home.session().call("recall_memory", asked).expect("the call succeeds")
}

#[test]
fn an_imported_project_is_offered_and_joined_by_a_person() {
    let home = TestHome::without_model();
    import(&home, &export_of_other_machine(&home, "one.jsonl"));
    assert!(start(&home, "first", "startup").contains(OFFER));
    let mut agent = home.session();
    let asked = json!({"query": "where does the kiln stand", "scope": "group"});
    let reply = agent.call("recall_memory", asked.clone()).expect("the call succeeds");
    assert_eq!((&reply["note"], &reply["notice"]), (&json!(OFFER), &json!(OFFER)), "{reply}");
    let again = agent.call("recall_memory", asked).expect("the call succeeds");
    assert!(again["notice"].is_null(), "a session is told once: {again}");
    let doctor = printed(&home.loci(&["doctor"]));
    assert!(doctor.contains("Run loci groups join project"), "{doctor}");
    // An agent cannot join it.
    let mut as_agent = home.command("loci");
    as_agent.env("CLAUDE_CODE_SESSION_ID", "a").args(["groups", "join", "--yes"]);
    let refused = printed(&as_agent.output_in_time().expect("it runs"));
    assert!(refused.contains("only a person may do"), "{refused}");
    let (code, screen) = home.at_terminal(&["groups", "join"], "the project of this folder?", "y");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("Joined 1 memory of project to project"), "{screen}");
    assert_eq!(recall(&home)["results"][0]["content"], KILN);
    assert!(!start(&home, "second", "startup").contains("groups join"));
    // It is one act, and what comes later from the other machine comes here.
    let output = home.loci(&["undo", "--last", "--yes"]);
    assert!(output.status.success(), "{}", printed(&output));
    assert!(start(&home, "third", "startup").contains(OFFER));
    let joined = home.json(&["groups", "join", "--yes", "--json"]);
    assert_eq!((&joined["moved"], &joined["from"]), (&json!(1), &json!("project")));
}

#[test]
fn a_declined_offer_does_not_come_again_and_can_still_be_joined() {
    let home = TestHome::without_model();
    import(&home, &export_of_other_machine(&home, "one.jsonl"));
    let (code, screen) = home.at_terminal(&["groups", "join"], "the project of this folder?", "n");
    assert_ne!(code, Some(0), "{screen}");
    assert!(screen.contains("It is not offered any more"), "{screen}");
    assert!(!start(&home, "first", "startup").contains("groups join"));
    assert!(recall(&home)["note"].is_null());
    home.json(&["groups", "join", "project", "--yes", "--json"]);
    assert_eq!(recall(&home)["results"][0]["content"], KILN);
}

#[test]
fn two_projects_of_the_same_name_are_listed_by_the_command_alone() {
    let home = TestHome::without_model();
    for name in ["one.jsonl", "two.jsonl"] {
        import(&home, &export_of_other_machine(&home, name));
    }
    assert!(!start(&home, "first", "startup").contains("groups join"));
    let refused = printed(&home.loci(&["groups", "join", "--yes"]));
    assert!(refused.contains("may mean 2 projects: project (g_"), "{refused}");
    let groups = home.json(&["groups", "list", "--json"]);
    let id = groups["groups"][0]["id"].as_str().expect("an id").to_owned();
    let joined = home.json(&["groups", "join", &id, "--yes", "--json"]);
    assert_eq!(joined["moved"], 1, "{joined}");
}

#[test]
fn a_project_that_has_its_folder_here_is_not_offered() {
    let home = TestHome::without_model();
    home.session_in("a/shop").store("episodic", KILN);
    let mut agent = home.session_in("b/shop");
    let asked = json!({"query": "where does the kiln stand", "scope": "group"});
    let reply = agent.call("recall_memory", asked).expect("the call succeeds");
    assert!(reply["note"].is_null() && reply["notice"].is_null(), "{reply}");
    let mut command = home.command("loci");
    command.current_dir(home.path("b/shop")).args(["groups", "join", "--yes"]);
    let refused = printed(&command.output_in_time().expect("it runs"));
    assert!(refused.contains("no project without a folder here"), "{refused}");
}
