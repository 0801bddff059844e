//! `eval`: questions with known answers, for measuring the search on the user's own store.
//!
//! There are two kinds. Click feedback: a memory that was read in full after a recall showed its
//! preview is an answer to the query of that recall. Probes: words of a memory without the most
//! distinctive ones. Not here: asking the questions (the
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
use crate::text::features::{Parts, content_words, parts};
use crate::text::tokenize::{self, Grams};
use loci_proto::group::Group;
use loci_proto::memory::MemoryId;

/// Maximum stored answers; the oldest are deleted.
const MAX_ANSWERS: i64 = 500;
/// Maximum length of a stored question in bytes; longer ones are ignored.
const MAX_QUESTION_BYTES: usize = 1024;
/// Maximum words of a probe.
const PROBE_WORDS: usize = 16;
/// Words of its own in the probe of a turn of a conversation.
const TURN_WORDS: usize = 2;
/// Minimum different content words of a sentence for a probe.
const MIN_CONTENT_WORDS: usize = 3;

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
            let before = self.text_before(seq)?;
            let query = probe(&self.shared.index(), &memory.content, before.as_deref());
            if let (Some(query), Some(group)) = (query, &memory.group) {
                let group = click_feedback::group(&self.conn, group)?;
                set.probes.push(EvalQuestion { query, id: memory.id, group });
            }
        }
        Ok(set)
    }

    /// Returns the text of the memory that the same project stored before this one, if it is active.
    fn text_before(&self, seq: i64) -> Result<Option<String>> {
        let before = {
            let index = self.shared.index();
            let group = index.slot(seq).map(|slot| index.group(slot));
            let earlier = 0..index.slot(seq).unwrap_or_default();
            let is_of_group = |slot: &usize| Some(index.group(*slot)) == group;
            let slot = earlier.rev().find(is_of_group).filter(|slot| index.is_active(*slot));
            slot.map(|slot| index.seq(slot))
        };
        let memory = before.map(|seq| memories::by_seq(&self.conn, seq)).transpose()?;
        Ok(memory.flatten().map(|memory| memory.content))
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

/// Returns the probe of a memory; `before` is the text stored before it in its project. `None` if
/// the memory has too few words.
///
/// A turn of a conversation is asked about as people ask: by the speaker, the topic of the turn
/// before, and common words of its own. Any other text gives one sentence without its distinctive
/// words.
fn probe(index: &Index, content: &str, before: Option<&str>) -> Option<String> {
    let turn = parts(content);
    let before = before.map(parts).filter(|before| !before.speaker.is_empty());
    if let Some(before) = before.filter(|_| !turn.speaker.is_empty()) {
        return probe_of_turn(index, &turn, before.body);
    }
    sentences(turn.body, usize::MAX)
        .iter()
        .map(|sentence| (distinct_content_words(sentence).len(), sentence))
        .filter(|(count, _)| *count >= MIN_CONTENT_WORDS)
        .reduce(|most, next| if next.0 > most.0 { next } else { most })
        .map(|(_, sentence)| probe_of_sentence(index, sentence))
}

/// Returns the speaker of a turn, a distinctive word of the turn before, and the two most distinctive
/// words of the commoner half of its own.
fn probe_of_turn(index: &Index, turn: &Parts<'_>, before: &str) -> Option<String> {
    let own = rarest_first(index, turn.body);
    if own.len() < MIN_CONTENT_WORDS {
        return None;
    }
    let chosen: Vec<&String> = own[own.len() / 2..].iter().take(TURN_WORDS).collect();
    // The rarest word alone would find the turn before.
    let topic = rarest_first(index, before).into_iter().nth(1);
    let in_order = distinct_content_words(turn.body);
    let in_order = in_order.into_iter().filter(|word| chosen.contains(&word));
    let words = std::iter::once(turn.speaker.to_owned()).chain(topic).chain(in_order);
    Some(words.collect::<Vec<_>>().join(" "))
}

/// Returns the words of a sentence in their order without the rarest two thirds of its content
/// words: names, numbers and whatever else finds a text by itself. What is left is close to the
/// words that a person uses who does not remember the text.
fn probe_of_sentence(index: &Index, sentence: &str) -> String {
    let rarest_first = rarest_first(index, sentence);
    let dropped = &rarest_first[..rarest_first.len() * 2 / 3];
    let words = tokenize::words(sentence, Grams::Pairs).into_iter().map(|at| &sentence[at]);
    words
        .filter(|word| !dropped.contains(&tokenize::lower(word)))
        .take(PROBE_WORDS)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the different content words of a text in lower case, the rarest in the store first.
fn rarest_first(index: &Index, text: &str) -> Vec<String> {
    let doc_freq = |word: &String| {
        let words = index.words();
        words.list(&words.terms_of(word)).map_or(0, |list| list.len())
    };
    let mut words = distinct_content_words(text);
    words.sort_by_cached_key(doc_freq);
    words
}

/// Returns the content words of a sentence in lower case, each once, in their order.
fn distinct_content_words(sentence: &str) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for word in content_words(sentence) {
        let word = tokenize::lower(&sentence[word]);
        if !distinct.contains(&word) {
            distinct.push(word);
        }
    }
    distinct
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
    fn probes_are_the_same_for_the_same_seed_and_short() {
        let test_store = test_store();
        let probes = |seed| {
            test_store.reader.eval_set(5, seed, test_store.now).expect("the set is returned").probes
        };
        assert_eq!(probes(1), probes(1));
        assert_ne!(probes(1), probes(2));
        let all =
            test_store.reader.eval_set(99, 0, test_store.now).expect("the set is returned").probes;
        assert_eq!(all.len(), 12, "a text of one word gives no probe");
        let turns: Vec<_> = all.iter().filter(|probe| probe.query.starts_with("Olek ")).collect();
        assert_eq!(turns.len(), 11, "the first has no turn before it: {all:?}");
        assert!(turns.iter().all(|probe| probe.query.split(' ').count() == 4), "{turns:?}");
    }

    #[test]
    fn a_probe_keeps_the_order_and_the_function_words_of_its_sentence() {
        let mut test_store = TestStore::new();
        for text in ["The big oven is hot", "A big oven", "The oven of Anna is clean and big"] {
            test_store.store("a", json!({"content": text, "type": "semantic"}), None);
        }
        let index = test_store.reader.shared.index();
        assert_eq!(
            probe(&index, "Yes. In Turin the big blue oven of Zoe is hot!", None).as_deref(),
            Some("In the big oven of is")
        );
        assert_eq!(probe(&index, "The oven is hot.", None), None, "two content words");
        let turn = "Olek: Zoe bought the big hot oven";
        assert_eq!(
            probe(&index, turn, Some("Marta: Turin has blue trams")).as_deref(),
            Some("Olek blue big hot"),
            "the speaker, the second rarest word of the turn before, two of the commoner half"
        );
        assert_eq!(
            probe(&index, turn, Some("A note")).as_deref(),
            Some("the big oven"),
            "a speaker alone does not make a conversation"
        );
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
