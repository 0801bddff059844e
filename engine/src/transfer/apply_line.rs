//! Applies lines of an import to the store: one function for each kind of line.
//!
//! Not here: the order of the lines and their errors (`import`), merging two versions of a memory
//! (`merge`).

use crate::db::log::Operation;
use crate::db::rows::Row;
use crate::db::{export_rows, import_rows, isolated_groups, relations, tombstones, vectors};
use crate::duplicate::content_hash::hash;
use crate::error::Result;
use crate::maintain;
use crate::model::actor::recorded_client;
use crate::model::document::Document;
use crate::model::encoding::{
    DIMENSIONS, DocumentEncoding, Embedding, MAX_SIGN_CODES, SIGN_CODE_BYTES, SignCode,
};
use crate::model::status::Status;
use crate::model::vector_set::VectorSet;
use crate::operations::relate;
use crate::transfer::import::{Importer, PendingEncoding, Source};
use crate::transfer::merge::merge;
use crate::transfer::provenance::{Outcome, may_change};
use crate::transfer::record::{
    Base64Bytes, GroupLine, LogLine, MemoryLine, RelationLine, SourceLine, TombstoneLine,
    VariantLine, VectorLine, id_number,
};
use loci_proto::error::Failure;
use loci_proto::group::{Group, clean_name};
use loci_proto::memory::{MemoryId, MemoryType, Trust};
use rusqlite::Connection;
use serde_json::json;

/// Maximum number of memories whose encodings stay in memory for the index update, about 40 MB.
/// Those of further memories are read again from the database.
const MAX_ENCODINGS_IN_MEMORY: usize = 16_384;

/// How far the clock of another machine may be ahead: a day, in milliseconds.
const CLOCK_SKEW: i64 = 24 * 60 * 60 * 1000;
/// The status of a forgotten memory.
const FORGOTTEN: &str = "forgotten";
/// Why a memory is forgotten that a dump says was erased.
const ERASED_ELSEWHERE: &str = "erased in another store";

impl Importer<'_, '_> {
    /// Applies a group.
    pub(crate) fn apply_group(&mut self, line: &GroupLine) -> Result<()> {
        let conn = self.change.conn;
        // A group that was merged into another one here stays merged.
        let existing = local_group_id(conn, &line.id)?;
        let group = existing.clone().unwrap_or_else(|| clean_name(&line.id).into_owned());
        if existing.is_none() {
            let name = clean_name(&line.name).into_owned();
            import_rows::add_group(conn, &GroupLine { id: group.clone(), name, ..line.clone() })?;
            self.added_groups.push(group.clone());
            self.reply.groups += 1;
            // A file cannot isolate or open a project that exists here, nor isolate a name that
            // sessions outside any project use.
            if line.isolated && Group::is_folder_id(&group) {
                isolated_groups::insert(conn, &group, self.change.call.now)?;
            }
        }
        self.group_ids.insert(line.id.clone(), group.clone());
        // Through an alias the sessions of another folder enter this project.
        let is_own = self.mode.source == Source::OwnStore || self.mode.own_texts;
        let may_add = is_own
            && (existing.is_none()
                || self.mode.source == Source::OwnStore
                || !isolated_groups::all(conn)?.contains(&group));
        for alias in &line.aliases {
            if local_group_id(conn, alias)?.is_some() {
                continue;
            }
            // Later lines of the file may name the project by it all the same.
            self.group_ids.insert(alias.clone(), group.clone());
            self.aliases_left_out += usize::from(!is_own);
            if may_add {
                let alias = clean_name(alias).into_owned();
                import_rows::add_alias(conn, &alias, &group)?;
                self.change.record_created(Row::Alias(alias));
                self.reply.other += 1;
            }
        }
        Ok(())
    }

