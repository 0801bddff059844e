//! Which project a session works in, on folders made for each test.

mod hostile;
mod real_git;

use crate::project::*;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A folder tree with a HOME and a temporary root of its own.
struct World {
    _root: TempDir,
    root: PathBuf,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let path = root.path().canonicalize().expect("exists");
        let world = Self { _root: root, root: path };
        for folder in ["home", "tmp"] {
            world.folder(folder);
        }
        world
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

    fn at(&self, path: &str) -> Surroundings {
        let shared = vec![PathBuf::from("/"), self.root.join("home"), self.root.join("tmp")];
        Surroundings { working_dir: Some(self.root.join(path)), shared, ..Surroundings::default() }
    }

    fn hint_at(&self, path: &str) -> GroupHint {
        let found = find(&self.at(path));
        assert_eq!(found.warnings, Vec::<String>::new());
        found.hint
    }

    fn folder_hint(&self, path: &str) -> GroupHint {
        GroupHint::Folder(self.root.join(path).display().to_string())
    }

    /// The project of this folder, which names itself.
    fn self_named(&self, path: &str, name: &str) -> GroupHint {
        GroupHint::ProjectNamed {
            folder: self.root.join(path).display().to_string(),
            name: name.parse().expect("is a name"),
        }
    }

    /// The hint, where something was passed over on the way to it.
    fn doubted_at(&self, path: &str) -> GroupHint {
        let found = find(&self.at(path));
        assert!(
            found.warnings.len() == 1 && found.warnings[0].contains("does not know this folder"),
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
    let world = World::new();
    world.repository("home/shop");
    world.folder("home/shop/src/deep");
    assert_eq!(world.hint_at("home/shop/src/deep"), world.folder_hint("home/shop/.git"));
    assert_eq!(world.hint_at("home/shop"), world.folder_hint("home/shop/.git"));
}

#[test]
fn a_worktree_shares_the_project_of_its_repository() {
    let world = World::new();
    world.repository("home/shop");
    world.worktree("elsewhere/shop-fix", "home/shop");
    world.folder("elsewhere/shop-fix/src");
    assert_eq!(world.hint_at("elsewhere/shop-fix/src"), world.folder_hint("home/shop/.git"));
}

#[test]
fn a_folder_that_only_claims_to_be_a_worktree_is_a_project_of_its_own() {
    let world = World::new();
    world.repository("home/shop");
    world.worktree("home/fix", "home/shop");
    for (folder, target) in
        [("home/evil", "home/shop/.git/worktrees/w"), ("home/evil2", "home/shop/.git")]
    {
        world.file(
            &format!("{folder}/.git"),
            &format!("gitdir: {}/{target}\n", world.root.display()),
        );
        assert_eq!(world.doubted_at(folder), world.folder_hint(folder));
    }
}

#[test]
fn a_submodule_is_a_project_of_its_own() {
    let world = World::new();
    world.repository("home/shop");
    world.submodule("home/shop", "lib");
    assert_eq!(world.hint_at("home/shop/lib"), world.folder_hint("home/shop/.git/modules/lib"));
}

#[test]
fn a_link_leads_to_the_same_project() {
    let world = World::new();
    world.repository("home/shop");
    symlink(world.root.join("home/shop"), world.root.join("link")).expect("is linked");
    assert_eq!(world.hint_at("link"), world.folder_hint("home/shop/.git"));
}

#[test]
fn a_folder_without_git_stands_for_itself_unless_many_projects_share_it() {
    let world = World::new();
    world.folder("home/notes");
    world.folder("tmp/try");
    assert_eq!(world.hint_at("home/notes"), world.folder_hint("home/notes"));
    assert_eq!(world.hint_at("tmp/try"), world.folder_hint("tmp/try"));
    assert_eq!(world.hint_at("home"), GroupHint::Default);
    assert_eq!(world.hint_at("tmp"), GroupHint::Default);
    let root = Surroundings { working_dir: Some("/".into()), ..world.at("home") };
    assert_eq!(find(&root).hint, GroupHint::Default);
}

#[test]
fn a_repository_in_home_does_not_swallow_what_lies_below() {
    let world = World::new();
    world.repository("home");
    world.folder("home/notes");
    assert_eq!(world.hint_at("home/notes"), world.folder_hint("home/notes"));
    assert_eq!(world.hint_at("home"), GroupHint::Default);
}

#[test]
fn the_project_folder_of_the_agent_wins_over_the_working_directory() {
    let world = World::new();
    world.repository("home/shop");
    world.folder("home/notes");
    let here =
        Surroundings { project_dir: Some(world.root.join("home/shop")), ..world.at("home/notes") };
    assert_eq!(find(&here).hint, world.folder_hint("home/shop/.git"));
    let gone = Surroundings { project_dir: Some("${nowhere}".into()), ..world.at("home/notes") };
    assert_eq!(find(&gone).hint, world.folder_hint("home/notes"));
    assert_eq!(find(&gone).warnings.len(), 1);
}

#[test]
fn a_project_file_names_the_project_up_to_the_top_of_the_repository() {
    let world = World::new();
    world.repository("home/shop");
    world.file("home/shop/.loci.toml", "group = \"shop\"\n");
    world.folder("home/shop/src");
    assert_eq!(world.hint_at("home/shop/src"), world.self_named("home/shop/.git", "shop"));
    world.file("home/notes/.loci.toml", "group = \"notes\"\n");
    world.folder("home/notes/old");
    assert_eq!(world.hint_at("home/notes"), world.self_named("home/notes", "notes"));
    assert_eq!(
        world.hint_at("home/notes/old"),
        world.folder_hint("home/notes/old"),
        "without a repository only the folder itself counts"
    );
}

#[test]
fn a_project_file_that_is_wrong_or_names_another_project_is_ignored_and_told() {
    let world = World::new();
    for (text, why) in [
        ("group = \"g_0123456789abcdef\"", "may name only itself"),
        ("group = 7", "must be a string"),
        ("group = \"a\"\nother = 1", "unknown field `other`"),
        ("group = ", "string values must be quoted"),
    ] {
        world.file("home/odd/.loci.toml", text);
        let found = find(&world.at("home/odd"));
        assert_eq!(found.hint, world.folder_hint("home/odd"), "{text}");
        assert!(found.warnings[0].contains(why), "{:?}", found.warnings);
    }
}

#[test]
fn the_variable_wins_over_everything_unless_it_cannot_be_a_name() {
    let world = World::new();
    world.repository("home/shop");
    world.file("home/shop/.loci.toml", "group = \"shop\"\n");
    let with = |value: &str| {
        find(&Surroundings { loci_group: Some(value.into()), ..world.at("home/shop") })
    };
    assert_eq!(with("team").hint, name("team"));
    for (value, why) in [
        ("${TEAM}", "left a variable"),
        (&"x".repeat(129), "at most 128"),
        ("a\nb", "control characters"),
    ] {
        let found = with(value);
        assert_eq!(found.hint, world.self_named("home/shop/.git", "shop"));
        assert!(found.warnings[0].contains(why), "{:?}", found.warnings);
    }
}

#[test]
fn without_a_working_directory_there_is_no_project() {
    let found = find(&Surroundings { working_dir: None, ..World::new().at("home") });
    assert_eq!((found.hint, found.warnings.len()), (GroupHint::Default, 1));
}
