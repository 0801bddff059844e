//! Entities, their relations and mentions; forgetting; versions: as a caller sees them.

use crate::db::dump;
use crate::model::encoding::DocumentEncoding;
use crate::model::time::DAY;
use crate::tests::fixture::{TestStore, axis, named, parse};
use loci_proto::memory::MemoryId;
use serde_json::{Value, json};

fn entity(test_store: &mut TestStore, group: &str, name: &str, aliases: &[&str]) -> MemoryId {
    let content = format!("{name} is somebody");
    let arguments = json!({"content": content, "type": "entity", "metadata": {"name": name, "aliases": aliases}});
    test_store.store(group, arguments, None).id
}

fn refused<T: std::fmt::Debug>(outcome: crate::error::Result<T>) -> String {
    outcome.expect_err("is refused").to_string()
}

#[test]
fn a_repeated_relation_stays_one_triple() {
    let mut test_store = TestStore::new();
    let (anna, acme) =
        (entity(&mut test_store, "a", "Anna", &[]), entity(&mut test_store, "a", "Acme", &[]));
    let said = test_store
        .store(
            "a",
            json!({"content": "Anna told me that she works at Acme", "type": "episodic"}),
            None,
        )
        .id;
    let triple = json!({"subject_id": anna, "predicate": " works_at ", "object_id": acme});
    let first = test_store.relate("a", triple.clone()).expect("is made");
    let again = test_store.relate("a", triple).expect("is known");
    assert!(first.created && !again.created && first.id == again.id && again.act.is_none());
    let more = json!({"subject_id": anna, "predicate": "works_at", "object_id": acme, "evidence": [said], "confidence": 0.8});
    assert!(!test_store.relate("a", more).expect("is added to").created);
    let shown = test_store.inspect("a", json!({"memory_id": anna})).expect("is shown");
    let [relation] = shown.relations.as_slice() else { panic!("{:?}", shown.relations) };
    assert_eq!(
        (relation.predicate.as_str(), relation.evidence.as_slice()),
        ("works_at", &[said][..])
    );
    assert_eq!(relation.object.as_ref().map(|o| o.preview.as_str()), Some("Acme is somebody"));
    let other = test_store.inspect("a", json!({"memory_id": acme})).expect("is shown");
    assert_eq!(other.relations[0].subject.as_ref().map(|s| s.id.clone()), Some(anna));
}

#[test]
fn an_invalid_relation_is_refused_with_its_field() {
    let mut test_store = TestStore::new();
    let (anna, ben) =
        (entity(&mut test_store, "a", "Anna", &[]), entity(&mut test_store, "a", "Ben", &[]));
    let fact = test_store.store("a", json!({"content": "Tea is hot", "type": "semantic"}), None).id;
    let hidden = test_store
        .store("b", json!({"content": "Carl is of b", "type": "entity", "scope": "group"}), None)
        .id;
    let triple = |s: &MemoryId, p: &str, o: &MemoryId| json!({"subject_id": s, "predicate": p, "object_id": o});
    for (arguments, expected) in [
        (triple(&anna, "knows", &anna), "object_id is the subject itself"),
        (triple(&anna, "knows", &fact), "object_id names a memory of type semantic, not an entity"),
        (triple(&hidden, "knows", &anna), "not_found: subject_id"),
        (triple(&anna, "  ", &ben), "predicate is empty"),
        (triple(&anna, &"x".repeat(65), &ben), "predicate has 65 characters"),
        (triple(&anna, "a\nb", &ben), "predicate contains a control character"),
    ] {
        let said = refused(test_store.relate("a", arguments));
        assert!(said.contains(expected), "{said}");
    }
    test_store.forget("a", json!({"memory_id": ben})).expect("is forgotten");
    assert!(
        refused(test_store.relate("a", triple(&anna, "knows", &ben)))
            .contains("object_id names an entity that is forgotten")
    );
}

