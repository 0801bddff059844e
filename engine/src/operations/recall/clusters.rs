//! The part of a recall that says which results are about the same.
//!
//! Not here: the grouping and the names (`clustering`).

use crate::Reader;
use crate::clustering::{distinctive, k_means};
use crate::index::Filter;
use crate::model::encoding::Embedding;
use crate::operations::recall::hydrate::Hit;
use crate::operations::recall::search::Scope;
use loci_proto::requests::topics::ResultCluster;

impl Reader {
    /// Groups the results of a call that asks for it. A result without a vector is in no group. The
    /// words of a name are compared with those of everything that the project sees.
    pub(super) fn clusters(&self, scope: Scope<'_>, hits: &[Hit]) -> Vec<ResultCluster> {
        let Some(index) = self.shared.warm().filter(|_| scope.request.cluster) else {
            return Vec::new();
        };
        let mask = index.mask(&Filter { statuses: scope.statuses, ..self.all_visible(scope) });
        let with_vectors: Vec<(&Hit, usize, Embedding)> = hits
            .iter()
            .filter_map(|hit| {
                let seq = hit.memory.seq;
                Some((hit, index.slot(seq)?, index.direction(seq)?))
            })
            .collect();
        let points: Vec<Embedding> = with_vectors.iter().map(|(.., point)| point.clone()).collect();
        let clusters = k_means::k_means(&points, k_means::groups_of(points.len()));
        let mut found = Vec::new();
        for number in 0..clusters.centroids.len() {
            let members: Vec<(&Hit, usize)> = with_vectors
                .iter()
                .zip(&clusters.assigned)
                .filter(|(_, assigned)| **assigned == number)
                .map(|((hit, slot, _), _)| (*hit, *slot))
                .collect();
            let Some((best, _)) = members.first() else { continue };
            let slots: Vec<usize> = members.iter().map(|(_, slot)| *slot).collect();
            let terms = distinctive::terms_of_group(&index, &mask, &slots);
            let texts = members.iter().map(|(hit, _)| hit.memory.content.as_str());
            let name = distinctive::name(&index, &terms, texts).join(", ");
            let ids = members.iter().map(|(hit, _)| hit.memory.id.clone()).collect();
            let position = hits.iter().position(|hit| hit.memory.id == best.memory.id);
            found.push((position, ResultCluster { name, ids }));
        }
        // The group of the best result comes first.
        found.sort_by_key(|(position, _)| *position);
        found.into_iter().map(|(_, cluster)| cluster).collect()
    }
}
