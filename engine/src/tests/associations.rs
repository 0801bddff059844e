//! Associations of a recall, and walks along them.

use crate::model::time::DAY;
use crate::tests::fixture::{TestStore, axis, between_axes, named, parse};
use crate::tests::graph::refusal;
use loci_proto::memory::MemoryId;
use loci_proto::requests::association::{Association, AssociationLink};
use loci_proto::requests::wander::WanderReply;
use serde_json::{Value, json};

/// The result of [`query`]: it is near the query, and a little like what is stored with
/// [`store_related`].
const RESULT: &str = "The kettle is in the kitchen";

fn store_result(test_store: &mut TestStore) -> MemoryId {
    let arguments = json!({"content": RESULT, "type": "episodic"});
    test_store.store("a", arguments, Some(&between_axes(0, 1, 0.9))).id
}

/// Stores a text whose cosine to the result is 0.3, and to the query 0.
fn store_related(test_store: &mut TestStore, text: &str, number: usize) -> MemoryId {
    let arguments = json!({"content": text, "type": "episodic"});
    test_store.store("a", arguments, Some(&between_axes(1, 20 + number, 0.7))).id
}

/// Stores texts that have nothing to do with anything, a day each.
fn store_unrelated(test_store: &mut TestStore, count: usize) {
    for number in 0..count {
        test_store.now = test_store.now.plus(DAY);
        let arguments = json!({"content": format!("Remark {number}"), "type": "episodic"});
        test_store.store("a", arguments, Some(&axis(100 + number)));
    }
    test_store.now = test_store.now.plus(DAY);
}

fn query() -> Value {
    json!({"query": "Where is the kettle?", "max_results": 1, "associations": true})
}

fn associations(test_store: &TestStore) -> Vec<Association> {
    test_store.recall("a", query(), Some(&axis(0))).reply.associations
}

#[test]
fn memories_of_the_same_day_and_neighbours_are_associations_if_they_are_related() {
    let mut test_store = TestStore::new();
    let by_day = store_related(&mut test_store, "Olga has baked bread", 1);
    store_unrelated(&mut test_store, 3);
    let result = store_result(&mut test_store);
    test_store.now = test_store.now.plus(DAY);
    let neighbour = store_related(&mut test_store, "The window has been repaired", 2);
    store_unrelated(&mut test_store, 3);
    let found = associations(&test_store);
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (&only.id, only.why, &only.from, only.preview.as_str()),
        (&neighbour, AssociationLink::Adjacent, &result, "The window has been repaired")
    );
    // A second memory of the result's day: the first one is of another.
    let on_day = json!({"content": "Kilo of flour bought", "type": "episodic", "metadata": {"event_date": "2026-02-05"}});
    let on_day = test_store.store("a", on_day, Some(&between_axes(1, 40, 0.6))).id;
    let found = associations(&test_store);
    let dated = found.iter().find(|found| found.why == AssociationLink::Time).expect("it is found");
    assert_eq!((&dated.id, dated.day.as_deref()), (&on_day, Some("2026-02-05")));
    assert!(found.iter().all(|found| found.id != by_day), "it is of another day: {found:?}");
    assert_eq!(associations(&test_store), found, "the same again");
}

/// Stores that Anna reports to Piotr, who has moved, and one result about Anna.
fn store_moves(test_store: &mut TestStore) -> MemoryId {
    let entity = |test_store: &mut TestStore, name: &str, number: usize| {
        let arguments = json!({"content": format!("{name} is somebody"), "type": "entity", "scope": "group", "metadata": {"name": name}});
        test_store.store("a", arguments, Some(&axis(number))).id
    };
    let (anna, piotr) = (entity(test_store, "Anna", 50), entity(test_store, "Piotr", 51));
    let moved =
        json!({"content": "Piotr has moved to Gdynia", "type": "semantic", "scope": "group"});
    let moved = test_store.store("a", moved, Some(&axis(52))).id;
    let relation = json!({"subject_id": anna, "predicate": "reports_to", "object_id": piotr});
    test_store.relate("a", relation).expect("the relation is stored");
    store_unrelated(test_store, 3);
    let text = "The kettle belongs to Anna";
    let arguments = json!({"content": text, "type": "episodic"});
    test_store.store("a", arguments, Some(&axis(0)));
    moved
}

#[test]
fn a_walk_over_relations_says_by_which_entities() {
    let mut test_store = TestStore::new();
    let moved = store_moves(&mut test_store);
    let found = associations(&test_store);
    let found = found.iter().find(|found| found.id == moved).expect("the memory is linked");
    assert_eq!(
        (found.why, found.via.as_slice()),
        (AssociationLink::Graph, &["Anna".to_owned(), "Piotr".to_owned()][..])
    );
    assert!((found.score - 0.7).abs() < 1e-3, "{}", found.score);
}

#[test]
fn without_the_argument_a_reply_has_no_associations_and_the_same_results() {
    let mut test_store = TestStore::new();
    store_moves(&mut test_store);
    let with = test_store.recall("a", query(), Some(&axis(0)));
    let plain = json!({"query": "Where is the kettle?", "max_results": 1});
    let plain = test_store.recall("a", plain, Some(&axis(0)));
    assert!(plain.reply.associations.is_empty() && !with.reply.associations.is_empty());
    assert_eq!((&plain.reply.results, &plain.accessed), (&with.reply.results, &with.accessed));
    assert_eq!(with.shown.len(), 1 + with.reply.associations.len(), "they count as shown");
    let written = serde_json::to_string(&plain.reply).expect("the reply is serialised");
    assert!(!written.contains("associations"), "{written}");
}