#[test]
fn a_forgotten_entity_hides_its_relations_until_it_is_restored() {
    let mut test_store = TestStore::new();
    let (anna, acme) =
        (entity(&mut test_store, "a", "Anna", &[]), entity(&mut test_store, "a", "Acme", &[]));
    test_store
        .relate("a", json!({"subject_id": anna, "predicate": "works_at", "object_id": acme}))
        .expect("is made");
    let relations = |test_store: &TestStore| {
        let answer = test_store.recall("a", json!({"query": "Anna"}), None).reply;
        answer.results.iter().find(|r| r.id == anna).map(|r| r.relations.len()).expect("is found")
    };
    assert_eq!(relations(&test_store), 1);
    test_store.forget("a", json!({"memory_id": acme})).expect("is forgotten");
    assert_eq!(relations(&test_store), 0, "B18: a forgotten end leaves no ghost");
    assert!(
        test_store.inspect("a", json!({"memory_id": anna})).expect("is shown").relations.is_empty()
    );
    test_store
        .writer
        .restore(&test_store.call("a", None), &parse(json!({"memory_id": acme})))
        .expect("is back");
    assert_eq!(relations(&test_store), 1);
}

#[test]
fn an_entity_is_found_by_an_alias_that_is_not_in_its_text() {
    let mut test_store = TestStore::new();
    let john = json!({"content": "The engineering manager of the platform team", "type": "entity", "metadata": {"name": "John Smith", "aliases": ["JS"]}});
    let john = test_store.store("a", john, None).id;
    test_store.store(
        "a",
        json!({"content": "A JSON file holds the settings", "type": "semantic"}),
        None,
    );
    for query in ["Who is JS?", "john smith", "what does John Smith do"] {
        let answer = test_store.recall("a", json!({"query": query}), None).reply;
        assert_eq!(answer.results.first().map(|r| r.id.clone()), Some(john.clone()), "{query}");
    }
    assert!(test_store.recall("a", json!({"query": "j s"}), None).reply.results.is_empty());
}

#[test]
fn mentions_are_found_in_either_order_of_storing() {
    let mut test_store = TestStore::new();
    let before = test_store
        .store("a", json!({"content": "Met Maria Lopez at the fair", "type": "episodic"}), None)
        .id;
    let maria = entity(&mut test_store, "a", "Maria Lopez", &["ML"]);
    let after = test_store
        .store("a", json!({"content": "ML called about the order", "type": "episodic"}), None)
        .id;
    test_store.store(
        "a",
        json!({"content": "Maria called, and Lopez too", "type": "episodic"}),
        None,
    );
    let elsewhere = test_store
        .store("b", json!({"content": "ML is machine learning here", "type": "episodic"}), None)
        .id;
    let shown = test_store.inspect("a", json!({"memory_id": maria})).expect("is shown");
    let mentioned: Vec<&MemoryId> = shown.mentioned_in.iter().map(|m| &m.id).collect();
    assert_eq!(mentioned, [&after, &before], "and nothing of group b");
    let named_there =
        test_store.inspect("b", json!({"memory_id": elsewhere})).expect("is shown").mentions;
    assert_eq!(
        named_there.iter().map(|m| &m.id).collect::<Vec<_>>(),
        [&maria],
        "a global entity is named in every group"
    );
    assert_eq!(
        test_store.inspect("a", json!({"memory_id": before})).expect("is shown").mentions[0].id,
        maria
    );
}

#[test]
fn a_forgotten_memory_is_hidden_logged_and_restored() {
    let mut test_store = TestStore::new();
    let id = test_store
        .store(
            "a",
            json!({"content": "The door code is 4711", "type": "semantic", "scope": "group"}),
            Some(&axis(0)),
        )
        .id;
    assert!(
        refused(test_store.forget("b", json!({"memory_id": id}))).starts_with("not_found"),
        "case 28"
    );
    let first = test_store
        .forget("a", json!({"memory_id": id, "reason": "changed"}))
        .expect("is forgotten");
    assert!(!first.already_forgotten && first.act.is_some());
    assert!(
        test_store.forget("a", json!({"memory_id": id})).expect("is no fault").already_forgotten,
        "case 26"
    );
    assert!(test_store.found("a", json!({"query": "door code"}), Some(&axis(0))).is_empty());
    assert_eq!(
        test_store.recall("a", json!({"ids": [id]}), None).reply.missing,
        std::slice::from_ref(&id),
        "case 25"
    );
    let shown =
        test_store.inspect("a", json!({"memory_id": id, "include_log": true})).expect("is shown");
    assert_eq!(
        (shown.memory.status.as_str(), shown.memory.forgotten_reason.as_deref()),
        ("forgotten", Some("changed"))
    );
    assert_eq!(
        shown.memory.superseded_by.as_deref(),
        Some("forgotten"),
        "B17: the word in answers alone"
    );
    assert_eq!(shown.log[0].operation, "forget");
    assert_eq!(
        (
            shown.log[0].client.as_deref(),
            shown.log[0].session.as_deref(),
            shown.log[0].group.as_deref()
        ),
        (Some("test"), Some("s1"), Some("a"))
    );
    let back = test_store
        .writer
        .restore(&test_store.call("a", None), &parse(json!({"memory_id": id})))
        .expect("is back");
    assert_eq!((back.status.as_str(), back.was.as_str()), ("active", "forgotten"));
    assert_eq!(
        test_store.found("a", json!({"query": "door code"}), Some(&axis(0))),
        ["The door code is 4711"]
    );
}

