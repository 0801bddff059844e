//! The part of a recall whose query is an error message: memories that mend this error come first.
//!
//! Any other query is not changed. Not here: what is an error message (`loci_proto::error_text`).

use crate::Reader;
use crate::db::memories;
use crate::error::Result;
use crate::index::Statuses;
use crate::model::error_key;
use crate::operations::recall::hydrate::Hit;
use crate::operations::recall::search::Scope;
use loci_proto::error_text;
use loci_proto::memory::QueryKind;

/// Confirmed memories of one error, and attempts that were given up, that are put first.
const MAX_MATCHES: usize = 3;

impl Reader {
    /// Puts the memories that mend the error of the query first, the newest before the others: confirmed ones, then attempts that were
    /// given up. Returns whether there are any of this error, candidates included.
    pub(super) fn put_error_matches_first(
        &self,
        scope: Scope<'_>,
        limit: usize,
        hits: &mut Vec<Hit>,
    ) -> Result<bool> {
        let confirmed = self.with_error(scope, Statuses::Confirmed);
        let rejected = self.with_error(scope, Statuses::Rejected);
        let candidates = self.with_error(scope, Statuses::Candidate);
        let of_error = [&confirmed, &rejected, &candidates];
        let is_known = of_error.iter().any(|found| !found.is_empty());
        let first = |found: Vec<i64>| found.into_iter().take(MAX_MATCHES).rev();
        for seq in first(rejected).chain(first(confirmed)) {
            if let Some(hit) = self.take_hit(hits, seq)? {
                hits.insert(0, hit);
            }
        }
        hits.truncate(limit);
        Ok(is_known)
    }

    /// Adds the newest candidate that mends the error of the query, if there is room for it, in place of other candidates.
    pub(super) fn append_error_candidate(
        &self,
        scope: Scope<'_>,
        limit: usize,
        hits: &mut Vec<Hit>,
    ) -> Result<()> {
        let candidates = self.with_error(scope, Statuses::Candidate);
        let Some(newest) = candidates.first() else { return Ok(()) };
        let hit = self.take_hit(hits, *newest)?;
        hits.retain(|hit| !candidates.contains(&hit.memory.seq));
        hits.extend(hit.filter(|_| hits.len() < limit));
        Ok(())
    }

    /// Returns the memories that mend the error of the query, newest first.
    fn with_error(&self, scope: Scope<'_>, statuses: Statuses) -> Vec<i64> {
        let query = scope.request.query.as_deref().unwrap_or_default();
        let key = match scope.request.query_kind {
            Some(QueryKind::Error) => error_text::key(query),
            None => error_text::key_of_query(query),
        };
        let Some(error) = key.as_deref().and_then(error_key::hash) else { return Vec::new() };
        let Some(index) = self.shared.warm() else { return Vec::new() };
        let memories = index.errors().memories(error);
        if memories.is_empty() {
            return Vec::new();
        }
        let mask = index.mask(&self.filter(Scope { statuses, ..scope }));
        let is_admitted = |seq: &&i64| {
            scope.selects(**seq) && index.slot(**seq).is_some_and(|slot| mask.admits(slot))
        };
        memories.iter().rev().filter(is_admitted).copied().collect()
    }

    /// Takes a memory out of the results, or reads it.
    fn take_hit(&self, hits: &mut Vec<Hit>, seq: i64) -> Result<Option<Hit>> {
        let hit = match hits.iter().position(|hit| hit.memory.seq == seq) {
            Some(at) => Some(hits.remove(at)),
            None => memories::by_seq(&self.conn, seq)?.map(Hit::of),
        };
        Ok(hit.map(|hit| Hit { mends_error: true, ..hit }))
    }
}
