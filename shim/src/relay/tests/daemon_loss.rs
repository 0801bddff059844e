//! Faults of the daemon: it dies, hangs, refuses, or never starts.

use crate::relay::tests::fixture::{DaemonSession, Fixture, TestSettings, run, run_with};
use loci_proto::hello::{Refusal, Refused};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::time::Duration;

const SHORT_TIMEOUT: Duration = Duration::from_millis(200);

async fn complete_handshake(fixture: &mut Fixture) -> DaemonSession {
    fixture.agent.request(0, "initialize").await;
    let mut daemon = fixture.daemon.accept_and_welcome().await;
    daemon.receive().await;
    daemon.answer(0).await;
    assert_eq!(fixture.agent.receive_ids(1).await, [0]);
    fixture.agent.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    daemon.receive().await;
    daemon
}

#[tokio::test]
async fn a_new_daemon_receives_the_handshake_and_every_unanswered_request_in_order() {
    run(async |mut fixture| {
        let mut daemon = complete_handshake(&mut fixture).await;
        for id in 1..5 {
            fixture.agent.request(id, "tools/call").await;
        }
        let mut calls = Vec::new();
        for _ in 0..4 {
            calls.push(daemon.receive_line().await.expect("the daemon receives a call"));
        }
        daemon.answer(2).await;
        daemon.send_bytes(br#"{"jsonrpc":"2.0","id":3,"res"#).await;
        assert_eq!(fixture.agent.receive_ids(1).await, [2]);
        drop(daemon);

        let mut daemon = fixture.daemon.accept_and_welcome().await;
        assert_eq!(daemon.receive_ids(2).await, [json!(0), json!("notifications/initialized")]);
        for unanswered in [&calls[0], &calls[2], &calls[3]] {
            assert_eq!(daemon.receive_line().await.as_ref(), Some(unanswered), "with the same key");
        }
        for id in [0, 4, 2, 1, 1, 3] {
            daemon.answer(id).await;
        }
        assert_eq!(
            fixture.agent.receive_ids(3).await,
            [4, 1, 3],
            "no answer is forwarded twice, and none to the replayed handshake"
        );
    })
    .await;
}

#[tokio::test]
async fn repeated_daemon_losses_lose_no_call() {
    run(async |mut fixture| {
        for id in 1..4 {
            fixture.agent.request(id, "tools/call").await;
        }
        for _ in 0..10 {
            assert_eq!(fixture.daemon.accept_and_welcome().await.receive_ids(3).await, [1, 2, 3]);
        }
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        for id in 1..4 {
            daemon.answer(id).await;
        }
        assert_eq!(fixture.agent.receive_ids(3).await, [1, 2, 3]);
    })
    .await;
}

#[tokio::test]
async fn a_request_that_kills_every_daemon_fails() {
    run_with(
        TestSettings { request: Duration::ZERO, ..TestSettings::default() },
        async |mut fixture| {
            fixture.agent.request(1, "tools/call").await;
            for _ in 0..8 {
                fixture.daemon.accept_and_welcome().await.receive().await;
            }
            let text = fixture.agent.receive_failure().await;
            assert!(
                text.contains("locid ended 8 times") && text.contains("may have taken effect"),
                "{text}"
            );
            assert!(fixture.daemon.gets_no_connection().await);
        },
    )
    .await;
}

#[tokio::test]
async fn a_stopped_daemon_stays_stopped_until_the_next_request() {
    run(async |mut fixture| {
        let mut daemon = complete_handshake(&mut fixture).await;
        fixture.agent.request(1, "subscriptions/listen").await;
        daemon.receive().await;
        drop(daemon);
        assert!(fixture.daemon.gets_no_connection().await, "a subscription needs no daemon");
        fixture
            .agent
            .send(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#)
            .await;
        assert!(fixture.daemon.gets_no_connection().await, "a notification needs no daemon");
        fixture.agent.request(2, "tools/call").await;
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        let received = daemon.receive_ids(4).await;
        assert_eq!(received, [json!(0), json!("notifications/initialized"), json!(1), json!(2)]);
    })
    .await;
}

#[tokio::test]
async fn without_a_daemon_calls_fail_with_the_next_step_and_the_session_continues() {
    run_with(TestSettings { connect: SHORT_TIMEOUT, ..TestSettings::default() }, async |mut fixture| {
        fixture.agent.request(1, "tools/call").await;
        let text = fixture.agent.receive_failure().await;
        assert_eq!(
            text,
            "loci: locid is not running. Start it with `loci ctl start`, or by calling any tool."
        );
        fixture.agent.request(4, "tools/list").await;
        assert!(
            fixture.agent.receive().await.expect("the agent receives an answer")["result"]["tools"].is_array(),
            "the handshake never fails"
        );
        fixture.agent.request(2, "resources/read").await;
        let answer = fixture.agent.receive().await.expect("the agent receives an answer");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(-32000)));

        fixture.daemon.listen();
        fixture.agent.request(3, "tools/call").await;
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        assert_eq!(daemon.receive_ids(1).await, [3], "an answered request is not replayed");
        daemon.answer(3).await;
        assert_eq!(fixture.agent.receive_ids(1).await, [3]);
    })
    .await;
}

