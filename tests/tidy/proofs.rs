//! The pages that name tests as proofs name tests that exist, and the table of bad inputs has every
//! number once.
//!
//! A test is named `module::test`, which is in tests/it, or as a file followed by a test. Not here:
//! whether a test proves what the page says.

use crate::assert_rule;
use crate::repository::{read, sources};
use crate::rust::Source;

const BAD_INPUTS: &str = "docs/bad-inputs.md";
const PAGES: [&str; 3] = [BAD_INPUTS, "docs/guarantees.md", "docs/security-model.md"];
/// Number of rows of the table of bad inputs.
const INPUTS: usize = 98;

/// A test that a page names: the file, and the function; none for all tests of the file.
#[derive(Debug, PartialEq, Eq)]
struct Proof {
    line: usize,
    file: String,
    test: Option<String>,
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// The tests that a page names outside code blocks.
fn proofs(page: &str) -> Vec<Proof> {
    let mut found = Vec::new();
    let mut in_block = false;
    for (at, line) in page.lines().enumerate() {
        in_block ^= line.starts_with("```");
        let parts: Vec<&str> = if in_block { Vec::new() } else { line.split('`').collect() };
        for (index, code) in parts.iter().enumerate().skip(1).step_by(2) {
            let (before, after) = (parts[index - 1], parts.get(index + 1).copied().unwrap_or(""));
            let test = |file: String, test: Option<&str>| Proof {
                line: at + 1,
                file,
                test: test.map(str::to_owned),
            };
            let in_it = |module: &str| format!("tests/it/{module}.rs");
            match code.split_once("::") {
                Some((module, name)) if is_name(module) && is_name(name) => {
                    found.push(test(in_it(module), Some(name)));
                }
                None if is_name(code) && before == ": " && index >= 3 => {
                    found.push(test(parts[index - 2].to_owned(), Some(code)));
                }
                None if is_name(code) && after.starts_with(" (all)") => {
                    found.push(test(in_it(code), None));
                }
                _ => {}
            }
        }
    }
    found
}

/// The proofs that are no tests: the file is missing, or has no test of that name.
fn missing(page: &str, content: &str, sources: &[Source]) -> Vec<String> {
    let exists = |proof: &Proof| {
        // A module of several files has its tests in `mod.rs`.
        let in_folder = proof.file.replace(".rs", "/mod.rs");
        let is_file = |source: &&Source| source.path == proof.file || source.path == in_folder;
        let source = sources.iter().find(is_file);
        source.is_some_and(|source| match &proof.test {
            None => source.text.contains("#[test]"),
            Some(test) => is_test(&source.text, test),
        })
    };
    let unknown = proofs(content).into_iter().filter(|proof| !exists(proof));
    unknown
        .map(|Proof { line, file, test }| {
            format!("{page}:{line}: {file} has no test {}", test.unwrap_or_default())
        })
        .collect()
}

/// Whether a function with one of the attributes of a test has this name.
fn is_test(text: &str, name: &str) -> bool {
    let definition = format!("fn {name}(");
    text.match_indices(&definition).any(|(at, _)| {
        let before = text[..at].trim_end_matches("async ").trim_end();
        ["#[test]", "#[tokio::test]"].iter().any(|attribute| before.ends_with(attribute))
    })
}

/// What is wrong with the rows of the table of bad inputs.
fn row_faults(text: &str, inputs: usize) -> Vec<String> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let rows =
        rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let mut faults = Vec::new();
    let mut next = 1;
    for row in rows.filter(|row| row[0].parse::<usize>().is_ok()) {
        if row[0].parse() != Ok(next) {
            faults.push(format!("{next} is missing before {}", row[0]));
        }
        if row.len() != 4 || row.iter().any(|cell| cell.is_empty()) {
            faults.push(format!("{} has an empty cell; write `-` for what is not proved", row[0]));
        }
        next = row[0].parse().map_or(next, |number: usize| number + 1);
    }
    if next != inputs + 1 {
        faults.push(format!("the last row is {}, not {inputs}", next - 1));
    }
    faults
}

#[test]
fn every_test_that_a_page_names_exists() {
    let it = "#[test]\nfn merges() {}\nfn splits() {}";
    let made_up = [
        Source::new("tests/it/store.rs", it),
        Source::new("x/src/a.rs", "    #[tokio::test]\n    async fn waits() {}"),
    ];
    let good = "| `store::merges` | `store` (all) |\n`x/src/a.rs`: `waits`, `rc_word`\n```\n`store::x`\n```";
    assert_eq!(missing("a.md", good, &made_up), Vec::<String>::new());
    for bad in [
        "`store::splits`",
        "`stores::merges`",
        "`x/src/a.rs`: `merges`",
        "`x/b.rs`: `waits`",
        "`x` (all)",
    ] {
        assert_eq!(missing("a.md", bad, &made_up).len(), 1, "{bad}");
    }
    let sources = sources();
    let rule = "Every test that docs/bad-inputs.md, docs/guarantees.md and docs/security-model.md name exists. Correct the page together with \
                the test.";
    let pages = PAGES.iter().map(|page| (*page, read(page)));
    let named: usize = pages.clone().map(|(_, text)| proofs(&text).len()).sum();
    assert!(named > 150, "the pages name {named} tests");
    let violations: Vec<String> =
        pages.flat_map(|(page, text)| missing(page, &text, &sources)).collect();
    assert_rule(rule, &violations);
}

#[test]
fn the_table_of_bad_inputs_has_every_number_once() {
    let row = |number: usize| format!("| {number} | x | y | `a::b` |\n");
    let rows: String = (1..=3).map(row).collect();
    assert_eq!(row_faults(&rows, 3), Vec::<String>::new());
    assert_eq!(row_faults(&rows, 4).len(), 1);
    assert_eq!(row_faults(&rows.replace("| 2 |", "| 4 |"), 3).len(), 2);
    assert_eq!(row_faults(&rows.replace(" `a::b` |\n| 2", " |\n| 2"), 3).len(), 1);
    let rule = "docs/bad-inputs.md has the inputs 1 to 98 in order, each with its outcome and its test, or `-`.";
    assert_rule(rule, &row_faults(&read(BAD_INPUTS), INPUTS));
}
