//! `doctor`: whether the store is whole, and the warm index says what the store says.

use crate::db::{EVERY, Seqs, codes, entity_links, export_rows, integrity, memories, vectors};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::index::{Graph, Index, Record};
use loci_proto::requests::doctor::Finding;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// How often the index may be caught a moment behind the store before that counts as a fault.
const TRIES: usize = 5;
/// How many memories are compared before those who wait for the index are let in; some 30 ms.
const AT_ONCE: i64 = 1024;
const REPORT: &str = "Stop the daemon (loci ctl stop), keep a copy of the database, and restore a backup or import an export";

impl Reader {
    /// Looks at pages, references and the warm index, for which every text is read anew. Nobody waits for it long.
    ///
    /// # Errors
    /// `Database`; `busy` while the index is being loaded.
    pub fn examine(&self) -> Result<Vec<Finding>> {
        self.shared.require_ready()?;
        let path = self.shared.path.display();
        let (schema, size) = (integrity::schema(&self.conn)?, integrity::size(&self.conn)? / 1024);
        let mut findings =
            vec![Finding::ok("database", format!("{path} has schema {schema} and {size} KiB"))];
        findings.push(match integrity::pages(&self.fresh()?)?.as_str() {
            "ok" => Finding::ok("database", "every page is whole"),
            fault => Finding::fail("database", format!("a page is damaged: {fault}"), REPORT),
        });
        findings.push(match integrity::dangling(&self.conn)? {
            0 => Finding::ok("database", "every reference leads somewhere"),
            found => Finding::fail(
                "database",
                format!("{found} rows refer to rows that are not there"),
                REPORT,
            ),
        });
        findings.push(self.compare()?);
        Ok(findings)
    }

    /// The index beside the database, some memories at a time: stores and recalls that come meanwhile wait for these alone.
    fn compare(&self) -> Result<Finding> {
        let mut seen = Seen::default();
        if let Some(fault) = self.difference(&mut seen)? {
            self.shared.suspect();
            return Ok(Finding::fail(
                "index",
                fault,
                "Run loci ctl restart: the index is built anew from the database",
            ));
        }
        let (Seen { memories, vectors, digest }, origin) =
            (seen, self.shared.warmup.origin().unwrap_or_default());
        let digest = &digest.finalize().to_hex()[..12];
        Ok(Finding::ok(
            "index",
            format!(
                "{memories} memories and {vectors} vectors, as the database has them ({digest}); {origin}"
            ),
        ))
    }

    /// The first thing in which they differ.
    fn difference(&self, seen: &mut Seen) -> Result<Option<String>> {
        let mut next = Some(*EVERY.start());
        while let Some(first) = next {
            // Asked for only now: an import that has come meanwhile is not all compared at once.
            let last = memories::last_of(&self.conn, first, AT_ONCE)?;
            let fault =
                self.caught_up(|look| look.at(&(first..=last.unwrap_or(*EVERY.end())), seen))?;
            if fault.is_some() {
                return Ok(fault);
            }
            next = last.and_then(|last| last.checked_add(1));
        }
        self.caught_up(|look| {
            look.at_links()?;
            look.at_number()
        })
    }

    /// Looks at one state of the database and the index, again where the index had not been told of that state yet; what differs, if
    /// anything does.
    fn caught_up(
        &self,
        mut look: impl FnMut(&mut Look<'_>) -> Result<()>,
    ) -> Result<Option<String>> {
        let model = self.shared.settings().model.clone();
        let mut fault = None;
        for _ in 0..TRIES {
            self.shared.wait_for_index_update();
            let conn = &export_rows::snapshot(&self.conn)?;
            let index = &self.shared.index();
            let mut this = Look { conn, model: &model, index, fault: None };
            look(&mut this)?;
            fault = this.fault;
            if fault.is_none() {
                break;
            }
        }
        Ok(fault)
    }
}

/// What has been found in the database so far.
#[derive(Default)]
struct Seen {
    memories: usize,
    vectors: usize,
    digest: blake3::Hasher,
}

/// The index beside the database: the first thing that differs is kept.
struct Look<'a> {
    conn: &'a Connection,
    model: &'a str,
    index: &'a Index,
    fault: Option<String>,
}

