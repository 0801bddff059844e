//! Project discovery in temporary folder trees.

mod checkout;
mod hostile;
mod real_git;

use crate::*;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A temporary folder tree with the shared folders `home` and `tmp`.
struct FolderTree {
    _temp: TempDir,
    root: PathBuf,
}

impl FolderTree {
    fn new() -> Self {
        let temp = tempfile::tempdir().expect("the temporary folder is created");
        let root = temp.path().canonicalize().expect("the temporary folder exists");
        let tree = Self { _temp: temp, root };
        for folder in ["home", "tmp"] {
            tree.folder(folder);
        }
        tree
    }

    fn folder(&self, path: &str) -> PathBuf {
        let folder = self.root.join(path);
        fs::create_dir_all(&folder).expect("the folder is created");
        folder
    }

    fn file(&self, path: &str, text: &str) {
        let file = self.root.join(path);
        let folder = file.parent().expect("the path has a folder");
        fs::create_dir_all(folder).expect("the folder is created");
        fs::write(file, text).expect("the file is written");
    }

    /// Allows what the files of a folder ask for.
    fn allow(&self, path: &str) {
        let asking = find(&self.environment_at(path)).asking;
        AllowedFiles::add(&self.root, Answer::Allowed, &asking).expect("the answer is written");
    }

    fn repository(&self, path: &str) {
        self.file(&format!("{path}/.git/HEAD"), "ref: refs/heads/main\n");
    }

    /// Creates a submodule with the files that git creates.
    fn submodule(&self, repository: &str, name: &str) {
        let git_dir = format!("{repository}/.git/modules/{name}");
        self.file(&format!("{git_dir}/HEAD"), "ref: refs/heads/main\n");
        self.file(
            &format!("{git_dir}/config"),
            &format!(
                "[core]\n\tbare = false\n\tworktree = ../../../{name}\n[user]\n\tworktree = x\n"
            ),
        );
        self.file(
            &format!("{repository}/{name}/.git"),
            &format!("gitdir: ../.git/modules/{name}\n"),
        );
    }

    /// Creates a worktree with the files that git creates.
    fn worktree(&self, path: &str, repository: &str) {
        let (root, admin) = (self.root.display(), format!("{repository}/.git/worktrees/w"));
        self.file(&format!("{path}/.git"), &format!("gitdir: {root}/{admin}\n"));
        self.file(&format!("{admin}/commondir"), "../..\n");
        self.file(&format!("{admin}/gitdir"), &format!("{root}/{path}/.git\n"));
    }

    fn environment_at(&self, path: &str) -> Environment {
        let shared = vec![PathBuf::from("/"), self.root.join("home"), self.root.join("tmp")];
        Environment {
            working_dir: Some(self.root.join(path)),
            shared,
            allowed: AllowedFiles::read(&self.root),
            ..Environment::default()
        }
    }

    fn hint_at(&self, path: &str) -> GroupHint {
        let found = find(&self.environment_at(path));
        assert_eq!(found.warnings, Vec::<String>::new());
        found.hint
    }

    fn folder_hint(&self, path: &str) -> GroupHint {
        GroupHint::Folder(self.root.join(path).display().to_string())
    }

    /// Returns the hint of a folder whose `.loci.toml` contains `name`.
    fn project_named_hint(&self, path: &str, name: &str) -> GroupHint {
        GroupHint::ProjectNamed {
            folder: self.root.join(path).display().to_string(),
            name: name.parse().expect("the name is valid"),
        }
    }

    /// Returns the hint and expects the warning about an ignored `.git`.
    fn hint_with_warning_at(&self, path: &str) -> GroupHint {
        let found = find(&self.environment_at(path));
        assert!(
            found.warnings.len() == 1
                && found.warnings[0].contains("does not refer back to this folder"),
            "{path}: {:?}",
            found.warnings
        );
        found.hint
    }
}

fn named_hint(name: &str) -> GroupHint {
    GroupHint::Named(name.parse().expect("the name is valid"))
}

#[test]
fn a_repository_is_one_project_from_every_folder_in_it() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    tree.folder("home/shop/src/deep");
    assert_eq!(tree.hint_at("home/shop/src/deep"), tree.folder_hint("home/shop/.git"));
    assert_eq!(tree.hint_at("home/shop"), tree.folder_hint("home/shop/.git"));
}

