//! Hostile project files: none of them selects another project.

use crate::tests::*;
use loci_proto::group::{Group, GroupName};

/// Returns the group that the daemon derives from a hint.
fn group(hint: &GroupHint) -> Group {
    let default: GroupName = "default".parse().expect("the name is valid");
    match hint {
        GroupHint::Named(name) => Group::named(name),
        GroupHint::ProjectNamed { folder, name } => Group::of_named_project(folder, name),
        GroupHint::Folder(path) => Group::of_folder(path),
        GroupHint::Default => Group::named(&default),
    }
}

/// Returns a tree with the attacked project `home/shop`: a repository with a worktree and a submodule.
fn victim() -> FolderTree {
    let tree = FolderTree::new();
    tree.repository("home/shop");
    tree.worktree("home/fix", "home/shop");
    tree.submodule("home/shop", "lib");
    tree
}

#[test]
fn a_name_in_a_project_file_selects_that_project_only() {
    let tree = victim();
    tree.repository("home/evil");
    tree.file("home/shop/.loci.toml", "group = \"work\"\n");
    for taken in ["work", "default", "shop"] {
        tree.file("home/evil/.loci.toml", &format!("group = \"{taken}\"\n"));
        assert_eq!(group(&tree.hint_at("home/evil")).name, "evil", "a name is a claim");
        tree.allow("home/evil");
        let evil = group(&tree.hint_at("home/evil"));
        assert_eq!(evil.name, taken);
        assert!(evil.id.len() == 18 && evil.id.starts_with("g_"), "{evil:?}");
        let others = [
            named_hint(taken),
            GroupHint::Default,
            tree.folder_hint("home/shop/.git"),
            tree.hint_at("home/shop"),
        ];
        assert!(others.iter().all(|other| group(other).id != evil.id), "{taken}");
    }
}

#[test]
fn a_name_in_a_project_file_splits_a_project_and_applies_in_its_worktrees() {
    let tree = victim();
    for folder in ["home/shop", "home/fix"] {
        tree.file(&format!("{folder}/api/.loci.toml"), "group = \"api\"\n");
    }
    tree.allow("home/shop/api");
    let [repository, subfolder, in_worktree] =
        ["home/shop", "home/shop/api", "home/fix/api"].map(|folder| group(&tree.hint_at(folder)));
    assert_ne!(subfolder.id, repository.id);
    assert_eq!(subfolder, in_worktree);
}

#[test]
fn a_folder_name_with_a_line_break_is_not_confused_with_a_named_folder() {
    let tree = FolderTree::new();
    tree.file("home/shop/.loci.toml", "group = \"work\"\n");
    tree.allow("home/shop");
    let ids = ["home/shop\nwork", "home/shop\\nwork"].map(|folder| {
        tree.folder(folder);
        group(&tree.hint_at(folder)).id
    });
    let shop = group(&tree.hint_at("home/shop")).id;
    assert!(ids[0] != ids[1] && !ids.contains(&shop), "{ids:?}, {shop}");
}

#[test]
fn a_git_folder_that_is_a_symbolic_link_is_not_followed() {
    let tree = victim();
    for (folder, target) in [
        ("home/evil", "../shop/.git"),
        ("home/evil2", "../fix/.git"),
        ("home/evil3", "../shop/lib/.git"),
    ] {
        tree.folder(&format!("{folder}/src"));
        symlink(target, tree.root.join(folder).join(".git")).expect("the link is created");
        assert_eq!(tree.hint_with_warning_at(folder), tree.folder_hint(folder));
        assert_eq!(
            tree.hint_with_warning_at(&format!("{folder}/src")),
            tree.folder_hint(folder),
            "the project is the same from a folder inside"
        );
    }
}

#[test]
fn a_git_file_that_points_to_another_repository_is_not_followed() {
    let tree = victim();
    tree.file("home/proj/.bare/HEAD", "ref: refs/heads/main\n");
    tree.file("home/proj/.bare/config", "[core]\n\tbare = true\n");
    for target in [
        "../proj/.bare",
        "../shop/.git",
        "../shop/.git/modules/lib",
        "../shop/.git/worktrees/w",
        "../nowhere",
    ] {
        tree.file("home/evil/.git", &format!("gitdir: {target}\n"));
        assert_eq!(
            tree.hint_with_warning_at("home/evil"),
            tree.folder_hint("home/evil"),
            "{target}"
        );
    }
}

#[test]
fn a_git_file_inside_another_project_is_not_followed() {
    let tree = victim();
    for target in ["../../.git", "../../.git/modules/lib", "../../.git/worktrees/w"] {
        tree.file("home/shop/vendor/evil/.git", &format!("gitdir: {target}\n"));
        assert_eq!(
            tree.hint_with_warning_at("home/shop/vendor/evil"),
            tree.folder_hint("home/shop/vendor/evil"),
            "{target}"
        );
    }
}

#[test]
fn a_worktree_with_a_forged_admin_folder_is_not_followed() {
    let tree = victim();
    for target in ["../../shop/.git", "../../shop/.git/modules/lib"] {
        tree.file("home/evil/.git", "gitdir: admin\n");
        tree.file("home/evil/admin/commondir", &format!("{target}\n"));
        tree.file("home/evil/admin/gitdir", "../.git\n");
        assert_eq!(
            tree.hint_with_warning_at("home/evil"),
            tree.folder_hint("home/evil"),
            "{target}"
        );
    }
}

#[test]
fn a_submodule_with_a_forged_repository_is_not_followed() {
    let tree = victim();
    // The attacker's repository around the submodule has a link to the victim's repository in `modules/sub`.
    tree.repository("home/evil");
    tree.file("home/evil/sub/.git", "gitdir: ../.git/modules/sub\n");
    tree.folder("home/evil/.git/modules");
    symlink(
        tree.root.join("home/shop/.git/modules/lib"),
        tree.root.join("home/evil/.git/modules/sub"),
    )
    .expect("the link is created");
    assert_eq!(tree.hint_with_warning_at("home/evil/sub"), tree.folder_hint("home/evil/sub"));
    // The victim's repository names the attacker's folder, but is outside the repository around that folder.
    tree.file("home/shop/.git/modules/lib/config", "[core]\n\tworktree = ../../../../evil/sub\n");
    assert_eq!(tree.hint_with_warning_at("home/evil/sub"), tree.folder_hint("home/evil/sub"));
}
