//! Decides what becomes of each memory that was read: new, a changed text of one that an earlier import stored, or nothing.
//!
//! A memory with an id of its program is found again by it. A statement of a Markdown file is found by its text, otherwise as the most
//! similar one under the same heading. What is no longer in the file stays.

use crate::bridge::{ComparisonBudget, rewordings};
use crate::error::Result;
use crate::transfer::foreign::projects::{Placed, Projects, UNASSIGNED};
use crate::transfer::foreign::source::Source;
use crate::transfer::foreign::stored::{Earlier, Statements, Stored};
use crate::transfer::record::MemoryLine;
use loci_proto::foreign::{
    ForeignMemory, ImportOrigin, Learned, Source as From, text_hash, without_place,
};
use loci_proto::memory::MemoryId;
use loci_proto::requests::import::{ImportChange, ImportPreview, PreviewedMemory, Standing};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The paths by which a statement is found again, one after the other: the folder may have another name now, and earlier versions
/// recorded only the whole path.
const PATHS: [fn(&ImportOrigin) -> &str; 2] =
    [ImportOrigin::whole_path, ImportOrigin::path_in_root];
/// Maximum number of memories with the same origin.
const MAX_EQUAL: u32 = 10_000;

/// What becomes of one memory.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// It is new.
    New,
    /// Its text is new; the memory as it is stored.
    Changed(Box<MemoryLine>),
    /// It is stored as it is; its status, if it is a finding.
    Unchanged(Option<&'static str>),
    /// It is left out.
    LeftOut(Cow<'static, str>),
}

/// One memory with what becomes of it.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub id: MemoryId,
    pub memory: ForeignMemory,
    /// Where it is from; absent for a finding, whose metadata says it.
    pub origin: Option<ImportOrigin>,
    /// The id of its project.
    pub group: String,
    pub standing: Standing,
    pub change: Change,
}

/// What an import does.
#[derive(Debug)]
pub(super) struct Plan {
    /// The memories in their order; `None` for a line that was refused.
    pub planned: Vec<Option<Planned>>,
    /// Number of memories that an earlier import stored from these files, and that are no longer there.
    missing: usize,
}

impl Plan {
    /// Compares what was read with what is stored; `is_asked` if a person sees the preview and says yes.
    pub fn new(
        from: From,
        source: Source,
        stored: &Stored<'_>,
        projects: &mut Projects<'_>,
        is_asked: bool,
    ) -> Result<Self> {
        let earlier = earlier_of(from, &source, stored);
        let Source { memories, .. } = source;
        let origins: Vec<Option<ImportOrigin>> =
            memories.iter().map(|memory| origin(from, memory.as_ref()?)).collect();
        let matches = match_all(&origins, &memories, &earlier);
        let found: HashSet<&MemoryId> = matches.iter().flatten().map(|old| &old.line.id).collect();
        let is_missing = |old: &&&Earlier| old.is_active() && !found.contains(&old.line.id);
        let missing = earlier.iter().filter(is_missing).count();
        let mut decider = Decider { stored, given: HashSet::new(), read: Read::default() };
        let mut planned = Vec::with_capacity(memories.len());
        for ((memory, origin), old) in memories.into_iter().zip(origins).zip(matches) {
            let Some(memory) = memory else {
                planned.push(None);
                continue;
            };
            let (placed, is_sure) = projects.of(&memory)?;
            let standing = standing(&memory, is_sure, is_asked);
            let (id, change) =
                decider.decide((&memory, origin.as_ref()), old, &placed, standing)?;
            let group = placed.id;
            decider.read.add(&group, &memory, &change);
            planned.push(Some(Planned { id, memory, origin, group, standing, change }));
        }
        Ok(Self { planned, missing })
    }

    /// Returns the ids by the ids of the program, for relations.
    pub fn ids(&self) -> HashMap<(&str, &str), &MemoryId> {
        let named = self.planned.iter().flatten().filter_map(|planned| {
            let own_id = planned.memory.own_id.as_deref()?;
            Some(((planned.memory.path.as_str(), own_id), &planned.id))
        });
        named.collect()
    }

