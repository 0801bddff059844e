//! Every path and item in back ticks in ARCHITECTURE.md and CONTRIBUTING.md exists, and every test
//! in the tables of docs/decisions.md. Not here: code blocks, and links.

use crate::assert_rule;
use crate::repository::{File, files, read};
use crate::rust::{self, Source};
use std::collections::BTreeSet;
use std::path::Path;

/// The page whose tables name tests. Its text also names what was rejected, so only its tables are
/// checked.
const DECISIONS: &str = "docs/decisions.md";
const PAGES: [&str; 2] = ["ARCHITECTURE.md", "CONTRIBUTING.md"];
/// Extensions by which a name without a folder is recognised as a file.
const EXTENSIONS: [&str; 8] = ["rs", "toml", "md", "sql", "sh", "py", "lock", "service"];
/// Words that may come before the name of a member in its declaration.
const KEYWORDS: [&str; 6] = ["pub", "async", "unsafe", "fn", "const", "type"];

/// What back ticks can hold.
#[derive(Debug, PartialEq)]
enum Reference<'a> {
    /// A file or folder; `<…>` and `*` match any text without `/`.
    Path(&'a str),
    /// `module::item`, `Type::method`, or a type alone.
    Item(Vec<&'a str>),
    /// Any other name: a function, a constant, a JSON key, a package.
    Word(&'a str),
    /// A command, a flag, punctuation, a path outside the repository.
    Other,
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn classify(code: &str) -> Reference<'_> {
    let code = code.strip_suffix("()").unwrap_or(code);
    let segments: Vec<&str> = code.split("::").collect();
    let extension = Path::new(code).extension().and_then(|extension| extension.to_str());
    if code.contains(char::is_whitespace)
        || code.starts_with(['-', '~', '$', '/', '#'])
        || code.contains("://")
        || code.starts_with("target/")
    {
        Reference::Other
    } else if code.contains('/') || extension.is_some_and(|found| EXTENSIONS.contains(&found)) {
        Reference::Path(code)
    } else if segments.iter().all(|segment| is_name(segment)) {
        let is_type = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_uppercase())
                && name.contains(|c: char| c.is_ascii_lowercase())
        };
        if segments.len() > 1 || is_type(code) {
            Reference::Item(segments)
        } else {
            Reference::Word(code)
        }
    } else if code.split('-').all(is_name) {
        Reference::Word(code)
    } else {
        Reference::Other
    }
}

/// The text in back ticks outside code blocks, with its line.
fn code_spans(page: &str) -> Vec<(usize, &str)> {
    let mut spans = Vec::new();
    let mut in_block = false;
    for (at, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            spans.extend(line.split('`').skip(1).step_by(2).map(|code| (at + 1, code)));
        }
    }
    spans
}

/// Whether a path fits a pattern in which `<…>` and `*` stand for any text without `/`.
fn fits(pattern: &str, path: &str) -> bool {
    let (start, rest) = match pattern.find(['<', '*']) {
        None => return pattern == path,
        Some(at) if pattern[at..].starts_with('*') => (&pattern[..at], &pattern[at + 1..]),
        Some(at) => {
            let end = pattern[at..].find('>').map_or(pattern.len(), |length| at + length + 1);
            (&pattern[..at], &pattern[end..])
        }
    };
    let Some(path) = path.strip_prefix(start) else { return false };
    let longest = path.find('/').unwrap_or(path.len());
    (0..=longest)
        .filter(|length| path.is_char_boundary(*length))
        .any(|length| fits(rest, &path[length..]))
}

/// The files of a repository, prepared for looking up references.
struct Repository {
    /// Every file and folder.
    paths: BTreeSet<String>,
    sources: Vec<Source>,
    /// Every word of the files that are not Markdown.
    words: BTreeSet<String>,
}

