//! What each text says of itself: who says it, when it was, of which kind it is.
//!
//! Not here: how that is read (`soft::text`), what it weighs (`soft`).

use crate::index::Entry;
use crate::text::features::{TextTraits, parts, traits};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

/// What the text of one memory says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TextFeatures {
    /// Of which kind it is.
    pub kind: TextTraits,
    /// When it was: `event_date`, else the date before the text, else the day of storing.
    pub day: Option<i32>,
    /// Who says it: a number of [`FeatureTable::called`]; 0 is nobody.
    pub speaker: u32,
    /// Equal for equal texts.
    pub print: u64,
}

impl TextFeatures {
    /// Whether two texts are equal.
    pub(crate) fn reads_as(self, other: Self) -> bool {
        self.print == other.print
    }
}

/// Whether a text is the one that was read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    Same,
    Other,
}

/// What all texts say of themselves, by slot.
#[derive(Debug, Default)]
pub(crate) struct FeatureTable {
    said: Vec<TextFeatures>,
    speakers: HashMap<String, u32>,
    /// For each word of a name, lower case and long enough to be asked for, who bears it.
    bearers: HashMap<String, Vec<u32>>,
    /// For each speaker the slots of what they say.
    spoken: Vec<Vec<u32>>,
}

/// Shorter words of a name are no names: initials, "Mr".
const LEAST_NAME: usize = 3;

impl FeatureTable {
    /// Reads the text of a slot; a text that was read before is not read again.
    pub(crate) fn put(&mut self, slot: usize, entry: &Entry, content: &str) -> Text {
        if self.said.len() <= slot {
            self.said.resize_with(slot + 1, TextFeatures::default);
        }
        let parts = parts(content);
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        // A slot that has not been read has the print 0.
        let print = hasher.finish() | 1;
        let text = if self.said[slot].print == print { Text::Same } else { Text::Other };
        let kind = if text == Text::Same { self.said[slot].kind } else { traits(parts.body) };
        let day = entry.event_day.or(parts.day).or(Some(entry.created_day));
        let speaker = self.speaker(parts.speaker);
        if speaker != self.said[slot].speaker {
            self.silence(slot);
            self.speaks(speaker, slot);
        }
        self.said[slot] = TextFeatures { kind, day, speaker, print };
        text
    }

    /// Forgets the text of a slot.
    pub(crate) fn clear(&mut self, slot: usize) {
        self.silence(slot);
        self.said[slot] = TextFeatures::default();
    }

    /// Notes what is known of the text of a slot that was empty, its speaker by name.
    pub(crate) fn take_in(&mut self, slot: usize, said: TextFeatures, speaker: &str) {
        if self.said.len() <= slot {
            self.said.resize_with(slot + 1, TextFeatures::default);
        }
        let speaker = self.speaker(speaker);
        self.speaks(speaker, slot);
        self.said[slot] = TextFeatures { speaker, ..said };
    }

    /// The names of all speakers, by number; the first is nobody's.
    pub(crate) fn by_number(&self) -> Vec<&str> {
        let mut names = vec![""; self.spoken.len().max(1)];
        self.speakers.iter().for_each(|(name, number)| names[*number as usize] = name);
        names
    }

    /// What a text says of itself.
    pub(crate) fn of(&self, slot: usize) -> TextFeatures {
        self.said[slot]
    }

    /// Those of the speakers who say something that is admitted and whose name has a word that is asked for, if they all have the same
    /// word in common; else nobody.
    pub(crate) fn called(&self, asked: &HashSet<String>, admits: impl Fn(usize) -> bool) -> &[u32] {
        let says = |speaker: &u32| {
            self.spoken[*speaker as usize].iter().any(|slot| admits(*slot as usize))
        };
        let mut found = asked
            .iter()
            .filter_map(|word| self.bearers.get(word))
            .filter(|bearers| bearers.iter().any(says));
        match (found.next(), found.next()) {
            (Some(one), None) => one,
            _ => &[],
        }
    }

    fn speaks(&mut self, speaker: u32, slot: usize) {
        if let Some(spoken) = self.spoken.get_mut(speaker as usize).filter(|_| speaker != 0) {
            let slot = crate::index::slot_id(slot);
            if let Err(at) = spoken.binary_search(&slot) {
                spoken.insert(at, slot);
            }
        }
    }

    fn silence(&mut self, slot: usize) {
        let speaker = self.said[slot].speaker;
        if let Some(spoken) = self.spoken.get_mut(speaker as usize)
            && let Ok(at) = spoken.binary_search(&crate::index::slot_id(slot))
        {
            spoken.remove(at);
        }
    }

    fn speaker(&mut self, name: &str) -> u32 {
        if self.spoken.is_empty() {
            self.spoken.push(Vec::new());
        }
        if name.is_empty() {
            return 0;
        }
        if let Some(known) = self.speakers.get(name) {
            return *known;
        }
        let number = crate::index::slot_id(self.spoken.len());
        self.spoken.push(Vec::new());
        let words: HashSet<String> = name
            .split(' ')
            .filter(|word| word.chars().count() >= LEAST_NAME)
            .map(str::to_lowercase)
            .collect();
        for word in words {
            self.bearers.entry(word).or_default().push(number);
        }
        self.speakers.insert(name.to_owned(), number);
        number
    }
}
