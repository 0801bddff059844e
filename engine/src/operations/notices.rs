//! Lasting notices to the user: added, listed and dismissed.
//!
//! Not here: who shows them (the daemon's `storage_health`).

use crate::db::notices;
pub use crate::db::notices::Notice;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::time::Timestamp;

impl Reader {
    /// Returns the notices, oldest first.
    ///
    /// # Errors
    /// `Database`.
    pub fn notices(&self) -> Result<Vec<Notice>> {
        notices::all(&self.conn)
    }
}

impl Writer {
    /// Adds a notice that is shown until it is dismissed. A text that is there already is not added
    /// again.
    ///
    /// # Errors
    /// `Database`.
    pub fn add_notice(&self, text: &str, now: Timestamp) -> Result<()> {
        notices::add(&self.conn, text, now)
    }

    /// Removes all notices; returns how many there were.
    ///
    /// # Errors
    /// `Database`.
    pub fn dismiss_notices(&self) -> Result<usize> {
        notices::dismiss(&self.conn)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::time::Timestamp;
    use crate::tests::fixture::TestStore;

    #[test]
    fn a_notice_stays_until_it_is_dismissed_and_is_added_once() {
        let test_store = TestStore::new();
        let texts = || {
            let notices = test_store.reader.notices().expect("the notices are read");
            notices.into_iter().map(|notice| (notice.text, notice.at.0)).collect::<Vec<_>>()
        };
        for (text, at) in [("18 changes are missing", 7), ("Restored", 8), ("Restored", 9)] {
            test_store.writer.add_notice(text, Timestamp(at)).expect("the notice is added");
        }
        let expected = [("18 changes are missing".to_owned(), 7), ("Restored".to_owned(), 8)];
        assert_eq!(texts(), expected);
        assert_eq!(test_store.writer.dismiss_notices().expect("they are removed"), 2);
        assert_eq!(texts(), []);
        for number in 0..30 {
            let text = format!("Notice {number}");
            test_store.writer.add_notice(&text, Timestamp(number)).expect("the notice is added");
        }
        assert_eq!((texts().len(), texts()[0].0.as_str()), (20, "Notice 10"));
    }
}
