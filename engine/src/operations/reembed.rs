//! `reembed`: encodes all memories again, by another model or by the same one, into a new vector set,
//! while the active set serves; then the new set becomes the active one.
//!
//! The filling is resumable: each batch is one transaction with a cursor. The change to the new set
//! is one transaction, after which the index exchanges its encodings in one step, so that no recall
//! sees vectors of two models. The set that was active is kept for a return to it, and deleted in
//! small batches later. Not here: encoding (the daemon).

use crate::db::{codes, memories, vector_sets, vectors};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::handles::open::load_encodings;
use crate::handles::reader::Reader;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::index::Index;
use crate::model::document::Document;
use crate::model::encoding::DocumentEncoding;
use crate::model::time::Timestamp;
use crate::model::vector_set::{KeptSet, ModelRef, SetState, VectorSet, VectorSets};
use crate::model::withheld::Withheld;
use loci_proto::error::{Code, Failure};
use parking_lot::RwLockWriteGuard;
use rusqlite::Connection;
use std::collections::HashSet;
use std::sync::Arc;

/// The vector sets in use, readable without a connection.
#[derive(Debug, Clone)]
pub struct ActiveSets(Arc<Shared>);

impl ActiveSets {
    /// Returns those of a store.
    pub(crate) fn of(shared: &Arc<Shared>) -> Self {
        Self(Arc::clone(shared))
    }

    /// Returns the sets in use now.
    #[must_use]
    pub fn get(&self) -> Arc<VectorSets> {
        self.0.sets()
    }
}

/// Memories to encode for the set that is being filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillBatch {
    /// The set.
    pub set: VectorSet,
    /// Sequence numbers and texts, oldest first; empty at the end of a pass.
    pub memories: Vec<(i64, Document)>,
}

/// A memory of a [`FillBatch`] with its encoding.
#[derive(Debug, Clone)]
pub struct FilledMemory {
    /// Its sequence number.
    pub seq: i64,
    /// The texts that were encoded.
    pub document: Document,
    /// The encoding; `None` if the model could not encode the texts.
    pub encoding: Option<DocumentEncoding>,
}

/// The progress of a filling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FillProgress {
    /// The set that is being filled.
    pub set: VectorSet,
    /// Number of memories that are in it.
    pub done: u64,
    /// Number of memories that a recall may find.
    pub total: u64,
}

/// How to encode all memories again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refill {
    /// Nothing to do if the set of the model is active; a kept set of the model is completed.
    IfOtherModel,
    /// Always into a new set.
    Always,
}

impl Reader {
    /// Returns the next memories to encode for the set that is being filled; `None` if there is no
    /// such set.
    ///
    /// # Errors
    /// `Database`.
    pub fn fill_batch(&self, limit: usize, withheld: &Withheld) -> Result<Option<FillBatch>> {
        let Some(set) = self.shared.sets().filling.clone() else { return Ok(None) };
        let cursor = vector_sets::cursor(&self.conn, &set.name)?;
        let memories = vectors::without(&self.conn, &set.name, cursor, limit, withheld)?;
        Ok(Some(FillBatch { set, memories }))
    }

    /// Returns the progress of the filling; `None` if no set is being filled.
    ///
    /// # Errors
    /// `Database`.
    pub fn fill_progress(&self, withheld: &Withheld) -> Result<Option<FillProgress>> {
        let Some(set) = self.shared.sets().filling.clone() else { return Ok(None) };
        let vectors::EncodedCount { encoded, all } =
            vectors::count(&self.conn, &set.name, withheld)?;
        Ok(Some(FillProgress { set, done: encoded, total: all }))
    }

    /// Returns how many memories a re-embedding would encode.
    ///
    /// # Errors
    /// `Database`.
    pub fn missing_in(&self, set: &str, withheld: &Withheld) -> Result<u64> {
        let vectors::EncodedCount { encoded, all } = vectors::count(&self.conn, set, withheld)?;
        Ok(all.saturating_sub(encoded))
    }

    /// Returns the size of the texts that a re-embedding would encode, in bytes.
    ///
    /// # Errors
    /// `Database`.
    pub fn missing_bytes_in(&self, set: &str, withheld: &Withheld) -> Result<u64> {
        vectors::missing_bytes(&self.conn, set, withheld)
    }

    /// Returns the sets that are kept for a return to them, the latest first.
    ///
    /// # Errors
    /// `Database`.
    pub fn kept_sets(&self) -> Result<Vec<KeptSet>> {
        vector_sets::kept(&self.conn)
    }

    /// Returns the model that a person has declined, so that it is not taken into use by itself.
    ///
    /// # Errors
    /// `Database`.
    pub fn declined_model(&self) -> Result<Option<String>> {
        vector_sets::declined(&self.conn)
    }
}

/// The choice of the model.
impl Writer {
    /// Returns the vector sets in use, readable without a connection.
    #[must_use]
    pub fn active_sets(&self) -> ActiveSets {
        ActiveSets::of(&self.shared)
    }

