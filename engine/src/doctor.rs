//! `doctor`: whether the store is whole, and the warm index says what the store says.

use crate::db::{examine, memories, transfer, vectors};
use crate::error::Result;
use crate::{Reader, Writer};
use loci_proto::doctor::Finding;
use std::collections::HashMap;

/// How often the index may be caught a moment behind the store before that counts as a fault.
const TRIES: usize = 5;
const REPORT: &str = "Stop the daemon (loci ctl stop), keep a copy of the database, and restore a backup or import an export";

impl Reader {
    /// Looks at pages, references and the warm index. Takes a second for some 150 MB.
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
        Ok(said.map_or_else(|found| Finding::fail("index", found, next), |found| Finding::ok("index", found)))
    }

    /// What the index knows as the store has it, or the first thing that differs. Digests tell the two states of one moment apart.
    fn difference(&self) -> Result<Result<String, String>> {
        let snapshot = transfer::snapshot(&self.conn)?;
        let index = self.shared.index();
        let (mut entries, mut fault) = (0, None);
        memories::entries(&snapshot, |mut entry| {
            entries += 1;
            // The index has read the text and keeps none.
            entry.content.clear();
            let known = index.slot(entry.seq).map(|slot| index.entry(slot));
            if known.as_ref() != Some(&entry) && fault.is_none() {
                fault = Some(format!("memory {} is not as the database has it", entry.seq));
            }
            Ok(())
        })?;
        let mut pieces: HashMap<i64, usize> = HashMap::new();
        let mut digest = blake3::Hasher::new();
        vectors::load(&snapshot, &self.shared.settings().model, |seq, vector| {
            let piece = pieces.entry(seq).or_default();
            let known = index.slot(seq).and_then(|slot| index.vector(slot, *piece));
            if known != Some(vector) && fault.is_none() {
                fault = Some(format!("vector {piece} of memory {seq} is not as the database has it"));
            }
            for number in vector {
                digest.update(&number.to_le_bytes());
            }
            *piece += 1;
            Ok(())
        })?;
        let (held, vectors) = (index.held(), pieces.values().sum::<usize>());
        if held != (entries, vectors) && fault.is_none() {
            fault = Some(format!("it holds {} memories and {} vectors, the database {entries} and {vectors}", held.0, held.1));
        }
        let digest = &digest.finalize().to_hex()[..12];
        Ok(fault.map_or_else(|| Ok(format!("{entries} memories and {vectors} vectors, as the database has them ({digest})")), Err))
    }
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
    use crate::testing::{House, axis};
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
    fn an_index_that_missed_a_change_is_found() {
        let mut house = House::new();
        house.store("a", json!({"content": "One", "type": "semantic"}), Some(&axis(1)));
        house.writer.shared.index_mut().remove(1);
        assert!(sick(&house)[0].contains("memory 1 is not as the database has it"));
    }
}