impl Look<'_> {
    fn sees(&mut self, same: bool, otherwise: impl FnOnce() -> String) {
        if !same && self.fault.is_none() {
            self.fault = Some(otherwise());
        }
    }

    /// Compares everything that belongs to these memories.
    fn at(&mut self, seqs: &Seqs, seen: &mut Seen) -> Result<()> {
        let mut here = self.at_texts(seqs)?;
        let mut digest = seen.digest.clone();
        self.at_vectors(seqs, &mut here, &mut digest)?;
        self.at_codes(seqs, &mut here)?;
        for (seq, Given { pieces, codes }) in &here {
            let slot = self.index.slot(*seq);
            self.sees(slot.is_none_or(|slot| self.index.vector(slot, *pieces).is_none()), || {
                format!("memory {seq} has more vectors than the {pieces} of the database")
            });
            self.sees(slot.is_none_or(|slot| self.index.codes(slot).is_some() == *codes), || {
                differing_codes(*seq)
            });
        }
        if self.fault.is_none() {
            seen.memories += here.len();
            seen.vectors += here.values().map(|given| given.pieces).sum::<usize>();
            seen.digest = digest;
        }
        Ok(())
    }

    /// What is known of each memory, and what is read in its text.
    fn at_texts(&mut self, seqs: &Seqs) -> Result<BTreeMap<i64, Given>> {
        let (source, mut here) = (self.index.record_source(), BTreeMap::new());
        memories::entries(self.conn, seqs, |entry| {
            let (seq, mut anew) = (entry.seq, Index::default());
            anew.put(entry);
            let known = self.index.slot(seq).map(|slot| source.record(slot));
            let read = anew.records().next();
            let entry =
                |record: &Option<Record<'_>>| record.as_ref().map(|record| record.entry.clone());
            self.sees(entry(&known) == entry(&read), || {
                format!("memory {seq} is not as the database has it")
            });
            self.sees(known.map(words) == read.map(words), || {
                format!("the words of memory {seq} are not as the database has them")
            });
            here.insert(seq, Given::default());
            Ok(())
        })?;
        Ok(here)
    }

    fn at_vectors(
        &mut self,
        seqs: &Seqs,
        here: &mut BTreeMap<i64, Given>,
        digest: &mut blake3::Hasher,
    ) -> Result<()> {
        vectors::load(self.conn, self.model, seqs, |seq, vector| {
            let pieces = &mut here.entry(seq).or_default().pieces;
            let known = self.index.slot(seq).and_then(|slot| self.index.vector(slot, *pieces));
            self.sees(known.is_some_and(|row| row.is_of(vector)), || {
                format!("vector {pieces} of memory {seq} is not as the database has it")
            });
            for number in vector {
                digest.update(&number.to_le_bytes());
            }
            *pieces += 1;
            Ok(())
        })
    }

    fn at_codes(&mut self, seqs: &Seqs, here: &mut BTreeMap<i64, Given>) -> Result<()> {
        codes::load(self.conn, self.model, seqs, |seq, codes| {
            here.entry(seq).or_default().codes = true;
            let known = self.index.slot(seq).and_then(|slot| self.index.codes(slot));
            self.sees(known == Some(&codes), || differing_codes(seq));
            Ok(())
        })
    }

    fn at_links(&mut self) -> Result<()> {
        let mut links = Graph::default();
        entity_links::all(self.conn)?.into_iter().for_each(|link| links.set(link));
        self.sees(links.sorted() == self.index.graph().sorted(), || {
            "what links memories is not as the database has it".to_owned()
        });
        Ok(())
    }

    /// Whether the index knows memories that the database does not.
    fn at_number(&mut self) -> Result<()> {
        let (known, held) = (self.index.held().0, memories::count(self.conn)?);
        self.sees(known == held, || format!("it holds {known} memories, the database {held}"));
        Ok(())
    }
}

/// What the database has of a memory's model.
#[derive(Default)]
struct Given {
    pieces: usize,
    codes: bool,
}

fn differing_codes(seq: i64) -> String {
    format!("the codes of memory {seq} are not as the database has them")
}

/// What was read in a text; the numbers of speakers and the order of terms are the index's own.
fn words(record: Record<'_>) -> impl PartialEq {
    let Record { said, speaker, mut terms, length, .. } = record;
    terms.sort_unstable();
    let terms: Vec<(String, u16)> =
        terms.into_iter().map(|(term, times)| (term.to_owned(), times)).collect();
    (said.kind, said.day, said.fingerprint, speaker.to_owned(), terms, length)
}

