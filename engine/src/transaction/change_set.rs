//! The set of memories that a change touches, and the index update that is built from it at the
//! commit.

use crate::model::document::text_vectors;
use crate::model::encoding::{DocumentEncoding, Embedding};
use crate::model::entity_link::EntityLink;
use crate::model::entry::Entry;
use loci_proto::memory::MemoryId;

/// The memories that one change has touched, collected while it runs.
#[derive(Debug, Default)]
pub(crate) struct ChangeSet {
    /// Memories whose entries have changed.
    pub(crate) seqs: Vec<i64>,
    /// New encodings by sequence number; an empty one removes the vectors.
    pub(crate) vectors: Vec<(i64, DocumentEncoding)>,
    /// All memories were deleted.
    pub(crate) emptied: bool,
    /// Memories that were deleted permanently.
    pub(crate) erased: Vec<MemoryId>,
    /// Memories whose new vectors the index update reads from the database, to limit memory use.
    pub(crate) stored_vectors: Vec<i64>,
    /// Updates of earlier changes in the same group commit, which the index does not have yet.
    pub(crate) earlier: Vec<IndexUpdate>,
}

/// The update that brings the index in line with one committed change.
#[derive(Debug)]
pub(crate) struct IndexUpdate {
    /// Entries by sequence number; `None` for a memory that was deleted.
    pub(crate) entries: Vec<(i64, Option<Entry>)>,
    pub(crate) vectors: Vec<(i64, DocumentEncoding)>,
    pub(crate) emptied: bool,
    pub(crate) stored_vectors: Vec<i64>,
    pub(crate) links: Vec<EntityLink>,
}

impl IndexUpdate {
    /// Returns the entry of a memory that it changes.
    pub(crate) fn entry(&self, seq: i64) -> Option<&Entry> {
        self.entries.iter().find(|(other, _)| *other == seq).and_then(|(_, entry)| entry.as_ref())
    }

    /// Returns the new vectors of texts of one chunk, by sequence number.
    pub(crate) fn text_vectors(&self) -> impl Iterator<Item = (i64, &Embedding)> + '_ {
        self.vectors.iter().filter_map(|(seq, encoding)| {
            let questions = self.entry(*seq).map_or("", |entry| &entry.questions);
            match text_vectors(&encoding.vectors, questions) {
                [vector] => Some((*seq, vector)),
                _ => None,
            }
        })
    }
}
