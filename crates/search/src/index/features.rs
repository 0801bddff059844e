//! Text features of each memory: speaker, day and traits of the text.
//!
//! Not here: extracting them (`text::features`), their weights (`ranking::late_interaction`).

use crate::index::slot_id;
use loci_base::model::entry::Entry;
use loci_base::text::features::{TextTraits, event_day, parts, traits};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

/// Features of the text of one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextFeatures {
    /// Traits of the text.
    pub traits: TextTraits,
    /// Its day: `event_date`, else the day of the event that the text names, else the day when it was
    /// stored.
    pub day: Option<i32>,
    /// Number of its speaker; 0 for none.
    pub speaker: u32,
    /// Hash of the text; 0 for an empty slot.
    pub fingerprint: u64,
}

impl TextFeatures {
    /// Returns whether two texts are equal.
    pub fn same_text(self, other: Self) -> bool {
        self.fingerprint == other.fingerprint
    }
}

/// Whether a text differs from the previous text of its slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    Unchanged,
    Changed,
}

/// Text features of all memories, by slot.
#[derive(Debug, Default)]
pub struct FeatureTable {
    by_slot: Vec<TextFeatures>,
    /// Speaker numbers, by name.
    speakers: HashMap<String, u32>,
    /// Speakers by each word of their names, in lower case and not shorter than [`MIN_NAME_CHARS`].
    speakers_by_word: HashMap<String, Vec<u32>>,
    /// Slots of the texts of each speaker, by its number.
    slots_by_speaker: Vec<Vec<u32>>,
}

/// Words of a name with fewer characters are ignored: initials, "Mr".
const MIN_NAME_CHARS: usize = 3;

impl FeatureTable {
    /// Updates the features of a slot. The traits are computed only if the text has changed.
    pub fn put(&mut self, slot: usize, entry: &Entry, content: &str) -> Text {
        if self.by_slot.len() <= slot {
            self.by_slot.resize_with(slot + 1, TextFeatures::default);
        }
        let parts = parts(content);
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        // The fingerprint 0 means an empty slot.
        let fingerprint = hasher.finish() | 1;
        let text = if self.by_slot[slot].fingerprint == fingerprint {
            Text::Unchanged
        } else {
            Text::Changed
        };
        let traits =
            if text == Text::Unchanged { self.by_slot[slot].traits } else { traits(parts.body) };
        let day = entry.event_day.or_else(|| event_day(content)).or(Some(entry.created_day));
        let speaker = self.speaker_number(parts.speaker);
        if speaker != self.by_slot[slot].speaker {
            self.remove_from_speaker(slot);
            self.add_to_speaker(speaker, slot);
        }
        self.by_slot[slot] = TextFeatures { traits, day, speaker, fingerprint };
        text
    }

    /// Clears a slot.
    pub fn clear(&mut self, slot: usize) {
        self.remove_from_speaker(slot);
        self.by_slot[slot] = TextFeatures::default();
    }

    /// Sets the features of an empty slot; `speaker` is a name.
    pub(crate) fn insert_record(&mut self, slot: usize, features: TextFeatures, speaker: &str) {
        if self.by_slot.len() <= slot {
            self.by_slot.resize_with(slot + 1, TextFeatures::default);
        }
        let speaker = self.speaker_number(speaker);
        self.add_to_speaker(speaker, slot);
        self.by_slot[slot] = TextFeatures { speaker, ..features };
    }

    /// Returns the names of all speakers, by number; the name of number 0 is empty.
    pub(crate) fn speaker_names(&self) -> Vec<&str> {
        let mut names = vec![""; self.slots_by_speaker.len().max(1)];
        self.speakers.iter().for_each(|(name, number)| names[*number as usize] = name);
        names
    }

    /// Returns the features of a slot.
    pub fn of(&self, slot: usize) -> TextFeatures {
        self.by_slot[slot]
    }

    /// Returns the numbers of the speakers who have an admitted memory and whose name contains a
    /// word of the query. Empty if this holds for more than one word of the query.
    pub(crate) fn speakers_named(
        &self,
        query_words: &HashSet<String>,
        admits: impl Fn(usize) -> bool,
    ) -> &[u32] {
        let has_admitted = |speaker: &u32| {
            self.slots_by_speaker[*speaker as usize].iter().any(|slot| admits(*slot as usize))
        };
        let mut named = query_words
            .iter()
            .filter_map(|word| self.speakers_by_word.get(word))
            .filter(|speakers| speakers.iter().any(has_admitted));
        match (named.next(), named.next()) {
            (Some(speakers), None) => speakers,
            _ => &[],
        }
    }

    fn add_to_speaker(&mut self, speaker: u32, slot: usize) {
        if let Some(slots) =
            self.slots_by_speaker.get_mut(speaker as usize).filter(|_| speaker != 0)
        {
            let slot = slot_id(slot);
            if let Err(position) = slots.binary_search(&slot) {
                slots.insert(position, slot);
            }
        }
    }

    fn remove_from_speaker(&mut self, slot: usize) {
        let speaker = self.by_slot[slot].speaker;
        if let Some(slots) = self.slots_by_speaker.get_mut(speaker as usize)
            && let Ok(position) = slots.binary_search(&slot_id(slot))
        {
            slots.remove(position);
        }
    }

    /// Returns the number of a speaker, and assigns one if the name is new.
    fn speaker_number(&mut self, name: &str) -> u32 {
        if self.slots_by_speaker.is_empty() {
            self.slots_by_speaker.push(Vec::new());
        }
        if name.is_empty() {
            return 0;
        }
        if let Some(number) = self.speakers.get(name) {
            return *number;
        }
        let number = slot_id(self.slots_by_speaker.len());
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
