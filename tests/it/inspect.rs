//! `memory_inspect` through the shim: pages of relations and of the log.

use crate::home::{Agent, TestHome};
use rusqlite::Connection;
use serde_json::{Value, json};

const RELATIONS: usize = 10_000;
const LOG_LINES: usize = 100_000;

fn entity(agent: &mut Agent, name: &str) -> String {
    let entity = json!({"content": name, "type": "entity", "metadata": {"name": name}});
    agent.store_with(entity)["id"].as_str().expect("the reply has an id").to_owned()
}

fn inspect(agent: &mut Agent, arguments: Value) -> Value {
    agent.call("memory_inspect", arguments).expect("the call succeeds")
}

/// Inserts rows while no daemon runs.
fn with_database(home: &TestHome, change: impl FnOnce(&Connection)) {
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let database = Connection::open(home.path(".loci/memory.db")).expect("the database opens");
    database.execute_batch("BEGIN").expect("the transaction begins");
    change(&database);
    database.execute_batch("COMMIT").expect("the transaction is committed");
}

#[test]
fn ten_thousand_relations_are_given_in_pages_newest_first() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let (hub, other) = (entity(&mut agent, "Hub"), entity(&mut agent, "Spoke"));
    with_database(&home, |database| {
        let mut insert = database
            .prepare("INSERT INTO entity_relations(id, subject_id, predicate, object_id, confidence, created_at) VALUES (?1, ?2, ?3, ?4, 1.0, ?5)")
            .expect("the statement is valid");
        for i in 0..RELATIONS {
            // Both directions; ten relations share each moment.
            let (subject, object) = if i % 2 == 0 { (&hub, &other) } else { (&other, &hub) };
            let id = format!("01953a2b-7c1e-7000-8000-{i:012}");
            let created_at = 1_770_000_000_000 + i64::try_from(i / 10).expect("it is small");
            insert
                .execute((id, subject, format!("p{i}"), object, created_at))
                .expect("the row is stored");
        }
    });
    let mut agent = home.session();
    let mut seen: Vec<String> = Vec::new();
    let mut arguments = json!({"memory_id": hub});
    loop {
        let page = inspect(&mut agent, arguments.clone());
        let relations = page["relations"].as_array().expect("a JSON array");
        assert!(relations.len() <= 50 && !relations.is_empty(), "{}", relations.len());
        seen.extend(relations.iter().filter_map(|r| r["predicate"].as_str()).map(str::to_owned));
        match page.get("relations_next") {
            Some(next) => arguments = json!({"memory_id": hub, "relations_before": next}),
            None => break,
        }
    }
    let expected: Vec<String> = (0..RELATIONS).rev().map(|i| format!("p{i}")).collect();
    assert!(seen == expected, "{} relations, the first is {:?}", seen.len(), seen.first());
    let bare = inspect(&mut agent, json!({"memory_id": hub, "include_relations": false}));
    assert_eq!((&bare["relations"], bare.get("relations_next")), (&json!([]), None));
    let wrong = json!({"memory_id": hub, "relations_before": "x"});
    let error = agent.call("memory_inspect", wrong).expect_err("the call fails");
    assert!(error.starts_with("invalid: relations_before is not the id of a relation"), "{error}");
    let printed = home.loci(&["inspect", &hub]);
    assert!(String::from_utf8_lossy(&printed.stdout).contains("--relations-before 01953a2b"));
}

