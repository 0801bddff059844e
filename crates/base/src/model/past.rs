//! What a reader of an earlier time knows besides its connection, which sees the store as it was.
//!
//! Not here: how it is opened (`operations::as_of`).

use crate::model::document::Document;
use crate::model::encoding::TextEncodings;
use crate::model::time::Timestamp;
use loci_proto::as_of::AsOf;

/// A memory that is not as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedMemory {
    /// The sequence number of the memory.
    pub seq: i64,
    /// The texts that are searched are those of the present: its encoding is that in the store.
    pub has_present_text: bool,
}

/// An earlier text with its encodings.
#[derive(Debug, Clone)]
pub struct EncodedPast {
    /// The sequence number of the memory.
    pub seq: i64,
    /// The texts that were encoded.
    pub document: Document,
    /// Their encodings.
    pub encodings: TextEncodings,
}

/// The time of a reader, and how the store has changed since.
#[derive(Debug)]
pub struct Past {
    /// The time.
    pub at: Timestamp,
    /// From when on every change is known.
    pub history_from: Timestamp,
    /// The memories that have changed since, those first that were changed last before the time.
    pub changed: Vec<ChangedMemory>,
    /// The sequence numbers of the others that were there, in order; only for a search.
    pub unchanged: Vec<i64>,
    /// Earlier texts that the caller has encoded; only for a search.
    pub encoded: Vec<EncodedPast>,
}

impl Past {
    /// Returns whether a memory was there as it is now.
    pub fn has_unchanged(&self, seq: i64) -> bool {
        self.unchanged.binary_search(&seq).is_ok()
    }

    /// Returns what a reply says about the time; `limits` are sentences on what it lacks besides.
    pub fn stamp(&self, limits: Vec<String>) -> AsOf {
        let history_from = self.history_from.iso();
        let is_incomplete = self.at < self.history_from;
        let incomplete = is_incomplete.then(|| {
            format!(
                "Changes before {history_from} are only partly known: more may have been known then"
            )
        });
        let notes: Vec<String> = incomplete.into_iter().chain(limits).collect();
        let note = (!notes.is_empty()).then(|| notes.join(". "));
        AsOf { at: self.at.iso(), history_from, note }
    }
}