    /// Takes the configured model into use, which can encode now: its set becomes the active one at
    /// once if no memory has a vector yet, otherwise a set for it is filled. Does nothing if a person
    /// has declined this model.
    ///
    /// # Errors
    /// `Database`.
    pub fn use_model(&mut self, model: &ModelRef, now: Timestamp) -> Result<()> {
        let sets = self.shared.sets();
        let is_in_use = sets.filling.is_none()
            && sets.active.model == model.id
            && sets.active.source == model.source;
        if is_in_use && vector_sets::declined(&self.conn)?.is_none() {
            return Ok(());
        }
        self.change_sets(|conn, sets| {
            match vector_sets::declined(conn)? {
                Some(declined) if declined == model.id => return Ok(()),
                Some(_) => vector_sets::set_declined(conn, None)?,
                None => {}
            }
            let filling = sets.filling.as_ref();
            for set in sets.in_use().filter(|set| set.model == model.id) {
                if set.source != model.source {
                    vector_sets::set_source(conn, &set.name, &model.source)?;
                }
            }
            let is_active = sets.active.model == model.id;
            match filling {
                Some(filling) if filling.model == model.id => return Ok(()),
                Some(filling) => {
                    vector_sets::set_state(conn, &filling.name, SetState::Abandoned, now)?;
                }
                None => {}
            }
            if is_active { Ok(()) } else { begin(conn, sets, model, Refill::IfOtherModel, now) }
        })
    }

    /// Encodes all memories again, or resumes that. Returns false if there is nothing to do: the set
    /// of this model is active.
    ///
    /// # Errors
    /// `Database`.
    pub fn start_refill(
        &mut self,
        model: &ModelRef,
        refill: Refill,
        now: Timestamp,
    ) -> Result<bool> {
        self.change_sets(|conn, sets| {
            vector_sets::set_declined(conn, None)?;
            match &sets.filling {
                Some(filling) if filling.model == model.id => return Ok(true),
                Some(filling) => {
                    vector_sets::set_state(conn, &filling.name, SetState::Abandoned, now)?;
                }
                None => {}
            }
            if refill == Refill::IfOtherModel && sets.active.model == model.id {
                return Ok(false);
            }
            begin(conn, sets, model, refill, now)?;
            Ok(true)
        })
    }

    /// Gives the filling up; without one, begins to return to the set that was active before.
    /// `configured` is then not taken into use by itself any more. Returns the set that is active, or
    /// will be.
    ///
    /// # Errors
    /// `conflict` if there is nothing to cancel; `Database`.
    pub fn cancel_refill(&mut self, configured: &str, now: Timestamp) -> Result<VectorSet> {
        self.change_sets(|conn, sets| {
            let target = if let Some(filling) = &sets.filling {
                vector_sets::set_state(conn, &filling.name, SetState::Abandoned, now)?;
                sets.active.clone()
            } else {
                let mut kept = vector_sets::kept(conn)?.into_iter();
                let earlier = kept.find(|kept| kept.was_active).ok_or_else(nothing_to_cancel)?;
                vector_sets::set_state(conn, &earlier.set.name, SetState::Filling, now)?;
                earlier.set
            };
            let declined = (target.model != configured).then_some(configured);
            vector_sets::set_declined(conn, declined)?;
            Ok(target)
        })
    }

    /// Runs a change of the sets in one transaction, then reads them again, also if it failed: a
    /// fault after the commit has not taken it back.
    fn change_sets<T>(
        &mut self,
        work: impl FnOnce(&Connection, &VectorSets) -> Result<T>,
    ) -> Result<T> {
        let result = self.change(|conn, _, _| work(conn, &vector_sets::in_use(conn)?));
        let sets = vector_sets::in_use(&self.conn)?;
        if sets.active.name == self.shared.index().vector_set().name {
            *self.shared.sets.write() = Arc::new(sets);
        } else {
            let encodings = self.encodings_of(&sets.active)?;
            self.exchange_encodings(sets, encodings);
        }
        result
    }

    /// Reads the encodings of a set, for the slots of the index.
    fn encodings_of(&self, set: &VectorSet) -> Result<Index> {
        // Only this thread writes, so the encodings stay as they are read here.
        let mut encodings = self.shared.index().slots_only();
        load_encodings(&self.conn, &set.name, &self.shared.warmup, &mut encodings)?;
        Ok(encodings)
    }
}

fn nothing_to_cancel() -> Error {
    let message = "no memories are being encoded again, and no earlier vectors are kept";
    Failure::new(Code::Conflict, message).hint("Run loci re-embed --dry-run").into()
}

/// Begins to fill a set of a model. If the active set has no vectors, a new set takes its place at
/// once.
fn begin(
    conn: &Connection,
    sets: &VectorSets,
    model: &ModelRef,
    refill: Refill,
    now: Timestamp,
) -> Result<()> {
    let kept = vector_sets::kept(conn)?
        .into_iter()
        .find(|kept| refill == Refill::IfOtherModel && kept.set.model == model.id);
    if let Some(KeptSet { set, .. }) = kept {
        vector_sets::set_source(conn, &set.name, &model.source)?;
        return vector_sets::set_state(conn, &set.name, SetState::Filling, now);
    }
    let set = new_set(conn, model)?;
    if refill == Refill::IfOtherModel && vectors::is_empty(conn, &sets.active.name)? {
        return vector_sets::replace_empty(conn, &sets.active, &set, now);
    }
    vector_sets::insert(conn, &set, SetState::Filling, now)
}

