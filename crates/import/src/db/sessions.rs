//! Reads the sessions in the database of `OpenCode`: tables `session`, `message` and `part`.
//!
//! One row at a time, so that the memory needed does not depend on the size of the database. Not
//! here: what a part means.

use crate::db::stores::ForeignStore;
use crate::error::Result;
use rusqlite::Row;
use rusqlite::types::ValueRef;

/// The sessions of people. Those of subagents have a parent.
const SESSIONS: &str = "SELECT id, directory FROM session \
    WHERE parent_id IS NULL AND time_updated >= ?1 ORDER BY time_created, id";
/// A message itself may hold the changes of whole files; only two of its fields are read. An
/// assistant's `summary` is true if it summarises the conversation; a user's is an object.
const MESSAGES: &str = "SELECT id, time_created, \
    CASE WHEN json_valid(data) THEN json_extract(data, '$.role') END, \
    CASE WHEN json_valid(data) THEN json_type(data, '$.summary') END \
    FROM message WHERE session_id = ?1 ORDER BY time_created, id";
/// A part that is too long is not read: its text is NULL.
const PARTS: &str = "SELECT CASE WHEN octet_length(data) <= ?2 THEN data END FROM part \
    WHERE message_id = ?1 ORDER BY id";

/// A session.
#[derive(Debug)]
pub(crate) struct SessionRow {
    pub id: String,
    pub directory: String,
}

/// A message.
#[derive(Debug)]
pub(crate) struct MessageRow {
    pub id: String,
    pub at: i64,
    /// `None` if the row cannot be read.
    pub role: Option<String>,
    pub is_summary: bool,
}

/// Receives the rows in their order.
pub(crate) trait SessionVisitor {
    /// A session begins.
    fn session(&mut self, session: SessionRow) -> Result<()>;
    /// A message of the session.
    fn message(&mut self, message: MessageRow) -> Result<()>;
    /// A part of the message; `None` if it is too long or no text.
    fn part(&mut self, text: Option<&str>) -> Result<()>;
}

impl ForeignStore {
    /// Visits the sessions that were changed at a time or later, in the order of their creation.
    ///
    /// # Errors
    /// A table or column is missing, the file is damaged, or the visitor fails.
    pub fn visit_sessions(
        &self,
        since: i64,
        max_part_bytes: usize,
        visitor: &mut dyn SessionVisitor,
    ) -> Result<()> {
        let fail = |error: rusqlite::Error| self.unreadable(&error);
        let mut sessions = self.conn.prepare(SESSIONS).map_err(fail)?;
        let mut messages = self.conn.prepare(MESSAGES).map_err(fail)?;
        let mut parts = self.conn.prepare(PARTS).map_err(fail)?;
        let max_part_bytes = i64::try_from(max_part_bytes).unwrap_or(i64::MAX);
        let mut rows = sessions.query([since]).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            let session = session_of(row).map_err(fail)?;
            let id = session.id.clone();
            visitor.session(session)?;
            let mut rows = messages.query([id]).map_err(fail)?;
            while let Some(row) = rows.next().map_err(fail)? {
                let message = message_of(row).map_err(fail)?;
                let mut rows = parts.query((&message.id, max_part_bytes)).map_err(fail)?;
                visitor.message(message)?;
                while let Some(row) = rows.next().map_err(fail)? {
                    let text = match row.get_ref(0).map_err(fail)? {
                        ValueRef::Text(text) => std::str::from_utf8(text).ok(),
                        _ => None,
                    };
                    visitor.part(text)?;
                }
            }
        }
        Ok(())
    }
}

fn session_of(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow { id: row.get(0)?, directory: row.get(1)? })
}

fn message_of(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    let role = row.get_ref(2)?.as_str_or_null().ok().flatten().map(str::to_owned);
    let summary: Option<String> = row.get(3)?;
    let is_summary = summary.as_deref() == Some("true");
    Ok(MessageRow { id: row.get(0)?, at: row.get(1)?, role, is_summary })
}