    /// Returns the number of memories that are stored as they are.
    pub fn unchanged(&self) -> usize {
        let is_unchanged = |planned: &&Planned| matches!(planned.change, Change::Unchanged(_));
        self.planned.iter().flatten().filter(is_unchanged).count()
    }

    /// Returns where a memory is from.
    pub fn place(&self, at: usize) -> Option<String> {
        let ForeignMemory { path, place, .. } = &self.planned.get(at)?.as_ref()?.memory;
        Some(if place.is_empty() { path.clone() } else { format!("{path}, {place}") })
    }

    /// Returns what it does, without the texts, which the caller has.
    pub fn preview(&self, projects: &Projects<'_>) -> ImportPreview {
        let memories = self.planned.iter().map(|planned| planned.as_ref().map_or_else(refused, of));
        let memories: Vec<PreviewedMemory> = memories.collect();
        let used: HashSet<&String> =
            memories.iter().filter_map(|memory| memory.group.as_ref()).collect();
        let names = projects.names.iter().filter(|(id, _)| used.contains(id));
        let projects: BTreeMap<String, String> =
            names.map(|(id, name)| (id.clone(), name.clone())).collect();
        ImportPreview { memories, projects, missing: self.missing }
    }
}

fn of(planned: &Planned) -> PreviewedMemory {
    let (change, reason) = match &planned.change {
        Change::New => (ImportChange::New, None),
        Change::Changed(_) => (ImportChange::Changed, None),
        Change::Unchanged(status) => (ImportChange::Unchanged, status.map(str::to_owned)),
        Change::LeftOut(reason) => (ImportChange::LeftOut, Some(reason.to_string())),
    };
    let (group, standing) = (Some(planned.group.clone()), Some(planned.standing));
    PreviewedMemory { change, reason, text: None, before: None, group, standing }
}

fn refused() -> PreviewedMemory {
    let (change, reason) = (ImportChange::LeftOut, Some("cannot be imported".to_owned()));
    PreviewedMemory { change, reason, text: None, before: None, group: None, standing: None }
}

/// Returns the memories that an earlier import stored from these files.
fn earlier_of<'a>(from: From, source: &Source, stored: &'a Stored<'_>) -> Vec<&'a Earlier> {
    let From::Memories(format) = from else { return Vec::new() };
    let mut files: HashSet<&str> = source.files.iter().map(String::as_str).collect();
    let memories = source.memories.iter().flatten();
    let roots: HashSet<&str> = memories.filter_map(|memory| memory.root.as_deref()).collect();
    let below = |file: &'_ String| {
        let mut below = roots.iter().filter_map(|root| file.strip_prefix(root));
        below.next().map(|path| path.trim_start_matches('/').to_owned())
    };
    let below: Vec<String> = source.files.iter().filter_map(below).collect();
    files.extend(below.iter().map(String::as_str));
    let is_of_files = |earlier: &&Earlier| {
        let is_read = |path: &str| files.contains(path);
        let origin = &earlier.origin;
        origin.from == format.as_str() && (is_read(&origin.path) || is_read(origin.path_in_root()))
    };
    stored.earlier.iter().filter(is_of_files).collect()
}

fn origin(from: From, memory: &ForeignMemory) -> Option<ImportOrigin> {
    let From::Memories(format) = from else { return None };
    Some(ImportOrigin {
        from: format.as_str().to_owned(),
        path: memory.path.clone(),
        root: memory.root.clone(),
        place: memory.place.clone(),
        id: memory.own_id.clone(),
        text: text_hash(&memory.content),
    })
}

fn standing(memory: &ForeignMemory, is_sure: bool, is_asked: bool) -> Standing {
    match memory.by_person {
        _ if memory.learned.is_some() => Standing::Candidate,
        _ if !memory.flags.is_empty() => Standing::Suspicious,
        true => Standing::Own,
        false if !is_sure => Standing::OfNoProject,
        false if is_asked => Standing::Confirmed,
        false => Standing::Unasked,
    }
}

