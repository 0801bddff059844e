//! `eval`: questions with known answers, for measuring the search on the user's own store.
//!
//! There are two kinds. Click feedback: a memory that was read in full after a recall showed its
//! preview is an answer to the query of that recall. Probes: some characteristic words of one
//! sentence of a memory, as a person might remember it. Not here: asking the questions (the
//! daemon's `handlers::eval`), and the metrics (`loci eval`).

use crate::db::click_feedback;
use crate::db::click_feedback::FeedbackRow;
use crate::db::memories;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::index::Index;
use crate::maintain::sentences;
use crate::model::entry::Entry;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::text::features::{content_words, parts};
use loci_proto::group::Group;
use loci_proto::memory::MemoryId;

/// Maximum stored answers; the oldest are deleted.
const MAX_ANSWERS: i64 = 500;
/// Maximum length of a stored question in bytes; longer ones are ignored.
const MAX_QUESTION_BYTES: usize = 1024;
/// Maximum words of a probe.
const PROBE_WORDS: usize = 5;
/// Minimum content words of a sentence for a probe.
const MIN_SENTENCE_WORDS: usize = 3;

/// A memory that was read in full after a recall showed its preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClickFeedback {
    /// The question.
    pub query: String,
    /// The memory's sequence number.
    pub seq: i64,
    /// The project that asked.
    pub group: Group,
}

/// A question and the memory that should be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalQuestion {
    /// The question.
    pub query: String,
    /// The memory.
    pub id: MemoryId,
    /// The project that asks.
    pub group: Group,
}

/// Questions with known answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EvalSet {
    /// From click feedback.
    pub known: Vec<EvalQuestion>,
    /// From memories.
    pub probes: Vec<EvalQuestion>,
}

impl Writer {
    /// Stores click feedback.
    ///
    /// # Errors
    /// `Database`; they are not stored then.
    pub fn store_click_feedback(&mut self, feedback: &[ClickFeedback]) -> Result<()> {
        self.change(|tx, _, _| {
            for ClickFeedback { query, seq, group } in
                feedback.iter().filter(|answer| answer.query.len() <= MAX_QUESTION_BYTES)
            {
                click_feedback::keep(tx, query, *seq, &group.id)?;
            }
            click_feedback::bound(tx, MAX_ANSWERS)
        })
    }
}

impl Reader {
    /// Returns the questions whose known answers still exist, and at most `probes` probes; the same
    /// `seed` gives the same probes.
    ///
    /// # Errors
    /// `Database`.
    pub fn eval_set(&self, probes: usize, seed: u64, now: Timestamp) -> Result<EvalSet> {
        self.shared.require_ready()?;
        let is_recallable = |memory: &Memory| {
            matches!(memory.status, Status::Active | Status::Compacted)
                && memory.expires_at.is_none_or(|at| at > now)
        };
        let mut set = EvalSet::default();
        for FeedbackRow { query, seq, group } in click_feedback::all(&self.conn)? {
            if let Some(memory) = memories::by_seq(&self.conn, seq)?.filter(is_recallable) {
                set.known.push(EvalQuestion { query, id: memory.id, group });
            }
        }
        for seq in self.shuffled_memories(seed, now) {
            if set.probes.len() == probes {
                break;
            }
            let Some(memory) = memories::by_seq(&self.conn, seq)?.filter(is_recallable) else {
                continue;
            };
            let query = probe(&self.shared.index(), &memory.content);
            if let (Some(query), Some(group)) = (query, &memory.group) {
                let group = click_feedback::group(&self.conn, group)?;
                set.probes.push(EvalQuestion { query, id: memory.id, group });
            }
        }
        Ok(set)
    }

    /// Returns the active memories in an order that depends only on the seed.
    fn shuffled_memories(&self, seed: u64, now: Timestamp) -> Vec<i64> {
        let sort_key = |seq: i64| {
            *blake3::hash([seed.to_le_bytes(), seq.to_le_bytes()].as_flattened()).as_bytes()
        };
        let is_live = |entry: &Entry| {
            entry.status == Status::Active && entry.expires_at.is_none_or(|at| at > now)
        };
        let index = self.shared.index();
        let mut seqs: Vec<i64> = index.entries().filter(is_live).map(|entry| entry.seq).collect();
        seqs.sort_by_cached_key(|seq| sort_key(*seq));
        seqs
    }
}

/// A content word of a sentence.
struct RatedWord<'a> {
    text: &'a str,
    /// Its byte position in the sentence.
    start: usize,
    /// Inverse document frequency.
    rarity: f64,
}

/// The words of a probe, and their mean rarity.
struct Probe {
    rarity: f64,
    query: String,
}

/// Returns the probe of the sentence with the rarest words; `None` if no sentence has enough words.
fn probe(index: &Index, content: &str) -> Option<String> {
    sentences(parts(content).body, usize::MAX)
        .iter()
        .filter_map(|sentence| probe_of_sentence(index, sentence))
        .reduce(|best, next| if next.rarity > best.rarity { next } else { best })
        .map(|best| best.query)
}

