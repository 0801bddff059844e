//! Worktrees and submodules created by the installed git; skipped without git.

use crate::tests::*;
use std::process::Command;

impl FolderTree {
    /// Runs git in `folder`; returns false if git is not installed.
    fn git(&self, folder: &str, arguments: &[&str]) -> bool {
        let mut command = Command::new("git");
        command.args([
            "-c",
            "user.name=it",
            "-c",
            "user.email=it@localhost",
            "-c",
            "protocol.file.allow=always",
        ]);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
            .env("HOME", self.root.join("home"))
            .current_dir(self.root.join(folder))
            .args(arguments);
        let Ok(output) = command.output() else {
            loci_testkit::skipped::skip("git is not installed; nothing was compared");
            return false;
        };
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        true
    }

    /// Returns the canonical common directory as git reports it.
    fn git_common_dir(&self, folder: &str) -> PathBuf {
        let folder = self.root.join(folder);
        let output = Command::new("git")
            .args(["rev-parse", "--git-common-dir"])
            .current_dir(&folder)
            .output()
            .expect("git can be run");
        folder
            .join(String::from_utf8(output.stdout).expect("the path is UTF-8").trim_end())
            .canonicalize()
            .expect("the directory exists")
    }

    /// Creates `home/shop`: a repository with the submodule `vendor/lib`, which has the submodule `deep`. Returns false if git is not
    /// installed.
    fn create_submodules(&self) -> bool {
        let initialised =
            ["deep", "lib", "shop"].iter().all(|name| self.git("home", &["init", "-q", name]));
        initialised
            && self.git("home/deep", &["commit", "-q", "--allow-empty", "-m", "one"])
            && self.git("home/lib", &["submodule", "add", "-q", "../deep", "deep"])
            && self.git("home/lib", &["commit", "-q", "-m", "one"])
            && self.git("home/shop", &["submodule", "add", "-q", "../lib", "vendor/lib"])
            && self.git("home/shop", &["submodule", "update", "-q", "--init", "--recursive"])
            && self.git("home/shop", &["commit", "-q", "-m", "one"])
    }

    /// Asserts that we find the same project as git in each folder.
    fn assert_same_as_git(&self, folders: &[&str]) {
        for folder in folders {
            assert_eq!(
                self.hint_at(folder),
                GroupHint::Folder(self.git_common_dir(folder).display().to_string()),
                "{folder}"
            );
        }
    }
}

#[test]
fn submodules_of_git_are_projects_of_their_own() {
    let tree = FolderTree::new();
    if tree.create_submodules() {
        tree.assert_same_as_git(&[
            "home/shop",
            "home/shop/vendor",
            "home/shop/vendor/lib",
            "home/shop/vendor/lib/deep",
        ]);
        assert_eq!(
            tree.hint_at("home/shop/vendor/lib"),
            tree.folder_hint("home/shop/.git/modules/vendor/lib")
        );
        // Sparse checkout makes git move `core.worktree` to `config.worktree`.
        tree.git("home/shop/vendor/lib", &["sparse-checkout", "set", "docs"]);
        tree.assert_same_as_git(&["home/shop/vendor/lib", "home/shop/vendor/lib/deep"]);
    }
}

#[test]
fn worktrees_of_git_share_the_project() {
    let tree = FolderTree::new();
    if tree.create_submodules() {
        tree.git("home/shop", &["worktree", "add", "-q", "../fix"]);
        tree.git("home/fix", &["submodule", "update", "-q", "--init"]);
        tree.git(
            "home/shop/vendor/lib",
            &["worktree", "add", "-q", "--detach", "../../../lib fix"],
        );
        tree.assert_same_as_git(&["home/fix", "home/fix/vendor/lib", "home/lib fix"]);
        assert_eq!(tree.hint_at("home/fix"), tree.hint_at("home/shop"));
        assert_eq!(tree.hint_at("home/lib fix"), tree.hint_at("home/shop/vendor/lib"));
    }
}

#[test]
fn worktrees_of_a_bare_repository_share_the_project() {
    let tree = FolderTree::new();
    if tree.create_submodules() {
        tree.git("home", &["clone", "-q", "--bare", "shop", "proj/.bare"]);
        tree.git("home/proj/.bare", &["worktree", "add", "-q", "-b", "a", "../one"]);
        tree.git("home/proj/.bare", &["worktree", "add", "-q", "-b", "b", "../two"]);
        tree.assert_same_as_git(&["home/proj/one", "home/proj/two"]);
        assert_eq!(tree.hint_at("home/proj/two"), tree.folder_hint("home/proj/.bare"));
    }
}

#[test]
fn a_path_with_unusual_characters_is_read_as_git_writes_it() {
    let tree = FolderTree::new();
    tree.folder("home/a; \"b\" #c");
    if tree.git("home", &["init", "-q", "lib"]) {
        tree.git("home/lib", &["commit", "-q", "--allow-empty", "-m", "one"]);
        tree.git("home", &["init", "-q", "shop"]);
        tree.git("home/shop", &["submodule", "add", "-q", "../lib", "a; \"b\" #c"]);
        tree.assert_same_as_git(&["home/shop/a; \"b\" #c"]);
    }
}
