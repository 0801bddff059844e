//! Explanations: the parts add up to the score, and an explained recall returns the same results.
//!
//! Not here: the formulas (`search`), explanations in large stores (`coarse_to_fine`).

use crate::handles::settings::Settings;
use crate::ranking::fusion::Fusion;
use crate::tests::fixture::{TestStore, between_axes, document_encoding, query_encoding};
use loci_proto::requests::explain::ScoreBreakdown;
use loci_proto::requests::recall::RecallReply;
use proptest::prelude::*;
use serde_json::{Value, json};

const WORDS: [&str; 14] = [
    "kettle",
    "boiler",
    "cat",
    "Marta",
    "Olek",
    "my",
    "yesterday",
    "in Gdynia",
    "garden",
    "invoice",
    "port",
    "8443",
    "May",
    "the",
];

/// A generated text of May 2023.
#[derive(Debug, Clone)]
struct GeneratedText {
    /// No speaker, Marta or Olek.
    speaker: u8,
    day: u32,
    /// Indices in [`WORDS`].
    words: Vec<usize>,
    is_question: bool,
}

impl GeneratedText {
    fn new(speaker: u8, day: u32, words: Vec<usize>) -> Self {
        Self { speaker, day, words, is_question: false }
    }

    fn to_text(&self) -> String {
        let speaker = ["", "Marta: ", "Olek: "][usize::from(self.speaker)];
        let words: Vec<&str> = self.words.iter().map(|word| WORDS[*word]).collect();
        let mark = if self.is_question { "?" } else { "" };
        format!("[2023-05-{:02}] {speaker}{}{mark}", self.day, words.join(" "))
    }
}

fn texts() -> impl Strategy<Value = Vec<GeneratedText>> {
    let text =
        (0..3_u8, 1..28_u32, prop::collection::vec(0..WORDS.len(), 1..7), any::<bool>()).prop_map(
            |(speaker, day, words, is_question)| GeneratedText { speaker, day, words, is_question },
        );
    prop::collection::vec(text, 1..14)
}

/// Returns a store of these texts. Every third is compacted, into an extractive summary if one is
/// given.
fn store_of(fusion: Fusion, texts: &[GeneratedText], summary: Option<&str>) -> TestStore {
    let mut test_store = TestStore::with(Settings { fusion, ..Settings::for_model("test") });
    let summary = summary.map(|text| {
        let arguments = json!({"content": text, "type": "episodic", "metadata": {"summary": true, "method": "extractive", "cluster": "x"}});
        test_store.store_encoded("a", arguments, &document_encoding(text, between_axes(0, 70, 0.6))).id
    });
    for (number, generated) in texts.iter().enumerate() {
        let text = generated.to_text();
        let vector = between_axes(0, 1 + number, 0.2 + 0.05 * number as f32);
        let stored = test_store.store_encoded(
            "a",
            json!({"content": text, "type": "episodic"}),
            &document_encoding(&text, vector),
        );
        if number % 3 == 2 {
            crate::tests::fixture::mark_compacted(&mut test_store, &stored.id, summary.as_ref());
        }
    }
    test_store
}

fn recall(test_store: &TestStore, mut arguments: Value, query: &str) -> RecallReply {
    arguments["query"] = json!(query);
    test_store
        .recall_encoded("a", arguments, Some(&query_encoding(query, between_axes(0, 60, 0.8))))
        .reply
}

fn sum(why: &ScoreBreakdown) -> f64 {
    why.parts.iter().map(|part| part.adds).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_parts_add_up_to_the_score_and_explaining_changes_no_result(texts in texts(), ranking in 0..4_usize, has_summary in any::<bool>(), query_words in prop::collection::vec(0..WORDS.len(), 1..16)) {
        let fusion = [Fusion::Soft, Fusion::Soft, Fusion::Weighted { vector_weight: 0.3 }, Fusion::Rrf { k: 60.0 }][ranking];
        let test_store = store_of(fusion, &texts, has_summary.then_some("a summary of the kettle"));
        let query = query_words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" ");
        for query in [query.clone(), format!("when did {query} happen in May 2023")] {
            let plain = recall(&test_store, json!({"max_results": 6}), &query);
            let reply = recall(&test_store, json!({"max_results": 6, "explain": true}), &query);
            let explained = reply.explain.clone().expect("the result is explained");
            prop_assert_eq!(explained.ranking.as_str(), ["soft", "soft", "weighted", "rrf"][ranking]);
            let returned = reply.results.len() + explained.collapsed;
            prop_assert_eq!(explained.ranked, returned + explained.over_limit + explained.cut_by_budget);
            prop_assert_eq!(explained.collapsed, reply.results.iter().map(|result| result.also.len()).sum::<usize>());
            prop_assert!(explained.in_store >= explained.visible && explained.visible >= explained.admitted);
            prop_assert!(explained.admitted >= explained.matched.max(explained.ranked));
            let mut without_why = reply.clone();
            without_why.results.iter_mut().for_each(|result| result.why = None);
            prop_assert_eq!(&without_why.results, &plain.results);
            let sums: Vec<f64> = reply.results.iter().map(|result| sum(result.why.as_ref().expect("the result is explained"))).collect();
            prop_assert!(sums.windows(2).all(|pair| pair[0] >= pair[1] - 1e-5), "{sums:?}");
            let scores: Vec<f64> = reply.results.iter().map(|result| result.score.expect("the result has a score")).collect();
            prop_assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]), "{scores:?}");
            for (score, sum) in scores.into_iter().zip(sums) {
                // What the judge has ordered shows how likely it is instead.
                let is_shown = match fusion {
                    Fusion::Soft => (0.0..=1.0).contains(&score),
                    _ => (score - sum).abs() < 1e-4,
                };
                prop_assert!(is_shown, "{score} {sum}");
            }
        }
    }
}

