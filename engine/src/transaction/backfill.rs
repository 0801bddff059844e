//! Encodings of memories that were stored without a model, or before sign codes existed.
//!
//! Not here: the encodings of another model (`operations::reembed`).

use crate::db::{memories, vectors};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::model::document::{Document, text_vectors};
use crate::model::encoding::ModelEncoding;
use crate::model::importance::Importance;
use crate::model::visibility::Visibility;
use crate::model::withheld::Withheld;
use crate::search::nearest::nearest_cosine;
use loci_proto::memory::Origin;
use rusqlite::Connection;

/// A memory that was encoded later.
#[derive(Debug, Clone)]
pub struct EncodedLater {
    /// Its sequence number.
    pub seq: i64,
    /// The texts that were encoded.
    pub document: Document,
    /// The encoding.
    pub encoded: ModelEncoding,
}

impl Reader {
    /// Returns memories that a recall may find and that have no vector or no sign codes, oldest
    /// first: sequence number and texts.
    ///
    /// # Errors
    /// `Database`.
    pub fn without_vector(&self, limit: usize) -> Result<Vec<(i64, Document)>> {
        self.without_vector_after(0, limit, &Withheld::default())
    }

    /// Like [`Reader::without_vector`], for memories after `seq`: a scan of a large store continues
    /// where the last call ended. Withheld ones are left out.
    ///
    /// # Errors
    /// `Database`.
    pub fn without_vector_after(
        &self,
        seq: i64,
        limit: usize,
        withheld: &Withheld,
    ) -> Result<Vec<(i64, Document)>> {
        vectors::without(&self.conn, &self.shared.sets().active.name, seq, limit, withheld)
    }
}

impl Writer {
    /// Replaces the encoding of a memory in the active set. Does nothing if the memory was changed
    /// or deleted since its text was read, or if the set is of another model.
    ///
    /// # Errors
    /// `Database`.
    pub fn fill(&mut self, memory: &EncodedLater) -> Result<()> {
        let EncodedLater { seq, document, encoded } = memory;
        self.change(|tx, shared, touched| {
            let active = &shared.sets().active;
            if active.model != *encoded.model || !memories::has_document(tx, *seq, document)? {
                return Ok(());
            }
            vectors::delete_in(tx, *seq, &active.name)?;
            vectors::insert(tx, *seq, &active.name, &encoded.encoding)?;
            touched.vectors.push((*seq, encoded.encoding.clone()));
            if let Some(importance) = importance(tx, shared, memory)? {
                memories::set_importance(tx, *seq, importance)?;
                touched.seqs.push(*seq);
            }
            Ok(())
        })
    }
}

/// Returns the importance of a memory that was stored without a vector, compared with those that the
/// project could see then; `None` if it has one. That of an import is what its file says.
fn importance(
    conn: &Connection,
    shared: &Shared,
    EncodedLater { seq, document, encoded }: &EncodedLater,
) -> Result<Option<Importance>> {
    let stored = memories::by_seq(conn, *seq)?.filter(|memory| {
        memory.anchor.importance.is_none() && memory.provenance.origin != Some(Origin::Import)
    });
    let vectors = text_vectors(&encoded.encoding.vectors, &document.questions);
    let (Some(memory), Some(vector)) = (stored, vectors.first()) else { return Ok(None) };
    let settings = shared.settings();
    let group = memory.group.as_ref().unwrap_or(&settings.default_group);
    let visibility = Visibility::of_group(group, shared.isolation());
    let index = shared.index();
    let mut mask = index.mask(&shared.filter(&visibility, memory.created_at));
    mask.retain(|slot| index.seq(slot) < *seq);
    Ok(Some(Importance::of_nearest(nearest_cosine(&index, &mask, vector))))
}
