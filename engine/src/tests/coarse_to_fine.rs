//! The coarse-to-fine strategy against the exhaustive one, on made-up notes.
//!
//! Not here: the figures on public test sets (docs/benchmarks.md).

use crate::Effort;
use crate::index::{Filter, Index, QuantizedVector, slot_id};
use crate::model::decay::{Anchor, Decay};
use crate::model::encoding::{DIMENSIONS, DocumentEncoding, Embedding, QueryEncoding};
use crate::model::entry::Entry;
use crate::model::status::Status;
use crate::model::visibility::Visibility;
use crate::ranking::fusion::Fusion;
use crate::search::coarse_to_fine::DIRECT_COSINES_PER_BLOCK;
use crate::search::nearest::nearest;
use crate::search::query::parse::ParsedQuery;
use crate::search::{Detail, SearchQuery, SearchResults, search};
use crate::tests::fixture::{T0, asked, coded};
use loci_proto::memory::{Confidence, MemoryType, Scope};

const STORED: usize = 6_000;
/// So many that the estimates exclude most.
const MANY: usize = 12_000;

fn mixed(seed: usize) -> usize {
    let mixed = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40).unwrap_or(0)
}

/// A deterministic vector near that of a topic.
fn vector(topic: usize, number: usize) -> Embedding {
    let value = |seed: usize| (mixed(seed) % 2001) as f32 / 1000.0 - 1.0;
    let near =
        |at: usize| value(topic * 1000 + at) + 0.9 * value((number + 1000) * 1000 + at) + 0.4;
    Embedding::new((0..DIMENSIONS).map(near).collect()).expect("has a direction")
}

fn text(number: usize) -> String {
    let speaker = ["", "Marta: ", "Olek: "][mixed(number) % 3];
    let words = (0..8)
        .map(|at| format!("word{}", mixed(number / 6 * 100 + number % 6 * 7 + at * at) % 900))
        .collect::<Vec<_>>();
    format!(
        "[2024-0{}-11] {speaker}{}{}",
        1 + number % 9,
        words.join(" "),
        if mixed(number + 5).is_multiple_of(7) { "?" } else { "" }
    )
}

/// An index of texts of two projects, in groups of one topic; some texts have two chunks.
fn index(stored: usize) -> Index {
    index_with(stored, |_| true)
}

/// As [`index`], but texts for which `these` is false are empty and of a third project.
fn index_with(stored: usize, these: impl Fn(usize) -> bool) -> Index {
    let mut index = Index::default();
    for number in 0..stored {
        if !these(number) {
            index.put(Entry {
                group: Some("c".to_owned()),
                ..Entry::bare(i64::try_from(number).expect("is small"))
            });
            continue;
        }
        let content = text(number);
        index.put(Entry {
            seq: i64::try_from(number).expect("is small"),
            kind: MemoryType::Episodic,
            group: Some(["a", "b"][usize::from(number % 40 > 30)].to_owned()),
            scope: if number % 9 == 0 { Scope::Global } else { Scope::Group },
            status: Status::Active,
            anchor: Anchor { confidence: Confidence::FULL, at: T0, pinned: false },
            expires_at: None,
            names: Vec::new(),
            content: content.clone(),
            event_day: None,
            created_day: 0,
            summary: None,
            extractive: false,
        });
        let mut pieces = vec![vector(number / 6, number)];
        if number % 11 == 0 {
            pieces.push(vector(number / 6 + 1, number));
        }
        let words = coded(content.rsplit(": ").next().unwrap_or_default(), pieces[0].clone()).words;
        index.set_vectors(
            i64::try_from(number).expect("is small"),
            &DocumentEncoding { pieces, words },
        );
    }
    index
}

fn filter(visibility: &Visibility) -> Filter<'_> {
    let lowest = Confidence::new(0.1).expect("in bounds");
    Filter {
        visibility,
        kind: None,
        scope: None,
        min_confidence: lowest,
        now: T0,
        decay: Decay::default(),
        compacted: true,
    }
}

fn found(index: &Index, text: &str, asked: &QueryEncoding, effort: Effort) -> SearchResults {
    let mask = index.mask(&filter(&Visibility::of_group("a")));
    search(
        index,
        &mask,
        &SearchQuery {
            parsed: &ParsedQuery::new(text),
            encoding: Some(asked),
            fusion: Fusion::Soft,
            today: 0,
            limit: 10,
            effort,
            detail: Detail::Scores,
        },
    )
}

/// The bounds leave room for ties: many of these texts are equally good, and which of those is
/// tenth is chance.
#[test]
fn coarse_to_fine_finds_what_exact_cosines_find_and_nearly_what_the_exhaustive_search_finds() {
    let exact = same_as(&index(MANY), Effort::ExactVectors, &ASKED);
    let whole = same_as(&index(STORED), Effort::Exhaustive, &ASKED[..5]);
    assert!(exact.0 >= 0.99 && exact.1 == 60, "exact cosines: {exact:?}");
    assert!(whole.0 >= 0.85 && whole.1 >= 59, "all words: {whole:?}");
}

