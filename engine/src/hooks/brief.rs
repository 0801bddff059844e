//! The brief: what an agent must know at the beginning of a session and will not ask for. Pure.
//!
//! The heading above a line says why it is there: a person pinned it, it is a rule or preference, a procedure, an open state, or often
//! used. Nothing is read out of the words: the category was declared, or the type decides. Not here: loading the memories
//! (`operations::brief`).

use crate::bridge::LoadedMemory;
use crate::duplicate::content_hash::hash;
use crate::hooks::receipt::Withheld;
use crate::hooks::selection::{Delivered, Injection};
use crate::hooks::text;
use crate::hooks::text::{About, Line, QUARTERS, quarters};
use crate::model::declared;
use crate::model::memory::Memory;
use loci_proto::gate::ModelText;
use loci_proto::memory::{Category, MemoryType, Unasked};
use std::cmp::Reverse;
use std::collections::HashSet;

/// Maximum size of one memory, in quarters of a token: 240 Latin characters.
const LINE: usize = 60 * QUARTERS;
/// The same of a procedure, of which a line only says what it is for: 80 Latin characters.
const PROCEDURE_LINE: usize = 20 * QUARTERS;
/// Characters of a brief, whatever its token budget.
pub(crate) const MAX_CHARS: usize = 4000;

/// Why a memory is in a brief, in the order of the brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    Always,
    Person,
    Rules,
    Procedures,
    Open,
    Rest,
    Events,
}

/// The sections that divide a brief; what they leave goes to the others.
const SHARING: [Section; 4] = [Section::Person, Section::Rules, Section::Procedures, Section::Open];

impl Section {
    const ALL: [Self; 7] = [
        Self::Always,
        Self::Person,
        Self::Rules,
        Self::Procedures,
        Self::Open,
        Self::Rest,
        Self::Events,
    ];

    /// Returns the section of a memory; `is_about_person` as [`declared::is_about_person`].
    pub(crate) fn of(memory: &Memory, is_about_person: bool) -> Self {
        match (declared::category(&memory.metadata), memory.kind) {
            _ if memory.anchor.pinned => Self::Always,
            _ if declared::unasked(&memory.metadata) == Some(Unasked::Always) => Self::Always,
            (Some(Category::Procedure), _) | (None, MemoryType::Procedural) => Self::Procedures,
            (Some(Category::State), _) => Self::Open,
            (Some(Category::Event), _) | (None, MemoryType::Episodic) => Self::Events,
            (Some(Category::Rule | Category::Preference), _) if !is_about_person => Self::Rules,
            _ if is_about_person => Self::Person,
            _ => Self::Rest,
        }
    }

    /// Returns the line above its memories.
    fn heading(self) -> &'static str {
        match self {
            Self::Always => "Always given:\n",
            Self::Person => "For all projects:\n",
            Self::Rules => "Rules of this project:\n",
            Self::Procedures => "Procedures (recall_memory with the id has all steps):\n",
            Self::Open => "Open:\n",
            Self::Rest => "Most used, then newest:\n",
            Self::Events => "Latest events:\n",
        }
    }
}

/// A memory that may be in a brief.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub section: Section,
    pub memory: Memory,
    /// Display name of its project, if it is another one.
    pub project: Option<String>,
    /// A newer one probably states another value of the same fact.
    pub is_outdated: bool,
    /// How many others say the same in other words.
    pub folded: usize,
}

/// What waits for the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Memories that are held back.
    pub gated: usize,
    /// Memories for which agents have wishes.
    pub wished: usize,
}

/// Limits of a brief.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub tokens: usize,
    /// Only rules and preferences, as for a subagent.
    pub only_rules: bool,
}

/// Writes a brief of the candidates, newest first; of those held back and wished for the last lines tell, and `own` is what the client loads of its own memory.
pub(crate) fn write(
    (heading, waiting): (ModelText, Waiting),
    mut candidates: Vec<Candidate>,
    limits: Limits,
    own: Option<&LoadedMemory>,
) -> Injection {
    candidates.retain(|candidate| !limits.only_rules || candidate.section <= Section::Rules);
    // Stable: the newest first within a section, after the rules of the person and what was used more.
    candidates.sort_by_key(|candidate| (candidate.section, Reverse(weight(candidate))));
    let mut draft = Draft::new(&heading, limits.tokens);
    let mut open: Vec<Candidate> = Vec::with_capacity(candidates.len());
    let mut texts = HashSet::new();
    for candidate in candidates {
        let memory = &candidate.memory;
        if own.is_some_and(|own| own.has(memory)) {
            draft.injection.withheld.push((memory.seq, Withheld::InOwnFile));
        } else if texts.insert(hash(&memory.content)) {
            open.push(candidate);
        }
    }
    let share = draft.left / SHARING.len();
    let mut later = Vec::new();
    for section in Section::ALL {
        let mut left = match section {
            Section::Always => draft.left,
            _ if SHARING.contains(&section) => share,
            _ => 0,
        };
        for candidate in open.extract_if(.., |candidate| candidate.section == section) {
            if !draft.add(&candidate, &mut left) {
                later.push(candidate);
            }
        }
    }
    let mut missing = 0;
    for candidate in later {
        // Events only while there is nothing better.
        let is_wanted = candidate.section != Section::Events || draft.has_none_of(Section::Rest);
        let mut left = draft.left;
        let is_added = is_wanted && draft.add(&candidate, &mut left);
        missing += usize::from(!is_added && candidate.section <= Section::Open);
    }
    let injection = draft.end(heading, missing, waiting);
    // A heading alone may be longer than all that is allowed.
    if injection.tokens() > limits.tokens { Injection::default() } else { injection }
}

