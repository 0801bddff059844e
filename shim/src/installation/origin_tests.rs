//! The origins that can be laid out in a temporary folder. Not here: real installers (`tests/packages`).

use super::*;
use tempfile::TempDir;

/// A folder with these files; the names end in `/` for folders.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        let parent = if name.ends_with('/') { &path } else { path.parent().expect("a parent") };
        fs::create_dir_all(parent).expect("the folder is created");
        if !name.ends_with('/') {
            fs::write(&path, text).expect("the file is written");
        }
    }
    folder
}

/// The origin of a program in such a folder; `ROOT` stands for the folder.
fn origin(program: &str, files: &[(&str, &str)]) -> (Installer, String, String) {
    let folder = folder(&[files, &[(program, "")]].concat());
    let root = folder.path().canonicalize().expect("the folder exists");
    let found = of_program(&root.join(program));
    let root = root.display().to_string();
    (found.installer, found.update.replace(&root, "ROOT"), found.remove.replace(&root, "ROOT"))
}

fn found(installer: Installer, update: &str, remove: &str) -> (Installer, String, String) {
    (installer, update.to_owned(), remove.to_owned())
}

#[test]
fn environments_of_python_are_recognised_by_their_files() {
    assert_eq!(
        origin("tools/loci-local/bin/loci", &[("tools/loci-local/uv-receipt.toml", "")]),
        found(Installer::UvTool, "uv tool upgrade loci-local", "uv tool uninstall loci-local")
    );
    assert_eq!(
        origin("venvs/loci-local/bin/loci", &[("venvs/loci-local/pipx_metadata.json", "{}")]),
        found(Installer::Pipx, "pipx upgrade loci-local", "pipx uninstall loci-local")
    );
    assert_eq!(
        origin("my env/bin/loci", &[("my env/pyvenv.cfg", "home = /usr/bin\n")]),
        found(
            Installer::Pip,
            "'ROOT/my env/bin/python' -m pip install --upgrade loci-local",
            "'ROOT/my env/bin/python' -m pip uninstall loci-local"
        )
    );
    assert_eq!(
        origin("env/bin/loci", &[("env/pyvenv.cfg", "home = /usr/bin\nuv = 0.9.1\n")]).0,
        Installer::UvPip
    );
    assert_eq!(
        origin("uv/archive-v0/x1/bin/loci", &[("uv/archive-v0/x1/pyvenv.cfg", "uv = 0.9.1\n")]).0,
        Installer::Uvx
    );
    let user = [("lib/python3.12/site-packages/loci_local-0.1.0.dist-info/", "")];
    let (installer, update, _) = origin("bin/loci", &user);
    assert_eq!(installer, Installer::Pip);
    assert_eq!(update, "python3.12 -m pip install --upgrade loci-local");
}

#[test]
fn packages_of_npm_are_recognised_by_their_path() {
    assert_eq!(
        origin("lib/node_modules/loci-local/node_modules/@loci-local/linux-x64/bin/loci", &[]),
        found(
            Installer::Npm,
            "npm install --global loci-local@latest",
            "npm uninstall --global loci-local"
        )
    );
    assert_eq!(
        origin("app/node_modules/@loci-local/linux-x64/bin/loci", &[]).1,
        "npm install --prefix ROOT/app loci-local@latest"
    );
    let (installer, update, _) = origin("_npx/5f/node_modules/@loci-local/x/bin/loci", &[]);
    assert_eq!(installer, Installer::Npx);
    assert_eq!(update, "npx --yes loci-local@latest --version");
}

#[test]
fn cargo_names_the_package_and_its_folder() {
    let list = "[v1]\n\"loci-local 0.1.0 (path+file:///src/my loci/packaging/cargo)\" = [\"loci\", \"locid\"]\n";
    assert_eq!(
        origin("bin/loci", &[(".crates.toml", list)]),
        found(
            Installer::Cargo,
            "cargo install --locked --root ROOT --path '/src/my loci/packaging/cargo'",
            "cargo uninstall --root ROOT loci-local"
        )
    );
    let other = "[v1]\n\"other 0.1.0 (registry+x)\" = [\"other\"]\n";
    assert_eq!(origin("bin/loci", &[(".crates.toml", other)]).0, Installer::Unknown);
}

#[test]
fn a_receipt_counts_only_for_the_folder_that_it_names() {
    let folder = folder(&[("bin/loci", ""), ("share/loci/", "")]);
    let root = folder.path().canonicalize().expect("the folder exists");
    let write = |bin: &Path| {
        let receipt = serde_json::json!({"source": "https://example.test/releases/", "bin": bin,
            "files": [root.join("bin/loci"), root.join("bin/locid")]});
        fs::write(root.join(RECEIPT), receipt.to_string()).expect("the receipt is written");
        of_program(&root.join("bin/loci"))
    };
    let found = write(&root.join("bin"));
    assert_eq!(found.installer, Installer::Script);
    let expected = "curl -fsSL https://example.test/releases/install.sh | sh -s -- --from https://example.test/releases --prefix ";
    assert!(found.update.starts_with(expected), "{}", found.update);
    let expected = "&& rm bin/loci bin/locid share/loci/install.json && rmdir share/loci";
    assert!(found.remove.ends_with(expected), "{}", found.remove);
    assert_eq!(write(&root.join("elsewhere")).installer, Installer::Unknown);
}

#[test]
fn the_other_origins_are_recognised() {
    assert_eq!(
        origin("Cellar/loci/0.1.0/bin/loci", &[]),
        found(Installer::Homebrew, "brew upgrade loci", "brew uninstall loci")
    );
    let manifest = ("ext/manifest.json", "{\"manifest_version\": \"0.3\"}");
    assert_eq!(origin("ext/server/loci", &[manifest]).0, Installer::Bundle);
    assert_eq!(
        origin("src/target/release/loci", &[("src/target/release/.fingerprint/", "")]),
        found(
            Installer::Build,
            "cd ROOT/src && git pull && cargo build --release --locked",
            "cd ROOT/src && cargo clean"
        )
    );
    assert_eq!(
        origin("x/loci", &[]),
        found(
            Installer::Unknown,
            "Replace loci and locid in ROOT/x by those of the new version",
            "rm ROOT/x/loci ROOT/x/locid"
        )
    );
    assert!(Installer::Npx.is_temporary() && !Installer::Npm.is_temporary());
}
