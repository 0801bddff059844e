//! No memory's text reaches a log, whatever its level.

use crate::home::TestHome;
use serde_json::json;

#[test]
fn no_log_contains_a_memory_or_a_query_at_any_level() {
    let home = TestHome::without_model().with("LOCI_LOG_LEVEL", "trace");
    let mut agent = home.session();
    agent.store_with(json!({"content": "canary-content-4711", "type": "semantic", "metadata": {"subject": "canary-metadata-4711"}}));
    agent.recall("canary-question-4711");
    let _refused = agent.call(
        "store_memory",
        json!({"content": "canary-refused-4711", "type": "canary-type-4711"}),
    );
    drop(agent);
    let log = home.log();
    assert!(!log.is_empty(), "the daemon has written a log");
    assert!(!log.contains("4711"), "{log}");
}
