//! Coarse-to-fine search compared with more exact searches, on generated notes.
//!
//! Not here: the figures on public test sets (docs/benchmarks.md).

use crate::Effort;
use crate::index::{Filter, Index, QuantizedVector, Statuses, slot_id};
use crate::model::decay::{Anchor, Decay};
use crate::model::encoding::{DIMENSIONS, DocumentEncoding, Embedding, QueryEncoding};
use crate::model::entry::Entry;
use crate::model::status::Status;
use crate::model::visibility::{Isolation, Visibility};
use crate::ranking::fusion::Fusion;
use crate::search::Stages;
use crate::search::coarse_to_fine::DIRECT_COSINES_PER_BLOCK;
use crate::search::nearest::nearest;
use crate::search::project_preference::ProjectPreference;
use crate::search::query::parse::ParsedQuery;
use crate::search::{Detail, SearchQuery, SearchResults, Weights, search};
use crate::tests::fixture::{T0, document_encoding, query_encoding};
use loci_proto::memory::{Confidence, MemoryType, Scope};

const STORED: usize = 6_000;
/// A size at which the estimates exclude most notes.
const MANY: usize = 12_000;

/// Returns a pseudo-random number.
fn random(seed: usize) -> usize {
    let bits = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from((bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40).unwrap_or(0)
}

/// Returns a vector near the other vectors of its topic.
fn vector(topic: usize, number: usize) -> Embedding {
    let value = |seed: usize| (random(seed) % 2001) as f32 / 1000.0 - 1.0;
    let component =
        |i: usize| value(topic * 1000 + i) + 0.9 * value((number + 1000) * 1000 + i) + 0.4;
    Embedding::new((0..DIMENSIONS).map(component).collect()).expect("the vector is not zero")
}

fn text(number: usize) -> String {
    let speaker = ["", "Marta: ", "Olek: "][random(number) % 3];
    let words = (0..8)
        .map(|at| format!("word{}", random(number / 6 * 100 + number % 6 * 7 + at * at) % 900))
        .collect::<Vec<_>>();
    format!(
        "[2024-0{}-11] {speaker}{}{}",
        1 + number % 9,
        words.join(" "),
        if random(number + 5).is_multiple_of(7) { "?" } else { "" }
    )
}

/// Returns a vector of the first `kept` numbers, padded with zeros.
fn cut(vector: &Embedding, kept: usize) -> Embedding {
    let mut numbers = vector.as_slice().to_vec();
    numbers[kept..].fill(0.0);
    Embedding::new(numbers).expect("the vector is not zero")
}

/// Returns an index of texts of two projects, six consecutive texts on each topic. Some have two
/// chunks.
fn index(count: usize) -> Index {
    index_of(count, DIMENSIONS, |_| true)
}

/// As [`index`], but with cut vectors, and entries for which `has_text` is false are empty and in a
/// third project.
fn index_of(count: usize, kept: usize, has_text: impl Fn(usize) -> bool) -> Index {
    let mut index = Index::default();
    for number in 0..count {
        if !has_text(number) {
            index.put(Entry {
                group: Some("c".to_owned()),
                ..Entry::bare(i64::try_from(number).expect("the number fits"))
            });
            continue;
        }
        let content = text(number);
        index.put(Entry {
            error: None,
            seq: i64::try_from(number).expect("the number fits"),
            kind: MemoryType::Episodic,
            group: Some(["a", "b"][usize::from(number % 40 > 30)].to_owned()),
            scope: if number % 9 == 0 { Scope::Global } else { Scope::Group },
            status: Status::Active,
            anchor: Anchor::new(Confidence::FULL, T0),
            expires_at: None,
            names: crate::model::names::EntityNames::default(),
            content: content.clone(),
            questions: String::new(),
            event_day: None,
            created_day: 0,
            summary: None,
            extractive: false,
            branch: None,
        });
        let mut vectors = vec![cut(&vector(number / 6, number), kept)];
        if number % 11 == 0 {
            vectors.push(cut(&vector(number / 6 + 1, number), kept));
        }
        let words =
            document_encoding(content.rsplit(": ").next().unwrap_or_default(), vectors[0].clone())
                .words;
        index.set_vectors(
            i64::try_from(number).expect("the number fits"),
            &DocumentEncoding { vectors, words },
        );
    }
    index
}

fn filter(visibility: &Visibility) -> Filter<'_> {
    let min_confidence = Confidence::new(0.1).expect("the value is within bounds");
    Filter {
        visibility,
        kind: None,
        scope: None,
        min_confidence,
        dormant_below: None,
        now: T0,
        decay: Decay::default(),
        statuses: Statuses::Recall,
    }
}