    /// Applies a memory.
    pub(crate) fn apply_memory(&mut self, mut line: MemoryLine) -> Result<()> {
        if self.is_hard_deleted(&line.id)? {
            self.note_left_out(&line, "was erased here");
            self.refuse(line.id);
            return Ok(());
        }
        if let Some(group) = &line.group {
            line.group = Some(self.local_group(group)?);
        }
        if self.existing.has_memories
            && let Some((seq, _)) = import_rows::find(self.change.conn, &line.id)?
        {
            return self.merge_memory(seq, &line);
        }
        if self.mode.source == Source::File || !line.has_trust() {
            let claimed = line.clone();
            line.set_imported();
            if self.mode.own_texts {
                line.believe(&claimed);
            }
            self.reply.flagged += usize::from(!line.flags.is_empty());
        }
        let seq = self.rows.insert_memory(&line, &hash(&line.content))?;
        self.memories_by_id.insert(id_number(&line.id), (seq, line.kind));
        self.first_added.get_or_insert(seq);
        self.change.record_created(Row::Memory(seq));
        self.reply.added += 1;
        let is_import = line.trust.as_deref() == Some(Trust::Import.as_str());
        let is_candidate = line.status == Status::Candidate.as_str();
        self.added_unconfirmed += usize::from(is_import && !is_candidate && line.flags.is_empty());
        self.note(&line, None, None);
        self.record_memory(seq, &line, "added")
    }

    /// Returns the group in this store for a group id of the file.
    fn local_group(&mut self, group: &str) -> Result<String> {
        if let Some(id) = self.group_ids.get(group) {
            return Ok(id.clone());
        }
        let id = local_group_id(self.change.conn, group)?.ok_or_else(|| {
            Failure::invalid("group", format!("is not a group of an earlier line: {group}"))
        })?;
        self.group_ids.insert(group.to_owned(), id.clone());
        Ok(id)
    }

    /// Merges a memory of the file with the memory of this store that has the same id.
    fn merge_memory(&mut self, seq: i64, line: &MemoryLine) -> Result<()> {
        // The line repairs a memory that is damaged here.
        let local = export_rows::memory_line(self.change.conn, seq)?;
        let now = self.change.call.now.0;
        let in_time;
        let line = if self.mode.source == Source::File && line.status_at > now + CLOCK_SKEW {
            // A status that nobody can have set yet is newer than none.
            in_time = MemoryLine { status_at: 0, ..line.clone() };
            &in_time
        } else {
            line
        };
        let mut merged = local.as_ref().map_or_else(|| line.clone(), |local| merge(local, line));
        if local.as_ref() != Some(&merged)
            && self.is_claim()
            && self.is_decided_by_person(&line.id)?
        {
            self.kept_for_trust += 1;
            self.reply.unchanged += 1;
            self.note_left_out(line, "a person has decided about it");
            self.content_differs.insert(seq);
            return Ok(());
        }
        if self.mode.source == Source::OwnStore && line.has_trust() {
            merged.set_provenance_of(line);
        } else if self.mode.own_texts && may_change(local.as_ref(), line) {
            self.trust_own_text(local.as_ref(), &mut merged, line);
        } else if self.decide_provenance(local.as_ref(), &mut merged) == Outcome::Kept {
            let hint = if self.mode.own_texts { "" } else { "; --mine takes the file" };
            self.note_left_out(line, &format!("you stored or confirmed it{hint}"));
            self.content_differs.insert(seq);
            return Ok(());
        }
        if merged.content != line.content {
            self.content_differs.insert(seq);
        }
        self.note(line, local.as_ref(), Some(&merged));
        if local.as_ref() == Some(&merged) {
            self.reply.unchanged += 1;
            return Ok(());
        }
        self.change.record_before(Row::Memory(seq))?;
        import_rows::update(self.change.conn, &merged, &hash(&merged.content))?;
        let document = |memory: &MemoryLine| Document::new(&memory.content, &memory.metadata);
        if local.is_none_or(|local| document(&merged) != document(&local)) {
            self.change.delete_encodings(seq)?;
        }
        self.reply.changed += 1;
        self.record_memory(seq, &merged, "changed")
    }