/// Returns a set of a model with a name that no set has: the id of the model, with a number if that
/// is taken.
fn new_set(conn: &Connection, model: &ModelRef) -> Result<VectorSet> {
    let mut name = model.id.clone();
    let mut number = 1;
    while vector_sets::exists(conn, &name)? {
        number += 1;
        name = format!("{}#{number}", model.id);
    }
    Ok(VectorSet { name, model: model.id.clone(), source: model.source.clone() })
}

/// Filling a set, changing to it, and deleting retired ones.
impl Writer {
    /// Stores a batch in the set that is being filled, and moves its cursor behind the batch. A
    /// memory that was changed or deleted since its text was read is left out. Does nothing if this
    /// set is no longer being filled.
    ///
    /// # Errors
    /// `Database`.
    pub fn store_fill_batch(&mut self, set: &str, batch: &[FilledMemory]) -> Result<()> {
        let sets = self.shared.sets();
        if sets.filling.as_ref().is_none_or(|filling| filling.name != set) {
            return Ok(());
        }
        self.change(|conn, _, _| {
            for FilledMemory { seq, document, encoding } in batch {
                let Some(encoding) = encoding else { continue };
                if memories::has_document(conn, *seq, document)? {
                    vectors::delete_in(conn, *seq, set)?;
                    vectors::insert(conn, *seq, set, encoding)?;
                }
            }
            failpoint!("before the cursor of a filling is moved");
            match batch.last() {
                Some(last) => vector_sets::set_cursor(conn, set, last.seq),
                None => Ok(()),
            }
        })
    }

    /// Makes the filled set the active one if every memory that a recall may find is in it, except
    /// `unusable` and withheld ones. Otherwise the next pass begins at the first memory, and false is returned.
    ///
    /// # Errors
    /// `Database`.
    pub fn finish_refill(
        &mut self,
        unusable: &HashSet<i64>,
        withheld: &Withheld,
        now: Timestamp,
    ) -> Result<bool> {
        self.load()?;
        let sets = self.shared.sets();
        let Some(filled) = sets.filling.clone().filter(|_| !self.is_group_open()) else {
            return Ok(false);
        };
        let limit = unusable.len() + 1;
        let missing = vectors::without(&self.conn, &filled.name, 0, limit, withheld)?;
        if missing.iter().any(|(seq, _)| !unusable.contains(seq)) {
            self.change(|conn, _, _| vector_sets::set_cursor(conn, &filled.name, 0))?;
            return Ok(false);
        }
        let encodings = self.encodings_of(&filled)?;
        self.change(|conn, _, _| {
            vector_sets::set_state(conn, &sets.active.name, SetState::Retired, now)?;
            failpoint!("between the states of two vector sets");
            vector_sets::set_state(conn, &filled.name, SetState::Active, now)
        })?;
        self.exchange_encodings(VectorSets { active: filled, filling: None }, encodings);
        Ok(true)
    }

    /// Exchanges the encodings of the index and the active set in one step for all readers.
    fn exchange_encodings(&self, sets: VectorSets, encodings: Index) {
        let mut suspect = self.shared.index_suspect.lock();
        let was_suspect = std::mem::replace(&mut *suspect, true);
        let mut index = self.shared.index_mut();
        let old = index.swap_encodings(sets.active.clone(), encodings);
        *self.shared.sets.write() = Arc::new(sets);
        RwLockWriteGuard::unlock_fair(index);
        // Dropped after the lock is released, so that no recall waits for it.
        drop(old);
        *suspect = was_suspect;
    }

    /// Deletes the encodings of at most `limit` memories of a set that went out of use before a
    /// time. Returns how many memories there were.
    ///
    /// # Errors
    /// `Database`.
    pub fn purge_kept_sets(&mut self, before: Timestamp, limit: usize) -> Result<usize> {
        let due = vector_sets::kept(&self.conn)?.into_iter().find(|set| set.since < before);
        let Some(KeptSet { set, .. }) = due else { return Ok(0) };
        self.change(|conn, _, _| {
            let cursor = vector_sets::cursor(conn, &set.name)?;
            let seqs = vectors::memories_in(conn, &set.name, cursor, limit)?;
            for seq in &seqs {
                vectors::delete_in(conn, *seq, &set.name)?;
            }
            match seqs.last() {
                Some(last) => vector_sets::set_cursor(conn, &set.name, *last)?,
                None if vectors::is_empty(conn, &set.name)? => {
                    codes::delete_set(conn, &set.name)?;
                    failpoint!("before the row of a kept vector set is deleted");
                    vector_sets::delete(conn, &set.name)?;
                }
                None => vector_sets::set_cursor(conn, &set.name, 0)?,
            }
            Ok::<_, Error>(seqs.len())
        })
    }
}
