//! Isolated projects: nobody outside learns of their memories, and they see those of no other
//! project.

use crate::error::Error;
use crate::tests::fixture::{TestStore, axis, between_axes, named, parse};
use loci_proto::error::Code;
use loci_proto::memory::Origin;
use loci_proto::requests::list::ListReply;
use serde_json::{Value, json};

/// A store with a global fact of each of three groups; `client` is isolated afterwards.
fn store_with_an_isolated_group() -> TestStore {
    let mut test_store = TestStore::new();
    for group in ["client", "shop", "default"] {
        let content = format!("The password rule of {group} is twelve characters");
        test_store.store(group, json!({"content": content, "type": "semantic"}), None);
    }
    isolate(&mut test_store, "client", true);
    test_store
}

fn isolate(test_store: &mut TestStore, group: &str, isolated: bool) {
    let call = test_store.call(group, None);
    test_store.writer.set_isolated(&call, isolated, test_store.now).expect("the flag is set");
}

/// Returns the groups whose memories a recall in this group finds, in the order of their names.
fn seen(test_store: &TestStore, group: &str) -> Vec<String> {
    let mut texts = test_store.found(group, json!({"query": "password rule"}), None);
    texts.sort();
    let name = |text: &String| text.split(' ').nth(4).expect("the text names a group").to_owned();
    texts.iter().map(name).collect()
}

fn list(test_store: &TestStore, group: &str, arguments: Value) -> ListReply {
    let own = named(group);
    let listed = test_store.reader.list(&parse(arguments), &own, test_store.now);
    listed.expect("the memories are listed")
}

fn code(error: Error) -> Code {
    loci_proto::error::Failure::from(error).code
}

#[test]
fn earlier_global_memories_are_hidden_from_the_flag_on_and_visible_again_without_it() {
    let test_store = store_with_an_isolated_group();
    assert_eq!(seen(&test_store, "client"), ["client", "default"]);
    assert_eq!(seen(&test_store, "shop"), ["default", "shop"]);
    assert_eq!(seen(&test_store, "default"), ["default", "shop"]);
    let mut test_store = test_store.reopened();
    assert_eq!(seen(&test_store, "shop"), ["default", "shop"], "after a restart");
    isolate(&mut test_store, "client", false);
    assert_eq!(seen(&test_store, "shop"), ["client", "default", "shop"]);
    assert_eq!(seen(&test_store, "client"), ["client", "default", "shop"]);
}

#[test]
fn everything_stored_inside_has_group_scope_and_says_so_if_global_was_asked_for() {
    let mut test_store = store_with_an_isolated_group();
    let asked =
        json!({"content": "The client uses blue buttons", "type": "semantic", "scope": "global"});
    let reply = test_store.store("client", asked, None);
    assert_eq!(reply.note.as_deref(), Some("Stored with scope group: client is isolated"));
    let plain = json!({"content": "The client uses red borders", "type": "semantic"});
    assert_eq!(test_store.store("client", plain, None).note, None);
    isolate(&mut test_store, "client", false);
    let inside = list(&test_store, "client", json!({"scope": "group"})).memories;
    assert_eq!(inside.len(), 2, "{inside:?}");
    assert!(test_store.found("shop", json!({"query": "buttons borders"}), None).is_empty());
}

#[test]
fn a_store_elsewhere_is_neither_merged_with_nor_names_a_memory_inside() {
    let mut test_store = TestStore::new();
    let fact = |text: &str| json!({"content": text, "type": "semantic"});
    let one = "The release is signed with key 4F2A";
    let inside = test_store.store("client", fact(one), Some(&axis(1)));
    isolate(&mut test_store, "client", true);
    let equal = test_store.store("shop", fact(one), Some(&axis(1)));
    assert!(!equal.deduplicated && equal.id != inside.id, "{equal:?}");
    let near = "The release is signed with key 9C77";
    let other = test_store.store("blog", fact(near), Some(&between_axes(1, 2, 0.99)));
    assert_eq!(other.similar, [equal.id], "only that of a project that is not isolated");
    let replacing =
        json!({"content": "No release is signed", "type": "semantic", "supersedes": inside.id});
    let refused = test_store.try_store("shop", replacing, None).expect_err("it is not visible");
    assert_eq!(code(refused), Code::NotFound);
    let again = test_store.store("client", fact(one), Some(&axis(1)));
    assert!(!again.deduplicated, "a global row would show the new wording if isolation ends");
}

