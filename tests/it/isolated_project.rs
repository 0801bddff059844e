//! A project under contract (`isolated = true` in its `.loci.toml`): no read path of another project
//! shows its memories, and it sees those of no other project.

use crate::home::{Agent, TestHome, contents};
use crate::in_time::OutputInTime;
use serde_json::{Value, json};
use std::fs;
use std::process::Output;

/// The text of every memory inside.
const SECRET: &str = "zeppelin";

/// Writes `.loci.toml` of the isolated project.
fn project_file(home: &TestHome, text: &str) {
    let folder = home.path("client");
    fs::create_dir_all(&folder).expect("the folder is created");
    fs::write(folder.join(".loci.toml"), text).expect("the file is written");
}

/// Runs `loci` in a project, as a person or inside an agent's session.
fn loci_in(home: &TestHome, project: &str, is_agent: bool, arguments: &[&str]) -> Output {
    let folder = home.path(project);
    fs::create_dir_all(&folder).expect("the folder is created");
    let mut command = home.command("loci");
    command.current_dir(folder).args(arguments);
    if is_agent {
        command.env("CLAUDE_CODE_SESSION_ID", "0199c2aa-7c1e-7000-8000-0123456789ab");
    }
    command.output_in_time().expect("loci runs")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn agent_prints(home: &TestHome, project: &str, arguments: &[&str]) -> String {
    printed(&loci_in(home, project, true, arguments))
}

fn person_prints(home: &TestHome, project: &str, arguments: &[&str]) -> String {
    printed(&loci_in(home, project, false, arguments))
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Id of the project as `loci groups list` shows it to a person.
fn group_id(home: &TestHome) -> String {
    let groups = json_of(&person_prints(home, "shop", &["groups", "list", "--json"]));
    let groups = groups["groups"].as_array().expect("a JSON array").clone();
    let client = groups.iter().find(|group| group["isolated"] == true);
    client.expect("one project is isolated")["id"].as_str().expect("a JSON string").to_owned()
}

/// Ids of what the isolated project has stored.
struct Inside {
    fact: String,
    entity: String,
    other: String,
}

/// Stores in the isolated project: a fact before it is isolated, entities with a relation after.
fn store_inside(home: &TestHome) -> Inside {
    let mut agent = home.session_in("client");
    let fact = agent.store("semantic", "The zeppelin project ends in May");
    drop(agent);
    project_file(home, "isolated = true\n");
    let mut agent = home.session_in("client");
    let entity = |agent: &mut Agent, name: &str| {
        let content = format!("{name} works on the zeppelin project");
        let arguments = json!({"content": content, "type": "entity", "metadata": {"name": name, "entity_type": "person"}});
        agent.store_with(arguments)["id"].as_str().expect("a JSON string").to_owned()
    };
    let (entity, other) = (entity(&mut agent, "Zoe"), entity(&mut agent, "Zack"));
    let relation = json!({"subject_id": entity, "predicate": "manages", "object_id": other});
    agent.call("store_relation", relation).expect("the relation is stored");
    Inside { fact, entity, other }
}

#[test]
fn an_agent_outside_learns_of_no_memory_inside_by_any_tool() {
    for project in ["shop", ""] {
        let home = TestHome::without_model();
        let inside = store_inside(&home);
        let group = group_id(&home);
        let mut agent = home.session_in(project);
        agent.store("semantic", "The shop closes at six");
        assert_eq!(agent.recall("zeppelin project"), [""; 0], "{project}");
        let ids = json!({"ids": [inside.fact, inside.entity]});
        let recalled = agent.call("recall_memory", ids).expect("the call succeeds");
        assert_eq!(recalled["missing"].as_array().map(Vec::len), Some(2), "{recalled}");
        let counted = agent.call("memory_stats", json!({})).expect("the call succeeds");
        assert_eq!(counted["by_type"]["entity"], 0, "{counted}");
        for (tool, arguments) in [
            ("memory_inspect", json!({"memory_id": inside.fact})),
            ("forget_memory", json!({"memory_id": inside.fact})),
            ("restore_memory", json!({"memory_id": inside.fact})),
            (
                "store_relation",
                json!({"subject_id": inside.entity, "predicate": "knows", "object_id": inside.other}),
            ),
            (
                "store_memory",
                json!({"content": "It ends in June", "type": "semantic", "supersedes": inside.fact}),
            ),
            ("recall_memory", json!({"query": "zeppelin", "group": group})),
            ("memory_stats", json!({"group": group})),
            ("memory_inspect", json!({"memory_id": inside.fact, "group": group})),
            ("forget_memory", json!({"memory_id": inside.fact, "group": group})),
            (
                "store_memory",
                json!({"content": "It ends in June", "type": "semantic", "group": group}),
            ),
        ] {
            let refused = agent.call(tool, arguments.clone()).expect_err("it is refused");
            assert!(refused.contains("not_found"), "{tool} {arguments}: {refused}");
            assert!(!refused.contains(SECRET), "{refused}");
        }
        let equal = json!({"content": "The zeppelin project ends in May", "type": "semantic"});
        let stored = agent.store_with(equal);
        assert_eq!(stored["deduplicated"], false);
        assert!(!stored.contains_key("similar"), "{stored:?}");
        for uri in ["loci://group".to_owned(), format!("loci://group/{group}")] {
            let read = agent.request("resources/read", json!({"uri": uri})).to_string();
            assert!(!read.contains("Zoe") && !read.contains("Zack"), "{read}");
        }
        let memory = json!({"uri": format!("loci://memory/{}", inside.entity)});
        let read = agent.request("resources/read", memory);
        assert!(read["error"].is_object(), "{read}");
    }
}

#[test]
fn an_agent_inside_sees_its_own_and_what_was_stored_outside_any_project() {
    let home = TestHome::without_model();
    home.session_in("shop").store("semantic", "The sign of the shop is green");
    home.session_in("").store("semantic", "I like the colour green");
    let inside = store_inside(&home);
    let mut agent = home.session_in("client");
    assert_eq!(agent.recall("green"), ["I like the colour green"]);
    assert_eq!(agent.recall("zeppelin ends").len(), 3);
    let own = json!({"query": "zeppelin", "group": group_id(&home), "max_results": 20});
    assert_eq!(contents(&agent.call("recall_memory", own).expect("the call succeeds")).len(), 3);
    let shown = agent.call("memory_inspect", json!({"memory_id": inside.entity}));
    assert_eq!(shown.expect("the call succeeds")["relations"][0]["predicate"], "manages");
    let refused = agent.call("recall_memory", json!({"query": "green", "group": "default"}));
    assert!(refused.expect_err("it is refused").contains("is isolated"));
    let global = json!({"content": "The zeppelin is blue", "type": "semantic", "scope": "global"});
    let stored = agent.store_with(global);
    assert_eq!(stored["note"], "Stored with scope group: client is isolated");
    let counted = agent.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!((&counted["isolated"], &counted["active_memories"]), (&json!(true), &json!(5)));
}

#[test]
fn a_person_sees_everything_and_an_agent_on_the_command_line_does_not() {
    let home = TestHome::without_model();
    let inside = store_inside(&home);
    home.session_in("shop").store("semantic", "The shop closes at six");
    let (id, short, group) = (inside.fact.as_str(), &inside.fact[28..], group_id(&home));
    for arguments in [
        &["list", "--all-groups"][..],
        &["list", "--group", &group],
        &["search", "zeppelin", "--group", &group],
        &["inspect", id, "--group", &group],
        &["groups", "list"],
        &["export"],
    ] {
        let shown = person_prints(&home, "shop", arguments);
        assert!(shown.contains(SECRET) || shown.contains("client"), "{arguments:?}: {shown}");
        let shown = agent_prints(&home, "shop", arguments);
        assert!(!shown.contains(SECRET) && !shown.contains("client"), "{arguments:?}: {shown}");
    }
    let shown = person_prints(&home, "shop", &["inspect", short]);
    assert!(shown.contains("belongs to another project, client"), "{shown}");
    let shown = agent_prints(&home, "shop", &["inspect", short]);
    assert!(shown.contains("No memory id starts or ends with"), "{shown}");
    for arguments in [
        &["history"][..],
        &["scan"],
        &["export"],
        &["redo", "--yes"],
        &["undo", "--last", "--yes"],
        &["groups", "alias", "shop", "g_0123456789abcdef"],
        &["reset", "--yes"],
    ] {
        let output = loci_in(&home, "shop", true, arguments);
        assert!(!output.status.success(), "{arguments:?}: {}", printed(&output));
        assert!(printed(&output).contains("outside the agent"), "{}", printed(&output));
    }
    let doctor = person_prints(&home, "client", &["doctor"]);
    assert!(doctor.contains("client is isolated"), "{doctor}");
    let doctor = person_prints(&home, "shop", &["doctor"]);
    assert!(doctor.contains("shop is not isolated"), "{doctor}");
}

#[test]
fn no_command_of_an_agent_outside_names_or_counts_what_is_inside() {
    let home = TestHome::without_model();
    store_inside(&home);
    home.session_in("shop").store("semantic", "The shop closes at six");
    let _open = home.session_in("client");
    for arguments in [
        &["ctl", "status"][..],
        &["ctl", "status", "--json"],
        &["ctl", "ps"],
        &["ctl", "ps", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["doctor", "--deep"],
        &["stats"],
        &["stats", "--json"],
        &["topics"],
        &["injected", "--all"],
        &["review", "--json"],
        &["review", "--candidates", "--all-groups", "--list"],
        &["diff", "--since", "1d", "--all-groups"],
        &["backup", "list"],
        &["bridge", "status"],
        &["ctl", "maintenance", "plan"],
        &["list", "--held", "--all-groups"],
        &["groups", "list", "--json"],
    ] {
        let shown = agent_prints(&home, "shop", arguments);
        assert!(!shown.is_empty() && !shown.contains(SECRET), "{arguments:?}: {shown}");
        for count in ["4 memories", "memories  4", "memories\":4", "\"client\",", " client "] {
            assert!(!shown.contains(count), "{arguments:?}: {count}: {shown}");
        }
    }
    let shown = agent_prints(&home, "shop", &["ctl", "status"]);
    assert!(shown.contains("memories  1\n"), "{shown}");
    let shown = person_prints(&home, "shop", &["doctor"]);
    assert!(shown.contains("4 memories"), "{shown}");
}

#[test]
fn only_a_session_inside_ends_the_isolation_and_a_lost_file_does_not() {
    let home = TestHome::without_model();
    store_inside(&home);
    let group = group_id(&home);
    let sees = |home: &TestHome| !home.session_in("shop").recall("zeppelin").is_empty();
    assert!(!sees(&home));
    fs::remove_file(home.path("client/.loci.toml")).expect("the file is removed");
    assert_eq!(home.session_in("client").recall("zeppelin").len(), 3, "inside without a file");
    assert!(!sees(&home), "another branch may lack the file");
    // Another project and a name in LOCI_GROUP are outside, whatever their files say.
    fs::create_dir_all(home.path("evil")).expect("the folder is created");
    fs::write(home.path("evil/.loci.toml"), "isolated = false\n").expect("the file is written");
    let mut command = home.command("loci");
    command.current_dir(home.path("evil")).env("LOCI_GROUP", &group);
    let mut evil = Agent::bare(command.arg("mcp"));
    let refused = evil.call("recall_memory", json!({"query": "zeppelin"}));
    let refused = refused.expect_err("it is refused");
    assert!(refused.contains("not_found") && refused.contains("LOCI_GROUP"), "{refused}");
    assert!(!sees(&home));
    project_file(&home, "isolated = false\n");
    home.session_in("client").recall("zeppelin");
    assert!(!sees(&home), "a repository's file ends nothing by itself");
    home.allow("client");
    home.session_in("client").recall("zeppelin");
    assert_eq!(home.session_in("shop").recall("zeppelin"), ["The zeppelin project ends in May"]);
}

#[test]
fn a_faulty_project_file_with_the_key_isolates_and_loci_group_is_ignored_there() {
    let home = TestHome::without_model();
    project_file(&home, "isolated = yes\n");
    let mut command = home.command("loci");
    command.current_dir(home.path("client")).env("LOCI_GROUP", "work");
    let mut agent = Agent::bare(command.arg("mcp"));
    agent.store("semantic", "The zeppelin project ends in May");
    assert!(home.session_in("shop").recall("zeppelin").is_empty());
    let warnings = home.status()["warnings"].to_string();
    assert!(warnings.contains("the project is isolated"), "{warnings}");
    assert!(warnings.contains("LOCI_GROUP is ignored"), "{warnings}");
}

#[test]
fn an_export_keeps_the_flag() {
    let home = TestHome::without_model();
    store_inside(&home);
    let file = home.path("all.jsonl").display().to_string();
    person_prints(&home, "shop", &["export", "--output", &file]);
    let copy = TestHome::without_model();
    let imported = person_prints(&copy, "shop", &["import", &file]);
    assert!(imported.contains('3'), "{imported}");
    assert!(copy.session_in("shop").recall("zeppelin").is_empty());
}