impl Repository {
    fn new(files: &[File]) -> Self {
        let mut paths = BTreeSet::new();
        for file in files {
            let folders = file.path.match_indices('/').map(|(at, _)| &file.path[..at]);
            paths.extend(folders.map(str::to_owned));
            paths.insert(file.path.clone());
        }
        let with_extension = |file: &&File, extension: &str| {
            Path::new(&file.path).extension().is_some_and(|found| found == extension)
        };
        let rust_files = files.iter().filter(|file| with_extension(file, "rs"));
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let other_than_markdown = files.iter().filter(|file| !with_extension(file, "md"));
        let words = other_than_markdown.flat_map(|file| {
            let text = file.text();
            let words = text.split(|c| !is_word(c)).flat_map(|word| {
                std::iter::once(word).chain(word.split('-')).map(str::to_owned).collect::<Vec<_>>()
            });
            words.collect::<BTreeSet<_>>()
        });
        let sources =
            rust::sources(rust_files.map(|file| (file.path.clone(), file.text())).collect());
        Self { paths, words: words.collect(), sources }
    }

    /// Whether the reference exists. A path may also be relative to any folder (`src/lib.rs`).
    fn has(&self, reference: &Reference<'_>) -> bool {
        match reference {
            Reference::Path(pattern) => {
                let pattern = pattern.trim_end_matches('/');
                self.paths.iter().any(|path| {
                    let tails = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
                    std::iter::once(path.as_str()).chain(tails).any(|tail| fits(pattern, tail))
                })
            }
            Reference::Item(segments) => {
                segments[0] == "std" || self.sources.iter().any(|source| defines(source, segments))
            }
            Reference::Word(word) => self.words.contains(*word),
            Reference::Other => true,
        }
    }
}

/// The crate and the modules of a file: `["daemon", "interface", "agents", "mcp"]`; `None` outside
/// `src`.
fn module_path(path: &str) -> Option<Vec<&str>> {
    let (folder, file) = path.split_once("/src/")?;
    let file = file.strip_suffix(".rs")?;
    let modules = file.split('/').filter(|name| !["lib", "main", "mod"].contains(name));
    Some(std::iter::once(folder).chain(modules).collect())
}

/// Whether the file is the module or defines the item. The item's path may leave out leading
/// modules.
fn defines(source: &Source, segments: &[&str]) -> bool {
    let Some(modules) = module_path(&source.path) else { return false };
    (0..=segments.len()).any(|split| {
        let (path, item) = segments.split_at(split);
        modules.ends_with(path)
            && match item {
                [] => true,
                [name] => source.defines(name),
                [owner, member] => has_member(source, owner, member),
                _ => false,
            }
    })
}

/// Whether the type of that name has the method, variant, field or constant in this file.
fn has_member(source: &Source, owner: &str, member: &str) -> bool {
    if !source.text.contains(owner) {
        return false;
    }
    source.bodies(owner).into_iter().any(|body| {
        outside_brackets(body).split([',', ';', '\n']).any(|declaration| {
            let names = declaration.trim_start().split(|c: char| !c.is_alphanumeric() && c != '_');
            let mut names = names.take_while(|name| !name.is_empty());
            names.find(|name| !KEYWORDS.contains(name)) == Some(member)
        })
    })
}

/// The code outside brackets of any kind; a bracket that closes separates like a comma.
fn outside_brackets(code: &str) -> String {
    let mut depth = 0_usize;
    let mut outside = String::new();
    for c in code.chars() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                outside.push(',');
            }
            _ if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    outside
}

fn missing(page: &str, text: &str, repository: &Repository) -> Vec<String> {
    let unknown = code_spans(text).into_iter().filter(|(_, code)| !repository.has(&classify(code)));
    unknown.map(|(line, code)| format!("{page}:{line}: `{code}` does not exist")).collect()
}

/// The test paths (`module::test`, `…::test`) in the tables of a page whose last segment no source
/// defines.
fn missing_tests(page: &str, text: &str, sources: &[Source]) -> Vec<String> {
    let in_table =
        |line: usize| text.lines().nth(line - 1).is_some_and(|line| line.starts_with('|'));
    let paths = code_spans(text).into_iter().filter(|(line, _)| in_table(*line));
    let unknown = paths.filter(|(_, code)| {
        code.rsplit_once("::").is_some_and(|(modules, name)| {
            let item = if name == "tests" { modules } else { name };
            let item = item.rsplit("::").next().unwrap_or(item);
            !sources.iter().any(|source| source.defines(item))
        })
    });
    unknown.map(|(line, code)| format!("{page}:{line}: there is no test `{code}`")).collect()
}

