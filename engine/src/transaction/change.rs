//! One change: a transaction, its caller, the memories that it touches, and the rows before it.
//!
//! Every operation that writes goes through [`Writer::run_idempotent`]: a call
//! with a known idempotency key gets its stored reply, the work and its reply are one transaction,
//! and the index is updated after the commit.
//! An undoable operation calls [`Change::record_before`] for each row that it is about to change,
//! [`Change::record_created`] for each row that it has inserted, and ends with
//! [`Change::commit_to_journal`]. Not here: the operations (`operations`), how they are undone
//! (`operations::undo`).

use crate::db::journal;
use crate::db::journal::{RowChange, RowEffect};
use crate::db::log;
use crate::db::log::Operation;
use crate::db::rows;
use crate::db::rows::{Image, Row};
use crate::db::{connection, entity_links, idempotency, memories, vectors};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::handles::reader::Reader;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::model::actor::Actor;
use crate::model::encoding::{DocumentEncoding, TextEncodings};
use crate::model::time::Timestamp;
use crate::transaction::change_set::ChangeSet;
use crate::transaction::change_set::IndexUpdate;
use loci_proto::error::{Code, Failure};
use loci_proto::memory::MemoryId;
use rusqlite::{CachedStatement, Connection, TransactionBehavior};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// The context of one call that writes.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The time of the call.
    pub now: Timestamp,
    /// The caller.
    pub actor: Actor,
    /// The idempotency key, if the shim added one.
    pub key: Option<String>,
    /// The versions of the texts that a person was shown before they decided, by id: nothing is done to another text.
    pub shown: Option<BTreeMap<String, String>>,
}

/// A change in progress.
pub(crate) struct Change<'a> {
    /// The transaction.
    pub conn: &'a Connection,
    pub shared: &'a Shared,
    pub call: &'a CallContext,
    pub touched: &'a mut ChangeSet,
    /// Rows to journal with their content before the change; `None` for created rows.
    before: Vec<(Row, Option<Image>)>,
    /// The rows of `before`, to record each once.
    recorded: HashSet<Row>,
}

/// Columns that change when a memory is merely used. They do not count as a change of the row.
const USAGE_COLUMNS: [&str; 7] = [
    "access_count",
    "last_accessed",
    "boosted_at",
    "confidence",
    "confidence_at",
    "updated_at",
    "importance",
];

impl Change<'_> {
    /// Records the content of a row before it is changed or deleted. Later calls for the same row
    /// do nothing.
    pub fn record_before(&mut self, row: Row) -> Result<()> {
        if !self.recorded.insert(row.clone()) {
            return Ok(());
        }
        let image = rows::image(self.conn, &row)?;
        self.before.push((row, image));
        Ok(())
    }

    /// Records a row that this change has created.
    pub fn record_created(&mut self, row: Row) {
        self.recorded.insert(row.clone());
        self.before.push((row, None));
    }

    /// Marks a memory as changed, for the index.
    pub fn touch(&mut self, seq: i64) {
        self.touched.seqs.push(seq);
    }

    /// Inserts a memory with its vectors and sign codes, and returns its sequence number. The
    /// caller finds its mentions.
    pub fn insert(
        &mut self,
        new: &memories::NewMemory<'_>,
        encodings: &TextEncodings,
    ) -> Result<i64> {
        let seq = memories::insert(self.conn, new, self.call.now)?;
        failpoint!("after the row and the terms of a memory");
        self.insert_encodings(seq, encodings)?;
        failpoint!("after the sign codes of a memory");
        self.record_created(Row::Memory(seq));
        self.touch(seq);
        Ok(seq)
    }

    /// Forgets what was recorded: the change cannot be undone.
    pub fn discard_images(&mut self) {
        self.before.clear();
        self.recorded.clear();
    }

    /// Forgets what was recorded and touched: the changes were taken back.
    pub fn discard(&mut self) {
        self.before.clear();
        self.recorded.clear();
        self.touched.seqs.clear();
        self.touched.vectors.clear();
        self.touched.stored_vectors.clear();
    }

    /// Stores the encodings of a memory that has none, each in the sets of its model. Encodings by
    /// a model that is no longer in use are ignored.
    pub fn insert_encodings(&mut self, seq: i64, encodings: &TextEncodings) -> Result<()> {
        let sets = self.shared.sets();
        for set in sets.in_use() {
            let Some(encoding) = encodings.by(&set.model) else { continue };
            vectors::insert(self.conn, seq, &set.name, encoding)?;
            if set.name == sets.active.name && !encoding.vectors.is_empty() {
                self.touched.vectors.push((seq, encoding.clone()));
            }
        }
        Ok(())
    }

    /// Deletes the encodings of a memory in every set: its text has changed.
    pub fn delete_encodings(&mut self, seq: i64) -> Result<()> {
        vectors::delete(self.conn, seq)?;
        self.touched.vectors.push((seq, DocumentEncoding::default()));
        Ok(())
    }

    /// Writes the recorded rows to the journal, so that the operation can be undone. Returns the
    /// number of the journal entry, or `None` if nothing has changed.
    pub fn commit_to_journal(&mut self, act: &str) -> Result<Option<i64>> {
        let (mut changed, mut images) =
            (Vec::new(), rows::ImageWriter::new(self.conn, is_usage_column));
        self.recorded.clear();
        for (row, before) in std::mem::take(&mut self.before) {
            let effect = match before {
                None => images.write(&row)?.map(|image| RowEffect::Inserted(hash(&image))),
                Some(before) => difference(before, rows::image(self.conn, &row)?),
            };
            changed.extend(effect.map(|effect| RowChange { row, effect }));
        }
        if changed.is_empty() {
            return Ok(None);
        }
        failpoint!("before the journal entry");
        journal::write(self.conn, act, &changed, &self.call.actor, self.call.now).map(Some)
    }

    /// Writes a line to the audit log.
    pub fn log(&self, operation: Operation, memory: &MemoryId, details: &Value) -> Result<()> {
        self.log_with(&mut log::statement(self.conn)?, operation, memory, details)
    }

    /// Like [`Change::log`], with a prepared statement, for many lines.
    pub fn log_with(
        &self,
        statement: &mut CachedStatement<'_>,
        operation: Operation,
        memory: &MemoryId,
        details: &Value,
    ) -> Result<()> {
        log::write(
            statement,
            &self.call.actor,
            self.call.now,
            &log::LogEntry { operation, memory: memory.as_str(), details },
        )
    }
}

