//! Decides what becomes of each memory that was read: new, a changed text of one that an earlier import stored, or nothing.
//!
//! A memory with an id of its program is found again by it. A statement of a Markdown file is found by its text, otherwise as the most
//! similar one under the same heading. What is no longer in the file stays.

use crate::bridge::origin::{clear_text, erased_text_id};
use crate::error::Result;
use crate::flags;
use crate::transfer::foreign::body::Body;
use crate::transfer::foreign::matching::{Matches, match_all};
use crate::transfer::foreign::projects::{Placed, Projects, UNASSIGNED};
use crate::transfer::foreign::stored::{Earlier, Statements, Stored};
use crate::transfer::record::MemoryLine;
use loci_proto::foreign::{
    ForeignMemory, IMPORTED, ImportOrigin, ImportSource, Learned, text_hash, without_place,
};
use loci_proto::memory::MemoryId;
use loci_proto::requests::import::{
    ImportChange, ImportPreview, MissingMemory, PreviewedMemory, Standing,
};
use serde_json::json;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Why a text is left out that may be a new wording.
const TOO_MANY: &str = "too many texts changed here to compare all; import again for the rest";
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
    /// Why it looks suspicious.
    pub flags: Vec<String>,
    pub change: Change,
}

/// What an import does.
#[derive(Debug)]
pub(super) struct Plan {
    /// The memories in their order; `None` for a line that was refused.
    pub planned: Vec<Option<Planned>>,
    /// The client whose own memory they are, if it is one that is watched.
    pub client: Option<String>,
    /// What an earlier import stored from these files, and is no longer there.
    missing: Vec<MissingMemory>,
}

