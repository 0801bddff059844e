//! The end of a session: the agent closes its input or output, or sends a signal.

use crate::relay::tests::fixture::{TestSettings, request, run, run_with};
use std::time::Duration;

#[tokio::test]
async fn the_relay_ends_with_the_input_if_nothing_is_in_flight() {
    run(async |mut fixture| {
        drop(fixture.agent.stdin.take());
        fixture.relay.await.expect("the relay ends while it still connects");
    })
    .await;
}

#[tokio::test]
async fn after_the_end_of_input_the_relay_waits_for_answers_in_flight() {
    run(async |mut fixture| {
        fixture.agent.request(1, "subscriptions/listen").await;
        fixture.agent.send_bytes(request(2, "tools/call").as_bytes()).await;
        drop(fixture.agent.stdin.take());
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        assert_eq!(daemon.receive_ids(2).await, [1, 2], "the last line needs no newline");
        assert_eq!(daemon.receive_line().await, None, "our half is closed");
        daemon.answer(2).await;
        assert_eq!(fixture.agent.receive_ids(1).await, [2]);
        fixture.relay.await.expect("the relay ends although a subscription is open");
    })
    .await;
}

#[tokio::test]
async fn a_daemon_lost_after_the_end_of_input_is_replaced() {
    run(async |mut fixture| {
        fixture.agent.request(1, "tools/call").await;
        drop(fixture.agent.stdin.take());
        fixture.daemon.accept_and_welcome().await.receive().await;
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        assert_eq!(daemon.receive_ids(1).await, [1]);
        assert_eq!(daemon.receive_line().await, None);
        daemon.answer(1).await;
        assert_eq!(fixture.agent.receive_ids(1).await, [1]);
    })
    .await;
}

#[tokio::test]
async fn the_wait_after_the_end_of_input_is_bounded_and_ends_with_an_answer() {
    run_with(
        TestSettings { drain: Duration::from_millis(60), ..TestSettings::default() },
        async |mut fixture| {
            fixture.agent.request(1, "tools/call").await;
            let mut daemon = fixture.daemon.accept_and_welcome().await;
            daemon.receive().await;
            drop(fixture.agent.stdin.take());
            let text = fixture.agent.receive_failure().await;
            assert!(text.contains("ended before the answer came"), "{text}");
            fixture.relay.await.expect("the relay ends");
        },
    )
    .await;
}

#[tokio::test]
async fn a_signal_counts_as_end_of_input() {
    run(async |mut fixture| {
        fixture.agent.request(1, "tools/call").await;
        let mut daemon = fixture.daemon.accept_and_welcome().await;
        daemon.receive().await;
        fixture.stop.send(()).expect("the relay receives the signal");
        assert_eq!(daemon.receive_line().await, None);
        daemon.answer(1).await;
        assert_eq!(fixture.agent.receive_ids(1).await, [1]);
        fixture.relay.await.expect("the relay ends");
    })
    .await;
}

#[tokio::test]
async fn closed_output_ends_the_relay() {
    run(async |mut fixture| {
        drop(fixture.agent.lines.take());
        fixture.agent.send("no json").await;
        fixture.relay.await.expect("the relay ends");
    })
    .await;
}
