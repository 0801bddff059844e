//! Summaries by agents: of a due cluster, or instead of an extractive summary.

use crate::maintain::tests::*;
use loci_proto::requests::compact::{CompactReply, CompactRequest};

/// Returns the cluster that is shown to an agent of a project.
fn shown_cluster(test_store: &TestStore, group: &str) -> CompactReply {
    test_store
        .reader
        .compactable(&test_store.call(group, None).actor, test_store.now)
        .expect("the clusters are read")
}

/// Stores an agent's summary of a cluster.
fn summarise(
    test_store: &mut TestStore,
    cluster: &str,
    text: &str,
) -> crate::error::Result<CompactReply> {
    let call = test_store.call("a", None);
    let request =
        CompactRequest { cluster: Some(cluster.to_owned()), summary: Some(text.to_owned()) };
    test_store.writer.store_agent_summary(&call, &request, &TextEncodings::default())
}

#[test]
fn an_agent_summarises_a_cluster_of_its_own_project() {
    let mut test_store = store_with(Rules::default());
    let ids = week(&mut test_store, "a", 0, 5);
    assert_eq!(
        shown_cluster(&test_store, "b").cluster,
        None,
        "another project's cluster is not shown"
    );
    let shown = shown_cluster(&test_store, "a");
    assert_eq!((shown.memories.len(), shown.memories[0].date.as_str()), (5, MONDAY));
    assert!(shown.memories.iter().all(|m| m.content.is_some()));
    let before = dump(&test_store);
    let reply = summarise(
        &mut test_store,
        &shown.cluster.expect("a cluster is due"),
        "In mid-December the mail gateway was worked on.",
    )
    .expect("the summary is stored");
    let summary = memory(&test_store, &reply.id.expect("the reply has an id"));
    assert_eq!(
        (field(&summary, "method"), field(&summary, "source_ids")),
        (json!("agent"), json!(ids))
    );
    assert_eq!((reply.compacted, status(&test_store, &ids[0])), (Some(5), "compacted"));
    assert_eq!(plan(&test_store), Plan::default());
    assert_eq!(
        shown_cluster(&test_store, "a").cluster,
        None,
        "a cluster that an agent has summarised is not shown again"
    );
    undo_last(&mut test_store);
    assert_eq!(dump(&test_store), before);
}

#[test]
fn an_agents_summary_replaces_an_extractive_one() {
    let mut test_store = store_with(Rules::default());
    let ids = week(&mut test_store, "a", 0, 5);
    let old = run(&mut test_store)[0].made.clone().expect("the summary is stored");
    let before = dump(&test_store);
    let shown = shown_cluster(&test_store, "a");
    assert_eq!((shown.replaces.as_ref(), shown.memories.len()), (Some(&old), 5));
    let reply = summarise(
        &mut test_store,
        &shown.cluster.expect("a cluster is shown"),
        "The mail gateway, in my words.",
    )
    .expect("the summary is stored");
    let new = reply.id.expect("the reply has an id");
    assert_eq!(
        (status(&test_store, &old), memory(&test_store, &old).superseded_by),
        ("superseded", Some(new.to_string()))
    );
    assert_eq!(memory(&test_store, &ids[0]).superseded_by, Some(new.to_string()));
    assert_eq!(
        memories::sources(&test_store.reader.conn, memory(&test_store, &new).seq)
            .expect("the sources are read")
            .len(),
        5
    );
    undo_last(&mut test_store);
    assert_eq!(dump(&test_store), before);
}

#[test]
fn a_missing_or_changed_cluster_is_refused() {
    let mut test_store = store_with(Rules::default());
    week(&mut test_store, "a", 0, 5);
    let key = shown_cluster(&test_store, "a").cluster.expect("a cluster is due");
    assert!(
        summarise(&mut test_store, "2025-W51-0000", "x")
            .expect_err("the call is refused")
            .to_string()
            .contains("names no cluster")
    );
    episode(&mut test_store, "a", "One more of that week", MONDAY, Some(&about(0, 59)));
    assert!(
        summarise(&mut test_store, &key, "x").is_err(),
        "the members of the cluster have changed"
    );
    let without_summary = CompactRequest { cluster: Some(key), summary: None };
    assert!(
        crate::maintain::summary_text(&without_summary)
            .expect_err("the call is refused")
            .to_string()
            .contains("summary is missing")
    );
}

#[test]
fn a_long_cluster_is_shown_within_the_token_budget() {
    let mut settings = Settings::for_model("test");
    settings.recall_token_budget = 120;
    let mut test_store = TestStore::with(settings);
    week(&mut test_store, "a", 0, 5);
    let shown = shown_cluster(&test_store, "a");
    let with_content = shown.memories.iter().filter(|m| m.content.is_some()).count();
    assert_eq!((shown.memories.len(), with_content), (5, 3));
}
