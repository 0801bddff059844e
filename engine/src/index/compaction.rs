//! The index data of one memory as a portable [`Record`]. Copying every live record into a new index is also how dead slots are reclaimed.
//!
//! Not here: the file that keeps these (`crate::index::snapshot`).

use crate::index::{Index, Row, TextFeatures, slot_id};
use crate::model::encoding::SignCode;
use crate::model::entry::Entry;

/// Dead slots below which the index is never compacted; above it, it is compacted at 25 % dead slots.
const MIN_DEAD: usize = 1_000;

/// The index data of one memory, without its links.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record<'a> {
    /// Without its text.
    pub entry: Entry,
    pub said: TextFeatures,
    /// The speaker; empty if none is named.
    pub speaker: &'a str,
    /// The terms of its text with their frequencies.
    pub terms: Vec<(&'a str, u16)>,
    /// Number of terms in its text.
    pub length: u32,
    pub pieces: Vec<Row<'a>>,
    /// `None` if its tokens are not encoded.
    pub codes: Option<&'a [SignCode]>,
}

/// Reads records from an index; resolves term and speaker numbers.
#[derive(Debug)]
pub(crate) struct RecordSource<'a> {
    index: &'a Index,
    terms: Vec<&'a str>,
    speakers: Vec<&'a str>,
}

impl<'a> RecordSource<'a> {
    /// Returns the record of a slot.
    pub(crate) fn record(&self, slot: usize) -> Record<'a> {
        let index = self.index;
        Record {
            entry: index.entry(slot),
            said: index.text_features(slot),
            speaker: self.speakers[index.text_features(slot).speaker as usize],
            terms: index
                .words
                .of(slot)
                .map(|(term, times)| (self.terms[term as usize], times))
                .collect(),
            length: index.words.length(slot),
            pieces: (0..index.chunk_count(slot))
                .filter_map(|piece| index.vector(slot, piece))
                .collect(),
            codes: index.codes(slot),
        }
    }
}

