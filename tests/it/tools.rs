//! The tools other than store and recall, prompts and resources, as an agent calls them.

use crate::home::{Agent, TestHome, contents};
use serde_json::{Value, json};

fn entity(agent: &mut Agent, name: &str, text: &str) -> String {
    let reply =
        agent.store_with(json!({"content": text, "type": "entity", "metadata": {"name": name, "aliases": [format!("{name}-alias")]}}));
    reply["id"].as_str().expect("the reply has an id").to_owned()
}

#[test]
fn entities_and_relations_are_stored_found_forgotten_and_restored() {
    let home = TestHome::new();
    let mut agent = home.session();
    let anna =
        entity(&mut agent, "Anna Kowalska", "The head of purchasing, trained as a carpenter");
    let acme = entity(&mut agent, "Acme", "A maker of garden furniture in Lublin");
    let evidence =
        agent.store("episodic", "Anna Kowalska told us on 2026-03-01 that she moved to Acme");
    let made = agent.call(
        "store_relation",
        json!({"subject_id": anna, "predicate": "works_at", "object_id": acme, "evidence": [evidence]}),
    );
    assert_eq!(made.expect("the call succeeds")["created"], true);

    let found = agent
        .call("recall_memory", json!({"query": "Who is the head of purchasing?", "type": "entity"}))
        .expect("the call succeeds");
    let first = &found["results"][0];
    assert_eq!(first["id"], anna.as_str(), "{found}");
    assert_eq!(first["relations"][0]["predicate"], "works_at");
    assert_eq!(first["relations"][0]["object"]["id"], acme.as_str());
    let by_name = agent
        .call("recall_memory", json!({"query": "What does Acme-alias do?"}))
        .expect("the call succeeds");
    let found: Vec<&Value> = by_name["results"]
        .as_array()
        .expect("a JSON array")
        .iter()
        .map(|result| &result["id"])
        .collect();
    assert!(found.contains(&&json!(acme)), "{by_name}");

    let shown = agent
        .call("memory_inspect", json!({"memory_id": anna, "include_log": true}))
        .expect("the call succeeds");
    assert_eq!(shown["mentioned_in"][0]["id"], evidence.as_str());
    let log = shown["log"].as_array().expect("a JSON array");
    assert!(log.iter().any(|line| line["operation"] == "relate"), "{log:?}");
    assert_eq!(log[0]["client"], "it 1", "the log names the client");

    agent
        .call("forget_memory", json!({"memory_id": acme, "reason": "sold"}))
        .expect("the call succeeds");
    let without = agent.call("recall_memory", json!({"ids": [anna]})).expect("the call succeeds");
    assert!(without["results"][0].get("relations").is_none(), "{without}");
    assert_eq!(
        agent.call("forget_memory", json!({"memory_id": acme})).expect("the call succeeds")["already_forgotten"],
        true
    );
    assert_eq!(
        agent.call("restore_memory", json!({"memory_id": acme})).expect("the call succeeds")["was"],
        "forgotten"
    );
    let again = agent.call("recall_memory", json!({"ids": [anna]})).expect("the call succeeds");
    assert_eq!(again["results"][0]["relations"][0]["object"]["id"], acme.as_str());
}

#[test]
fn a_memory_of_another_project_can_neither_be_seen_nor_changed() {
    let home = TestHome::without_model();
    let (mut here, mut there) = (home.session_in("here"), home.session_in("there"));
    let id = here.store("episodic", "A matter of this project alone");
    for (tool, arguments) in [
        ("forget_memory", json!({"memory_id": id})),
        ("forget_memory", json!({"memory_id": id, "hard_delete": true})),
        ("restore_memory", json!({"memory_id": id})),
        ("memory_inspect", json!({"memory_id": id})),
    ] {
        let error = there.call(tool, arguments).expect_err("the call fails");
        assert!(error.starts_with("not_found: memory_id"), "{tool}: {error}");
    }
    let nobody = "01953a2b-7c1e-7000-8000-0123456789ab";
    let error =
        there.call("memory_inspect", json!({"memory_id": nobody})).expect_err("the call fails");
    assert_eq!(
        error.replace(nobody, &id),
        there.call("memory_inspect", json!({"memory_id": id})).expect_err("the call fails"),
        "the error equals that of an unknown id"
    );
    assert_eq!(here.recall("matter"), ["A matter of this project alone"]);
}

