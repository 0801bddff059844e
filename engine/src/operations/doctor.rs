//! `doctor`: compares the index with the database.
//!
//! Not here: the checks of the database itself (`full_check`).

use crate::db::damage::DamagedRow;
use crate::db::{
    ALL_SEQS, SeqRange, codes, entity_links, export_rows, memories, vector_sets, vectors,
};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::index::{Graph, Index, Record};
use loci_proto::counted::counted;
use loci_proto::requests::doctor::Finding;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Comparisons of one step before a difference counts as a fault: the index may lag behind the
/// database for a moment.
const MAX_ATTEMPTS: usize = 5;
/// Memories compared under one lock of the index; about 30 ms.
const COMPARE_STEP: i64 = 1024;

impl Reader {
    /// Compares the index with the database, for which every text is tokenised again. Locks the index
    /// only for about 30 ms at a time.
    ///
    /// # Errors
    /// `Database`; `busy` while the index is being loaded.
    pub fn examine_index(&self) -> Result<Finding> {
        self.shared.require_ready()?;
        self.compare()
    }

    /// Compares the index with the database in steps of [`COMPARE_STEP`] memories: concurrent
    /// stores and recalls wait for at most one step.
    fn compare(&self) -> Result<Finding> {
        let mut compared = ComparedRows::default();
        if let Some(fault) = self.first_difference(&mut compared)? {
            self.shared.suspect();
            return Ok(Finding::fail(
                "index",
                fault,
                "Run loci ctl restart: the index is then rebuilt from the database",
            ));
        }
        let ComparedRows { memories, vectors, digest } = compared;
        let origin = self.shared.warmup.origin().unwrap_or_default();
        let digest = &digest.finalize().to_hex()[..12];
        Ok(Finding::ok(
            "index",
            format!(
                "{} and {}, equal to the database ({digest}); {origin}",
                counted(memories, "memory", "memories"),
                counted(vectors, "vector", "vectors")
            ),
        ))
    }

    /// Returns the first difference, if any.
    fn first_difference(&self, compared: &mut ComparedRows) -> Result<Option<String>> {
        let mut next = Some(*ALL_SEQS.start());
        while let Some(first) = next {
            // Read in each step, so that a concurrent import cannot make the last step large.
            let last = memories::last_of(&self.conn, first, COMPARE_STEP)?;
            let fault = self.compare_in_step(|comparison| {
                comparison.compare_range(&(first..=last.unwrap_or(*ALL_SEQS.end())), compared)
            })?;
            if fault.is_some() {
                return Ok(fault);
            }
            next = last.and_then(|last| last.checked_add(1));
        }
        let fault = self.compare_in_step(|comparison| {
            comparison.compare_links()?;
            comparison.compare_count()
        })?;
        if fault.is_some() { Ok(fault) } else { self.differing_counts() }
    }

    /// Compares one state of the database with the index; retries while the index has not been
    /// updated to that state. Returns the difference, if any.
    fn compare_in_step(
        &self,
        mut compare: impl FnMut(&mut Comparison<'_>) -> Result<()>,
    ) -> Result<Option<String>> {
        let mut fault = None;
        for _ in 0..MAX_ATTEMPTS {
            self.shared.wait_for_index_update();
            let conn = &export_rows::snapshot(&self.conn)?;
            let index = &self.shared.index();
            let damaged = &self.shared.damaged.all();
            let set = vector_sets::in_use(conn)?.active;
            let mut comparison = Comparison { conn, set: &set.name, index, damaged, fault: None };
            comparison.expect(index.vector_set().name == set.name, || {
                let indexed = &index.vector_set().name;
                format!("the index has the vectors of {indexed}, the active set is {}", set.name)
            });
            compare(&mut comparison)?;
            fault = comparison.fault;
            if fault.is_none() {
                break;
            }
        }
        Ok(fault)
    }
}

/// The rows of the database that were compared so far.
#[derive(Default)]
struct ComparedRows {
    memories: usize,
    vectors: usize,
    /// Digest of the vectors.
    digest: blake3::Hasher,
}

/// A comparison of index and database that keeps the first difference.
struct Comparison<'a> {
    conn: &'a Connection,
    set: &'a str,
    index: &'a Index,
    damaged: &'a [DamagedRow],
    fault: Option<String>,
}

