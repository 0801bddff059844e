//! One change: a transaction, who makes it, what it touches, and what stood there before.
//!
//! Every act of the engine that writes goes through [`Writer::once`]: an answer that was given before is given again, the work and the
//! answer are one transaction, and the warm index follows after the commit. An act that can be taken back says of each row that it is
//! about to change [`Change::keep`], of each row that it has made [`Change::made`], and ends with [`Change::write_down`].
//! Not here: what an act is (the verbs), how it is taken back (`undo`).

use crate::db::journal::{self, Changed, How};
use crate::db::log::{self, Operation};
use crate::db::rows::{self, Image, Row};
use crate::db::{connection, graph, groups, idempotency, memories, vectors};
use crate::embedding::Coded;
use crate::error::{Error, Result};
use crate::index::Index;
use crate::time::Timestamp;
use crate::{Actor, News, Reader, Shared, Touched, Writer};
use loci_proto::error::{Code, Failure};
use loci_proto::memory::MemoryId;
use parking_lot::RwLockWriteGuard;
use rusqlite::{CachedStatement, Connection, TransactionBehavior};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::HashSet;

/// How many memories and vectors the index takes in before it lets in those who wait to look: some milliseconds.
const AT_ONCE: usize = 256;

/// One call that changes something.
#[derive(Debug, Clone)]
pub struct Call {
    /// The moment of the call.
    pub now: Timestamp,
    /// Who calls.
    pub actor: Actor,
    /// The idempotency key, where the shim stamped one.
    pub key: Option<String>,
}

/// A change in the making.
pub(crate) struct Change<'a> {
    /// The transaction.
    pub conn: &'a Connection,
    pub shared: &'a Shared,
    pub call: &'a Call,
    pub touched: &'a mut Touched,
    before: Vec<(Row, Option<Image>)>,
    kept: HashSet<Row>,
}

/// Columns that use alone changes, and that do not make a row another one.
const OF_USE: [&str; 6] =
    ["access_count", "last_accessed", "boosted_at", "confidence", "confidence_at", "updated_at"];

impl Change<'_> {
    /// Keeps what stands in a row, before it is changed or taken away. Once is enough.
    pub fn keep(&mut self, row: Row) -> Result<()> {
        if !self.kept.insert(row.clone()) {
            return Ok(());
        }
        let image = rows::image(self.conn, &row)?;
        self.before.push((row, image));
        Ok(())
    }

    /// Notes a row that this change has made.
    pub fn made(&mut self, row: Row) {
        self.kept.insert(row.clone());
        self.before.push((row, None));
    }

    /// The same for a memory, which the warm index has to know too.
    pub fn touch(&mut self, seq: i64) {
        self.touched.seqs.push(seq);
    }

    /// A new memory with its vectors and codes; its sequence number. Mentions are the caller's.
    pub fn insert(&mut self, new: &memories::New<'_>, text: &Coded) -> Result<i64> {
        let seq = memories::insert(self.conn, new, self.call.now)?;
        vectors::insert(self.conn, seq, &self.shared.settings().model, text)?;
        self.made(Row::Memory(seq));
        self.touch(seq);
        if !text.pieces.is_empty() {
            self.touched.vectors.push((seq, text.clone()));
        }
        Ok(seq)
    }

    /// Writes the act down, so that it can be taken back; its number, or none when it has changed nothing.
    pub fn write_down(&mut self, act: &str) -> Result<Option<i64>> {
        let (mut changed, mut made) = (Vec::new(), rows::Teller::new(self.conn, is_of_use));
        self.kept.clear();
        for (row, before) in std::mem::take(&mut self.before) {
            let how = match before {
                None => made.told(&row)?.map(|told| How::Made(print(&told))),
                Some(before) => difference(before, rows::image(self.conn, &row)?),
            };
            changed.extend(how.map(|how| Changed { row, how }));
        }
        if changed.is_empty() {
            return Ok(None);
        }
        journal::write(self.conn, act, &changed, &self.call.actor, self.call.now).map(Some)
    }

    /// Writes a line of the audit log.
    pub fn log(&self, operation: Operation, memory: &MemoryId, details: &Value) -> Result<()> {
        self.log_with(&mut log::statement(self.conn)?, operation, memory, details)
    }

    /// The same for whoever writes many.
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
            &log::Line { operation, memory: memory.as_str(), details },
        )
    }
}