#[test]
fn every_test_in_the_tables_of_the_decisions_exists() {
    let made_up = [Source::new("a.rs", "mod store;"), Source::new("store.rs", "fn merges() {}")];
    let good =
        "| `store::merges`, `…::merges` | `it::store` | `store::tests` |\nnot a table: `a::b`";
    assert_eq!(missing_tests("a.md", good, &made_up), Vec::<String>::new());
    for bad in ["store::splits", "…::splits", "it::stores", "stores::tests"] {
        let found = missing_tests("a.md", &format!("\n| `{bad}` |"), &made_up);
        assert_eq!(found, [format!("a.md:2: there is no test `{bad}`")]);
    }
    let repository = Repository::new(&files());
    let rule = "Every test that a table of docs/decisions.md names exists. Correct the table together with the test.";
    assert_rule(rule, &missing_tests(DECISIONS, &read(DECISIONS), &repository.sources));
}

#[test]
fn references_are_recognised_by_form() {
    for command in
        ["cargo test -p x", "--json", "~/.loci", "#[expect(…, reason)]", "loci://x", "//!", "…"]
    {
        assert_eq!(classify(command), Reference::Other, "{command}");
    }
    for path in ["proto/src/<verb>.rs", "systemd/", "Cargo.toml", "engine/src/db"] {
        assert_eq!(classify(path), Reference::Path(path));
    }
    assert_eq!(
        classify("mcp::McpHandler::call()"),
        Reference::Item(vec!["mcp", "McpHandler", "call"])
    );
    assert_eq!(classify("Service"), Reference::Item(vec!["Service"]));
    for word in ["STEPS", "apply", "isError", "loci-proto"] {
        assert_eq!(classify(word), Reference::Word(word));
    }
    let page = "a `b` c\n```sh\n`d`\n```\n`e` `f g`\n";
    assert_eq!(code_spans(page), [(1, "b"), (5, "e"), (5, "f g")]);
}

#[test]
fn every_reference_of_the_documents_exists() {
    let file = |path: &str, text: &str| File { path: path.into(), bytes: text.into() };
    let made_up = Repository::new(&[
        file("x/src/lib.rs", "pub mod guests;"),
        file(
            "x/src/guests/mod.rs",
            "pub struct List {\n    pub guests: u8,\n}\nimpl List { pub fn invite() { if full {} } }\nenum E {\n    One,\n}",
        ),
        file("x/Cargo.toml", "name = \"x-y\""),
        file("notes.md", "elsewhere"),
    ]);
    let good = "`x::guests` `guests::List` `x::guests::List::invite` `List::invite()` `List` `E::One` `List::guests` `std::env` `invite` `x-y` \
                `x/src/<verb>/mod.rs` `x/*/lib.rs` `src/lib.rs` `x/` `x/src/guests`";
    assert_eq!(missing("a.md", good, &made_up), Vec::<String>::new());
    for bad in [
        "x::guest",
        "y::List",
        "x::List::invite",
        "List::expel",
        "Lists",
        "E::Two",
        "List::E",
        "List::One",
        "List::full",
        "elsewhere",
        "x-z",
        "x/src/<verb>.md",
        "x/*.toml/x",
        "rc/lib.rs",
        "guests.rs",
        "lists/",
    ] {
        let found = missing("a.md", &format!("\n`{bad}`"), &made_up);
        assert_eq!(found, [format!("a.md:2: `{bad}` does not exist")]);
    }
    let repository = Repository::new(&files());
    let rule = "Every path and every item in back ticks in ARCHITECTURE.md and CONTRIBUTING.md exists. Correct the document together with \
                the code; write commands with their arguments, and placeholders as `<verb>`.";
    let found = PAGES.iter().flat_map(|page| missing(page, &read(page), &repository));
    assert_rule(rule, &found.collect::<Vec<_>>());
}
