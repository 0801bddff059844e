//! All is well: lines pass as they are, each way.

use crate::relay::tests::fixture::{play, request};
use loci_proto::mcp::idempotency::META_KEY;
use serde_json::json;
use tokio::io::AsyncWriteExt;

#[tokio::test]
async fn lines_pass_unchanged_but_for_the_stamp_on_calls() {
    play(async |mut scene| {
        let odd = r#"{ "params":{"a" :1e999, "a":2},  "method":"x/y", "id":"\u0061", "jsonrpc":"2.0"}"#;
        scene.agent.say(&format!("\r\n  \n{odd}\r")).await;
        let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"store_memory","_meta":{"dev.loci/key":"mine"}}}"#;
        scene.agent.say(call).await;
        scene.agent.say(call.replace(":2,", ":3,").as_str()).await;
        let mut daemon = scene.daemon.welcomes().await;
        assert_eq!(daemon.hears_line().await.as_deref(), Some(odd));
        let (first, second) = (daemon.hears().await, daemon.hears().await);
        let key = |call: &serde_json::Value| call["params"]["_meta"][META_KEY].as_str().expect("a key").to_owned();
        assert!(key(&first).ends_with(":1") && key(&second).ends_with(":2"), "{first} {second}");
        assert_eq!(first["params"]["name"], "store_memory");
    })
    .await;
}

#[tokio::test]
async fn answers_and_notifications_of_the_daemon_pass_in_their_order() {
    play(async |mut scene| {
        scene.agent.ask(1, "tools/list").await;
        let mut daemon = scene.daemon.welcomes().await;
        daemon.hears().await;
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}});
        daemon.says(&progress).await;
        daemon.answers(7).await;
        daemon.answers(1).await;
        daemon.answers(1).await;
        daemon.says(&progress).await;
        assert_eq!(scene.agent.hears().await, Some(progress.clone()));
        assert_eq!(
            scene.agent.hears_ids(1).await,
            [1],
            "an answer that nobody waits for is dropped"
        );
        assert_eq!(scene.agent.hears().await, Some(progress), "an answer is given once");
    })
    .await;
}

#[tokio::test]
async fn a_slow_daemon_holds_the_agent_back_and_loses_nothing() {
    const LINES: u32 = 1_000;
    play(async |mut scene| {
        let mut daemon = scene.daemon.welcomes().await;
        let mut stdin = scene.agent.stdin.take().expect("still speaks");
        let writing = tokio::task::spawn_local(async move {
            for id in 0..LINES {
                let pad = "x".repeat(32 * 1024);
                let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"x\",\"params\":{{\"pad\":\"{pad}\"}}}}\n");
                stdin.write_all(line.as_bytes()).await.expect("the relay reads");
            }
            stdin
        });
        for id in 0..LINES {
            // 32 MB do not fit into any buffer on the way: the agent cannot be done before the daemon has read most of it.
            assert!(id > LINES / 2 || !writing.is_finished(), "somebody holds everything in memory");
            assert_eq!(daemon.hears().await["id"], id);
            daemon.answers(id).await;
            assert_eq!(scene.agent.hears_ids(1).await, [id]);
        }
        writing.await.expect("was written");
    })
    .await;
}

#[tokio::test]
async fn a_slow_agent_holds_the_daemon_back() {
    play(async |mut scene| {
        let mut daemon = scene.daemon.welcomes().await;
        let note = format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "method": "x", "params": "y".repeat(64 * 1024)})
        );
        let writing = tokio::task::spawn_local(async move {
            for _ in 0..200 {
                daemon.says_bytes(note.as_bytes()).await;
            }
            daemon
        });
        for _ in 0..100 {
            assert!(!writing.is_finished(), "13 MB do not fit into any buffer on the way");
            scene.agent.hears().await;
        }
        for _ in 0..100 {
            scene.agent.hears().await;
        }
        writing.await.expect("was written");
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_request_is_forgotten_and_the_daemon_is_told() {
    play(async |mut scene| {
        scene.agent.ask(1, "tools/call").await;
        scene.agent.ask(2, "tools/call").await;
        let mut daemon = scene.daemon.welcomes().await;
        daemon.hears_ids(2).await;
        scene
            .agent
            .say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
            .await;
        assert_eq!(daemon.hears_ids(1).await, ["notifications/cancelled"]);
        daemon.answers(1).await;
        daemon.answers(2).await;
        assert_eq!(scene.agent.hears_ids(1).await, [2]);
    })
    .await;
}

#[tokio::test]
async fn what_is_said_before_the_daemon_is_there_arrives_in_order() {
    play(async |mut scene| {
        scene.agent.ask(0, "initialize").await;
        scene.agent.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        for id in 1..4 {
            scene.agent.say(&request(id, "tools/call")).await;
        }
        let mut daemon = scene.daemon.welcomes().await;
        let told = daemon.hears_ids(5).await;
        assert_eq!(
            told,
            [json!(0), json!("notifications/initialized"), json!(1), json!(2), json!(3)]
        );
    })
    .await;
}
