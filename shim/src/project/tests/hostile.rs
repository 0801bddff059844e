//! Files that come with a hostile project: none of them leads to the project or the group of somebody else.

use crate::project::tests::*;
use loci_proto::group::{Group, GroupName};

/// What the daemon makes of a hint.
fn group(hint: &GroupHint) -> Group {
    let default: GroupName = "default".parse().expect("is a name");
    match hint {
        GroupHint::Named(name) => Group::named(name),
        GroupHint::ProjectNamed { folder, name } => Group::of_named_project(folder, name),
        GroupHint::Folder(path) => Group::of_folder(path),
        GroupHint::Default => Group::named(&default),
    }
}

/// A world with a victim: a repository with a worktree and a submodule.
fn victim() -> World {
    let world = World::new();
    world.repository("home/shop");
    world.worktree("home/fix", "home/shop");
    world.submodule("home/shop", "lib");
    world
}

#[test]
fn a_name_in_a_project_file_is_the_group_of_that_project_alone() {
    let world = victim();
    world.repository("home/evil");
    world.file("home/shop/.loci.toml", "group = \"work\"\n");
    for taken in ["work", "default", "shop"] {
        world.file("home/evil/.loci.toml", &format!("group = \"{taken}\"\n"));
        let evil = group(&world.hint_at("home/evil"));
        assert_eq!(evil.name, taken);
        assert!(evil.id.len() == 18 && evil.id.starts_with("g_"), "{evil:?}");
        let others = [
            name(taken),
            GroupHint::Default,
            world.folder_hint("home/shop/.git"),
            world.hint_at("home/shop"),
        ];
        assert!(others.iter().all(|other| group(other).id != evil.id), "{taken}");
    }
}

#[test]
fn a_name_in_a_project_file_splits_a_project_and_holds_in_its_worktrees() {
    let world = victim();
    for folder in ["home/shop", "home/fix"] {
        world.file(&format!("{folder}/api/.loci.toml"), "group = \"api\"\n");
    }
    let [whole, part, elsewhere] =
        ["home/shop", "home/shop/api", "home/fix/api"].map(|folder| group(&world.hint_at(folder)));
    assert_ne!(part.id, whole.id);
    assert_eq!(part, elsewhere);
}

#[test]
fn a_folder_with_a_line_break_in_its_name_is_no_folder_with_a_name() {
    let world = World::new();
    world.file("home/shop/.loci.toml", "group = \"work\"\n");
    let odd = ["home/shop\nwork", "home/shop\\nwork"].map(|folder| {
        world.folder(folder);
        group(&world.hint_at(folder)).id
    });
    let shop = group(&world.hint_at("home/shop")).id;
    assert!(odd[0] != odd[1] && !odd.contains(&shop), "{odd:?}, {shop}");
}

#[test]
fn a_git_folder_that_is_a_link_is_not_followed() {
    let world = victim();
    for (folder, target) in [
        ("home/evil", "../shop/.git"),
        ("home/evil2", "../fix/.git"),
        ("home/evil3", "../shop/lib/.git"),
    ] {
        world.folder(&format!("{folder}/src"));
        symlink(target, world.root.join(folder).join(".git")).expect("is linked");
        assert_eq!(world.doubted_at(folder), world.folder_hint(folder));
        assert_eq!(
            world.doubted_at(&format!("{folder}/src")),
            world.folder_hint(folder),
            "it is one project from every folder in it"
        );
    }
}

#[test]
fn a_git_file_that_leads_to_a_repository_of_somebody_else_is_not_followed() {
    let world = victim();
    world.file("home/proj/.bare/HEAD", "ref: refs/heads/main\n");
    world.file("home/proj/.bare/config", "[core]\n\tbare = true\n");
    for target in [
        "../proj/.bare",
        "../shop/.git",
        "../shop/.git/modules/lib",
        "../shop/.git/worktrees/w",
        "../nowhere",
    ] {
        world.file("home/evil/.git", &format!("gitdir: {target}\n"));
        assert_eq!(world.doubted_at("home/evil"), world.folder_hint("home/evil"), "{target}");
    }
}

#[test]
fn a_git_file_inside_the_project_of_somebody_else_is_not_followed() {
    let world = victim();
    for target in ["../../.git", "../../.git/modules/lib", "../../.git/worktrees/w"] {
        world.file("home/shop/vendor/evil/.git", &format!("gitdir: {target}\n"));
        assert_eq!(
            world.doubted_at("home/shop/vendor/evil"),
            world.folder_hint("home/shop/vendor/evil"),
            "{target}"
        );
    }
}

#[test]
fn a_worktree_that_brings_its_own_proof_is_not_believed() {
    let world = victim();
    for target in ["../../shop/.git", "../../shop/.git/modules/lib"] {
        world.file("home/evil/.git", "gitdir: admin\n");
        world.file("home/evil/admin/commondir", &format!("{target}\n"));
        world.file("home/evil/admin/gitdir", "../.git\n");
        assert_eq!(world.doubted_at("home/evil"), world.folder_hint("home/evil"), "{target}");
    }
}

#[test]
fn a_submodule_that_brings_its_own_proof_gets_nowhere() {
    let world = victim();
    // A repository of its own around it, in which the submodule's place is a link into the victim.
    world.repository("home/evil");
    world.file("home/evil/sub/.git", "gitdir: ../.git/modules/sub\n");
    world.folder("home/evil/.git/modules");
    symlink(
        world.root.join("home/shop/.git/modules/lib"),
        world.root.join("home/evil/.git/modules/sub"),
    )
    .expect("is linked");
    assert_eq!(world.doubted_at("home/evil/sub"), world.folder_hint("home/evil/sub"));
    // A repository that names the folder, but outside of what is around it.
    world.file("home/shop/.git/modules/lib/config", "[core]\n\tworktree = ../../../../evil/sub\n");
    assert_eq!(world.doubted_at("home/evil/sub"), world.folder_hint("home/evil/sub"));
}