#[tokio::test]
async fn a_call_in_flight_fails_if_no_daemon_can_be_started() {
    run_with(
        TestSettings { connect: SHORT_TIMEOUT, hello: SHORT_TIMEOUT, ..TestSettings::default() },
        async |mut fixture| {
            fixture.agent.request(1, "tools/call").await;
            let mut daemon = fixture.daemon.accept_and_welcome().await;
            daemon.receive().await;
            drop(daemon);
            let text = fixture.agent.receive_failure().await;
            assert!(text.contains("may have taken effect"), "{text}");
        },
    )
    .await;
}

#[tokio::test]
async fn a_daemon_that_accepts_but_does_not_answer_is_reported_with_its_pid() {
    run_with(
        TestSettings { connect: SHORT_TIMEOUT, ..TestSettings::default() },
        async |mut fixture| {
            fixture.daemon.listen();
            fixture.agent.request(1, "tools/call").await;
            let text = fixture.agent.receive_failure().await;
            assert!(
                text.contains(&format!("locid does not answer (pid {})", std::process::id())),
                "{text}"
            );
        },
    )
    .await;
}

#[tokio::test]
async fn a_silent_daemon_is_probed_on_another_connection() {
    run_with(
        TestSettings { hello: SHORT_TIMEOUT, ..TestSettings::default() },
        async |mut fixture| {
            fixture.agent.request(1, "tools/call").await;
            let mut daemon = fixture.daemon.accept_and_welcome().await;
            daemon.receive().await;
            fixture.daemon.accept_hello().await.send(&json!(Refused::new(Refusal::Busy))).await;
            fixture.daemon.accept_and_welcome().await;
            daemon.answer(1).await;
            assert_eq!(fixture.agent.receive_ids(1).await, [1], "the daemon was busy");

            fixture.agent.request(2, "tools/call").await;
            daemon.receive().await;
            let text = fixture.agent.receive_failure().await;
            assert!(
                text.contains("locid does not answer (pid ")
                    && text.contains("may have taken effect"),
                "{text}"
            );
            assert_eq!(daemon.receive_line().await, None, "the connection is closed");
        },
    )
    .await;
}

/// Returns the failure that the agent receives when the daemon answers the hello with `reply`.
async fn failure_after_hello_reply(reply: Value) -> String {
    let mut text = String::new();
    run_with(
        TestSettings { connect: SHORT_TIMEOUT, ..TestSettings::default() },
        async |mut fixture| {
            fixture.agent.request(1, "tools/call").await;
            fixture.daemon.accept_hello().await.send(&reply).await;
            text = fixture.agent.receive_failure().await;
        },
    )
    .await;
    text
}

#[tokio::test]
async fn a_refused_hello_becomes_a_readable_error() {
    let skew =
        Refused { min: 7, max: 9, daemon: "9.9.9".to_owned(), ..Refused::new(Refusal::Version) };
    let text = failure_after_hello_reply(json!(skew)).await;
    assert!(
        text.contains("9.9.9")
            && text.contains(loci_proto::VERSION)
            && text.contains("Restart this session"),
        "{text}"
    );
    let text = failure_after_hello_reply(json!({"ok": true})).await;
    assert!(text.contains("is not a hello"), "{text}");
}