/// Returns the ten best results for project `a`.
fn ten_best(
    index: &Index,
    text: &str,
    encoding: &QueryEncoding,
    effort: Effort,
    stages: Stages,
) -> SearchResults {
    let mask = index.mask(&filter(&Visibility::of_group("a", Isolation::default())));
    search(
        index,
        &mask,
        &SearchQuery {
            finds_nearest: false,
            follows_links: true,
            fields: None,
            parsed: &ParsedQuery::new(text),
            may_replace: &|_, _| true,
            projects: &ProjectPreference::default(),
            branch: None,
            weights: Weights::default(),
            answering: &[],
            encoding: Some(encoding),
            fusion: Fusion::Soft,
            today: 0,
            limit: 10,
            effort,
            stages,
            detail: Detail::Scores,
        },
    )
}

/// The bounds allow for ties: many of these texts have equal scores, and which of them is tenth
/// depends on rounding.
#[test]
fn coarse_to_fine_finds_what_exact_cosines_find_and_nearly_what_the_exhaustive_search_finds() {
    let exact = agreement(&index(MANY), Effort::ExactVectors, &TEMPLATES, DIMENSIONS);
    let exhaustive = agreement(&index(STORED), Effort::Exhaustive, &TEMPLATES[..5], DIMENSIONS);
    assert!(exact.in_ten >= 0.99 && exact.same_first == 60, "exact cosines: {exact:?}");
    assert!(exhaustive.in_ten >= 0.85 && exhaustive.same_first >= 59, "all words: {exhaustive:?}");
}

/// Models with fewer dimensions have padded vectors; the estimates then have fewer signs.
#[test]
fn coarse_to_fine_finds_padded_vectors_too() {
    for (kept, share) in [(128, 0.97), (256, 0.99)] {
        let exact =
            agreement(&index_of(MANY, kept, |_| true), Effort::ExactVectors, &TEMPLATES, kept);
        println!("{kept} dimensions, exact cosines: {exact:?}");
        assert!(exact.in_ten >= share && exact.same_first == 60, "{kept}: {exact:?}");
    }
}

/// The smallest and the largest stages that the configuration permits. More word matches find more
/// of what the exhaustive search finds.
#[test]
fn the_smallest_stages_lose_little_and_the_largest_nothing() {
    let index = index(STORED);
    let with =
        |stages| agreement_with(stages, &index, Effort::Exhaustive, &TEMPLATES[..5], DIMENSIONS);
    let smallest = with(Stages { stage1_k: 500, stage2_k: 100 });
    let usual = with(Stages::default());
    let largest = with(Stages { stage1_k: 100_000, stage2_k: 10_000 });
    println!("smallest {smallest:?}, usual {usual:?}, largest {largest:?}");
    assert!(smallest.in_ten >= 0.75 && smallest.same_first >= 54, "{smallest:?}");
    assert!(largest.in_ten >= usual.in_ten && usual.in_ten >= smallest.in_ten, "{usual:?}");
}

#[test]
fn blocks_with_few_candidates_are_scored_exactly() {
    // The project is dense in one part of the index, and sparse in the rest.
    let index = index_of(36_000, DIMENSIONS, |number| number < 3_000 || number.is_multiple_of(16));
    let sparse_blocks = index
        .mask(&filter(&Visibility::of_group("a", Isolation::default())))
        .words()
        .iter()
        .filter(|word| (1..=DIRECT_COSINES_PER_BLOCK).contains(&word.count_ones()))
        .count();
    assert!(sparse_blocks > 400, "{sparse_blocks} blocks of 64 slots");
    let exact = agreement(&index, Effort::ExactVectors, &TEMPLATES, DIMENSIONS);
    assert!(exact.in_ten >= 0.995 && exact.same_first == 60, "exact cosines: {exact:?}");
}

/// How far the default effort agrees with another effort in 60 queries.
#[derive(Debug)]
struct Agreement {
    /// The share of the ten best of the other effort that are among the ten best of the default.
    in_ten: f64,
    /// The number of queries with the same first result.
    same_first: usize,
}

fn agreement(index: &Index, effort: Effort, templates: &[&str], kept: usize) -> Agreement {
    agreement_with(Stages::default(), index, effort, templates, kept)
}

