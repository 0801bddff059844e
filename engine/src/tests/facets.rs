//! The counts beside a list: every facet agrees with the list that has its value as a filter.

use crate::tests::fixture::{TestStore, named, parse};
use loci_proto::requests::facets::{FacetCount, FacetsReply};
use serde_json::{Value, json};

fn facets(test_store: &TestStore, request: &Value) -> FacetsReply {
    let request = parse(request.clone());
    test_store.reader.facets(&request, &named("a"), test_store.now).expect("it counts")
}

fn listed(test_store: &TestStore, request: &Value) -> usize {
    let request = parse(request.clone());
    test_store.reader.list(&request, &named("a"), test_store.now).expect("it lists").total
}

fn pairs(counts: &[FacetCount]) -> Vec<(&str, usize)> {
    counts.iter().map(|count| (count.value.as_str(), count.count)).collect()
}

fn filled() -> TestStore {
    let mut test_store = TestStore::new();
    for (group, kind, text) in [
        ("a", "semantic", "Anna prefers tabs"),
        ("a", "semantic", "The port is 8080"),
        ("a", "episodic", "Moved to Postgres"),
        ("b", "semantic", "Berta prefers spaces"),
        ("b", "procedural", "Deploy with just ship"),
    ] {
        test_store.store(group, json!({"content": text, "type": kind}), None);
    }
    test_store
}

#[test]
fn each_facet_is_counted_without_its_own_filter() {
    let test_store = filled();
    let all = facets(&test_store, &json!({"all_groups": true}));
    assert_eq!(all.total, 5);
    assert_eq!(pairs(&all.kind), [("semantic", 3), ("episodic", 1), ("procedural", 1)]);
    assert_eq!(all.project.iter().map(|count| count.count).collect::<Vec<_>>(), [3, 2]);
    assert_eq!(pairs(&all.status), [("active", 5)]);

    let facts = facets(&test_store, &json!({"all_groups": true, "type": "semantic"}));
    assert_eq!(facts.total, 3);
    assert_eq!(facts.kind, all.kind);
    assert_eq!(facts.project.iter().map(|count| count.count).collect::<Vec<_>>(), [2, 1]);

    // Two filters that a memory does not pass: it is counted nowhere.
    let none = json!({"all_groups": true, "type": "entity", "status": "superseded"});
    let none = facets(&test_store, &none);
    assert_eq!((none.total, pairs(&none.kind), pairs(&none.status)), (0, vec![], vec![]));
}

#[test]
fn each_count_is_that_of_the_list_with_its_value() {
    let test_store = filled();
    let base = json!({"all_groups": true, "text": "prefers"});
    let counted = facets(&test_store, &base);
    let fields = [
        ("type", &counted.kind),
        ("trust", &counted.trust),
        ("status", &counted.status),
        ("client", &counted.client),
    ];
    for (field, counts) in fields {
        for count in counts.iter().filter(|count| !count.value.is_empty()) {
            let mut request = base.clone();
            request[field] = json!(count.value);
            assert_eq!(listed(&test_store, &request), count.count, "{field} {count:?}");
        }
    }
    for count in &counted.project {
        let mut request = base.clone();
        request["group"] = json!(count.value);
        request["from_group"] = json!(true);
        assert_eq!(listed(&test_store, &request), count.count, "{count:?}");
    }
    for month in &counted.month {
        let mut request = base.clone();
        request["date_from"] = json!(format!("{}-01", month.value));
        assert!(listed(&test_store, &request) >= month.count, "{month:?}");
    }
    assert_eq!(counted.total, 2);
}