#[tokio::test]
async fn a_busy_daemon_is_retried() {
    run(async |mut fixture| {
        fixture.agent.request(1, "tools/call").await;
        fixture.daemon.accept_hello().await.send(&json!(Refused::new(Refusal::Busy))).await;
        fixture.daemon.accept_hello().await.send(&json!(Refused::new(Refusal::Draining))).await;
        drop(fixture.daemon.accept_hello().await);
        assert_eq!(fixture.daemon.accept_and_welcome().await.receive_ids(1).await, [1]);
    })
    .await;
}

#[tokio::test]
async fn an_older_daemon_with_an_unsupported_protocol_is_drained_and_replaced() {
    run(async |mut fixture| {
        fixture.agent.request(1, "tools/call").await;
        let mut old = fixture.daemon.accept_hello().await;
        let refused = Refused {
            min: 0,
            max: 0,
            daemon: "0.0.1".to_owned(),
            ..Refused::new(Refusal::Version)
        };
        old.send(&json!(refused)).await;
        assert_eq!(fixture.daemon.answer_stop_request().await, "POST /stop HTTP/1.1");
        let mut new = fixture.daemon.accept_and_welcome().await;
        assert_eq!(new.receive_ids(1).await, [json!(1)]);
        new.answer(1).await;
        assert_eq!(fixture.agent.receive_ids(1).await, [1]);
    })
    .await;
}

#[tokio::test]
async fn the_agent_is_notified_of_a_changed_tool_list() {
    run(async |mut fixture| {
        drop(complete_handshake(&mut fixture).await);
        fixture.agent.request(1, "tools/call").await;
        let mut daemon = fixture.daemon.accept_and_welcome_with("other tools").await;
        assert_eq!(
            daemon.receive_ids(3).await,
            [json!(0), json!("notifications/initialized"), json!(1)]
        );
        assert_eq!(
            fixture.agent.receive().await.expect("the agent is notified")["method"],
            "notifications/tools/list_changed"
        );
        daemon.answer(1).await;
        assert_eq!(fixture.agent.receive_ids(1).await, [1]);
    })
    .await;
}

#[tokio::test]
async fn the_handshake_does_not_wait_for_a_missing_daemon() {
    let timeouts =
        TestSettings { local_handshake: Duration::from_millis(1), ..TestSettings::default() };
    run_with(timeouts, async |mut fixture| {
        let hello = r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#;
        fixture.agent.send(&format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{hello}}}"#)).await;
        assert_eq!(fixture.agent.receive().await.expect("the handshake is answered")["result"]["protocolVersion"], "2025-06-18");
        fixture.agent.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        fixture.agent.request(1, "tools/call").await;
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        assert_eq!(daemon.receive_ids(3).await, [json!(0), json!("notifications/initialized"), json!(1)], "the daemon receives all lines");
        for id in [0, 1] {
            daemon.answer(id).await;
        }
        assert_eq!(fixture.agent.receive_ids(1).await, [1], "the late answer to the handshake is dropped");
    })
    .await;
}

#[tokio::test]
async fn a_call_does_not_fail_with_the_fault_of_a_start_before_it() {
    // Each start reads its fault from the pipe and ends.
    let script = "read fault < \"${0%/*}/fault\"; echo \"$fault\" >&2; exit 78";
    let settings = TestSettings { locid: Some(script), ..TestSettings::default() };
    run_with(settings, async |mut fixture| {
        let pipe = fixture.daemon.paths.runtime.with_file_name("fault");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("the pipe is made");
        let mut faults =
            File::options().read(true).write(true).open(&pipe).expect("the pipe is opened");
        // The session starts the daemon before its first call.
        tokio::task::yield_now().await;
        fixture.agent.request(1, "tools/call").await;
        writeln!(faults, "repaired since\nstill there").expect("the faults are written");
        let failure = fixture.agent.receive_failure().await;
        assert!(failure.contains("still there"), "{failure}");
    })
    .await;
}
