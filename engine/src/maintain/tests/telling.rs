//! The agent's own summary: of a cluster that is due, or in place of an extractive one.

use crate::maintain::tests::*;
use loci_proto::requests::compact::{CompactReply, CompactRequest};

fn listed(house: &House, group: &str) -> CompactReply {
    house.reader.compactable(&crate::tests::fixture::named(group), house.now).expect("is listed")
}

fn tell(house: &mut House, cluster: &str, text: &str) -> crate::error::Result<CompactReply> {
    let call = house.call("a", None);
    let request =
        CompactRequest { cluster: Some(cluster.to_owned()), summary: Some(text.to_owned()) };
    house.writer.store_agent_summary(&call, &request, &DocumentEncoding::default())
}

#[test]
fn an_agent_sums_up_a_cluster_of_its_own_project() {
    let mut house = house(Rules::default());
    let ids = week(&mut house, "a", 0, 5);
    assert_eq!(listed(&house, "b").cluster, None, "another project's cluster is not shown");
    let shown = listed(&house, "a");
    assert_eq!((shown.memories.len(), shown.memories[0].date.as_str()), (5, MONDAY));
    assert!(shown.memories.iter().all(|m| m.content.is_some()));
    let before = dump(&house);
    let reply = tell(
        &mut house,
        &shown.cluster.expect("is due"),
        "In mid-December the mail gateway was worked on.",
    )
    .expect("is stored");
    let summary = memory(&house, &reply.id.expect("is made"));
    assert_eq!(
        (field(&summary, "method"), field(&summary, "source_ids")),
        (json!("agent"), json!(ids))
    );
    assert_eq!((reply.compacted, status(&house, &ids[0])), (Some(5), "compacted"));
    assert_eq!(plan(&house), Plan::default());
    assert_eq!(
        listed(&house, "a").cluster,
        None,
        "what an agent has summed up is not offered again"
    );
    undo_last(&mut house);
    assert_eq!(dump(&house), before);
}

#[test]
fn an_agents_summary_takes_the_place_of_an_extractive_one() {
    let mut house = house(Rules::default());
    let ids = week(&mut house, "a", 0, 5);
    let old = run(&mut house)[0].made.clone().expect("is made");
    let before = dump(&house);
    let shown = listed(&house, "a");
    assert_eq!((shown.replaces.as_ref(), shown.memories.len()), (Some(&old), 5));
    let reply =
        tell(&mut house, &shown.cluster.expect("is offered"), "The mail gateway, in my words.")
            .expect("is stored");
    let new = reply.id.expect("is made");
    assert_eq!(
        (status(&house, &old), memory(&house, &old).superseded_by),
        ("superseded", Some(new.to_string()))
    );
    assert_eq!(memory(&house, &ids[0]).superseded_by, Some(new.to_string()));
    assert_eq!(
        memories::sources(&house.reader.conn, memory(&house, &new).seq).expect("is read").len(),
        5
    );
    undo_last(&mut house);
    assert_eq!(dump(&house), before);
}

#[test]
fn a_cluster_that_is_not_there_or_has_changed_is_refused() {
    let mut house = house(Rules::default());
    week(&mut house, "a", 0, 5);
    let key = listed(&house, "a").cluster.expect("is due");
    assert!(
        tell(&mut house, "2025-W51-0000", "x")
            .expect_err("is refused")
            .to_string()
            .contains("names no cluster")
    );
    episode(&mut house, "a", "One more of that week", MONDAY, Some(&about(0, 59)));
    assert!(tell(&mut house, &key, "x").is_err(), "its members are others now");
    let half = CompactRequest { cluster: Some(key), summary: None };
    assert!(
        crate::maintain::summary_text(&half)
            .expect_err("is refused")
            .to_string()
            .contains("summary is missing")
    );
}

#[test]
fn a_long_cluster_is_shown_within_the_budget_for_tokens() {
    let mut settings = Settings::for_model("test");
    settings.recall_token_budget = 120;
    let mut house = House::with(settings);
    week(&mut house, "a", 0, 5);
    let shown = listed(&house, "a");
    let whole = shown.memories.iter().filter(|m| m.content.is_some()).count();
    assert_eq!((shown.memories.len(), whole), (5, 3));
}