fn difference(before: Image, after: Option<Image>) -> Option<How> {
    match after {
        None => Some(How::Gone(before)),
        Some(after) => {
            let differs = |(name, value): &(String, Value)| before.get(name) != Some(value);
            let after: Image = after.into_iter().filter(differs).collect();
            let before: Image =
                before.into_iter().filter(|(name, _)| after.contains_key(name)).collect();
            (!after.is_empty()).then_some(How::Set { before, after })
        }
    }
}

/// What a row says, but for what use alone changes.
pub(crate) fn fingerprint(image: &Image) -> String {
    let lasting: Vec<(&String, &Value)> =
        image.iter().filter(|(name, _)| !is_of_use(name)).collect();
    print(&serde_json::to_vec(&lasting).unwrap_or_default())
}

fn print(told: &[u8]) -> String {
    blake3::hash(told).to_hex()[..32].to_owned()
}

/// True for a column that use alone changes.
pub(crate) fn is_of_use(column: &str) -> bool {
    OF_USE.contains(&column)
}

impl Writer {
    /// Runs one call in one transaction, then brings the warm index up to date with what it touched. A call that was answered before
    /// gets that answer again, and nothing else happens.
    pub(crate) fn once<T: Serialize + DeserializeOwned>(
        &mut self,
        call: &Call,
        work: impl FnOnce(&mut Change<'_>) -> Result<T>,
    ) -> Result<T> {
        self.change(|conn, shared, touched| {
            if let Some(answer) = answered(conn, call.key.as_deref())? {
                return Ok(answer);
            }
            let mut change =
                Change { conn, shared, call, touched, before: Vec::new(), kept: HashSet::new() };
            let reply = work(&mut change)?;
            if let Some(key) = &call.key {
                let answer = serde_json::to_string(&reply).map_err(|e| cannot_keep(key, &e))?;
                idempotency::keep(conn, key, &answer, call.now)?;
            }
            Ok(reply)
        })
    }

    /// Runs one change: in a transaction of its own, or as a part of the group that is open ([`Writer::begin_group`]).
    pub(crate) fn change<T>(
        &mut self,
        work: impl FnOnce(&Connection, &Shared, &mut Touched) -> Result<T>,
    ) -> Result<T> {
        self.load()?;
        let grouped = !self.conn.is_autocommit();
        let mut touched =
            Touched { earlier: std::mem::take(&mut self.pending), ..Touched::default() };
        let done = if grouped {
            let part = self.conn.savepoint()?;
            finish(work(&part, &self.shared, &mut touched), &part, &mut touched)
                .and_then(|done| Ok(part.commit().map(|()| done)?))
        } else {
            let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            finish(work(&tx, &self.shared, &mut touched), &tx, &mut touched)
                .and_then(|done| Ok(tx.commit().map(|()| done)?))
        };
        self.pending = std::mem::take(&mut touched.earlier);
        let (result, news) = done?;
        self.pending.push(news);
        if !grouped {
            self.tell_index()?;
        }
        Ok(result)
    }

    /// Begins a group: the changes that follow are committed together, with one wait for the disk, by [`Writer::commit_group`].
    /// None of them may be answered before.
    ///
    /// # Errors
    /// `Database`.
    pub fn begin_group(&mut self) -> Result<()> {
        self.load()?;
        connection::begin(&self.conn)
    }

    /// False when a failing disk has taken the whole group back already.
    #[must_use]
    pub fn group_stands(&self) -> bool {
        !self.conn.is_autocommit()
    }

    /// Commits a group, and brings the warm index up to date with it.
    ///
    /// # Errors
    /// `Database`; nothing of the group was stored then.
    pub fn commit_group(&mut self) -> Result<()> {
        let committed = if self.group_stands() {
            connection::commit(&self.conn)
        } else {
            Err(connection::full())
        };
        if committed.is_ok() {
            return self.tell_index();
        }
        self.pending.clear();
        if self.group_stands() {
            // What cannot be committed must not stay open; the fault itself is what the caller is told.
            let _ = connection::roll_back(&self.conn);
        }
        committed
    }

    /// Brings what is kept in memory up to date with what was committed.
    fn tell_index(&mut self) -> Result<()> {
        let mut suspect = self.shared.telling.lock();
        // Should this end half way, by a fault or a panic, the index is not left to the next start.
        let was_suspect = std::mem::replace(&mut *suspect, true);
        let signposts = groups::signposts(&self.conn)?;
        *self.shared.aliases.write() = signposts;
        let model = self.shared.settings().model.clone();
        let mut index = self.shared.index_mut();
        let mut told = 0_usize;
        // What a call touches is seen whole unless it is much; what an import brings, bit by bit.
        let mut breathe = |index: &mut RwLockWriteGuard<'_, Index>| {
            told += 1;
            if told.is_multiple_of(AT_ONCE) {
                RwLockWriteGuard::bump(index);
            }
        };
        for News { entries, vectors: new, emptied, stored_vectors, links } in self.pending.drain(..)
        {
            if emptied {
                *index = Index::default();
            }
            for (seq, entry) in entries {
                match entry {
                    Some(entry) => index.put(entry),
                    None => index.remove(seq),
                }
                breathe(&mut index);
            }
            for link in links {
                index.link_up(link);
            }
            for (seq, pieces) in new {
                index.set_vectors(seq, &pieces);
                breathe(&mut index);
            }
            for seq in stored_vectors {
                index.set_vectors(seq, &vectors::coded(&self.conn, seq, &model)?);
                breathe(&mut index);
            }
        }
        drop(index);
        self.renew_index();
        *suspect = was_suspect;
        Ok(())
    }