#[test]
fn a_repeated_forget_gets_the_first_answer() {
    let mut test_store = TestStore::new();
    let id =
        test_store.store("a", json!({"content": "Said in passing", "type": "semantic"}), None).id;
    let request = parse(json!({"memory_id": id}));
    let call = test_store.call("a", Some("session:7"));
    let first = test_store.writer.forget(&call, &request).expect("is forgotten");
    let again = test_store.writer.forget(&call, &request).expect("is answered");
    assert_eq!(first, again);
    assert!(!again.already_forgotten);
    assert_eq!(test_store.reader.history(&parse(json!({}))).expect("is read").acts.len(), 1);
}

#[test]
fn a_hard_deleted_text_is_in_no_file_of_the_database() {
    let mut test_store = TestStore::new();
    let secret = "Xylophonquarz";
    let call = test_store.call("a", Some("s:1"));
    let draft = crate::operations::store::Draft::new(parse(
        json!({"content": format!("The word is {secret}"), "type": "entity", "metadata": {"name": secret}}),
    ))
    .expect("is one");
    let id = test_store
        .writer
        .store(&call, &draft, &DocumentEncoding::from(vec![axis(0)]))
        .expect("is stored")
        .id;
    let other = entity(&mut test_store, "a", "Anna", &[]);
    test_store
        .relate("a", json!({"subject_id": id, "predicate": "knows", "object_id": other}))
        .expect("is made");
    let edit = json!({"memory_id": id, "content": format!("The word was {secret}")});
    test_store
        .writer
        .edit(&test_store.call("a", None), &parse(edit), &DocumentEncoding::default())
        .expect("is edited");
    test_store
        .forget("a", json!({"memory_id": id, "reason": format!("{secret} is out")}))
        .expect("is put aside");
    let path = test_store.folder.path().join("memory.db");
    assert!(dump::holds(&path, secret), "or the search finds nothing anyway");

    let gone =
        test_store.forget("a", json!({"memory_id": id, "hard_delete": true})).expect("is erased");
    assert_eq!(gone.status, "deleted");
    assert!(!dump::holds(&path, secret), "neither in the file nor in its log");
    assert!(!dump::holds(&path, &secret.to_lowercase()), "nor in the index of words");
    assert!(refused(test_store.inspect("a", json!({"memory_id": id}))).starts_with("not_found"));
    assert!(
        test_store
            .inspect("a", json!({"memory_id": other}))
            .expect("is shown")
            .relations
            .is_empty()
    );
    assert!(
        test_store
            .forget("a", json!({"memory_id": id, "hard_delete": true}))
            .expect("is no fault")
            .already_forgotten
    );
    assert!(
        test_store
            .recall("a", json!({"query": secret}), Some(&axis(0)))
            .reply
            .results
            .iter()
            .all(|r| r.id != id)
    );
    let acts = test_store.reader.history(&parse(json!({}))).expect("is read").acts;
    assert!(acts.iter().all(|act| act.act != "edit"), "{acts:?}");
}

