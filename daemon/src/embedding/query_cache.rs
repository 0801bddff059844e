//! The last questions and what the model read in them: agents ask the same thing again, and a run takes longer than the whole search.
//!
//! In memory alone, gone with the daemon. Not here: documents, which are stored and never asked for twice.

use loci_engine::model::encoding::QueryEncoding;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many questions are remembered, some 2 KB each.
const MOST: usize = 256;

/// Questions, the one asked last first.
#[derive(Default)]
pub(crate) struct Remembered(Mutex<VecDeque<(String, QueryEncoding)>>);

impl Remembered {
    /// What the model read in a question that was asked before.
    pub(crate) fn get(&self, text: &str) -> Option<QueryEncoding> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|(question, _)| question == text)?;
        let found = known.remove(at)?;
        let asked = found.1.clone();
        known.push_front(found);
        Some(asked)
    }

    /// Remembers a question in the place of the one that was asked least lately.
    pub(crate) fn put(&self, text: String, asked: QueryEncoding) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(question, _)| *question != text);
        known.truncate(MOST - 1);
        known.push_front((text, asked));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_engine::model::encoding::{DIMENSIONS, Embedding};

    fn asked(number: usize) -> QueryEncoding {
        let vector = (0..DIMENSIONS).map(|i| if i == number { 1.0 } else { 0.0 }).collect();
        QueryEncoding {
            vector: Embedding::new(vector).expect("has a direction"),
            words: Vec::new(),
        }
    }

    #[test]
    fn the_question_that_was_asked_least_lately_is_forgotten_first() {
        let known = Remembered::default();
        for number in 0..MOST {
            known.put(number.to_string(), asked(number));
        }
        assert_eq!(known.get("0"), Some(asked(0)));
        known.put("one more".to_owned(), asked(300));
        assert_eq!(
            [known.get("1"), known.get("0"), known.get("one more")],
            [None, Some(asked(0)), Some(asked(300))]
        );
        known.put("0".to_owned(), asked(7));
        assert_eq!(
            (known.get("0"), known.0.lock().expect("is whole").len()),
            (Some(asked(7)), MOST)
        );
    }
}
