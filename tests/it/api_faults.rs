//! An embedding API that refuses, fails, is silent, or answers nonsense: no store and no recall fails or waits for it, and its vectors
//! are used again when it works.

use crate::embedding_api::{Answer, EmbeddingApi};
use crate::home::{Agent, TestHome};
use crate::wire::wait_until;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Far more than a caller waits for the API, and less than the API may take.
const SOON: Duration = Duration::from_secs(4);

fn recall(agent: &mut Agent, query: &str) -> Value {
    let arguments = json!({"query": query, "dry_run": true});
    let start = Instant::now();
    let reply = agent.call("recall_memory", arguments).expect("the call succeeds");
    assert!(start.elapsed() < SOON, "{query} took {:?}", start.elapsed());
    reply
}

fn first(reply: &Value) -> &str {
    reply["results"][0]["content"].as_str().unwrap_or_default()
}

/// Returns a home with a memory that has a vector.
fn home_with_memory(api: &EmbeddingApi) -> (TestHome, Agent) {
    let home = TestHome::without_model();
    home.configure_whole(&api.keys(&home, "openai", "text-embedding-3-small"));
    let mut agent = home.session();
    agent.store("semantic", "The spare keys hang behind the door");
    wait_until("every memory has a vector", || {
        agent.call("memory_stats", json!({})).expect("is counted")["without_vector"] == 0
    });
    (home, agent)
}

/// The API answers wrongly, the store works without it, and then with it again.
fn survives(answer: Answer, reason: &str, waits_for_person: bool) {
    let api = EmbeddingApi::start();
    let (home, mut agent) = home_with_memory(&api);
    api.set(answer);
    let reply = recall(&mut agent, "the spare keys");
    assert_eq!(first(&reply), "The spare keys hang behind the door", "{answer:?}: {reply}");
    assert_eq!(reply["degraded"][0], "embedding", "{answer:?}: {reply}");
    let start = Instant::now();
    agent.store("semantic", "The projector is broken");
    assert!(start.elapsed() < SOON, "{answer:?}");
    wait_until("the fault is reported", || {
        let doctor = home.loci(&["doctor"]);
        String::from_utf8_lossy(&doctor.stdout).contains(reason)
    });
    // In a pause nobody waits, and nothing is sent.
    let sent = api.received().len();
    let reply = recall(&mut agent, "another question about keys");
    assert!(reply["hint"].is_string(), "{answer:?}: {reply}");
    if waits_for_person {
        assert_eq!(api.received().len(), sent);
    }
    let log = home.log();
    assert!(!log.contains("projector") && !log.contains("spare"), "no text in the log: {log}");

    api.set(Answer::Vectors);
    if waits_for_person {
        assert!(home.loci(&["model", "download"]).status.success());
    }
    wait_until("the vectors are used again", || {
        let reply = recall(&mut agent, "latchkeys");
        reply.get("degraded").is_none() && first(&reply).contains("keys")
    });
    wait_until("the new memory has a vector", || {
        first(&recall(&mut agent, "defective")) == "The projector is broken"
    });
}

#[test]
fn a_key_that_is_not_accepted_is_not_tried_again_and_again() {
    survives(Answer::Status(401, None), "does not accept the key (HTTP status 401)", true);
}

#[test]
fn a_request_that_is_not_accepted_waits_for_a_person() {
    survives(Answer::Status(404, None), "does not accept the request (HTTP status 404)", true);
}

#[test]
fn a_redirect_is_not_followed() {
    survives(Answer::Status(302, None), "does not accept the request (HTTP status 302)", true);
}

#[test]
fn a_server_with_a_fault_is_tried_again() {
    survives(Answer::Status(500, None), "has a fault (HTTP status 500)", false);
}

#[test]
fn a_body_that_is_no_json_is_refused() {
    survives(Answer::Body("<html>busy</html>"), "not the JSON of embeddings", false);
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    survives(
        Answer::Body("{\"data\": [{\"embedding\": [NaN]}]}"),
        "not the JSON of embeddings",
        false,
    );
}

#[test]
fn a_wrong_number_of_vectors_is_refused() {
    survives(Answer::TooFew, "1 texts were sent and 0 vectors came back", false);
}

#[test]
fn a_wrong_length_of_vectors_is_refused() {
    survives(Answer::TooShort, "a vector has 383 numbers, not 384", false);
}

#[test]
fn a_silent_server_delays_no_call() {
    survives(Answer::Never, "cannot be reached: it does not answer in time", false);
}

#[test]
fn the_pause_that_a_server_asks_for_is_kept() {
    let api = EmbeddingApi::start();
    let (_home, mut agent) = home_with_memory(&api);
    api.set(Answer::Status(429, Some(3)));
    recall(&mut agent, "the spare keys");
    let (sent, start) = (api.received().len(), Instant::now());
    api.set(Answer::Vectors);
    wait_until("the API is asked again", || {
        recall(&mut agent, "latchkeys");
        api.received().len() > sent
    });
    assert!(start.elapsed() >= Duration::from_millis(2500), "{:?}", start.elapsed());
    assert!(recall(&mut agent, "latchkeys").get("degraded").is_none());
}
