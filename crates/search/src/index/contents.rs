//! What an index contains, as a text that tests compare. The engine's tests include this file.

use crate::index::compaction::Record;
use crate::index::{Filter, Index, QuantizedVector, Statuses, slot_id};
use crate::ranking::fusion::Fusion;
use crate::search::project_preference::ProjectPreference;
use crate::search::query::parse::ParsedQuery;
use crate::search::{Detail, Effort, SearchQuery, Stages, Weights, search};
use loci_base::model::decay::Decay;
use loci_base::model::visibility::{Isolation, Visibility};
use loci_proto::memory::{Confidence, MemoryType};
use loci_testkit::{T0, between_axes, query_encoding};

/// The records, names, links and search results of an index, without slot numbers.
pub(crate) fn contents(index: &Index) -> String {
    let records: Vec<_> = index.records().map(normalised).collect();
    let names: Vec<_> = ["anna", "anna 1", "joan"]
        .map(|name| index.entities_named(name, |_| true).collect())
        .into_iter()
        .map(sorted_seqs)
        .collect();
    let mut contents =
        vec![format!("{records:?}\n{names:?}\n{:?}\n{:?}", index.graph().sorted(), index.size())];
    let query = between_axes(2, 7, 0.8);
    for (group, statuses, kind) in [
        ("a", Statuses::Recall, None),
        ("b", Statuses::Active, None),
        ("c", Statuses::Recall, Some(MemoryType::Entity)),
    ] {
        let (scope, decay) = (None, Decay::default());
        let filter = Filter {
            visibility: &Visibility::of_group(group, Isolation::default()),
            kind,
            scope,
            min_confidence: Confidence::FULL,
            dormant_below: None,
            now: T0,
            decay,
            statuses,
        };
        let mask = index.mask(&filter);
        let slots: Vec<u32> = mask.slots().map(slot_id).collect();
        let seqs: Vec<i64> = mask.slots().map(|slot| index.seq(slot)).collect();
        contents
            .push(format!("{seqs:?} {:?}", index.cosines(&QuantizedVector::from(&query), &slots)));
        for encoding in [None, Some(query_encoding("Where is the kettle of Anna", query.clone()))] {
            let parsed = ParsedQuery::new("Where is the kettle of Anna");
            let query = SearchQuery {
                finds_nearest: false,
                follows_links: true,
                fields: None,
                parsed: &parsed,
                projects: &ProjectPreference::default(),
                branch: None,
                weights: Weights::default(),
                answering: &[],
                encoding: encoding.as_ref(),
                fusion: Fusion::default(),
                today: 739_000,
                limit: 5,
                effort: Effort::Approximate,
                stages: Stages::default(),
                detail: Detail::Scores,
                may_replace: &|_, _| true,
            };
            let results = search(index, &mask, &query);
            let ranked: Vec<_> = results
                .ranked
                .iter()
                .map(|entry| (index.seq(entry.slot), entry.score.to_bits()))
                .collect();
            contents.push(format!("{ranked:?} {} {}", results.matched, results.is_weak));
        }
    }
    contents.join("\n")
}

/// Removes differences that mean nothing: speaker numbers and the order of terms.
fn normalised(mut record: Record<'_>) -> Record<'_> {
    record.terms.sort_unstable();
    record.features.speaker = 0;
    record
}

fn sorted_seqs(mut seqs: Vec<i64>) -> Vec<i64> {
    seqs.sort_unstable();
    seqs
}
