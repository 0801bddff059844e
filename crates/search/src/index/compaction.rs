//! The index data of one memory as a portable [`Record`], and compaction: copying the record of
//! every live slot into a new index, which reclaims the dead slots.
//!
//! Not here: the file of records (`crate::index::snapshot`).

use crate::index::{Index, Row, TextFeatures, slot_id};
use loci_base::model::encoding::SignCode;
use loci_base::model::entry::Entry;
use std::num::NonZeroU64;

/// With fewer dead slots than this, the index is never compacted; with more, it is compacted when
/// 25 % of its slots are dead.
const MIN_DEAD: usize = 1_000;

/// The index data of one memory, without its links.
#[derive(Debug, Clone, PartialEq)]
pub struct Record<'a> {
    /// Its attributes and names; the text is empty.
    pub entry: Entry,
    /// What ranking reads of the text.
    pub features: TextFeatures,
    /// The name of its speaker; empty if the text names none.
    pub speaker: &'a str,
    /// The fingerprint of its questions; `None` without any.
    pub questions: Option<NonZeroU64>,
    /// The terms of its texts with their frequencies.
    pub terms: Vec<(&'a str, u16)>,
    /// Number of terms in its texts.
    pub length: u32,
    /// The vector of each chunk.
    pub chunks: Vec<Row<'a>>,
    /// The sign codes of its tokens; `None` if they are not encoded.
    pub codes: Option<&'a [SignCode]>,
}

/// Reads records from an index, with the names of terms and speakers by number.
#[derive(Debug)]
pub struct RecordSource<'a> {
    index: &'a Index,
    terms: Vec<&'a str>,
    speakers: Vec<&'a str>,
}

impl<'a> RecordSource<'a> {
    /// Returns the record of a slot.
    pub fn record(&self, slot: usize) -> Record<'a> {
        let index = self.index;
        let features = index.text_features(slot);
        Record {
            entry: Entry { error: index.errors.of(index.seq(slot)), ..index.entry(slot) },
            features,
            speaker: self.speakers[features.speaker as usize],
            questions: index.questions.of(slot),
            terms: index
                .words
                .of(slot)
                .map(|(term, frequency)| (self.terms[term as usize], frequency))
                .collect(),
            length: index.words.length(slot),
            chunks: (0..index.chunk_count(slot))
                .filter_map(|chunk| index.vector(slot, chunk))
                .collect(),
            codes: index.codes(slot),
        }
    }
}

