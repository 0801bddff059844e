//! `doctor`: whether the store is whole, and the warm index says what the store says.

use crate::db::{codes, examine, graph, memories, transfer, vectors};
use crate::error::Result;
use crate::index::{Book, Graph, Index, Record};
use crate::{Reader, Writer};
use loci_proto::doctor::Finding;
use rusqlite::Connection;
use std::collections::HashMap;

/// How often the index may be caught a moment behind the store before that counts as a fault.
const TRIES: usize = 5;
const REPORT: &str = "Stop the daemon (loci ctl stop), keep a copy of the database, and restore a backup or import an export";

impl Reader {
    /// Looks at pages, references and the warm index, for which every text is read anew: stores wait meanwhile.
    ///
    /// # Errors
    /// `Database`; `busy` while the index is being loaded.
    pub fn examine(&self) -> Result<Vec<Finding>> {
        self.shared.stands()?;
        let path = self.shared.path.display();
        let (schema, size) = (examine::schema(&self.conn)?, examine::size(&self.conn)? / 1024);
        let mut findings = vec![Finding::ok("database", format!("{path} has schema {schema} and {size} KiB"))];
        findings.push(match examine::pages(&self.conn)?.as_str() {
            "ok" => Finding::ok("database", "every page is whole"),
            fault => Finding::fail("database", format!("a page is damaged: {fault}"), REPORT),
        });
        findings.push(match examine::dangling(&self.conn)? {
            0 => Finding::ok("database", "every reference leads somewhere"),
            found => Finding::fail("database", format!("{found} rows refer to rows that are not there"), REPORT),
        });
        findings.push(self.compare()?);
        Ok(findings)
    }

    fn compare(&self) -> Result<Finding> {
        let mut said = self.difference()?;
        for _ in 1..TRIES {
            if said.is_ok() {
                break;
            }
            said = self.difference()?;
        }
        let next = "Run loci ctl restart: the index is built anew from the database";
        if said.is_err() {
            self.shared.suspect();
        }
        Ok(said.map_or_else(|found| Finding::fail("index", found, next), |found| Finding::ok("index", found)))
    }

    /// What the index knows as the store has it, or the first thing that differs. Digests tell the two states of one moment apart.
    fn difference(&self) -> Result<Result<String, String>> {
        let snapshot = transfer::snapshot(&self.conn)?;
        let (index, model) = (self.shared.index(), self.shared.settings().model.clone());
        let mut look = Look { index: &index, book: index.book(), fault: None };
        let entries = look.at_texts(&snapshot)?;
        let (vectors, digest) = look.at_vectors(&snapshot, &model)?;
        look.at_codes(&snapshot, &model)?;
        let mut links = Graph::default();
        graph::all(&snapshot)?.into_iter().for_each(|link| links.set(link));
        look.sees(links.sorted() == index.graph().sorted(), || "what links memories is not as the database has it".to_owned());
        let (memories, held) = index.held();
        look.sees((memories, held) == (entries, vectors), || {
            format!("it holds {memories} memories and {held} vectors, the database {entries} and {vectors}")
        });
        let origin = self.shared.loading.origin().unwrap_or_default();
        let sound = || format!("{entries} memories and {vectors} vectors, as the database has them ({digest}); {origin}");
        Ok(look.fault.map_or_else(|| Ok(sound()), Err))
    }
}

/// The index beside the database: the first thing that differs is kept.
struct Look<'a> {
    index: &'a Index,
    book: Book<'a>,
    fault: Option<String>,
}

impl Look<'_> {
    fn sees(&mut self, same: bool, otherwise: impl FnOnce() -> String) {
        if !same && self.fault.is_none() {
            self.fault = Some(otherwise());
        }
    }

    /// What is known of each memory, and what is read in its text; how many memories there are.
    fn at_texts(&mut self, conn: &Connection) -> Result<usize> {
        let mut entries = 0;
        memories::entries(conn, |entry| {
            entries += 1;
            let (seq, mut anew) = (entry.seq, Index::default());
            anew.put(entry);
            let known = self.index.slot(seq).map(|slot| self.book.record(slot));
            let read = anew.records().next();
            let entry = |record: &Option<Record<'_>>| record.as_ref().map(|record| record.entry.clone());
            self.sees(entry(&known) == entry(&read), || format!("memory {seq} is not as the database has it"));
            self.sees(known.map(words) == read.map(words), || format!("the words of memory {seq} are not as the database has them"));
            Ok(())
        })?;
        Ok(entries)
    }

    /// How many vectors there are, and a digest of them.
    fn at_vectors(&mut self, conn: &Connection, model: &str) -> Result<(usize, String)> {
        let (mut pieces, mut digest) = (HashMap::<i64, usize>::new(), blake3::Hasher::new());
        vectors::load(conn, model, |seq, vector| {
            let piece = pieces.entry(seq).or_default();
            let known = self.index.slot(seq).and_then(|slot| self.index.vector(slot, *piece));
            self.sees(known.is_some_and(|row| row.is_of(vector)), || {
                format!("vector {piece} of memory {seq} is not as the database has it")
            });
            for number in vector {
                digest.update(&number.to_le_bytes());
            }
            *piece += 1;
            Ok(())
        })?;
        Ok((pieces.values().sum(), digest.finalize().to_hex()[..12].to_owned()))
    }

    fn at_codes(&mut self, conn: &Connection, model: &str) -> Result<()> {
        let mut read = 0;
        codes::load(conn, model, |seq, codes| {
            read += 1;
            let known = self.index.slot(seq).and_then(|slot| self.index.codes(slot));
            self.sees(known == Some(&codes), || format!("the codes of memory {seq} are not as the database has them"));
            Ok(())
        })?;
        let held = (0..self.index.len()).filter(|slot| self.index.codes(*slot).is_some()).count();
        self.sees(held == read, || format!("it holds the codes of {held} memories, the database of {read}"));
        Ok(())
    }
}