impl Comparison<'_> {
    /// Records a fault unless the parts are equal.
    fn expect(&mut self, equal: bool, fault: impl FnOnce() -> String) {
        if !equal && self.fault.is_none() {
            self.fault = Some(fault());
        }
    }

    /// Compares texts, vectors and sign codes of these memories.
    fn compare_range(&mut self, seqs: &SeqRange, compared: &mut ComparedRows) -> Result<()> {
        let mut encodings = self.compare_texts(seqs)?;
        let mut digest = compared.digest.clone();
        self.compare_vectors(seqs, &mut encodings, &mut digest)?;
        self.compare_codes(seqs, &mut encodings)?;
        for (seq, StoredEncoding { chunks, has_codes }) in &encodings {
            let slot = self.index.slot(*seq);
            self.expect(slot.is_none_or(|slot| self.index.vector(slot, *chunks).is_none()), || {
                format!("memory {seq} has more vectors than the {chunks} of the database")
            });
            self.expect(
                slot.is_none_or(|slot| self.index.codes(slot).is_some() == *has_codes),
                || differing_codes(*seq),
            );
        }
        if self.fault.is_none() {
            compared.memories += encodings.len();
            compared.vectors += encodings.values().map(|encoding| encoding.chunks).sum::<usize>();
            compared.digest = digest;
        }
        Ok(())
    }

    /// Compares the entry of each memory and the terms and features of its text.
    fn compare_texts(&mut self, seqs: &SeqRange) -> Result<BTreeMap<i64, StoredEncoding>> {
        let (source, mut encodings) = (self.index.record_source(), BTreeMap::new());
        memories::entries(self.conn, seqs, |entry| {
            let (seq, mut rebuilt) = (entry.seq, Index::default());
            rebuilt.put(entry);
            let actual = self.index.slot(seq).map(|slot| source.record(slot));
            let expected = rebuilt.records().next();
            let entry =
                |record: &Option<Record<'_>>| record.as_ref().map(|record| record.entry.clone());
            self.expect(entry(&actual) == entry(&expected), || {
                format!("memory {seq} differs from the database")
            });
            self.expect(actual.map(text_features) == expected.map(text_features), || {
                format!("the words of memory {seq} differ from the database")
            });
            encodings.insert(seq, StoredEncoding::default());
            Ok(())
        })?;
        Ok(encodings)
    }

    fn compare_vectors(
        &mut self,
        seqs: &SeqRange,
        encodings: &mut BTreeMap<i64, StoredEncoding>,
        digest: &mut blake3::Hasher,
    ) -> Result<()> {
        vectors::load(self.conn, self.set, seqs, |seq, vector| {
            // A damaged memory is not in the index.
            let Some(encoding) = encodings.get_mut(&seq) else { return Ok(()) };
            let chunk = &mut encoding.chunks;
            let indexed = self.index.slot(seq).and_then(|slot| self.index.vector(slot, *chunk));
            self.expect(indexed.is_some_and(|row| row.is_of(vector)), || {
                format!("vector {chunk} of memory {seq} differs from the database")
            });
            for number in vector {
                digest.update(&number.to_le_bytes());
            }
            *chunk += 1;
            Ok(())
        })
    }

    fn compare_codes(
        &mut self,
        seqs: &SeqRange,
        encodings: &mut BTreeMap<i64, StoredEncoding>,
    ) -> Result<()> {
        codes::load(self.conn, self.set, seqs, |seq, codes| {
            let Some(encoding) = encodings.get_mut(&seq) else { return Ok(()) };
            encoding.has_codes = true;
            let indexed = self.index.slot(seq).and_then(|slot| self.index.codes(slot));
            self.expect(indexed == Some(&codes), || differing_codes(seq));
            Ok(())
        })
    }

    fn compare_links(&mut self) -> Result<()> {
        let mut links = Graph::default();
        entity_links::all(self.conn)?.into_iter().for_each(|link| links.set(link));
        self.expect(links.sorted() == self.index.graph().sorted(), || {
            "the links between memories differ from the database".to_owned()
        });
        Ok(())
    }

    /// Compares the number of memories.
    fn compare_count(&mut self) -> Result<()> {
        let is_left_out = |row: &&DamagedRow| {
            row.place == DamagedRow::MEMORY && self.index.slot(row.row).is_none()
        };
        let left_out = self.damaged.iter().filter(is_left_out).count();
        let (indexed, stored) = (self.index.size().memories, memories::count(self.conn)?);
        self.expect(indexed + left_out == stored, || {
            format!("the index has {indexed} memories, the database has {stored}")
        });
        Ok(())
    }
}

/// The encoding of a memory in the database.
#[derive(Default)]
struct StoredEncoding {
    /// Number of chunks, and of vectors.
    chunks: usize,
    /// True if sign codes are stored.
    has_codes: bool,
}

fn differing_codes(seq: i64) -> String {
    format!("the codes of memory {seq} differ from the database")
}

/// Returns the text features of a record in a form that is equal in every index: the speaker by
/// name and the terms sorted.
fn text_features(record: Record<'_>) -> impl PartialEq {
    let Record { features, speaker, mut terms, length, .. } = record;
    terms.sort_unstable();
    let terms: Vec<(String, u16)> =
        terms.into_iter().map(|(term, times)| (term.to_owned(), times)).collect();
    (features.traits, features.day, features.fingerprint, speaker.to_owned(), terms, length)
}

#[cfg(test)]
mod tests {
    use crate::model::encoding::DocumentEncoding;
    use crate::model::entity_link::EntityLink;
    use crate::model::entity_link::LinkKind;
    use crate::tests::fixture::{TestStore, axis, code, document_encoding};
    use loci_proto::requests::doctor::Verdict;
    use serde_json::json;

