//! Lists of memories: filters, orders, pages, and partial ids.

use crate::model::time::DAY;
use crate::tests::fixture::{TestStore, named, parse};
use crate::transaction::access::{Accesses, Boosting};
use loci_proto::requests::find::FindRequest;
use loci_proto::requests::list::{ListOrder, ListedMemory};
use serde_json::{Value, json};

fn ids(test_store: &TestStore, request: Value) -> Vec<String> {
    let reply = test_store
        .reader
        .list(&parse(request), &named("a"), test_store.now)
        .expect("the memories are listed");
    reply.memories.into_iter().map(|memory| memory.id.to_string()).collect()
}

fn found(test_store: &TestStore, part: &str) -> Vec<(String, bool)> {
    let reply = test_store
        .reader
        .find(&FindRequest { part: part.to_owned() }, &named("a"), test_store.now)
        .expect("the search succeeds");
    reply.memories.into_iter().map(|found| (found.memory.id.to_string(), found.visible)).collect()
}

#[test]
fn a_partial_id_finds_memories_of_every_project_by_its_beginning_or_end() {
    let mut test_store = TestStore::new();
    let ours =
        test_store.store("a", json!({"content": "Ours", "type": "episodic"}), None).id.to_string();
    let theirs = test_store
        .store("b", json!({"content": "Theirs", "type": "episodic"}), None)
        .id
        .to_string();
    assert_eq!(found(&test_store, &ours), [(ours.clone(), true)]);
    assert_eq!(found(&test_store, &ours[28..].to_uppercase()), [(ours.clone(), true)]);
    assert_eq!(found(&test_store, &theirs[26..]), [(theirs.clone(), false)]);
    assert_eq!(found(&test_store, &ours[..4]), [(theirs, false), (ours, true)]);
    assert!(found(&test_store, "ffffffff").is_empty());
    for part in ["", "abc", "%%%%", "____", "zzzz", &"a".repeat(37)] {
        assert!(
            test_store
                .reader
                .find(&FindRequest { part: part.to_owned() }, &named("a"), test_store.now)
                .is_err(),
            "{part}"
        );
    }
}

#[test]
fn age_confidence_and_project_filter_the_list() {
    let mut test_store = TestStore::new();
    let sure =
        test_store.store("a", json!({"content": "Sure", "type": "semantic"}), None).id.to_string();
    let vague = test_store
        .store("b", json!({"content": "Vague", "type": "semantic", "confidence": 0.2}), None)
        .id
        .to_string();
    test_store.now = test_store.now.plus(10 * DAY);
    let new =
        test_store.store("a", json!({"content": "New", "type": "semantic"}), None).id.to_string();
    let none: [&str; 0] = [];
    assert_eq!(ids(&test_store, json!({})), [new.as_str(), &vague, &sure]);
    assert_eq!(ids(&test_store, json!({"older_than_seconds": 864_000})), [vague.as_str(), &sure]);
    assert_eq!(ids(&test_store, json!({"older_than_seconds": 864_001})), none);
    assert_eq!(ids(&test_store, json!({"confidence_below": 0.5})), [vague.as_str()]);
    assert_eq!(
        ids(&test_store, json!({"group": "b"})),
        [new.as_str(), &vague, &sure],
        "global memories are visible in every project"
    );
    assert_eq!(ids(&test_store, json!({"group": "b", "from_group": true})), [vague.as_str()]);
}

fn texts(test_store: &TestStore, request: Value) -> Vec<String> {
    let reply = test_store
        .reader
        .list(&parse(request), &named("a"), test_store.now)
        .expect("the memories are listed");
    reply.memories.into_iter().map(|memory| memory.preview).collect()
}

/// Stores three memories; the first is used twice, the second is the least sure.
fn dated() -> TestStore {
    let mut test_store = TestStore::new();
    let date = json!({"event_date": "2026-01-20"});
    for (content, confidence, metadata) in
        [("2026-01-10: one", 0.9, json!({})), ("two", 0.5, date), ("three", 1.0, json!({}))]
    {
        let arguments = json!({"content": content, "type": "semantic", "confidence": confidence, "metadata": metadata});
        test_store.store("a", arguments, None);
    }
    let used = [(1, Accesses::boosting(2)), (3, Accesses::boosting(1))].into_iter().collect();
    test_store
        .writer
        .touch(&used, test_store.now, Boosting::Off)
        .expect("the accesses are counted");
    test_store
}

