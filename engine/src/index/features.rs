//! Text features of each memory: speaker, day and kind of text.
//!
//! Not here: extracting them (`text::features`), their weights (`ranking::late_interaction`).

use crate::model::entry::Entry;
use crate::text::features::{TextTraits, parts, traits};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

/// Features of the text of one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TextFeatures {
    /// The kind of text.
    pub kind: TextTraits,
    /// Its day: `event_date`, else the date at the start of the text, else the day of storing.
    pub day: Option<i32>,
    /// Who says it: a number of [`FeatureTable::speakers_named`]; 0 is nobody.
    pub speaker: u32,
    /// Hash of the text; 0 for an empty slot.
    pub fingerprint: u64,
}

impl TextFeatures {
    /// Returns whether two texts are equal.
    pub(crate) fn same_text(self, other: Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

/// Whether a text differs from the one that the slot had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    Same,
    Other,
}

/// Text features of all memories, by slot.
#[derive(Debug, Default)]
pub(crate) struct FeatureTable {
    said: Vec<TextFeatures>,
    speakers: HashMap<String, u32>,
    /// Speakers by each word of their names, in lower case and not shorter than [`MIN_NAME_CHARS`].
    speakers_by_word: HashMap<String, Vec<u32>>,
    /// Slots of the texts of each speaker, by its number.
    slots_by_speaker: Vec<Vec<u32>>,
}

/// Shorter words of a name are ignored: initials, "Mr".
const MIN_NAME_CHARS: usize = 3;

impl FeatureTable {
    /// Updates the features of a slot. The kind is computed only if the text has changed.
    pub(crate) fn put(&mut self, slot: usize, entry: &Entry, content: &str) -> Text {
        if self.said.len() <= slot {
            self.said.resize_with(slot + 1, TextFeatures::default);
        }
        let parts = parts(content);
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        // A slot that has not been read has the fingerprint 0.
        let fingerprint = hasher.finish() | 1;
        let text =
            if self.said[slot].fingerprint == fingerprint { Text::Same } else { Text::Other };
        let kind = if text == Text::Same { self.said[slot].kind } else { traits(parts.body) };
        let day = entry.event_day.or(parts.day).or(Some(entry.created_day));
        let speaker = self.speaker(parts.speaker);
        if speaker != self.said[slot].speaker {
            self.remove_from_speaker(slot);
            self.add_to_speaker(speaker, slot);
        }
        self.said[slot] = TextFeatures { kind, day, speaker, fingerprint };
        text
    }

    /// Clears a slot.
    pub(crate) fn clear(&mut self, slot: usize) {
        self.remove_from_speaker(slot);
        self.said[slot] = TextFeatures::default();
    }

    /// Fills an empty slot with known features; the speaker is given by name.
    pub(crate) fn insert_record(&mut self, slot: usize, said: TextFeatures, speaker: &str) {
        if self.said.len() <= slot {
            self.said.resize_with(slot + 1, TextFeatures::default);
        }
        let speaker = self.speaker(speaker);
        self.add_to_speaker(speaker, slot);
        self.said[slot] = TextFeatures { speaker, ..said };
    }

    /// Returns the names of all speakers, by number; number 0 is no speaker.
    pub(crate) fn by_number(&self) -> Vec<&str> {
        let mut names = vec![""; self.slots_by_speaker.len().max(1)];
        self.speakers.iter().for_each(|(name, number)| names[*number as usize] = name);
        names
    }

    /// Returns the features of a slot.
    pub(crate) fn of(&self, slot: usize) -> TextFeatures {
        self.said[slot]
    }

    /// Returns the speakers whose name contains a word of the query and who say something admitted. Empty if more than one word of the
    /// query is such a name.
    pub(crate) fn speakers_named(
        &self,
        asked: &HashSet<String>,
        admits: impl Fn(usize) -> bool,
    ) -> &[u32] {
        let says = |speaker: &u32| {
            self.slots_by_speaker[*speaker as usize].iter().any(|slot| admits(*slot as usize))
        };
        let mut found = asked
            .iter()
            .filter_map(|word| self.speakers_by_word.get(word))
            .filter(|speakers_by_word| speakers_by_word.iter().any(says));
        match (found.next(), found.next()) {
            (Some(one), None) => one,
            _ => &[],
        }
    }

    fn add_to_speaker(&mut self, speaker: u32, slot: usize) {
        if let Some(slots_by_speaker) =
            self.slots_by_speaker.get_mut(speaker as usize).filter(|_| speaker != 0)
        {
            let slot = crate::index::slot::slot_id(slot);
            if let Err(at) = slots_by_speaker.binary_search(&slot) {
                slots_by_speaker.insert(at, slot);
            }
        }
    }

    fn remove_from_speaker(&mut self, slot: usize) {
        let speaker = self.said[slot].speaker;
        if let Some(slots_by_speaker) = self.slots_by_speaker.get_mut(speaker as usize)
            && let Ok(at) = slots_by_speaker.binary_search(&crate::index::slot::slot_id(slot))
        {
            slots_by_speaker.remove(at);
        }
    }

    fn speaker(&mut self, name: &str) -> u32 {
        if self.slots_by_speaker.is_empty() {
            self.slots_by_speaker.push(Vec::new());
        }
        if name.is_empty() {
            return 0;
        }
        if let Some(known) = self.speakers.get(name) {
            return *known;
        }
        let number = crate::index::slot::slot_id(self.slots_by_speaker.len());
        self.slots_by_speaker.push(Vec::new());
        let words: HashSet<String> = name
            .split(' ')
            .filter(|word| word.chars().count() >= MIN_NAME_CHARS)
            .map(str::to_lowercase)
            .collect();
        for word in words {
            self.speakers_by_word.entry(word).or_default().push(number);
        }
        self.speakers.insert(name.to_owned(), number);
        number
    }
}
