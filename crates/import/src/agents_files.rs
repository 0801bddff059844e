//! `CLAUDE.md`, `AGENTS.md` and the rules beside them: what a person or a team tells agents.
//!
//! The files in the home folder are the person's own. Those of a project may come from anybody who
//! writes to its repository.

use crate::collector::{Collector, folder, memory_of};
use crate::error::Result;
use crate::places::Places;
use crate::{front_matter, statements};
use loci_proto::foreign::ForeignMemory;
use loci_proto::memory::{MemoryType, Scope};
use std::path::{Path, PathBuf};

/// Names of the files that clients read.
const NAMES: [&str; 5] =
    ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md"];
/// Headings that only repeat what the file is.
const TITLES: [&str; 6] =
    ["claude.md", "agents.md", "claude", "agents", "memory", "repository guidelines"];

/// Returns `CLAUDE.md` and the files beside it, from the working directory up to the home folder or
/// the root, and the person's own.
pub(crate) fn usual_claude_paths(places: &Places) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in above(places) {
        found.extend(
            ["CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules"]
                .map(|name| folder.join(name)),
        );
    }
    found.extend(["CLAUDE.md", "rules"].map(|name| places.home.join(".claude").join(name)));
    found
}

/// Returns `AGENTS.md` from the working directory up, and the person's own.
pub(crate) fn usual_agents_paths(places: &Places) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in above(places) {
        found.extend(["AGENTS.md", "AGENTS.override.md"].map(|name| folder.join(name)));
    }
    found.extend(
        [
            ".codex/AGENTS.md",
            ".codex/AGENTS.override.md",
            ".config/opencode/AGENTS.md",
            ".gemini/GEMINI.md",
        ]
        .map(|name| places.home.join(name)),
    );
    found
}

/// The working directory and the folders above it, below the home folder.
fn above(places: &Places) -> impl Iterator<Item = &Path> {
    let home = places.home.as_path();
    places
        .working_dir
        .ancestors()
        .take_while(move |folder| *folder != home && folder.parent().is_some())
}

/// Reads a file; of a folder the files that clients read as instructions.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let is_folder = path.is_dir();
    for path in collector.markdown_files(path)? {
        if is_folder && !is_instructions(&path) {
            continue;
        }
        let Some(file) = collector.text_file(&path) else { continue };
        let home = collector.places.home.canonicalize().unwrap_or_default();
        let top = project_of(&path, &home);
        let base = ForeignMemory {
            by_person: top.is_none(),
            scope: if top.is_none() { Scope::Global } else { Scope::Group },
            kind: MemoryType::Semantic,
            ..memory_of(&file, top.as_deref().map(folder))
        };
        let top = front_matter::split(&file.text);
        let mut split = statements::split_with(&file.text, top.body, &TITLES, &|statement| {
            let text = &statement.text;
            is_pointer(text).then(|| format!("names another file: {text}").into())
        });
        split.left_out.extend(top.left_out(&[]));
        collector.add_statements(&base, &file, split);
    }
    Ok(())
}

/// Returns whether clients read a file as instructions, by its name or as one of `rules`.
fn is_instructions(path: &Path) -> bool {
    let is_named = path
        .file_name()
        .is_some_and(|name| NAMES.iter().any(|known| name.eq_ignore_ascii_case(known)));
    is_named || path.components().any(|part| part.as_os_str() == "rules")
}

/// Returns the folder of the project that a file belongs to; `None` for the person's own files.
/// Other files in the folders of clients are written by plugins and agents.
fn project_of(path: &Path, home: &Path) -> Option<PathBuf> {
    let own = [".claude", ".codex", ".config/opencode", ".gemini"].map(|name| home.join(name));
    let is_own = own.iter().any(|folder| {
        path.starts_with(folder.join("rules"))
            || path.parent() == Some(folder.as_path()) && is_instructions(path)
    });
    if is_own {
        return None;
    }
    let inside = path.ancestors().find(|folder| folder.ends_with(".claude"));
    inside.or(Some(path)).and_then(Path::parent).map(Path::to_path_buf)
}

/// Words around the name of a file that say nothing but to read it.
const POINTING: &str = " see also read refer to for more details the in and info information full file about this that ";

/// Returns whether a statement only names a file by `@path`, by which Claude Code includes it, and perhaps what it is for.
fn is_pointer(text: &str) -> bool {
    let is_sign = |c: char| !c.is_alphanumeric() && c != '@';
    let is_path = |word: &str| word.trim_start_matches(is_sign).starts_with('@');
    let is_plain = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        word.is_empty() || POINTING.contains(&format!(" {word} "))
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    if let ["/import" | "@import", _] = words[..] {
        return true;
    }
    let Some(last) = words.iter().rposition(|word| is_path(word)) else { return false };
    let (pointing, rest) = words.split_at(last + 1);
    // A subject of one clause says nothing but what is in the file.
    let is_subject = rest.first() == Some(&"for")
        && pointing.len() > 1
        && pointing[last].contains(['/', '.'])
        && !text.trim_end_matches('.').contains([':', ';', ',', '!', '?', '\n'])
        && !rest.iter().rev().skip(1).any(|word| word.ends_with('.'));
    pointing.iter().all(|word| is_path(word) || is_plain(word))
        && (is_subject || rest.iter().all(|word| is_plain(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_only_names_a_file_is_a_pointer() {
        for text in [
            "@AGENTS.md",
            "/import docs/rules.md",
            "`@docs/a.md",
            "See @docs/architecture.md for more.",
            "Read @a.md and @b.md",
            "See `@docs/x.md` for the rules of deploys.",
        ] {
            assert!(is_pointer(text), "{text}");
        }
        for text in [
            "See the wiki",
            "Read @a.md before each release",
            "Ask @marta",
            "Read @marta for reviews",
            "See @docs/x.md for deploys: never on Friday",
            "See @docs/x.md for deploys. Ask first",
        ] {
            assert!(!is_pointer(text), "{text}");
        }
    }
}
