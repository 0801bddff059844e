//! `loci topics`, groups of results, and filters by category and subject.

use crate::home::TestHome;
use crate::wire::wait_until;
use serde_json::{Value, json};

const SERVERS: [&str; 5] = [
    "The staging server heron runs Debian and is restarted every night",
    "The production server egret has two network cards and runs Debian",
    "The backup server stork copies the database of egret every night",
    "The server heron was moved to another rack in the data centre",
    "A new disk was put into the database server stork",
];
const COOKING: [&str; 4] = [
    "The soup needs carrots, celery and a pinch of salt",
    "Bread dough rises for three hours before it is baked",
    "The cake is baked with apples, butter and cinnamon",
    "Boil the potatoes with salt and serve them with butter",
];

fn home_with_two_topics() -> TestHome {
    let home = TestHome::new();
    let mut agent = home.session();
    for text in SERVERS.iter().chain(&COOKING) {
        agent.store("semantic", text);
    }
    drop(agent);
    home
}

fn json_of(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(arguments);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn memories_are_grouped_by_what_they_are_about() {
    let home = home_with_two_topics();
    let reply = json_of(&home, &["topics", "--json"]);
    let counts: Vec<u64> = reply["topics"]
        .as_array()
        .expect("a JSON array")
        .iter()
        .filter_map(|topic| topic["count"].as_u64())
        .collect();
    assert_eq!((counts, &reply["grouped"]), (vec![5, 4], &json!(9)), "{reply}");
    let name = reply["topics"][0]["name"].as_str().expect("a JSON string");
    assert!(name.contains("heron"), "{reply}");
    let example = reply["topics"][1]["example"]["preview"].as_str().expect("a JSON string");
    assert!(COOKING.contains(&example), "{reply}");
    assert_eq!(json_of(&home, &["topics", "--json"]), reply, "the same again");
    let text = String::from_utf8_lossy(&home.loci(&["topics", "--count", "2"]).stdout).into_owned();
    assert!(text.ends_with("2 topics of 9 memories\n"), "{text}");
}

#[test]
fn an_agent_sees_which_results_are_about_the_same() {
    let home = home_with_two_topics();
    let mut agent = home.session();
    let query = json!({"query": "what is done every night, and what is baked with butter", "max_results": 9, "cluster": true});
    let reply = agent.call("recall_memory", query).expect("the call succeeds");
    let clusters = reply["clusters"].as_array().expect("a JSON array");
    let ids: usize =
        clusters.iter().filter_map(|cluster| Some(cluster["ids"].as_array()?.len())).sum();
    assert_eq!(Some(ids), reply["results"].as_array().map(Vec::len), "{reply}");
    assert!(clusters.len() >= 2 && clusters.iter().all(|cluster| cluster["name"] != ""), "{reply}");
    assert_eq!(clusters[0]["ids"][0], reply["results"][0]["id"]);
}

#[test]
fn category_and_subject_select_memories_in_recall_list_and_search() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let mut store = |content: &str, metadata: Value| {
        agent.store_with(json!({"content": content, "type": "semantic", "metadata": metadata}));
    };
    store("Anna prefers tabs", json!({"category": "preference", "subject": "Anna"}));
    store("Ben prefers spaces", json!({"category": "Preference", "subject": "Ben"}));
    store("The port prefers 8443", json!({"category": "project_state"}));
    store("Everybody prefers tea", json!({}));
    let mut found = |arguments: Value| -> Vec<String> {
        let reply = agent.call("recall_memory", arguments).expect("the call succeeds");
        let results = reply["results"].as_array().cloned().unwrap_or_default();
        let text = |result: &Value| result["content"].as_str().unwrap_or_default().to_owned();
        let mut texts: Vec<String> = results.iter().map(text).collect();
        texts.sort();
        texts
    };
    let both = ["Anna prefers tabs", "Ben prefers spaces"];
    assert_eq!(found(json!({"query": "prefers", "category": "preference"})), both);
    assert_eq!(found(json!({"query": "prefers", "subject": "anna"})), ["Anna prefers tabs"]);
    let state = json!({"query": "prefers", "category": "project state"});
    assert_eq!(found(state), ["The port prefers 8443"]);
    let none = json!({"query": "prefers", "category": "preference", "subject": "port"});
    assert!(found(none).is_empty());
    let empty = agent.call("recall_memory", json!({"query": "prefers", "subject": " "}));
    assert!(empty.expect_err("it is refused").starts_with("invalid: subject"));
    let listed = json_of(&home, &["list", "--category", "preference", "--json"]);
    assert_eq!(listed["total"], 2);
    let of_ben = json_of(&home, &["list", "--subject", "ben", "--json"]);
    assert_eq!(of_ben["memories"][0]["preview"], "Ben prefers spaces");
    let searched = json_of(&home, &["search", "prefers", "--category", "project_state", "--json"]);
    assert_eq!(searched["results"][0]["preview"], "The port prefers 8443");
}

#[test]
fn the_kind_of_a_query_decides_how_many_results_a_call_without_a_number_gets() {
    let home = TestHome::without_model();
    let store = |home: &TestHome| {
        let mut agent = home.session();
        for number in 0..12 {
            agent.store("episodic", &format!("Server {number} has room {}", number * 7));
        }
    };
    let count = |home: &TestHome, arguments: Value| {
        let reply = home.session().call("recall_memory", arguments).expect("the call succeeds");
        (reply["results"].as_array().map_or(0, Vec::len), reply["explain"]["query_kind"].clone())
    };
    store(&home);
    let list = json!({"query": "list all server rooms", "explain": true});
    assert_eq!(count(&home, list.clone()), (5, Value::Null), "off by default");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    home.configure("[retrieval]\nquery_kinds = true\n");
    assert_eq!(count(&home, list), (12, json!("aggregation")));
    let simple = json!({"query": "server room", "explain": true});
    assert_eq!(count(&home, simple), (3, json!("simple")));
    let given = json!({"query": "list all server rooms", "max_results": 2, "explain": true});
    assert_eq!(count(&home, given), (2, json!("aggregation")), "the call decides");
}

#[test]
fn an_explained_result_says_what_it_is_how_it_was_found_and_how_often_it_was_used() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store("semantic", "The staging server is called heron");
    agent.store("semantic", "Bread is baked in the cellar at night");
    agent.recall("What is the staging server called?");
    let question = json!({"query": "staging server", "explain": true, "max_results": 1});
    let mut why = || {
        let reply = agent.call("recall_memory", question.clone()).expect("the call succeeds");
        assert!(reply["explain"]["latency_us"].as_u64().is_some_and(|us| us > 0), "{reply}");
        assert_eq!(reply["explain"]["in_store"], 2, "{reply}");
        reply["results"][0]["why"].clone()
    };
    wait_until("the uses are written", || why()["access_count"].as_u64() >= Some(1));
    let why = why();
    let found = [&why["level"], &why["source"], &why["is_latest"]];
    assert_eq!(found, [&json!("stored"), &json!("both"), &json!(true)], "{why}");
}
