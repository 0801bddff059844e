//! The crate `loci-client`: a program that stores and recalls without a shim.

use crate::home::TestHome;
use crate::wire::signal;
use loci_client::{Builder, Client, Error};
use loci_proto::memory::MemoryType;
use loci_proto::requests::forget::ForgetRequest;
use loci_proto::requests::recall::{RecallReply, RecallRequest};
use loci_proto::requests::stats::StatsRequest;
use loci_proto::requests::store::StoreRequest;

fn builder(home: &TestHome) -> Builder {
    Client::builder("ferry-bot", "1.0").socket(home.path("run/loci/locid.sock"))
}

fn recalled(client: &mut Client, query: &str) -> Vec<String> {
    let request = RecallRequest { query: Some(query.to_owned()), ..RecallRequest::default() };
    let reply: RecallReply = client.recall(&request).expect("the call succeeds");
    reply.results.into_iter().filter_map(|memory| memory.content.or(memory.preview)).collect()
}

fn fact(text: &str) -> StoreRequest {
    StoreRequest::new(text, MemoryType::Semantic)
}

#[test]
fn a_program_and_an_agent_share_memories() {
    let home = TestHome::new();
    let mut agent = home.session();
    let mut client = builder(&home).project("harbour").connect().expect("the daemon answers");
    let stored = client.store(&fact("The ferry leaves at nine")).expect("it is stored");
    assert_eq!(recalled(&mut client, "When does the boat depart?"), ["The ferry leaves at nine"]);
    assert_eq!(agent.recall("When does the boat depart?"), ["The ferry leaves at nine"]);
    let shown = home.loci(&["inspect", stored.id.as_str(), "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    assert_eq!(shown["memory"]["client"], "ferry-bot 1.0", "{shown}");
    assert_eq!(shown["memory"]["trust"], "agent");
    assert_eq!(shown["memory"]["group"], "harbour");

    let refused = client.store(&fact("")).expect_err("it is refused");
    assert!(matches!(&refused, Error::Refused(text) if text.contains("content")), "{refused}");
    let hard_delete = serde_json::json!({"memory_id": stored.id, "reason": "moved"});
    let request: ForgetRequest = serde_json::from_value(hard_delete).expect("a request");
    client.forget(&request).expect("it is forgotten");
    assert!(recalled(&mut client, "ferry").is_empty());
}

#[test]
fn a_call_goes_on_after_the_daemon_was_killed() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let mut client = builder(&home).connect().expect("the daemon answers");
    client.store(&fact("The ferry leaves at nine")).expect("it is stored");
    let pid = home.status()["pid"].as_u64().and_then(|pid| pid.try_into().ok());
    signal("-KILL", pid);
    // The agent's shim starts another one.
    agent.store("semantic", "The last ferry leaves at ten");
    client.store(&fact("Dogs ride for free")).expect("it is stored");
    let stats = client.stats(&StatsRequest::default()).expect("it counts");
    assert_eq!(stats.active_memories, 3);
}

#[test]
fn what_is_wrong_is_said() {
    let home = TestHome::without_model();
    let missing = home.path("nothing.sock");
    let error = Client::builder("a", "1").socket(&missing).connect().expect_err("no daemon");
    assert!(matches!(&error, Error::NoDaemon(path) if *path == missing), "{error}");
    assert!(error.to_string().contains("run loci ctl start"), "{error}");
    let agent = home.session();
    let error = builder(&home).project("").connect().expect_err("no name");
    assert!(matches!(error, Error::NotAccepted(_)), "{error}");
    drop(agent);
}
