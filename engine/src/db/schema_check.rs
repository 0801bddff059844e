//! Compares the schema of a file with the expected one before anything of it can act, and builds
//! again what is derived from the memories.
//!
//! Not here: the expected schema (`expected_schema`), migrations (`migrate`).

use crate::db::expected_schema::{self, Object, Objects, normalised};
use crate::db::{health, integrity, vector_sets};
use crate::error::{Error, Result};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;

/// A part of the schema whose rows are derived from the memories.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Derived {
    /// `memories_fts`.
    Keywords,
    /// `memories_vec` and `memory_pieces`.
    Vectors,
    /// `word_codes`.
    Codes,
    /// `vector_sets`, from the names of the sets that the vectors have.
    Sets,
    /// `mentions`.
    Mentions,
    /// An index.
    Index(String),
    /// A trigger, which keeps the keyword index.
    Trigger(String),
}

impl Derived {
    /// Returns the part to which an object belongs; `None` for one that cannot be derived.
    fn of(name: &str, object: &Object) -> Option<Self> {
        match (object.kind.as_str(), name) {
            ("table", "memory_pieces") => Some(Self::Vectors),
            ("table", "word_codes") => Some(Self::Codes),
            ("table", "vector_sets") => Some(Self::Sets),
            ("table", "mentions") => Some(Self::Mentions),
            ("table", name) if is_part_of(name, "memories_fts") => Some(Self::Keywords),
            ("table", name) if is_part_of(name, "memories_vec") => Some(Self::Vectors),
            ("index", name) => Some(Self::Index(name.to_owned())),
            ("trigger", name) => Some(Self::Trigger(name.to_owned())),
            _ => None,
        }
    }

    /// Returns what is built again, as the subject of a sentence.
    fn describe(&self) -> String {
        match self {
            Self::Keywords => "The keyword index".to_owned(),
            Self::Vectors => "The table of vectors".to_owned(),
            Self::Codes => "The table of word codes".to_owned(),
            Self::Sets => "The table of vector sets".to_owned(),
            Self::Mentions => "The table of mentions".to_owned(),
            Self::Index(name) => format!("The index {name}"),
            Self::Trigger(name) => format!("The trigger {name}"),
        }
    }

    /// Returns what was done, one sentence without a full stop.
    pub(crate) fn finding(&self) -> String {
        let next = match self {
            Self::Vectors | Self::Codes => {
                "; the memories are encoded again, until then they are found by keywords"
            }
            _ => "",
        };
        let source = if *self == Self::Sets { "vectors" } else { "memories" };
        let part = self.describe();
        format!("{part} was missing or damaged and was built again from the {source}{next}")
    }
}

