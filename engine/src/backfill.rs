//! Vectors for memories that were stored while there was no model.

use crate::db::vectors;
use crate::embedding::Embedding;
use crate::error::Result;
use crate::{Reader, Writer};

impl Reader {
    /// Memories that can be found and have no vector, oldest first: sequence number and text.
    ///
    /// # Errors
    /// `Database`.
    pub fn without_vector(&self, limit: usize) -> Result<Vec<(i64, String)>> {
        vectors::without(&self.conn, &self.shared.settings().model, limit)
    }
}

impl Writer {
    /// Gives a memory its vectors, one for each piece of its text.
    ///
    /// # Errors
    /// `Database`, also when it has vectors already.
    pub fn fill(&mut self, seq: i64, pieces: &[Embedding]) -> Result<()> {
        self.change(|tx, shared, touched| {
            vectors::insert(tx, seq, &shared.settings().model, pieces)?;
            touched.vectors.push((seq, pieces.to_vec()));
            Ok(())
        })
    }
}