/// Returns what comes before newer memories of a section: about the person rules and preferences; of the rest what was used more, in steps
/// that one use seldom changes.
fn weight(candidate: &Candidate) -> u32 {
    let Candidate { section, memory, .. } = candidate;
    let is_standing = || {
        matches!(declared::category(&memory.metadata), Some(Category::Rule | Category::Preference))
    };
    match section {
        Section::Person => u32::from(is_standing()),
        Section::Rest => u64::try_from(memory.access_count).unwrap_or(0).max(2).ilog2(),
        _ => 0,
    }
}

/// A brief in progress.
struct Draft {
    injection: Injection,
    lines: Vec<(Section, ModelText, Delivered)>,
    /// In quarters of a token.
    left: usize,
    left_chars: usize,
}

impl Draft {
    fn new(heading: &str, tokens: usize) -> Self {
        Self {
            injection: Injection::default(),
            lines: Vec::new(),
            left: tokens.saturating_mul(QUARTERS).saturating_sub(quarters(heading)),
            left_chars: MAX_CHARS.saturating_sub(heading.chars().count()),
        }
    }

    fn has_none_of(&self, section: Section) -> bool {
        self.lines.iter().all(|line| line.0 != section)
    }

    /// Adds a memory if it fits into what is left, and into what is left of its section's share.
    fn add(&mut self, candidate: &Candidate, left: &mut usize) -> bool {
        let Candidate { section, memory, project, is_outdated, folded } = candidate;
        let mut notes: Vec<ModelText> = project.as_deref().map(text::project).into_iter().collect();
        notes.extend(is_outdated.then(|| ModelText::own("may be out of date")));
        notes.extend(text::folded(*folded));
        let (max, about) = match section {
            Section::Procedures => (PROCEDURE_LINE, About::Id),
            Section::Person | Section::Rules => (LINE, About::Nothing),
            _ => (LINE, About::Source),
        };
        let Line { text, is_whole } = text::line(memory, max, about, notes);
        let heading = if self.has_none_of(*section) { section.heading() } else { "" };
        let (size, chars) =
            (quarters(&text) + quarters(heading), text.chars().count() + heading.len());
        if size > (*left).min(self.left) || chars > self.left_chars {
            return false;
        }
        *left -= size;
        self.left -= size;
        self.left_chars -= chars;
        let delivered = Delivered {
            seq: memory.seq,
            id: memory.id.clone(),
            version: hash(&memory.content),
            is_whole,
        };
        self.lines.push((*section, text, delivered));
        true
    }

    /// Returns the last lines: what did not fit, and what is held back. The last memory makes room for them, but not the only one.
    fn last_lines(&mut self, mut missing: usize, waiting: Waiting) -> ModelText {
        loop {
            let text = last_lines(missing, waiting);
            let fits = quarters(&text) <= self.left && text.len() <= self.left_chars;
            if fits {
                return text;
            }
            if self.lines.len() < 2 {
                return ModelText::default();
            }
            let Some((section, line, _)) = self.lines.pop() else { return text };
            missing += usize::from(section <= Section::Open);
            self.left += quarters(&line);
            self.left_chars += line.chars().count();
        }
    }

    fn end(mut self, heading: ModelText, missing: usize, waiting: Waiting) -> Injection {
        if self.lines.is_empty() && waiting == Waiting::default() {
            return self.injection;
        }
        let last_lines = self.last_lines(missing, waiting);
        // Stable: within a section the order of the candidates.
        self.lines.sort_by_key(|line| line.0);
        let mut text = heading;
        let mut above = None;
        for (section, line, delivered) in self.lines {
            if above.replace(section) != Some(section) {
                text.push_own(section.heading());
            }
            text.push(&line);
            self.injection.delivered.push(delivered);
        }
        text.push(&last_lines);
        self.injection.text = text;
        self.injection
    }
}

fn last_lines(missing: usize, Waiting { gated, wished }: Waiting) -> ModelText {
    let mut text = ModelText::default();
    if missing > 0 {
        text = text
            .and_count(missing)
            .and_own(" more of these did not fit; recall_memory finds them.\n");
    }
    let waits = |count| if count == 1 { " memory waits" } else { " memories wait" };
    if gated > 0 {
        let why = " for the user, imported or flagged: loci review\n";
        text = text.and_count(gated).and_own(waits(gated)).and_own(why);
    }
    if wished > 0 {
        let why = " for the user's decision on what an agent asked for: loci review\n";
        text = text.and_count(wished).and_own(waits(wished)).and_own(why);
    }
    text
}
