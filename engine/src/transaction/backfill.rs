//! Encodings of memories that were stored without a model, or before sign codes existed.

use crate::db::vectors;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::encoding::DocumentEncoding;

impl Reader {
    /// Returns memories that a recall may find and that have no vector or no sign codes, oldest
    /// first: sequence number and text.
    ///
    /// # Errors
    /// `Database`.
    pub fn without_vector(&self, limit: usize) -> Result<Vec<(i64, String)>> {
        self.without_vector_after(0, limit)
    }

    /// Like [`Reader::without_vector`], for memories after `seq`: a scan of a large store continues
    /// where the last call ended.
    ///
    /// # Errors
    /// `Database`.
    pub fn without_vector_after(&self, seq: i64, limit: usize) -> Result<Vec<(i64, String)>> {
        vectors::without(&self.conn, &self.shared.settings().model, seq, limit)
    }
}

impl Writer {
    /// Replaces the encoding of a memory.
    ///
    /// # Errors
    /// `Database`.
    pub fn fill(&mut self, seq: i64, encoding: &DocumentEncoding) -> Result<()> {
        self.change(|tx, shared, touched| {
            vectors::delete(tx, seq)?;
            vectors::insert(tx, seq, &shared.settings().model, encoding)?;
            touched.vectors.push((seq, encoding.clone()));
            Ok(())
        })
    }
}
