//! The part of a recall that shows rejected attempts beside the results on the same matter.

use crate::Reader;
use crate::db::memories;
use crate::error::Result;
use crate::index::{Filter, Statuses};
use crate::model::candidate::given_reason;
use crate::model::status::Status;
use crate::operations::recall::hydrate::Hit;
use crate::operations::recall::search::Scope;
use crate::search::{budget, nearest};
use loci_proto::requests::recall::Tried;

/// Cosine from which an attempt is at the matter of a result.
const MIN_COSINE: f64 = 0.6;
/// Attempts that are shown beside one result.
const MAX_TRIED: usize = 2;

impl Reader {
    /// Adds to each active result the rejected attempts at its matter that are no results themselves.
    pub(super) fn add_tried(&self, scope: Scope<'_>, hits: &mut [Hit]) -> Result<()> {
        let on_page: Vec<i64> = hits.iter().map(|hit| hit.memory.seq).collect();
        let near = self.rejected_near(scope, &on_page);
        for (hit, seqs) in hits.iter_mut().zip(near) {
            if hit.memory.status != Status::Active {
                continue;
            }
            for seq in seqs {
                let Some(attempt) = memories::by_seq(&self.conn, seq)? else { continue };
                hit.tried.push(Tried {
                    preview: budget::preview(&attempt.content),
                    why: attempt.forgotten_reason.map(given_reason).unwrap_or_default(),
                    id: attempt.id,
                });
            }
        }
        Ok(())
    }

    /// Returns the rejected memories near each of these, nearest first, without these themselves.
    fn rejected_near(&self, scope: Scope<'_>, seqs: &[i64]) -> Vec<Vec<i64>> {
        let Some(index) = self.shared.warm() else { return Vec::new() };
        if !index.has_rejected() {
            return Vec::new();
        }
        let filter = Filter { statuses: Statuses::Rejected, ..self.all_visible(scope) };
        let mask = index.mask(&filter);
        let near = |seq: &i64| -> Vec<i64> {
            let Some(vector) = index.direction(*seq) else { return Vec::new() };
            let mut near = nearest::nearest(&index, &mask, &vector, MIN_COSINE);
            near.sort_by(|one, other| other.1.total_cmp(&one.1));
            let near = near.iter().map(|(slot, _)| index.seq(*slot));
            near.filter(|seq| !seqs.contains(seq)).take(MAX_TRIED).collect()
        };
        seqs.iter().map(near).collect()
    }
}
