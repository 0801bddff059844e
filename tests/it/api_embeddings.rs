//! Embeddings by the API of a provider, through the real programs and a real connection to an API on loopback: stores and recalls, consent,
//! what is never sent, and changes of the model.
//!
//! Not here: faults of the API (`api_faults`), the daily limit (`api_limit`).

use crate::embedding_api::{EmbeddingApi, KEY};
use crate::home::{Agent, TestHome};
use crate::in_time::OutputInTime;
use crate::wire::{Daemon, wait_until};
use serde_json::{Value, json};
use std::fs;

const KEYS_TEXT: &str = "The spare keys hang behind the door";
const PINNED: &str = "all-MiniLM-L6-v2";

fn recall(agent: &mut Agent, query: &str) -> Value {
    let arguments = json!({"query": query, "max_results": 5, "dry_run": true, "explain": true});
    agent.call("recall_memory", arguments).expect("the call succeeds")
}

/// Returns contents and scores of the results, best first.
fn results(reply: &Value) -> Vec<(String, f64)> {
    let results = reply["results"].as_array().expect("a JSON array").iter();
    let pair = |result: &Value| {
        let content = result["content"].as_str().expect("a JSON string").to_owned();
        (content, result["score"].as_f64().expect("a number"))
    };
    results.map(pair).collect()
}

fn wait_for_model(home: &TestHome, id: &str) {
    wait_until("the model is in use", || {
        let status = home.status();
        status["model"]["id"] == id
            && status["model"]["state"] == "ready"
            && status.get("re_embedding").is_none()
    });
}

fn wait_for_vectors(agent: &mut Agent) {
    wait_until("every memory has a vector", || {
        agent.call("memory_stats", json!({})).expect("is counted")["without_vector"] == 0
    });
}

