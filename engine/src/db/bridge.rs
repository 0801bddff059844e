//! Rows of the bridge to clients' own memory: watched clients, their projects and files, the versions of the files, and what was imported.
//!
//! Texts are compressed here, so that no other module sees a compressed text. Not here: what is kept and imported
//! (`operations::bridge`).

use crate::error::{Error, Result};
use crate::model::time::Timestamp;
use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use loci_proto::error::{Code, Failure};
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashSet;
use std::io::Read;

/// Maximum bytes of one text: the daemon reads no larger file.
const MAX_TEXT_BYTES: u64 = 4 << 20;

/// A row of `bridge_clients`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientRow {
    pub client: String,
    pub folder: String,
    pub other: Option<String>,
    pub since: Timestamp,
    pub scanned_at: Option<Timestamp>,
}

/// A row of `bridge_projects`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectRow {
    pub client: String,
    pub name: String,
    pub path: String,
    pub group_id: String,
    pub group_name: String,
    pub is_off: bool,
    pub has_file: bool,
}

/// A row of `bridge_files`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileRow {
    pub id: i64,
    pub client: String,
    pub path: String,
    pub group: Option<String>,
    /// SHA-256 of the file on the disk, in hexadecimal digits.
    pub hash: Option<String>,
    pub is_gone: bool,
}

/// A row of `bridge_versions`, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VersionRow {
    pub number: i64,
    pub at: Timestamp,
    /// The hash of the text; `None` if the file was deleted.
    pub text: Option<Vec<u8>>,
    pub bytes: u64,
    pub mode: u32,
    pub replaced: u64,
}

/// A row of `bridge_statements`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatementRow {
    pub hash: Vec<u8>,
    pub memory: String,
    pub is_gone: bool,
}

impl StatementRow {
    /// Returns whether the statement is one of these.
    pub(crate) fn is_in(&self, hashes: &HashSet<[u8; 16]>) -> bool {
        <[u8; 16]>::try_from(self.hash.as_slice()).is_ok_and(|hash| hashes.contains(&hash))
    }
}

/// Counts of one client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub files: u64,
    pub gone: u64,
    pub versions: u64,
    pub imported: u64,
}