    /// Records that a memory was added or changed; `outcome` names which in the audit log.
    fn record_memory(&mut self, seq: i64, line: &MemoryLine, outcome: &str) -> Result<()> {
        self.change.touch(seq);
        self.touched.push(seq);
        if line.superseded_by.is_some() {
            self.superseded.push(seq);
        }
        if maintain::may_quote(&line.metadata) {
            self.may_quote.push(seq);
        }
        self.change.log_with(
            &mut self.rows.import_log,
            Operation::Import,
            &line.id,
            &json!({ outcome: true }),
        )
    }

    /// Applies a variant.
    pub(crate) fn apply_variant(&mut self, line: &VariantLine) -> Result<()> {
        let Some((seq, _)) = self.find("memory", &line.memory)? else { return Ok(()) };
        if self.mode.source == Source::File
            && !self.is_added(seq)
            && import_rows::is_of_person(self.change.conn, seq)?
        {
            return Ok(());
        }
        if import_rows::add_variant(self.change.conn, seq, &line.content, line.created_at)? {
            self.change.record_created(Row::Variant(seq, line.content.clone()));
            self.reply.other += 1;
        }
        Ok(())
    }

    /// Applies a source of a memory.
    pub(crate) fn apply_source(&mut self, line: &SourceLine) -> Result<()> {
        let (Some((memory, _)), Some((source, _))) =
            (self.find("memory", &line.memory)?, self.find("source", &line.source)?)
        else {
            return Ok(());
        };
        if memory == source {
            return Err(Failure::invalid("source", "is the memory itself").into());
        }
        if import_rows::add_source(self.change.conn, memory, source)? {
            self.change.record_created(Row::Source(memory, source));
            self.reply.other += 1;
        }
        Ok(())
    }

    /// Collects a vector if a set of its model is in use. The lines of one memory are consecutive.
    pub(crate) fn apply_vector(&mut self, line: &VectorLine) -> Result<()> {
        let is_usable = self.vector_set().is_some();
        let memory = self.find("memory", &line.memory)?;
        let Some((seq, _)) =
            memory.filter(|(seq, _)| is_usable && !self.content_differs.contains(seq))
        else {
            return Ok(());
        };
        if self.pending.as_ref().is_some_and(|pending| pending.seq != seq) {
            self.store_pending()?;
        }
        let PendingEncoding { chunks, codes, .. } = self
            .pending
            .get_or_insert_with(|| PendingEncoding { seq, chunks: Vec::new(), codes: None });
        let in_order = usize::try_from(line.chunk) == Ok(chunks.len());
        chunks.push(decode_embedding(&line.numbers).filter(|_| in_order));
        if let Some(bytes) = &line.codes {
            *codes = decode_codes(bytes);
        }
        Ok(())
    }

    /// Returns the set in use for the vectors of the file; `None` if they are of another model.
    pub(crate) fn vector_set(&self) -> Option<VectorSet> {
        let sets = self.change.shared.sets();
        let model = self.file.model.as_ref()?;
        sets.in_use().find(|set| set.model == *model).cloned()
    }

    /// Stores the collected encoding of a memory, if the memory has none.
    pub(crate) fn store_pending(&mut self) -> Result<()> {
        let Some(PendingEncoding { seq, chunks, codes }) = self.pending.take() else {
            return Ok(());
        };
        let Some(set) = self.vector_set() else { return Ok(()) };
        // A memory that this import added has vectors only if an earlier line had them.
        let has_vectors = if self.is_added(seq) {
            self.encoded.contains(&seq)
        } else {
            vectors::has(self.change.conn, seq, &set.name)?
        };
        if has_vectors {
            return Ok(());
        }
        match chunks.into_iter().collect::<Option<Vec<Embedding>>>() {
            Some(chunks) => {
                let encoding = DocumentEncoding { vectors: chunks, words: codes };
                self.rows.vectors.insert(seq, &set.name, &encoding)?;
                self.encoded.insert(seq);
                let is_active = self.change.shared.sets().active.name == set.name;
                let touched = &mut *self.change.touched;
                if !is_active {
                    // The index has the vectors of the active set only.
                } else if touched.vectors.len() < MAX_ENCODINGS_IN_MEMORY {
                    touched.vectors.push((seq, encoding));
                } else {
                    touched.stored_vectors.push(seq);
                }
                self.reply.vectors += 1;
            }
            None => self.unusable_encodings += 1,
        }
        Ok(())
    }

