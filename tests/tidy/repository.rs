//! The files of the repository: everything below its root that git would keep. Not here: what is in them.

use crate::rust::{self, Source};
use std::fs;
use std::path::{Path, PathBuf};

/// A file, its path relative to the root with `/` between its parts.
pub struct File {
    pub path: String,
    pub bytes: Vec<u8>,
}

impl File {
    /// The content; bytes that are no UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// The folder that holds the workspace.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the package lies in the workspace").to_owned()
}

/// The text of one file.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path))
        .unwrap_or_else(|error| panic!("{path} cannot be read: {error}"))
}

/// Every file, sorted by path.
pub fn files() -> Vec<File> {
    let ignored = Ignored::parse(&read(".gitignore"));
    let mut files = Vec::new();
    collect("", &ignored, &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Every Rust file.
pub fn sources() -> Vec<Source> {
    let is_rust =
        |file: &File| Path::new(&file.path).extension().is_some_and(|extension| extension == "rs");
    rust::sources(
        files().into_iter().filter(is_rust).map(|file| (file.path.clone(), file.text())).collect(),
    )
}

fn collect(folder: &str, ignored: &Ignored, files: &mut Vec<File>) {
    let entries = fs::read_dir(root().join(folder))
        .unwrap_or_else(|error| panic!("{folder} cannot be read: {error}"));
    for entry in entries {
        let entry = entry.expect("the folder can be listed");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let kind = entry.file_type().expect("the file has a kind");
        if path == ".git" || ignored.has(&path) {
            continue;
        }
        if kind.is_dir() {
            collect(&path, ignored, files);
        } else if kind.is_file() {
            // A file that somebody removes meanwhile is no file of the repository.
            let Ok(bytes) = fs::read(entry.path()) else { continue };
            files.push(File { path, bytes });
        }
    }
}

/// What `.gitignore` names. Plain names only: at the root (`/target`), anywhere (`__pycache__/`), or by their end (`*.pyc`).
struct Ignored(Vec<String>);

impl Ignored {
    fn parse(text: &str) -> Self {
        let lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self(lines.map(|line| line.trim_end_matches('/').to_owned()).collect())
    }

    fn has(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.0.iter().any(|line| match line.strip_prefix('/') {
            Some(at_root) => at_root == path,
            None => line.strip_prefix('*').map_or(line == name, |end| name.ends_with(end)),
        })
    }
}

#[test]
fn ignored_files_are_no_files_of_the_repository() {
    let ignored = Ignored::parse("# built\n/target\n\n__pycache__/\n*.pyc\n");
    assert!(ignored.has("target") && ignored.has("tests/__pycache__") && ignored.has("a/b.pyc"));
    assert!(!ignored.has("tests/target") && !ignored.has("targets"));
}

#[test]
fn the_files_of_the_repository_are_found() {
    let paths: Vec<String> = files().into_iter().map(|file| file.path).collect();
    for known in ["Cargo.toml", ".gitignore", "tests/tidy/repository.rs", "engine/src/lib.rs"] {
        assert!(
            paths.iter().any(|path| path == known),
            "{known} is not among {} files",
            paths.len()
        );
    }
    assert!(!paths.iter().any(|path| path.starts_with(".git/") || path.starts_with("target/")));
}
