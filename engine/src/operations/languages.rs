//! How many memories are in another language than English, which is all that the default model knows.
//!
//! Not here: telling a language (`text::language`).

use crate::db::listing;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::text::language;

/// Number of newest memories that are looked at.
const LOOKED_AT: usize = 1000;

/// Memories by language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Languages {
    /// How many were looked at.
    pub memories: usize,
    /// How many of them are in another language than English.
    pub foreign: usize,
}

impl Reader {
    /// Counts the languages of the newest active memories.
    ///
    /// # Errors
    /// `Database`.
    pub fn languages(&self) -> Result<Languages> {
        let newest = (Timestamp(i64::MAX), i64::MAX);
        let mut memories = listing::newest_before(&self.conn, newest, LOOKED_AT)?;
        memories.retain(|memory| memory.status == Status::Active);
        let foreign = memories.iter().filter(|memory| language::is_foreign(&memory.content));
        Ok(Languages { foreign: foreign.count(), memories: memories.len() })
    }
}
