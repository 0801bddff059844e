//! The daily limit of an embedding API, and `loci ctl cost`: counted before each call, kept over a killed daemon.
//!
//! Not here: another day, and unusual days (`daemon/src/embedding/api/usage.rs`).

use crate::embedding_api::{Answer, EmbeddingApi};
use crate::home::{Agent, TestHome};
use crate::wire::{kill_daemon, wait_until};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn cost(home: &TestHome) -> Value {
    let output = home.loci(&["ctl", "cost", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

fn recall(agent: &mut Agent, query: &str) -> Value {
    let arguments = json!({"query": query, "dry_run": true});
    agent.call("recall_memory", arguments).expect("the call succeeds")
}

fn home_with_limit(api: &EmbeddingApi, limit: u64) -> TestHome {
    let home = TestHome::without_model();
    let keys = api.keys(&home, "openai", "text-embedding-3-small");
    home.configure_whole(&format!("{keys}daily_tokens = {limit}\nprice = 20.0\n"));
    home
}

#[test]
fn at_the_limit_nothing_is_sent_and_the_store_works_by_keywords_also_after_a_crash() {
    let api = EmbeddingApi::start();
    let home = home_with_limit(&api, 1000);
    let mut agent = home.session();
    let text = |number: usize| {
        format!("Note {number}: {}", "the kiln needs a new thermocouple ".repeat(8))
    };
    let mut stored = 0;
    wait_until("the limit is reached", || {
        agent.store("semantic", &text(stored));
        stored += 1;
        cost(&home)["is_limited"] == true
    });
    let sent = api.received().len();
    let counted = cost(&home)["days"][0].clone();
    assert!(
        counted["tokens"].as_u64().is_some_and(|tokens| tokens > 500 && tokens <= 1000),
        "{counted}"
    );
    assert_eq!(counted["calls"], sent);
    let price = counted["cost"].as_f64().expect("a price is configured");
    assert!((price - counted["tokens"].as_f64().expect("a number") * 20e-6).abs() < 1e-9);

    let glaze = "The glaze is in the blue cupboard".to_owned();
    agent.store("semantic", &(glaze + &", where it was put last week".repeat(12)));
    let reply = recall(&mut agent, "where is the glaze");
    assert!(reply["results"][0]["content"].to_string().contains("blue cupboard"), "{reply}");
    assert_eq!(reply["degraded"][0], "embedding", "{reply}");
    assert!(reply["hint"].to_string().contains("daily limit of 1000 tokens"), "{reply}");
    assert!(home.status()["warnings"].to_string().contains("1000 tokens of the daily limit"));
    let doctor = home.loci(&["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("daily limit"), "the doctor says so");
    assert!(home.log().contains("daily limit"), "{}", home.log());
    let text = home.loci(&["ctl", "cost"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("The limit of today is reached"), "{text}");

    kill_daemon(&home);
    let file = home.path(".loci/memory.db-api-usage");
    let mode = std::fs::metadata(&file).expect("the counters are kept").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // Both are more than what is left of the day; a short question may still fit.
    recall(&mut agent, &"thermocouple ".repeat(40));
    wait_until("the limit is noticed again", || cost(&home)["is_limited"] == true);
    assert_eq!(cost(&home)["days"][0]["tokens"], counted["tokens"]);
    assert_eq!(api.received().len(), sent, "nothing more was sent");
}

#[test]
fn a_daemon_that_is_killed_during_a_call_has_counted_it() {
    let api = EmbeddingApi::start();
    let home = home_with_limit(&api, 100_000);
    let mut agent = home.session();
    agent.store("semantic", "The kiln is in the yard");
    wait_until("the first call is counted", || cost(&home)["days"][0]["tokens"].is_u64());
    api.set(Answer::Never);
    let (sent, before) = (api.received().len(), cost(&home)["days"][0]["tokens"].as_u64());
    agent.store("semantic", &"A long text about glazes. ".repeat(40));
    wait_until("the call is made", || api.received().len() > sent);
    kill_daemon(&home);
    api.set(Answer::Vectors);
    assert!(home.loci(&["ctl", "start"]).status.success());
    let after = cost(&home)["days"][0]["tokens"].as_u64();
    assert!(after > before.map(|tokens| tokens + 200), "{before:?} {after:?}");
}

#[test]
fn counters_that_cannot_be_read_stop_every_call() {
    let api = EmbeddingApi::start();
    let home = home_with_limit(&api, 100_000);
    let file = home.path(".loci/memory.db-api-usage");
    std::fs::write(&file, "not counters").expect("the file is written");
    let mut agent = home.session();
    agent.store("semantic", "The kiln is in the yard");
    let reply = recall(&mut agent, "kiln");
    assert_eq!(reply["results"].as_array().map(Vec::len), Some(1), "{reply}");
    let refused = home.loci(&["ctl", "cost"]);
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("memory.db-api-usage cannot be read")
    );
    assert_eq!(api.connections(), 0);
}

#[test]
fn with_a_model_on_this_machine_the_cost_is_nothing() {
    let home = TestHome::without_model();
    assert!(home.loci(&["ctl", "start"]).status.success());
    let reply = cost(&home);
    assert_eq!((&reply["provider"], &reply["days"]), (&json!("local"), &json!([])));
}
