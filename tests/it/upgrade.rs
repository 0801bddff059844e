//! Databases of every released schema, written by their release: each is migrated, and nothing is
//! lost.

use crate::home::{TestHome, contents};
use crate::wire::wait_until;
use serde_json::json;
use std::io::Read;
use std::path::Path;

/// Written by loci 0.1.0 with schema 1: six memories of the group `shop`, one of them superseded,
/// one merged.
const SCHEMA_1: &[u8] = include_bytes!("../data/schema_1.db.gz");

fn unpack(packed: &[u8], to: &Path) {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("the data is gzip");
    std::fs::write(to, bytes).expect("the file is written");
}

/// Returns a home with the model and that database, in its group.
pub fn home_with_schema_1() -> TestHome {
    let home = TestHome::new().with("LOCI_GROUP", "shop");
    unpack(SCHEMA_1, &home.path(".loci/memory.db"));
    home
}

#[test]
fn a_database_of_schema_1_is_migrated_without_loss() {
    let home = home_with_schema_1();
    let mut agent = home.session();
    let stats = agent.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!(
        (&stats["total_memories"], &stats["active_memories"], &stats["without_vector"]),
        (&json!(6), &json!(5), &json!(0))
    );
    assert_eq!(agent.recall("closing time")[0], "The shop closes at eight in the evening");
    // Its sign codes are computed in the background; from then on late interaction scores such a
    // match above what `weighted` can give.
    wait_until("the sign codes are computed", || {
        let query = json!({"query": "closing time"});
        let reply = agent.call("recall_memory", query).expect("the call succeeds");
        reply["results"][0]["score"].as_f64() > Some(1.0)
    });
    let found = agent
        .call("recall_memory", json!({"query": "AK", "type": "entity"}))
        .expect("the call succeeds");
    assert_eq!(
        contents(&found),
        ["Anna Kowalska runs the shop"],
        "the names of the entity are searched"
    );
    let id = &found["results"][0]["id"];
    let shown = agent
        .call("memory_inspect", json!({"memory_id": id, "include_log": true}))
        .expect("the call succeeds");
    assert_eq!(shown["log"][0]["operation"], "create");
    assert_eq!(
        shown["mentioned_in"].as_array().map(Vec::len),
        Some(1),
        "mentions are found in memories of the old schema"
    );
    agent.call("forget_memory", json!({"memory_id": id})).expect("the call succeeds");
    agent.call("restore_memory", json!({"memory_id": id})).expect("the call succeeds");
}
