//! Vectors and codes for memories that were stored while there was no model, or before words had codes.

use crate::db::vectors;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::encoding::DocumentEncoding;

impl Reader {
    /// Memories that recall may find without a vector or without the codes of their words, oldest first: sequence number and text.
    ///
    /// # Errors
    /// `Database`.
    pub fn without_vector(&self, limit: usize) -> Result<Vec<(i64, String)>> {
        self.without_vector_after(0, limit)
    }

    /// The same among those behind a memory, so that whoever goes through a large store does not begin at the oldest each time.
    ///
    /// # Errors
    /// `Database`.
    pub fn without_vector_after(&self, seq: i64, limit: usize) -> Result<Vec<(i64, String)>> {
        vectors::without(&self.conn, &self.shared.settings().model, seq, limit)
    }
}

impl Writer {
    /// Gives a memory what the model reads in its text, in the place of what it had.
    ///
    /// # Errors
    /// `Database`
    pub fn fill(&mut self, seq: i64, text: &DocumentEncoding) -> Result<()> {
        self.change(|tx, shared, touched| {
            vectors::delete(tx, seq)?;
            vectors::insert(tx, seq, &shared.settings().model, text)?;
            touched.vectors.push((seq, text.clone()));
            Ok(())
        })
    }
}
