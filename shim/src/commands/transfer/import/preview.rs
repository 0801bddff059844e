//! The preview of an import: how many memories of which type go into which project, some of them, and what is left out.

use crate::commands::input::memory_id::short;
use crate::output::{Screen, collapse_spaces, counted, escape_line, table, wrap};
use loci_proto::foreign::{ForeignMemory, ImportSource, Reading, SkippedText};
use loci_proto::requests::import::{
    ImportChange, ImportPreview, ImportReply, PreviewedMemory, Standing,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Number of files, doubts and texts left out that are listed; the others are counted.
const LISTED: usize = 10;
/// The same of texts that a yes does not confirm.
const LISTED_TEXTS: usize = 100;
/// Characters of a text that is left out.
const EXCERPT_CHARS: usize = 60;

/// What was read, and what the daemon would do with it.
pub(super) struct Preview<'a> {
    pub from: ImportSource,
    pub reading: &'a Reading,
    pub planned: &'a ImportPreview,
}

/// A memory with what becomes of it.
#[derive(Clone, Copy)]
struct Planned<'a> {
    memory: &'a ForeignMemory,
    becomes: &'a PreviewedMemory,
}

impl Planned<'_> {
    fn group(&self) -> &str {
        self.becomes.group.as_deref().unwrap_or_default()
    }

    fn is_written(&self) -> bool {
        matches!(self.becomes.change, ImportChange::New | ImportChange::Changed)
    }
}

/// How many memories of one project and type become what.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    new: usize,
    changed: usize,
    unchanged: usize,
    left_out: usize,
}

impl<'a> Preview<'a> {
    fn planned(&self) -> impl Iterator<Item = Planned<'a>> + use<'a> {
        let memories = self.reading.memories.iter().zip(&self.planned.memories);
        memories.map(|(memory, becomes)| Planned { memory, becomes })
    }

    fn counts(&self) -> BTreeMap<(&'a str, &'static str), Counts> {
        let mut counts: BTreeMap<(&str, &'static str), Counts> = BTreeMap::new();
        for planned in self.planned() {
            let group = planned.becomes.group.as_deref().unwrap_or_default();
            let of = counts.entry((group, planned.memory.kind.as_str())).or_default();
            match planned.becomes.change {
                ImportChange::New => of.new += 1,
                ImportChange::Changed => of.changed += 1,
                ImportChange::Unchanged => of.unchanged += 1,
                ImportChange::LeftOut => of.left_out += 1,
            }
        }
        counts
    }

    fn name<'b>(&'b self, group: &'b str) -> &'b str {
        self.planned.projects.get(group).map_or(group, String::as_str)
    }

    /// Returns whether the import would store or change a memory.
    pub fn changes_something(&self) -> bool {
        self.planned().any(|planned| planned.is_written())
    }

    /// Returns what is left out.
    fn left_out(&self) -> LeftOut {
        let left_out = |planned: Planned<'_>| {
            let reason = planned.becomes.reason.clone().unwrap_or_default();
            let mut text = collapse_spaces(&planned.memory.content);
            if let Some((at, _)) = text.char_indices().nth(EXCERPT_CHARS) {
                text.truncate(at);
                text.push('…');
            }
            (planned.becomes.change == ImportChange::LeftOut).then(|| SkippedText {
                path: planned.memory.path.clone(),
                // The text begins with the headings above it.
                place: text,
                reason,
            })
        };
        let Reading { skipped, skipped_more, .. } = self.reading;
        let mut all = Reading { skipped_more: skipped_more.clone(), ..Reading::default() };
        let of_reading = skipped.iter().cloned();
        of_reading.chain(self.planned().filter_map(left_out)).for_each(|text| all.skip(text));
        LeftOut { listed: all.skipped, more: all.skipped_more }
    }

    /// Returns the new and changed memories of a standing.
    fn written(&self, is_wanted: impl Fn(Standing) -> bool) -> Vec<Planned<'a>> {
        let is_of = |planned: &Planned<'_>| {
            planned.is_written() && planned.becomes.standing.is_some_and(&is_wanted)
        };
        self.planned().filter(is_of).collect()
    }
}

/// What is left out: some with place and reason, the others counted by reason.
struct LeftOut {
    listed: Vec<SkippedText>,
    more: BTreeMap<String, usize>,
}

impl LeftOut {
    /// Appends the section that lists them.
    fn write(&self, text: &mut String, screen: Screen) {
        let line = |text: &SkippedText| {
            let place =
                if text.place.is_empty() { String::new() } else { format!(", {}", text.place) };
            format!("{}{place}: {}", text.path, text.reason)
        };
        let mut lines: Vec<String> = self.listed.iter().map(line).collect();
        let others = (lines.len() + self.more.values().sum::<usize>()).saturating_sub(LISTED);
        lines.truncate(LISTED);
        if others > 0 && lines.len() == LISTED {
            lines.push(format!("and {others} more"));
        }
        lines.extend(self.more.iter().map(|(reason, count)| format!("{count}: {reason}")));
        list(text, (screen, usize::MAX), ("Left out", &lines), wrapped(screen));
    }
}

