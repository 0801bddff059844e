//! The sessions that memories and acts name.

use crate::error::Result;
use rusqlite::Connection;

/// Returns sessions whose id begins so, at most `limit`. Lines of imports can name any session, so
/// they do not count.
pub(crate) fn beginning_with(conn: &Connection, prefix: &str, limit: usize) -> Result<Vec<String>> {
    let mut statement = conn.prepare_cached(
        "SELECT session FROM (SELECT session FROM journal UNION SELECT session FROM memories WHERE origin IS NOT 'import')
         WHERE substr(session, 1, length(?1)) = ?1 ORDER BY session <> ?1, session LIMIT ?2",
    )?;
    let rows = statement
        .query_map((prefix, i64::try_from(limit).unwrap_or(i64::MAX)), |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