/// As [`agreement`], of a search whose stages keep as many memories as given.
fn agreement_with(
    stages: Stages,
    index: &Index,
    effort: Effort,
    templates: &[&str],
    kept: usize,
) -> Agreement {
    let (mut common, mut all, mut same_first) = (0_u32, 0_u32, 0);
    for turn in 0..60 {
        let (text, encoding) =
            question(turn, templates[turn % templates.len()], index.slot_count());
        let encoding = QueryEncoding { vector: cut(&encoding.vector, kept), ..encoding };
        let (approximate, expected) = (
            ten_best(index, &text, &encoding, Effort::Approximate, stages),
            ten_best(index, &text, &encoding, effort, Stages::default()),
        );
        let slots = |results: &SearchResults| {
            results.ranked.iter().map(|entry| entry.slot).collect::<Vec<_>>()
        };
        let (approximate, expected) = (slots(&approximate), slots(&expected));
        assert!(!expected.is_empty());
        all += u32::try_from(expected.len()).expect("the count fits");
        common += u32::try_from(expected.iter().filter(|slot| approximate.contains(slot)).count())
            .expect("the count fits");
        same_first += usize::from(approximate.first() == expected.first());
    }
    Agreement { in_ten: f64::from(common) / f64::from(all), same_first }
}

/// Query templates for a text: `*` is three of its words, `…` all words of it and two others. The
/// last template contains no keyword of any text.
const TEMPLATES: [&str; 6] = ["* in March 2024", "* Marta", "*", "* before word1", "…", "unheard"];

/// Returns a query by this template about one of `count` texts, with a vector near that of the
/// text.
fn question(turn: usize, template: &str, count: usize) -> (String, QueryEncoding) {
    let number = random(turn + 77) % count;
    let words_of = |number: usize| {
        let content = text(number % count);
        content
            .trim_end_matches('?')
            .rsplit([':', ']'])
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let three_words = words_of(number).rsplit(' ').take(3).collect::<Vec<_>>().join(" ");
    let query = template
        .replace('*', &three_words)
        .replace('…', &[number, number + 7, number + 13].map(words_of).join(" "));
    let encoding = query_encoding(&query, vector(number / 6, number + count));
    (query, encoding)
}

/// The scratch buffers are reused, so values of an earlier query must not leak into a later one.
#[test]
fn an_earlier_query_changes_no_score() {
    let index = index(MANY);
    let answer = |turn: usize| {
        let (text, encoding) = question(turn, TEMPLATES[turn % TEMPLATES.len()], MANY);
        ten_best(&index, &text, &encoding, Effort::Approximate, Stages::default())
    };
    let forwards: Vec<SearchResults> = (0..12).map(answer).collect();
    let backwards: Vec<SearchResults> = (0..12).rev().map(answer).collect();
    assert!(forwards.iter().eq(backwards.iter().rev()));
}

#[test]
fn nearest_finds_every_memory_above_the_threshold_in_a_large_set() {
    let index = index(STORED);
    let mask = index.mask(&filter(&Visibility::of_group("a", Isolation::default())));
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

#[test]
fn the_recorded_steps_add_up_to_the_scores_in_a_large_set() {
    let index = index(STORED);
    let mask = index.mask(&filter(&Visibility::of_group("a", Isolation::default())));
    for (turn, template) in (0..).zip(TEMPLATES) {
        let (text, encoding) = question(turn, template, STORED);
        let parsed = ParsedQuery::new(&text);
        let run = |detail| {
            let query = SearchQuery {
                finds_nearest: false,
                follows_links: true,
                fields: None,
                parsed: &parsed,
                may_replace: &|_, _| true,
                projects: &ProjectPreference::default(),
                branch: None,
                weights: Weights::default(),
                answering: &[],
                encoding: Some(&encoding),
                fusion: Fusion::Soft,
                today: 0,
                limit: 10,
                effort: Effort::Approximate,
                stages: Stages::default(),
                detail,
            };
            search(&index, &mask, &query)
        };
        let (plain, explained) = (run(Detail::Scores), run(Detail::Steps));
        assert_eq!(plain.ranked, explained.ranked, "{text}");
        let breakdowns = explained.explanation.expect("the search is explained").score_breakdowns;
        assert_eq!(breakdowns.len(), plain.ranked.len());
        for (entry, why) in plain.ranked.iter().zip(breakdowns) {
            let sum: f64 = why.parts.iter().map(|part| part.adds).sum();
            assert!((entry.score - sum).abs() < 1e-5, "{text}: {entry:?} {why:?}");
        }
    }
}
