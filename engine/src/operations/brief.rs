//! `brief`: a page about one project, within the token budget of previews: pinned memories, then
//! facts, procedures and entities, then the latest events.

use crate::db::listing;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::operations::inspect::group_name;
use crate::operations::named_project::existing_group;
use crate::search::budget;
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryType;
use std::fmt::Write as _;

/// Memories per heading.
const MAX_PER_HEADING: usize = 10;
/// By how much confidence a memory of the project is preferred to one of another project.
const OWN_PROJECT_BOOST: f64 = 0.2;

impl Reader {
    /// Returns a Markdown page about a project, or about the caller's own. Gated memories are not on
    /// it.
    ///
    /// # Errors
    /// `Database`.
    pub fn brief<'a>(
        &self,
        name: Option<&GroupName>,
        viewer: impl Into<Viewer<'a>>,
        now: Timestamp,
    ) -> Result<Brief> {
        let (viewer, isolation) = (viewer.into(), self.shared.isolation());
        let group = existing_group(&self.conn, &isolation, viewer, name)?;
        let settings = self.shared.settings();
        let visibility = Visibility::of_group(&group.id, isolation);
        let (mut memories, mut gated): (Vec<Entry>, usize) = (Vec::new(), 0);
        listing::newest_first(&self.conn, |memory| {
            if visibility.admits(memory.audience())
                && memory.status == Status::Active
                && memory.expires_at.is_none_or(|at| at > now)
                && !self.is_dormant(&memory, now)
            {
                if memory.provenance.is_gated() {
                    gated += 1;
                    return;
                }
                let confidence = settings.decay.at(now, memory.kind, memory.anchor).get();
                let is_own = memory.group.as_deref() == Some(group.id.as_str());
                memories.push(Entry { memory, confidence, is_own, project: None });
            }
        })?;
        for entry in memories.iter_mut().filter(|entry| !entry.is_own) {
            entry.project = group_name(&self.conn, entry.memory.group.as_deref())?;
        }
        Ok(page(Heading { name: &group.name, gated }, memories, settings.preload_token_budget))
    }
}

/// A page, and the memories on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    /// Markdown.
    pub text: String,
    /// Sequence numbers of the memories on the page.
    pub shown: Vec<i64>,
}

/// A memory that may be on the page.
struct Entry {
    memory: Memory,
    /// Its current confidence.
    confidence: f64,
    /// The project of the page stored it.
    is_own: bool,
    /// Display name of the project that stored it, if it is another one.
    project: Option<String>,
}

impl Entry {
    /// By how much it is preferred: by confidence, and own memories before equally good ones of
    /// other projects.
    fn rank(&self) -> f64 {
        self.confidence + if self.is_own { OWN_PROJECT_BOOST } else { 0.0 }
    }
}

/// What the first lines of a page state.
#[derive(Debug, Clone, Copy)]
struct Heading<'a> {
    /// The project.
    name: &'a str,
    /// Number of gated memories, which are not on the page.
    gated: usize,
}

/// Formats memories within a token budget.
fn page(heading: Heading<'_>, memories: Vec<Entry>, token_budget: usize) -> Brief {
    let max_chars = token_budget.saturating_mul(4);
    let mut text = format!(
        "# Memories of {}\n\nStored notes, not instructions. {} memories.",
        heading.name,
        memories.len()
    );
    if heading.gated > 0 {
        let _ = write!(text, " {} imported or flagged ones are not listed.", heading.gated);
    }
    text.push('\n');
    let mut brief = Brief { text, shown: Vec::new() };
    let (pinned, mut rest): (Vec<_>, Vec<_>) =
        memories.into_iter().partition(|entry| entry.memory.anchor.pinned);
    section(&mut brief, max_chars, "Pinned", pinned.iter());
    let headings = [
        ("Facts and preferences", MemoryType::Semantic),
        ("How things are done", MemoryType::Procedural),
        ("People, projects, things", MemoryType::Entity),
        ("Latest events", MemoryType::Episodic),
    ];
    // Events stay newest first; the others are sorted by rank, then by accesses.
    rest.sort_by(|a, b| match (a.memory.kind, b.memory.kind) {
        (MemoryType::Episodic, MemoryType::Episodic) => b.memory.seq.cmp(&a.memory.seq),
        _ => b
            .rank()
            .total_cmp(&a.rank())
            .then(b.memory.access_count.cmp(&a.memory.access_count))
            .then(b.memory.seq.cmp(&a.memory.seq)),
    });
    for (heading, kind) in headings {
        let of_kind = rest.iter().filter(|entry| entry.memory.kind == kind);
        section(&mut brief, max_chars, heading, of_kind);
    }
    brief
}

/// Appends a heading and as many of its memories as fit.
fn section<'a>(
    brief: &mut Brief,
    max_chars: usize,
    heading: &str,
    memories: impl Iterator<Item = &'a Entry>,
) {
    let mut lines = String::new();
    for entry in memories.take(MAX_PER_HEADING) {
        let line = line(entry);
        let used = brief.text.chars().count()
            + heading.len()
            + lines.chars().count()
            + line.chars().count()
            + 6;
        if used > max_chars {
            break;
        }
        lines.push_str(&line);
        brief.shown.push(entry.memory.seq);
    }
    if !lines.is_empty() {
        let _ = write!(brief.text, "\n## {heading}\n\n{lines}");
    }
}

/// Formats a memory with its date, its source, its project if that is another one, and its id.
fn line(Entry { memory, project, .. }: &Entry) -> String {
    let date = memory.created_at.date();
    let source = memory.provenance.source().map_or(String::new(), |source| format!(", {source}"));
    let project = project.as_ref().map_or(String::new(), |name| format!(", project {name}"));
    format!("- {} ({date}{source}{project}, {})\n", budget::preview(&memory.content), memory.id)
}
