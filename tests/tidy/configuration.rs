//! docs/configuration.md lists every variable and every key that the code reads, and no other.

use crate::assert_rule;
use crate::repository::{read, sources};
use crate::rust::Source;
use std::collections::BTreeSet;
use toml::Table;

const PAGE: &str = "docs/configuration.md";
/// The files of `daemon/src/config` that have keys.
const CONFIG_FILES: [&str; 11] = [
    "mod",
    "embedding",
    "server",
    "privacy",
    "projects",
    "backup",
    "scope",
    "hooks",
    "bridge",
    "maintenance",
    "recency",
];

/// Whether the text is exactly one name such as `LOCI_HOME`.
fn is_variable(text: &str) -> bool {
    let name = text.strip_prefix("LOCI_").unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// The variables that the product reads: literals that are exactly one name.
fn variables_read(sources: &[Source]) -> BTreeSet<String> {
    let for_tests = ["tests/", "crates/testkit/"];
    let is_product =
        |source: &&Source| !for_tests.iter().any(|folder| source.path.starts_with(folder));
    let product = sources.iter().filter(is_product);
    let literals = product.flat_map(|source| source.literals().iter().map(|(_, text)| text));
    literals.filter(|text| is_variable(text)).cloned().collect()
}

/// The first cells of the page's tables, where they are code.
fn documented(page: &str) -> BTreeSet<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once('`').map(|(name, _)| name.to_owned())).collect()
}

fn differences(known: &BTreeSet<String>, documented: &BTreeSet<String>) -> Vec<String> {
    let missing = known.difference(documented).map(|name| format!("{name} is not documented"));
    let unknown =
        documented.difference(known).map(|name| format!("{name} is documented but does not exist"));
    missing.chain(unknown).collect()
}

#[test]
fn every_variable_is_documented() {
    let made_up =
        [Source::new("shim/src/a.rs", "var(\"LOCI_HOME\"); hint(\"Set LOCI_DB\"); // LOCI_GROUP")];
    assert_eq!(variables_read(&made_up), BTreeSet::from(["LOCI_HOME".to_owned()]));
    assert_eq!(
        differences(&variables_read(&made_up), &documented("| `LOCI_CELLAR` | nothing |")).len(),
        2
    );
    let documented: BTreeSet<String> =
        documented(&read(PAGE)).into_iter().filter(|name| is_variable(name)).collect();
    let rule = "docs/configuration.md has one row for every variable LOCI_… that the code reads: who reads it, and when.";
    assert_rule(rule, &differences(&variables_read(&sources()), &documented));
}

/// The keys of the example as `section.key` or `section.table.key`, including those that are commented out.
fn keys(example: &str) -> BTreeSet<String> {
    let is_key = |line: &str| line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
    let uncommented =
        |line| str::strip_prefix(line, "# ").filter(|rest| is_key(rest)).unwrap_or(line);
    let table: Table = example
        .lines()
        .map(uncommented)
        .collect::<Vec<_>>()
        .join("\n")
        .parse()
        .expect("the example parses");
    let sections =
        table.iter().filter_map(|(section, value)| value.as_table().map(|keys| (section, keys)));
    sections.flat_map(|(section, keys)| keys_of(section, keys)).collect()
}

/// The keys of a table, whose name is given, that are no tables.
fn keys_of(name: &str, table: &Table) -> Vec<String> {
    let of_key = |(key, value): (&String, &toml::Value)| match value.as_table() {
        Some(inner) => keys_of(&format!("{name}.{key}"), inner),
        None => vec![format!("{name}.{key}")],
    };
    table.iter().flat_map(of_key).collect()
}

#[test]
fn every_key_is_documented() {
    assert_eq!(
        keys("# A file = x.\n[a]\nb = 1 # one\n# c = \"x\"\n[a.t]\nd = 1\n"),
        BTreeSet::from(["a.b".to_owned(), "a.c".to_owned(), "a.t.d".to_owned()])
    );
    let documented: BTreeSet<String> =
        documented(&read(PAGE)).into_iter().filter(|name| name.contains('.')).collect();
    let rule = "docs/configuration.md has one row for every key of config.example.toml.";
    assert_rule(rule, &differences(&keys(&read("config.example.toml")), &documented));
}

/// The fields, as `section.key`, of the structs whose comment is a section's name. A field that is
/// a table is not a key.
fn fields(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut section = None;
    for line in code.lines() {
        if let Some(name) = line.strip_prefix("/// `[").and_then(|rest| rest.strip_suffix("]`")) {
            section = Some(name);
        } else if line == "}" {
            section = None;
        } else if let Some((name, kind)) =
            line.strip_prefix("    pub ").and_then(|rest| rest.split_once(": "))
            && let Some(section) = section
            && !kind.contains("Table")
            && !kind.contains("ByType")
        {
            found.insert(format!("{section}.{name}"));
        }
    }
    found
}

#[test]
fn every_key_of_the_code_is_in_the_example() {
    let made_up = "/// `[a]`\npub struct A {\n    /// One.\n    pub b: i64,\n    pub c: Option<toml::Table>,\n}\npub struct D {\n    pub e: i64,\n}\n";
    assert_eq!(fields(made_up), BTreeSet::from(["a.b".to_owned()]));
    let rule = "config.example.toml shows every key of the files of daemon/src/config that CONFIG_FILES names; one without a default is commented out.";
    assert_rule(
        rule,
        &differences(
            &fields(
                &CONFIG_FILES.map(|file| read(&format!("daemon/src/config/{file}.rs"))).concat(),
            ),
            &keys(&read("config.example.toml")),
        ),
    );
}
