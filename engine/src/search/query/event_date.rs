//! On which day something happened by which a question tells a time ("before the release"): that of the memory which tells of it best.
//!
//! Not here: how the question says it (`late_interaction::told`), what the time is worth.

use crate::index::{Index, Mask};
use crate::model::encoding::{QueryEncoding, SignCode};
use crate::ranking::late_interaction;
use crate::ranking::late_interaction::{Happened, Question, Word};
use crate::search::{SearchQuery, asked_words};
use loci_proto::memory::MemoryType;
use std::collections::BTreeSet;

/// How well a memory must meet the words of what happened, 1 being whole.
const MET: f64 = 0.6;
/// Of no more memories that have one of the words, the rarest first, the words are compared; of those that have it the newest.
const COMPARED: usize = 4_000;

/// What happened by which a question tells a time, and on which day, if that can be told and it names no time by the calendar.
pub(crate) fn told(
    index: &Index,
    mask: &Mask,
    sought: &SearchQuery<'_>,
    asked: &QueryEncoding,
) -> Option<(Happened, i32)> {
    let told = late_interaction::told(sought.text, sought.today)?;
    let day = day(index, mask, &told, (sought.today, asked))?;
    Some((told, day))
}

/// The day of the memory that has one of the words of what happened and meets all of them best; of equals the last. None where that tells
/// no more than the question does ("Before a release, run the checks."), or how something is done.
fn day(
    index: &Index,
    mask: &Mask,
    told: &Happened,
    (today, asked): (i32, &QueryEncoding),
) -> Option<i32> {
    let words: Vec<(String, SignCode)> =
        asked.words.iter().filter(|(word, _)| told.words.contains(word)).cloned().collect();
    let having = |terms: &[String]| index.words().list(terms).map_or(0, |list| list.count_in(mask));
    let words = asked_words(index, &words, mask.count(), having);
    let mut rare: Vec<&(&str, Word)> = words.iter().filter(|(_, word)| word.weight > 0.0).collect();
    rare.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight));
    let mut having = BTreeSet::new();
    for (word, _) in rare {
        let Some(list) = index.words().list(&index.words().terms_of(word)) else { continue };
        let left = COMPARED - having.len();
        having.extend(
            list.iter().rev().map(|(slot, _)| slot).filter(|slot| mask.admits(*slot)).take(left),
        );
    }
    let meant = Question::new("", &words.iter().map(|(_, word)| *word).collect::<Vec<_>>(), today);
    let telling = having.into_iter().filter_map(|slot| {
        let said = index.text_features(slot);
        let day = said.day.filter(|day| *day <= today && !said.kind.question)?;
        Some((meant.own_match(index.codes(slot)?), day, slot))
    });
    let (met, day, slot) = telling.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
    let says_when = || {
        index
            .words()
            .list(&index.words().terms_of(&told.behind))
            .is_some_and(|list| list.iter().any(|(of, _)| of == slot))
    };
    (met >= MET && index.entry(slot).kind != MemoryType::Procedural && !says_when()).then_some(day)
}