fn restart(home: &TestHome) {
    let output = home.loci(&["ctl", "restart"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn both_providers_encode_what_is_stored_and_asked() {
    for (provider, model, dimensions) in
        [("openai", "text-embedding-3-small", 384), ("voyage", "voyage-3.5-lite", 256)]
    {
        let (home, api) = (TestHome::without_model(), EmbeddingApi::start());
        home.configure_whole(&api.keys(&home, provider, model));
        let mut agent = home.session();
        for text in [KEYS_TEXT, "The projector of room 12 is broken", "Meetings moved to Tuesday"] {
            agent.store("semantic", text);
        }
        wait_for_model(&home, &format!("{provider}/{model}/{dimensions}@{}", api.address()));
        wait_for_vectors(&mut agent);
        // No word of the question is in the memory, so only the vector can find it.
        let reply = recall(&mut agent, "latchkeys");
        let found = results(&reply);
        assert_eq!(found[0].0, KEYS_TEXT, "{reply}");
        assert!(found[0].1 > 0.1 && reply.get("degraded").is_none(), "{reply}");
        // Without sign codes the plain fusion ranks, and not late interaction with nothing to match.
        assert_eq!(reply["explain"]["ranking"], "weighted", "{reply}");
        assert_eq!(
            results(&recall(&mut agent, "defective projector"))[0].0,
            "The projector of room 12 is broken"
        );

        let received = api.received();
        let of = |text: &str| {
            let with_text = received.iter().find(|one| one.texts().iter().any(|own| own == text));
            with_text.unwrap_or_else(|| panic!("{text} was sent")).clone()
        };
        let (stored, asked) = (of(KEYS_TEXT), of("latchkeys"));
        assert!(stored.head.starts_with("post /v1/embeddings "), "{}", stored.head);
        assert!(stored.head.contains(&format!("authorization: bearer {KEY}")), "{}", stored.head);
        assert_eq!(stored.body["model"], model);
        if provider == "openai" {
            assert_eq!(stored.body["dimensions"], 384);
        } else {
            assert_eq!(
                (&stored.body["output_dimension"], &stored.body["input_type"]),
                (&json!(256), &json!("document"))
            );
            assert_eq!(asked.body["input_type"], "query");
        }
        // The same question is not sent twice.
        recall(&mut agent, "latchkeys");
        assert_eq!(api.received().iter().filter(|one| one.texts() == ["latchkeys"]).count(), 1);
    }
}

#[test]
fn without_consent_the_daemon_does_not_start_and_nothing_is_connected() {
    let (home, api) = (TestHome::without_model(), EmbeddingApi::start());
    let keys = api.keys(&home, "openai", "text-embedding-3-small");
    let lines: Vec<&str> = keys.lines().filter(|line| !line.starts_with("consent")).collect();
    let without = lines.join("\n") + "\n";
    let other =
        format!("{without}consent = \"send my memories and questions to api.openai.com\"\n");
    for config in [without, other] {
        home.configure_whole(&config);
        let refused = home.loci(&["ctl", "start"]);
        let text = stderr(&refused);
        assert!(!refused.status.success());
        assert!(text.contains("embedding.consent"), "{text}");
        assert!(
            text.contains(&format!("send my memories and questions to {}", api.address())),
            "{text}"
        );
        assert!(!home.loci(&["add", KEYS_TEXT, "--type", "semantic"]).status.success());
    }
    assert_eq!(api.connections(), 0);
    home.configure_whole(&keys);
    assert!(home.loci(&["add", KEYS_TEXT, "--type", "semantic"]).status.success());
    wait_until("the memory is sent", || api.connections() > 0);
}

#[test]
fn secrets_private_parts_and_incognito_sessions_reach_no_request_and_the_key_no_output() {
    let (home, api) = (TestHome::without_model(), EmbeddingApi::start());
    let keys = api.keys(&home, "openai", "text-embedding-3-small");
    // Stored as it is, but not sent.
    home.configure_whole(&format!(
        "{keys}[privacy]\nsecrets = \"allow\"\nredact = [\"email\"]\nwords = [\"Bluebird\"]\n"
    ));
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let mut agent = home.session();
    agent.store("semantic", &format!("The deploy token is {token}"));
    agent.store(
        "semantic",
        "Ask anna@example.org about Bluebird <private>her raise of May</private>",
    );
    agent.store_with(json!({"content": "The kiln is in the yard", "type": "semantic",
        "questions": [format!("Does {token} open the kiln?")]}));
    wait_for_vectors(&mut agent);
    recall(&mut agent, &format!("what is {token} for"));
    let mut command = home.command("loci");
    command.env("LOCI_INCOGNITO", "1");
    let mut incognito = Agent::start(command);
    let refused = incognito.call("recall_memory", json!({"query": "the hidden question"}));
    assert!(format!("{refused:?}").contains("incognito"), "{refused:?}");
    let sent: String = api.received().iter().map(|one| one.body.to_string()).collect();
    for never in [token.as_str(), "anna@", "Bluebird", "raise of May", "hidden question"] {
        assert!(!sent.contains(never), "{never} was sent: {sent}");
    }
    assert!(sent.contains("The deploy token is [SECRET:github-token]"), "{sent}");
    assert!(sent.contains("open the kiln"), "{sent}");

    let printed = |arguments: &[&str]| {
        let output = home.loci(arguments);
        String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output)
    };
    let mut all = home.log();
    for arguments in [
        &["ctl", "status", "--json"][..],
        &["config", "show", "--json"],
        &["doctor", "--json"],
        &["ctl", "cost", "--json"],
        &["model", "status", "--json"],
    ] {
        all += &printed(arguments);
    }
    let pid = home.status()["pid"].as_u64().expect("the daemon runs");
    for process in descendants(pid) {
        all += &fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
    }
    assert!(all.contains("locid\0embed"), "the process that sends was looked at");
    assert!(!all.contains(KEY), "{all}");
    assert!(printed(&["doctor"]).contains(&format!("texts are sent to {}", api.address())));
    assert!(!printed(&["doctor"]).contains("sockets that are not local"));
}

/// Returns a process and its children.
fn descendants(pid: u64) -> Vec<u64> {
    let children = format!("/proc/{pid}/task");
    let tasks = fs::read_dir(children).expect("the process runs").flatten();
    let of_task =
        |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let children: String = tasks.map(of_task).collect();
    children.split_whitespace().flat_map(str::parse).chain([pid]).collect()
}

#[test]
fn the_key_comes_from_the_environment_of_locid_but_not_from_that_of_an_agent() {
    let (home, api) = (TestHome::without_model(), EmbeddingApi::start());
    home.configure_whole(&api.keys_without_file("openai", "text-embedding-3-small"));
    let mut command = home.command("loci");
    command.args(["ctl", "start"]).env("OPENAI_API_KEY", KEY);
    assert!(command.output_in_time().expect("loci runs").status.success());
    wait_until("the key is missing", || {
        String::from_utf8_lossy(&home.loci(&["doctor"]).stdout)
            .contains("set embedding.key_file, or OPENAI_API_KEY")
    });
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert_eq!(api.connections(), 0);
    let mut locid = home.command("locid");
    locid.env("OPENAI_API_KEY", KEY);
    let _daemon = Daemon::start(&home, &mut locid);
    assert!(home.loci(&["add", KEYS_TEXT, "--type", "semantic"]).status.success());
    wait_until("the memory is sent", || !api.received().is_empty());
    assert!(home.loci(&["ctl", "stop"]).status.success());
}

#[test]
fn a_store_is_sent_only_after_a_question_and_comes_back_without_the_api() {
    const COUNT: usize = 20;
    let (home, api) = (TestHome::new(), EmbeddingApi::start());
    let mut agent = home.session();
    agent.store("semantic", KEYS_TEXT);
    for number in 1..COUNT {
        agent
            .store("semantic", &format!("Room {number} has {} chairs and a projector", number * 3));
    }
    let before = results(&recall(&mut agent, "Where are the spare keys?"));
    home.configure_whole(&api.keys(&home, "openai", "text-embedding-3-small"));
    restart(&home);
    wait_until("the question is announced", || {
        home.status()["warnings"].to_string().contains("loci re-embed shows what would be sent")
    });
    assert_eq!(results(&recall(&mut agent, "Where are the spare keys?")), before);

    let preview = home.loci(&["re-embed", "--dry-run"]);
    let preview = String::from_utf8_lossy(&preview.stdout).into_owned();
    assert!(
        preview.contains("20 memories would be encoded")
            && preview.contains("tokens of text are sent to"),
        "{preview}"
    );
    let refused = home.loci(&["re-embed"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("Add --yes"), "{}", stderr(&refused));
    let (code, screen) = home.at_terminal(&["re-embed"], "[y/N]", "n");
    assert!(code != Some(0) && screen.contains("Send the texts of 20 memories"), "{screen}");
    assert_eq!(api.connections(), 0, "nothing is sent before the answer");
    let (code, screen) = home.at_terminal(&["re-embed", "--wait"], "[y/N]", "y");
    assert_eq!(code, Some(0), "{screen}");
    let id = format!("openai/text-embedding-3-small/384@{}", api.address());
    wait_for_model(&home, &id);
    let reply = recall(&mut agent, "latchkeys");
    assert_eq!(results(&reply)[0].0, KEYS_TEXT, "{reply}");

    // Undone: the earlier vectors are still there.
    let cancelled = home.loci(&["re-embed", "--cancel"]);
    assert!(cancelled.status.success(), "{}", stderr(&cancelled));
    wait_for_model(&home, PINNED);
    let sent = api.received().len();
    assert_eq!(results(&recall(&mut agent, "Where are the spare keys?")), before);
    home.configure("");
    restart(&home);
    wait_for_model(&home, PINNED);
    assert_eq!(results(&recall(&mut agent, "Where are the spare keys?")), before);
    assert_eq!(api.received().len(), sent, "nothing more was sent");
}