#[test]
fn a_named_group_is_not_found_from_outside_and_refused_from_inside() {
    let mut test_store = store_with_an_isolated_group();
    let from_outside = json!({"content": "x", "type": "episodic", "group": "client"});
    let refused = test_store.try_store("shop", from_outside, None).expect_err("it is refused");
    assert_eq!(code(refused), Code::NotFound);
    let from_inside = json!({"content": "x", "type": "episodic", "group": "shop"});
    let refused = test_store.try_store("client", from_inside, None).expect_err("it is refused");
    assert_eq!(code(refused), Code::Conflict);
    let own = json!({"content": "x", "type": "episodic", "group": "client"});
    assert!(test_store.try_store("client", own.clone(), None).is_ok());
    test_store.origin = Origin::Person;
    assert!(test_store.try_store("shop", own, None).is_ok(), "a person may name every group");
}

#[test]
fn a_restore_elsewhere_does_not_name_an_equal_text_inside() {
    let mut test_store = TestStore::new();
    let fact = json!({"content": "The key is under the mat", "type": "semantic"});
    let outside = test_store.store("shop", fact.clone(), None).id;
    let arguments = json!({"memory_id": outside});
    test_store.forget("shop", arguments.clone()).expect("it is forgotten");
    test_store.store("client", fact, None);
    let call = test_store.call("shop", None);
    let refused = test_store.writer.restore(&call, &parse(arguments.clone()));
    assert_eq!(code(refused.expect_err("both are global")), Code::Conflict);
    isolate(&mut test_store, "client", true);
    let restored = test_store.writer.restore(&call, &parse(arguments)).expect("it is restored");
    assert_eq!(restored.status, "active");
}

#[test]
fn a_call_inside_changes_no_memory_of_outside() {
    let mut test_store = store_with_an_isolated_group();
    let outside = list(&test_store, "default", json!({"from_group": true})).memories.remove(0).id;
    let arguments = json!({"memory_id": outside});
    assert!(test_store.inspect("client", arguments.clone()).is_ok(), "it is visible");
    let refused = test_store.forget("client", arguments).expect_err("it is refused");
    assert_eq!(code(refused), Code::Conflict);
    let replacing = json!({"content": "None", "type": "semantic", "supersedes": outside});
    let refused = test_store.try_store("client", replacing, None).expect_err("it is refused");
    assert_eq!(code(refused), Code::Conflict);
}

#[test]
fn lists_counts_and_briefs_leave_out_what_is_isolated() {
    let test_store = store_with_an_isolated_group();
    let all = |group: &str| list(&test_store, group, json!({"all_groups": true})).total;
    assert_eq!((all("shop"), all("client")), (2, 2));
    let total = |group: &str| {
        let (own, request) = (named(group), parse(json!({})));
        let stats = test_store.reader.stats(&request, &own, test_store.now);
        stats.expect("the memories are counted").active_memories
    };
    assert_eq!((total("shop"), total("client")), (2, 2));
    let in_store = |group: &str| {
        let query = json!({"query": "password rule", "explain": true});
        let explained = test_store.recall(group, query, None).reply.explain;
        explained.expect("the recall is explained").in_store
    };
    assert_eq!((in_store("shop"), in_store("client")), (2, 2));
    let brief = |group: &str| {
        let brief = test_store.reader.brief(None, &named(group), test_store.now);
        brief.expect("the brief is written").text
    };
    assert!(!brief("shop").contains("rule of client"));
    assert!(brief("client").contains("rule of client") && !brief("client").contains("of shop"));
}