/// Returns whether a table is a virtual table or one of its shadow tables.
fn is_part_of(name: &str, table: &str) -> bool {
    name.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// Compares the schema with the expected one of the file's version; returns what has to be built
/// again. A file without a schema has nothing to compare.
///
/// # Errors
/// `ForeignSchema` if it contains what loci has not created, `Damaged` if a table with data is
/// missing, `Database`.
pub(crate) fn check(conn: &Connection, path: &Path, version: i64) -> Result<BTreeSet<Derived>> {
    if version == 0 {
        return Ok(BTreeSet::new());
    }
    let (expected, found) = (expected_schema::of(version), objects(conn)?);
    let (mut foreign, mut derived) = (Vec::new(), BTreeSet::new());
    for (name, object) in &found {
        let is_altered = match expected.get(name) {
            Some(known) if known == object => continue,
            Some(_) => true,
            None if is_of_sqlite(name) => continue,
            None => false,
        };
        match Derived::of(name, object).filter(|_| is_altered) {
            Some(part) if !matches!(part, Derived::Trigger(_)) => drop(derived.insert(part)),
            _ if is_altered => foreign.push(format!("{} {name} (altered)", object.kind)),
            _ => foreign.push(format!("{} {name}", object.kind)),
        }
    }
    if !foreign.is_empty() {
        return Err(Error::ForeignSchema { path: path.to_path_buf(), objects: foreign.join(", ") });
    }
    for (name, object) in expected.iter().filter(|(name, _)| !found.contains_key(*name)) {
        match Derived::of(name, object) {
            // It comes and goes with its table.
            Some(Derived::Index(_)) if object.sql.is_empty() => {}
            Some(part) => drop(derived.insert(part)),
            None => {
                let what = format!("the {} {name} is missing", object.kind);
                return Err(Error::Damaged { path: path.to_path_buf(), what });
            }
        }
    }
    Ok(derived)
}

/// Returns the virtual tables that cannot be opened, because a page of a shadow table is damaged.
pub(crate) fn unusable(conn: &Connection) -> BTreeSet<Derived> {
    let tables = [("memories_fts", Derived::Keywords), ("memories_vec", Derived::Vectors)];
    let is_unusable = |name: &str| {
        let opened = conn.prepare(&format!("SELECT rowid FROM {name}"));
        opened.is_err_and(|fault| {
            integrity::is_corrupt(&fault)
                || fault.to_string().contains(integrity::CONSTRUCTOR_FAILED)
        })
    };
    tables.into_iter().filter(|(name, _)| is_unusable(name)).map(|(_, part)| part).collect()
}

/// Returns whether SQLite itself creates an object of this name.
fn is_of_sqlite(name: &str) -> bool {
    name == "sqlite_sequence"
        || name.starts_with("sqlite_stat")
        || name.starts_with("sqlite_autoindex_")
}

/// Returns the objects of the schema of a database.
fn objects(conn: &Connection) -> Result<Objects> {
    let mut statement = conn.prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema")?;
    let rows = statement.query_map([], |row| {
        let text = |column| {
            Ok::<_, rusqlite::Error>(
                String::from_utf8_lossy(row.get_ref(column)?.as_bytes()?).into_owned(),
            )
        };
        Ok((text(1)?, Object { kind: text(0)?, sql: normalised(&text(2)?) }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Builds parts of the schema again. Indexes and triggers come last, because their tables must
/// exist.
///
/// # Errors
/// `Database`; nothing was changed then.
pub(crate) fn rebuild(conn: &Connection, version: i64, parts: &BTreeSet<Derived>) -> Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    let expected = expected_schema::of(version);
    let sql = |name: &str| expected.get(name).map(|object| object.sql.clone()).unwrap_or_default();
    let tx = conn.unchecked_transaction()?;
    let mut fills_keywords = false;
    for part in parts {
        match part {
            Derived::Keywords => {
                drop_virtual_table(&tx, "memories_fts")?;
                tx.execute_batch(&sql("memories_fts"))?;
                fills_keywords = true;
            }
            Derived::Vectors => {
                drop_virtual_table(&tx, "memories_vec")?;
                tx.execute_batch("DROP TABLE IF EXISTS memory_pieces")?;
                tx.execute_batch(&sql("memory_pieces"))?;
                tx.execute_batch(&sql("memories_vec"))?;
            }
            Derived::Codes => {
                tx.execute_batch("DROP TABLE IF EXISTS word_codes")?;
                tx.execute_batch(&sql("word_codes"))?;
            }
            Derived::Sets => {
                tx.execute_batch("DROP TABLE IF EXISTS vector_sets")?;
                tx.execute_batch(&sql("vector_sets"))?;
                vector_sets::derive(&tx)?;
            }
            Derived::Mentions => {
                tx.execute_batch("DROP TABLE IF EXISTS mentions")?;
                tx.execute_batch(&sql("mentions"))?;
                health::request_mention_backfill(&tx)?;
            }
            Derived::Index(name) => {
                tx.execute_batch(&format!("DROP INDEX IF EXISTS \"{name}\""))?;
            }
            Derived::Trigger(_) => fills_keywords = true,
        }
    }
    create_missing(&tx, &expected)?;
    if fills_keywords {
        tx.execute_batch(
            "INSERT INTO memories_fts(memories_fts, rank) VALUES ('secure-delete', 1);
             INSERT INTO memories_fts(memories_fts) VALUES ('rebuild');",
        )?;
    }
    Ok(tx.commit()?)
}

/// Creates the indexes and triggers that are missing, also those that went with their table.
fn create_missing(conn: &Connection, expected: &Objects) -> Result<()> {
    let found = objects(conn)?;
    let is_missing = |(name, object): &(&String, &Object)| {
        matches!(object.kind.as_str(), "index" | "trigger")
            && !object.sql.is_empty()
            && !found.contains_key(*name)
    };
    for (_, object) in expected.iter().filter(is_missing) {
        conn.execute_batch(&object.sql)?;
    }
    Ok(())
}

/// Drops a virtual table of which shadow tables may be missing, so that `DROP TABLE` would fail:
/// removes its entry from the schema, which has no pages, and then its shadow tables.
fn drop_virtual_table(conn: &Connection, name: &str) -> Result<()> {
    conn.execute_batch("PRAGMA writable_schema = ON")?;
    let removed = conn.execute("DELETE FROM sqlite_schema WHERE name = ?1", [name]);
    conn.execute_batch("PRAGMA writable_schema = RESET")?;
    removed?;
    let shadows: Vec<String> = conn
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ?1 || '_*'")?
        .query_map([name], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for shadow in shadows {
        conn.execute_batch(&format!("DROP TABLE \"{shadow}\""))?;
    }
    Ok(())
}

/// Returns the lines of `expected_schema.txt` for one step, from the schema before it.
#[cfg(test)]
pub(crate) fn expected_lines(conn: &Connection, before: &mut Objects, version: i64) -> String {
    use std::fmt::Write as _;
    let (mut text, after) = (String::new(), objects(conn).expect("the schema is read"));
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        let _ = writeln!(text, "{version}\tgone\t{name}\t");
    }
    for (name, object) in after.iter().filter(|(name, object)| before.get(*name) != Some(object)) {
        let _ = writeln!(text, "{version}\t{}\t{name}\t{}", object.kind, object.sql);
    }
    *before = after;
    text
}
