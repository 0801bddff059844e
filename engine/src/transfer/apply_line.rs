//! What each kind of line does to the store.

use crate::db::log::Operation;
use crate::db::rows::Row;
use crate::db::{export_rows, import_rows, relations, tombstones, vectors};
use crate::error::Result;
use crate::maintain;
use crate::model::encoding::{
    DIMENSIONS, DocumentEncoding, Embedding, MAX_SIGN_CODES, SIGN_CODE_BYTES, SignCode,
};
use crate::operations::relate;
use crate::operations::store::hash;
use crate::transfer::check::number;
use crate::transfer::import::{Arriving, Work};
use crate::transfer::merge::merged;
use crate::transfer::record::{
    GroupLine, LogLine, MemoryLine, Packed, RelationLine, SourceLine, TombstoneLine, VariantLine,
    VectorLine,
};
use loci_proto::error::Failure;
use loci_proto::group::clean_name;
use loci_proto::memory::{MemoryId, MemoryType};
use rusqlite::Connection;
use serde_json::json;

/// Memories of one import whose vectors are kept at hand for the warm index, some 40 MB; those of further ones are read again.
const AT_HAND: usize = 16_384;

impl Work<'_, '_> {
    pub(crate) fn group(&mut self, line: &GroupLine) -> Result<()> {
        let conn = self.change.conn;
        // One that was merged into another here stays merged.
        let known = known_group(conn, &line.id)?;
        let group = known.clone().unwrap_or_else(|| clean_name(&line.id).into_owned());
        if known.is_none() {
            let name = clean_name(&line.name).into_owned();
            import_rows::add_group(conn, &GroupLine { id: group.clone(), name, ..line.clone() })?;
            self.reply.groups += 1;
        }
        self.groups.insert(line.id.clone(), group.clone());
        for alias in &line.aliases {
            if known_group(conn, alias)?.is_none() {
                let alias = clean_name(alias).into_owned();
                import_rows::add_alias(conn, &alias, &group)?;
                self.change.record_created(Row::Alias(alias));
                self.reply.other += 1;
            }
        }
        Ok(())
    }

    pub(crate) fn memory(&mut self, mut line: MemoryLine) -> Result<()> {
        if self.is_gone(&line.id)? {
            self.refuse(line.id);
            return Ok(());
        }
        if let Some(group) = &line.group {
            line.group = Some(self.meant_by(group)?);
        }
        if self.before.memories
            && let Some((seq, _)) = import_rows::find(self.change.conn, &line.id)?
        {
            return self.known(seq, &line);
        }
        let seq = self.insert.memory(&line, &hash(&line.content))?;
        self.met.insert(number(&line.id), (seq, line.kind));
        self.first_added.get_or_insert(seq);
        self.change.record_created(Row::Memory(seq));
        self.reply.added += 1;
        self.has_come(seq, &line, "added")
    }

    /// The group that an id of the file means here; one line of it may have named it, or the store.
    fn meant_by(&mut self, group: &str) -> Result<String> {
        if let Some(known) = self.groups.get(group) {
            return Ok(known.clone());
        }
        let known = known_group(self.change.conn, group)?;
        let known = known.ok_or_else(|| {
            Failure::invalid("group", format!("names no group of an earlier line: {group}"))
        })?;
        self.groups.insert(group.to_owned(), known.clone());
        Ok(known)
    }

    fn known(&mut self, seq: i64, line: &MemoryLine) -> Result<()> {
        let local = export_rows::memory_line(self.change.conn, seq)?;
        let both = merged(&local, line);
        if both.content != line.content {
            self.reworded.insert(seq);
        }
        if both == local {
            self.reply.unchanged += 1;
            return Ok(());
        }
        self.change.record_before(Row::Memory(seq))?;
        import_rows::update(self.change.conn, &both, &hash(&both.content))?;
        if both.content != local.content {
            vectors::delete(self.change.conn, seq)?;
            self.change.touched.vectors.push((seq, DocumentEncoding::default()));
        }
        self.reply.changed += 1;
        self.has_come(seq, &both, "changed")
    }

