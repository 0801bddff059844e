//! Texts with characters that a person does not see: neutralised when they are stored, and again
//! towards agents when they were stored as they are.

use crate::home::{Agent, TestHome};
use rusqlite::Connection;
use serde_json::{Value, json};

/// Each kind that must never reach an agent, in a sentence.
const HIDDEN: &str =
    "The key\u{1b}[31m is\u{7} in\u{202E} the\u{2066} red\u{E0041}\u{E0042} box\u{200B}.";
const VISIBLE: &str = "The key is in the red box.";

/// Persian, Hindi, a family, a flag, a heart with a variation selector, Hebrew with a mark.
const LEGITIMATE: &str = "می\u{200C}خواهم, क्\u{200D}ष, 👩\u{200D}👧, \u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}, ❤\u{FE0F}, שלום\u{200F}!, e\u{301}";

/// Returns the hidden characters of a reply, as it is written on the wire.
fn hidden_in(text: &str) -> Vec<char> {
    let is_hidden = |c: &char| {
        matches!(*c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200B}' | '\u{E0000}'..='\u{E007F}')
            || c.is_control() && !matches!(*c, '\n' | '\t')
    };
    text.chars().filter(is_hidden).collect()
}

/// Collects every string of a reply: keys and values.
fn strings(value: &Value, all: &mut String) {
    match value {
        Value::String(text) => all.push_str(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, all)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            all.push_str(key);
            strings(value, all);
        }),
        _ => {}
    }
}

#[track_caller]
fn assert_visible_only(what: &str, reply: &Value) {
    let mut all = String::new();
    strings(reply, &mut all);
    assert_eq!(hidden_in(&all), Vec::<char>::new(), "{what}: {all:?}");
}

fn inspect(agent: &mut Agent, id: &Value) -> Value {
    agent
        .call("memory_inspect", json!({"memory_id": id, "include_log": true}))
        .expect("the call succeeds")
}

#[test]
fn hidden_characters_are_removed_before_a_memory_is_stored_and_listed() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let reply = agent.store_with(json!({
        "content": HIDDEN, "type": "entity",
        "metadata": {"name": "An\u{202E}na", "aliases": ["A\u{200B}K"]},
    }));
    assert_eq!(
        reply["sanitized"],
        json!([
            "ansi escape at 7",
            "control character at 15",
            "bidi override at 19",
            "bidi isolate at 24",
            "tag character at 29, 1 more",
            "zero-width character at 35",
            "zero-width character in metadata.aliases[0] at 1",
            "bidi override in metadata.name at 2",
        ])
    );
    let shown = inspect(&mut agent, &reply["id"]);
    assert_eq!(shown["memory"]["content"], VISIBLE);
    assert_eq!(shown["memory"]["metadata"], json!({"name": "Anna", "aliases": ["AK"]}));
    assert_eq!(agent.recall("red box"), [VISIBLE]);
    // On disk too: an export is not sanitised.
    let exported = home.loci(&["export"]).stdout;
    let exported = String::from_utf8(exported).expect("an export is UTF-8");
    assert!(exported.contains(VISIBLE) && !exported.contains('\u{202E}'), "{exported}");
}

#[test]
fn characters_that_a_script_or_an_emoji_needs_are_stored_as_they_are() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let reply = agent.store_with(json!({"content": LEGITIMATE, "type": "semantic"}));
    assert!(!reply.contains_key("sanitized"), "{reply:?}");
    let shown = inspect(&mut agent, &reply["id"]);
    assert_eq!(shown["memory"]["content"], LEGITIMATE);
}

