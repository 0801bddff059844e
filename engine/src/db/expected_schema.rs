//! The objects that each schema version has, from `expected_schema.txt`.
//!
//! A line is the version, the type, the name and the SQL, separated by tabs; `gone` as type removes
//! an object. A test compares the file with what the migrations create. Not here: the comparison
//! with a database (`schema_check`).

use std::collections::BTreeMap;

const TEXT: &str = include_str!("expected_schema.txt");

/// Type and SQL of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    /// `table`, `index`, `trigger` or `view`.
    pub kind: String,
    /// The statement that creates it, with single spaces; empty for an index that SQLite adds to a
    /// table.
    pub sql: String,
}

/// The objects of a schema by name.
pub(crate) type Objects = BTreeMap<String, Object>;

/// Returns the objects of a schema version.
pub(crate) fn of(version: i64) -> Objects {
    let mut objects = Objects::new();
    for line in TEXT.lines() {
        let mut fields = line.splitn(4, '\t');
        let mut next = || fields.next().unwrap_or_default();
        let (since, kind, name, sql) = (next(), next(), next(), next());
        if since.parse().is_ok_and(|since: i64| since > version) {
            break;
        }
        if kind == "gone" {
            objects.remove(name);
        } else {
            let object = Object { kind: kind.to_owned(), sql: sql.to_owned() };
            objects.insert(name.to_owned(), object);
        }
    }
    objects
}

/// Returns a statement with single spaces, so that its layout does not matter.
pub(crate) fn normalised(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}
