//! Folders that were renamed, moved and replaced: which project their sessions reach.

use crate::operations::folders::{FolderState, SeenFolder};
use crate::tests::fixture::TestStore;
use loci_proto::group::Group;
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashMap;

/// A session in a folder, as the daemon serves it: recognised, then a memory is stored and its folder recorded. Returns its project.
fn session(test_store: &mut TestStore, path: &str, identity: Option<u8>) -> Group {
    let mut seen = SeenFolder {
        group: Group::of_folder(path),
        path: path.to_owned(),
        part: None,
        identity: identity.map(|identity| format!("8-{identity}-1")),
        trace: None,
        root: None,
        remote: None,
        is_isolated: false,
    };
    let state = |test_store: &TestStore, seen: &SeenFolder| {
        test_store.reader.folder_state(seen).expect("the folder is looked up")
    };
    if let FolderState::Other(group) = state(test_store, &seen) {
        seen.group = group;
    }
    let call = test_store.call(&seen.group.id, None);
    if state(test_store, &seen) == FolderState::Moved {
        let healed = test_store.writer.heal_folder(&call, &seen).expect("it is healed");
        assert!(healed.is_some());
    }
    let redirects = test_store.writer.group_redirects();
    let group = redirects.resolve(&seen.group).unwrap_or_else(|| seen.group.clone());
    let text = format!("Stored in {path} of {identity:?}");
    test_store.store(&group.id, json!({"content": text, "type": "episodic"}), None);
    test_store.writer.record_folder(&call, &seen).expect("the folder is recorded");
    group
}

#[test]
fn without_a_time_of_creation_nothing_is_healed() {
    let mut test_store = TestStore::new();
    let before = session(&mut test_store, "/home/a", None);
    assert_ne!(session(&mut test_store, "/home/b", None), before);
}

#[test]
fn two_folders_that_exchange_their_paths_keep_their_projects() {
    let mut test_store = TestStore::new();
    let one = session(&mut test_store, "/home/a", Some(1));
    let two = session(&mut test_store, "/home/b", Some(2));
    assert_eq!(session(&mut test_store, "/home/b", Some(1)).id, one.id);
    assert_eq!(session(&mut test_store, "/home/a", Some(2)).id, two.id);
}

#[test]
fn a_folder_at_the_path_of_one_that_took_the_path_of_another_is_a_project_of_its_own() {
    let mut test_store = TestStore::new();
    session(&mut test_store, "/home/a", Some(1));
    let moved = session(&mut test_store, "/home/b", Some(2));
    session(&mut test_store, "/home/c", Some(1));
    assert_eq!(session(&mut test_store, "/home/a", Some(2)).id, moved.id);
    assert_ne!(session(&mut test_store, "/home/b", Some(3)).id, moved.id);
    assert_eq!(session(&mut test_store, "/home/a", Some(2)).id, moved.id);
}

#[test]
fn a_part_of_a_monorepo_is_healed_to_the_same_part_only() {
    let mut test_store = TestStore::new();
    let seen = |path: &str, part: &str| SeenFolder {
        group: Group::of_named_project(path, &part.parse().expect("the name is valid")),
        path: path.to_owned(),
        part: Some(part.to_owned()),
        identity: Some("8-1-1".to_owned()),
        trace: None,
        root: None,
        remote: None,
        is_isolated: false,
    };
    let api = seen("/home/a", "api");
    test_store.store(&api.group.id, json!({"content": "One", "type": "episodic"}), None);
    let call = test_store.call(&api.group.id, None);
    test_store.writer.record_folder(&call, &api).expect("the folder is recorded");
    let state = |seen: &SeenFolder| test_store.reader.folder_state(seen).expect("it is looked up");
    assert_eq!(state(&seen("/home/b", "api")), FolderState::Moved);
    assert_eq!(state(&seen("/home/b", "web")), FolderState::New);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Folders are created and renamed, and visited after each step. Each keeps its project, which no other folder reaches.
    #[test]
    fn a_folder_keeps_its_project_whatever_its_path(steps in prop::collection::vec((0..4_u8, 0..4_u8), 1..14)) {
        let mut test_store = TestStore::new();
        let mut at_path: HashMap<u8, u8> = HashMap::new();
        let mut project_of: HashMap<u8, String> = HashMap::new();
        let mut next = 1;
        for (from, to) in steps {
            match at_path.get(&from).copied() {
                Some(identity) if !at_path.contains_key(&to) => {
                    at_path.remove(&from);
                    at_path.insert(to, identity);
                }
                Some(_) => {}
                None => {
                    at_path.insert(from, next);
                    next += 1;
                }
            }
            let folders: Vec<(u8, u8)> = at_path.iter().map(|(path, id)| (*path, *id)).collect();
            for (path, identity) in folders {
                let group = session(&mut test_store, &format!("/home/{path}"), Some(identity));
                let known = project_of.entry(identity).or_insert_with(|| group.id.clone());
                prop_assert_eq!(&*known, &group.id, "folder {} at {}", identity, path);
            }
        }
        let mut projects: Vec<&String> = project_of.values().collect();
        projects.sort();
        projects.dedup();
        prop_assert_eq!(projects.len(), project_of.len(), "two folders never share one");
    }
}