impl Index {
    /// Returns the records of all live slots, in storing order.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record<'_>> {
        let book = self.record_source();
        (0..self.len())
            .filter(|slot| self.slots.get(&self.seq(*slot)) == Some(&slot_id(*slot)))
            .map(move |slot| book.record(slot))
    }

    /// The same in the order of the database, where a restored memory keeps its former place.
    pub(crate) fn records_as_stored(&self) -> impl Iterator<Item = Record<'_>> {
        let book = self.record_source();
        let mut slots: Vec<(i64, u32)> =
            self.slots.iter().map(|(seq, slot)| (*seq, *slot)).collect();
        slots.sort_unstable();
        slots.into_iter().map(move |(_, slot)| book.record(slot as usize))
    }

    /// Returns a reader of records.
    pub(crate) fn record_source(&self) -> RecordSource<'_> {
        RecordSource {
            index: self,
            terms: self.words.by_number(),
            speakers: self.features.by_number(),
        }
    }

    /// Inserts a memory that the index does not hold.
    pub(crate) fn insert_record(&mut self, record: Record<'_>) {
        let Record { entry, said, speaker, terms, length, pieces, codes } = record;
        let (slot, seq) = (self.len(), entry.seq);
        self.slots.insert(seq, slot_id(slot));
        self.features.insert_record(slot, said, speaker);
        self.words.insert_record(slot, &terms, length);
        self.attributes.put(slot, &entry);
        self.add_names(slot, entry);
        self.set_codes(seq, codes);
        self.put_vectors(slot, &pieces);
    }

    /// Returns whether many slots belong to deleted memories.
    pub(crate) fn needs_compaction(&self) -> bool {
        let dead = self.len() - self.slots.len();
        dead >= MIN_DEAD && dead * 4 >= self.len()
    }

    /// Returns a copy without dead slots and without links: slots are renumbered, in the same
    /// order.
    pub(crate) fn compacted_copy(&self) -> Self {
        let mut new = Self { version: self.version, ..Self::default() };
        self.records().for_each(|record| new.insert_record(record));
        new
    }

    /// Replaces the index by its [`Index::compacted_copy`] but keeps the links. Returns the old index.
    pub(crate) fn swap_in(&mut self, compacted: Self) -> Self {
        let graph = std::mem::take(&mut self.graph);
        std::mem::replace(self, Self { graph, ..compacted })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::index::{Filter, QuantizedVector};
    use crate::model::decay::{Anchor, Decay};
    use crate::model::encoding::{DocumentEncoding, Embedding};
    use crate::model::entity_link::EntityLink;
    use crate::model::entity_link::LinkKind;
    use crate::model::status::Status;
    use crate::ranking::fusion::Fusion;
    use crate::search::query::parse::ParsedQuery;
    use crate::search::{Detail, Effort, SearchQuery, search};
    use crate::tests::fixture::{T0, asked, code, leaning};
    use loci_proto::memory::{Confidence, MemoryType, Scope};
    use proptest::prelude::*;

    /// One operation on an index.
    #[derive(Debug, Clone)]
    pub(crate) enum Act {
        Put(i64, Box<Entry>, Option<DocumentEncoding>),
        Link(i64, i64, LinkKind),
        Remove(i64),
    }

    /// Applies an operation to the index and to the expected state.
    pub(crate) fn act(index: &mut Index, act: &Act) {
        match act {
            Act::Put(seq, entry, coded) => {
                index.put(Entry { seq: *seq, ..(**entry).clone() });
                if let Some(coded) = coded {
                    index.set_vectors(*seq, coded);
                }
            }
            Act::Link(entity, other, kind)
                if index.slot(*entity).is_some() && index.slot(*other).is_some() =>
            {
                index.set_link(EntityLink {
                    entity: *entity,
                    other: *other,
                    kind: *kind,
                    exists: true,
                });
            }
            Act::Link(..) => {}
            Act::Remove(seq) => index.remove(*seq),
        }
    }

    /// Generates operations on thirty memories.
    pub(crate) fn acts(most: usize) -> impl Strategy<Value = Vec<Act>> {
        let text = prop::sample::select(vec![
            "Anna: the kettle is on the stove",
            "[2026-01-05] Joan: my kettle broke yesterday",
            "Der Schlüssel für den Keller hängt in der Küche",
            "会議室は3階",
            "the stove, the stove and the stove again",
            "",
        ]);
        let coded =
            (0..4_usize, 0..6_usize, 0..4_usize, any::<bool>()).prop_map(|(pieces, a, b, read)| {
                DocumentEncoding {
                    pieces: (0..pieces).map(|piece| leaning(a, 6 + b + piece, 0.6)).collect(),
                    words: read.then(|| {
                        ["kettle", "stove", "key"].iter().take(b).map(|word| code(word)).collect()
                    }),
                }
            });
        let entry =
            (text, 0..3_usize, any::<bool>(), 0..4_usize, prop::option::of(0..30_i64), 0..3_u8)
                .prop_map(|(text, group, global, kind, summary, state)| Entry {
                    seq: 0,
                    kind: MemoryType::ALL[kind],
                    group: [Some("a"), Some("b"), None][group].map(str::to_owned),
                    scope: if global { Scope::Global } else { Scope::Group },
                    status: [Status::Active, Status::Compacted, Status::Superseded][state as usize],
                    anchor: Anchor { confidence: Confidence::FULL, at: T0, pinned: false },
                    expires_at: (summary == Some(3)).then_some(T0),
                    names: if kind == 3 {
                        vec!["anna".to_owned(), format!("anna {group}")]
                    } else {
                        Vec::new()
                    },
                    content: text.to_owned(),
                    event_day: None,
                    created_day: 739_000 + i32::from(state),
                    summary: summary.filter(|_| state == 1),
                    extractive: state == 2,
                });
        let seq = || 0..30_i64;
        let put = (seq(), entry, prop::option::of(coded))
            .prop_map(|(seq, entry, coded)| Act::Put(seq, Box::new(entry), coded));
        let kind = prop::sample::select(vec![LinkKind::Mention, LinkKind::Relation]);
        let link =
            (seq(), seq(), kind).prop_map(|(entity, other, kind)| Act::Link(entity, other, kind));
        prop::collection::vec(
            prop_oneof![5 => put, 1 => link, 3 => seq().prop_map(Act::Remove)],
            0..most,
        )
    }

    /// Everything that an index answers, without slot numbers.
    pub(crate) fn answers(index: &Index) -> String {
        let records: Vec<_> = index.records().map(sorted).collect();
        let names: Vec<_> = ["anna", "anna 1", "joan"]
            .map(|name| index.named(name).to_vec())
            .into_iter()
            .map(in_order)
            .collect();
        let mut told = vec![format!(
            "{records:?}\n{names:?}\n{:?}\n{:?}",
            index.graph().sorted(),
            index.held()
        )];
        let query = leaning(2, 7, 0.8);
        for (group, compacted, kind) in
            [("a", true, None), ("b", false, None), ("c", true, Some(MemoryType::Entity))]
        {
            let (scope, decay) = (None, Decay::default());
            let filter = Filter {
                visibility: &crate::model::visibility::Visibility::of_group(group),
                kind,
                scope,
                min_confidence: Confidence::FULL,
                now: T0,
                decay,
                compacted,
            };
            let mask = index.mask(&filter);
            let slots: Vec<u32> = mask.slots().map(slot_id).collect();
            let seqs: Vec<i64> = mask.slots().map(|slot| index.seq(slot)).collect();
            told.push(format!(
                "{seqs:?} {:?}",
                index.cosines(&QuantizedVector::from(&query), &slots)
            ));
            for asked in [None, Some(asked("Where is the kettle of Anna", query.clone()))] {
                let parsed = ParsedQuery::new("Where is the kettle of Anna");
                let query = SearchQuery {
                    parsed: &parsed,
                    encoding: asked.as_ref(),
                    fusion: Fusion::default(),
                    today: 739_000,
                    limit: 5,
                    effort: Effort::Approximate,
                    detail: Detail::Scores,
                };
                let found = search(index, &mask, &query);
                let ranked: Vec<_> = found
                    .ranked
                    .iter()
                    .map(|entry| (index.seq(entry.slot), entry.score.to_bits()))
                    .collect();
                told.push(format!("{ranked:?} {} {}", found.matched, found.weak));
            }
        }
        told.join("\n")
    }

    /// Speaker numbers and the order of terms are internal, so they are normalised.
    pub(crate) fn sorted(mut record: Record<'_>) -> Record<'_> {
        record.terms.sort_unstable();
        record.said.speaker = 0;
        record
    }

    fn in_order(mut seqs: Vec<i64>) -> Vec<i64> {
        seqs.sort_unstable();
        seqs
    }

    proptest! {
        /// After any operations, a compacted copy has no dead data, and an index built from the
        /// rest answers the same.
        #[test]
        fn a_compacted_index_answers_like_one_built_from_the_remaining_memories(acts in acts(120)) {
            let mut index = Index::default();
            let mut compacted = Index::default();
            for one in &acts {
                act(&mut index, one);
                act(&mut compacted, one);
            }
            let before = answers(&index);
            compacted.swap_in(compacted.compacted_copy());
            prop_assert_eq!(compacted.len(), compacted.held().0);
            prop_assert_eq!(&answers(&compacted), &before);
            // The compacted copy accepts further changes as the old index does.
            for one in acts.iter().rev() {
                act(&mut index, one);
                act(&mut compacted, one);
            }
            prop_assert_eq!(answers(&compacted), answers(&index));
        }
    }

    #[test]
    fn the_index_is_compacted_when_a_quarter_of_its_slots_is_dead() {
        let mut index = Index::default();
        let entry = |seq| Entry { seq, content: format!("number{seq}"), ..Entry::bare(seq) };
        (0..4_400).for_each(|seq| index.put(entry(seq)));
        index.set_vectors(4_399, &vec![Embedding::clone(&leaning(1, 2, 0.5))].into());
        (0..1_099).for_each(|seq| index.remove(seq * 2));
        assert_eq!(
            (index.len(), index.held().0, index.needs_compaction()),
            (4_400, 3_301, false),
            "not quite a quarter"
        );
        index.remove(2_198);
        assert!(index.needs_compaction());
        index.swap_in(index.compacted_copy());
        assert_eq!((index.len(), index.held()), (3_300, (3_300, 1)));
        assert!(
            index.words().list(&["number2198".to_owned()]).is_none()
                && index.words().by_number().len() == 3_300
        );
        assert_eq!(index.seq(index.slot(4_399).expect("is there")), 4_399);
        assert!(index.vector(3_299, 0).is_some_and(|row| row.is_of(leaning(1, 2, 0.5).as_slice())));
    }
}