#[test]
fn days_filter_the_list_and_the_order_is_chosen() {
    let test_store = dated();
    let (one, two, three) = ("2026-01-10: one", "two", "three");
    for (request, expected) in [
        (json!({"date_from": "2026-01-15"}), vec![three, two]),
        (json!({"date_to": "2026-01-20"}), vec![two, one]),
        (json!({"date_from": "2026-01-10", "date_to": "2026-01-10"}), vec![one]),
        (json!({"sort": "newest"}), vec![three, two, one]),
        (json!({"sort": "oldest"}), vec![one, two, three]),
        (json!({"sort": "day"}), vec![three, two, one]),
        (json!({"sort": "used"}), vec![one, three, two]),
        (json!({"sort": "confidence"}), vec![three, one, two]),
    ] {
        assert_eq!(texts(&test_store, request.clone()), expected, "{request}");
    }
    let listed =
        |request: Value| test_store.reader.list(&parse(request), &named("a"), test_store.now);
    let memories = listed(json!({})).expect("the memories are listed").memories;
    let days =
        |memory: &ListedMemory| (memory.event_date.clone(), memory.event_date_derived.clone());
    assert_eq!(
        memories.iter().map(days).collect::<Vec<_>>(),
        [(None, None), (Some("2026-01-20".into()), None), (None, Some("2026-01-10".into()))]
    );
    let refused = listed(json!({"date_from": "2026-02-02", "date_to": "2026-02-01"}));
    assert!(refused.is_err_and(|error| error.to_string().contains("date_from")));
}

#[test]
fn every_order_is_listed_page_by_page() {
    let test_store = dated();
    for (order, _) in ListOrder::ALL {
        let whole = texts(&test_store, json!({"sort": order}));
        let (mut paged, mut before) = (Vec::new(), None);
        loop {
            let request = parse(json!({"sort": order, "limit": 1, "before": before}));
            let page = test_store
                .reader
                .list(&request, &named("a"), test_store.now)
                .expect("the memories are listed");
            assert_eq!(page.total, 3);
            paged.extend(page.memories.into_iter().map(|memory| memory.preview));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(paged, whole, "{order}");
    }
    let request = parse(json!({"sort": "used", "before": 99}));
    let refused = test_store.reader.list(&request, &named("a"), test_store.now);
    assert!(refused.is_err_and(|error| error.to_string().contains("before")));
}

/// Imports candidates of these days, in this order.
fn import_days(test_store: &mut TestStore, days: &[u32]) {
    let mut lines =
        vec![json!({"loci": "export", "version": loci_proto::requests::export::FORMAT_VERSION})];
    lines.push(json!({"kind": "group", "id": "a", "name": "a", "created_at": 0}));
    for day in days {
        let at = i64::from(*day) * DAY;
        lines.push(json!({
            "kind": "memory", "id": format!("01953a2b-7c1e-7000-8000-0000000000{day:02}"), "type": "semantic", "scope": "group",
            "group": "a", "status": "candidate", "status_at": at, "confidence": 1.0, "confidence_at": at, "created_at": at,
            "updated_at": at, "metadata": {}, "content": format!("Day {day}"),
        }));
    }
    lines.push(json!({"kind": "end", "lines": lines.len()}));
    let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let call = test_store.call("a", None);
    test_store
        .writer
        .import(&call, &parse(json!({})), &mut std::io::Cursor::new(text))
        .expect("the file is imported");
}

#[test]
fn imported_memories_are_listed_by_their_own_times() {
    let mut test_store = TestStore::new();
    import_days(&mut test_store, &[17, 12, 15, 8, 18]);
    let newest = ["Day 18", "Day 17", "Day 15", "Day 12", "Day 8"];
    let candidates = json!({"status": "candidate"});
    assert_eq!(texts(&test_store, candidates.clone()), newest);
    for uncounted in [true, false] {
        let (mut paged, mut before) = (Vec::new(), None::<i64>);
        loop {
            let request = json!({"status": "candidate", "limit": 2, "before": before, "uncounted": uncounted});
            let page = test_store
                .reader
                .list(&parse(request), &named("a"), test_store.now)
                .expect("the memories are listed");
            paged.extend(page.memories.into_iter().map(|memory| memory.preview));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(paged, newest, "uncounted: {uncounted}");
    }
    let oldest = json!({"status": "candidate", "sort": "oldest"});
    assert_eq!(texts(&test_store, oldest), newest.iter().rev().copied().collect::<Vec<_>>());
}
