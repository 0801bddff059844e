//! Decides what becomes of each memory that was read: new, a changed text of one that an earlier import stored, or nothing. Pure.
//!
//! A memory with an id of its program is found again by it. A statement of a Markdown file is found by its text, otherwise as the most
//! similar one under the same heading. What is no longer in the file stays.

use crate::commands::transfer::import::existing::{Existing, ImportedMemory, Statements};
use crate::commands::transfer::import::projects::Projects;
use loci_proto::foreign::{
    ForeignMemory, Format, ImportOrigin, Reading, SkippedText, text_hash, without_place,
};
use loci_proto::memory::MemoryId;
use serde_json::{Map, Value};
use similar::TextDiff;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Two texts under one heading are versions of one statement from this similarity on, 0 to 1.
const MIN_SIMILARITY: f32 = 0.5;
/// Maximum number of changed texts and of earlier ones under a heading that are compared pair by pair.
const MAX_COMPARED: usize = 64;

/// The paths by which a statement is found again, one after the other: the folder may have another name now, and earlier versions
/// recorded only the whole path.
const PATHS: [fn(&ImportOrigin) -> &str; 2] =
    [ImportOrigin::whole_path, ImportOrigin::path_in_root];

/// What becomes of one memory.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// It is new.
    New,
    /// Its text is new; the memory as it is stored.
    Changed(Box<Map<String, Value>>),
    /// It is stored as it is.
    Unchanged,
    /// It is left out.
    Kept(Cow<'static, str>),
}

/// How far a memory is trusted after the import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is the person's own text.
    Own,
    /// The person's yes confirms it, in its own project.
    Confirmed,
    /// It looks suspicious, and waits until it is confirmed alone.
    Suspicious,
    /// The source does not say which project it belongs to: it waits in that of the working directory.
    OfNoProject,
    /// Nobody is asked: it waits.
    Unasked,
}

impl Standing {
    fn of(memory: &ForeignMemory, is_sure: bool, is_asked: bool) -> Self {
        match memory.by_person {
            _ if !memory.flags.is_empty() => Self::Suspicious,
            true => Self::Own,
            false if !is_sure => Self::OfNoProject,
            false if is_asked => Self::Confirmed,
            false => Self::Unasked,
        }
    }

    /// Returns whether briefs and hooks have it.
    pub fn is_trusted(self) -> bool {
        matches!(self, Self::Own | Self::Confirmed)
    }
}

/// One memory with what becomes of it.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub id: MemoryId,
    pub memory: ForeignMemory,
    pub origin: ImportOrigin,
    /// The id of its project.
    pub group: String,
    pub standing: Standing,
    pub change: Change,
}

/// What an import would do.
#[derive(Debug)]
pub(super) struct Plan {
    pub files: Vec<String>,
    pub planned: Vec<Planned>,
    pub skipped: Vec<SkippedText>,
    /// How many others were left out, by reason.
    pub skipped_more: BTreeMap<String, usize>,
    /// What the reading was not sure of.
    pub notices: Vec<String>,
    /// Number of memories that an earlier import stored from these files, and that are no longer there.
    pub missing: usize,
}

