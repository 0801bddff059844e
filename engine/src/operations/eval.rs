//! `eval`: questions with known answers, with which a store can measure its own search.
//!
//! Two kinds. A memory that was read in full after its preview for a question is an answer that an
//! agent or a person chose. And each memory gives a probe: some characteristic words of one of its
//! sentences, as somebody might half remember it. Not here: running the questions (the daemon does,
//! like an agent), and the metrics (`loci eval`).

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

/// Stored answers; older ones are deleted.
const MAX_ANSWERS: i64 = 500;
/// Longer questions in bytes are not stored.
const MAX_QUESTION_BYTES: usize = 1024;
/// Words of a probe.
const PROBE_WORDS: usize = 5;
/// Minimum content words of a sentence for a probe.
const MIN_SENTENCE_WORDS: usize = 3;

/// An answer that was chosen by reading it in full.
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
    /// Stores chosen answers.
    ///
    /// # Errors
    /// `Database`; they are not stored then.
    pub fn store_click_feedback(&mut self, chosen: &[ClickFeedback]) -> Result<()> {
        self.change(|tx, _, _| {
            for ClickFeedback { query, seq, group } in
                chosen.iter().filter(|chosen| chosen.query.len() <= MAX_QUESTION_BYTES)
            {
                click_feedback::keep(tx, query, *seq, &group.id)?;
            }
            click_feedback::bound(tx, MAX_ANSWERS)
        })
    }
}

impl Reader {
    /// Returns the questions whose known answers still exist, and `probes` probes made from
    /// memories; the same `seed` gives the same ones.
    ///
    /// # Errors
    /// `Database`.
    pub fn eval_set(&self, probes: usize, seed: u64, now: Timestamp) -> Result<EvalSet> {
        self.shared.require_ready()?;
        let there = |memory: &Memory| {
            matches!(memory.status, Status::Active | Status::Compacted)
                && memory.expires_at.is_none_or(|at| at > now)
        };
        let mut exam = EvalSet::default();
        for FeedbackRow { query, seq, group } in click_feedback::all(&self.conn)? {
            if let Some(memory) = memories::by_seq(&self.conn, seq)?.filter(there) {
                exam.known.push(EvalQuestion { query, id: memory.id, group });
            }
        }
        for seq in self.draw_memories(seed, now) {
            if exam.probes.len() == probes {
                break;
            }
            let Some(memory) = memories::by_seq(&self.conn, seq)?.filter(there) else { continue };
            let query = probe(&self.shared.index(), &memory.content);
            if let (Some(query), Some(group)) = (query, &memory.group) {
                let group = click_feedback::group(&self.conn, group)?;
                exam.probes.push(EvalQuestion { query, id: memory.id, group });
            }
        }
        Ok(exam)
    }

    /// Every memory that can give a probe, in an order that depends only on the seed.
    fn draw_memories(&self, seed: u64, now: Timestamp) -> Vec<i64> {
        let place = |seq: i64| {
            *blake3::hash([seed.to_le_bytes(), seq.to_le_bytes()].as_flattened()).as_bytes()
        };
        let there = |entry: &Entry| {
            entry.status == Status::Active && entry.expires_at.is_none_or(|at| at > now)
        };
        let index = self.shared.index();
        let mut seqs: Vec<i64> = index.entries().filter(there).map(|entry| entry.seq).collect();
        seqs.sort_by_cached_key(|seq| place(*seq));
        seqs
    }
}