#[test]
fn a_reader_only_delays_the_erasure_of_a_hard_delete() {
    let mut test_store = TestStore::new();
    let secret = "Xylophonquarz";
    let id = test_store
        .store("a", json!({"content": format!("The word is {secret}"), "type": "semantic"}), None)
        .id;
    let path = test_store.folder.path().join("memory.db");
    let reading = test_store.writer.reader().expect("opens");
    let long = crate::db::export_rows::snapshot(&reading.conn).expect("begins");
    assert_eq!(crate::db::stats::active(&long).expect("reads"), 1);
    test_store.forget("a", json!({"memory_id": id, "hard_delete": true})).expect("is erased");
    assert!(dump::holds(&path, secret), "the export that began before it still reads it");
    assert!(test_store.writer.checkpoint().expect("tries") > 0, "so that the daemon tries again");
    drop(long);
    assert_eq!(test_store.writer.checkpoint().expect("gets through"), 0);
    assert!(!dump::holds(&path, secret));
}

#[test]
fn every_version_shows_the_whole_chain() {
    let mut test_store = TestStore::new();
    let fact = |text: &str, old: Option<&MemoryId>| json!({"content": text, "type": "semantic", "supersedes": old});
    let first = test_store.store("a", fact("The limit is 100", None), None).id;
    let second = test_store.store("a", fact("The limit is 200", Some(&first)), None).id;
    let third = test_store.store("a", fact("The limit is 300", Some(&second)), None).id;
    for (id, number) in [(&first, 1), (&second, 2), (&third, 3)] {
        let versions = test_store
            .inspect("a", json!({"memory_id": id}))
            .expect("is shown")
            .versions
            .expect("has versions");
        assert_eq!((&versions.root, versions.version, versions.chain.len()), (&first, number, 3));
        assert_eq!(
            versions.chain.iter().map(|v| &v.id).collect::<Vec<_>>(),
            [&first, &second, &third]
        );
    }
}

#[test]
fn the_log_comes_in_pages() {
    let mut test_store = TestStore::new();
    let id = test_store.store("a", json!({"content": "Said often", "type": "semantic"}), None).id;
    for _ in 0..120 {
        test_store.store("a", json!({"content": "Said often", "type": "semantic"}), None);
    }
    let (mut seen, mut before) = (Vec::new(), Value::Null);
    loop {
        let page = test_store
            .inspect("a", json!({"memory_id": id, "include_log": true, "log_before": before}))
            .expect("is shown");
        assert!(page.log.len() <= 50);
        seen.extend(page.log.iter().map(|line| line.id));
        match page.log_next {
            Some(next) => before = json!(next),
            None => break,
        }
    }
    assert_eq!(seen.len(), 121, "case 31");
    assert!(seen.windows(2).all(|pair| pair[0] > pair[1]));
}

#[test]
fn an_expired_memory_is_not_found() {
    let mut test_store = TestStore::new();
    let short = test_store.store(
        "a",
        json!({"content": "The token holds for an hour", "type": "semantic", "ttl_seconds": 3600}),
        None,
    );
    assert_eq!(short.expires_at.as_deref(), Some("2026-02-01T01:00:00.000Z"));
    test_store.store("a", json!({"content": "The offer holds in February", "type": "semantic", "expires_at": "2026-02-28"}), None);
    assert_eq!(test_store.found("a", json!({"query": "holds"}), None).len(), 2);
    test_store.now = test_store.now.plus(DAY);
    assert_eq!(
        test_store.found("a", json!({"query": "holds"}), None),
        ["The offer holds in February"]
    );
    test_store.now = test_store.now.plus(27 * DAY);
    assert!(
        test_store.found("a", json!({"query": "holds"}), None).is_empty(),
        "the last day is over"
    );
    let both =
        json!({"content": "x y", "type": "semantic", "expires_at": "2027-01-01", "ttl_seconds": 5});
    assert!(refused(test_store.try_store("a", both, None)).contains("ttl_seconds"));
    let past = json!({"content": "x y", "type": "semantic", "expires_at": "2020-01-01"});
    assert!(refused(test_store.try_store("a", past, None)).contains("expires_at is in the past"));
}

