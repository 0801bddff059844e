//! How large the product is: lines and files of each crate, the viewer, rules as data, commands, keys, documents and dependencies.
//!
//! `ruler.txt` has the bounds, which are the figures of today. A change that needs more raises a bound in the same commit, with a line in
//! docs/decisions.md that says what it deletes, or why nothing. Lines are those of the product: no blank ones, no comments, no tests. Not
//! here: rules for single files (`code`).

use crate::assert_rule;
use crate::layers;
use crate::repository::{File, files, read, sources};
use crate::rust::Source;
use clap::CommandFactory;
use loci::cli::Cli;
use std::collections::BTreeMap;
use std::path::Path;

/// The bounds: one `NAME NUMBER` in each line.
const BOUNDS: &str = "tests/tidy/ruler.txt";
/// Crates that are no part of the product.
const FOR_TESTS: [&str; 2] = ["crates/testkit", "tests"];
/// A file of at most this many lines is no room of its own.
const TINY: usize = 20;

/// Returns whether a file is a part of the product of a crate.
fn is_product(path: &str, folder: &str) -> bool {
    let Some(rest) = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix("/src/")) else {
        return false;
    };
    let is_test = |part: &str| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs");
    !rest.split('/').any(is_test)
}

/// Measures the crates.
fn crates(sources: &[Source]) -> BTreeMap<String, usize> {
    let mut figures = BTreeMap::new();
    for folder in layers::folders().iter().filter(|folder| !FOR_TESTS.contains(&folder.as_str())) {
        let of_crate = sources.iter().filter(|source| is_product(&source.path, folder));
        let mut lines: Vec<usize> =
            of_crate.map(Source::product_lines).filter(|lines| *lines > 0).collect();
        lines.sort_unstable();
        let figure = |name: &str| format!("{folder}.{name}");
        figures.insert(figure("lines"), lines.iter().sum());
        figures.insert(figure("files"), lines.len());
        figures.insert(
            figure("files-of-at-most-20"),
            lines.iter().filter(|lines| **lines <= TINY).count(),
        );
        // A median is shown and has no bound: a smaller one is not better.
        println!(
            "{folder}: median {} lines",
            lines.get(lines.len() / 2).copied().unwrap_or_default()
        );
    }
    figures
}

/// Measures what is no Rust code.
fn others(files: &[File]) -> BTreeMap<String, usize> {
    let has = |file: &&File, extensions: &[&str]| {
        let extension = Path::new(&file.path).extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extensions.contains(&extension))
    };
    let filled = |file: &File| file.text().lines().filter(|line| !line.trim().is_empty()).count();
    let below = |folder: &'static str, extensions: &'static [&'static str]| {
        files.iter().filter(move |file| file.path.starts_with(folder) && has(file, extensions))
    };
    let viewer: usize = below("daemon/src/", &["js", "css", "html"]).map(filled).sum();
    let is_rule = |file: &&File| !file.path.contains("/proptest-regressions/");
    let rules: usize = below("crates/", &["txt"]).filter(is_rule).map(filled).sum();
    let words: usize =
        below("docs/", &["md"]).map(|file| file.text().split_whitespace().count()).sum();
    let is_key = |line: &&str| {
        let line = line.trim_start_matches(['#', ' ']);
        line.split_once(" = ").is_some_and(|(key, _)| {
            key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit())
        })
    };
    let keys = read("config.example.toml").lines().filter(is_key).count();
    let packages = read("Cargo.lock").lines().filter(|line| *line == "[[package]]").count();
    let commands = Cli::command().get_subcommands().count();
    let figures = [
        ("commands", commands),
        ("viewer.lines", viewer),
        ("rules.lines", rules),
        ("docs.words", words),
        ("configuration.keys", keys),
        ("cargo-lock.packages", packages),
    ];
    figures.into_iter().map(|(name, figure)| (name.to_owned(), figure)).collect()
}

/// Reads the bounds.
fn bounds(text: &str) -> BTreeMap<String, usize> {
    let parse = |line: &str| {
        let (name, number) = line.split_once(' ').expect("a line is a name and a number");
        (name.to_owned(), number.trim().parse().expect("the bound is a number"))
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(parse).collect()
}

/// Returns what is above its bound, or has none.
fn violations(figures: &BTreeMap<String, usize>, bounds: &BTreeMap<String, usize>) -> Vec<String> {
    let above = figures.iter().filter_map(|(name, figure)| match bounds.get(name) {
        Some(bound) if figure <= bound => None,
        Some(bound) => Some(format!("{name} is {figure}; its bound is {bound}")),
        None => Some(format!("{name} has no bound; it is {figure}")),
    });
    let unknown = bounds.keys().filter(|name| !figures.contains_key(*name));
    above.chain(unknown.map(|name| format!("{name} is not measured any more"))).collect()
}

#[test]
fn a_figure_above_its_bound_is_found() {
    let of = |pairs: &[(&str, usize)]| -> BTreeMap<String, usize> {
        pairs.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect()
    };
    let found =
        violations(&of(&[("a", 2), ("b", 1), ("c", 1)]), &of(&[("a", 1), ("b", 1), ("d", 1)]));
    assert_eq!(
        found,
        ["a is 2; its bound is 1", "c has no bound; it is 1", "d is not measured any more"]
    );
    let source = Source::new(
        "engine/src/a.rs",
        "//! A.\n\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n",
    );
    assert_eq!(source.product_lines(), 1);
    assert!(
        is_product("engine/src/a.rs", "engine") && !is_product("engine/src/x/tests.rs", "engine")
    );
}

#[test]
fn the_product_is_not_larger_than_its_bounds() {
    let mut figures = crates(&sources());
    figures.extend(others(&files()));
    for (name, figure) in &figures {
        println!("{name} {figure}");
    }
    assert_rule(
        "a change that needs more raises the bound in tests/tidy/ruler.txt, and says in docs/decisions.md what it deletes",
        &violations(&figures, &bounds(&read(BOUNDS))),
    );
}
