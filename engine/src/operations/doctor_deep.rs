//! `doctor --deep`: reads every row of the store again and says how many are whole.
//!
//! Not here: the quicker checks (`doctor`), the backups (the daemon).

use crate::db::reread::{self, Reread};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::operations::full_check::RESTORE_HINT;
use loci_proto::requests::doctor::Finding;

impl Reader {
    /// Reads every memory, vector, sign code and relation through a connection of its own, while
    /// calls go on.
    ///
    /// # Errors
    /// `Database`.
    pub fn examine_rows(&self) -> Result<Vec<Finding>> {
        Ok(reread::all(&self.fresh_connection()?)?.into_iter().map(finding).collect())
    }
}

fn finding(reread: Reread) -> Finding {
    let Reread { kind, verified, total, fault } = reread;
    let text = format!("verified {} of {} {kind}", with_commas(verified), with_commas(total));
    match fault {
        None => Finding::ok("database", text),
        Some(fault) => Finding::fail("database", format!("{text}; {fault}"), RESTORE_HINT),
    }
}

/// Formats a number as `12,408`.
fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let (mut text, length) = (String::new(), digits.len());
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (length - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::{TestStore, axis};
    use serde_json::json;

    #[test]
    fn every_row_is_counted_and_a_changed_text_is_found() {
        let mut test_store = TestStore::new();
        for n in 0..3 {
            let text = format!("Shelf {n} is full");
            test_store.store("shop", json!({"content": text, "type": "semantic"}), Some(&axis(n)));
        }
        let found = |test_store: &TestStore| -> Vec<String> {
            let findings = test_store.reader.examine_rows().expect("the rows are read");
            findings.into_iter().map(|finding| finding.found).collect()
        };
        assert_eq!(
            found(&test_store),
            [
                "verified 3 of 3 memories",
                "verified 3 of 3 vectors",
                "verified 0 of 0 sign codes",
                "verified 0 of 0 relations"
            ]
        );
        crate::db::dump::change_text(&test_store.writer.conn, 2, "Shelf 1 is empty");
        let first = found(&test_store).remove(0);
        assert!(first.starts_with("verified 2 of 3 memories; row 2 of memories"), "{first}");
        assert_eq!(with_commas(1_234_567), "1,234,567");
    }
}
