//! Dumps: merging the stores of two machines loses nothing but what was erased, and does not depend
//! on the order.

use crate::tests::fixture::{TestStore, parse};
use crate::transfer::tests::history::{History, Step};
use crate::transfer::tests::{import, memories_of, small_store};
use loci_proto::memory::Origin;
use loci_proto::requests::export::{ExportRequest, Layout};
use loci_proto::requests::import::{ImportReply, ImportRequest};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

fn dump(test_store: &TestStore) -> String {
    let mut out = Vec::new();
    let request = ExportRequest { layout: Layout::Dump, ..ExportRequest::default() };
    test_store.reader.export(&request, &mut out).expect("the dump succeeds");
    String::from_utf8(out).expect("the dump is UTF-8")
}

/// Imports a dump as the person whose texts they are.
fn import_own(test_store: &mut TestStore, file: &str) -> ImportReply {
    let mut call = test_store.call("importer", None);
    call.actor.origin = Origin::Person;
    let request = ImportRequest { own_texts: true, ..ImportRequest::default() };
    let mut file = Cursor::new(file.as_bytes());
    test_store.writer.import(&call, &request, &mut file).expect("the import succeeds")
}

/// The records of a dump, without what each store decides by itself: ids of relations, names of
/// projects, and when projects, relations and erasures became known. Lines of memories are whole.
fn records(dump: &str) -> BTreeSet<String> {
    let record = |line: &str| {
        let mut value: Value = serde_json::from_str(line).expect("the line is JSON");
        let object = value.as_object_mut().expect("the line is an object");
        let own: &[&str] = match object["kind"].as_str() {
            Some("relation") => &["id", "created_at"],
            Some("group") => &["name", "created_at"],
            Some("tombstone") => &["created_at"],
            _ => &[],
        };
        for name in own {
            object.remove(*name);
        }
        value.to_string()
    };
    dump.lines().skip(1).map(record).collect()
}

fn lines_of(dump: &str, kind: &str) -> BTreeMap<String, Value> {
    let values = dump.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    values
        .filter(|value| value["kind"] == kind)
        .map(|value| (value["id"].as_str().unwrap_or_default().to_owned(), value))
        .collect()
}

#[test]
fn a_dump_is_sorted_and_does_not_change_when_memories_are_used() {
    let test_store = small_store();
    let before = dump(&test_store);
    let ids: Vec<String> = lines_of(&before, "memory").into_keys().collect();
    let mut sorted = ids.clone();
    sorted.sort();
    assert_eq!((ids.len(), &ids), (3, &sorted));
    assert!(before.ends_with("{\"kind\":\"end\"}\n") && !before.contains("\"log\""));
    let mut copy = TestStore::new();
    import_own(&mut copy, &before);
    assert_eq!(records(&dump(&copy)), records(&before));
    assert!(!test_store.found("shop", json!({"query": "shop"}), None).is_empty());
    assert_eq!(dump(&test_store), before);
}

#[test]
fn what_another_machine_erased_is_forgotten_here_until_a_person_restores_it() {
    let mut here = small_store();
    let mut there = TestStore::new();
    import_own(&mut there, &dump(&here));
    let erased = memories_of(&there)[1].1.clone();
    let call = there.call("shop", None);
    let request = parse(json!({"memory_id": erased, "hard_delete": true}));
    there.writer.forget(&call, &request).expect("it is erased");
    let file = dump(&there);
    let reply = import_own(&mut here, &file);
    assert_eq!(reply.changed, 1, "{reply:?}");
    assert!(here.found("shop", json!({"query": "ten"}), None).is_empty());
    assert!(!lines_of(&dump(&here), "memory").contains_key(erased.as_str()));
    assert!(lines_of(&dump(&here), "tombstone").contains_key(erased.as_str()));
    assert_eq!(import_own(&mut here, &file).act, None, "again changes nothing");
    let call = here.call("shop", None);
    here.writer.restore(&call, &parse(json!({"memory_id": erased}))).expect("it is restored");
    assert_eq!(import_own(&mut here, &file).changed, 0);
    assert!(lines_of(&dump(&here), "memory").contains_key(erased.as_str()));
    here.undo_last().expect("the restoring is undone");
    here.undo_last().expect("the import is undone");
    assert_eq!(here.found("shop", json!({"query": "ten"}), None), ["The shop opens at ten"]);
    assert!(!dump(&here).contains("tombstone"));
}

#[test]
fn a_truncated_dump_is_refused_and_one_that_git_has_merged_is_not() {
    let mut test_store = small_store();
    let whole = dump(&test_store);
    let truncated = whole.trim_end().strip_suffix("{\"kind\":\"end\"}").expect("it ends so");
    let refused = super::try_import(&mut test_store, truncated, false);
    assert!(refused.is_err_and(|error| error.contains("truncated")));
    let id = "01953a2b-7c1e-7000-8000-0123456789ab";
    let line = format!("{{\"kind\":\"tombstone\",\"id\":\"{id}\",\"created_at\":5}}\n");
    let merged = whole.replace("{\"kind\":\"end\"}", &format!("{line}{{\"kind\":\"end\"}}"));
    assert_eq!(import(&mut test_store, &merged).other, 1);
}

