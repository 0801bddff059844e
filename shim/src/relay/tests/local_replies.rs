//! Error replies that the relay writes itself.

use crate::relay::tests::fixture::{request, run};
use loci_proto::limits::LINE_BYTES;
use serde_json::json;

#[tokio::test]
async fn a_too_long_line_is_answered_with_its_id_and_the_session_continues() {
    run(async |mut fixture| {
        let line = request(7, "tools/call")
            .replace("{}", &format!("{{\"x\":\"{}\"}}", "y".repeat(3 * LINE_BYTES)));
        fixture.agent.send(&line).await;
        let answer = fixture.agent.receive().await.expect("the agent receives an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)));
        fixture.agent.send(&"z".repeat(2 * LINE_BYTES)).await;
        let answer = fixture.agent.receive().await.expect("the agent receives an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32600)));
        fixture.agent.request(8, "ping").await;
        assert_eq!(fixture.daemon.accept_and_welcome().await.receive_ids(1).await, [8]);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_is_too_long_only_with_its_key_is_refused() {
    run(async |mut fixture| {
        let empty = request(7, "tools/call").replace("{}", r#"{"x":""}"#);
        let line =
            empty.replace("\"\"", &format!("\"{}\"", "y".repeat(LINE_BYTES - empty.len() - 1)));
        assert_eq!(line.len() + 1, LINE_BYTES);
        fixture.agent.send(&line).await;
        let answer = fixture.agent.receive().await.expect("the agent receives an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)));
    })
    .await;
}

#[tokio::test]
async fn invalid_json_is_answered_and_never_forwarded() {
    run(async |mut fixture| {
        fixture.agent.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\n\xff\xfe\n").await;
        fixture
            .agent
            .send(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"content":"\ud800"}}"#)
            .await;
        for _ in 0..3 {
            let answer = fixture.agent.receive().await.expect("the agent receives an answer");
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32700)));
        }
        fixture.agent.send(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#).await;
        let answer = fixture.agent.receive().await.expect("the agent receives an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32600)));
        fixture.agent.request(8, "ping").await;
        assert_eq!(fixture.daemon.accept_and_welcome().await.receive_ids(1).await, [8]);
    })
    .await;
}

#[tokio::test]
async fn an_id_in_flight_cannot_be_reused() {
    run(async |mut fixture| {
        fixture.agent.request(1, "tools/call").await;
        fixture.agent.request(1, "tools/list").await;
        let answer = fixture.agent.receive().await.expect("the agent receives an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32600)));
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        assert_eq!(daemon.receive().await["method"], "tools/call");
        daemon.answer(1).await;
        assert!(
            fixture.agent.receive().await.expect("the agent receives an answer")["result"]
                .is_object()
        );
    })
    .await;
}

#[tokio::test]
async fn a_too_long_answer_becomes_an_error_of_its_request() {
    run(async |mut fixture| {
        fixture.agent.request(1, "tools/call").await;
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        daemon.receive().await;
        daemon
            .send(&json!({"id": 1, "jsonrpc": "2.0", "result": "x".repeat(2 * LINE_BYTES)}))
            .await;
        let answer = fixture.agent.receive().await.expect("the agent receives an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32603)));
    })
    .await;
}
