//! Every stored text, for the scan for secrets, and the statements that replace or delete one.

use crate::db::bridge;
use crate::error::Result;
use rusqlite::Connection;

/// A column that holds texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextColumn {
    Content,
    Reason,
    Metadata,
    Variant,
    Predicate,
    Log,
    Journal,
    Answer,
    Query,
    Group,
    Alias,
    Version,
}

/// One text: its place, its row, and the id that a person uses for it.
#[derive(Debug, Clone)]
pub(crate) struct StoredText {
    pub place: TextColumn,
    /// Number of the row; of a variant the memory's, of an answer 0.
    pub row: i64,
    /// Id of the memory or relation, key of the answer, else the number of the row.
    pub id: String,
    pub text: String,
}

impl TextColumn {
    pub(crate) const ALL: [Self; 12] = [
        Self::Content,
        Self::Reason,
        Self::Metadata,
        Self::Variant,
        Self::Predicate,
        Self::Log,
        Self::Journal,
        Self::Answer,
        Self::Query,
        Self::Group,
        Self::Alias,
        Self::Version,
    ];

    /// Returns the name in the reply.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Reason => "reason",
            Self::Metadata => "metadata",
            Self::Variant => "variant",
            Self::Predicate => "predicate",
            Self::Log => "log",
            Self::Journal => "journal",
            Self::Answer => "answer",
            Self::Query => "query",
            Self::Group | Self::Alias => "group",
            Self::Version => "file version",
        }
    }

    /// Returns whether the text is JSON.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Metadata | Self::Log | Self::Journal | Self::Answer)
    }

    fn sql(self) -> &'static str {
        match self {
            Self::Content => "SELECT seq, id, content FROM memories",
            Self::Reason => {
                "SELECT seq, id, forgotten_reason FROM memories WHERE forgotten_reason IS NOT NULL"
            }
            Self::Metadata => "SELECT seq, id, metadata FROM memories WHERE metadata <> '{}'",
            Self::Variant => {
                "SELECT memory, (SELECT id FROM memories WHERE seq = memory), content FROM memory_variants"
            }
            Self::Predicate => "SELECT rowid, id, predicate FROM entity_relations",
            Self::Log => {
                "SELECT id, CAST(id AS TEXT), details FROM memory_log WHERE details IS NOT NULL"
            }
            Self::Journal => "SELECT id, CAST(id AS TEXT), before FROM journal",
            Self::Answer => "SELECT 0, key, result FROM idempotency",
            Self::Query => "SELECT id, CAST(id AS TEXT), query FROM known_answers",
            Self::Group => "SELECT 0, id, name FROM groups",
            Self::Alias => "SELECT 0, group_id, alias FROM group_aliases",
            // Their texts are compressed.
            Self::Version => "SELECT 0, '', '' WHERE 0",
        }
    }
}

/// Passes every text of one place to `each`.
pub(crate) fn texts(
    conn: &Connection,
    place: TextColumn,
    mut each: impl FnMut(StoredText) -> Result<()>,
) -> Result<()> {
    if place == TextColumn::Version {
        for row in bridge::texts(conn)? {
            let Some(text) = bridge::text(conn, &row.hash)? else { continue };
            each(StoredText { place, row: 0, id: row.path, text })?;
        }
        return Ok(());
    }
    let mut statement = conn.prepare(place.sql())?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        each(StoredText { place, row: row.get(0)?, id: row.get(1)?, text: row.get(2)? })?;
    }
    Ok(())
}

/// Replaces the text of a variant, a predicate or a line of the log; deletes an answer or a query.
/// Other places are changed through their rows.
pub(crate) fn replace(conn: &Connection, old: &StoredText, new: &str) -> Result<()> {
    let (id, row, text) = (&old.id, old.row, &old.text);
    match old.place {
        TextColumn::Variant => {
            conn.execute(
                "INSERT OR IGNORE INTO memory_variants(memory, content, created_at)
                 SELECT memory, ?3, created_at FROM memory_variants WHERE memory = ?1 AND content = ?2",
                (row, text, new),
            )?;
            conn.execute(
                "DELETE FROM memory_variants WHERE memory = ?1 AND content = ?2",
                (row, text),
            )?;
        }
        TextColumn::Predicate => {
            conn.execute(
                "UPDATE OR REPLACE entity_relations SET predicate = ?2 WHERE id = ?1",
                (id, new),
            )?;
        }
        TextColumn::Log => {
            conn.execute("UPDATE memory_log SET details = ?2 WHERE id = ?1", (row, new))?;
        }
        TextColumn::Answer => {
            conn.execute("DELETE FROM idempotency WHERE key = ?1", [id])?;
        }
        TextColumn::Query => {
            conn.execute("DELETE FROM known_answers WHERE id = ?1", [row])?;
        }
        TextColumn::Version => {
            bridge::replace_text(conn, &bridge::hash(text), new, 1)?;
        }
        TextColumn::Content
        | TextColumn::Reason
        | TextColumn::Metadata
        | TextColumn::Journal
        | TextColumn::Group
        | TextColumn::Alias => {}
    }
    Ok(())
}
