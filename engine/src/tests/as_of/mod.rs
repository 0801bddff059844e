//! The store as it was known at an earlier time.

mod random;

use crate::handles::reader::Reader;
use crate::model::encoding::TextEncodings;
use crate::model::time::Timestamp;
use crate::tests::fixture::{TestStore, named, parse};
use loci_proto::memory::{MemoryId, Origin};
use loci_proto::requests::export::ExportRequest;
use loci_proto::requests::import::ImportRequest;
use loci_proto::requests::list::ListRequest;
use serde_json::{Value, json};
use std::io::Cursor;

/// The lists of a store at a time: the texts that a project sees, sorted.
fn texts(reader: &Reader, group: &str, at: Timestamp) -> Vec<String> {
    let request: ListRequest = parse(json!({"text_chars": 1000, "limit": 1000}));
    let past = reader.at_time(at).expect("the past is read");
    let list = past.list(&request, &named(group), at).expect("it is listed");
    let mut texts: Vec<String> =
        list.memories.into_iter().filter_map(|memory| memory.content).collect();
    texts.sort();
    texts
}

fn store_fact(store: &mut TestStore, group: &str, text: &str) -> MemoryId {
    store.store(group, json!({"content": text, "type": "semantic", "scope": "group"}), None).id
}

#[test]
fn what_was_deleted_permanently_is_in_no_past_and_its_summary_is_taken_back() {
    let mut store = TestStore::new();
    let id = store_fact(&mut store, "a", "The gate code is 4711");
    let other = store_fact(&mut store, "a", "The gate is green");
    let before = store.now;
    store.now = store.now.plus(1000);
    store.forget("a", json!({"memory_id": other})).expect("it is forgotten");
    store.forget("a", json!({"memory_id": id, "hard_delete": true})).expect("it is deleted");
    assert_eq!(texts(&store.reader, "a", before), ["The gate is green"]);
}

#[test]
fn before_the_first_memory_nothing_was_known_and_the_reply_says_how_far_back_it_knows() {
    let mut store = TestStore::new();
    store.now = store.now.plus(1000);
    store_fact(&mut store, "a", "The gate is green");
    let request: ListRequest = parse(json!({"as_of": "2026-02-01T00:00:00Z"}));
    let list = store.reader.list(&request, &named("a"), store.now).expect("it is listed");
    let stamp = list.as_of.expect("it says the time");
    assert_eq!((list.total, stamp.note), (0, None));
    assert_eq!(stamp.history_from, "2026-02-01T00:00:00.000Z");
    let early: ListRequest = parse(json!({"as_of": "2025-01-01"}));
    let list = store.reader.list(&early, &named("a"), store.now).expect("it is listed");
    assert!(list.as_of.and_then(|stamp| stamp.note).is_some_and(|note| note.contains("partly")));
    let future: ListRequest = parse(json!({"as_of": "2027-01-01"}));
    let refused = store.reader.list(&future, &named("a"), store.now).expect_err("it is refused");
    assert!(refused.to_string().contains("as_of is in the future"), "{refused}");
}

#[test]
fn a_merged_project_counts_as_the_one_it_was_merged_into_and_undo_takes_that_back() {
    let mut store = TestStore::new();
    store_fact(&mut store, "old", "The gate is green");
    store_fact(&mut store, "new", "The gate is blue");
    let before = store.now;
    store.now = store.now.plus(1000);
    let call = store.call("new", None);
    let merge = parse(json!({"from": "old", "into": "new"}));
    store.writer.merge_groups(&call, &merge).expect("they are merged");
    assert_eq!(texts(&store.reader, "new", before), ["The gate is blue", "The gate is green"]);
    store.now = store.now.plus(1000);
    store.origin = Origin::Person;
    store.undo_last().expect("it is undone");
    assert_eq!(texts(&store.reader, "new", before), ["The gate is blue"]);
    assert_eq!(texts(&store.reader, "old", before), ["The gate is green"]);
    let merged = before.plus(1000);
    assert_eq!(texts(&store.reader, "new", merged), ["The gate is blue", "The gate is green"]);
}