    fn has_come(&mut self, seq: i64, line: &MemoryLine, how: &str) -> Result<()> {
        self.change.touch(seq);
        self.touched.push(seq);
        if line.superseded_by.is_some() {
            self.replaced.push(seq);
        }
        if maintain::may_quote(&line.metadata) {
            self.quoting.push(seq);
        }
        self.change.log_with(
            &mut self.insert.told,
            Operation::Import,
            &line.id,
            &json!({ how: true }),
        )
    }

    pub(crate) fn variant(&mut self, line: &VariantLine) -> Result<()> {
        let Some((seq, _)) = self.find("memory", &line.memory)? else { return Ok(()) };
        if import_rows::add_variant(self.change.conn, seq, &line.content, line.created_at)? {
            self.change.record_created(Row::Variant(seq, line.content.clone()));
            self.reply.other += 1;
        }
        Ok(())
    }

    pub(crate) fn source(&mut self, line: &SourceLine) -> Result<()> {
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

    /// Takes a vector of the own model; the pieces of one memory come one after the other.
    pub(crate) fn vector(&mut self, line: &VectorLine) -> Result<()> {
        let same_model = self.plan.model.as_ref() == Some(&self.change.shared.settings().model);
        let found = self.find("memory", &line.memory)?;
        let Some((seq, _)) = found.filter(|(seq, _)| same_model && !self.reworded.contains(seq))
        else {
            return Ok(());
        };
        if self.arriving.as_ref().is_some_and(|arriving| arriving.seq != seq) {
            self.keep_pieces()?;
        }
        let Arriving { pieces, words, .. } =
            self.arriving.get_or_insert_with(|| Arriving { seq, pieces: Vec::new(), words: None });
        let in_turn = usize::try_from(line.piece) == Ok(pieces.len());
        pieces.push(unpacked(&line.numbers).filter(|_| in_turn));
        if let Some(codes) = &line.codes {
            *words = unpacked_codes(codes);
        }
        Ok(())
    }

    /// Stores the vectors that have come for one memory, if it has none.
    pub(crate) fn keep_pieces(&mut self) -> Result<()> {
        let Some(Arriving { seq, pieces, words }) = self.arriving.take() else { return Ok(()) };
        let model = self.change.shared.settings().model.clone();
        // What this file has added has vectors only if they came before.
        let has = if self.is_added(seq) {
            self.encodings.contains(&seq)
        } else {
            vectors::has(self.change.conn, seq, &model)?
        };
        if has {
            return Ok(());
        }
        match pieces.into_iter().collect::<Option<Vec<Embedding>>>() {
            Some(pieces) => {
                let text = DocumentEncoding { pieces, words };
                self.insert.read.one(seq, &model, &text)?;
                self.encodings.insert(seq);
                let touched = &mut *self.change.touched;
                if touched.vectors.len() < AT_HAND {
                    touched.vectors.push((seq, text));
                } else {
                    touched.stored_vectors.push(seq);
                }
                self.reply.vectors += 1;
            }
            None => self.flawed += 1,
        }
        Ok(())
    }

    pub(crate) fn relation(&mut self, mut line: RelationLine) -> Result<()> {
        line.predicate = relate::predicate(&line.predicate)?;
        let mut evidence = Vec::with_capacity(line.evidence.len());
        for memory in &line.evidence {
            if self.find("evidence", memory)?.is_some() {
                evidence.push(memory.clone());
            }
        }
        if !(self.entity("subject", &line.subject)? && self.entity("object", &line.object)?) {
            return Ok(());
        }
        if line.subject == line.object {
            return Err(Failure::invalid("object", "is the subject itself").into());
        }
        let id = self.triple(line)?;
        for memory in evidence {
            if relations::add_evidence(self.change.conn, &id, &memory)? {
                self.change.record_created(Row::Evidence(id.clone(), memory.to_string()));
                self.reply.other += 1;
            }
        }
        Ok(())
    }

    /// The relation of a line, made where it is new; of two accounts of how sure it is the surer one holds.
    fn triple(&mut self, line: RelationLine) -> Result<String> {
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

    /// True for an entity that is here, false for one that was left out.
    fn entity(&self, field: &str, id: &MemoryId) -> Result<bool> {
        match self.find(field, id)? {
            Some((_, MemoryType::Entity)) => Ok(true),
            Some((_, kind)) => {
                Err(Failure::invalid(field, format!("names a memory that is no entity but {kind}"))
                    .into())
            }
            None => Ok(false),
        }
    }

    pub(crate) fn log(&mut self, mut line: LogLine) -> Result<()> {
        let removed =
            line.memory.parse().is_ok_and(|id: MemoryId| self.is_gone(&id).unwrap_or(true));
        if removed && line.operation != "delete" {
            // What was said of it went with it.
            line.details = None;
        }
        let is_new = !self.before.log || {
            let often = self.often(&line);
            import_rows::equal_log_lines(self.change.conn, &line)? < often
        };
        if is_new {
            self.insert.log_line(&line)?;
            self.reply.log_lines += 1;
        }
        Ok(())
    }

    pub(crate) fn tombstone(&mut self, line: &TombstoneLine) -> Result<()> {
        if import_rows::find(self.change.conn, &line.id)?.is_some() {
            self.spared += 1;
        } else if import_rows::add_tombstone(self.change.conn, line)? {
            self.change.record_created(Row::Tombstone(line.id.to_string()));
            self.reply.other += 1;
        }
        Ok(())
    }

    /// True for a memory that was removed for good, here or where the file was made.
    pub(crate) fn is_gone(&self, id: &MemoryId) -> Result<bool> {
        Ok(self.plan.gone.contains(&number(id))
            || self.before.tombstones && tombstones::has(self.change.conn, id)?)
    }

    /// A memory that a line refers to; none where it was left out because it was removed for good.
    fn find(&self, field: &str, id: &MemoryId) -> Result<Option<(i64, MemoryType)>> {
        if let Some(met) = self.met.get(&number(id)) {
            return Ok(Some(*met));
        }
        let held =
            if self.before.memories { import_rows::find(self.change.conn, id)? } else { None };
        match held {
            Some(found) => Ok(Some(found)),
            None if self.is_gone(id)? => Ok(None),
            None => Err(Failure::invalid(
                field,
                format!("names a memory that is neither in an earlier line nor in the store: {id}"),
            )
            .into()),
        }
    }
}

/// The group that an id or another name of the file means here: as it stands, or as an import cleans it.
fn known_group(conn: &Connection, name: &str) -> Result<Option<String>> {
    match import_rows::group(conn, name)? {
        Some(known) => Ok(Some(known)),
        None => import_rows::group(conn, &clean_name(name)),
    }
}

/// The codes of a memory's words; none where they are not what loci writes, and the words are read anew then.
fn unpacked_codes(bytes: &Packed) -> Option<Vec<SignCode>> {
    let bytes = bytes.0.as_ref()?;
    let (codes, rest) = bytes.as_chunks::<SIGN_CODE_BYTES>();
    (rest.is_empty() && codes.len() <= MAX_SIGN_CODES)
        .then(|| codes.iter().map(SignCode::from_bytes).collect())
}

fn unpacked(bytes: &Packed) -> Option<Embedding> {
    let (numbers, rest) = bytes.0.as_ref()?.as_chunks::<4>();
    let sound = rest.is_empty() && numbers.len() == DIMENSIONS;
    sound.then(|| Embedding::kept(numbers.iter().map(|b| f32::from_le_bytes(*b)).collect()).ok())?
}