impl Writer {
    /// Looks whether the keyword index says what the texts say.
    #[must_use]
    pub fn examine_words(&self) -> Finding {
        match integrity::words(&self.conn) {
            Ok(()) => Finding::ok("database", "the keyword index says what the texts say"),
            Err(error) => Finding::fail(
                "database",
                format!("the keyword index differs from the texts: {error}"),
                REPORT,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::encoding::DocumentEncoding;
    use crate::model::entity_link::EntityLink;
    use crate::model::entity_link::LinkKind;
    use crate::tests::fixture::{TestStore, axis, code, coded};
    use loci_proto::requests::doctor::Verdict;
    use serde_json::json;

    fn sick(test_store: &TestStore) -> Vec<String> {
        let mut findings = test_store.reader.examine().expect("looks");
        findings.push(test_store.writer.examine_words());
        findings
            .into_iter()
            .filter(|finding| finding.verdict != Verdict::Ok)
            .map(|finding| finding.found)
            .collect()
    }

    #[test]
    fn a_sound_store_has_nothing_and_each_fault_is_named() {
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
            .expect("is removed");
        assert_eq!(sick(&test_store), Vec::<String>::new());
        test_store.writer.shared.index_mut().set_vectors(2, &vec![axis(3)].into());
        assert_eq!(sick(&test_store), ["vector 0 of memory 2 is not as the database has it"]);
        test_store.writer.shared.index_mut().set_vectors(2, &vec![axis(2)].into());
        assert_eq!(sick(&test_store), Vec::<String>::new());
        crate::db::integrity::spoil_words(&test_store.writer.conn).expect("is spoilt");
        assert!(sick(&test_store)[0].contains("keyword index differs"), "{:?}", sick(&test_store));
    }

    #[test]
    fn whatever_the_index_holds_is_compared() {
        let text = |test_store: &TestStore| {
            coded(
                "The kettle is hot",
                test_store.reader.shared.index().direction(1).unwrap_or_else(|| axis(1)),
            )
        };
        let test_store = || {
            let mut test_store = TestStore::new();
            test_store.store_coded(
                "a",
                json!({"content": "The kettle is hot", "type": "semantic"}),
                &coded("The kettle is hot", axis(1)),
            );
            test_store.store(
                "a",
                json!({"content": "Kettle", "type": "entity", "metadata": {"name": "Kettle"}}),
                None,
            );
            assert_eq!(sick(&test_store), Vec::<String>::new());
            test_store
        };
        let sound = test_store();
        let of_words = DocumentEncoding { words: Some(vec![code("other")]), ..text(&sound) };
        sound.writer.shared.index_mut().set_vectors(1, &of_words);
        assert_eq!(sick(&sound), ["the codes of memory 1 are not as the database has them"]);
        let sound = test_store();
        sound.writer.shared.index_mut().set_codes(2, Some(&[]));
        assert_eq!(sick(&sound), ["the codes of memory 2 are not as the database has them"]);
        let sound = test_store();
        sound.writer.shared.index_mut().set_link(EntityLink {
            entity: 2,
            other: 1,
            kind: LinkKind::Mention,
            exists: false,
        });
        assert_eq!(sick(&sound), ["what links memories is not as the database has it"]);
        let sound = test_store();
        let entry =
            crate::db::memories::entry(&sound.writer.conn, 1).expect("reads").expect("is there");
        sound
            .writer
            .shared
            .index_mut()
            .put(crate::model::entry::Entry { content: "The pot is hot".to_owned(), ..entry });
        assert_eq!(sick(&sound), ["the words of memory 1 are not as the database has them"]);
    }

    /// FTS5 keeps in mind how its index lies, and a check does not notice that another connection has changed that.
    #[test]
    fn stores_between_two_checks_are_no_damage() {
        let mut test_store = TestStore::new();
        for _ in 0..3 {
            for number in 0..100 {
                test_store.store("a", json!({"content": format!("Crate {number} of {}", test_store.now.0), "type": "episodic"}), None);
            }
            test_store.now = test_store.now.plus(1000);
            assert_eq!(sick(&test_store), Vec::<String>::new());
            test_store.reader.check().expect("is whole");
        }
    }

    #[test]
    fn every_memory_is_compared_however_many_there_are() {
        let mut test_store = TestStore::new();
        for number in 0..=super::AT_ONCE {
            test_store.store(
                "a",
                json!({"content": format!("Crate {number}"), "type": "episodic"}),
                None,
            );
        }
        assert_eq!(sick(&test_store), Vec::<String>::new());
        for seq in [1, super::AT_ONCE, super::AT_ONCE + 1] {
            test_store.writer.shared.index_mut().set_codes(seq, Some(&[]));
            assert_eq!(
                sick(&test_store),
                [format!("the codes of memory {seq} are not as the database has them")]
            );
            test_store.writer.shared.index_mut().set_codes(seq, None);
        }
    }

    #[test]
    fn an_index_that_missed_a_change_is_found() {
        let mut test_store = TestStore::new();
        test_store.store("a", json!({"content": "One", "type": "semantic"}), Some(&axis(1)));
        test_store.writer.shared.index_mut().remove(1);
        assert!(sick(&test_store)[0].contains("memory 1 is not as the database has it"));
    }
}