impl Plan {
    /// Compares a reading with what is stored; `is_asked` if a person sees the preview and says yes.
    pub fn new(
        format: Format,
        reading: Reading,
        existing: &Existing,
        projects: &mut Projects,
        is_asked: bool,
    ) -> Self {
        let mut files: HashSet<&str> = reading.files.iter().map(String::as_str).collect();
        let roots: HashSet<&str> =
            reading.memories.iter().filter_map(|memory| memory.root.as_deref()).collect();
        let below = |file: &'_ String| {
            let mut below = roots.iter().filter_map(|root| file.strip_prefix(root));
            below.next().map(|path| path.trim_start_matches('/').to_owned())
        };
        let below: Vec<String> = reading.files.iter().filter_map(below).collect();
        files.extend(below.iter().map(String::as_str));
        let earlier: Vec<&ImportedMemory> = existing
            .imported
            .iter()
            .filter(|memory| {
                let origin = &memory.origin;
                let is_read = |path: &str| files.contains(path);
                origin.from == format.as_str()
                    && (is_read(&origin.path) || is_read(origin.path_in_root()))
            })
            .collect();
        let origins: Vec<ImportOrigin> =
            reading.memories.iter().map(|memory| origin(format, memory)).collect();
        let matches = match_all(&origins, &reading.memories, &earlier);
        let found_again: HashSet<&MemoryId> = matches.iter().flatten().map(|old| &old.id).collect();
        let missing =
            earlier.iter().filter(|old| old.is_active && !found_again.contains(&old.id)).count();
        let mut ids = Ids { existing, given: HashSet::new() };
        let mut read = Read::default();
        let mut planned = Vec::new();
        for ((memory, origin), old) in reading.memories.into_iter().zip(origins).zip(matches) {
            let (group, is_sure) = projects.group_of(&memory);
            let standing = Standing::of(&memory, is_sure, is_asked);
            let (id, change) = match old {
                _ if projects.is_off(&group) => {
                    (origin.memory_id(u32::MAX), Change::Kept("loci is off in its project".into()))
                }
                Some(old) => (old.id.clone(), change_of(old, &origin, standing)),
                None => match read.stored(existing, &group, &memory) {
                    Some(reason) => (origin.memory_id(u32::MAX), Change::Kept(reason)),
                    None => ids.next(&origin),
                },
            };
            read.add(&group, &memory, &change);
            planned.push(Planned { id, memory, origin, group, standing, change });
        }
        let Reading { files, skipped, skipped_more, notices, .. } = reading;
        Self { files, planned, skipped, skipped_more, notices, missing }
    }

    /// Returns whether the import would store or change a memory.
    pub fn changes_something(&self) -> bool {
        self.planned
            .iter()
            .any(|planned| matches!(planned.change, Change::New | Change::Changed(_)))
    }

    /// Returns the ids by the ids of the program, for relations.
    pub fn ids(&self) -> HashMap<(&str, &str), &MemoryId> {
        let own = |planned: &'_ Planned| planned.memory.own_id.is_some();
        let named = self.planned.iter().filter(|planned| own(planned));
        named
            .filter_map(|planned| {
                let own_id = planned.memory.own_id.as_deref()?;
                Some(((planned.memory.path.as_str(), own_id), &planned.id))
            })
            .collect()
    }
}

/// What this import has read so far.
#[derive(Default)]
struct Read {
    texts: HashSet<(String, String)>,
    statements: Statements,
}

impl Read {
    /// Returns why a new memory is not needed: its project has its text, from this import or before.
    fn stored(
        &self,
        existing: &Existing,
        group: &str,
        memory: &ForeignMemory,
    ) -> Option<Cow<'static, str>> {
        let has = |text: &str| {
            let text = (group.to_owned(), text_hash(text));
            existing.texts.contains(&text) || self.texts.contains(&text)
        };
        // Earlier versions of the bridge imported statements without their headings.
        if has(&memory.content) || has(without_place(&memory.content, &memory.place)) {
            return Some("is stored already".into());
        }
        // From the same file it is found by its id; this is its text in another one.
        if existing.forgotten.contains(&(group.to_owned(), text_hash(&memory.content))) {
            return Some("was forgotten here".into());
        }
        if memory.own_id.is_some() {
            return None;
        }
        let other = existing.statements.other_file(group, memory);
        let other = other.or_else(|| self.statements.other_file(group, memory));
        other.map(|path| format!("is stored already, from {path}").into())
    }

    fn add(&mut self, group: &str, memory: &ForeignMemory, change: &Change) {
        if matches!(change, Change::Kept(_)) {
            return;
        }
        self.texts.insert((group.to_owned(), text_hash(&memory.content)));
        if memory.own_id.is_none() {
            self.statements.add(group, &memory.content, &memory.path, &memory.place);
        }
    }
}