    /// Applies a relation.
    pub(crate) fn apply_relation(&mut self, mut line: RelationLine) -> Result<()> {
        line.predicate = relate::predicate(&line.predicate)?;
        let mut evidence = Vec::with_capacity(line.evidence.len());
        for memory in &line.evidence {
            if self.find("evidence", memory)?.is_some() {
                evidence.push(memory.clone());
            }
        }
        if !(self.has_entity("subject", &line.subject)?
            && self.has_entity("object", &line.object)?)
        {
            return Ok(());
        }
        if line.subject == line.object {
            return Err(Failure::invalid("object", "is the subject itself").into());
        }
        let id = self.add_or_raise_relation(line)?;
        for memory in evidence {
            if relations::add_evidence(self.change.conn, &id, &memory)? {
                self.change.record_created(Row::Evidence(id.clone(), memory.to_string()));
                self.reply.other += 1;
            }
        }
        Ok(())
    }

    /// Returns the id of the relation of a line. Adds the relation if it is new, and raises the
    /// confidence of an existing one to that of the line if that is higher.
    fn add_or_raise_relation(&mut self, line: RelationLine) -> Result<String> {
        let conn = self.change.conn;
        let Some((id, confidence)) = import_rows::relation(conn, &line)? else {
            import_rows::add_relation(conn, &line)?;
            self.change.record_created(Row::Relation(line.id.clone()));
            self.reply.relations += 1;
            return Ok(line.id);
        };
        if line.confidence.get() > confidence {
            self.change.record_before(Row::Relation(id.clone()))?;
            relations::set_confidence(conn, &id, line.confidence)?;
        }
        Ok(id)
    }

    /// Returns true for an entity of this store, false for a refused memory.
    ///
    /// # Errors
    /// `invalid` for a memory that is not an entity.
    fn has_entity(&self, field: &str, id: &MemoryId) -> Result<bool> {
        match self.find(field, id)? {
            Some((_, MemoryType::Entity)) => Ok(true),
            Some((_, kind)) => Err(Failure::invalid(
                field,
                format!("names a memory of type {kind}, not an entity"),
            )
            .into()),
            None => Ok(false),
        }
    }

    /// Applies a log line.
    pub(crate) fn apply_log(&mut self, mut line: LogLine) -> Result<()> {
        let is_deleted =
            line.memory.parse().is_ok_and(|id: MemoryId| self.is_hard_deleted(&id).unwrap_or(true));
        if is_deleted && line.operation != "delete" {
            // The details may quote the deleted memory.
            line.details = None;
        }
        if self.is_claim() {
            // By these lines the store knows what a person has decided.
            if line.memory.parse().is_ok_and(|id| self.is_decided_by_person(&id).unwrap_or(true)) {
                return Ok(());
            }
            line.client = line.client.map(recorded_client);
        }
        let is_new = !self.existing.has_log || {
            let count = self.count_log_line(&line);
            import_rows::equal_log_lines(self.change.conn, &line)? < count
        };
        if is_new {
            self.rows.insert_log_line(&line)?;
            self.reply.log_lines += 1;
        }
        Ok(())
    }

    /// Applies a tombstone.
    pub(crate) fn apply_tombstone(&mut self, line: &TombstoneLine) -> Result<()> {
        if let Some((seq, _)) = import_rows::find(self.change.conn, &line.id)? {
            if self.file.is_dump {
                return self.forget_erased(seq, line);
            }
            self.kept_despite_tombstone += 1;
        } else if import_rows::add_tombstone(self.change.conn, line)? {
            self.change.record_created(Row::Tombstone(line.id.to_string()));
            self.reply.other += 1;
        }
        Ok(())
    }