/// Decides one memory after the other.
struct Decider<'a, 'b> {
    stored: &'a Stored<'b>,
    /// The ids that this import gives.
    given: HashSet<MemoryId>,
    read: Read,
}

impl Decider<'_, '_> {
    fn decide(
        &mut self,
        (memory, origin): (&ForeignMemory, Option<&ImportOrigin>),
        old: Option<&Earlier>,
        placed: &Placed,
        standing: Standing,
    ) -> Result<(MemoryId, Change)> {
        let left_out = |id, reason: &'static str| Ok((id, Change::LeftOut(reason.into())));
        let (Some(origin), None) = (origin, &memory.learned) else {
            let Some(Learned { id, .. }) = &memory.learned else {
                return left_out(MemoryId::from(uuid::Uuid::nil()), "has no id");
            };
            return self.decide_finding(id.clone(), placed);
        };
        match old {
            _ if placed.is_off => {
                left_out(origin.memory_id(u32::MAX), "loci is off in its project")
            }
            Some(old) => Ok((old.line.id.clone(), change_of(old, origin, placed, standing))),
            None => match self.reason_against(&placed.id, memory)? {
                Some(reason) => Ok((origin.memory_id(u32::MAX), Change::LeftOut(reason))),
                None => self.next_id(origin),
            },
        }
    }

    /// Decides about a finding of a transcript, which has the same id in every reading.
    fn decide_finding(&mut self, id: MemoryId, placed: &Placed) -> Result<(MemoryId, Change)> {
        let change = if placed.is_off {
            Change::LeftOut("loci is off in its project".into())
        } else if self.stored.was_erased(&id)? {
            Change::LeftOut("was erased here".into())
        } else if let Some(status) = self.stored.status(&id)? {
            Change::Unchanged(Some(status.as_str()))
        } else if self.given.insert(id.clone()) {
            Change::New
        } else {
            Change::LeftOut("was found twice".into())
        };
        Ok((id, change))
    }

    /// Returns why a new memory is not needed: its project has its text, from this import or before.
    fn reason_against(
        &self,
        group: &str,
        memory: &ForeignMemory,
    ) -> Result<Option<Cow<'static, str>>> {
        // Earlier versions of the bridge imported statements without their headings.
        for text in [&memory.content, without_place(&memory.content, &memory.place)] {
            if self.read.texts.contains(&(group.to_owned(), text_hash(text)))
                || self.stored.has_text(group, text)?
            {
                return Ok(Some("is stored already".into()));
            }
        }
        // From the same file it is found by its id; this is its text in another one.
        if self.stored.was_forgotten(group, &memory.content)? {
            return Ok(Some("was forgotten here".into()));
        }
        if memory.own_id.is_some() {
            return Ok(None);
        }
        let other = self.stored.statements.other_file(group, memory);
        let other = other.or_else(|| self.read.statements.other_file(group, memory));
        Ok(other.map(|path| format!("is stored already, from {path}").into()))
    }

    /// Returns an id that no memory has, and that it is new; or that of a memory that was erased. It depends only on the source: what was
    /// erased here is not imported again.
    fn next_id(&mut self, origin: &ImportOrigin) -> Result<(MemoryId, Change)> {
        for number in 0..MAX_EQUAL {
            let id = origin.memory_id(number);
            if self.stored.was_erased(&id)? {
                return Ok((id, Change::LeftOut("was erased here".into())));
            }
            if !self.stored.has(&id)? && self.given.insert(id.clone()) {
                return Ok((id, Change::New));
            }
        }
        Ok((origin.memory_id(u32::MAX), Change::LeftOut("has no free id".into())))
    }
}

/// What this import has read so far.
#[derive(Default)]
struct Read {
    texts: HashSet<(String, String)>,
    statements: Statements,
}