#[test]
fn a_worktree_shares_the_project_of_its_repository() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    tree.worktree("elsewhere/shop-fix", "home/shop");
    tree.folder("elsewhere/shop-fix/src");
    assert_eq!(tree.hint_at("elsewhere/shop-fix/src"), tree.folder_hint("home/shop/.git"));
}

#[test]
fn a_folder_that_falsely_claims_to_be_a_worktree_is_a_project_of_its_own() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    tree.worktree("home/fix", "home/shop");
    for (folder, target) in
        [("home/evil", "home/shop/.git/worktrees/w"), ("home/evil2", "home/shop/.git")]
    {
        tree.file(
            &format!("{folder}/.git"),
            &format!("gitdir: {}/{target}\n", tree.root.display()),
        );
        assert_eq!(tree.hint_with_warning_at(folder), tree.folder_hint(folder));
    }
}

#[test]
fn a_submodule_is_a_project_of_its_own() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    tree.submodule("home/shop", "lib");
    assert_eq!(tree.hint_at("home/shop/lib"), tree.folder_hint("home/shop/.git/modules/lib"));
}

#[test]
fn a_symbolic_link_has_the_same_project() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    symlink(tree.root.join("home/shop"), tree.root.join("link")).expect("the link is created");
    assert_eq!(tree.hint_at("link"), tree.folder_hint("home/shop/.git"));
}

#[test]
fn a_folder_without_git_is_a_project_unless_many_projects_share_it() {
    let tree = FolderTree::new();
    tree.folder("home/notes");
    tree.folder("tmp/try");
    assert_eq!(tree.hint_at("home/notes"), tree.folder_hint("home/notes"));
    assert_eq!(tree.hint_at("tmp/try"), tree.folder_hint("tmp/try"));
    assert_eq!(tree.hint_at("home"), GroupHint::Default);
    assert_eq!(tree.hint_at("tmp"), GroupHint::Default);
    let root = Environment { working_dir: Some("/".into()), ..tree.environment_at("home") };
    assert_eq!(find(&root).hint, GroupHint::Default);
}

#[test]
fn a_repository_in_home_does_not_include_the_folders_below() {
    let tree = FolderTree::new();
    tree.repository("home");
    tree.folder("home/notes");
    assert_eq!(tree.hint_at("home/notes"), tree.folder_hint("home/notes"));
    assert_eq!(tree.hint_at("home"), GroupHint::Default);
}

#[test]
fn the_project_folder_of_the_agent_wins_over_the_working_directory() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    tree.folder("home/notes");
    let valid = Environment {
        project_dir: Some(tree.root.join("home/shop")),
        ..tree.environment_at("home/notes")
    };
    assert_eq!(find(&valid).hint, tree.folder_hint("home/shop/.git"));
    let missing =
        Environment { project_dir: Some("${nowhere}".into()), ..tree.environment_at("home/notes") };
    assert_eq!(find(&missing).hint, tree.folder_hint("home/notes"));
    assert_eq!(find(&missing).warnings.len(), 1);
}

#[test]
fn a_project_file_names_the_project_up_to_the_top_of_the_repository() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    tree.file("home/shop/.loci.toml", "group = \"shop\"\n");
    tree.folder("home/shop/src");
    assert_eq!(tree.hint_at("home/shop/src"), tree.folder_hint("home/shop/.git"), "not allowed");
    tree.allow("home/shop");
    assert_eq!(tree.hint_at("home/shop/src"), tree.project_named_hint("home/shop/.git", "shop"));
    tree.file("home/notes/.loci.toml", "group = \"notes\"\n");
    tree.folder("home/notes/old");
    tree.allow("home/notes");
    assert_eq!(tree.hint_at("home/notes"), tree.project_named_hint("home/notes", "notes"));
    assert_eq!(
        tree.hint_at("home/notes/old"),
        tree.folder_hint("home/notes/old"),
        "without a repository the files of parent folders do not count"
    );
}