    fn failures(test_store: &TestStore) -> Vec<String> {
        let findings = test_store.findings();
        findings
            .into_iter()
            .filter(|finding| finding.verdict != Verdict::Ok)
            .map(|finding| finding.found)
            .collect()
    }

    #[test]
    fn a_healthy_store_has_no_findings_and_a_faulty_one_names_the_fault() {
        let mut test_store = TestStore::new();
        let first =
            test_store.store("a", json!({"content": "One", "type": "semantic"}), Some(&axis(1))).id;
        test_store.store(
            "a",
            json!({"content": "Two", "type": "semantic", "supersedes": first}),
            Some(&axis(2)),
        );
        test_store
            .forget("a", json!({"memory_id": first, "hard_delete": true}))
            .expect("the memory is deleted");
        assert_eq!(failures(&test_store), Vec::<String>::new());
        test_store.writer.shared.index_mut().set_vectors(2, &vec![axis(3)].into());
        assert_eq!(failures(&test_store), ["vector 0 of memory 2 differs from the database"]);
        test_store.writer.shared.index_mut().set_vectors(2, &vec![axis(2)].into());
        assert_eq!(failures(&test_store), Vec::<String>::new());
        crate::db::integrity::spoil_words(&test_store.writer.conn)
            .expect("the keyword index is damaged");
        assert!(
            failures(&test_store)[0].contains("keyword index differs"),
            "{:?}",
            failures(&test_store)
        );
    }

    #[test]
    fn every_part_of_the_index_is_compared() {
        let encoding = |test_store: &TestStore| {
            document_encoding(
                "The kettle is hot",
                test_store.reader.shared.index().direction(1).unwrap_or_else(|| axis(1)),
            )
        };
        let test_store = || {
            let mut test_store = TestStore::new();
            test_store.store_encoded(
                "a",
                json!({"content": "The kettle is hot", "type": "semantic"}),
                &document_encoding("The kettle is hot", axis(1)),
            );
            test_store.store(
                "a",
                json!({"content": "Kettle", "type": "entity", "metadata": {"name": "Kettle"}}),
                None,
            );
            assert_eq!(failures(&test_store), Vec::<String>::new());
            test_store
        };
        let sound = test_store();
        let other_codes = DocumentEncoding { words: Some(vec![code("other")]), ..encoding(&sound) };
        sound.writer.shared.index_mut().set_vectors(1, &other_codes);
        assert_eq!(failures(&sound), ["the codes of memory 1 differ from the database"]);
        let sound = test_store();
        sound.writer.shared.index_mut().set_codes(2, Some(&[]));
        assert_eq!(failures(&sound), ["the codes of memory 2 differ from the database"]);
        let sound = test_store();
        sound.writer.shared.index_mut().set_link(EntityLink {
            entity: 2,
            other: 1,
            kind: LinkKind::Mention,
            exists: false,
        });
        assert_eq!(failures(&sound), ["the links between memories differ from the database"]);
        let sound = test_store();
        let entry = crate::db::memories::entry(&sound.writer.conn, 1)
            .expect("the row is readable")
            .expect("the memory exists");
        sound
            .writer
            .shared
            .index_mut()
            .put(crate::model::entry::Entry { content: "The pot is hot".to_owned(), ..entry });
        assert_eq!(failures(&sound), ["the words of memory 1 differ from the database"]);
    }

    /// FTS5 caches the layout of its index per connection and does not notice in a check that
    /// another connection has changed it.
    #[test]
    fn stores_between_two_checks_are_not_reported_as_damage() {
        let mut test_store = TestStore::new();
        for _ in 0..3 {
            for number in 0..100 {
                test_store.store("a", json!({"content": format!("Crate {number} of {}", test_store.now.0), "type": "episodic"}), None);
            }
            test_store.now = test_store.now.plus(1000);
            assert_eq!(failures(&test_store), Vec::<String>::new());
        }
    }

    #[test]
    fn every_memory_of_a_large_store_is_compared() {
        let mut test_store = TestStore::new();
        for number in 0..=super::COMPARE_STEP {
            test_store.store(
                "a",
                json!({"content": format!("Crate {number}"), "type": "episodic"}),
                None,
            );
        }
        assert_eq!(failures(&test_store), Vec::<String>::new());
        for seq in [1, super::COMPARE_STEP, super::COMPARE_STEP + 1] {
            test_store.writer.shared.index_mut().set_codes(seq, Some(&[]));
            assert_eq!(
                failures(&test_store),
                [format!("the codes of memory {seq} differ from the database")]
            );
            test_store.writer.shared.index_mut().set_codes(seq, None);
        }
    }

    #[test]
    fn an_index_that_missed_a_change_is_found() {
        let mut test_store = TestStore::new();
        test_store.store("a", json!({"content": "One", "type": "semantic"}), Some(&axis(1)));
        test_store.writer.shared.index_mut().remove(1);
        assert!(failures(&test_store)[0].contains("memory 1 differs from the database"));
    }
}