#[test]
fn a_brief_fits_its_token_budget() {
    let mut test_store = TestStore::new();
    let pinned = test_store
        .store("a", json!({"content": "Never deploy on Fridays", "type": "procedural"}), None)
        .id;
    test_store
        .writer
        .pin(&test_store.call("a", None), &parse(json!({"memory_id": pinned, "pinned": true})))
        .expect("is pinned");
    for n in 0..30 {
        test_store.store(
            "a",
            json!({"content": format!("Event number {n} of the project"), "type": "episodic"}),
            None,
        );
    }
    test_store.store(
        "b",
        json!({"content": "A secret of b", "type": "semantic", "scope": "group"}),
        None,
    );
    let brief = test_store.reader.brief(None, &named("a"), test_store.now).expect("is told");
    let (first, events) = (
        brief.find("Never deploy").expect("is told"),
        brief.find("Event number 29").expect("is told"),
    );
    assert!(first < events && !brief.contains("secret") && !brief.contains("Event number 5 "));
    assert!(brief.starts_with("# Memories of a\n\n31 memories.\n"), "{brief}");
}

/// Where people live, in a project of some others, and who leads whom.
fn village(test_store: &mut TestStore) -> (MemoryId, MemoryId) {
    let (anna, piotr) =
        (entity(test_store, "a", "Anna", &["Ania"]), entity(test_store, "a", "Piotr", &[]));
    for (number, name) in ["Olga", "Piotr", "Jonas", "Mei"].iter().enumerate() {
        let text = format!("{name} has moved to house {number}");
        test_store.store_coded(
            "a",
            json!({"content": text, "type": "semantic"}),
            &crate::tests::fixture::coded(
                &text,
                crate::tests::fixture::leaning(0, 5 + number, 0.6),
            ),
        );
    }
    test_store
        .relate("a", json!({"subject_id": anna, "predicate": "reports_to", "object_id": piotr}))
        .expect("is made");
    (anna, piotr)
}

/// The contents found, best first, by words and meaning alike.
fn moved(test_store: &TestStore) -> Vec<String> {
    let query = json!({"query": "Where has Anna's boss moved to?", "max_results": 10});
    test_store
        .found("a", query, Some(&axis(0)))
        .into_iter()
        .filter(|text| text.contains("moved"))
        .collect()
}

#[test]
fn memories_linked_to_a_named_entity_rank_first_among_equals() {
    let mut test_store = TestStore::new();
    let (_, piotr) = village(&mut test_store);
    assert_eq!(moved(&test_store)[0], "Piotr has moved to house 1", "Anna reports to Piotr");
    test_store.undo_last().expect("is taken back");
    assert_eq!(moved(&test_store)[0], "Mei has moved to house 3", "of equals the newest");
    let again = test_store.reopened();
    assert_eq!(moved(&again)[0], "Mei has moved to house 3");
    let mut test_store = again;
    village(&mut test_store);
    assert_eq!(
        moved(&test_store.reopened())[0],
        "Piotr has moved to house 1",
        "links are read at the start"
    );
    drop(piotr);
}

#[test]
fn a_forgotten_entity_boosts_nothing_and_a_deleted_one_leaves_no_link() {
    let mut test_store = TestStore::new();
    let (_, piotr) = village(&mut test_store);
    test_store.forget("a", json!({"memory_id": piotr})).expect("is forgotten");
    assert_eq!(moved(&test_store)[0], "Mei has moved to house 3");
    test_store.undo_last().expect("is taken back");
    assert_eq!(moved(&test_store)[0], "Piotr has moved to house 1");
    test_store.forget("a", json!({"memory_id": piotr, "hard_delete": true})).expect("is removed");
    assert_eq!(moved(&test_store)[0], "Mei has moved to house 3");
    test_store.dump();
}

#[test]
fn the_graph_boost_is_a_step_of_the_explanation() {
    let mut test_store = TestStore::new();
    village(&mut test_store);
    let query =
        json!({"query": "Where has Anna's boss moved to?", "explain": true, "max_results": 10});
    let reply = test_store.recall("a", query, Some(&axis(0))).reply;
    let best = reply
        .results
        .iter()
        .find(|result| result.content.as_deref() == Some("Piotr has moved to house 1"))
        .expect("is found");
    let parts = &best.why.as_ref().expect("is explained").parts;
    let sum: f64 = parts.iter().map(|part| part.adds).sum();
    assert!(parts.iter().any(|part| part.step == "graph" && part.adds > 0.0), "{parts:?}");
    assert!((best.score.expect("is ranked") - sum).abs() < 1e-4, "{sum}, not {:?}", best.score);
}