/// Returns the watched clients.
pub(crate) fn clients(conn: &Connection) -> Result<Vec<ClientRow>> {
    let sql = "SELECT client, folder, other, since, scanned_at FROM bridge_clients ORDER BY client";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(ClientRow {
            client: row.get(0)?,
            folder: row.get(1)?,
            other: row.get(2)?,
            since: Timestamp(row.get(3)?),
            scanned_at: row.get::<_, Option<i64>>(4)?.map(Timestamp),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Adds a watched client, or changes its folders.
pub(crate) fn put_client(conn: &Connection, row: &ClientRow) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO bridge_clients(client, folder, other, since) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT(client) DO UPDATE SET folder = excluded.folder, other = excluded.other",
    )?
    .execute((&row.client, &row.folder, &row.other, row.since.0))?;
    Ok(())
}

/// Removes a watched client; its files and versions stay.
pub(crate) fn remove_client(conn: &Connection, client: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM bridge_clients WHERE client = ?1")?.execute([client])?;
    Ok(())
}

/// Records that the files of a client were looked at.
pub(crate) fn set_scanned(conn: &Connection, client: &str, now: Timestamp) -> Result<()> {
    conn.prepare_cached("UPDATE bridge_clients SET scanned_at = ?2 WHERE client = ?1")?
        .execute((client, now.0))?;
    Ok(())
}

/// Returns the known projects of a client's folders.
pub(crate) fn projects(conn: &Connection) -> Result<Vec<ProjectRow>> {
    let mut statement = conn.prepare_cached(
        "SELECT client, name, path, group_id, group_name, is_off, has_file FROM bridge_projects ORDER BY client, name",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(ProjectRow {
            client: row.get(0)?,
            name: row.get(1)?,
            path: row.get(2)?,
            group_id: row.get(3)?,
            group_name: row.get(4)?,
            is_off: row.get(5)?,
            has_file: row.get(6)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Records the project of a client's folder.
pub(crate) fn put_project(conn: &Connection, row: &ProjectRow) -> Result<()> {
    conn.prepare_cached(
        "INSERT OR REPLACE INTO bridge_projects(client, name, path, group_id, group_name, is_off, has_file)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute((
        &row.client,
        &row.name,
        &row.path,
        &row.group_id,
        &row.group_name,
        row.is_off,
        row.has_file,
    ))?;
    Ok(())
}

const FILE: &str = "id, client, path, group_id, hash, gone_at IS NOT NULL";

/// Returns all files, by path.
pub(crate) fn files(conn: &Connection) -> Result<Vec<FileRow>> {
    let mut statement =
        conn.prepare_cached(&format!("SELECT {FILE} FROM bridge_files ORDER BY path"))?;
    let rows = statement.query_map([], read_file)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the file with this path.
pub(crate) fn file(conn: &Connection, path: &str) -> Result<Option<FileRow>> {
    let sql = format!("SELECT {FILE} FROM bridge_files WHERE path = ?1");
    Ok(conn.prepare_cached(&sql)?.query_row([path], read_file).optional()?)
}

/// Adds or updates a file that exists; returns its number.
pub(crate) fn put_file(conn: &Connection, row: &FileRow) -> Result<i64> {
    let sql = "INSERT INTO bridge_files(client, path, group_id, hash) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT(path) DO UPDATE SET client = excluded.client, group_id = coalesce(excluded.group_id, group_id),
           hash = excluded.hash, gone_at = NULL
         RETURNING id";
    let values = (&row.client, &row.path, &row.group, &row.hash);
    Ok(conn.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
}

/// Records that a file no longer exists.
pub(crate) fn set_gone(conn: &Connection, id: i64, now: Timestamp) -> Result<()> {
    conn.prepare_cached("UPDATE bridge_files SET gone_at = ?2, hash = NULL WHERE id = ?1")?
        .execute((id, now.0))?;
    Ok(())
}

/// Returns the versions of a file, newest first.
pub(crate) fn versions(conn: &Connection, file: i64) -> Result<Vec<VersionRow>> {
    let mut statement = conn.prepare_cached(
        "SELECT v.number, v.at, v.text, coalesce(t.bytes, 0), v.mode, v.replaced
         FROM bridge_versions v LEFT JOIN bridge_texts t ON t.hash = v.text WHERE v.file = ?1 ORDER BY v.number DESC",
    )?;
    let rows = statement.query_map([file], |row| {
        Ok(VersionRow {
            number: row.get(0)?,
            at: Timestamp(row.get(1)?),
            text: row.get(2)?,
            bytes: count(row, 3)?,
            mode: row.get(4)?,
            replaced: count(row, 5)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Adds a version, after the newest one of the file.
pub(crate) fn add_version(conn: &Connection, file: i64, version: &VersionRow) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO bridge_versions(file, number, at, text, mode, replaced)
         SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5 FROM bridge_versions WHERE file = ?1",
    )?
    .execute((
        file,
        version.at.0,
        &version.text,
        version.mode,
        i64::try_from(version.replaced).unwrap_or(i64::MAX),
    ))?;
    Ok(())
}

/// Returns the id of a text.
pub(crate) fn hash(text: &str) -> Vec<u8> {
    blake3::hash(text.as_bytes()).as_bytes().to_vec()
}

/// Stores a text; returns its hash.
pub(crate) fn put_text(conn: &Connection, text: &str) -> Result<Vec<u8>> {
    let hash = hash(text);
    let mut compressed = Vec::new();
    ZlibEncoder::new(text.as_bytes(), Compression::default())
        .read_to_end(&mut compressed)
        .map_err(|error| unreadable(&error))?;
    let bytes = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let sql =
        "INSERT INTO bridge_texts(hash, text, bytes) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    conn.prepare_cached(sql)?.execute((&hash, compressed, bytes))?;
    Ok(hash)
}

/// Returns a text; `None` if its version was removed to make room.
pub(crate) fn text(conn: &Connection, hash: &[u8]) -> Result<Option<String>> {
    let stored: Option<Vec<u8>> = conn
        .prepare_cached("SELECT text FROM bridge_texts WHERE hash = ?1")?
        .query_row([hash], |row| row.get(0))
        .optional()?;
    let Some(stored) = stored else { return Ok(None) };
    let mut text = String::new();
    ZlibDecoder::new(stored.as_slice())
        .take(MAX_TEXT_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| unreadable(&error))?;
    Ok(Some(text))
}

/// A text with a file that has it: its hash, the client and the path.
pub(crate) struct TextRow {
    pub hash: Vec<u8>,
    pub client: String,
    pub path: String,
}

/// Returns every text.
pub(crate) fn texts(conn: &Connection) -> Result<Vec<TextRow>> {
    let mut statement = conn.prepare_cached(
        "SELECT v.text, f.client, f.path FROM bridge_versions v JOIN bridge_files f ON f.id = v.file
         WHERE v.text IS NOT NULL GROUP BY v.text ORDER BY min(v.at)",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(TextRow { hash: row.get(0)?, client: row.get(1)?, path: row.get(2)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Replaces a text in all versions that have it.
pub(crate) fn replace_text(conn: &Connection, old: &[u8], new: &str, replaced: u32) -> Result<()> {
    let hash = put_text(conn, new)?;
    conn.prepare_cached(
        "UPDATE bridge_versions SET text = ?2, replaced = replaced + ?3 WHERE text = ?1",
    )?
    .execute((old, &hash, replaced))?;
    drop_unused_texts(conn)
}

/// Deletes the oldest versions until the texts have at most `limit` bytes; the newest text of each file stays. Returns how many.
pub(crate) fn bound(conn: &Connection, limit: u64) -> Result<usize> {
    let mut deleted = 0;
    while kept_bytes(conn)? > limit {
        let removed = conn
            .prepare_cached(
                "DELETE FROM bridge_versions WHERE (file, number) IN (
                   SELECT v.file, v.number FROM bridge_versions v
                   WHERE v.number < (SELECT max(n.number) FROM bridge_versions n WHERE n.file = v.file AND n.text IS NOT NULL)
                   ORDER BY v.at, v.file, v.number LIMIT 8)",
            )?
            .execute([])?;
        if removed == 0 {
            break;
        }
        deleted += removed;
        drop_unused_texts(conn)?;
    }
    Ok(deleted)
}

fn drop_unused_texts(conn: &Connection) -> Result<()> {
    conn.prepare_cached(
        "DELETE FROM bridge_texts WHERE NOT EXISTS (SELECT 1 FROM bridge_versions v WHERE v.text = bridge_texts.hash)",
    )?
    .execute([])?;
    Ok(())
}

/// Returns the size of all texts.
pub(crate) fn kept_bytes(conn: &Connection) -> Result<u64> {
    let sql = "SELECT coalesce(sum(length(text)), 0) FROM bridge_texts";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| count(row, 0))?)
}

/// Returns what was taken from a file.
pub(crate) fn statements(conn: &Connection, file: i64) -> Result<Vec<StatementRow>> {
    let mut statement = conn.prepare_cached(
        "SELECT hash, memory_id, gone_at IS NOT NULL FROM bridge_statements WHERE file = ?1",
    )?;
    let rows = statement.query_map([file], |row| {
        Ok(StatementRow { hash: row.get(0)?, memory: row.get(1)?, is_gone: row.get(2)? })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the memory that a statement of any file of a client in a project became, by the first of its hashes that is known, whatever
/// became of the memory since.
pub(crate) fn memory_of_any(
    conn: &Connection,
    client: &str,
    project: Option<&str>,
    hashes: [[u8; 16]; 2],
) -> Result<Option<String>> {
    for hash in hashes {
        let found = memory_of(conn, client, project, &hash)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn memory_of(
    conn: &Connection,
    client: &str,
    project: Option<&str>,
    hash: &[u8],
) -> Result<Option<String>> {
    let sql = "SELECT s.memory_id FROM bridge_files f CROSS JOIN bridge_statements s ON s.file = f.id AND s.hash = ?3
         WHERE f.client = ?1 AND (f.group_id IS ?2 OR f.group_id IN (SELECT alias FROM group_aliases WHERE group_id = ?2)) LIMIT 1";
    let key = (client, project, hash);
    Ok(conn.prepare_cached(sql)?.query_row(key, |row| row.get(0)).optional()?)
}

/// Returns the hashes of the statements that became a memory.
pub(crate) fn hashes_of(conn: &Connection, memory: &str) -> Result<Vec<[u8; 16]>> {
    let sql = "SELECT DISTINCT hash FROM bridge_statements WHERE memory_id = ?1";
    read_hashes(conn, sql, [memory])
}

/// Returns the hashes of the statements whose memories were deleted permanently.
pub(crate) fn erased_hashes(conn: &Connection) -> Result<HashSet<[u8; 16]>> {
    let sql = "SELECT DISTINCT s.hash FROM tombstones t CROSS JOIN bridge_statements s ON s.memory_id = t.id";
    Ok(read_hashes(conn, sql, [])?.into_iter().collect())
}

fn read_hashes(
    conn: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> Result<Vec<[u8; 16]>> {
    let mut statement = conn.prepare_cached(sql)?;
    let hashes = statement.query_map(parameters, |row| row.get::<_, Vec<u8>>(0))?;
    let hashes: Vec<Vec<u8>> = hashes.collect::<rusqlite::Result<_>>()?;
    Ok(hashes.into_iter().filter_map(|hash| hash.try_into().ok()).collect())
}

/// Records that a statement of a file is this memory.
pub(crate) fn put_statement(conn: &Connection, file: i64, hash: &[u8], memory: &str) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO bridge_statements(file, hash, memory_id) VALUES (?1, ?2, ?3)
         ON CONFLICT(file, hash) DO UPDATE SET memory_id = excluded.memory_id, gone_at = NULL",
    )?
    .execute((file, hash, memory))?;
    Ok(())
}

/// Records that a statement is no longer in its file, or that it is again.
pub(crate) fn set_statement_gone(
    conn: &Connection,
    file: i64,
    hash: &[u8],
    gone_at: Option<Timestamp>,
) -> Result<()> {
    conn.prepare_cached("UPDATE bridge_statements SET gone_at = ?3 WHERE file = ?1 AND hash = ?2")?
        .execute((file, hash, gone_at.map(|at| at.0)))?;
    Ok(())
}

/// Returns whether any file that exists still states a memory.
pub(crate) fn is_stated(conn: &Connection, memory: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM bridge_statements WHERE memory_id = ?1 AND gone_at IS NULL";
    Ok(conn.prepare_cached(sql)?.exists([memory])?)
}

/// Returns how many texts that a person confirmed were reworded in their files, where the new wording waits.
pub(crate) fn reworded_after_confirmation(conn: &Connection) -> Result<u64> {
    let sql = "SELECT count(*) FROM memories n JOIN memories o ON o.superseded_by = n.id
         WHERE n.trust = 'import' AND n.status = 'active' AND o.status = 'superseded' AND o.trust = 'person'
           AND n.id IN (SELECT memory_id FROM bridge_statements)";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| count(row, 0))?)
}

/// Returns the counts of a client.
pub(crate) fn counts(conn: &Connection, client: &str) -> Result<Counts> {
    let sql = "SELECT
         (SELECT count(*) FROM bridge_files WHERE client = ?1 AND gone_at IS NULL),
         (SELECT count(*) FROM bridge_files WHERE client = ?1 AND gone_at IS NOT NULL),
         (SELECT count(*) FROM bridge_versions v JOIN bridge_files f ON f.id = v.file WHERE f.client = ?1),
         (SELECT count(DISTINCT s.memory_id) FROM bridge_statements s JOIN bridge_files f ON f.id = s.file
            JOIN memories m ON m.id = s.memory_id WHERE f.client = ?1)";
    Ok(conn.prepare_cached(sql)?.query_row([client], |row| {
        Ok(Counts {
            files: count(row, 0)?,
            gone: count(row, 1)?,
            versions: count(row, 2)?,
            imported: count(row, 3)?,
        })
    })?)
}

fn read_file(row: &Row<'_>) -> rusqlite::Result<FileRow> {
    Ok(FileRow {
        id: row.get(0)?,
        client: row.get(1)?,
        path: row.get(2)?,
        group: row.get(3)?,
        hash: row.get(4)?,
        is_gone: row.get(5)?,
    })
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or_default())
}

fn unreadable(error: &std::io::Error) -> Error {
    let message = format!("a version of a client's memory file cannot be read: {error}");
    Failure::new(Code::StorageFailed, message)
        .hint("Run loci doctor; an older backup may have it")
        .into()
}
