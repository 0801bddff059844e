//! Finds and reads the files of the repository: everything below its root that `.gitignore` does
//! not exclude.

use crate::rust::{self, Source};
use std::fs;
use std::path::{Path, PathBuf};

/// A file. The path is relative to the root and uses `/`.
pub struct File {
    pub path: String,
    pub bytes: Vec<u8>,
}

impl File {
    /// The content as text; invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// The root folder of the workspace.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the package is a folder of the workspace").to_owned()
}

/// Reads one file by its path relative to the root.
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
        let entry = entry.expect("the entry can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let kind = entry.file_type().expect("the file has a type");
        if path == ".git" || ignored.matches(&path) {
            continue;
        }
        if kind.is_dir() {
            collect(&path, ignored, files);
        } else if kind.is_file() {
            // Another process may have removed the file since the folder was listed.
            let Ok(bytes) = fs::read(entry.path()) else { continue };
            files.push(File { path, bytes });
        }
    }
}

/// The patterns of `.gitignore`. Supported: at the root (`/target`), anywhere (`__pycache__/`), by
/// suffix (`*.pyc`).
struct Ignored(Vec<String>);

impl Ignored {
    fn parse(text: &str) -> Self {
        let lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self(lines.map(|line| line.trim_end_matches('/').to_owned()).collect())
    }

    fn matches(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.0.iter().any(|line| match line.strip_prefix('/') {
            Some(at_root) => at_root == path,
            None => line.strip_prefix('*').map_or(line == name, |end| name.ends_with(end)),
        })
    }
}

#[test]
fn ignored_files_are_excluded() {
    let ignored = Ignored::parse("# built\n/target\n\n__pycache__/\n*.pyc\n");
    assert!(
        ignored.matches("target")
            && ignored.matches("tests/__pycache__")
            && ignored.matches("a/b.pyc")
    );
    assert!(!ignored.matches("tests/target") && !ignored.matches("targets"));
}

#[test]
fn known_files_are_found() {
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