#[test]
fn a_text_of_hidden_characters_only_is_empty() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    for nothing in ["\u{1b}[31m", "\u{E0041}\u{E0042}", "\u{202E}\u{200B}\u{1b}[0m \u{7}"] {
        let refused = agent.call("store_memory", json!({"content": nothing, "type": "semantic"}));
        let error = refused.expect_err("the call fails");
        assert!(error.starts_with("invalid: content is empty"), "{nothing:?}: {error}");
    }
    let twice = json!({"content": "x", "type": "semantic", "metadata": {"k": 1, "k\u{200B}": 2}});
    let error = agent.call("store_memory", twice).expect_err("the call fails");
    assert!(error.starts_with("invalid: metadata.k is given twice"), "{error}");
}

#[test]
fn predicates_reasons_and_edited_texts_are_neutralised() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let entity = |agent: &mut Agent, name: &str| {
        agent.store_with(json!({"content": name, "type": "entity", "metadata": {"name": name}}))["id"].clone()
    };
    let (anna, acme) = (entity(&mut agent, "Anna"), entity(&mut agent, "Acme"));
    let relate =
        json!({"subject_id": anna, "predicate": "works\u{202E}_at\u{E0041}", "object_id": acme});
    agent.call("store_relation", relate).expect("the call succeeds");
    assert_eq!(inspect(&mut agent, &anna)["relations"][0]["predicate"], "works_at");
    let same = json!({"subject_id": anna, "predicate": "works_at", "object_id": acme});
    let again = agent.call("store_relation", same).expect("the call succeeds");
    assert_eq!(again["created"], false, "both predicates are the same");
    let id = acme.as_str().expect("the id is text");
    assert!(home.loci(&["edit", id, "--content", "Acme\u{202E} Ltd"]).status.success());
    assert_eq!(inspect(&mut agent, &acme)["memory"]["content"], "Acme Ltd");
    let forget = json!({"memory_id": anna, "reason": "wr\u{2067}ong"});
    agent.call("forget_memory", forget).expect("the call succeeds");
    assert_eq!(inspect(&mut agent, &anna)["memory"]["forgotten_reason"], "wrong");
}

#[test]
fn names_of_projects_must_not_contain_hidden_characters() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let named = json!({"content": "x", "type": "episodic", "group": "al\u{202E}pha"});
    let error = agent.call("store_memory", named).expect_err("the call fails");
    assert!(error.starts_with("invalid: group must not contain hidden characters"), "{error}");
    let mut odd = home.session_in("my\u{202E}shop");
    odd.store("episodic", "Stored in a folder with a hidden character in its name");
    let listed = home.loci(&["groups", "list", "--json"]);
    let listed = String::from_utf8(listed.stdout).expect("the output is UTF-8");
    assert!(listed.contains("myshop-") && !listed.contains('\u{202E}'), "{listed}");
}

/// Stores rows as an earlier version did, with hidden characters in every text.
fn store_raw(home: &TestHome, agent: &mut Agent) -> (Value, Value) {
    let anna = agent
        .store_with(json!({"content": "Anna", "type": "entity", "metadata": {"name": "Anna"}}));
    let acme = agent
        .store_with(json!({"content": "Acme", "type": "entity", "metadata": {"name": "Acme"}}));
    let relation =
        json!({"subject_id": anna["id"], "predicate": "works_at", "object_id": acme["id"]});
    agent.call("store_relation", relation).expect("the call succeeds");
    let database = Connection::open(home.path(".loci/memory.db")).expect("the database opens");
    database.busy_timeout(std::time::Duration::from_secs(5)).expect("the option is set");
    for (id, name) in [(&anna["id"], "Anna"), (&acme["id"], "Acme")] {
        home.set_stored(id.as_str().expect("it has an id"), "content", &format!("{HIDDEN}{name}"));
    }
    let metadata = json!({"name": "Anna", "no\u{202E}te": HIDDEN}).to_string();
    database
        .execute("UPDATE memories SET metadata = ?1 WHERE id = ?2", (metadata, anna["id"].as_str()))
        .expect("the row is changed");
    database
        .execute("UPDATE entity_relations SET predicate = ?1", ["works\u{202E}_at"])
        .expect("the row is changed");
    (anna["id"].clone(), acme["id"].clone())
}

