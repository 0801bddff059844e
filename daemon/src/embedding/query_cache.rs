//! LRU cache of query encodings, in memory: agents repeat queries, and a forward pass takes longer than the rest of the search. An entry
//! is valid for the model that encoded it.
//!
//! Not here: documents, whose encodings are in the database.

use loci_engine::model::encoding::QueryEncoding;
use lru::LruCache;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// Maximum number of cached queries, about 2 KB each.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(256).expect("the capacity is not zero");

/// The encodings of the last queries, by their exact text.
pub(crate) struct QueryCache(Mutex<LruCache<String, QueryEncoding>>);

impl QueryCache {
    pub fn new() -> Self {
        Self(Mutex::new(LruCache::new(CAPACITY)))
    }

    /// Returns the encoding of a query by a model, and marks it as most recently used.
    pub fn get(&self, model: &str, query: &str) -> Option<QueryEncoding> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cache.get(query).filter(|encoding| *encoding.model == *model).cloned()
    }

    /// Adds or replaces an encoding; evicts the least recently used query when the cache is full.
    pub fn put(&self, query: String, encoding: QueryEncoding) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).put(query, encoding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_engine::model::encoding::{DIMENSIONS, Embedding};

    fn encoding(number: usize) -> QueryEncoding {
        let vector = (0..DIMENSIONS).map(|i| if i == number { 1.0 } else { 0.0 }).collect();
        QueryEncoding {
            model: "m".into(),
            vector: Embedding::new(vector).expect("the vector is valid"),
            words: Vec::new(),
            has_sign_codes: true,
        }
    }

    #[test]
    fn a_full_cache_evicts_the_least_recently_used_query() {
        let cache = QueryCache::new();
        for number in 0..CAPACITY.get() {
            cache.put(number.to_string(), encoding(number));
        }
        assert_eq!(cache.get("m", "0"), Some(encoding(0)));
        assert_eq!(cache.get("other", "0"), None, "another model has other vectors");
        cache.put("one more".to_owned(), encoding(300));
        assert_eq!(
            [cache.get("m", "1"), cache.get("m", "0"), cache.get("m", "one more")],
            [None, Some(encoding(0)), Some(encoding(300))]
        );
        cache.put("0".to_owned(), encoding(7));
        assert_eq!(
            (cache.get("m", "0"), cache.0.lock().expect("the lock is not poisoned").len()),
            (Some(encoding(7)), CAPACITY.get())
        );
    }
}
