//! Normal operation: lines are forwarded unchanged in both directions.

use crate::relay::tests::fixture::{request, run};
use loci_proto::mcp::idempotency::META_KEY;
use serde_json::json;
use tokio::io::AsyncWriteExt;

#[tokio::test]
async fn lines_are_unchanged_except_for_the_key_of_calls() {
    run(async |mut fixture| {
        let unusual_line = r#"{ "params":{"a" :1e999, "a":2},  "method":"x/y", "id":"\u0061", "jsonrpc":"2.0"}"#;
        fixture.agent.send(&format!("\r\n  \n{unusual_line}\r")).await;
        let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"store_memory","_meta":{"dev.loci/key":"mine"}}}"#;
        fixture.agent.send(call).await;
        fixture.agent.send(call.replace(":2,", ":3,").as_str()).await;
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        assert_eq!(daemon.receive_line().await.as_deref(), Some(unusual_line));
        let (first, second) = (daemon.receive().await, daemon.receive().await);
        let key = |call: &serde_json::Value| call["params"]["_meta"][META_KEY].as_str().expect("the call has a key").to_owned();
        assert!(key(&first).ends_with(":1") && key(&second).ends_with(":2"), "{first} {second}");
        assert_eq!(first["params"]["name"], "store_memory");
    })
    .await;
}

#[tokio::test]
async fn answers_and_notifications_of_the_daemon_keep_their_order() {
    run(async |mut fixture| {
        fixture.agent.request(1, "tools/list").await;
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        daemon.receive().await;
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}});
        daemon.send(&progress).await;
        daemon.answer(7).await;
        daemon.answer(1).await;
        daemon.answer(1).await;
        daemon.send(&progress).await;
        assert_eq!(fixture.agent.receive().await, Some(progress.clone()));
        assert_eq!(
            fixture.agent.receive_ids(1).await,
            [1],
            "an answer without a request is dropped"
        );
        assert_eq!(fixture.agent.receive().await, Some(progress), "an answer is forwarded once");
    })
    .await;
}

#[tokio::test]
async fn a_slow_daemon_slows_the_agent_down_and_no_line_is_lost() {
    const LINES: u32 = 1_000;
    run(async |mut fixture| {
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        let mut stdin = fixture.agent.stdin.take().expect("the input is open");
        let writing = tokio::task::spawn_local(async move {
            for id in 0..LINES {
                let pad = "x".repeat(32 * 1024);
                let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"x\",\"params\":{{\"pad\":\"{pad}\"}}}}\n");
                stdin.write_all(line.as_bytes()).await.expect("the relay reads its input");
            }
            stdin
        });
        for id in 0..LINES {
            // 32 MB exceed all buffers together: the agent cannot finish before the daemon has read most lines.
            assert!(id > LINES / 2 || !writing.is_finished(), "the relay buffers all lines");
            assert_eq!(daemon.receive().await["id"], id);
            daemon.answer(id).await;
            assert_eq!(fixture.agent.receive_ids(1).await, [id]);
        }
        writing.await.expect("all lines are written");
    })
    .await;
}

#[tokio::test]
async fn a_slow_agent_slows_the_daemon_down() {
    run(async |mut fixture| {
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        let notification = format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "method": "x", "params": "y".repeat(64 * 1024)})
        );
        let writing = tokio::task::spawn_local(async move {
            for _ in 0..200 {
                daemon.send_bytes(notification.as_bytes()).await;
            }
            daemon
        });
        for _ in 0..100 {
            assert!(!writing.is_finished(), "13 MB exceed all buffers together");
            fixture.agent.receive().await;
        }
        for _ in 0..100 {
            fixture.agent.receive().await;
        }
        writing.await.expect("all lines are written");
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_request_is_removed_and_the_cancellation_is_forwarded() {
    run(async |mut fixture| {
        fixture.agent.request(1, "tools/call").await;
        fixture.agent.request(2, "tools/call").await;
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        daemon.receive_ids(2).await;
        fixture
            .agent
            .send(
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            )
            .await;
        assert_eq!(daemon.receive_ids(1).await, ["notifications/cancelled"]);
        daemon.answer(1).await;
        daemon.answer(2).await;
        assert_eq!(fixture.agent.receive_ids(1).await, [2]);
    })
    .await;
}

#[tokio::test]
async fn lines_sent_before_the_daemon_starts_arrive_in_order() {
    run(async |mut fixture| {
        fixture.agent.request(0, "initialize").await;
        fixture.agent.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        for id in 1..4 {
            fixture.agent.send(&request(id, "tools/call")).await;
        }
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        let received = daemon.receive_ids(5).await;
        assert_eq!(
            received,
            [json!(0), json!("notifications/initialized"), json!(1), json!(2), json!(3)]
        );
    })
    .await;
}
