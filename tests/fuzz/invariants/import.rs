//! Invariants of an import, for any bytes: a refused file changes nothing, and an imported one adds
//! what the reply says.

use super::store::{SmallStore, call};
use loci_proto::requests::import::ImportRequest;
use std::cell::RefCell;
use std::io::Cursor;

/// A store with more memories is replaced by a new one.
const MAX_MEMORIES: usize = 200;

thread_local! {
    static STORE: RefCell<SmallStore> = RefCell::new(SmallStore::with(3));
}

/// Imports the bytes after the first, whose lowest bit says whether bad lines are skipped.
///
/// # Panics
/// When an invariant is violated.
pub fn check(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    STORE.with_borrow_mut(|store| {
        let before = store.memories();
        let request = ImportRequest {
            skip_bad: first & 1 == 1,
            own_texts: first & 2 == 2,
            ..ImportRequest::default()
        };
        match store.writer.import(&call(), &request, &mut Cursor::new(rest)) {
            Ok(reply) => assert_eq!(store.memories(), before + reply.added, "{reply:?}"),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert_eq!(store.memories(), before, "a refused file changes nothing: {error}");
                assert!(store.writer.failure().is_none(), "the store is still trusted: {error}");
            }
        }
        if store.memories() > MAX_MEMORIES {
            *store = SmallStore::with(3);
        }
    });
}
