//! A model that gives no sign codes: memories are ranked by vectors and words, as by the weighted fusion.

use crate::model::encoding::{DocumentEncoding, QueryEncoding};
use crate::tests::fixture::{TestStore, between_axes, query_encoding};
use loci_proto::requests::recall::RecallReply;
use serde_json::json;

const TEXTS: [(&str, f32); 4] = [
    ("The automobile is in the garage", 0.9),
    ("The kettle is on the shelf", 0.3),
    ("A car is mentioned here", 0.5),
    ("Nothing of it", 0.0),
];

/// A store whose memories have vectors, and no sign codes.
fn store() -> TestStore {
    let mut store = TestStore::new();
    for (number, (text, cosine)) in TEXTS.iter().enumerate() {
        let vectors = vec![between_axes(0, number + 1, *cosine)];
        let encoding = DocumentEncoding { vectors, words: Some(Vec::new()) };
        store.store_encoded("a", json!({"content": text, "type": "semantic"}), &encoding);
    }
    store
}

fn recall(store: &TestStore, has_sign_codes: bool) -> RecallReply {
    let words = if has_sign_codes {
        query_encoding("car", between_axes(0, 9, 1.0)).words
    } else {
        Vec::new()
    };
    let query = QueryEncoding {
        model: "test".into(),
        vector: between_axes(0, 9, 1.0),
        words,
        has_sign_codes,
    };
    let arguments = json!({"query": "car", "max_results": 4, "explain": true});
    store.recall_encoded("a", arguments, Some(&query)).reply
}

#[test]
fn vectors_and_words_rank_and_no_memory_scores_zero_for_want_of_codes() {
    let store = store();
    let reply = recall(&store, false);
    assert_eq!(reply.explain.as_ref().map(|explain| explain.ranking.as_str()), Some("weighted"));
    let found: Vec<(&str, f64)> = reply
        .results
        .iter()
        .map(|result| (result.content.as_deref().unwrap_or_default(), result.score.unwrap_or(0.0)))
        .collect();
    let texts: Vec<&str> = found.iter().map(|(text, _)| *text).collect();
    assert_eq!(texts, [TEXTS[2].0, TEXTS[0].0, TEXTS[1].0], "{found:?}");
    // Half the cosine; the first has the word, too.
    assert!(found[0].1 > 0.45 && (found[1].1 - 0.45).abs() < 0.02, "{found:?}");
    assert!((found[2].1 - 0.15).abs() < 0.02, "{found:?}");
    assert!(!reply.weak, "{reply:?}");
}

#[test]
fn a_query_with_codes_is_still_matched_by_them() {
    let reply = recall(&store(), true);
    assert_eq!(reply.explain.map(|explain| explain.ranking), Some("soft".to_owned()));
}