impl Read {
    fn add(&mut self, group: &str, memory: &ForeignMemory, change: &Change) {
        if matches!(change, Change::LeftOut(_)) || memory.learned.is_some() {
            return;
        }
        self.texts.insert((group.to_owned(), text_hash(&memory.content)));
        if memory.own_id.is_none() {
            self.statements.add(group, &memory.content, &memory.path, &memory.place);
        }
    }
}

fn change_of(old: &Earlier, origin: &ImportOrigin, placed: &Placed, standing: Standing) -> Change {
    let is_unassigned = old.line.group.as_deref() == Some(UNASSIGNED);
    if old.origin.text == origin.text && !(is_unassigned && placed.id != UNASSIGNED) {
        Change::Unchanged(None)
    } else if !old.is_active() {
        Change::LeftOut("its earlier text was forgotten or replaced here".into())
    } else if !old.is_unedited() {
        Change::LeftOut("was edited here".into())
    } else if old.is_confirmed() && !standing.is_trusted() {
        Change::LeftOut(
            "has a new text or project, but was confirmed here; say yes at a terminal to take it"
                .into(),
        )
    } else {
        Change::Changed(Box::new(old.line.clone()))
    }
}

/// Returns the earlier import of each memory.
fn match_all<'a>(
    origins: &[Option<ImportOrigin>],
    memories: &[Option<ForeignMemory>],
    earlier: &[&'a Earlier],
) -> Vec<Option<&'a Earlier>> {
    let mut unmatched: Vec<Option<&'a Earlier>> = earlier.iter().copied().map(Some).collect();
    let mut matches: Vec<Option<&'a Earlier>> = vec![None; origins.len()];
    for (path, key) in PATHS.into_iter().flat_map(|path| KEYS.map(|key| (path, key))) {
        let mut by_key: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
        for (at, old) in earlier.iter().enumerate().rev() {
            if unmatched[at].is_some() {
                by_key.entry(key(&old.origin, path(&old.origin))).or_default().push(at);
            }
        }
        for (found, origin) in matches.iter_mut().zip(origins) {
            if let (None, Some(origin)) = (&found, origin) {
                let old = by_key.get_mut(&key(origin, path(origin))).and_then(Vec::pop);
                *found = old.and_then(|old| unmatched[old].take());
            }
        }
    }
    match_rewordings(origins, memories, &mut unmatched, &mut matches);
    matches
}

/// Matches statements with those that left the same place of the same file, by their common words.
fn match_rewordings<'a>(
    origins: &[Option<ImportOrigin>],
    memories: &[Option<ForeignMemory>],
    unmatched: &mut [Option<&'a Earlier>],
    matches: &mut [Option<&'a Earlier>],
) {
    type At<'b> = HashMap<(&'b str, &'b str), (Vec<usize>, Vec<usize>)>;
    let mut places: At<'_> = HashMap::new();
    let lefts: Vec<Option<&Earlier>> = unmatched.to_vec();
    for (at, old) in lefts.iter().enumerate() {
        if let Some(old) = old.filter(|old| old.origin.id.is_none()) {
            let place = (old.origin.path.as_str(), old.origin.place.as_str());
            places.entry(place).or_default().1.push(at);
        }
    }
    for (at, origin) in origins.iter().enumerate() {
        let origin = origin.as_ref().filter(|origin| matches[at].is_none() && origin.id.is_none());
        let place = origin.map(|origin| (origin.path.as_str(), origin.place.as_str()));
        if let Some(found) = place.and_then(|place| places.get_mut(&place)) {
            found.0.push(at);
        }
    }
    let mut budget = ComparisonBudget::default();
    for (new, left) in places.values().filter(|(new, _)| !new.is_empty()) {
        let text = |at: &usize| memories[*at].as_ref().map_or("", |memory| memory.content.as_str());
        let new_texts: Vec<&str> = new.iter().map(text).collect();
        let old_text = |at: &usize| lefts[*at].map_or("", |old| old.line.content.as_str());
        let old_texts: Vec<&str> = left.iter().map(old_text).collect();
        for (new_at, old_at) in rewordings(&new_texts, &old_texts, &mut budget) {
            matches[new[new_at]] = unmatched[left[old_at]].take();
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
