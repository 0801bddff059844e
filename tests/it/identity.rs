//! Which project a folder is: the matrix of layouts with real git, and folders that were renamed, moved or copied.

use crate::home::{Agent, TestHome, contents};
use crate::in_time::{ExitInTime, OutputInTime};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The folders of one row of the matrix.
struct Tree<'a> {
    home: &'a TestHome,
    root: PathBuf,
}

impl Tree<'_> {
    fn run(&self, program: &str, folder: &str, arguments: &[&str]) {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path(""))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.current_dir(self.root.join(folder)).args(arguments).output_in_time();
        let output = output.expect("the program runs");
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    }

    fn git(&self, folder: &str, arguments: &[&str]) {
        let settings = ["-c", "user.name=it", "-c", "user.email=it@localhost"];
        let allowed = ["-c", "protocol.file.allow=always"];
        self.run("git", folder, &[&settings[..], &allowed, arguments].concat());
    }

    /// Creates a repository with one commit.
    fn repository(&self, name: &str) {
        self.git("", &["init", "-q", "-b", "main", name]);
        self.git(name, &["commit", "-q", "--allow-empty", "-m", "one"]);
    }

    fn rename(&self, from: &str, to: &str) {
        let to = self.root.join(to);
        fs::create_dir_all(to.parent().expect("a folder is around it")).expect("it is created");
        fs::rename(self.root.join(from), to).expect("the folder is renamed");
    }

    fn file(&self, path: &str, text: &str) {
        let file = self.root.join(path);
        fs::create_dir_all(file.parent().expect("a folder is around it")).expect("it is created");
        fs::write(file, text).expect("the file is written");
    }

    /// Writes the file that names a part of a project, and allows it.
    fn name(&self, folder: &str, name: &str) {
        self.file(&format!("{folder}/.loci.toml"), &format!("group = \"{name}\"\n"));
        let home = self.root.strip_prefix(self.home.path("")).unwrap_or(Path::new(""));
        self.home.allow(&home.join(folder).display().to_string());
    }

    /// Copies a folder with everything that an archive can hold, and removes the original.
    fn replace_by_copy(&self, from: &str, to: &str) {
        self.run("cp", "", &["-a", from, to]);
        fs::remove_dir_all(self.root.join(from)).expect("the folder is removed");
    }

    fn session(&self, folder: &str, group: Option<&str>) -> Agent {
        session_at(self.home, &self.root.join(folder), group)
    }
}

fn session_at(home: &TestHome, folder: &Path, group: Option<&str>) -> Agent {
    fs::create_dir_all(folder).expect("the folder is created");
    let mut command = home.command("loci");
    command.current_dir(folder).arg("mcp");
    command.envs(group.map(|group| ("LOCI_GROUP", group)));
    Agent::bare(&mut command)
}

/// Returns what a session sees of its own project.
fn own_memories(agent: &mut Agent) -> Vec<String> {
    let asked = json!({"query": "the word of the row", "scope": "group", "max_results": 20});
    contents(&agent.call("recall_memory", asked).expect("the call succeeds"))
}