/// Returns the rarest words of a sentence in their order, without the single rarest one: a name or
/// a number alone would find any text. `None` if the sentence has too few words.
fn probe_of_sentence(index: &Index, sentence: &str) -> Option<Probe> {
    let rarity = |word: &str| {
        let doc_freq =
            index.words().list(&index.words().terms_of(word)).map_or(0, |list| list.len());
        ((index.len() as f64 + 1.0) / (doc_freq as f64 + 0.5)).ln()
    };
    let mut words: Vec<RatedWord<'_>> = content_words(sentence)
        .into_iter()
        .map(|range| {
            let text = &sentence[range.clone()];
            RatedWord { text, start: range.start, rarity: rarity(text) }
        })
        .collect();
    words.sort_by(|a, b| b.rarity.total_cmp(&a.rarity).then(a.start.cmp(&b.start)));
    words.dedup_by(|a, b| a.text.eq_ignore_ascii_case(b.text));
    let skipped = usize::from(words.len() > MIN_SENTENCE_WORDS);
    let mut chosen: Vec<_> = words.into_iter().skip(skipped).take(PROBE_WORDS).collect();
    let mean_rarity =
        chosen.iter().map(|word| word.rarity).sum::<f64>() / chosen.len().max(1) as f64;
    chosen.sort_by_key(|word| word.start);
    let texts: Vec<&str> = chosen.into_iter().map(|word| word.text).collect();
    (texts.len() >= MIN_SENTENCE_WORDS)
        .then(|| Probe { rarity: mean_rarity, query: texts.join(" ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::dump;
    use crate::tests::fixture::{TestStore, named};
    use serde_json::json;

    fn test_store() -> TestStore {
        let mut test_store = TestStore::new();
        for number in 0..12 {
            let text = format!(
                "Olek: the boiler of house {number} was mended by Marta{number} before the winter. It hums."
            );
            test_store.store("a", json!({"content": text, "type": "episodic"}), None);
        }
        test_store.store("a", json!({"content": "Yes.", "type": "episodic"}), None);
        test_store
    }

    fn feedback(query: &str, seq: i64) -> ClickFeedback {
        ClickFeedback { query: query.to_owned(), seq, group: named("a") }
    }

    #[test]
    fn probes_are_the_same_for_the_same_seed_and_never_the_whole_text() {
        let test_store = test_store();
        let probes = |seed| {
            test_store.reader.eval_set(5, seed, test_store.now).expect("the set is returned").probes
        };
        assert_eq!(probes(1), probes(1));
        assert_ne!(probes(1), probes(2));
        let all =
            test_store.reader.eval_set(99, 0, test_store.now).expect("the set is returned").probes;
        assert_eq!(all.len(), 12, "a text of one word gives no probe");
        for probe in all {
            let words: Vec<&str> = probe.query.split(' ').collect();
            assert!(
                (MIN_SENTENCE_WORDS..=PROBE_WORDS).contains(&words.len())
                    && !words.contains(&"Olek"),
                "{probe:?}"
            );
        }
    }

    #[test]
    fn click_feedback_is_stored_once_and_ignored_while_its_memory_is_forgotten() {
        let mut test_store = test_store();
        test_store
            .writer
            .store_click_feedback(&[
                feedback("who mends", 1),
                feedback("who mends", 1),
                feedback("who mends", 2),
            ])
            .expect("the feedback is stored");
        test_store
            .writer
            .store_click_feedback(&[
                feedback(&"x".repeat(MAX_QUESTION_BYTES + 1), 3),
                feedback("gone", 99),
            ])
            .expect("the feedback is ignored");
        let known = |test_store: &TestStore| {
            test_store.reader.eval_set(0, 0, test_store.now).expect("the set is returned").known
        };
        assert_eq!(known(&test_store).len(), 2);
        let id = known(&test_store)[0].id.clone();
        test_store.forget("a", json!({"memory_id": id})).expect("the memory is forgotten");
        assert_eq!(known(&test_store).len(), 1, "a forgotten memory is not an answer");
        test_store.undo_last().expect("the forget is undone");
        assert_eq!(known(&test_store).len(), 2);
    }

    #[test]
    fn the_oldest_click_feedback_is_deleted() {
        let mut test_store = test_store();
        let many: Vec<ClickFeedback> = (0..MAX_ANSWERS + 20)
            .map(|number| feedback(&format!("question {number}"), 1))
            .collect();
        test_store.writer.store_click_feedback(&many).expect("the feedback is stored");
        let known =
            test_store.reader.eval_set(0, 0, test_store.now).expect("the set is returned").known;
        assert_eq!((known.len(), known[0].query.as_str()), (500, "question 519"));
    }

    #[test]
    fn a_hard_delete_removes_every_question_that_led_to_the_memory() {
        let mut test_store = test_store();
        let path = test_store.folder.path().join("memory.db");
        test_store
            .writer
            .store_click_feedback(&[
                feedback("the secret boiler", 1),
                feedback("the secret boiler", 2),
                feedback("another", 2),
            ])
            .expect("the feedback is stored");
        assert!(dump::file_contains(&path, "the secret boiler"));
        let id = test_store
            .reader
            .eval_set(0, 0, test_store.now)
            .expect("the set is returned")
            .known
            .pop()
            .expect("there is a known answer")
            .id;
        test_store
            .forget("a", json!({"memory_id": id, "hard_delete": true}))
            .expect("the memory is deleted");
        let remaining =
            test_store.reader.eval_set(0, 0, test_store.now).expect("the set is returned").known;
        assert_eq!(
            remaining.iter().map(|question| question.query.as_str()).collect::<Vec<_>>(),
            ["another"]
        );
        assert!(!dump::file_contains(&path, "the secret boiler"));
    }
}