impl Preview<'_> {
    /// Returns the preview as JSON.
    pub fn json(&self) -> Value {
        let project = |id: &str| json!({"id": id, "name": self.name(id)});
        let counts = self.counts();
        let total = |of: fn(&Counts) -> usize| counts.values().map(of).sum::<usize>();
        let row = |((group, kind), of): (&(&str, &'static str), &Counts)| {
            json!({"project": project(group), "type": kind, "new": of.new, "changed": of.changed,
                "unchanged": of.unchanged, "left_out": of.left_out})
        };
        let memory = |Planned { memory, becomes }: Planned<'_>| {
            let ForeignMemory { kind, path, place, content, metadata, created_at, .. } = memory;
            json!({"project": becomes.group.as_deref().map(project), "type": kind, "path": path,
                "place": place, "content": content, "metadata": metadata, "created_at": created_at,
                "change": becomes.change, "reason": becomes.reason, "standing": becomes.standing})
        };
        let LeftOut { listed, more } = self.left_out();
        let left_out = |text: &SkippedText| json!({"path": text.path, "place": text.place, "reason": text.reason});
        json!({
            "from": self.from.to_string(), "files": self.reading.files, "new": total(|of| of.new),
            "changed": total(|of| of.changed), "unchanged": total(|of| of.unchanged),
            "no_longer_there": self.planned.missing.len(),
            "yours": self.written(|standing| standing == Standing::Own).len(),
            "by_project": counts.iter().map(row).collect::<Vec<_>>(),
            "memories": self.planned().map(memory).collect::<Vec<_>>(),
            "left_out": listed.iter().map(left_out).collect::<Vec<_>>(), "left_out_more": more,
            "notices": self.reading.notices,
        })
    }

    /// Returns the preview as text.
    pub fn text(&self) -> String {
        let (screen, files) = (Screen::of_stdout(), &self.reading.files);
        let mut text = format!("{}: {} read\n", self.from, counted(files.len(), "file", "files"));
        for file in files.iter().take(LISTED) {
            let _ = writeln!(text, "{}", screen.cut(&format!("  {}", escape_line(file))));
        }
        more(&mut text, files.len(), LISTED);
        let mut rows = vec![["PROJECT", "TYPE", "NEW", "CHANGED", "UNCHANGED"].map(str::to_owned)];
        for ((group, kind), of) in self.counts() {
            let numbers = [of.new, of.changed, of.unchanged].map(|number| number.to_string());
            let [new, changed, unchanged] = numbers;
            rows.push([escape_line(self.name(group)), kind.to_owned(), new, changed, unchanged]);
        }
        if rows.len() > 1 {
            let _ = write!(text, "\n{}", table(&rows));
        }
        let mut by_project: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let written = self.written(|standing| standing != Standing::Suspicious);
        for planned in &written {
            let is_changed = planned.becomes.change == ImportChange::Changed;
            let mark = if is_changed { "changed: " } else { "" };
            let lines = by_project.entry(planned.group()).or_default();
            lines.push(format!("{mark}{}", line(planned)));
        }
        for (group, lines) in by_project {
            let is_new = self.planned.new_projects.iter().any(|new| new == group);
            let mark = if is_new { " (a new project)" } else { "" };
            let title = format!("{}{mark}", escape_line(self.name(group)));
            section_of_reasons(&mut text, screen, &title, &lines);
        }
        let suspicious = self.written(|standing| standing == Standing::Suspicious);
        let with_flags = |planned: &Planned<'_>| {
            format!("{}: {}", planned.becomes.flags.join(", "), line(planned))
        };
        let suspicious: Vec<String> = suspicious.iter().map(with_flags).collect();
        section_of_reasons(&mut text, screen, "Looks suspicious, and waits", &suspicious);
        section_of_reasons(&mut text, screen, "Not sure", &self.reading.notices);
        let missing = self.planned.missing.iter().map(|missing| {
            format!("{}  {}", short(missing.id.as_str()), collapse_spaces(&missing.text))
        });
        let title = "No longer in these files, and kept (loci forget ID)";
        section(&mut text, screen, title, &missing.collect::<Vec<_>>());
        self.left_out().write(&mut text, screen);
        text.push_str(&self.notes());
        text
    }

    fn notes(&self) -> String {
        let mut text = String::from("\n");
        let mut say = |standing: Standing, what: &str| {
            let count = self.written(|of| of == standing).len();
            if count > 0 {
                let _ = writeln!(text, "{} {what}", counted(count, "memory", "memories"));
            }
        };
        say(Standing::Own, "trusted as your own.");
        say(Standing::Confirmed, "confirmed by your yes, each in its own project.");
        say(
            Standing::OfNoProject,
            "of no sure project: held back until you name it (--group NAME) or confirm each.",
        );
        say(
            Standing::Suspicious,
            "held back until you confirm each: loci list --held, loci confirm ID.",
        );
        say(
            Standing::Candidate,
            "in no brief until you accept them: loci review --candidates --all-groups.",
        );
        say(
            Standing::Unasked,
            "in no brief and no hook until loci confirm --imported, because nobody is asked here.",
        );
        if self.written(|_| true).is_empty() {
            text.push_str("Nothing to import.\n");
        }
        text
    }
}