#[test]
fn sparse_blocks_lose_nothing_to_estimates() {
    // A part of the project is dense, the rest sparse.
    let index = index_with(36_000, |number| number < 3_000 || number.is_multiple_of(16));
    let few = index
        .mask(&filter(&Visibility::of_group("a")))
        .words()
        .iter()
        .filter(|word| (1..=DIRECT_COSINES_PER_BLOCK).contains(&word.count_ones()))
        .count();
    assert!(few > 400, "{few} of 64");
    let exact = same_as(&index, Effort::ExactVectors, &ASKED);
    assert!(exact.0 >= 0.995 && exact.1 == 60, "exact cosines: {exact:?}");
}

/// Share of the ten best of another effort that the default finds, and how often both have the same
/// first result.
fn same_as(index: &Index, effort: Effort, kinds: &[&str]) -> (f64, usize) {
    let (mut same, mut all, mut first) = (0_u32, 0_u32, 0);
    for turn in 0..60 {
        let (words, asked) = question(turn, kinds[turn % kinds.len()], index.len());
        let (best, whole) = (
            found(index, &words, &asked, Effort::Approximate),
            found(index, &words, &asked, effort),
        );
        let slots =
            |found: &SearchResults| found.ranked.iter().map(|entry| entry.slot).collect::<Vec<_>>();
        let (best, whole) = (slots(&best), slots(&whole));
        assert!(!whole.is_empty());
        all += u32::try_from(whole.len()).expect("ten");
        same +=
            u32::try_from(whole.iter().filter(|slot| best.contains(slot)).count()).expect("ten");
        first += usize::from(best.first() == whole.first());
    }
    (f64::from(same) / f64::from(all), first)
}

/// Query templates for a text: `*` is three of its words, `…` all words of it and two others. The
/// last template has no keyword of any text.
const ASKED: [&str; 6] = ["* in March 2024", "* Marta", "*", "* before word1", "…", "unheard"];

/// A query by this template about one of the texts, with a vector near that of the text.
fn question(turn: usize, kind: &str, stored: usize) -> (String, QueryEncoding) {
    let number = mixed(turn + 77) % stored;
    let said = |number: usize| {
        let content = text(number % stored);
        content
            .trim_end_matches('?')
            .rsplit([':', ']'])
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let few = said(number).rsplit(' ').take(3).collect::<Vec<_>>().join(" ");
    let words = kind
        .replace('*', &few)
        .replace('…', &[number, number + 7, number + 13].map(said).join(" "));
    let asked = asked(&words, vector(number / 6, number + stored));
    (words, asked)
}

/// The scratch buffers are reused, so values of an earlier query must not leak into a later one.
#[test]
fn an_earlier_query_changes_no_score() {
    let index = index(MANY);
    let answer = |turn: usize| {
        let (words, asked) = question(turn, ASKED[turn % ASKED.len()], MANY);
        found(&index, &words, &asked, Effort::Approximate)
    };
    let forwards: Vec<SearchResults> = (0..12).map(answer).collect();
    let backwards: Vec<SearchResults> = (0..12).rev().map(answer).collect();
    assert!(forwards.iter().eq(backwards.iter().rev()));
}

#[test]
fn nearest_finds_every_memory_above_the_threshold_in_a_large_set() {
    let index = index(STORED);
    let mask = index.mask(&filter(&Visibility::of_group("a")));
    for number in (0..STORED).step_by(97) {
        let vector = vector(number / 6, number);
        let slots: Vec<u32> = mask.slots().map(slot_id).collect();
        let cosines = index.cosines(&QuantizedVector::from(&vector), &slots);
        let expected: Vec<usize> = slots
            .iter()
            .zip(&cosines)
            .filter(|(_, cosine)| **cosine > 0.9)
            .map(|(slot, _)| *slot as usize)
            .collect();
        assert_eq!(
            nearest(&index, &mask, &vector, 0.9)
                .into_iter()
                .map(|(slot, _)| slot)
                .collect::<Vec<_>>(),
            expected,
            "{number}"
        );
    }
}

/// An explained search records the steps of the same code, so its scores are equal bit by bit.
#[test]
fn the_recorded_steps_add_up_to_the_scores_in_a_large_set() {
    let index = index(STORED);
    let mask = index.mask(&filter(&Visibility::of_group("a")));
    for (turn, template) in (0..).zip(ASKED) {
        let (text, encoding) = question(turn, template, STORED);
        let parsed = ParsedQuery::new(&text);
        let run = |detail| {
            let query = SearchQuery {
                parsed: &parsed,
                encoding: Some(&encoding),
                fusion: Fusion::Soft,
                today: 0,
                limit: 10,
                effort: Effort::Approximate,
                detail,
            };
            search(&index, &mask, &query)
        };
        let (plain, explained) = (run(Detail::Scores), run(Detail::Steps));
        assert_eq!(plain.ranked, explained.ranked, "{text}");
        let whys = explained.explanation.expect("the search is explained").score_breakdowns;
        assert_eq!(whys.len(), plain.ranked.len());
        for (entry, why) in plain.ranked.iter().zip(whys) {
            let sum: f64 = why.parts.iter().map(|part| part.adds).sum();
            assert!((entry.score - sum).abs() < 1e-5, "{text}: {entry:?} {why:?}");
        }
    }
}