/// A layout: a memory is stored in the first folder, then something happens; `is_same` says whether a session in the second folder works
/// in the same project.
#[derive(Clone, Copy)]
struct Row {
    layout: &'static str,
    made: fn(&Tree<'_>),
    first: &'static str,
    then: fn(&Tree<'_>),
    second: &'static str,
    is_same: bool,
    group: Option<&'static str>,
}

/// A row in which nothing happens after the store.
const fn row(
    layout: &'static str,
    made: fn(&Tree<'_>),
    folders: [&'static str; 2],
    is_same: bool,
) -> Row {
    let [first, second] = folders;
    Row { layout, made, first, then: |_| {}, second, is_same, group: None }
}

/// A row in which the folder changes after the store.
const fn moved(
    layout: &'static str,
    made: fn(&Tree<'_>),
    then: fn(&Tree<'_>),
    folders: [&'static str; 2],
) -> Row {
    let [first, second] = folders;
    Row { layout, made, first, then, second, is_same: true, group: None }
}

fn shop(tree: &Tree<'_>) {
    tree.repository("shop");
}

fn shop_with_worktree(tree: &Tree<'_>) {
    shop(tree);
    tree.git("shop", &["worktree", "add", "-q", "../fix"]);
}

fn shop_with_submodule(tree: &Tree<'_>) {
    tree.repository("lib");
    shop(tree);
    tree.git("shop", &["submodule", "add", "-q", "../lib", "lib"]);
    tree.git("shop/lib", &["worktree", "add", "-q", "--detach", "../../libfix"]);
}

fn monorepo(tree: &Tree<'_>) {
    shop(tree);
    for part in ["api", "web"] {
        tree.name(&format!("shop/{part}"), part);
    }
}

fn merge_the_clone(tree: &Tree<'_>) {
    tree.session("copy-of-shop", None).store("episodic", "The clone has a memory too");
    let merged = tree.home.loci(&["groups", "merge", "copy-of-shop", "merged-shop", "--yes"]);
    assert!(merged.status.success(), "{merged:?}");
}

fn take_the_old_path(tree: &Tree<'_>) {
    tree.rename("shop", "store");
    assert_eq!(own_memories(&mut tree.session("store", None)).len(), 1);
    tree.repository("shop");
}

/// Another repository is cloned to the path of one that was moved, and is opened first.
fn clone_another_to_the_old_path(tree: &Tree<'_>) {
    tree.repository("evil");
    tree.rename("shop", "store");
    tree.git("", &["clone", "-q", "evil", "shop"]);
    assert_eq!(own_memories(&mut tree.session("shop", None)), [""; 0]);
    tree.session("shop", None).store("episodic", "The other repository has a memory too");
}

fn clone_again(tree: &Tree<'_>) {
    fs::remove_dir_all(tree.root.join("shop")).expect("it is removed");
    tree.git("", &["clone", "-q", "origin", "shop"]);
}

fn clone_of_origin(tree: &Tree<'_>) {
    tree.repository("origin");
    tree.git("", &["clone", "-q", "origin", "shop"]);
}

/// A row after which the second folder is another project.
const fn two(row: Row) -> Row {
    Row { is_same: false, ..row }
}

/// The layouts of docs/configuration.md.
const MATRIX: &[Row] = &[
    row("subdirectory", shop, ["shop", "shop/src"], true),
    row("worktree", shop_with_worktree, ["shop", "fix"], true),
    row("worktree subdirectory", shop_with_worktree, ["shop", "fix/src"], true),
    row(
        "worktree of a bare repository",
        |tree| {
            shop(tree);
            tree.git("", &["clone", "-q", "--bare", "shop", "proj/.bare"]);
            for name in ["one", "two"] {
                tree.git(
                    "proj/.bare",
                    &["worktree", "add", "-q", "-b", name, &format!("../{name}")],
                );
            }
        },
        ["proj/one", "proj/two"],
        true,
    ),
    row(
        "nested worktree",
        |tree| {
            shop(tree);
            tree.git("shop", &["worktree", "add", "-q", ".trees/fix"]);
        },
        ["shop", "shop/.trees/fix"],
        true,
    ),
    row("submodule", shop_with_submodule, ["shop", "shop/lib"], false),
    row("worktree of a submodule", shop_with_submodule, ["shop/lib", "libfix"], true),
    row(
        "symlinked folder",
        |tree| {
            shop(tree);
            symlink("shop", tree.root.join("link")).expect("the link is created");
        },
        ["shop", "link"],
        true,
    ),
    row(
        "folder of a symlinked file",
        |tree| {
            tree.file("shop/notes.md", "x");
            tree.file("other/x", "x");
            let link = tree.root.join("other/notes.md");
            symlink("../shop/notes.md", link).expect("the link is created");
        },
        ["shop", "other"],
        false,
    ),
    row(
        "clone",
        |tree| {
            shop(tree);
            tree.git("", &["clone", "-q", "shop", "clone"]);
        },
        ["shop", "clone"],
        false,
    ),
    moved(
        "merged clone",
        |tree| {
            tree.repository("merged-shop");
            tree.git("", &["clone", "-q", "merged-shop", "copy-of-shop"]);
        },
        merge_the_clone,
        ["merged-shop", "copy-of-shop"],
    ),
    moved("renamed", shop, |tree| tree.rename("shop", "store"), ["shop", "store"]),
    moved("moved", shop, |tree| tree.rename("shop", "deep/er/shop"), ["shop", "deep/er/shop/src"]),
    two(moved(
        "moved to another file system",
        shop,
        |tree| tree.replace_by_copy("shop", "store"),
        ["shop", "store"],
    )),
    moved(
        "moved worktree",
        shop_with_worktree,
        |tree| tree.git("shop", &["worktree", "move", "../fix", "../fix2"]),
        ["fix", "fix2"],
    ),
    moved(
        "initialised again",
        shop,
        |tree| {
            fs::remove_dir_all(tree.root.join("shop/.git")).expect("it is removed");
            tree.repository("shop");
        },
        ["shop", "shop"],
    ),
    two(moved("another repository at the old path", shop, take_the_old_path, ["shop", "shop"])),
    moved("another clone at the old path", shop, clone_another_to_the_old_path, ["shop", "store"]),
    moved("removed and cloned again", clone_of_origin, clone_again, ["shop", "shop/src"]),
    moved("git init later", |_| {}, |tree| tree.repository("notes"), ["notes", "notes/src"]),
    row("folder without git", |_| {}, ["notes", "notes/deep"], false),
    moved(
        "renamed folder without git",
        |_| {},
        |tree| tree.rename("notes", "texts"),
        ["notes", "texts"],
    ),
    row("folder in HOME", |_| {}, ["notes", "../.."], false),
    row("HOME and /", |_| {}, ["../..", "/"], true),
    moved(
        "named by .loci.toml, then renamed",
        |tree| {
            shop(tree);
            tree.name("shop", "web");
        },
        |tree| tree.rename("shop", "store"),
        ["shop", "store/src"],
    ),
    row("part of a monorepo", monorepo, ["shop", "shop/api"], false),
    row("two parts of a monorepo", monorepo, ["shop/web", "shop/api"], false),
    moved(
        "renamed monorepo",
        monorepo,
        |tree| tree.rename("shop", "store"),
        ["shop/api", "store/api"],
    ),
    row(
        "repository in HOME",
        |tree| tree.run("git", "../..", &["init", "-q"]),
        ["../..", "notes"],
        false,
    ),
    row(
        ".git that cannot be read",
        |tree| tree.file("shop/.git", "garbage"),
        ["shop", "shop/src"],
        true,
    ),
    Row { group: Some("team"), ..row("LOCI_GROUP", shop, ["shop", "elsewhere"], true) },
];

#[test]
fn each_layout_leads_to_its_project() {
    if Command::new("git").arg("--version").output_in_time().is_err() {
        loci_testkit::skipped::skip("git is not installed; no layout was compared");
        return;
    }
    let home = TestHome::without_model();
    for (number, row) in MATRIX.iter().enumerate() {
        let root = home.path("rows").join(number.to_string());
        fs::create_dir_all(&root).expect("the folder is created");
        let tree = Tree { home: &home, root };
        (row.made)(&tree);
        let text = format!("The word of the row is w{number}");
        tree.session(row.first, row.group).store("episodic", &text);
        (row.then)(&tree);
        let seen = own_memories(&mut tree.session(row.second, row.group));
        assert_eq!(seen.contains(&text), row.is_same, "{}: {seen:?}", row.layout);
    }
}

fn loci_in(home: &TestHome, folder: &str, arguments: &[&str]) -> Output {
    let mut command = home.command("loci");
    command.current_dir(home.path(folder)).args(arguments).stdin(Stdio::null());
    command.output_in_time().expect("loci runs")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Stores in `notes`, then renames it to `texts`.
fn rename_notes(home: &TestHome) {
    home.session_in("notes").store("episodic", "The word of the row is heron");
    fs::rename(home.path("notes"), home.path("texts")).expect("the folder is renamed");
}

#[test]
fn a_healed_folder_can_be_taken_back_and_stays_so() {
    let home = TestHome::without_model();
    rename_notes(&home);
    assert_eq!(own_memories(&mut home.session_in("texts")), ["The word of the row is heron"]);
    let history = printed(&loci_in(&home, "texts", &["history"]));
    assert!(history.contains("groups heal"), "{history}");
    let undone = loci_in(&home, "texts", &["undo", "--last", "--yes"]);
    assert!(undone.status.success(), "{undone:?}");
    for _ in 0..2 {
        assert_eq!(own_memories(&mut home.session_in("texts")), [""; 0], "it is not healed again");
    }
    let redone = loci_in(&home, "texts", &["redo", "--yes"]);
    assert!(redone.status.success(), "{redone:?}");
    assert_eq!(own_memories(&mut home.session_in("texts")).len(), 1);
}

#[test]
fn a_healed_folder_stays_healed_and_the_command_line_follows() {
    let home = TestHome::without_model();
    rename_notes(&home);
    let list = printed(&loci_in(&home, "texts", &["list"]));
    assert!(list.contains("heron"), "the command line heals too: {list}");
    home.session_in("texts").store("episodic", "The word of the row is egret");
    fs::rename(home.path("texts"), home.path("pages")).expect("the folder is renamed");
    assert_eq!(own_memories(&mut home.session_in("pages")).len(), 2, "it is healed twice");
    fs::rename(home.path("pages"), home.path("notes")).expect("the folder is renamed");
    assert_eq!(own_memories(&mut home.session_in("notes")).len(), 2, "it is back");
    let groups = loci_in(&home, "notes", &["groups", "list", "--json"]);
    let groups: Value = serde_json::from_slice(&groups.stdout).expect("valid JSON");
    assert_eq!(groups["groups"].as_array().map(Vec::len), Some(1), "{groups}");
}

#[test]
fn a_copy_is_suggested_and_never_healed() {
    let home = TestHome::without_model();
    let tree = Tree { home: &home, root: home.path("") };
    tree.repository("shop");
    home.session_in("shop").store("episodic", "The word of the row is heron");
    tree.replace_by_copy("shop", "store");
    // What a hostile archive can hold: the repository, and any name.
    tree.file("store/.loci.toml", "isolated = false\n");
    let mut agent = home.session_in("store");
    assert_eq!(own_memories(&mut agent), [""; 0]);
    let status = home.status()["warnings"].to_string();
    assert!(status.contains("loci groups join shop"), "{status}");
    let doctor = printed(&loci_in(&home, "store", &["doctor"]));
    assert!(doctor.contains("loci groups join shop"), "{doctor}");
    assert!(!doctor.contains("heron"), "{doctor}");
}

#[test]
fn an_isolated_project_is_healed_only_into_its_own_folder() {
    let home = TestHome::without_model();
    let file = |folder: &str, text: &str| {
        fs::create_dir_all(home.path(folder)).expect("the folder is created");
        fs::write(home.path(folder).join(".loci.toml"), text).expect("the file is written");
    };
    file("client", "isolated = true\n");
    home.session_in("client").store("semantic", "The word of the row is zeppelin");
    fs::rename(home.path("client"), home.path("moved")).expect("the folder is renamed");
    assert_eq!(own_memories(&mut home.session_in("moved")).len(), 1);
    // A folder at the old path, and one with the same name, see nothing of it.
    for folder in ["client", "elsewhere/client"] {
        file(folder, "isolated = true\n");
        assert_eq!(own_memories(&mut home.session_in(folder)), [""; 0], "{folder}");
    }
    home.session_in("shop").store("semantic", "The shop closes at six");
    assert_eq!(home.session_in("shop").recall("zeppelin"), [""; 0], "it is still isolated");
    // Without its file, the moved folder is not led into the isolated project.
    fs::remove_file(home.path("moved/.loci.toml")).expect("the file is removed");
    fs::rename(home.path("moved"), home.path("again")).expect("the folder is renamed");
    assert_eq!(own_memories(&mut home.session_in("again")), [""; 0]);
}

#[test]
fn a_repository_that_is_mounted_at_another_path_is_the_same_project() {
    let home = TestHome::without_model();
    home.session_in("shop").store("episodic", "The word of the row is heron");
    fs::create_dir_all(home.path("workspace")).expect("the folder is created");
    let script = "mount --bind shop workspace && cd workspace && exec \"$0\" mcp";
    let mut container = home.command_at("unshare".as_ref());
    container.args(["--map-root-user", "--mount", "--", "sh", "-c", script]);
    container.arg(home.command("loci").get_program()).current_dir(home.path(""));
    let mut probe = Command::new("unshare");
    probe.args(["--map-root-user", "--mount", "--", "true"]).stderr(Stdio::null());
    if !probe.exit_in_time().is_ok_and(|status| status.success()) {
        loci_testkit::skipped::skip("this user may have no namespaces: nothing was mounted");
        return;
    }
    let mut agent = Agent::bare(&mut container);
    assert_eq!(own_memories(&mut agent), ["The word of the row is heron"]);
}

#[test]
fn branch_and_commit_are_recorded_and_another_branch_ranks_lower() {
    let home = TestHome::without_model();
    let tree = Tree { home: &home, root: home.path("") };
    tree.repository("shop");
    let mut agent = home.session_in("shop");
    let on_main = agent.store("episodic", "The port of the blue service is 4100");
    tree.git("shop", &["switch", "-q", "-c", "trial"]);
    tree.git("shop", &["commit", "-q", "--allow-empty", "-m", "two"]);
    let on_trial = agent.store("episodic", "The port of the blue service was 4200");
    let inspected = |agent: &mut Agent, id: &str| {
        agent.call("memory_inspect", json!({"memory_id": id})).expect("the memory exists")
    };
    let (main, trial) = (inspected(&mut agent, &on_main), inspected(&mut agent, &on_trial));
    let (main, trial) = (&main["memory"], &trial["memory"]);
    assert_eq!((&main["branch"], &trial["branch"]), (&json!("main"), &json!("trial")));
    assert_eq!(main["commit"].as_str().map(str::len), Some(40), "{main}");
    assert_ne!(main["commit"], trial["commit"], "the branch was changed during the session");
    let lowered = |agent: &mut Agent| {
        let asked = json!({"query": "port of the blue service", "explain": true});
        let reply = agent.call("recall_memory", asked).expect("the call succeeds");
        let results = reply["results"].as_array().expect("a JSON array").clone();
        assert_eq!(results.len(), 2, "nothing is hidden: {reply}");
        let parts = |result: &Value| result["why"]["parts"].to_string().contains("\"branch\"");
        let lowered: Vec<Value> =
            results.iter().filter(|r| parts(r)).map(|r| r["id"].clone()).collect();
        lowered
    };
    assert_eq!(lowered(&mut agent), Vec::<Value>::new(), "main is the default branch");
    tree.git("shop", &["switch", "-q", "main"]);
    assert_eq!(lowered(&mut agent), [json!(on_trial)]);
    tree.git("shop", &["switch", "-q", "--detach"]);
    assert_eq!(lowered(&mut agent), Vec::<Value>::new(), "no branch is checked out");
    let exported = printed(&home.loci(&["export"]));
    assert!(exported.contains("\"branch\":\"trial\""), "{exported}");
    let listed = printed(&loci_in(&home, "shop", &["list", "--json"]));
    assert!(listed.contains("\"branch\":\"trial\""), "{listed}");
}