#[test]
fn an_invalid_project_file_is_ignored_with_a_warning() {
    let tree = FolderTree::new();
    for (text, reason) in [
        ("group = \"g_0123456789abcdef\"", "can only set its own name"),
        ("group = 7", "must be a string"),
        ("group = \"a\"\nother = 1", "unknown field `other`"),
        ("group = ", "string values must be quoted"),
    ] {
        tree.file("home/invalid/.loci.toml", text);
        let found = find(&tree.environment_at("home/invalid"));
        assert_eq!(found.hint, tree.folder_hint("home/invalid"), "{text}");
        assert!(found.warnings[0].contains(reason), "{:?}", found.warnings);
    }
}

#[test]
fn the_variable_wins_unless_it_is_not_a_valid_name() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    tree.file("home/shop/.loci.toml", "group = \"shop\"\n");
    tree.allow("home/shop");
    let find_with = |value: &str| {
        find(&Environment { loci_group: Some(value.into()), ..tree.environment_at("home/shop") })
    };
    assert_eq!(find_with("team").hint, named_hint("team"));
    for (value, reason) in [
        ("${TEAM}", "did not expand"),
        (&"x".repeat(129), "at most 128"),
        ("a\nb", "control characters"),
    ] {
        let found = find_with(value);
        assert_eq!(found.hint, tree.project_named_hint("home/shop/.git", "shop"));
        assert!(found.warnings[0].contains(reason), "{:?}", found.warnings);
    }
}

#[test]
fn without_a_working_directory_there_is_no_project() {
    let found =
        find(&Environment { working_dir: None, ..FolderTree::new().environment_at("home") });
    assert_eq!((found.hint, found.warnings.len()), (GroupHint::Default, 1));
}

#[test]
fn a_file_that_nobody_has_allowed_only_tightens_and_asks_once() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    let found = || find(&tree.environment_at("home/shop"));
    for (text, name, shares, isolated, off) in [
        ("group = \"work\"", Some("work"), false, None, false),
        ("isolated = false", None, true, None, false),
        ("isolated = true\ngroup = \"work\"", Some("work"), false, Some(true), false),
        ("off = true\nisolated = false", None, true, None, true),
        ("off = false", None, false, None, false),
        ("", None, false, None, false),
    ] {
        tree.file("home/shop/.loci.toml", text);
        let first = found();
        assert_eq!(first.hint, tree.folder_hint("home/shop/.git"), "{text}");
        assert_eq!((first.isolated, first.off, first.has_file), (isolated, off, false), "{text}");
        let asks = first.asks.expect("it asks");
        assert_eq!((asks.name.as_ref().map(GroupName::as_str), asks.shares), (name, shares));
        AllowedFiles::add(&tree.root, Answer::Declined, &first.asking).expect("it is written");
        let declined = found();
        assert_eq!((declined.isolated, declined.asks), (isolated, None), "{text}");
        AllowedFiles::add(&tree.root, Answer::Allowed, &first.asking).expect("it is written");
        let allowed = found();
        assert!(allowed.has_file && allowed.asks.is_none(), "{text}");
        assert_eq!(allowed.isolated, if shares { Some(false) } else { isolated }, "{text}");
        // A change of one byte asks again.
        tree.file("home/shop/.loci.toml", &format!("{text}\n"));
        assert!(found().asks.is_some() && !found().has_file, "{text}");
    }
    // The same file in a worktree is the same answer, and one in another folder is not.
    tree.file("home/shop/.loci.toml", "group = \"shop\"");
    tree.allow("home/shop");
    tree.worktree("home/shop-fix", "home/shop");
    tree.file("home/shop-fix/.loci.toml", "group = \"shop\"");
    assert_eq!(tree.hint_at("home/shop-fix"), tree.project_named_hint("home/shop/.git", "shop"));
    tree.repository("home/copy");
    tree.file("home/copy/.loci.toml", "group = \"shop\"");
    assert_eq!(tree.hint_at("home/copy"), tree.folder_hint("home/copy/.git"));
    fs::rename(tree.root.join("home/shop"), tree.root.join("home/store")).expect("it is renamed");
    let moved = tree.hint_at("home/store");
    assert_eq!(moved, tree.project_named_hint("home/store/.git", "shop"), "a moved folder");
    fs::rename(tree.root.join("home/store"), tree.root.join("home/shop")).expect("it is renamed");
    // A part that says less strict than the whole.
    tree.file("home/shop/.loci.toml", "isolated = true");
    tree.file("home/shop/part/.loci.toml", "isolated = false");
    assert_eq!(find(&tree.environment_at("home/shop/part")).isolated, Some(true));
}