#[test]
fn what_an_isolated_project_has_now_is_shown_to_no_other_also_not_as_it_was() {
    let mut store = TestStore::new();
    store.origin = Origin::Person;
    let id = store_fact(&mut store, "a", "The gate is green");
    let before = store.now;
    store.now = store.now.plus(1000);
    let call = store.call("a", None);
    let request = parse(json!({"memory_ids": [id], "to": "secret", "create": true}));
    store.writer.move_to(&call, &request).expect("it is moved");
    assert_eq!(texts(&store.reader, "a", before), ["The gate is green"]);
    store.writer.isolate_again(&["secret".to_owned()], store.now).expect("it is isolated");
    assert_eq!(texts(&store.reader, "a", before), Vec::<String>::new());
    assert_eq!(texts(&store.reader, "secret", before), ["The gate is green"]);
}

#[test]
fn of_a_clock_that_was_set_back_the_last_change_at_or_before_the_time_counts() {
    let mut store = TestStore::new();
    let start = store.now;
    let id = store_fact(&mut store, "a", "The gate is green");
    let edit = |store: &mut TestStore, at: i64, text: &str| {
        store.now = start.plus(at);
        let call = store.call("a", None);
        let request = parse(json!({"memory_id": id, "content": text}));
        store.writer.edit(&call, &request, &TextEncodings::default()).expect("it is edited");
    };
    edit(&mut store, 9000, "The gate is red");
    edit(&mut store, 2000, "The gate is blue");
    assert_eq!(texts(&store.reader, "a", start.plus(1000)), ["The gate is green"]);
    assert_eq!(texts(&store.reader, "a", start.plus(2000)), ["The gate is blue"]);
    assert_eq!(texts(&store.reader, "a", start.plus(9000)), ["The gate is blue"]);
}

#[test]
fn an_import_is_known_from_the_import_on_whatever_date_its_memories_have() {
    let mut other = TestStore::new();
    other.now = other.now.plus(-900_000_000);
    store_fact(&mut other, "a", "The gate is green");
    let mut file = Vec::new();
    other.reader.export(&ExportRequest::default(), &mut file).expect("it is exported");
    let mut store = TestStore::new();
    let before = store.now;
    store.now = store.now.plus(1000);
    let call = store.call("a", None);
    let imported = store.writer.import(&call, &ImportRequest::default(), &mut Cursor::new(file));
    imported.expect("it is imported");
    assert_eq!(texts(&store.reader, "a", before), Vec::<String>::new());
    assert_eq!(texts(&store.reader, "a", store.now), ["The gate is green"]);
}

#[test]
fn a_recall_finds_what_was_known_then_also_what_was_edited_or_forgotten_since() {
    let mut store = TestStore::new();
    let edited = store_fact(&mut store, "a", "The staging server is called heron");
    let forgotten = store_fact(&mut store, "a", "The staging server is behind the printer");
    store_fact(&mut store, "a", "The printer needs black toner");
    let before = store.now;
    store.now = store.now.plus(86_400_000);
    let call = store.call("a", None);
    let request = parse(json!({"memory_id": edited, "content": "The build host is called egret"}));
    store.writer.edit(&call, &request, &TextEncodings::default()).expect("it is edited");
    store.forget("a", json!({"memory_id": forgotten})).expect("it is forgotten");
    store_fact(&mut store, "a", "The staging server was sold");
    let request = json!({"query": "staging server", "as_of": before.iso()});
    let reply = store.recall("a", request, None).reply;
    let mut found: Vec<&str> =
        reply.results.iter().filter_map(|result| result.content.as_deref()).collect();
    found.sort_unstable();
    let known = ["The staging server is behind the printer", "The staging server is called heron"];
    assert_eq!(found, known);
    assert_eq!(reply.as_of.map(|stamp| stamp.at), Some(before.iso()));
    let shown = store.recall("a", json!({"ids": [edited], "as_of": before.iso()}), None).reply;
    let text = shown.results[0].content.as_deref();
    assert_eq!(text, Some("The staging server is called heron"));
}

#[test]
fn without_a_change_a_recall_of_the_past_ranks_as_any_recall() {
    let mut store = TestStore::new();
    for number in 0..30 {
        let text = format!("Server {number} of the shop is behind printer {}", number * 7 % 11);
        store_fact(&mut store, "a", &text);
    }
    let query = json!({"query": "server of the shop printer 3", "max_results": 20});
    let now = store.found("a", query.clone(), None);
    let mut past = query;
    past["as_of"] = json!(store.now.iso());
    store.now = store.now.plus(1000);
    store_fact(&mut store, "b", "Another server of another shop");
    assert_eq!(store.found("a", past, None), now);
}

