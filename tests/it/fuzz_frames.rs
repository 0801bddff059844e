//! Any bytes on the agents' socket: the real daemon answers or closes the connection, and serves
//! the next one.
//!
//! `LOCI_FRAMES` sets how many mutated inputs follow those of the corpus (300 here).

use crate::home::{TestHome, binaries};
use crate::proof::mutation::{corpus, mutated};
use crate::proof::random::Random;
use crate::proof::setting;
use crate::wire::{Daemon, Peer};
use serde_json::json;

/// The id of the request that follows the bytes.
const LAST: &str = "after the bytes";

/// Sends the bytes and a request after them; waits for the answer to the latter, or for the end of
/// the connection. Returns whether it was answered.
fn is_answered(home: &TestHome, bytes: &[u8]) -> bool {
    let mut peer = Peer::accepted(home);
    // The daemon may close the connection before it has read everything.
    let _ = peer.try_send(bytes);
    let _ = peer.try_send(
        format!("\n{}\n", json!({"jsonrpc": "2.0", "id": LAST, "method": "ping"})).as_bytes(),
    );
    while let Some(message) = peer.receive() {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        if message["id"] == LAST {
            return true;
        }
    }
    false
}

#[test]
fn any_bytes_of_a_peer_are_answered_or_end_its_connection_only() {
    let home = TestHome::without_model();
    let daemon = Daemon::start(&home, &mut home.command_at(&binaries().join("locid")));
    let inputs = corpus("frames");
    assert!(inputs.len() >= 30, "only {} inputs", inputs.len());
    let mut random = Random::new(7);
    let all = inputs.iter().map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>();
    let more = (0..setting("LOCI_FRAMES", 300)).map(|_| mutated(&mut random, &inputs));
    let (mut answered, mut closed) = (0, 0);
    for bytes in all.into_iter().chain(more) {
        if is_answered(&home, &bytes) { answered += 1 } else { closed += 1 }
    }
    println!("{answered} connections answered, {closed} closed");
    assert!(answered > closed, "most faults do not end a connection");
    let mut agent = home.session();
    agent.store("semantic", "Stored after all of them");
    assert_eq!(home.status()["pid"], daemon.pid(), "it is the same daemon");
}
