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

    /// The same for memories after `seq`, so that a scan of a large store does not restart at the
    /// oldest each time.
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
    pub fn fill(&mut self, seq: i64, text: &DocumentEncoding) -> Result<()> {
        self.change(|tx, shared, touched| {
            vectors::delete(tx, seq)?;
            vectors::insert(tx, seq, &shared.settings().model, text)?;
            touched.vectors.push((seq, text.clone()));
            Ok(())
        })
    }
}
