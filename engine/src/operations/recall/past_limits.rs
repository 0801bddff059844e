//! The bounds of a recall of an earlier time, and what its reply says when they are reached.

/// Earlier texts that are encoded for one recall.
pub(crate) const MAX_ENCODED: usize = 32;
/// Changed memories that are searched, those first that were changed last before the time.
pub(crate) const MAX_CHANGED: usize = 2_000;

/// What a search of changed memories left out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PastLimits {
    /// Changed memories that were not searched.
    pub not_searched: usize,
    /// Changed memories whose earlier text has no encoding.
    pub without_vectors: usize,
}

impl PastLimits {
    /// Returns the sentences of the reply.
    pub fn notes(self) -> Vec<String> {
        let Self { not_searched, without_vectors } = self;
        let mut notes = Vec::new();
        if not_searched > 0 {
            notes.push(format!(
                "{not_searched} memories that have changed since were not searched; at most {MAX_CHANGED} are"
            ));
        }
        if without_vectors > 0 {
            notes.push(format!(
                "{without_vectors} earlier texts were compared by keywords only; at most {MAX_ENCODED} are encoded, and only while the model is loaded"
            ));
        }
        notes
    }
}
