//! The agent goes away.

use crate::relay::tests::fixture::{Deadlines, play, play_with, request};
use std::time::Duration;

#[tokio::test]
async fn with_nothing_in_flight_the_end_of_input_is_the_end() {
    play(async |mut scene| {
        drop(scene.agent.stdin.take());
        scene.relay.await.expect("ends although it still tries to reach a daemon");
    })
    .await;
}

#[tokio::test]
async fn at_the_end_of_input_answers_in_flight_are_waited_for() {
    play(async |mut scene| {
        scene.agent.ask(1, "subscriptions/listen").await;
        scene.agent.say_bytes(request(2, "tools/call").as_bytes()).await;
        drop(scene.agent.stdin.take());
        let mut daemon = scene.daemon.welcomes().await;
        assert_eq!(daemon.hears_ids(2).await, [1, 2], "the last line needs no newline");
        assert_eq!(daemon.hears_line().await, None, "our half is closed");
        daemon.answers(2).await;
        assert_eq!(scene.agent.hears_ids(1).await, [2]);
        scene.relay.await.expect("ends although a subscription goes on");
    })
    .await;
}

#[tokio::test]
async fn a_daemon_lost_at_the_end_is_still_made_good() {
    play(async |mut scene| {
        scene.agent.ask(1, "tools/call").await;
        drop(scene.agent.stdin.take());
        scene.daemon.welcomes().await.hears().await;
        let mut daemon = scene.daemon.welcomes().await;
        assert_eq!(daemon.hears_ids(1).await, [1]);
        assert_eq!(daemon.hears_line().await, None);
        daemon.answers(1).await;
        assert_eq!(scene.agent.hears_ids(1).await, [1]);
    })
    .await;
}

#[tokio::test]
async fn the_wait_at_the_end_is_bounded_and_ends_with_an_answer() {
    play_with(
        Deadlines { drain: Duration::from_millis(60), ..Deadlines::default() },
        async |mut scene| {
            scene.agent.ask(1, "tools/call").await;
            let mut daemon = scene.daemon.welcomes().await;
            daemon.hears().await;
            drop(scene.agent.stdin.take());
            let text = scene.agent.hears_failure().await;
            assert!(text.contains("ended before the answer came"), "{text}");
            scene.relay.await.expect("ends");
        },
    )
    .await;
}

#[tokio::test]
async fn a_signal_is_an_end_of_input() {
    play(async |mut scene| {
        scene.agent.ask(1, "tools/call").await;
        let mut daemon = scene.daemon.welcomes().await;
        daemon.hears().await;
        scene.stop.send(()).expect("is received");
        assert_eq!(daemon.hears_line().await, None);
        daemon.answers(1).await;
        assert_eq!(scene.agent.hears_ids(1).await, [1]);
        scene.relay.await.expect("ends");
    })
    .await;
}

#[tokio::test]
async fn an_agent_that_listens_no_more_ends_the_session() {
    play(async |mut scene| {
        drop(scene.agent.lines.take());
        scene.agent.say("no json").await;
        scene.relay.await.expect("ends");
    })
    .await;
}