#[test]
fn a_diff_lists_each_changed_memory_once_with_what_became_of_it() {
    let mut store = TestStore::new();
    let ids: Vec<MemoryId> = ["green", "red", "blue", "white"]
        .iter()
        .map(|colour| store_fact(&mut store, "a", &format!("The gate is {colour}")))
        .collect();
    let since = store.now.plus(1);
    store.now = store.now.plus(5000);
    let call = store.call("a", None);
    let edit = |store: &mut TestStore, text: &str| {
        let request = parse(json!({"memory_id": ids[0], "content": text}));
        store.writer.edit(&call, &request, &TextEncodings::default()).expect("it is edited");
    };
    edit(&mut store, "The gate is teal");
    store.forget("a", json!({"memory_id": ids[1], "reason": "wrong"})).expect("it is forgotten");
    let new = json!({"content": "The gate was sold", "type": "semantic", "supersedes": ids[2]});
    store.store("a", new, None);
    store.forget("a", json!({"memory_id": ids[3]})).expect("it is forgotten");
    let request = parse(json!({"memory_id": ids[3]}));
    store.writer.restore(&call, &request).expect("it is restored");
    let diff = |arguments: Value| {
        let group = named("a");
        let reply = store.reader.diff(&parse(arguments), (&group).into(), store.now);
        reply.expect("the changes are listed")
    };
    let reply = diff(json!({"since": since.iso()}));
    let mut found: Vec<(&str, &str, Option<&str>)> = reply
        .changes
        .iter()
        .map(|change| (change.change.as_str(), change.text.as_str(), change.before.as_deref()))
        .collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("changed", "The gate is teal", Some("The gate is green")),
            ("forgotten", "The gate is red", None),
            ("new", "The gate was sold", None),
            ("superseded", "The gate is blue", None),
        ]
    );
    assert!(reply.changes.iter().all(|change| change.client.as_deref() == Some("test")));
    assert_eq!(diff(json!({"since": since.iso(), "until": since.iso()})).total, 0);
    assert_eq!(diff(json!({"since": "1h", "limit": 2})).changes.len(), 2);
}

#[test]
fn a_fact_that_is_over_comes_last_and_says_so_and_at_its_time_it_does_not() {
    let mut store = TestStore::new();
    let facts = [
        json!({"content": "The office of the shop is in Ghent", "type": "semantic", "valid_to": "2025-12-31"}),
        json!({"content": "The office of the shop, since the move of the shop, is in Bruges", "type": "semantic", "valid_from": "2026-01-01"}),
    ];
    for fact in facts {
        store.store("a", fact, None);
    }
    let found = |arguments: Value| {
        let reply = store.recall("a", arguments, None).reply;
        let results = reply.results.into_iter();
        results
            .map(|result| (result.content.unwrap_or_default(), result.outdated))
            .collect::<Vec<_>>()
    };
    let now = found(json!({"query": "office of the shop in Ghent"}));
    assert!(now[0].0.contains("Bruges") && now[0].1.is_none(), "{now:?}");
    assert_eq!(now[1].1.as_deref(), Some("valid until 2025-12-31"));
    let then = found(json!({"query": "office of the shop in Ghent", "valid_at": "2025-06-01"}));
    assert!(then[0].0.contains("Ghent") && then[0].1.is_none(), "{then:?}");
    assert_eq!(then[1].1.as_deref(), Some("valid from 2026-01-01"));
}

#[test]
fn the_inbox_lists_pairs_and_candidates_of_the_project_within_its_budget() {
    let mut store = TestStore::new();
    let empty = store.reader.inbox(None, &named("a"), store.now).expect("the page is made");
    assert!(empty.text.ends_with("Nothing to review.\n"), "{}", empty.text);
    for (number, name) in ["heron", "egret"].iter().enumerate() {
        let text = format!("The staging server is called {name}");
        let vector = crate::tests::fixture::between_axes(1, 2 + number, 0.97);
        let fact = json!({"content": text, "type": "semantic", "scope": "group"});
        store.store("a", fact, Some(&vector));
    }
    let page = store.reader.inbox(None, &named("a"), store.now).expect("the page is made");
    assert!(page.text.contains("heron") && page.text.contains("supersedes"), "{}", page.text);
    assert_eq!(page.shown.len(), 2);
    let other = store.reader.inbox(None, &named("b"), store.now).expect("the page is made");
    assert!(!other.text.contains("heron"), "{}", other.text);
}
