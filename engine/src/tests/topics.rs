//! Topics of what a project sees, and groups of the results of a recall.

use crate::error::Result;
use crate::tests::fixture::{TestStore, axis, between_axes, named, parse};
use crate::tests::graph::refusal;
use loci_proto::requests::topics::TopicsReply;
use serde_json::{Value, json};

/// Stores five texts about deployments, and four about the garden.
fn store_two_topics(test_store: &mut TestStore, group: &str) {
    let deployments = ["runs on heron", "needs a tag", "is watched", "takes ten minutes", "failed"];
    for (number, text) in deployments.iter().enumerate() {
        let content = format!("The deployment of {group} {text}");
        let vector = between_axes(0, 20 + number, 0.9);
        test_store.store(group, json!({"content": content, "type": "episodic"}), Some(&vector));
    }
    for (number, text) in ["roses", "tulips", "a hedge", "an apple tree"].iter().enumerate() {
        let content = format!("The garden of {group} has {text}");
        let vector = between_axes(1, 40 + number, 0.9);
        test_store.store(group, json!({"content": content, "type": "episodic"}), Some(&vector));
    }
}

fn topics(test_store: &TestStore, group: &str, arguments: Value) -> Result<TopicsReply> {
    test_store.reader.topics(&parse(arguments), (&named(group)).into(), test_store.now)
}

fn names_and_counts(reply: &TopicsReply) -> Vec<(String, usize)> {
    let first = |name: &str| name.split(", ").next().unwrap_or_default().to_owned();
    reply.topics.iter().map(|topic| (first(&topic.name), topic.count)).collect()
}

#[test]
fn each_topic_has_its_words_its_size_and_an_example() {
    let mut test_store = TestStore::new();
    store_two_topics(&mut test_store, "a");
    let reply = topics(&test_store, "a", json!({})).expect("the topics are listed");
    assert_eq!(
        names_and_counts(&reply),
        [("deployment".to_owned(), 5), ("garden".to_owned(), 4)],
        "{reply:?}"
    );
    assert!(reply.topics[0].example.preview.starts_with("The deployment of a"));
    assert_eq!((reply.grouped, reply.without_vector), (9, 0));
    assert_eq!(topics(&test_store, "a", json!({})).expect("the topics are listed"), reply);
    let one = topics(&test_store, "a", json!({"count": 1})).expect("the topics are listed");
    assert_eq!(one.topics.len(), 1);
    let facts = topics(&test_store, "a", json!({"type": "semantic"})).expect("there are none");
    assert_eq!(facts, TopicsReply::default());
}

#[test]
fn topics_have_nothing_of_another_project() {
    let mut test_store = TestStore::new();
    store_two_topics(&mut test_store, "a");
    let reply = topics(&test_store, "b", json!({})).expect("the topics are listed");
    assert_eq!(reply, TopicsReply::default(), "group memories of another project");
    let alone = topics(&test_store, "a", json!({})).expect("the topics are listed");
    store_two_topics(&mut test_store, "b");
    assert_eq!(topics(&test_store, "a", json!({})).expect("the topics are listed"), alone);
    let shared = json!({"content": "Global garden rules", "type": "semantic"});
    test_store.store("b", shared, Some(&between_axes(1, 60, 0.9)));
    let with_global = topics(&test_store, "a", json!({})).expect("the topics are listed");
    assert_eq!(with_global.grouped, 10, "a global memory is visible");
    let own = topics(&test_store, "a", json!({"from_group": true})).expect("the topics are listed");
    assert_eq!(own.grouped, 9);
    let call = test_store.call("b", None);
    test_store.writer.set_isolated(&call, true, test_store.now).expect("the project is isolated");
    assert_eq!(topics(&test_store, "a", json!({})).expect("the topics are listed"), alone);
    let inside = topics(&test_store, "b", json!({})).expect("the topics are listed");
    assert!(inside.topics.iter().all(|topic| topic.example.preview != "of a"));
    assert_eq!(inside.grouped, 10, "its own");
}

#[test]
fn memories_without_a_vector_are_counted_and_in_no_topic() {
    let mut test_store = TestStore::new();
    test_store.store("a", json!({"content": "It waits", "type": "episodic"}), None);
    let reply = topics(&test_store, "a", json!({})).expect("the topics are listed");
    assert_eq!((reply.topics.len(), reply.grouped, reply.without_vector), (0, 0, 1));
    for count in [0, 51] {
        let error = refusal(topics(&test_store, "a", json!({"count": count})));
        assert!(error.starts_with("invalid: count"), "{error}");
    }
}

#[test]
fn results_of_a_recall_are_grouped_by_what_they_are_about() {
    let mut test_store = TestStore::new();
    store_two_topics(&mut test_store, "a");
    let query =
        |cluster: bool| json!({"query": "deployment garden", "max_results": 9, "cluster": cluster});
    let plain = test_store.recall("a", query(false), Some(&between_axes(0, 1, 0.8))).reply;
    assert!(plain.clusters.is_empty());
    let reply = test_store.recall("a", query(true), Some(&between_axes(0, 1, 0.8))).reply;
    assert_eq!(reply.results, plain.results);
    let grouped: usize = reply.clusters.iter().map(|cluster| cluster.ids.len()).sum();
    assert_eq!((grouped, reply.clusters.len()), (9, 2), "{:?}", reply.clusters);
    assert_eq!(reply.clusters[0].ids[0], reply.results[0].id, "that of the best comes first");
    let contents = |at: usize| -> Vec<&str> {
        let ids = &reply.clusters[at].ids;
        let found = reply.results.iter().filter(|result| ids.contains(&result.id));
        found.filter_map(|result| result.content.as_deref()).collect()
    };
    for (at, cluster) in reply.clusters.iter().enumerate() {
        let word = cluster.name.split(", ").next().expect("the group has a name");
        assert!(contents(at).iter().all(|text| text.contains(word)), "{word}: {:?}", contents(at));
    }
    let mut small = query(true);
    small["token_budget"] = json!(reply.token_estimate - 1);
    let small = test_store.recall("a", small, Some(&between_axes(0, 1, 0.8))).reply;
    assert!(small.clusters.is_empty() && small.results == reply.results, "no room is left");
    let nothing =
        test_store.recall("a", json!({"query": "zzz", "cluster": true}), Some(&axis(300)));
    assert!(nothing.reply.clusters.is_empty());
}