#[test]
fn no_undo_ends_the_isolation() {
    let mut test_store = store_with_an_isolated_group();
    let rename = parse(json!({"group": "client", "to": "customer"}));
    let call = test_store.call("client", None);
    test_store.writer.rename_group(&call, &rename).expect("the group is renamed");
    test_store.undo_last().expect("the rename is undone");
    assert_eq!(seen(&test_store, "shop"), ["default", "shop"]);
    let merge = parse(json!({"from": "client", "into": "shop"}));
    let mut call = test_store.call("shop", None);
    call.actor.origin = Origin::Person;
    let refused = test_store.writer.merge_groups(&call, &merge).expect_err("it is refused");
    assert!(refused.to_string().contains("is an isolated project"), "{refused}");
}

#[test]
fn a_result_of_another_project_names_it() {
    let mut test_store = TestStore::new();
    let fact = |text: &str| json!({"content": text, "type": "semantic"});
    test_store.store("a", fact("The lamp of the cellar"), None);
    test_store.store("b", fact("The lamp of the attic"), None);
    let answer = test_store.recall("a", json!({"query": "lamp"}), None);
    let group = |text: &str| {
        let is_it = |content: &String| content.contains(text);
        let mut results = answer.reply.results.iter();
        let result = results.find(|result| result.content.as_ref().is_some_and(is_it));
        result.expect("it is found").group.clone()
    };
    assert_eq!((group("cellar"), group("attic")), (None, Some("b".to_owned())));
}

#[test]
fn the_undo_and_the_redo_of_a_merge_move_no_memory_out_of_an_isolated_project() {
    let mut test_store = TestStore::new();
    for group in ["alpha", "beta", "shop"] {
        let content = format!("The password rule of {group} is twelve characters");
        test_store.store(group, json!({"content": content, "type": "semantic"}), None);
    }
    let mut call = test_store.call("shop", None);
    call.actor.origin = Origin::Person;
    let merge = parse(json!({"from": "alpha", "into": "beta"}));
    test_store.writer.merge_groups(&call, &merge).expect("the groups are merged");
    isolate(&mut test_store, "beta", true);
    test_store.origin = Origin::Person;
    let refused = test_store.undo_last().expect_err("the undo is refused");
    assert!(refused.to_string().contains("a project of it is isolated"), "{refused}");
    assert_eq!(seen(&test_store, "shop"), ["shop"]);
    isolate(&mut test_store, "beta", false);
    test_store.undo_last().expect("it is undone");
    isolate(&mut test_store, "alpha", true);
    let redo = test_store.writer.redo(&call, &parse(json!({}))).expect_err("it is refused");
    assert!(redo.to_string().contains("a project of it is isolated"), "{redo}");
    assert_eq!(seen(&test_store, "shop"), ["beta", "shop"]);
}

#[test]
fn a_session_from_before_the_isolation_does_not_end_it() {
    let mut test_store = store_with_an_isolated_group();
    let call = test_store.call("client", None);
    let before = crate::model::time::Timestamp(test_store.now.0 - 1);
    test_store.writer.set_isolated(&call, false, before).expect("the call succeeds");
    assert_eq!(seen(&test_store, "shop"), ["default", "shop"]);
}

#[test]
fn a_file_gives_an_isolated_project_no_alias_and_isolates_no_name() {
    let mut test_store = store_with_an_isolated_group();
    let alias = "g_0123456789abcdef";
    let lines = [
        json!({"loci": "export", "version": 2}),
        json!({"kind": "group", "id": "client", "name": "x", "created_at": 1, "aliases": [alias]}),
        json!({"kind": "group", "id": "work", "name": "work", "created_at": 1, "isolated": true}),
    ];
    let end = json!({"kind": "end", "lines": lines.len()});
    let lines: Vec<String> = lines.iter().chain([&end]).map(ToString::to_string).collect();
    let file = lines.join("\n") + "\n";
    let mut call = test_store.call("shop", None);
    call.actor.origin = Origin::Person;
    let imported =
        test_store.writer.import(&call, &parse(json!({})), &mut std::io::Cursor::new(file));
    imported.expect("the file is imported");
    assert_eq!(seen(&test_store, alias), ["default", "shop"], "another project");
    assert_eq!(seen(&test_store, "work"), ["default", "shop"]);
    assert!(!test_store.writer.isolated_groups().contains(&named("work").id));
}