fn steps(why: &ScoreBreakdown) -> Vec<&str> {
    why.parts.iter().map(|part| part.step.as_str()).collect()
}

#[test]
fn each_step_is_listed_by_its_name() {
    let texts = [
        GeneratedText { is_question: true, ..GeneratedText::new(1, 8, vec![4]) },
        GeneratedText::new(2, 8, vec![5, 0, 6, 7]),
        GeneratedText::new(0, 20, vec![12, 10, 11]),
        GeneratedText::new(0, 9, vec![8]),
    ];
    let test_store = store_of(Fusion::Soft, &texts, None);
    let reply =
        recall(&test_store, json!({"explain": true}), "When was Olek at the kettle in May 2023");
    let best = reply.results[0].why.clone().expect("the result is explained");
    let expected =
        ["cosine", "bm25", "words", "date", "person", "first_person", "expect", "window"];
    assert!(expected.iter().all(|step| steps(&best).contains(step)), "{best:?}");
    let keyword_scores: Vec<_> =
        reply.results.iter().filter_map(|result| result.why.as_ref()?.keywords).collect();
    let better = |score: f64| keyword_scores.iter().filter(|other| other.score > score).count();
    assert!(
        keyword_scores.len() > 1
            && keyword_scores.iter().all(|entry| entry.rank == better(entry.score) + 1),
        "{keyword_scores:?}"
    );
    let compacted = reply
        .results
        .iter()
        .filter_map(|result| result.why.as_ref())
        .find(|why| steps(why).contains(&"compacted"));
    let compacted = compacted.expect("a result is compacted");
    assert!(
        (compacted.parts.last().expect("the result has parts").adds + sum(compacted)).abs() < 1e-5,
        "the step removes half of the score: {compacted:?}"
    );
}

#[test]
fn a_summary_that_takes_over_a_score_is_explained() {
    let texts = [
        GeneratedText::new(0, 8, vec![4, 5]),
        GeneratedText::new(0, 9, vec![8, 9]),
        GeneratedText::new(0, 20, vec![0, 1]),
    ];
    for fusion in [Fusion::Soft, Fusion::Rrf { k: 60.0 }] {
        let reply = recall(
            &store_of(fusion, &texts, Some("told in short")),
            json!({"explain": true}),
            "kettle boiler",
        );
        assert_eq!(reply.results[0].content.as_deref(), Some("told in short"), "{reply:?}");
        assert_eq!(
            steps(reply.results[0].why.as_ref().expect("the result is explained")),
            ["summary"]
        );
        assert_eq!(
            reply.results[1].why.as_ref().map(|why| steps(why).last().copied()),
            Some(Some("compacted"))
        );
    }
}

#[test]
fn the_results_that_each_filter_removed_are_counted() {
    let mut test_store = TestStore::new();
    for (room, kind) in [
        ("hall", "semantic"),
        ("attic", "episodic"),
        ("office", "episodic"),
        ("cellar", "episodic"),
    ] {
        test_store.store("a", json!({"content": format!("note of the {room}'s kettle {}", room.repeat(20)), "type": kind}), None);
    }
    test_store.store("b", json!({"content": "another note", "type": "episodic"}), None);
    let forgotten =
        test_store.store("a", json!({"content": "a note that is gone", "type": "episodic"}), None);
    test_store.forget("a", json!({"memory_id": forgotten.id})).expect("the memory is forgotten");
    test_store.store("a", json!({"content": "nothing of it", "type": "episodic"}), None);
    let request = json!({"query": "kettle", "type": "episodic", "max_results": 2, "token_budget": 130, "explain": true});
    let reply =
        test_store.recall("a", request, None).reply.explain.expect("the reply is explained");
    let counts = [
        reply.in_store,
        reply.visible,
        reply.admitted,
        reply.matched,
        reply.ranked,
        reply.over_limit,
        reply.cut_by_budget,
    ];
    assert_eq!((counts, reply.ranking.as_str()), ([7, 5, 4, 3, 3, 1, 1], "keywords"));
}

#[test]
fn a_dry_run_records_no_access_and_returns_the_same_results() {
    let mut test_store = TestStore::new();
    test_store.store("a", json!({"content": "the kettle whistles", "type": "episodic"}), None);
    let counted = test_store.recall("a", json!({"query": "kettle"}), None);
    let dry = test_store.recall("a", json!({"query": "kettle", "dry_run": true}), None);
    assert_eq!((counted.accessed.len(), dry.accessed.len()), (1, 0));
    assert_eq!(counted.reply, dry.reply);
    let by_id = test_store.recall(
        "a",
        json!({"ids": [counted.reply.results[0].id], "dry_run": true, "explain": true}),
        None,
    );
    assert!(
        by_id.accessed.is_empty()
            && by_id.reply.note.is_some_and(|note| note.contains("explain was ignored"))
    );
}
