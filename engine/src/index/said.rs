//! What each text says of itself: who says it, when it was, of which kind it is.
//!
//! Not here: how that is read (`soft::text`), what it weighs (`soft`).

use super::Entry;
use crate::soft::Kind;
use crate::soft::text::{kind, parts};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

/// What the text of one memory says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Said {
    /// Of which kind it is.
    pub kind: Kind,
    /// When it was: `event_date`, else the date before the text, else the day of storing.
    pub day: Option<i32>,
    /// Who says it: a number of [`Sayings::called`]; 0 is nobody.
    pub speaker: u32,
    /// A memory with this project in common stands in one order with it.
    pub group: u32,
    print: u64,
}

impl Said {
    /// Whether two texts are equal.
    pub(crate) fn reads_as(self, other: Self) -> bool {
        self.print == other.print
    }
}

/// Whether a text is the one that was read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    Same,
    Other,
}

/// What all texts say of themselves, by slot.
#[derive(Debug, Default)]
pub(crate) struct Sayings {
    said: Vec<Said>,
    speakers: HashMap<String, u32>,
    /// For each speaker the words of the name, lower case, that are long enough to be asked for.
    names: Vec<Vec<String>>,
    groups: HashMap<Option<String>, u32>,
}

/// Shorter words of a name are no names: initials, "Mr".
const LEAST_NAME: usize = 3;

impl Sayings {
    /// Reads the text of a slot; a text that was read before is not read again.
    pub(super) fn put(&mut self, slot: usize, entry: &Entry, content: &str) -> Text {
        if self.said.len() <= slot {
            self.said.resize_with(slot + 1, Said::default);
        }
        let parts = parts(content);
        let next = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        let group = *self.groups.entry(entry.group.clone()).or_insert(next);
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        // A slot that has not been read has the print 0.
        let print = hasher.finish() | 1;
        let text = if self.said[slot].print == print { Text::Same } else { Text::Other };
        let kind = if text == Text::Same { self.said[slot].kind } else { kind(parts.body) };
        let day = entry.event_day.or(parts.day).or(Some(entry.created_day));
        let speaker = self.speaker(parts.speaker);
        self.said[slot] = Said { kind, day, speaker, group, print };
        text
    }

    /// Forgets the text of a slot.
    pub(super) fn clear(&mut self, slot: usize) {
        self.said[slot] = Said { group: self.said[slot].group, ..Said::default() };
    }

    /// What a text says of itself.
    pub(crate) fn of(&self, slot: usize) -> Said {
        self.said[slot]
    }

    /// Those of some speakers whose name has a word that is asked for, if they all have the same word in common; else nobody.
    pub(crate) fn called(&self, speakers: &[u32], asked: &HashSet<String>) -> HashSet<u32> {
        let words_of = |speaker: &u32| self.names.get(*speaker as usize).map_or(&[][..], Vec::as_slice);
        let found: HashSet<&String> = speakers.iter().flat_map(words_of).filter(|word| asked.contains(*word)).collect();
        match found.into_iter().collect::<Vec<_>>().as_slice() {
            [one] => speakers.iter().copied().filter(|speaker| words_of(speaker).contains(one)).collect(),
            _ => HashSet::new(),
        }
    }

    fn speaker(&mut self, name: &str) -> u32 {
        if self.names.is_empty() {
            self.names.push(Vec::new());
        }
        if name.is_empty() {
            return 0;
        }
        if let Some(known) = self.speakers.get(name) {
            return *known;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let words = name.split(' ').filter(|word| word.chars().count() >= LEAST_NAME).map(str::to_lowercase);
        self.names.push(words.collect());
        self.speakers.insert(name.to_owned(), number);
        number
    }
}