#[test]
fn rows_that_were_stored_before_are_neutralised_towards_agents() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let (anna, _) = store_raw(&home, &mut agent);
    let full = json!({"ids": [anna]});
    let recalled = agent.call("recall_memory", full).expect("the call succeeds");
    assert_eq!(recalled["results"][0]["content"], format!("{VISIBLE}Anna"));
    assert_eq!(recalled["results"][0]["metadata"], json!({"name": "Anna", "note": VISIBLE}));
    assert_eq!(recalled["results"][0]["relations"][0]["predicate"], "works_at");
    assert_visible_only("recall", &recalled);
    let previews = json!({"query": "red box", "summary_only": true});
    assert_visible_only(
        "previews",
        &agent.call("recall_memory", previews).expect("the call succeeds"),
    );
    assert_visible_only("inspect", &inspect(&mut agent, &anna));
    let id = anna.as_str().expect("the id is text");
    for uri in [format!("loci://memory/{id}"), "loci://group".to_owned()] {
        let read = agent.request("resources/read", json!({"uri": uri}));
        let text = read["result"]["contents"][0]["text"].as_str().expect("the resource is text");
        assert!(text.contains("red box"), "{read}");
        assert!(!text.contains("\\u001b") && !text.contains("\\u0007"), "{text}");
        assert_visible_only(&uri, &read);
    }
    // The command line shows a person what is there.
    let printed = home.loci(&["inspect", id, "--json"]).stdout;
    assert!(String::from_utf8_lossy(&printed).contains('\u{202E}'), "--json is exact");
}

#[test]
fn prompts_neutralise_the_argument_of_the_client() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let listed = agent.request("prompts/list", json!({}));
    let prompts = listed["result"]["prompts"].as_array().expect("a JSON array").clone();
    let with_argument: Vec<&Value> =
        prompts.iter().filter(|prompt| prompt["arguments"].is_array()).collect();
    assert!(!with_argument.is_empty(), "{listed}");
    for prompt in with_argument {
        let arguments = json!({(prompt["arguments"][0]["name"].as_str().expect("a name")): HIDDEN});
        let request = json!({"name": prompt["name"], "arguments": arguments});
        let got = agent.request("prompts/get", request);
        assert!(got.to_string().contains("red box"), "{got}");
        assert_visible_only("prompt", &got);
    }
}

#[test]
fn an_import_stores_texts_as_they_are_so_that_later_exports_are_equal() {
    let home = TestHome::without_model().with("LOCI_GROUP", "shop");
    let mut agent = home.session();
    let (anna, _) = store_raw(&home, &mut agent);
    let exported = home.loci(&["export"]).stdout;
    assert!(String::from_utf8_lossy(&exported).contains('\u{202E}'));
    let other = TestHome::without_model().with("LOCI_GROUP", "shop");
    std::fs::write(other.path("export.jsonl"), &exported).expect("the file is written");
    let file = other.path("export.jsonl");
    let file = file.to_str().expect("the path is UTF-8");
    assert!(other.loci(&["import", file]).status.success());
    let reexported = other.loci(&["export"]).stdout;
    let contents = |export: &[u8]| {
        let lines = String::from_utf8_lossy(export).into_owned();
        let content = |line: &str| {
            let line: Value = serde_json::from_str(line).expect("the line is JSON");
            (line["content"].clone(), line["metadata"].clone())
        };
        lines.lines().map(content).collect::<Vec<_>>()
    };
    assert_eq!(contents(&reexported), contents(&exported), "both exports have the same texts");
    let mut reader = other.session();
    let recalled = reader.call("recall_memory", json!({"ids": [anna]})).expect("the call succeeds");
    assert_eq!(recalled["results"][0]["content"], format!("{VISIBLE}Anna"));
    assert_visible_only("recall after an import", &recalled);
}