    /// Forgets a memory that another machine has erased. It can be restored here, and no dump has it.
    fn forget_erased(&mut self, seq: i64, line: &TombstoneLine) -> Result<()> {
        let Some(local) = export_rows::memory_line(self.change.conn, seq)? else { return Ok(()) };
        if self.mode.source == Source::File
            && !self.mode.own_texts
            && import_rows::is_of_person(self.change.conn, seq)?
        {
            self.kept_despite_tombstone += 1;
            return Ok(());
        }
        if !import_rows::add_tombstone(self.change.conn, line)? {
            // An earlier dump said so, and a person has restored it since.
            self.kept_despite_tombstone += usize::from(local.status != FORGOTTEN);
            return Ok(());
        }
        self.change.record_created(Row::Tombstone(line.id.to_string()));
        self.reply.other += 1;
        if local.status == FORGOTTEN {
            return Ok(());
        }
        self.change.record_before(Row::Memory(seq))?;
        let forgotten = MemoryLine {
            status: FORGOTTEN.to_owned(),
            status_at: self.change.call.now.0.max(local.status_at + 1),
            superseded_by: None,
            forgotten_reason: Some(ERASED_ELSEWHERE.to_owned()),
            ..local.clone()
        };
        import_rows::update(self.change.conn, &forgotten, &hash(&forgotten.content))?;
        self.note(&forgotten, Some(&local), Some(&forgotten));
        self.reply.changed += 1;
        self.record_memory(seq, &forgotten, "changed")
    }

    /// Returns true for a memory that was hard-deleted in this store or in the store of the file.
    pub(crate) fn is_hard_deleted(&self, id: &MemoryId) -> Result<bool> {
        Ok(self.file.tombstones.contains(&id_number(id))
            || self.existing.has_tombstones && tombstones::has(self.change.conn, id)?)
    }

    /// Returns the memory that a line refers to; `None` if it was refused as hard-deleted.
    ///
    /// # Errors
    /// `invalid` if it is in neither an earlier line nor the store.
    fn find(&self, field: &str, id: &MemoryId) -> Result<Option<(i64, MemoryType)>> {
        if let Some(added) = self.memories_by_id.get(&id_number(id)) {
            return Ok(Some(*added));
        }
        let stored = if self.existing.has_memories {
            import_rows::find(self.change.conn, id)?
        } else {
            None
        };
        match stored {
            Some(memory) => Ok(Some(memory)),
            None if self.is_hard_deleted(id)? => Ok(None),
            None => Err(Failure::invalid(
                field,
                format!("names a memory that is in neither an earlier line nor the store: {id}"),
            )
            .into()),
        }
    }
}

/// Returns the id of the group of this store that an id or alias of the file refers to: as written
/// in the file, or as `clean_name` changes it.
fn local_group_id(conn: &Connection, name: &str) -> Result<Option<String>> {
    match import_rows::group(conn, name)? {
        Some(group) => Ok(Some(group)),
        None => import_rows::group(conn, &clean_name(name)),
    }
}

/// Decodes the sign codes of a memory; `None` if they are malformed. The memory is then encoded
/// again.
fn decode_codes(bytes: &Base64Bytes) -> Option<Vec<SignCode>> {
    let bytes = bytes.0.as_ref()?;
    let (codes, rest) = bytes.as_chunks::<SIGN_CODE_BYTES>();
    (rest.is_empty() && codes.len() <= MAX_SIGN_CODES)
        .then(|| codes.iter().map(SignCode::from_bytes).collect())
}

/// Decodes the vector of a chunk; `None` if it is malformed.
fn decode_embedding(bytes: &Base64Bytes) -> Option<Embedding> {
    let (numbers, rest) = bytes.0.as_ref()?.as_chunks::<4>();
    let is_complete = rest.is_empty() && numbers.len() == DIMENSIONS;
    is_complete
        .then(|| Embedding::kept(numbers.iter().map(|b| f32::from_le_bytes(*b)).collect()).ok())?
}