/// Returns the columns that differ, with both values, or the deleted row; `None` if nothing
/// differs.
fn difference(before: Image, after: Option<Image>) -> Option<RowEffect> {
    match after {
        None => Some(RowEffect::Deleted(before)),
        Some(after) => {
            let differs = |(name, value): &(String, Value)| before.get(name) != Some(value);
            let after: Image = after.into_iter().filter(differs).collect();
            let before: Image =
                before.into_iter().filter(|(name, _)| after.contains_key(name)).collect();
            (!after.is_empty()).then_some(RowEffect::Set { before, after })
        }
    }
}

/// Returns a hash of a row without its usage columns.
pub(crate) fn fingerprint(image: &Image) -> String {
    let columns: Vec<(&String, &Value)> =
        image.iter().filter(|(name, _)| !is_usage_column(name)).collect();
    hash(&serde_json::to_vec(&columns).unwrap_or_default())
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// Returns whether a column changes when a memory is merely used.
pub(crate) fn is_usage_column(column: &str) -> bool {
    USAGE_COLUMNS.contains(&column)
}

/// Refuses a decision about a text that is not the one that was shown.
fn check_shown(conn: &Connection, call: &CallContext) -> Result<()> {
    for (id, version) in call.shown.iter().flatten() {
        let Ok(id) = id.parse::<MemoryId>() else { continue };
        let memory = memories::by_id(conn, &id)?;
        if memory.is_some_and(|memory| memory.version() != *version) {
            let message =
                format!("the text of {id} has changed since it was shown; nothing was done");
            return Err(Failure::new(Code::Conflict, message).hint("Look at it again").into());
        }
    }
    Ok(())
}

impl Writer {
    /// Runs one call in one transaction, then updates the index. A call whose idempotency key is
    /// known gets its stored reply, and nothing else happens.
    pub(crate) fn run_idempotent<T: Serialize + DeserializeOwned>(
        &mut self,
        call: &CallContext,
        work: impl FnOnce(&mut Change<'_>) -> Result<T>,
    ) -> Result<T> {
        self.change(|conn, shared, touched| {
            if let Some(reply) = stored_reply(conn, call.key.as_deref())? {
                return Ok(reply);
            }
            failpoint!("after the begin of a change");
            check_shown(conn, call)?;
            let mut change = Change {
                conn,
                shared,
                call,
                touched,
                before: Vec::new(),
                recorded: HashSet::new(),
            };
            let reply = work(&mut change)?;
            if let Some(key) = &call.key {
                let json =
                    serde_json::to_string(&reply).map_err(|e| cannot_encode_reply(key, &e))?;
                idempotency::keep(conn, key, &json, call.now)?;
                failpoint!("after the answer of a call");
            }
            Ok(reply)
        })
    }

    /// Runs one change in its own transaction, or in a savepoint of the open group
    /// ([`Writer::begin_group`]).
    pub(crate) fn change<T>(
        &mut self,
        work: impl FnOnce(&Connection, &Shared, &mut ChangeSet) -> Result<T>,
    ) -> Result<T> {
        self.require_trusted()?;
        self.load()?;
        let in_group = self.is_group_open();
        failpoint!("before the begin of a transaction");
        let mut touched = ChangeSet::default();
        let outcome = if in_group {
            let savepoint = self.conn.savepoint()?;
            // Taken only now: what is pending is still to be applied if the transaction cannot begin.
            touched.earlier = std::mem::take(&mut self.pending);
            work(&savepoint, &self.shared, &mut touched)
                .and_then(|result| Ok((result, index_update(&savepoint, &mut touched)?)))
                .and_then(|outcome| Ok(savepoint.commit().map(|()| outcome)?))
        } else {
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            touched.earlier = std::mem::take(&mut self.pending);
            work(&tx, &self.shared, &mut touched)
                .and_then(|result| Ok((result, index_update(&tx, &mut touched)?)))
                .and_then(|outcome| Ok(tx.commit().map(|()| outcome)?))
        };
        self.pending = std::mem::take(&mut touched.earlier);
        let (result, update) = outcome.map_err(|error| self.note_failure(error))?;
        self.pending.push(update);
        self.erased.append(&mut touched.erased);
        if !in_group {
            failpoint!("after the commit");
            self.record_commit()?;
            failpoint!("before the index update");
            self.apply_to_index()?;
            self.record_policies();
            failpoint!("after the index update");
        }
        Ok(result)
    }

    /// Begins a group commit: the changes that follow are committed together, with one disk sync,
    /// by [`Writer::commit_group`]. Send no reply to a caller before that.
    ///
    /// # Errors
    /// `Database`.
    pub fn begin_group(&mut self) -> Result<()> {
        self.require_trusted()?;
        self.load()?;
        connection::begin(&self.conn)
    }

    /// Returns whether the group is still open: SQLite rolls it back by itself when the disk fails.
    #[must_use]
    pub fn is_group_open(&self) -> bool {
        !self.conn.is_autocommit()
    }

    /// Commits a group, then updates the index.
    ///
    /// # Errors
    /// `Database`; nothing of the group was stored.
    pub fn commit_group(&mut self) -> Result<()> {
        let committed =
            if self.is_group_open() { self.commit() } else { Err(connection::disk_full_error()) };
        if committed.is_ok() {
            failpoint!("after the commit of a group");
            self.record_commit()?;
            return self.apply_to_index();
        }
        self.pending.clear();
        if self.is_group_open() {
            // The group must not stay open. An error here is dropped: the caller gets that of the
            // commit.
            let _ = connection::roll_back(&self.conn);
        }
        committed.map_err(|error| self.note_failure(error))
    }

    fn commit(&self) -> Result<()> {
        failpoint!("at the commit of a group");
        connection::commit(&self.conn)
    }
}

/// Builds the index update of a change from the current rows of the touched memories and the new
/// encodings.
fn index_update(conn: &Connection, touched: &mut ChangeSet) -> Result<IndexUpdate> {
    failpoint!("before the commit");
    touched.seqs.sort_unstable();
    touched.seqs.dedup();
    Ok(IndexUpdate {
        entries: memories::entries_of(conn, &touched.seqs)?,
        vectors: std::mem::take(&mut touched.vectors),
        emptied: touched.emptied,
        stored_vectors: std::mem::take(&mut touched.stored_vectors),
        links: entity_links::take_changed(conn)?,
    })
}

impl Reader {
    /// Returns the stored reply of a call, by its idempotency key.
    ///
    /// # Errors
    /// `storage_failed` if the stored reply cannot be decoded as a `T`; `Database`.
    pub fn answered<T: Serialize + DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        stored_reply(&self.conn, Some(key))
    }
}

fn stored_reply<T: Serialize + DeserializeOwned>(
    conn: &Connection,
    key: Option<&str>,
) -> Result<Option<T>> {
    let Some(key) = key else { return Ok(None) };
    let Some(json) = idempotency::find(conn, key)? else { return Ok(None) };
    match serde_json::from_str(&json) {
        Ok(reply) if has_every_key_of(&reply, &json) => Ok(Some(reply)),
        Ok(_) => Err(cannot_read_reply(key, "it is the answer to another verb")),
        Err(fault) => Err(cannot_read_reply(key, &fault.to_string())),
    }
}

/// Returns true if encoding `reply` gives every top-level key of the stored JSON. A type that
/// ignores unknown keys would also decode the reply of another verb, and lose keys.
fn has_every_key_of(reply: &impl Serialize, json: &str) -> bool {
    match (serde_json::from_str(json), serde_json::to_value(reply)) {
        (Ok(Value::Object(stored)), Ok(Value::Object(encoded))) => {
            stored.keys().all(|key| encoded.contains_key(key))
        }
        (Ok(stored), Ok(encoded)) => stored == encoded,
        _ => false,
    }
}

fn cannot_encode_reply(key: &str, fault: &serde_json::Error) -> Error {
    Failure::new(
        Code::Internal,
        format!(
            "the answer to the call with the idempotency key {key} cannot be encoded ({fault}); nothing was stored"
        ),
    )
    .hint("Run loci ctl logs and report it")
    .into()
}

fn cannot_read_reply(key: &str, reason: &str) -> Error {
    Failure::new(
        Code::StorageFailed,
        format!(
            "the stored answer for the idempotency key {key} cannot be read ({reason}); the call did not run again"
        ),
    )
    .hint("Check with recall_memory whether the first call took effect, then send the call with a new key")
    .into()
}
