//! Associations of a recall, and `loci wander`.

use crate::cli_screens::Scene;
use crate::home::{Agent, TestHome};
use serde_json::{Value, json};

/// Stores Anna, who reports to Piotr, a note about his move, and one about her kettle, between notes
/// that have nothing to do with them.
fn store(agent: &mut Agent) -> (String, String) {
    let entity = |agent: &mut Agent, name: &str, text: &str| {
        let reply = agent
            .store_with(json!({"content": text, "type": "entity", "metadata": {"name": name}}));
        reply["id"].as_str().expect("the reply has an id").to_owned()
    };
    let anna = entity(agent, "Anna Kowalska", "Anna Kowalska keeps the books");
    let piotr = entity(agent, "Piotr Nowak", "Piotr Nowak runs the workshop");
    let relation = json!({"subject_id": anna, "predicate": "reports_to", "object_id": piotr});
    agent.call("store_relation", relation).expect("the relation is stored");
    let moved = agent.store("semantic", "Piotr Nowak has moved to a house in Gdynia");
    for text in ["The printer needs black toner", "The canteen closes at two"] {
        agent.store("semantic", text);
    }
    let kettle = agent.store("semantic", "The red kettle belongs to Anna Kowalska");
    (moved, kettle)
}

fn json_of(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(arguments);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn an_agent_gets_memories_that_its_query_does_not_find_with_what_links_them() {
    let home = TestHome::new();
    let mut agent = home.session();
    let (moved, kettle) = store(&mut agent);
    let query =
        json!({"query": "Whose is the red kettle?", "max_results": 1, "associations": true});
    let reply = agent.call("recall_memory", query).expect("the call succeeds");
    assert_eq!(reply["results"][0]["id"], kettle.as_str());
    let linked = reply["associations"].as_array().expect("there are associations");
    assert!((1..=3).contains(&linked.len()), "{reply}");
    let of_piotr = linked.iter().find(|linked| linked["id"] == moved.as_str());
    let of_piotr = of_piotr.unwrap_or_else(|| panic!("{reply}"));
    assert_eq!(
        (&of_piotr["why"], &of_piotr["via"], &of_piotr["from"]),
        (&json!("graph"), &json!(["Anna Kowalska", "Piotr Nowak"]), &json!(kettle))
    );
    assert!(of_piotr["score"].as_f64().is_some_and(|score| score >= 0.1), "{of_piotr}");
    let plain = json!({"query": "Whose is the red kettle?", "max_results": 1});
    let plain = agent.call("recall_memory", plain).expect("the call succeeds");
    assert_eq!(plain["results"], reply["results"]);
    assert!(plain.get("associations").is_none());
}

#[test]
fn a_walk_begins_at_an_id_at_a_query_or_at_a_date_and_repeats() {
    let home = TestHome::new();
    let (moved, kettle) = store(&mut home.session());
    let by_id = json_of(&home, &["wander", &kettle, "--json"]);
    assert_eq!(by_id["start"]["id"], kettle.as_str());
    let steps = by_id["steps"].as_array().expect("a JSON array");
    assert!(steps.iter().any(|step| step["id"] == moved.as_str()), "{by_id}");
    assert_eq!(json_of(&home, &["wander", &kettle[28..], "--json"]), by_id);
    assert_eq!(json_of(&home, &["wander", "red", "kettle", "--json"]), by_id);
    let of_date = json_of(&home, &["wander", "--date", "2026-03-04", "--json"]);
    assert!(!of_date["steps"].as_array().expect("a JSON array").is_empty(), "{of_date}");
    assert_eq!(json_of(&home, &["wander", "--date", "2026-03-04", "--json"]), of_date);
    let text = String::from_utf8_lossy(&home.loci(&["wander", &kettle]).stdout).into_owned();
    assert!(text.contains("through Anna Kowalska"), "{text}");
    let refused = home.loci(&["wander", "--date", "soon"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("date"), "the field is named");
}

#[test]
fn the_commands_print_these_screens() {
    let scene = Scene::new();
    let anna = scene.short(0);
    let screens = [
        scene.screen(&["topics"]),
        scene.screen(&["wander", &anna, "--steps", "2"]),
        scene.screen(&["search", "heron", "--limit", "1", "--associations"]),
    ];
    insta::assert_snapshot!("wander", screens.join("\n"));
}