impl Plan {
    /// Compares what was read with what is stored; `is_asked` if a person sees the preview and says yes.
    pub fn new(
        from: ImportSource,
        body: Body,
        stored: &Stored<'_>,
        projects: &mut Projects<'_>,
        is_asked: bool,
    ) -> Result<Self> {
        let earlier = earlier_of(from, &body, stored);
        let Body { memories, .. } = body;
        let origins: Vec<Option<ImportOrigin>> =
            memories.iter().map(|memory| origin(from, memory.as_ref()?)).collect();
        let Matches { found: matches, undecided } = match_all(&origins, &memories, &earlier);
        let found: HashSet<&MemoryId> = matches.iter().flatten().map(|old| &old.line.id).collect();
        let is_missing = |old: &&&Earlier| old.is_active() && !found.contains(&old.line.id);
        let text_of = |old: &&Earlier| MissingMemory {
            id: old.line.id.clone(),
            text: old.line.content.clone(),
        };
        let missing = earlier.iter().filter(is_missing).map(text_of).collect();
        let mut decider = Decider { stored, given: HashSet::new(), read: Read::default() };
        let mut planned = Vec::with_capacity(memories.len());
        let read = memories.into_iter().zip(origins).zip(matches);
        for (at, ((memory, origin), old)) in read.enumerate() {
            let Some(memory) = memory else {
                planned.push(None);
                continue;
            };
            let (placed, is_sure) = projects.of(&memory)?;
            let flags = flags(&memory, origin.as_ref());
            let standing = standing(&memory, &flags, (is_sure, is_asked));
            let (id, change) = if undecided.contains(&at) {
                (MemoryId::from(uuid::Uuid::nil()), Change::LeftOut(TOO_MANY.into()))
            } else {
                decider.decide(
                    (&memory, origin.as_ref()),
                    old,
                    &placed,
                    (standing, projects.is_forced()),
                )?
            };
            // What is stored stays in its project, unless that is to be named still.
            let of_old = old.and_then(|old| old.line.group.clone());
            let group = of_old.filter(|of_old| of_old != UNASSIGNED).unwrap_or(placed.id);
            decider.read.add(&group, &memory, &change);
            planned.push(Some(Planned { id, memory, origin, group, standing, flags, change }));
        }
        Ok(Self { planned, client: None, missing })
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

    /// Notes that the import refuses a memory.
    pub fn leave_out(&mut self, at: usize, reason: &str) {
        if let Some(planned) = &mut self.planned[at] {
            planned.change = Change::LeftOut(reason.to_owned().into());
        }
    }

    /// Returns what it does, without the texts, which the caller has.
    pub fn preview(&self, projects: &mut Projects<'_>) -> Result<ImportPreview> {
        let memories = self.planned.iter().map(|planned| planned.as_ref().map_or_else(refused, of));
        let memories: Vec<PreviewedMemory> = memories.collect();
        let mut preview =
            ImportPreview { missing: self.missing.clone(), ..ImportPreview::default() };
        let used: BTreeSet<&String> =
            memories.iter().filter_map(|memory| memory.group.as_ref()).collect();
        for id in used {
            projects.name_stored(id)?;
            preview.projects.extend(projects.names.get(id).map(|name| (id.clone(), name.clone())));
            if projects.new.contains(id) {
                preview.new_projects.push(id.clone());
            }
        }
        Ok(ImportPreview { memories, ..preview })
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
    let flags = planned.flags.clone();
    PreviewedMemory { change, reason, text: None, before: None, group, standing, flags }
}

fn refused() -> PreviewedMemory {
    let (change, reason) = (ImportChange::LeftOut, Some("cannot be imported".to_owned()));
    let (group, standing, flags) = (None, None, Vec::new());
    PreviewedMemory { change, reason, text: None, before: None, group, standing, flags }
}

/// Returns the memories that an earlier import stored from these files.
fn earlier_of<'a>(from: ImportSource, body: &Body, stored: &'a Stored<'_>) -> Vec<&'a Earlier> {
    let ImportSource::Memories(format) = from else { return Vec::new() };
    let mut files: HashSet<&str> = body.files.iter().map(String::as_str).collect();
    let memories = body.memories.iter().flatten();
    let roots: HashSet<&str> = memories.filter_map(|memory| memory.root.as_deref()).collect();
    let below = |file: &'_ String| {
        let mut below = roots.iter().filter_map(|root| file.strip_prefix(root));
        below.next().map(|path| path.trim_start_matches('/').to_owned())
    };
    let below: Vec<String> = body.files.iter().filter_map(below).collect();
    files.extend(below.iter().map(String::as_str));
    let is_of_files = |earlier: &&Earlier| {
        let is_read = |path: &str| files.contains(path);
        let origin = &earlier.origin;
        origin.from == format.as_str() && (is_read(&origin.path) || is_read(origin.path_in_root()))
    };
    stored.earlier.iter().filter(is_of_files).collect()
}

pub(super) fn origin(from: ImportSource, memory: &ForeignMemory) -> Option<ImportOrigin> {
    let ImportSource::Memories(format) = from else { return None };
    Some(ImportOrigin {
        from: format.as_str().to_owned(),
        path: memory.path.clone(),
        root: memory.root.clone(),
        place: memory.place.clone(),
        id: memory.own_id.clone(),
        text: text_hash(&memory.content),
    })
}

/// Returns the flags that a memory gets when it is stored.
fn flags(memory: &ForeignMemory, origin: Option<&ImportOrigin>) -> Vec<String> {
    let mut metadata = memory.metadata.clone();
    metadata.extend(origin.map(|origin| (IMPORTED.to_owned(), json!(origin))));
    // The person's own file is nothing from outside.
    let of = if memory.by_person { flags::of_memory } else { flags::of_outside };
    of(&memory.content, &metadata).names()
}

fn standing(
    memory: &ForeignMemory,
    flags: &[String],
    (is_sure, is_asked): (bool, bool),
) -> Standing {
    match memory.by_person {
        _ if memory.learned.is_some() => Standing::Candidate,
        _ if !flags.is_empty() => Standing::Suspicious,
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
        (standing, is_forced): (Standing, bool),
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
            Some(old) => {
                Ok((old.line.id.clone(), change_of(old, origin, (placed, is_forced), standing)))
            }
            None => match self.reason_against(&placed.id, memory)? {
                Some((stored, reason)) => {
                    let id = stored.unwrap_or_else(|| origin.memory_id(u32::MAX));
                    Ok((id, Change::LeftOut(reason)))
                }
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

    /// Returns why a new memory is not needed: its project has its text, from this import or before; and the memory that has it.
    fn reason_against(
        &self,
        group: &str,
        memory: &ForeignMemory,
    ) -> Result<Option<(Option<MemoryId>, Cow<'static, str>)>> {
        // Earlier versions of the bridge imported statements without their headings.
        for text in [&memory.content, without_place(&memory.content, &memory.place)] {
            let same = self.stored.with_text(group, text)?;
            if same.is_some() || self.read.texts.contains(&(group.to_owned(), text_hash(text))) {
                return Ok(Some((same, "is stored already".into())));
            }
        }
        // From the same file it is found by its id; this is its text in another one, or under another heading.
        if let Some(id) = self.stored.forgotten(group, memory)? {
            return Ok(Some((Some(id), "was forgotten here".into())));
        }
        let erased =
            clear_text(&memory.content, &memory.place).map(|text| erased_text_id(group, text));
        if let Some(id) = erased
            && self.stored.was_erased(&id)?
        {
            return Ok(Some((Some(id), "was erased here".into())));
        }
        if memory.own_id.is_some() {
            return Ok(None);
        }
        let other = self.stored.statements.other_file(group, memory);
        let other = other.or_else(|| self.read.statements.other_file(group, memory));
        Ok(other.map(|path| (None, format!("is stored already, from {path}").into())))
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

fn change_of(
    old: &Earlier,
    origin: &ImportOrigin,
    (placed, is_forced): (&Placed, bool),
    standing: Standing,
) -> Change {
    let group = old.line.group.as_deref().unwrap_or_default();
    let is_named_now = group == UNASSIGNED && placed.id != UNASSIGNED;
    let left_out = |reason: String| Change::LeftOut(reason.into());
    match (old.origin.text == origin.text, old.is_active()) {
        (true, true) if is_named_now => {}
        (true, true) if is_forced && group != placed.id => {
            let id = &old.line.id;
            return left_out(format!("is in another project already; move it: loci move {id}"));
        }
        (true, true) => return Change::Unchanged(None),
        (true, false) => return left_out(format!("was {} here", old.line.status)),
        (false, false) => {
            return left_out("its earlier text was forgotten or replaced here".to_owned());
        }
        (false, true) if !old.is_unedited() => return left_out("was edited here".to_owned()),
        (false, true) => {}
    }
    if !old.is_confirmed() || standing.is_trusted() {
        return Change::Changed(Box::new(old.line.clone()));
    }
    left_out(match standing {
        Standing::Suspicious => {
            format!(
                "was confirmed here, and looks suspicious now; take it with loci edit {}",
                old.line.id
            )
        }
        Standing::OfNoProject => {
            "was confirmed here, and its project is not sure; name it with --group".to_owned()
        }
        _ => "has a new text, but was confirmed here; say yes at a terminal to take it".to_owned(),
    })
}