    /// Leaves behind the slots of memories that were taken out for good, once they are many. Who recalls meanwhile does so in the old index,
    /// which nobody but this writer changes.
    fn renew_index(&self) {
        let renewed =
            Some(self.shared.index()).filter(|index| index.has_aged()).map(|index| index.renewed());
        if let Some(renewed) = renewed {
            let old = self.shared.index_mut().give_way(renewed);
            // Only now, when nobody waits.
            drop(old);
        }
    }
}

/// What the index will be told of a change: the rows that it touched as they stand now, and new vectors.
fn finish<T>(done: Result<T>, conn: &Connection, touched: &mut Touched) -> Result<(T, News)> {
    let done = done?;
    touched.seqs.sort_unstable();
    touched.seqs.dedup();
    let entries = memories::entries_of(conn, &touched.seqs)?;
    let stored_vectors = std::mem::take(&mut touched.stored_vectors);
    let links = graph::take_changed(conn)?;
    Ok((
        done,
        News {
            entries,
            vectors: std::mem::take(&mut touched.vectors),
            emptied: touched.emptied,
            stored_vectors,
            links,
        },
    ))
}

impl Reader {
    /// The answer that was given to this call before, if it was.
    ///
    /// # Errors
    /// `storage_failed` when the stored answer cannot be read as a `T`; `Database`.
    pub fn answered<T: Serialize + DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        answered(&self.conn, Some(key))
    }
}

fn answered<T: Serialize + DeserializeOwned>(
    conn: &Connection,
    key: Option<&str>,
) -> Result<Option<T>> {
    let Some(key) = key else { return Ok(None) };
    let Some(json) = idempotency::find(conn, key)? else { return Ok(None) };
    match serde_json::from_str(&json) {
        Ok(answer) if has_every_key_of(&answer, &json) => Ok(Some(answer)),
        Ok(_) => Err(cannot_answer_again(key, "it is the answer to another verb")),
        Err(fault) => Err(cannot_answer_again(key, &fault.to_string())),
    }
}

/// Returns true when encoding `answer` gives every top-level key of the stored JSON. A type that ignores unknown keys also decodes
/// the answer to another verb, and then loses keys.
fn has_every_key_of(answer: &impl Serialize, json: &str) -> bool {
    match (serde_json::from_str(json), serde_json::to_value(answer)) {
        (Ok(Value::Object(stored)), Ok(Value::Object(read))) => {
            stored.keys().all(|key| read.contains_key(key))
        }
        (Ok(stored), Ok(read)) => stored == read,
        _ => false,
    }
}

fn cannot_keep(key: &str, fault: &serde_json::Error) -> Error {
    Failure::new(
        Code::Internal,
        format!(
            "the answer to the call with the idempotency key {key} cannot be encoded ({fault}); nothing was stored"
        ),
    )
    .hint("Run loci ctl logs and report it")
    .into()
}

fn cannot_answer_again(key: &str, why: &str) -> Error {
    Failure::new(
        Code::StorageFailed,
        format!(
            "the stored answer for the idempotency key {key} cannot be read ({why}); the call did not run again"
        ),
    )
    .hint("Check with recall_memory whether the first call took effect, then send the call with a new key")
    .into()
}