#[test]
fn associations_begin_also_at_memories_shown_by_id_and_pass_the_filters_of_a_search() {
    let mut test_store = TestStore::new();
    let moved = store_moves(&mut test_store);
    let ids = json!({"ids": [moved], "associations": true});
    let found = test_store.recall("a", ids, None).reply.associations;
    assert!(found.iter().all(|found| found.from == moved) && !found.is_empty(), "{found:?}");
    let episodic =
        json!({"query": "kettle", "max_results": 1, "associations": true, "type": "episodic"});
    let found = test_store.recall("a", episodic, Some(&axis(0))).reply.associations;
    assert!(found.iter().all(|found| found.id != moved), "{found:?}");
}

#[test]
fn associations_take_the_room_that_the_results_leave() {
    let mut test_store = TestStore::new();
    store_moves(&mut test_store);
    let mut request = query();
    let whole = test_store.recall("a", request.clone(), Some(&axis(0))).reply;
    request["token_budget"] = json!(whole.token_estimate - 1);
    let tight = test_store.recall("a", request, Some(&axis(0))).reply;
    assert_eq!(tight.results, whole.results);
    assert_eq!(tight.associations.len() + 1, whole.associations.len());
    assert!(tight.token_estimate < whole.token_estimate);
}

#[test]
fn another_projects_memories_are_neither_associations_nor_on_the_way_to_one() {
    let mut test_store = TestStore::new();
    let moved = store_moves(&mut test_store);
    let result = json!({"content": "Anna has the kettle", "type": "episodic"});
    test_store.store("b", result, Some(&axis(0)));
    let seen = test_store.recall("b", query(), Some(&axis(0))).reply;
    assert_eq!((seen.results.len(), seen.associations.len()), (1, 0), "{seen:?}");
    let walk = |test_store: &TestStore, arguments: Value| {
        test_store.reader.wander(&parse(arguments), (&named("b")).into(), test_store.now)
    };
    let error = refusal(walk(&test_store, json!({"start": moved})));
    assert!(error.starts_with("not_found: start"), "{error}");
    let own = walk(&test_store, json!({})).expect("the walk is answered");
    assert_eq!(own.start.map(|start| start.preview), Some("Anna has the kettle".to_owned()));
}

#[test]
fn an_association_of_an_earlier_time_is_refused() {
    let request = json!({"query": "kettle", "associations": true, "as_of": "2026-01-01"});
    let error = crate::operations::recall::prepare(parse(request), crate::tests::fixture::T0);
    assert!(refusal(error).starts_with("invalid: associations"));
}

fn wander(test_store: &TestStore, arguments: Value) -> WanderReply {
    let walk = test_store.reader.wander(&parse(arguments), (&named("a")).into(), test_store.now);
    walk.expect("the walk is answered")
}

#[test]
fn a_walk_goes_on_from_each_memory_and_never_back() {
    let mut test_store = TestStore::new();
    let moved = store_moves(&mut test_store);
    let walk = wander(&test_store, json!({"start": moved, "steps": 20}));
    let start = walk.start.expect("the walk has a start").id;
    assert_eq!(start, moved);
    let mut at = start;
    let mut visited = vec![at.clone()];
    for step in &walk.steps {
        assert_eq!(step.from, at);
        at = step.id.clone();
        assert!(!visited.contains(&at), "{walk:?}", walk = walk.steps);
        visited.push(at.clone());
    }
    assert!(walk.steps.len() >= 2, "{:?}", walk.steps);
    assert_eq!(wander(&test_store, json!({"start": moved, "steps": 1})).steps.len(), 1);
}

#[test]
fn the_date_chooses_where_a_walk_begins() {
    let mut test_store = TestStore::new();
    assert_eq!(wander(&test_store, json!({})), WanderReply::default(), "an empty store");
    store_moves(&mut test_store);
    let starts: Vec<WanderReply> = (10..28)
        .map(|day| wander(&test_store, json!({"date": format!("2026-03-{day}")})))
        .collect();
    assert!(starts.iter().all(|walk| !walk.steps.is_empty()), "a start leads on");
    assert!(starts.iter().any(|walk| walk.start != starts[0].start));
    assert_eq!(wander(&test_store, json!({"date": "2026-03-10"})), starts[0], "the same again");
    let today = test_store.now.date();
    assert_eq!(wander(&test_store, json!({"date": today})), wander(&test_store, json!({})));
}

#[test]
fn an_invalid_walk_is_refused_with_its_field() {
    let test_store = TestStore::new();
    for (arguments, field) in [
        (json!({"steps": 0}), "invalid: steps"),
        (json!({"steps": 21}), "invalid: steps"),
        (json!({"date": "soon"}), "invalid: date"),
        (json!({"start": "01953a2b-7c1e-7000-8000-0123456789ab"}), "not_found: start"),
    ] {
        let walk =
            test_store.reader.wander(&parse(arguments), (&named("a")).into(), test_store.now);
        let error = refusal(walk);
        assert!(error.starts_with(field), "{error}");
    }
}