fn origin(format: Format, memory: &ForeignMemory) -> ImportOrigin {
    ImportOrigin {
        from: format.as_str().to_owned(),
        path: memory.path.clone(),
        root: memory.root.clone(),
        place: memory.place.clone(),
        id: memory.own_id.clone(),
        text: text_hash(&memory.content),
    }
}

fn change_of(old: &ImportedMemory, origin: &ImportOrigin, standing: Standing) -> Change {
    if old.origin.text == origin.text {
        Change::Unchanged
    } else if !old.is_active {
        Change::Kept("its earlier text was forgotten or replaced here".into())
    } else if !old.is_unedited {
        Change::Kept("was edited here".into())
    } else if old.is_confirmed && !standing.is_trusted() {
        Change::Kept(
            "has a new text, but was confirmed here; say yes at a terminal to take it".into(),
        )
    } else {
        Change::Changed(Box::new(old.line.clone()))
    }
}

/// Returns the earlier import of each memory.
fn match_all<'a>(
    origins: &[ImportOrigin],
    memories: &[ForeignMemory],
    earlier: &[&'a ImportedMemory],
) -> Vec<Option<&'a ImportedMemory>> {
    let mut unmatched: Vec<Option<&'a ImportedMemory>> =
        earlier.iter().copied().map(Some).collect();
    let mut matches: Vec<Option<&'a ImportedMemory>> = vec![None; origins.len()];
    for (path, key) in PATHS.into_iter().flat_map(|path| KEYS.map(|key| (path, key))) {
        let mut by_key: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
        for (at, old) in earlier.iter().enumerate().rev() {
            if unmatched[at].is_some() {
                by_key.entry(key(&old.origin, path(&old.origin))).or_default().push(at);
            }
        }
        for (found, origin) in matches.iter_mut().zip(origins) {
            if found.is_none() {
                let old = by_key.get_mut(&key(origin, path(origin))).and_then(Vec::pop);
                *found = old.and_then(|old| unmatched[old].take());
            }
        }
    }
    let mut left: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for (at, old) in unmatched.iter().enumerate() {
        if let Some(old) = old.filter(|old| old.origin.id.is_none()) {
            left.entry((&old.origin.path, &old.origin.place)).or_default().push(at);
        }
    }
    for (at, origin) in origins.iter().enumerate() {
        if matches[at].is_some() || origin.id.is_some() {
            continue;
        }
        let Some(candidates) = left.get_mut(&(origin.path.as_str(), origin.place.as_str())) else {
            continue;
        };
        let similarity = |index: &usize| {
            let old = unmatched[*index].and_then(|old| old.line.get("content")?.as_str());
            TextDiff::from_words(old.unwrap_or_default(), &memories[at].content).ratio()
        };
        let best = candidates
            .iter()
            .enumerate()
            .take(MAX_COMPARED)
            .map(|(position, index)| (position, similarity(index)))
            .max_by(|(_, a), (_, b)| a.total_cmp(b));
        if let Some((position, _)) = best.filter(|(_, similarity)| *similarity >= MIN_SIMILARITY) {
            matches[at] = unmatched[candidates.swap_remove(position)].take();
        }
    }
    matches
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

/// Gives new ids, which depend only on the source: what was erased here is not imported again.
struct Ids<'a> {
    existing: &'a Existing,
    given: HashSet<MemoryId>,
}

impl Ids<'_> {
    /// Returns an id that no memory has, and that it is new; or that of a memory that was erased.
    fn next(&mut self, origin: &ImportOrigin) -> (MemoryId, Change) {
        for number in 0_u32.. {
            let id = origin.memory_id(number);
            if self.existing.erased.contains(id.as_str()) {
                return (id, Change::Kept("was erased here".into()));
            }
            if !self.existing.ids.contains(id.as_str()) && self.given.insert(id.clone()) {
                return (id, Change::New);
            }
        }
        (origin.memory_id(u32::MAX), Change::Kept("has no free id".into()))
    }
}