/// What was read in a text; the numbers of speakers and the order of terms are the index's own.
fn words(record: Record<'_>) -> impl PartialEq {
    let Record { said, speaker, mut terms, length, .. } = record;
    terms.sort_unstable();
    let terms: Vec<(String, u16)> = terms.into_iter().map(|(term, times)| (term.to_owned(), times)).collect();
    (said.kind, said.day, said.print, speaker.to_owned(), terms, length)
}

impl Writer {
    /// Looks whether the keyword index says what the texts say.
    #[must_use]
    pub fn examine_words(&self) -> Finding {
        match examine::words(&self.conn) {
            Ok(()) => Finding::ok("database", "the keyword index says what the texts say"),
            Err(error) => Finding::fail("database", format!("the keyword index differs from the texts: {error}"), REPORT),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::db::graph::{Kind, Link};
    use crate::embedding::Coded;
    use crate::testing::{House, axis, code, coded};
    use loci_proto::doctor::Verdict;
    use serde_json::json;

    fn sick(house: &House) -> Vec<String> {
        let mut findings = house.reader.examine().expect("looks");
        findings.push(house.writer.examine_words());
        findings.into_iter().filter(|finding| finding.verdict != Verdict::Ok).map(|finding| finding.found).collect()
    }

    #[test]
    fn a_sound_store_has_nothing_and_each_fault_is_named() {
        let mut house = House::new();
        let first = house.store("a", json!({"content": "One", "type": "semantic"}), Some(&axis(1))).id;
        house.store("a", json!({"content": "Two", "type": "semantic", "supersedes": first}), Some(&axis(2)));
        house.forget("a", json!({"memory_id": first, "hard_delete": true})).expect("is removed");
        assert_eq!(sick(&house), Vec::<String>::new());
        house.writer.shared.index_mut().set_vectors(2, &vec![axis(3)].into());
        assert_eq!(sick(&house), ["vector 0 of memory 2 is not as the database has it"]);
        house.writer.shared.index_mut().set_vectors(2, &vec![axis(2)].into());
        assert_eq!(sick(&house), Vec::<String>::new());
        crate::db::examine::spoil_words(&house.writer.conn).expect("is spoilt");
        assert!(sick(&house)[0].contains("keyword index differs"), "{:?}", sick(&house));
    }

    #[test]
    fn whatever_the_index_holds_is_compared() {
        let text = |house: &House| coded("The kettle is hot", house.reader.shared.index().direction(1).unwrap_or_else(|| axis(1)));
        let house = || {
            let mut house = House::new();
            house.store_coded("a", json!({"content": "The kettle is hot", "type": "semantic"}), &coded("The kettle is hot", axis(1)));
            house.store("a", json!({"content": "Kettle", "type": "entity", "metadata": {"name": "Kettle"}}), None);
            assert_eq!(sick(&house), Vec::<String>::new());
            house
        };
        let sound = house();
        let of_words = Coded { words: Some(vec![code("other")]), ..text(&sound) };
        sound.writer.shared.index_mut().set_vectors(1, &of_words);
        assert_eq!(sick(&sound), ["the codes of memory 1 are not as the database has them"]);
        let sound = house();
        sound.writer.shared.index_mut().set_codes(2, Some(&[]));
        assert_eq!(sick(&sound), ["it holds the codes of 2 memories, the database of 1"]);
        let sound = house();
        sound.writer.shared.index_mut().link_up(Link { entity: 2, other: 1, kind: Kind::Mention, stands: false });
        assert_eq!(sick(&sound), ["what links memories is not as the database has it"]);
        let sound = house();
        let entry = crate::db::memories::entry(&sound.writer.conn, 1).expect("reads").expect("is there");
        sound.writer.shared.index_mut().put(crate::index::Entry { content: "The pot is hot".to_owned(), ..entry });
        assert_eq!(sick(&sound), ["the words of memory 1 are not as the database has them"]);
    }

    #[test]
    fn an_index_that_missed_a_change_is_found() {
        let mut house = House::new();
        house.store("a", json!({"content": "One", "type": "semantic"}), Some(&axis(1)));
        house.writer.shared.index_mut().remove(1);
        assert!(sick(&house)[0].contains("memory 1 is not as the database has it"));
    }
}