#[test]
fn relations_to_memories_of_other_projects_are_left_out_of_the_pages() {
    let home = TestHome::without_model();
    let (mut mine, mut theirs) = (home.session_in("mine"), home.session_in("theirs"));
    let hub = entity(&mut mine, "Hub");
    for i in 0..3 {
        let own = entity(&mut mine, &format!("Mine {i}"));
        let arguments = json!({"subject_id": hub, "predicate": "has", "object_id": own});
        mine.call("store_relation", arguments).expect("the call succeeds");
    }
    for i in 0..60 {
        let name = format!("Theirs {i}");
        let hidden = json!({"content": name, "type": "entity", "scope": "group", "metadata": {"name": name}});
        let hidden = theirs.store_with(hidden)["id"].clone();
        let arguments = json!({"subject_id": hub, "predicate": "has", "object_id": hidden});
        theirs.call("store_relation", arguments).expect("the call succeeds");
    }
    let page = inspect(&mut mine, json!({"memory_id": hub}));
    assert_eq!(page["relations"].as_array().map(Vec::len), Some(3), "{page}");
    assert_eq!(page.get("relations_next"), None);
    let page = inspect(&mut theirs, json!({"memory_id": hub}));
    assert_eq!(page["relations"].as_array().map(Vec::len), Some(50));
    assert!(page["relations_next"].is_string());
}

#[test]
fn a_hundred_thousand_log_lines_are_given_in_pages() {
    let home = TestHome::without_model();
    let id = home.session().store("semantic", "Changed often");
    with_database(&home, |database| {
        let mut insert = database
            .prepare("INSERT INTO memory_log(operation, memory_id, details, client, session, group_id, created_at) VALUES ('update', ?1, '{}', 'it', 's', 'g', 1770000000000)")
            .expect("the statement is valid");
        for _ in 0..LOG_LINES {
            insert.execute([&id]).expect("the row is stored");
        }
    });
    let mut agent = home.session();
    let page = inspect(&mut agent, json!({"memory_id": id, "include_log": true}));
    assert_eq!(page["log"].as_array().map(Vec::len), Some(50));
    let next = page["log_next"].as_i64().expect("there are more pages");
    let arguments = json!({"memory_id": id, "include_log": true, "log_before": next});
    let second = inspect(&mut agent, arguments);
    assert_eq!(second["log"][0]["id"], next - 1, "the next page begins after the first");
    let last = inspect(&mut agent, json!({"memory_id": id, "include_log": true, "log_before": 2}));
    assert_eq!((last["log"].as_array().map(Vec::len), last.get("log_next")), (Some(1), None));
    assert_eq!(last["log"][0]["operation"], "create");
}

#[test]
fn importance_is_shown_exported_and_kept_by_an_import() {
    let home = TestHome::new();
    let mut agent = home.session();
    let store = |agent: &mut Agent, text: &str| {
        let stored = agent.store_with(json!({"content": text, "type": "episodic"}));
        stored["id"].as_str().expect("the reply has an id").to_owned()
    };
    let first = store(&mut agent, "The kettle in the kitchen of Anna is blue.");
    let alike = store(&mut agent, "In the kitchen of Anna there is a blue kettle and a cup.");
    let other = store(&mut agent, "Deploys of the billing service run on Tuesdays.");
    let importance = |agent: &mut Agent, id: &str| {
        let memory = &inspect(agent, json!({"memory_id": id}))["memory"];
        memory["importance"].as_f64().expect("the importance is known")
    };
    let found = [&first, &alike, &other].map(|id| importance(&mut agent, id));
    assert!((found[0] - 1.0).abs() < 1e-9 && found[1] < 1.0 && found[2] > 1.2, "{found:?}");
    let explained = json!({"query": "kettle", "explain": true, "dry_run": true});
    let explained = agent.call("recall_memory", explained).expect("the call succeeds");
    assert!(explained["results"][0]["why"]["importance"].is_number(), "{explained}");
    let file = home.path("export.jsonl");
    let file = file.to_str().expect("the path is UTF-8");
    assert!(home.loci(&["export", "--output", file]).status.success());
    let new = TestHome::new();
    assert!(new.loci(&["import", file]).status.success());
    let again = new.loci(&["export"]);
    let lines = String::from_utf8_lossy(&again.stdout).into_owned();
    let imported: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .filter(|line: &Value| line["kind"] == "memory" && line["id"] == alike.as_str())
        .collect();
    assert_eq!(imported.len(), 1, "{lines}");
    assert_eq!(imported[0]["importance"], json!(found[1]));
}
