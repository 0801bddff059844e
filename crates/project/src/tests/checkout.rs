//! The branch and the commit of hostile and of real repositories.

use crate::tests::*;
use loci_proto::hello::Checkout;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

impl FolderTree {
    fn checkout_at(&self, path: &str) -> Checkout {
        let found = find(&self.environment_at(path));
        let checkout = found.checkout.map(|reader| reader.read()).unwrap_or_default();
        Checkout { top: None, ..checkout }
    }
}

fn checkout(branch: Option<&str>, commit: Option<&str>) -> Checkout {
    let text = |text: Option<&str>| text.map(str::to_owned);
    Checkout { branch: text(branch), commit: text(commit), default_branch: None, top: None }
}

#[test]
fn branch_and_commit_are_read_from_loose_and_packed_refs_and_a_detached_head() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    assert_eq!(tree.checkout_at("home/shop"), checkout(Some("main"), None), "no commit yet");
    tree.file("home/shop/.git/packed-refs", &format!("# pack-refs\n{COMMIT} refs/heads/main\n"));
    assert_eq!(tree.checkout_at("home/shop"), checkout(Some("main"), Some(COMMIT)));
    let other = COMMIT.replace('0', "f");
    tree.file("home/shop/.git/refs/heads/main", &format!("{other}\n"));
    assert_eq!(tree.checkout_at("home/shop"), checkout(Some("main"), Some(&other)));
    tree.file("home/shop/.git/HEAD", &format!("{COMMIT}\n"));
    assert_eq!(tree.checkout_at("home/shop"), checkout(None, Some(COMMIT)));
    tree.file("home/shop/.git/refs/remotes/origin/HEAD", "ref: refs/remotes/origin/trunk\n");
    let default = tree.checkout_at("home/shop").default_branch;
    assert_eq!(default.as_deref(), Some("trunk"));
}

#[test]
fn the_files_are_read_again_when_git_has_replaced_one() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    let replace = |path: &str, text: &str| {
        tree.file("home/shop/.git/x.lock", text);
        tree.folder("home/shop/.git/refs/heads");
        let (from, to) =
            (tree.root.join("home/shop/.git/x.lock"), tree.root.join("home/shop/.git").join(path));
        fs::rename(from, to).expect("the file is replaced");
    };
    let reader = find(&tree.environment_at("home/shop")).checkout.expect("it is a repository");
    for (path, text) in [
        ("packed-refs", format!("{COMMIT} refs/heads/main\n")),
        ("refs/heads/main", COMMIT.replace('0', "a")),
        ("refs/heads/main", COMMIT.replace('0', "b")),
        ("HEAD", "ref: refs/heads/fix\n".to_owned()),
        ("refs/heads/fix", COMMIT.replace('0', "c")),
        ("HEAD", COMMIT.replace('0', "d")),
    ] {
        let (before, stamp) = reader.read_with_stamp();
        assert!(reader.is_as(&stamp), "{path}");
        replace(path, &text);
        assert!(!reader.is_as(&stamp), "{path}");
        assert_ne!(reader.read(), before, "{path}");
    }
}

#[test]
fn a_worktree_has_a_head_of_its_own_and_a_folder_without_git_none() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    tree.worktree("home/fix", "home/shop");
    tree.file("home/shop/.git/worktrees/w/HEAD", "ref: refs/heads/fix/one\n");
    tree.file("home/shop/.git/refs/heads/fix/one", COMMIT);
    assert_eq!(tree.checkout_at("home/fix"), checkout(Some("fix/one"), Some(COMMIT)));
    tree.folder("home/notes");
    assert_eq!(tree.checkout_at("home/notes"), Checkout::default());
}

#[test]
fn nothing_but_branches_and_commits_is_read() {
    let tree = FolderTree::new();
    tree.file("home/secret", "the text of a secret\n");
    tree.file("home/id", COMMIT);
    for head in [
        "ref: refs/heads/../../../../id\n",
        "ref: ../../id\n",
        "ref: /home/id\n",
        "ref: refs//heads\n",
        "ref: refs/heads/.invalid\n",
        "the text of a secret\n",
        "ref: refs/heads/a\u{202e}b\n",
        "",
    ] {
        tree.file("home/evil/.git/HEAD", head);
        let found = tree.checkout_at("home/evil");
        assert_eq!((found.branch, found.commit), (None, None), "{head:?}");
    }
    let long = format!("ref: refs/heads/{}\n", "x".repeat(201));
    tree.file("home/evil/.git/HEAD", &long);
    assert_eq!(tree.checkout_at("home/evil").branch, None);
    tree.file("home/evil/.git/HEAD", "ref: refs/heads/main\n");
    tree.folder("home/evil/.git/refs/heads");
    let link = tree.root.join("home/evil/.git/refs/heads/main");
    symlink(tree.root.join("home/secret"), link).expect("the link is created");
    assert_eq!(tree.checkout_at("home/evil"), checkout(Some("main"), None));
}

#[test]
fn a_copy_has_the_trace_of_its_repository_and_another_identity() {
    let tree = FolderTree::new();
    for name in ["shop", "copy", "other"] {
        tree.repository(&format!("home/{name}"));
    }
    for name in ["shop", "copy"] {
        tree.file(&format!("home/{name}/.git/logs/HEAD"), "0 1 a\tclone: from x\nsecond\n");
    }
    let mark = |name: &str| {
        find(&tree.environment_at(&format!("home/{name}"))).folder.expect("it is a project")
    };
    let [shop, copy, other] = ["shop", "copy", "other"].map(mark);
    assert_eq!(shop.trace, copy.trace);
    assert!(shop.trace.is_some() && other.trace.is_none());
    if shop.identity.is_none() {
        loci_testkit::skipped::skip("the file system does not record when a folder was created");
        return;
    }
    assert_ne!(shop.identity, copy.identity);
    std::fs::rename(tree.root.join("home/shop"), tree.root.join("home/store"))
        .expect("the folder is renamed");
    assert_eq!(mark("store").identity, shop.identity, "it stays when the folder is renamed");
}

#[test]
fn a_project_switches_itself_off_and_says_so() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    for (text, off) in [
        ("off = true", true),
        ("off = false", false),
        ("group = \"offers\"", false),
        ("off = 1", true),
        ("isolated = true\nof = 2", false),
    ] {
        tree.file("home/shop/.loci.toml", text);
        let found = find(&tree.environment_at("home/shop"));
        assert_eq!((found.off, found.has_file), (off, false), "{text}");
    }
    let named = Environment { loci_group: Some("team".into()), ..tree.environment_at("home/shop") };
    tree.file("home/shop/.loci.toml", "off = true");
    assert!(find(&named).off, "LOCI_GROUP does not switch it on");
    tree.folder("home/notes");
    let found = find(&tree.environment_at("home/notes"));
    assert!(!found.off && !found.has_file && !found.incognito);
}