/// Returns characteristic words of the most characteristic sentence in order, without the single
/// most characteristic one: a name or a number alone would find any text. `None` if no sentence has
/// enough words.
fn probe(index: &Index, content: &str) -> Option<String> {
    let rarity = |word: &str| {
        let having = index.words().list(&index.words().terms_of(word)).map_or(0, |list| list.len());
        ((index.len() as f64 + 1.0) / (having as f64 + 0.5)).ln()
    };
    let telling = |sentence: &String| -> Option<(f64, String)> {
        let mut words: Vec<(f64, usize, &str)> = content_words(sentence)
            .into_iter()
            .map(|at| (rarity(&sentence[at.clone()]), at.start, &sentence[at]))
            .collect();
        words.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        words.dedup_by(|a, b| a.2.eq_ignore_ascii_case(b.2));
        let left_out = usize::from(words.len() > MIN_SENTENCE_WORDS);
        let mut chosen: Vec<_> = words.into_iter().skip(left_out).take(PROBE_WORDS).collect();
        let weight =
            chosen.iter().map(|(rarity, ..)| rarity).sum::<f64>() / chosen.len().max(1) as f64;
        chosen.sort_by_key(|(_, at, _)| *at);
        let words: Vec<&str> = chosen.into_iter().map(|(.., word)| word).collect();
        (words.len() >= MIN_SENTENCE_WORDS).then(|| (weight, words.join(" ")))
    };
    let all = sentences(parts(content).body, usize::MAX);
    all.iter()
        .filter_map(telling)
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, words)| words)
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

    fn chosen(query: &str, seq: i64) -> ClickFeedback {
        ClickFeedback { query: query.to_owned(), seq, group: named("a") }
    }

    #[test]
    fn probes_are_the_same_for_the_same_seed_and_never_the_whole_text() {
        let test_store = test_store();
        let exam =
            |seed| test_store.reader.eval_set(5, seed, test_store.now).expect("is made").probes;
        assert_eq!(exam(1), exam(1));
        assert_ne!(exam(1), exam(2));
        let all = test_store.reader.eval_set(99, 0, test_store.now).expect("is made").probes;
        assert_eq!(all.len(), 12, "one word makes no probe");
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
    fn a_chosen_answer_is_stored_once_until_its_memory_is_deleted() {
        let mut test_store = test_store();
        test_store
            .writer
            .store_click_feedback(&[
                chosen("who mends", 1),
                chosen("who mends", 1),
                chosen("who mends", 2),
            ])
            .expect("are kept");
        test_store
            .writer
            .store_click_feedback(&[
                chosen(&"x".repeat(MAX_QUESTION_BYTES + 1), 3),
                chosen("gone", 99),
            ])
            .expect("are left out");
        let known = |test_store: &TestStore| {
            test_store.reader.eval_set(0, 0, test_store.now).expect("is made").known
        };
        assert_eq!(known(&test_store).len(), 2);
        let id = known(&test_store)[0].id.clone();
        test_store.forget("a", json!({"memory_id": id})).expect("is forgotten");
        assert_eq!(known(&test_store).len(), 1, "what is forgotten is no answer");
        test_store.undo_last().expect("is back");
        assert_eq!(known(&test_store).len(), 2);
    }

    #[test]
    fn the_oldest_answers_are_deleted() {
        let mut test_store = test_store();
        let many: Vec<ClickFeedback> =
            (0..MAX_ANSWERS + 20).map(|number| chosen(&format!("question {number}"), 1)).collect();
        test_store.writer.store_click_feedback(&many).expect("are kept");
        let known = test_store.reader.eval_set(0, 0, test_store.now).expect("is made").known;
        assert_eq!((known.len(), known[0].query.as_str()), (500, "question 519"));
    }

    #[test]
    fn a_hard_delete_removes_every_question_that_led_to_the_memory() {
        let mut test_store = test_store();
        let path = test_store.folder.path().join("memory.db");
        test_store
            .writer
            .store_click_feedback(&[
                chosen("the secret boiler", 1),
                chosen("the secret boiler", 2),
                chosen("another", 2),
            ])
            .expect("kept");
        assert!(dump::holds(&path, "the secret boiler"));
        let id = test_store
            .reader
            .eval_set(0, 0, test_store.now)
            .expect("is made")
            .known
            .pop()
            .expect("is known")
            .id;
        test_store.forget("a", json!({"memory_id": id, "hard_delete": true})).expect("is removed");
        let left = test_store.reader.eval_set(0, 0, test_store.now).expect("is made").known;
        assert_eq!(
            left.iter().map(|asking| asking.query.as_str()).collect::<Vec<_>>(),
            ["another"]
        );
        assert!(!dump::holds(&path, "the secret boiler"));
    }
}