#[test]
fn stats_of_one_project_count_that_project() {
    let home = TestHome::without_model();
    let mut here = home.session();
    here.store_with(json!({"content": "Of the shop", "type": "semantic", "group": "shop"}));
    here.store("semantic", "Of this project");
    let of_shop = here.call("memory_stats", json!({"group": "shop"})).expect("the call succeeds");
    assert_eq!(
        (&of_shop["active_memories"], &of_shop["by_type"]["semantic"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        here.call("memory_stats", json!({})).expect("the call succeeds")["active_memories"],
        2
    );
}

#[test]
fn a_hard_deleted_text_is_in_no_file_of_the_home() {
    let home = TestHome::new();
    let mut agent = home.session();
    let secret = "Quittenmarmelade";
    let id = agent.store("semantic", &format!("The password is {secret}"));
    agent.recall(secret);
    agent
        .call("forget_memory", json!({"memory_id": id, "reason": format!("{secret} leaked")}))
        .expect("the call succeeds");
    assert!(!files_containing(&home, secret).is_empty(), "the search finds a text that is stored");
    agent
        .call("forget_memory", json!({"memory_id": id, "hard_delete": true}))
        .expect("the call succeeds");
    for needle in [secret.to_owned(), secret.to_lowercase()] {
        assert_eq!(files_containing(&home, &needle), Vec::<std::path::PathBuf>::new());
    }
    let error = agent.call("memory_inspect", json!({"memory_id": id})).expect_err("the call fails");
    assert!(error.starts_with("not_found"), "{error}");
    assert!(agent.recall("password").is_empty());
}

/// Returns the files of the home that contain some bytes.
fn files_containing(home: &TestHome, needle: &str) -> Vec<std::path::PathBuf> {
    let mut folders = vec![home.path(".loci")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder can be listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read(&path)
                .is_ok_and(|bytes| bytes.windows(needle.len()).any(|w| w == needle.as_bytes()))
            {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn resources_and_prompts_are_listed_and_read() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let id = agent.store("procedural", "Never deploy on Fridays");
    let listed = agent.request("resources/list", json!({}));
    let own = listed["result"]["resources"][0]["uri"].as_str().expect("a JSON string").to_owned();
    let brief = agent.request("resources/read", json!({"uri": own}));
    let text = brief["result"]["contents"][0]["text"].as_str().expect("a JSON string");
    assert!(
        text.starts_with("loci: stored memories for project project")
            && text.contains("Never deploy on Fridays"),
        "{text}"
    );
    let templates = agent.request("resources/templates/list", json!({}));
    let known: Vec<&Value> = templates["result"]["resourceTemplates"]
        .as_array()
        .expect("a JSON array")
        .iter()
        .map(|t| &t["uriTemplate"])
        .collect();
    assert_eq!(known, ["loci://memory/{id}", "loci://group/{group}", "loci://review/{group}"]);
    let memory = agent.request("resources/read", json!({"uri": format!("loci://memory/{id}")}));
    let whole: Value = serde_json::from_str(
        memory["result"]["contents"][0]["text"].as_str().expect("a JSON string"),
    )
    .expect("valid JSON");
    assert_eq!(whole["memory"]["content"], "Never deploy on Fridays");
    for wrong in [
        "file:///etc/passwd",
        "loci://memory/nonsense",
        "loci://memory/01953a2b-7c1e-7000-8000-0123456789ab",
    ] {
        assert_eq!(
            agent.request("resources/read", json!({"uri": wrong}))["error"]["code"],
            -32002,
            "{wrong}"
        );
    }
    let prompts = agent.request("prompts/list", json!({}));
    let names: Vec<&Value> = prompts["result"]["prompts"]
        .as_array()
        .expect("a JSON array")
        .iter()
        .map(|p| &p["name"])
        .collect();
    assert_eq!(names, ["remember", "recall", "wrap_up", "annotate"]);
    let prompt = agent
        .request("prompts/get", json!({"name": "remember", "arguments": {"what": "tea at four"}}));
    assert!(
        prompt["result"]["messages"][0]["content"]["text"]
            .as_str()
            .expect("a JSON string")
            .contains("tea at four")
    );
    assert_eq!(agent.request("prompts/get", json!({"name": "nothing"}))["error"]["code"], -32602);
}

#[test]
fn the_prompt_annotate_lists_the_memories_of_the_project_that_mention_no_entity() {
    let home = TestHome::new();
    let mut agent = home.session();
    let annotate = |agent: &mut Agent| {
        let prompt = agent.request("prompts/get", json!({"name": "annotate"}));
        let text = &prompt["result"]["messages"][0]["content"]["text"];
        text.as_str().expect("a JSON string").to_owned()
    };
    let nothing = "Every memory of this project mentions a stored person or thing.";
    assert!(annotate(&mut agent).contains(nothing));
    let linked = agent.store("semantic", "Anna Berg maintains the payment service");
    let unlinked = agent.store("semantic", "The build takes four minutes on the small machine");
    let listed = annotate(&mut agent);
    assert!(listed.contains(&linked) && listed.contains(&unlinked), "{listed}");
    let anna = json!({"content": "Anna Berg is an engineer", "type": "entity", "metadata": {"name": "Anna Berg"}});
    agent.call("store_memory", anna).expect("the entity is stored");
    let listed = annotate(&mut agent);
    assert!(!listed.contains(&linked) && listed.contains(&unlinked), "{listed}");
    assert!(!listed.contains(nothing) && !listed.contains("an engineer"), "{listed}");
}

#[test]
fn bad_arguments_of_the_tools_are_named() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let id = agent.store("semantic", "A fact");
    for (tool, arguments, expected) in [
        ("forget_memory", json!({}), "invalid: memory_id is missing"),
        ("forget_memory", json!({"memory_id": "7"}), "invalid: memory_id is not a memory id"),
        (
            "forget_memory",
            json!({"memory_id": id, "reason": "x".repeat(1001)}),
            "too_large: reason has 1001 characters",
        ),
        (
            "forget_memory",
            json!({"memory_id": id, "hard": true}),
            "invalid: hard is not an argument of this tool. Did you mean hard_delete?",
        ),
        (
            "store_relation",
            json!({"subject_id": id, "predicate": "is", "object_id": id}),
            "invalid: subject_id names a memory of type semantic, not an entity",
        ),
        (
            "memory_inspect",
            json!({"memory_id": id, "include_log": "yes"}),
            "invalid: include_log must be a boolean",
        ),
        (
            "store_memory",
            json!({"content": "x y", "type": "semantic", "expires_at": "soon"}),
            "invalid: expires_at must be a date",
        ),
        (
            "store_memory",
            json!({"content": "x y", "type": "semantic", "ttl_seconds": 0}),
            "invalid: ttl_seconds must be a whole number of seconds",
        ),
    ] {
        let error = agent.call(tool, arguments).expect_err("the call fails");
        assert!(error.starts_with(expected), "{tool}: {error}");
    }
    let found = agent.call("recall_memory", json!({"query": "fact"})).expect("the call succeeds");
    assert_eq!(contents(&found), ["A fact"], "nothing was changed");
}
