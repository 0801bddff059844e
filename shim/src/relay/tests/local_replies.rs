//! What the relay answers itself, so that the agent does not wait for nothing.

use crate::relay::tests::fixture::{play, request};
use loci_proto::limits::LINE_BYTES;
use serde_json::json;

#[tokio::test]
async fn an_overlong_line_is_answered_by_its_id_and_the_session_lives_on() {
    play(async |mut scene| {
        let line = request(7, "tools/call")
            .replace("{}", &format!("{{\"x\":\"{}\"}}", "y".repeat(3 * LINE_BYTES)));
        scene.agent.say(&line).await;
        let answer = scene.agent.hears().await.expect("an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)));
        scene.agent.say(&"z".repeat(2 * LINE_BYTES)).await;
        let answer = scene.agent.hears().await.expect("an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32600)));
        scene.agent.ask(8, "ping").await;
        assert_eq!(scene.daemon.welcomes().await.hears_ids(1).await, [8]);
    })
    .await;
}

#[tokio::test]
async fn a_call_that_only_the_stamp_makes_too_long_is_refused() {
    play(async |mut scene| {
        let empty = request(7, "tools/call").replace("{}", r#"{"x":""}"#);
        let line =
            empty.replace("\"\"", &format!("\"{}\"", "y".repeat(LINE_BYTES - empty.len() - 1)));
        assert_eq!(line.len() + 1, LINE_BYTES);
        scene.agent.say(&line).await;
        let answer = scene.agent.hears().await.expect("an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)));
    })
    .await;
}

#[tokio::test]
async fn what_is_no_json_is_answered_and_never_passed_on() {
    play(async |mut scene| {
        scene.agent.say_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\n\xff\xfe\n").await;
        scene
            .agent
            .say(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"content":"\ud800"}}"#)
            .await;
        for _ in 0..3 {
            let answer = scene.agent.hears().await.expect("an answer");
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32700)));
        }
        scene.agent.say(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#).await;
        let answer = scene.agent.hears().await.expect("an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(null), &json!(-32600)));
        scene.agent.ask(8, "ping").await;
        assert_eq!(scene.daemon.welcomes().await.hears_ids(1).await, [8]);
    })
    .await;
}

#[tokio::test]
async fn an_id_that_still_waits_cannot_be_used_again() {
    play(async |mut scene| {
        scene.agent.ask(1, "tools/call").await;
        scene.agent.ask(1, "tools/list").await;
        let answer = scene.agent.hears().await.expect("an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32600)));
        let mut daemon = scene.daemon.welcomes().await;
        assert_eq!(daemon.hears().await["method"], "tools/call");
        daemon.answers(1).await;
        assert!(scene.agent.hears().await.expect("an answer")["result"].is_object());
    })
    .await;
}

#[tokio::test]
async fn an_overlong_answer_becomes_an_error_of_its_request() {
    play(async |mut scene| {
        scene.agent.ask(1, "tools/call").await;
        let mut daemon = scene.daemon.welcomes().await;
        daemon.hears().await;
        daemon
            .says(&json!({"id": 1, "jsonrpc": "2.0", "result": "x".repeat(2 * LINE_BYTES)}))
            .await;
        let answer = scene.agent.hears().await.expect("an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32603)));
    })
    .await;
}
