//! Project discovery in temporary folder trees.

mod hostile;
mod real_git;

use crate::project::*;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A folder tree with a HOME and a temporary root of its own.
struct FolderTree {
    _root: TempDir,
    root: PathBuf,
}

impl FolderTree {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let path = root.path().canonicalize().expect("exists");
        let tree = Self { _root: root, root: path };
        for folder in ["home", "tmp"] {
            tree.folder(folder);
        }
        tree
    }

    fn folder(&self, path: &str) -> PathBuf {
        let folder = self.root.join(path);
        fs::create_dir_all(&folder).expect("is made");
        folder
    }

    fn file(&self, path: &str, text: &str) {
        let file = self.root.join(path);
        fs::create_dir_all(file.parent().expect("has a folder")).expect("is made");
        fs::write(file, text).expect("is written");
    }

    fn repository(&self, path: &str) {
        self.file(&format!("{path}/.git/HEAD"), "ref: refs/heads/main\n");
    }

    /// A submodule as git makes one.
    fn submodule(&self, of: &str, name: &str) {
        let kept = format!("{of}/.git/modules/{name}");
        self.file(&format!("{kept}/HEAD"), "ref: refs/heads/main\n");
        self.file(
            &format!("{kept}/config"),
            &format!(
                "[core]\n\tbare = false\n\tworktree = ../../../{name}\n[user]\n\tworktree = x\n"
            ),
        );
        self.file(&format!("{of}/{name}/.git"), &format!("gitdir: ../.git/modules/{name}\n"));
    }

    /// A worktree as git makes one.
    fn worktree(&self, path: &str, of: &str) {
        let (root, admin) = (self.root.display(), format!("{of}/.git/worktrees/w"));
        self.file(&format!("{path}/.git"), &format!("gitdir: {root}/{admin}\n"));
        self.file(&format!("{admin}/commondir"), "../..\n");
        self.file(&format!("{admin}/gitdir"), &format!("{root}/{path}/.git\n"));
    }

    fn at(&self, path: &str) -> Environment {
        let shared = vec![PathBuf::from("/"), self.root.join("home"), self.root.join("tmp")];
        Environment { working_dir: Some(self.root.join(path)), shared, ..Environment::default() }
    }

    fn hint_at(&self, path: &str) -> GroupHint {
        let found = find(&self.at(path));
        assert_eq!(found.warnings, Vec::<String>::new());
        found.hint
    }

    fn folder_hint(&self, path: &str) -> GroupHint {
        GroupHint::Folder(self.root.join(path).display().to_string())
    }

    /// Returns the hint of a folder that names itself.
    fn self_named(&self, path: &str, name: &str) -> GroupHint {
        GroupHint::ProjectNamed {
            folder: self.root.join(path).display().to_string(),
            name: name.parse().expect("is a name"),
        }
    }

    /// Returns the hint and expects the warning about an ignored `.git`.
    fn hint_with_warning_at(&self, path: &str) -> GroupHint {
        let found = find(&self.at(path));
        assert!(
            found.warnings.len() == 1
                && found.warnings[0].contains("does not refer back to this folder"),
            "{path}: {:?}",
            found.warnings
        );
        found.hint
    }
}

fn name(name: &str) -> GroupHint {
    GroupHint::Named(name.parse().expect("is a name"))
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
    symlink(tree.root.join("home/shop"), tree.root.join("link")).expect("is linked");
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
    let root = Environment { working_dir: Some("/".into()), ..tree.at("home") };
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
    let here =
        Environment { project_dir: Some(tree.root.join("home/shop")), ..tree.at("home/notes") };
    assert_eq!(find(&here).hint, tree.folder_hint("home/shop/.git"));
    let gone = Environment { project_dir: Some("${nowhere}".into()), ..tree.at("home/notes") };
    assert_eq!(find(&gone).hint, tree.folder_hint("home/notes"));
    assert_eq!(find(&gone).warnings.len(), 1);
}

#[test]
fn a_project_file_names_the_project_up_to_the_top_of_the_repository() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    tree.file("home/shop/.loci.toml", "group = \"shop\"\n");
    tree.folder("home/shop/src");
    assert_eq!(tree.hint_at("home/shop/src"), tree.self_named("home/shop/.git", "shop"));
    tree.file("home/notes/.loci.toml", "group = \"notes\"\n");
    tree.folder("home/notes/old");
    assert_eq!(tree.hint_at("home/notes"), tree.self_named("home/notes", "notes"));
    assert_eq!(
        tree.hint_at("home/notes/old"),
        tree.folder_hint("home/notes/old"),
        "without a repository only the folder itself counts"
    );
}

#[test]
fn an_invalid_project_file_is_ignored_with_a_warning() {
    let tree = FolderTree::new();
    for (text, why) in [
        ("group = \"g_0123456789abcdef\"", "can only set its own name"),
        ("group = 7", "must be a string"),
        ("group = \"a\"\nother = 1", "unknown field `other`"),
        ("group = ", "string values must be quoted"),
    ] {
        tree.file("home/odd/.loci.toml", text);
        let found = find(&tree.at("home/odd"));
        assert_eq!(found.hint, tree.folder_hint("home/odd"), "{text}");
        assert!(found.warnings[0].contains(why), "{:?}", found.warnings);
    }
}

#[test]
fn the_variable_wins_unless_it_is_not_a_valid_name() {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    tree.file("home/shop/.loci.toml", "group = \"shop\"\n");
    let with =
        |value: &str| find(&Environment { loci_group: Some(value.into()), ..tree.at("home/shop") });
    assert_eq!(with("team").hint, name("team"));
    for (value, why) in [
        ("${TEAM}", "did not expand"),
        (&"x".repeat(129), "at most 128"),
        ("a\nb", "control characters"),
    ] {
        let found = with(value);
        assert_eq!(found.hint, tree.self_named("home/shop/.git", "shop"));
        assert!(found.warnings[0].contains(why), "{:?}", found.warnings);
    }
}

#[test]
fn without_a_working_directory_there_is_no_project() {
    let found = find(&Environment { working_dir: None, ..FolderTree::new().at("home") });
    assert_eq!((found.hint, found.warnings.len()), (GroupHint::Default, 1));
}
