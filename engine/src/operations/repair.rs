//! Repairs that `loci doctor --fix` makes: everything that is derived from the memories is built
//! again, and pages that remain different from their checksums are kept as they are.
//!
//! Vectors that cannot be used are removed without being asked, so that the daemon computes them
//! again. Not here: finding the damage (`full_check`), repairing a memory (`edit`).

use crate::db::damage::DamagedRow;
use crate::db::schema_check::{self, Derived};
use crate::db::{integrity, memories, vectors};
use crate::error::{Error, Result};
use crate::handles::writer::Writer;
use crate::model::encoding::DocumentEncoding;
use crate::model::time::ClockReading;
use crate::operations::full_check::compare_pages;
use loci_proto::requests::doctor::Finding;
use std::collections::BTreeSet;

/// The part of the findings.
const PART: &str = "repair";

impl Writer {
    /// Builds again what is derived from the memories, and keeps pages as they are; returns what was
    /// done. Indexes are left alone while a memory's id differs from them: it is not known which is
    /// right.
    ///
    /// # Errors
    /// `Database`, `File`.
    pub fn repair(&mut self, reading: ClockReading) -> Result<Vec<Finding>> {
        self.require_trusted()?;
        let mut done = Vec::new();
        if integrity::words(&self.conn).is_err() {
            let keywords = BTreeSet::from([Derived::Keywords]);
            schema_check::rebuild(&self.conn, integrity::schema(&self.conn)?, &keywords)?;
            done.push(Finding::ok(PART, "the keyword index was built again from the memories"));
        }
        let structure = integrity::structure(&self.shared.reader_connection()?)?;
        if !structure.indexes.is_empty() {
            done.push(self.rebuild_indexes()?);
        }
        done.extend(match self.drop_damaged_vectors()? {
            0 => None,
            count => {
                let found = format!("the vectors of {count} memories are computed again");
                Some(Finding::ok(PART, found))
            }
        });
        // A page that is written again gets a new checksum.
        self.checkpoint(reading)?;
        done.extend(self.keep_pages()?);
        Ok(done)
    }

    fn rebuild_indexes(&self) -> Result<Finding> {
        let other_ids = integrity::differing_ids(&self.conn)?;
        if let Some((seq, id)) = other_ids.first() {
            let found = format!(
                "the indexes were left as they are: memory {id} (row {seq}) has another id in its row"
            );
            let next_step = "Restore a backup or import an export";
            return Ok(Finding::fail(PART, found, next_step));
        }
        integrity::rebuild_indexes(&self.conn)?;
        Ok(Finding::ok(PART, "the indexes were built again from their tables"))
    }

    /// Gives the pages that differ from their checksums new checksums.
    fn keep_pages(&mut self) -> Result<Option<Finding>> {
        let found = compare_pages(&self.shared)?.map(|found| found.differing).unwrap_or_default();
        if found.is_empty() {
            return Ok(None);
        }
        let count = found.len();
        self.files.sum_again(&found.into_iter().collect())?;
        let pages = if count == 1 { "1 page is" } else { &format!("{count} pages are") };
        Ok(Some(Finding::ok(PART, format!("{pages} kept as found, with a new checksum"))))
    }

    /// Removes the vectors of memories of which one cannot be used; returns how many memories. The
    /// daemon then computes them again.
    ///
    /// # Errors
    /// `Database`.
    pub fn drop_damaged_vectors(&mut self) -> Result<usize> {
        let all = self.shared.damaged.all();
        let is_vector = |row: &DamagedRow| row.place == DamagedRow::VECTOR;
        let seqs: Vec<i64> = all.iter().filter(|row| is_vector(row)).map(|row| row.row).collect();
        if seqs.is_empty() {
            return Ok(0);
        }
        self.change(|conn, _, touched| {
            for seq in &seqs {
                if memories::has(conn, *seq)? {
                    vectors::delete(conn, *seq)?;
                    touched.vectors.push((*seq, DocumentEncoding::default()));
                }
            }
            Ok::<_, Error>(())
        })?;
        self.shared.damaged.remove(is_vector);
        self.record_damaged_rows()?;
        Ok(seqs.len())
    }
}
