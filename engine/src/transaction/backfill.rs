//! Encodings of memories that were stored without a model, or before sign codes existed.
//!
//! Not here: the encodings of another model (`operations::reembed`).

use crate::db::{memories, vectors};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::document::Document;
use crate::model::encoding::ModelEncoding;

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
        self.without_vector_after(0, limit)
    }

    /// Like [`Reader::without_vector`], for memories after `seq`: a scan of a large store continues
    /// where the last call ended.
    ///
    /// # Errors
    /// `Database`.
    pub fn without_vector_after(&self, seq: i64, limit: usize) -> Result<Vec<(i64, Document)>> {
        vectors::without(&self.conn, &self.shared.sets().active.name, seq, limit)
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
            Ok(())
        })
    }
}