fn line(planned: &Planned<'_>) -> String {
    let content = planned.memory.content.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{} · {content}", planned.memory.kind)
}

fn section(text: &mut String, screen: Screen, title: &str, lines: &[String]) {
    let cut = |line: &String| vec![screen.cut(&format!("  {}", escape_line(line)))];
    list(text, (screen, LISTED_TEXTS), (title, lines), cut);
}

/// Like [`section`], with all lines whole: a yes confirms them, or their ends say why.
fn section_of_reasons(text: &mut String, screen: Screen, title: &str, lines: &[String]) {
    list(text, (screen, usize::MAX), (title, lines), wrapped(screen));
}

fn wrapped(screen: Screen) -> impl Fn(&String) -> Vec<String> {
    move |line| {
        let shown = escape_line(&collapse_spaces(line));
        let parts = wrap(&shown, screen.width.saturating_sub(4));
        let indented = parts.into_iter().enumerate();
        indented
            .map(|(at, part)| format!("{}{}", if at == 0 { "  " } else { "    " }, &shown[part]))
            .collect()
    }
}

fn list(
    text: &mut String,
    (screen, limit): (Screen, usize),
    (title, lines): (&str, &[String]),
    shown: impl Fn(&String) -> Vec<String>,
) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", screen.style.bold(title));
    for line in lines.iter().take(limit).flat_map(shown) {
        let _ = writeln!(text, "{line}");
    }
    more(text, lines.len(), limit);
}

fn more(text: &mut String, count: usize, limit: usize) {
    if count > limit {
        let _ = writeln!(text, "  and {} more; --json lists all", count - limit);
    }
}

/// Returns which files of an export were read, and what was left out of them.
pub(super) fn of_files(reading: &Reading) -> String {
    let files = counted(reading.files.len(), "file", "files");
    let mut text = format!("{files} of loci export --format markdown\n");
    let left_out = LeftOut { listed: reading.skipped.clone(), more: reading.skipped_more.clone() };
    left_out.write(&mut text, Screen::of_stdout());
    text
}

/// What an import of lines that loci itself has written would do.
#[derive(Default)]
pub(super) struct RecordsPreview {
    new: Vec<String>,
    changed: Vec<String>,
    left_out: Vec<String>,
    suspicious: Vec<String>,
    unchanged: usize,
    others: usize,
}

impl RecordsPreview {
    /// Sorts the memories of a reply by what becomes of them.
    pub fn of(reply: ImportReply) -> Self {
        let others = reply.groups + reply.relations + reply.other;
        let ImportPreview { memories, projects, .. } = reply.preview.unwrap_or_default();
        let mut preview = Self { others, ..Self::default() };
        for memory in memories {
            let PreviewedMemory { change, reason, text, before, group, flags, .. } = memory;
            let project =
                group.and_then(|group| projects.get(&group)).map(|name| format!("{name} · "));
            let (project, text) = (project.unwrap_or_default(), text.unwrap_or_default());
            let with_reason = match (&before, &reason) {
                (Some(before), _) => format!("{project}{before} -> {text}"),
                (None, Some(reason)) => format!("{project}{text}: {reason}"),
                (None, None) => format!("{project}{text}"),
            };
            let is_written = matches!(change, ImportChange::New | ImportChange::Changed);
            if is_written && !flags.is_empty() {
                preview.suspicious.push(format!("{}: {with_reason}", flags.join(", ")));
            }
            match change {
                ImportChange::New => preview.new.push(with_reason),
                ImportChange::Changed => preview.changed.push(with_reason),
                ImportChange::LeftOut => preview.left_out.push(with_reason),
                ImportChange::Unchanged => preview.unchanged += 1,
            }
        }
        preview
    }

    /// Returns the preview as text.
    pub fn text(&self, screen: Screen) -> String {
        let memories = self.new.len() + self.changed.len() + self.unchanged + self.left_out.len();
        let mut text = format!(
            "{}: {} new, {} changed, {} unchanged",
            counted(memories, "memory", "memories"),
            self.new.len(),
            self.changed.len(),
            self.unchanged
        );
        if !self.left_out.is_empty() {
            let _ = write!(text, ", {} kept as here", self.left_out.len());
        }
        if self.others > 0 {
            let _ = write!(text, "; {}", counted(self.others, "other record", "other records"));
        }
        text.push('\n');
        section(&mut text, screen, "New", &self.new);
        section_of_reasons(&mut text, screen, "Changed", &self.changed);
        section_of_reasons(&mut text, screen, "Kept as here", &self.left_out);
        section_of_reasons(&mut text, screen, "Looks suspicious, and waits", &self.suspicious);
        text
    }

    /// Returns the preview as JSON.
    pub fn json(&self) -> Value {
        json!({
            "new": self.new.len(), "changed": self.changed, "unchanged": self.unchanged,
            "kept": self.left_out, "suspicious": self.suspicious, "other": self.others,
        })
    }
}