/// Two stores that began as one: the steps of each after the common ones.
fn two_stores(common: &[Step], first: &[Step], second: &[Step]) -> [TestStore; 2] {
    let mut base = History { test_store: TestStore::new(), memories: Vec::new() };
    for (number, step) in common.iter().enumerate() {
        base.apply(number, step);
    }
    let file = dump(&base.test_store);
    let grown = |steps: &[Step], from: usize| {
        let mut history = History { test_store: TestStore::new(), memories: base.memories.clone() };
        import_own(&mut history.test_store, &file);
        history.test_store.now = base.test_store.now.plus(i64::try_from(from).unwrap_or(0));
        for (number, step) in steps.iter().enumerate() {
            history.apply(from + number, step);
        }
        history.test_store
    };
    [grown(first, 1000), grown(second, 2000)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn merging_two_stores_is_lossless_idempotent_and_independent_of_the_order(
        common in proptest::collection::vec(Step::any(), 0..14),
        first in proptest::collection::vec(Step::any(), 0..14),
        second in proptest::collection::vec(Step::any(), 0..14),
    ) {
        let [mut first, mut second] = two_stores(&common, &first, &second);
        let (one, two) = (dump(&first), dump(&second));
        import_own(&mut first, &two);
        import_own(&mut second, &one);
        let (merged, other) = (dump(&first), dump(&second));
        prop_assert_eq!(records(&merged), records(&other));
        let again = import_own(&mut first, &two);
        prop_assert_eq!((again.added, again.changed), (0, 0));
        prop_assert_eq!(dump(&first), merged.clone());
        let erased: BTreeSet<String> =
            [&one, &two].into_iter().flat_map(|dump| lines_of(dump, "tombstone").into_keys()).collect();
        let kept = lines_of(&merged, "memory");
        for dump in [&one, &two] {
            for (id, line) in lines_of(dump, "memory") {
                match kept.get(&id) {
                    None => prop_assert!(erased.contains(&id), "{id} was lost"),
                    Some(kept) => prop_assert!(
                        kept["updated_at"].as_i64() >= line["updated_at"].as_i64()
                            && !erased.contains(&id)
                    ),
                }
            }
        }
    }
}

#[test]
fn a_dump_of_another_forgets_nothing_that_a_person_stored() {
    let mut here = TestStore::new();
    here.origin = Origin::Person;
    let mine = json!({"content": "The alder grows beside the mill", "type": "semantic"});
    let mine = here.store("shop", mine, None).id;
    here.origin = Origin::Agent;
    let other = json!({"content": "The birch grows behind the barn", "type": "semantic"});
    let other = here.store("shop", other, None).id;
    let tombstone =
        |id: &str| format!("{{\"kind\":\"tombstone\",\"id\":\"{id}\",\"created_at\":1}}\n");
    let lines = format!("{}{}", tombstone(mine.as_str()), tombstone(other.as_str()));
    let file = format!("{{\"loci\":\"dump\",\"version\":1}}\n{lines}{{\"kind\":\"end\"}}\n");
    let reply = import(&mut here, &file);
    assert_eq!(reply.changed, 1, "{reply:?}");
    assert!(reply.notes.iter().any(|note| note.starts_with("1 memory was hard-deleted")));
    let kept = dump(&here);
    assert!(lines_of(&kept, "memory").contains_key(mine.as_str()));
    assert!(!lines_of(&kept, "tombstone").contains_key(mine.as_str()), "it does not travel on");
    assert_eq!(import_own(&mut here, &file).changed, 1, "a file of the person's own does");
}

#[test]
fn a_dump_of_another_leads_no_folder_to_its_projects() {
    let group = json!({"kind": "group", "id": "evil", "name": "evil", "created_at": 1, "aliases": ["g_0123456789abcdef"]});
    let file = format!("{{\"loci\":\"dump\",\"version\":1}}\n{group}\n{{\"kind\":\"end\"}}\n");
    let mut here = TestStore::new();
    let aliases = |here: &TestStore| {
        let groups = lines_of(&dump(here), "group");
        groups.get("evil").map(|group| group["aliases"].clone()).unwrap_or_default()
    };
    let reply = import(&mut here, &file);
    assert!(reply.notes.iter().any(|note| note.contains("--mine")), "{reply:?}");
    assert!(aliases(&here).as_array().is_none_or(Vec::is_empty));
    import_own(&mut here, &file);
    assert_eq!(aliases(&here), json!(["g_0123456789abcdef"]));
}
