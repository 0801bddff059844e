//! One memory in full: its lines for any width, and the memories that it leads to.

use crate::commands::input::memory_id;
use crate::output::local_time::{date, date_time};
use crate::output::{Ink, Terms, escape_line, escape_lines, wrap};
use crate::tui::line::InkLine;
use loci_proto::memory::MemoryId;
use loci_proto::requests::inspect::{InspectReply, MemoryDetails};
use loci_proto::requests::relate::MemoryPreview;
use serde_json::Value;

/// A memory that the shown one leads to.
#[derive(Debug, Clone)]
pub struct Lead {
    /// Its id.
    pub id: MemoryId,
    /// The line that stands for it.
    pub text: String,
    section: &'static str,
}

/// A line of the shown memory.
#[derive(Debug, Clone)]
pub struct Line {
    /// The text.
    pub line: InkLine,
    /// The lead that it belongs to.
    pub lead: Option<usize>,
}

impl Line {
    fn plain(text: impl Into<String>) -> Self {
        Self { line: InkLine::plain(text), lead: None }
    }

    fn heading(text: &str) -> Self {
        Self { line: InkLine::inked(text, Ink::Bold), lead: None }
    }
}

/// The memory that is shown.
#[derive(Debug)]
pub struct Detail {
    reply: Box<InspectReply>,
    leads: Vec<Lead>,
    /// Index of the selected lead.
    pub selected: Option<usize>,
    /// First visible line.
    pub scroll: usize,
}

impl Detail {
    /// Shows a memory from its beginning.
    #[must_use]
    pub fn new(reply: InspectReply) -> Self {
        let leads = leads(&reply);
        Self { reply: Box::new(reply), leads, selected: None, scroll: 0 }
    }

    /// Returns the id of the memory.
    #[must_use]
    pub fn id(&self) -> &MemoryId {
        &self.reply.memory.id
    }

    /// Returns the memory.
    #[must_use]
    pub fn memory(&self) -> &MemoryDetails {
        &self.reply.memory
    }

    /// Selects the next or previous lead; `None` above the first.
    pub fn move_lead(&mut self, down: bool) -> bool {
        let last = self.leads.len().checked_sub(1);
        let next = match (self.selected, down) {
            (None, true) => last.map(|_| 0),
            (Some(at), true) => Some((at + 1).min(last.unwrap_or_default())),
            (None | Some(0), false) => None,
            (Some(at), false) => Some(at - 1),
        };
        std::mem::replace(&mut self.selected, next) != next
    }

    /// Returns the selected lead.
    #[must_use]
    pub fn selected_lead(&self) -> Option<&Lead> {
        self.selected.and_then(|at| self.leads.get(at))
    }

    /// Returns the lines for a width.
    #[must_use]
    pub fn lines(&self, width: usize, terms: &Terms) -> Vec<Line> {
        let memory = &self.reply.memory;
        let id = InkLine::inked(memory.id.as_str(), Ink::Dim);
        let mut lines = vec![Line { line: id, lead: None }];
        lines.push(Line::plain(""));
        let content = escape_lines(memory.content.trim_end()).replace('\t', "    ");
        push_wrapped(&mut lines, &content, width, terms);
        lines.push(Line::plain(""));
        for (name, value) in fields(memory) {
            push_field(&mut lines, (name.as_str(), &value), width, memory);
        }
        self.push_leads(&mut lines, width);
        if !self.reply.log.is_empty() {
            lines.extend([Line::plain(""), Line::heading("Log")]);
            for entry in &self.reply.log {
                let client = entry.client.as_deref().map_or(String::new(), |c| format!("  {c}"));
                let text = format!("{}  {}{client}", date_time(&entry.at), entry.operation);
                push_wrapped(&mut lines, &escape_line(&text), width, &Terms::default());
            }
        }
        lines
    }

    fn push_leads(&self, lines: &mut Vec<Line>, width: usize) {
        let mut section = "";
        for (at, lead) in self.leads.iter().enumerate() {
            if lead.section != section {
                section = lead.section;
                lines.extend([Line::plain(""), Line::heading(section)]);
            }
            for (part, range) in wrap(&lead.text, width.saturating_sub(2)).into_iter().enumerate() {
                let start = if part == 0 { "" } else { "  " };
                let text = format!("{start}{}", &lead.text[range]);
                lines.push(Line { line: InkLine::plain(text), lead: Some(at) });
            }
        }
    }
}

