//! The daemon goes away, or was never there.

use crate::relay::tests::fixture::{DaemonSession, Deadlines, Scene, play, play_with};
use loci_proto::hello::{Refusal, Refused};
use serde_json::{Value, json};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(200);

async fn shake_hands(scene: &mut Scene) -> DaemonSession {
    scene.agent.ask(0, "initialize").await;
    let mut daemon = scene.daemon.welcomes().await;
    daemon.hears().await;
    daemon.answers(0).await;
    assert_eq!(scene.agent.hears_ids(1).await, [0]);
    scene.agent.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    daemon.hears().await;
    daemon
}

#[tokio::test]
async fn a_new_daemon_is_told_the_handshake_and_every_unanswered_line_in_order() {
    play(async |mut scene| {
        let mut daemon = shake_hands(&mut scene).await;
        for id in 1..5 {
            scene.agent.ask(id, "tools/call").await;
        }
        let mut calls = Vec::new();
        for _ in 0..4 {
            calls.push(daemon.hears_line().await.expect("a call"));
        }
        daemon.answers(2).await;
        daemon.says_bytes(br#"{"jsonrpc":"2.0","id":3,"res"#).await;
        assert_eq!(scene.agent.hears_ids(1).await, [2]);
        drop(daemon);

        let mut daemon = scene.daemon.welcomes().await;
        assert_eq!(daemon.hears_ids(2).await, [json!(0), json!("notifications/initialized")]);
        for unanswered in [&calls[0], &calls[2], &calls[3]] {
            assert_eq!(daemon.hears_line().await.as_ref(), Some(unanswered), "with the same key");
        }
        for id in [0, 4, 2, 1, 1, 3] {
            daemon.answers(id).await;
        }
        assert_eq!(
            scene.agent.hears_ids(3).await,
            [4, 1, 3],
            "no answer twice, and none to the handshake"
        );
    })
    .await;
}

#[tokio::test]
async fn a_daemon_lost_again_and_again_loses_no_call() {
    play(async |mut scene| {
        for id in 1..4 {
            scene.agent.ask(id, "tools/call").await;
        }
        for _ in 0..10 {
            assert_eq!(scene.daemon.welcomes().await.hears_ids(3).await, [1, 2, 3]);
        }
        let mut daemon = scene.daemon.welcomes().await;
        for id in 1..4 {
            daemon.answers(id).await;
        }
        assert_eq!(scene.agent.hears_ids(3).await, [1, 2, 3]);
    })
    .await;
}

#[tokio::test]
async fn a_request_that_every_daemon_dies_of_is_given_up() {
    play_with(Deadlines { request: Duration::ZERO, ..Deadlines::default() }, async |mut scene| {
        scene.agent.ask(1, "tools/call").await;
        for _ in 0..8 {
            scene.daemon.welcomes().await.hears().await;
        }
        let text = scene.agent.hears_failure().await;
        assert!(
            text.contains("locid ended 8 times") && text.contains("may have taken effect"),
            "{text}"
        );
        assert!(scene.daemon.is_left_alone().await);
    })
    .await;
}

#[tokio::test]
async fn a_stopped_daemon_stays_stopped_until_the_next_request() {
    play(async |mut scene| {
        let mut daemon = shake_hands(&mut scene).await;
        scene.agent.ask(1, "subscriptions/listen").await;
        daemon.hears().await;
        drop(daemon);
        assert!(scene.daemon.is_left_alone().await, "nobody waits for a subscription");
        scene.agent.say(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#).await;
        assert!(scene.daemon.is_left_alone().await, "nor for a notification");
        scene.agent.ask(2, "tools/call").await;
        let mut daemon = scene.daemon.welcomes().await;
        let told = daemon.hears_ids(4).await;
        assert_eq!(told, [json!(0), json!("notifications/initialized"), json!(1), json!(2)]);
    })
    .await;
}

#[tokio::test]
async fn without_a_daemon_calls_fail_with_the_remedy_and_the_session_lives_on() {
    play_with(Deadlines { reach: SHORT, ..Deadlines::default() }, async |mut scene| {
        scene.agent.ask(1, "tools/call").await;
        let text = scene.agent.hears_failure().await;
        assert_eq!(text, "loci: locid is not running. Start it with `loci ctl start`, or by any call of an agent.");
        scene.agent.ask(4, "tools/list").await;
        assert!(scene.agent.hears().await.expect("an answer")["result"]["tools"].is_array(), "the handshake never fails");
        scene.agent.ask(2, "resources/read").await;
        let answer = scene.agent.hears().await.expect("an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(-32000)));

        scene.daemon.starts();
        scene.agent.ask(3, "tools/call").await;
        let mut daemon = scene.daemon.welcomes().await;
        assert_eq!(daemon.hears_ids(1).await, [3], "what was answered is not told again");
        daemon.answers(3).await;
        assert_eq!(scene.agent.hears_ids(1).await, [3]);
    })
    .await;
}

#[tokio::test]
async fn a_call_in_flight_is_answered_when_no_daemon_comes_back() {
    play_with(
        Deadlines { reach: SHORT, hello: SHORT, ..Deadlines::default() },
        async |mut scene| {
            scene.agent.ask(1, "tools/call").await;
            let mut daemon = scene.daemon.welcomes().await;
            daemon.hears().await;
            drop(daemon);
            let text = scene.agent.hears_failure().await;
            assert!(text.contains("may have taken effect"), "{text}");
        },
    )
    .await;
}

#[tokio::test]
async fn a_daemon_that_accepts_but_says_nothing_is_named_by_its_process() {
    play_with(Deadlines { reach: SHORT, ..Deadlines::default() }, async |mut scene| {
        scene.daemon.starts();
        scene.agent.ask(1, "tools/call").await;
        let text = scene.agent.hears_failure().await;
        assert!(
            text.contains(&format!("locid does not answer (pid {})", std::process::id())),
            "{text}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_daemon_that_falls_silent_is_asked_on_another_connection() {
    play_with(Deadlines { hello: SHORT, ..Deadlines::default() }, async |mut scene| {
        scene.agent.ask(1, "tools/call").await;
        let mut daemon = scene.daemon.welcomes().await;
        daemon.hears().await;
        scene.daemon.accepts().await.says(&json!(Refused::new(Refusal::Busy))).await;
        scene.daemon.welcomes().await;
        daemon.answers(1).await;
        assert_eq!(scene.agent.hears_ids(1).await, [1], "it was at work");

        scene.agent.ask(2, "tools/call").await;
        daemon.hears().await;
        let text = scene.agent.hears_failure().await;
        assert!(
            text.contains("locid does not answer (pid ") && text.contains("may have taken effect"),
            "{text}"
        );
        assert_eq!(daemon.hears_line().await, None, "the connection is given up");
    })
    .await;
}

async fn refused_with(reply: Value) -> String {
    let mut text = String::new();
    play_with(Deadlines { reach: SHORT, ..Deadlines::default() }, async |mut scene| {
        scene.agent.ask(1, "tools/call").await;
        scene.daemon.accepts().await.says(&reply).await;
        text = scene.agent.hears_failure().await;
    })
    .await;
    text
}

#[tokio::test]
async fn a_refusal_is_told_in_words() {
    let skew =
        Refused { min: 7, max: 9, daemon: "9.9.9".to_owned(), ..Refused::new(Refusal::Version) };
    let text = refused_with(json!(skew)).await;
    assert!(
        text.contains("9.9.9")
            && text.contains(loci_proto::VERSION)
            && text.contains("Restart this session"),
        "{text}"
    );
    let text = refused_with(json!({"ok": true})).await;
    assert!(text.contains("said no hello"), "{text}");
}

#[tokio::test]
async fn a_busy_daemon_is_asked_again() {
    play(async |mut scene| {
        scene.agent.ask(1, "tools/call").await;
        scene.daemon.accepts().await.says(&json!(Refused::new(Refusal::Busy))).await;
        scene.daemon.accepts().await.says(&json!(Refused::new(Refusal::Draining))).await;
        drop(scene.daemon.accepts().await);
        assert_eq!(scene.daemon.welcomes().await.hears_ids(1).await, [1]);
    })
    .await;
}

#[tokio::test]
async fn an_older_daemon_that_cannot_serve_us_is_drained_and_replaced() {
    play(async |mut scene| {
        scene.agent.ask(1, "tools/call").await;
        let mut old = scene.daemon.accepts().await;
        let refused = Refused {
            min: 0,
            max: 0,
            daemon: "0.0.1".to_owned(),
            ..Refused::new(Refusal::Version)
        };
        old.says(&json!(refused)).await;
        assert_eq!(scene.daemon.obeys().await, "POST /stop HTTP/1.1");
        let mut new = scene.daemon.welcomes().await;
        assert_eq!(new.hears_ids(1).await, [json!(1)]);
        new.answers(1).await;
        assert_eq!(scene.agent.hears_ids(1).await, [1]);
    })
    .await;
}

#[tokio::test]
async fn another_list_of_tools_is_told_to_the_agent() {
    play(async |mut scene| {
        drop(shake_hands(&mut scene).await);
        scene.agent.ask(1, "tools/call").await;
        let mut daemon = scene.daemon.welcomes_with("other tools").await;
        assert_eq!(
            daemon.hears_ids(3).await,
            [json!(0), json!("notifications/initialized"), json!(1)]
        );
        assert_eq!(
            scene.agent.hears().await.expect("is told")["method"],
            "notifications/tools/list_changed"
        );
        daemon.answers(1).await;
        assert_eq!(scene.agent.hears_ids(1).await, [1]);
    })
    .await;
}

#[tokio::test]
async fn a_handshake_does_not_wait_for_a_daemon_that_is_not_there() {
    let deadlines = Deadlines { greeting: Duration::from_millis(1), ..Deadlines::default() };
    play_with(deadlines, async |mut scene| {
        let hello = r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#;
        scene.agent.say(&format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{hello}}}"#)).await;
        assert_eq!(scene.agent.hears().await.expect("is answered")["result"]["protocolVersion"], "2025-06-18");
        scene.agent.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        scene.agent.ask(1, "tools/call").await;
        let mut daemon = scene.daemon.welcomes().await;
        assert_eq!(daemon.hears_ids(3).await, [json!(0), json!("notifications/initialized"), json!(1)], "it hears what it missed");
        for id in [0, 1] {
            daemon.answers(id).await;
        }
        assert_eq!(scene.agent.hears_ids(1).await, [1], "the late answer to the handshake is swallowed");
    })
    .await;
}
