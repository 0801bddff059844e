//! Finds the earlier import of each memory that was read: by its place and text, otherwise as the new wording of what left the place.
//!
//! Not here: what becomes of it (`reconcile`), the comparison of words (`bridge::wording`).

use crate::bridge::origin::clear_text;
use crate::bridge::{ComparisonBudget, rewordings};
use crate::transfer::foreign::stored::Earlier;
use loci_proto::foreign::{ForeignMemory, ImportOrigin};
use std::collections::{HashMap, HashSet};

/// The paths by which a statement is found again, one after the other: the folder may have another name now, and earlier versions
/// recorded only the whole path.
const PATHS: [fn(&ImportOrigin) -> &str; 2] =
    [ImportOrigin::whole_path, ImportOrigin::path_in_root];

/// The earlier import of each memory.
pub(super) struct Matches<'a> {
    pub found: Vec<Option<&'a Earlier>>,
    /// What may be a new wording, and could not be compared.
    pub undecided: HashSet<usize>,
}

/// Returns the earlier import of each memory.
pub(super) fn match_all<'a>(
    origins: &[Option<ImportOrigin>],
    memories: &[Option<ForeignMemory>],
    earlier: &[&'a Earlier],
) -> Matches<'a> {
    let mut unmatched: Vec<Option<&'a Earlier>> = earlier.iter().copied().map(Some).collect();
    let mut found: Vec<Option<&'a Earlier>> = vec![None; origins.len()];
    for (path, key) in PATHS.into_iter().flat_map(|path| KEYS.map(|key| (path, key))) {
        let mut by_key: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
        for (at, old) in earlier.iter().enumerate().rev() {
            if unmatched[at].is_some() {
                by_key.entry(key(&old.origin, path(&old.origin))).or_default().push(at);
            }
        }
        for (found, origin) in found.iter_mut().zip(origins) {
            if let (None, Some(origin)) = (&found, origin) {
                let old = by_key.get_mut(&key(origin, path(origin))).and_then(Vec::pop);
                *found = old.and_then(|old| unmatched[old].take());
            }
        }
    }
    let mut matches = Matches { found, undecided: HashSet::new() };
    for path in PATHS {
        match_moved(path, (origins, memories), &mut unmatched, &mut matches.found);
    }
    for path in PATHS {
        match_rewordings(path, (origins, memories), &mut unmatched, &mut matches);
    }
    matches
}

/// Matches statements with those of the same words that left another place of the same file: a heading above them was renamed.
fn match_moved<'a>(
    path: fn(&ImportOrigin) -> &str,
    (origins, memories): (&[Option<ImportOrigin>], &[Option<ForeignMemory>]),
    unmatched: &mut [Option<&'a Earlier>],
    found: &mut [Option<&'a Earlier>],
) {
    let mut left: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for (at, old) in unmatched.iter().enumerate().rev() {
        let Some(old) = old.filter(|old| old.origin.id.is_none()) else { continue };
        if let Some(text) = clear_text(&old.line.content, &old.origin.place) {
            let key = (path(&old.origin).to_owned(), text.to_owned());
            left.entry(key).or_default().push(at);
        }
    }
    for ((found, origin), memory) in found.iter_mut().zip(origins).zip(memories) {
        let (None, Some(origin), Some(memory)) = (&found, origin, memory) else { continue };
        let text = clear_text(&memory.content, &memory.place).filter(|_| origin.id.is_none());
        let key = text.map(|text| (path(origin).to_owned(), text.to_owned()));
        let old = key.and_then(|key| left.get_mut(&key)).and_then(Vec::pop);
        *found = old.and_then(|old| unmatched[old].take());
    }
}

/// The texts of one place of a file.
#[derive(Default)]
struct Texts {
    new: Vec<usize>,
    left: Vec<usize>,
}

/// Matches statements with those that left the same place of the same file, by their common words.
fn match_rewordings<'a>(
    path: fn(&ImportOrigin) -> &str,
    (origins, memories): (&[Option<ImportOrigin>], &[Option<ForeignMemory>]),
    unmatched: &mut [Option<&'a Earlier>],
    matches: &mut Matches<'a>,
) {
    let mut places: HashMap<(&str, &str), Texts> = HashMap::new();
    let lefts: Vec<Option<&Earlier>> = unmatched.to_vec();
    for (at, old) in lefts.iter().enumerate() {
        if let Some(old) = old.filter(|old| old.origin.id.is_none()) {
            let place = (path(&old.origin), old.origin.place.as_str());
            places.entry(place).or_default().left.push(at);
        }
    }
    for (at, origin) in origins.iter().enumerate() {
        let origin =
            origin.as_ref().filter(|origin| matches.found[at].is_none() && origin.id.is_none());
        let place = origin.map(|origin| (path(origin), origin.place.as_str()));
        if let Some(found) = place.and_then(|place| places.get_mut(&place)) {
            found.new.push(at);
        }
    }
    let mut budget = ComparisonBudget::of_import();
    for Texts { new, left } in places.values().filter(|texts| !texts.new.is_empty()) {
        let text = |at: &usize| memories[*at].as_ref().map_or("", |memory| memory.content.as_str());
        let new_texts: Vec<&str> = new.iter().map(text).collect();
        let old_text = |at: &usize| lefts[*at].map_or("", |old| old.line.content.as_str());
        let old_texts: Vec<&str> = left.iter().map(old_text).collect();
        for (new_at, old_at) in rewordings(&new_texts, &old_texts, &mut budget) {
            matches.found[new[new_at]] = unmatched[left[old_at]].take();
        }
        if budget.is_spent() {
            let is_open = |at: &&usize| matches.found[**at].is_none();
            let open: Vec<usize> = new.iter().filter(is_open).copied().collect();
            matches.undecided.extend(open);
        }
    }
}

/// What a memory is found again by: the path, the id of its program, and its text.
type Key<'a> = (&'a str, Option<&'a str>, &'a str);
/// The keys, in the order in which they are tried. Two memories with one id are matched by their texts first, then by the id alone.
const KEYS: [for<'a> fn(&'a ImportOrigin, &'a str) -> Key<'a>; 2] = [key_with_text, key];

fn key_with_text<'a>(origin: &'a ImportOrigin, path: &'a str) -> Key<'a> {
    (path, origin.id.as_deref(), &origin.text)
}

fn key<'a>(origin: &'a ImportOrigin, path: &'a str) -> Key<'a> {
    let text = if origin.id.is_some() { "" } else { origin.text.as_str() };
    (path, origin.id.as_deref(), text)
}