fn push_wrapped(lines: &mut Vec<Line>, text: &str, width: usize, terms: &Terms) {
    for range in wrap(text, width) {
        let line = &text[range];
        let marks = terms.ranges(line).into_iter().map(|range| (range, Ink::Bold)).collect();
        lines.push(Line { line: InkLine { text: line.to_owned(), marks }, lead: None });
    }
}

fn push_field(
    lines: &mut Vec<Line>,
    (name, value): (&str, &str),
    width: usize,
    of: &MemoryDetails,
) {
    let head = format!("{name:<11} ");
    for (at, range) in wrap(value, width.saturating_sub(head.len())).into_iter().enumerate() {
        let start = if at == 0 { head.clone() } else { " ".repeat(head.len()) };
        let mut line = InkLine::plain(format!("{start}{}", &value[range]));
        if at == 0 {
            line.marks.push((0..name.len(), Ink::Dim));
            if name == "type" {
                line.marks.push((head.len()..line.text.len(), Ink::Type(of.kind)));
            }
        }
        lines.push(Line { line, lead: None });
    }
}

/// Returns names and values of what is known about a memory.
fn fields(memory: &MemoryDetails) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        fields.extend(value.map(|value| (name.to_owned(), escape_line(&value))));
    };
    add("type", Some(memory.kind.to_string()));
    add("project", memory.group.clone());
    add("scope", Some(memory.scope.to_string()));
    let pinned = if memory.pinned { ", pinned" } else { "" };
    let faded = if memory.flagged { ", faded" } else { "" };
    add("status", Some(format!("{}{pinned}{faded}", memory.status)));
    add("confidence", Some(format!("{:.2}", memory.confidence.get())));
    let source = memory.provenance.client.clone();
    let origin = memory.provenance.origin.map(|origin| origin.to_string());
    add("stored by", source.or(origin));
    add("created", Some(date_time(&memory.created_at)));
    add("day", memory.event_date_derived.clone());
    add("updated", (memory.updated_at != memory.created_at).then(|| date_time(&memory.updated_at)));
    let last = memory
        .last_accessed
        .as_deref()
        .map_or(String::new(), |at| format!(", last {}", date_time(at)));
    add("used", Some(format!("{}×{last}", memory.access_count)));
    add("expires", memory.expires_at.as_deref().map(date_time));
    let flags = memory.provenance.flags.join(", ");
    add("flags", (!flags.is_empty()).then_some(flags));
    add("reason", memory.forgotten_reason.clone());
    for (key, value) in &memory.metadata {
        let value = value.as_str().map_or_else(|| Value::to_string(value), str::to_owned);
        add(&escape_line(key), Some(value));
    }
    fields
}

/// Returns the memories that a memory leads to, in the order in which they are shown.
fn leads(reply: &InspectReply) -> Vec<Lead> {
    let mut leads = Vec::new();
    let mut add = |section: &'static str, lead: &str, memory: &MemoryPreview| {
        let text = format!(
            "{lead}{}  {}",
            memory_id::short(memory.id.as_str()),
            escape_line(&memory.preview)
        );
        leads.push(Lead { id: memory.id.clone(), text, section });
    };
    for relation in &reply.relations {
        let predicate = escape_line(&relation.predicate);
        if let Some(object) = &relation.object {
            add("Relations", &format!("{predicate} → "), object);
        } else if let Some(subject) = &relation.subject {
            add("Relations", &format!("← {predicate}  "), subject);
        }
    }
    reply.mentions.iter().for_each(|memory| add("Mentions", "", memory));
    reply.mentioned_in.iter().for_each(|memory| add("Mentioned in", "", memory));
    reply.sources.iter().for_each(|memory| add("Sources", "", memory));
    for version in reply.versions.iter().flat_map(|versions| &versions.chain) {
        let is_shown = version.id == reply.memory.id;
        let mark = if is_shown { "* " } else { "  " };
        let lead = format!(
            "{mark}{} {}  {}  ",
            version.version,
            date(&version.created_at),
            version.status
        );
        let preview = version.preview.clone().unwrap_or_default();
        add("Versions", &lead, &MemoryPreview { id: version.id.clone(), preview });
    }
    leads
}
