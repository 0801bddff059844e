//! Many concurrent sessions on one daemon.

use crate::home::{Agent, TestHome};
use crate::wire::wait_until;
use serde_json::json;
use std::collections::HashSet;

const SUBJECTS: [&str; 8] = [
    "the harbour",
    "our accountant",
    "the greenhouse",
    "the choir",
    "the night train",
    "the bakery",
    "the museum",
    "the ferry",
];
const THINGS: [&str; 25] = [
    "opens at dawn",
    "lost a key",
    "bought a piano",
    "painted the fence",
    "sold old maps",
    "moved upstairs",
    "won a prize",
    "hired a cook",
    "planted pears",
    "fixed the roof",
    "missed a payment",
    "changed its name",
    "found a wallet",
    "built a shed",
    "closed for winter",
    "ordered lamps",
    "sent flowers",
    "broke a window",
    "learned to sail",
    "wrote a novel",
    "met the mayor",
    "cooked for forty",
    "repaired clocks",
    "adopted a dog",
    "walked to the sea",
];

#[test]
fn eight_sessions_storing_at_once_lose_nothing() {
    let home = TestHome::new();
    let agents: Vec<Agent> = (0..8).map(|_| home.session()).collect();
    let workers = agents.into_iter().zip(SUBJECTS).map(|(mut agent, subject)| {
        std::thread::spawn(move || {
            let texts = THINGS.map(|thing| format!("In the story, {subject} {thing}"));
            let ids = texts
                .each_ref()
                .map(|text| agent.store_with(json!({"content": text, "type": "episodic"})));
            (agent, texts, ids)
        })
    });
    let done: Vec<_> = workers
        .collect::<Vec<_>>()
        .into_iter()
        .map(|worker| worker.join().expect("the thread does not panic"))
        .collect();
    let ids: HashSet<String> = done
        .iter()
        .flat_map(|(_, _, replies)| replies.iter().map(|r| r["id"].to_string()))
        .collect();
    assert_eq!(ids.len(), 200, "every store was acknowledged with an id of its own");
    for (mut agent, texts, _) in done {
        // On a busy machine a memory is acknowledged before it is encoded, and found by its words alone until then.
        wait_until("every memory has a vector", || {
            agent.call("memory_stats", json!({})).expect("is counted")["without_vector"] == 0
        });
        for text in texts {
            let reply = agent
                .call("recall_memory", json!({"query": text, "max_results": 20}))
                .expect("is answered");
            assert_eq!(reply["results"][0]["content"], text, "{reply}");
        }
        assert_eq!(agent.close(), Some(0));
    }
    assert_eq!(home.status()["memories"], 200);
}
