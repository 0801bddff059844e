//! Two projects and a hostile third: whatever its files say, its sessions see nothing of the others
//! and leave nothing in them.

use crate::house::{Agent, House, contents};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// Writes a file in the home and creates its folder.
fn write(house: &House, path: &str, text: &str) -> PathBuf {
    let file = house.path(path);
    fs::create_dir_all(file.parent().expect("has a folder")).expect("is made");
    fs::write(&file, text).expect("is written");
    file
}

/// Returns what a session sees of its own group.
fn group_memories(agent: &mut Agent) -> Vec<String> {
    let asked = json!({"query": "secret of the victim", "scope": "group", "max_results": 20});
    contents(&agent.call("recall_memory", asked).expect("is answered"))
}

/// One attack of a hostile project on another's memories: its name, and a function that creates its
/// folder.
type Trick = (&'static str, fn(&House, &str));

const TRICKS: [Trick; 8] = [
    ("the name of a person's group", |house, evil| {
        drop(write(house, &format!("{evil}/.loci.toml"), "group = \"work\"\n"))
    }),
    ("the group of no project", |house, evil| {
        drop(write(house, &format!("{evil}/.loci.toml"), "group = \"default\"\n"))
    }),
    ("the name of a folder", |house, evil| {
        drop(write(house, &format!("{evil}/.loci.toml"), "group = \"shop\"\n"))
    }),
    ("a link", |house, evil| {
        fs::create_dir(house.path(evil)).expect("is made");
        symlink("../shop/.git", house.path(evil).join(".git")).expect("is linked");
    }),
    ("a repository", |house, evil| {
        drop(write(house, &format!("{evil}/.git"), "gitdir: ../shop/.git\n"))
    }),
    ("a bare repository", |house, evil| {
        drop(write(house, &format!("{evil}/.git"), "gitdir: ../proj/.bare\n"))
    }),
    ("a submodule", |house, evil| {
        drop(write(house, &format!("{evil}/.git"), "gitdir: ../shop/.git/modules/lib\n"))
    }),
    ("a worktree with its own proof", |house, evil| {
        write(house, &format!("{evil}/.git"), "gitdir: admin\n");
        write(house, &format!("{evil}/admin/commondir"), "../../shop/.git\n");
        write(house, &format!("{evil}/admin/gitdir"), "../.git\n");
    }),
];

/// Sessions with one secret each: in a repository, its submodule, a worktree of a bare repository,
/// by `LOCI_GROUP`, and in no project.
fn victims(house: &House) -> Vec<Agent> {
    let head = "ref: refs/heads/main\n";
    write(house, "shop/.git/HEAD", head);
    write(house, "shop/.git/modules/lib/HEAD", head);
    write(house, "shop/.git/modules/lib/config", "[core]\n\tworktree = ../../../lib\n");
    write(house, "shop/lib/.git", "gitdir: ../.git/modules/lib\n");
    write(house, "proj/.bare/HEAD", head);
    write(house, "proj/.bare/worktrees/one/commondir", "../..\n");
    let entry = write(house, "proj/one/.git", "gitdir: ../.bare/worktrees/one\n");
    write(house, "proj/.bare/worktrees/one/gitdir", &format!("{}\n", entry.display()));
    let mut by_name = house.command("loci");
    let mut agents = vec![
        house.session_in("shop"),
        house.session_in("shop/lib"),
        house.session_in("proj/one"),
        house.session_in(""),
    ];
    agents.push(Agent::bare(by_name.arg("mcp").env("LOCI_GROUP", "work")));
    for (number, agent) in agents.iter_mut().enumerate() {
        agent.store("episodic", &format!("The secret of the victim has the number {number}"));
    }
    agents
}

#[test]
fn a_hostile_project_reaches_no_group_but_its_own() {
    let house = House::without_model();
    let mut victims = victims(&house);
    for (number, (trick, make)) in TRICKS.iter().enumerate() {
        let evil = format!("evil{number}");
        make(&house, &evil);
        let mut agent = house.session_in(&evil);
        assert_eq!(group_memories(&mut agent), Vec::<String>::new(), "{trick}");
        agent.store("episodic", &format!("A secret order to the victim by {evil}"));
        assert_eq!(group_memories(&mut agent).len(), 1, "{trick}: it has a group of its own");
    }
    for (number, agent) in victims.iter_mut().enumerate() {
        assert_eq!(
            group_memories(agent),
            [format!("The secret of the victim has the number {number}")]
        );
    }
}

#[test]
fn a_worktree_sees_what_its_repository_knows() {
    let house = House::without_model();
    drop(victims(&house));
    let entry = write(&house, "fix/.git", "gitdir: ../shop/.git/worktrees/fix\n");
    write(&house, "shop/.git/worktrees/fix/commondir", "../..\n");
    write(&house, "shop/.git/worktrees/fix/gitdir", &format!("{}\n", entry.display()));
    assert_eq!(
        group_memories(&mut house.session_in("fix")),
        ["The secret of the victim has the number 0"]
    );
}