impl Index {
    /// Returns the records of all live slots, in the order of the slots.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        let source = self.record_source();
        (0..self.slot_count())
            .filter(|slot| self.slots.get(&self.seq(*slot)) == Some(&slot_id(*slot)))
            .map(move |slot| source.record(slot))
    }

    /// Like [`Self::records`], but ordered by sequence number as in the database, where a restored
    /// memory keeps its former position.
    pub(crate) fn records_by_seq(&self) -> impl Iterator<Item = Record<'_>> {
        let source = self.record_source();
        let mut slots: Vec<(i64, u32)> =
            self.slots.iter().map(|(seq, slot)| (*seq, *slot)).collect();
        slots.sort_unstable();
        slots.into_iter().map(move |(_, slot)| source.record(slot as usize))
    }

    /// Returns a reader of this index's records.
    pub fn record_source(&self) -> RecordSource<'_> {
        RecordSource {
            index: self,
            terms: self.words.terms(),
            speakers: self.features.speaker_names(),
        }
    }

    /// Appends a memory that is not in the index.
    pub(crate) fn insert_record(&mut self, record: Record<'_>) {
        let Record { entry, features, speaker, questions, terms, length, chunks, codes } = record;
        let (slot, seq) = (self.slot_count(), entry.seq);
        self.slots.insert(seq, slot_id(slot));
        self.features.insert_record(slot, features, speaker);
        self.questions.set(slot, questions);
        self.words.insert_record(slot, &terms, length);
        self.attributes.put(slot, &entry);
        self.errors.set(seq, entry.error);
        self.add_names(slot, entry);
        self.set_codes(seq, codes);
        self.put_vectors(slot, &chunks);
    }

    /// Returns whether enough slots are dead for compaction.
    pub fn needs_compaction(&self) -> bool {
        let dead = self.slot_count() - self.slots.len();
        dead >= MIN_DEAD && dead * 4 >= self.slot_count()
    }

    /// Returns a copy without dead slots and without links. Slots are renumbered in the same order.
    #[must_use]
    pub fn compacted_copy(&self) -> Self {
        let mut new = Self { version: self.version, set: self.set.clone(), ..Self::default() };
        self.records().for_each(|record| new.insert_record(record));
        new
    }

    /// Replaces the index by its [`Index::compacted_copy`], but keeps the links. Returns the old
    /// index.
    #[must_use]
    pub fn swap_in(&mut self, compacted: Self) -> Self {
        let graph = std::mem::take(&mut self.graph);
        std::mem::replace(self, Self { graph, ..compacted })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::index::contents::contents;
    use loci_base::model::decay::Anchor;
    use loci_base::model::encoding::{DocumentEncoding, Embedding};
    use loci_base::model::entity_link::{EntityLink, LinkKind};
    use loci_base::model::names::EntityNames;
    use loci_base::model::status::Status;
    use loci_proto::memory::{Confidence, MemoryType, Scope};
    use loci_testkit::{T0, between_axes, code};
    use proptest::prelude::*;

    /// One operation on an index.
    #[derive(Debug, Clone)]
    pub(crate) enum Operation {
        Put(i64, Box<Entry>, Option<DocumentEncoding>),
        Link(i64, i64, LinkKind),
        Remove(i64),
    }

    /// Applies an operation to an index. A link between memories that are not there is ignored.
    pub(crate) fn apply(index: &mut Index, operation: &Operation) {
        match operation {
            Operation::Put(seq, entry, encoding) => {
                index.put(Entry { seq: *seq, ..(**entry).clone() });
                if let Some(encoding) = encoding {
                    index.set_vectors(*seq, encoding);
                }
            }
            Operation::Link(entity, other, kind)
                if index.slot(*entity).is_some() && index.slot(*other).is_some() =>
            {
                index.set_link(EntityLink {
                    entity: *entity,
                    other: *other,
                    kind: *kind,
                    exists: true,
                });
            }
            Operation::Link(..) => {}
            Operation::Remove(seq) => index.remove(*seq),
        }
    }

    /// Generates operations on thirty memories.
    pub(crate) fn operations(max: usize) -> impl Strategy<Value = Vec<Operation>> {
        let text = prop::sample::select(vec![
            "Anna: the kettle is on the stove",
            "[2026-01-05] Joan: my kettle broke yesterday",
            "Der Schlüssel für den Keller hängt in der Küche",
            "会議室は3階",
            "the stove, the stove and the stove again",
            "",
        ]);
        let encoding = (0..4_usize, 0..6_usize, 0..4_usize, any::<bool>()).prop_map(
            |(chunks, a, b, has_words)| DocumentEncoding {
                vectors: (0..chunks).map(|chunk| between_axes(a, 6 + b + chunk, 0.6)).collect(),
                words: has_words.then(|| {
                    ["kettle", "stove", "key"].iter().take(b).map(|word| code(word)).collect()
                }),
            },
        );
        let entry =
            (text, 0..3_usize, any::<bool>(), 0..4_usize, prop::option::of(0..30_i64), 0..3_u8)
                .prop_map(|(text, group, global, kind, summary, state)| Entry {
                    seq: 0,
                    kind: MemoryType::ALL[kind],
                    group: [Some("a"), Some("b"), None][group].map(str::to_owned),
                    scope: if global { Scope::Global } else { Scope::Group },
                    status: [Status::Active, Status::Compacted, Status::Superseded][state as usize],
                    anchor: Anchor::new(Confidence::FULL, T0),
                    expires_at: (summary == Some(3)).then_some(T0),
                    names: if kind == 3 {
                        EntityNames {
                            own: Some("anna".to_owned()),
                            aliases: vec![format!("anna {group}")],
                        }
                    } else {
                        EntityNames::default()
                    },
                    content: text.to_owned(),
                    questions: if global { "Who mends it?".to_owned() } else { String::new() },
                    event_day: None,
                    created_day: 739_000 + i32::from(state),
                    summary: summary.filter(|_| state == 1),
                    extractive: state == 2,
                    branch: None,
                    error: std::num::NonZeroU64::new(u64::from(state)),
                });
        let seq = || 0..30_i64;
        let put = (seq(), entry, prop::option::of(encoding))
            .prop_map(|(seq, entry, encoding)| Operation::Put(seq, Box::new(entry), encoding));
        let kind = prop::sample::select(vec![LinkKind::Mention, LinkKind::Relation]);
        let link = (seq(), seq(), kind)
            .prop_map(|(entity, other, kind)| Operation::Link(entity, other, kind));
        prop::collection::vec(
            prop_oneof![5 => put, 1 => link, 3 => seq().prop_map(Operation::Remove)],
            0..max,
        )
    }

    proptest! {
        /// After any operations, and with further operations on both.
        #[test]
        fn a_compacted_index_has_no_dead_slots_and_gives_the_same_results(operations in operations(120)) {
            let mut index = Index::default();
            let mut compacted = Index::default();
            for operation in &operations {
                apply(&mut index, operation);
                apply(&mut compacted, operation);
            }
            let before = contents(&index);
            drop(compacted.swap_in(compacted.compacted_copy()));
            prop_assert_eq!(compacted.slot_count(), compacted.size().memories);
            prop_assert_eq!(&contents(&compacted), &before);
                        for operation in operations.iter().rev() {
                apply(&mut index, operation);
                apply(&mut compacted, operation);
            }
            prop_assert_eq!(contents(&compacted), contents(&index));
        }
    }

    #[test]
    fn the_index_is_compacted_when_a_quarter_of_its_slots_is_dead() {
        let mut index = Index::default();
        let entry = |seq| Entry { seq, content: seq.to_string(), ..Entry::bare(seq) };
        (0..4_400).for_each(|seq| index.put(entry(seq)));
        index.set_vectors(4_399, &vec![Embedding::clone(&between_axes(1, 2, 0.5))].into());
        (0..1_099).for_each(|seq| index.remove(seq * 2));
        assert_eq!(
            (index.slot_count(), index.size().memories, index.needs_compaction()),
            (4_400, 3_301, false),
            "less than a quarter"
        );
        index.remove(2_198);
        assert!(index.needs_compaction());
        drop(index.swap_in(index.compacted_copy()));
        assert_eq!(index.slot_count(), 3_300);
        assert_eq!(index.size(), crate::index::IndexSize { memories: 3_300, vectors: 1 });
        assert!(
            index.words().list(&["2198".to_owned()]).is_none()
                && index.words().terms().len() == 3_300
        );
        assert_eq!(index.seq(index.slot(4_399).expect("the memory is in the index")), 4_399);
        assert!(
            index.vector(3_299, 0).is_some_and(|row| row.is_of(between_axes(1, 2, 0.5).as_slice()))
        );
    }
}
