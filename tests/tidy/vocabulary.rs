//! Words that docs/glossary.md lists as retired do not come back as identifiers. Not here: the
//! words of comments and messages.

use crate::assert_rule;
use crate::repository::{read, sources};
use crate::rust::Source;
use std::collections::BTreeSet;

const PAGE: &str = "docs/glossary.md";
const HEADING: &str = "## Retired words";
/// Maximum number of places that the report names for each word.
const MAX_PLACES: usize = 3;

/// Where a retired word is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Anywhere in code: a type, a trait or a variant.
    Type,
    /// Anywhere in code: a function, field, variable, constant or module.
    Name,
    /// Where a function is defined; the word may be used otherwise.
    Function,
    /// In the path of a file and where a module is declared; the word may be used otherwise.
    Module,
}

/// A row of the table of retired words.
#[derive(Debug, PartialEq)]
struct Retired {
    word: String,
    kind: Kind,
    replacement: String,
}

/// Reads a row such as "| `Desk` | type | `EmbeddingQueue` |".
fn parse_row(row: &str) -> Result<Retired, String> {
    let fault = || format!("{PAGE}: not a row of a word, a kind and a replacement: {row}");
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    let [word, kind, replacement] = cells.as_slice() else { return Err(fault()) };
    let word = word.strip_prefix('`').and_then(|word| word.strip_suffix('`')).ok_or_else(fault)?;
    let kind = match *kind {
        "type" => Kind::Type,
        "name" => Kind::Name,
        "function" => Kind::Function,
        "module" => Kind::Module,
        _ => return Err(fault()),
    };
    if word.is_empty() || replacement.is_empty() {
        return Err(fault());
    }
    Ok(Retired { word: word.to_owned(), kind, replacement: (*replacement).to_owned() })
}

/// The table below the heading.
fn parse_table(page: &str) -> Vec<Result<Retired, String>> {
    let table = page.split_once(HEADING).map_or("", |(_, table)| table);
    let rows = table.lines().filter(|line| line.starts_with('|'));
    rows.skip(2).map(parse_row).collect()
}

/// Lines of the file on which the word is an identifier of its kind. A module's own file counts as
/// its first line.
fn lines_with(source: &Source, retired: &Retired) -> Vec<usize> {
    let word = retired.word.as_str();
    let after = |keyword| {
        let is_word = |rest: &str| {
            let rest = rest.trim_start().strip_prefix(word);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        let found = source.after(keyword).into_iter().filter(move |(_, rest)| is_word(rest));
        found.map(|(line, _)| line)
    };
    match retired.kind {
        Kind::Type | Kind::Name => source.lines_with(&[word]),
        Kind::Function => after("fn").collect(),
        Kind::Module => {
            let in_path = source.path.split('/').any(|part| part.trim_end_matches(".rs") == word);
            in_path.then_some(1).into_iter().chain(after("mod")).collect()
        }
    }
}

/// Reports how often and where a retired word occurs; `None` if it does not occur.
fn violation(sources: &[Source], retired: &Retired) -> Option<String> {
    let places: Vec<String> = sources
        .iter()
        .flat_map(|source| {
            let lines = lines_with(source, retired).into_iter();
            lines.map(|line| format!("{}:{line}", source.path))
        })
        .collect();
    let Retired { word, kind, replacement } = retired;
    let first = places[..places.len().min(MAX_PLACES)].join(", ");
    let count = places.len();
    (count > 0).then(|| format!("{count:4} × {word} ({kind:?}): use {replacement}. {first}"))
}

#[test]
fn the_table_of_retired_words_is_well_formed() {
    let page = "| `no` | type | x |\n## Retired words\n\n| word | kind | use instead |\n|---|---|---|\n| `Desk` | type | `Queue` |\n| Bell | name | x |\n\
                | `a` | verb | x |\n| `b` | name | |\n";
    let rows = parse_table(page);
    let desk = Retired { word: "Desk".into(), kind: Kind::Type, replacement: "`Queue`".into() };
    assert_eq!(rows[0], Ok(desk));
    assert!(rows.len() == 4 && rows[1..].iter().all(Result::is_err), "{rows:?}");
    let rows = parse_table(&read(PAGE));
    assert!(!rows.is_empty(), "{PAGE} has no table under {HEADING}");
    let mut faults: Vec<String> =
        rows.iter().filter_map(|row| row.as_ref().err().cloned()).collect();
    let mut seen = BTreeSet::new();
    let twice = rows.iter().flatten().filter(|row| !seen.insert((row.word.clone(), row.kind)));
    faults.extend(twice.map(|row| format!("{PAGE}: {} is listed twice", row.word)));
    assert_rule(
        "Each row of the retired words has a word in back ticks, a kind and what to use instead.",
        &faults,
    );
}

#[test]
fn retired_words_are_found_by_kind() {
    let retired = |word: &str, kind| Retired { word: word.into(), kind, replacement: "x".into() };
    let text = "struct Desk;\nfn told() { desk.told = \"Desk\"; } // Desk\nmod soft;\nlet soft: Desks = Kind::Desk;\nfn told_by() {}";
    let source = Source::new("x/src/early.rs", text);
    let expected: [(&str, Kind, &[usize]); 8] = [
        ("Desk", Kind::Type, &[1, 4]),
        ("desk", Kind::Name, &[2]),
        ("told", Kind::Name, &[2, 2]),
        ("told", Kind::Function, &[2]),
        ("soft", Kind::Module, &[3]),
        ("early", Kind::Module, &[1]),
        ("early", Kind::Name, &[]),
        ("desk", Kind::Function, &[]),
    ];
    for (word, kind, lines) in expected {
        assert_eq!(lines_with(&source, &retired(word, kind)), lines, "{word} {kind:?}");
    }
    let found = violation(&[source], &retired("Desk", Kind::Type));
    assert!(found.is_some_and(|found| found.contains("2 × Desk (Type): use x. x/src/early.rs:1")));
}

#[test]
fn no_retired_word_comes_back() {
    let sources = sources();
    let rows = parse_table(&read(PAGE));
    let found = rows.iter().flatten().filter_map(|retired| violation(&sources, retired));
    let rule = "No word that docs/glossary.md lists as retired is an identifier: one concept has one name. Use the replacement. If the word \
                has become the right one for something else, take it off the list.";
    assert_rule(rule, &found.collect::<Vec<_>>());
}
