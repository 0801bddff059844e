//! Two projects and a hostile third: whatever its files say, its sessions see nothing of the others
//! and leave nothing in them.

use crate::home::{Agent, TestHome, contents};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// Writes a file in the home and creates its folder.
fn write(home: &TestHome, path: &str, text: &str) -> PathBuf {
    let file = home.path(path);
    fs::create_dir_all(file.parent().expect("the path has a parent"))
        .expect("the folder is created");
    fs::write(&file, text).expect("the file is written");
    file
}

/// Returns what a session sees of its own group.
fn group_memories(agent: &mut Agent) -> Vec<String> {
    let asked = json!({"query": "secret of the victim", "scope": "group", "max_results": 20});
    contents(&agent.call("recall_memory", asked).expect("the call succeeds"))
}

/// One attack of a hostile project on another's memories: its name, and a function that creates its
/// folder.
type Trick = (&'static str, fn(&TestHome, &str));

const TRICKS: [Trick; 8] = [
    ("the name of a person's group", |home, evil| {
        drop(write(home, &format!("{evil}/.loci.toml"), "group = \"work\"\n"));
    }),
    ("the group of no project", |home, evil| {
        drop(write(home, &format!("{evil}/.loci.toml"), "group = \"default\"\n"));
    }),
    ("the name of a folder", |home, evil| {
        drop(write(home, &format!("{evil}/.loci.toml"), "group = \"shop\"\n"));
    }),
    ("a link", |home, evil| {
        fs::create_dir(home.path(evil)).expect("the folder is created");
        symlink("../shop/.git", home.path(evil).join(".git")).expect("the link is created");
    }),
    ("a repository", |home, evil| {
        drop(write(home, &format!("{evil}/.git"), "gitdir: ../shop/.git\n"));
    }),
    ("a bare repository", |home, evil| {
        drop(write(home, &format!("{evil}/.git"), "gitdir: ../proj/.bare\n"));
    }),
    ("a submodule", |home, evil| {
        drop(write(home, &format!("{evil}/.git"), "gitdir: ../shop/.git/modules/lib\n"));
    }),
    ("a worktree with its own proof", |home, evil| {
        write(home, &format!("{evil}/.git"), "gitdir: admin\n");
        write(home, &format!("{evil}/admin/commondir"), "../../shop/.git\n");
        write(home, &format!("{evil}/admin/gitdir"), "../.git\n");
    }),
];

/// Sessions with one secret each: in a repository, its submodule, a worktree of a bare repository,
/// by `LOCI_GROUP`, and in no project.
fn victims(home: &TestHome) -> Vec<Agent> {
    let head = "ref: refs/heads/main\n";
    write(home, "shop/.git/HEAD", head);
    write(home, "shop/.git/modules/lib/HEAD", head);
    write(home, "shop/.git/modules/lib/config", "[core]\n\tworktree = ../../../lib\n");
    write(home, "shop/lib/.git", "gitdir: ../.git/modules/lib\n");
    write(home, "proj/.bare/HEAD", head);
    write(home, "proj/.bare/worktrees/one/commondir", "../..\n");
    let entry = write(home, "proj/one/.git", "gitdir: ../.bare/worktrees/one\n");
    write(home, "proj/.bare/worktrees/one/gitdir", &format!("{}\n", entry.display()));
    let mut by_name = home.command("loci");
    let mut agents = vec![
        home.session_in("shop"),
        home.session_in("shop/lib"),
        home.session_in("proj/one"),
        home.session_in(""),
    ];
    agents.push(Agent::bare(by_name.arg("mcp").env("LOCI_GROUP", "work")));
    for (number, agent) in agents.iter_mut().enumerate() {
        agent.store("episodic", &format!("The secret of the victim has the number {number}"));
    }
    agents
}

#[test]
fn a_hostile_project_reaches_only_its_own_group() {
    let home = TestHome::without_model();
    let mut victims = victims(&home);
    for (number, (trick, make)) in TRICKS.iter().enumerate() {
        let evil = format!("evil{number}");
        make(&home, &evil);
        let mut agent = home.session_in(&evil);
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
fn a_worktree_shares_the_group_of_its_repository() {
    let home = TestHome::without_model();
    drop(victims(&home));
    let entry = write(&home, "fix/.git", "gitdir: ../shop/.git/worktrees/fix\n");
    write(&home, "shop/.git/worktrees/fix/commondir", "../..\n");
    write(&home, "shop/.git/worktrees/fix/gitdir", &format!("{}\n", entry.display()));
    assert_eq!(
        group_memories(&mut home.session_in("fix")),
        ["The secret of the victim has the number 0"]
    );
}
