//! The preview of an import: how many memories of which type go into which project, some of them, and what is left out.

use crate::commands::transfer::import::plan::{Change, Plan, Planned, Standing};
use crate::commands::transfer::import::projects::Projects;
use crate::output::{Screen, collapse_spaces, counted, escape_line, table, wrap};
use loci_proto::foreign::{Format, Reading, SkippedText};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Number of new memories of a project that the JSON shows, spread over all.
const EXAMPLES: usize = 5;
/// Number of files, texts of a project, suspicious texts and texts left out that are listed; the others are counted.
const LISTED: usize = 10;

/// How many memories of one project and type become what.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    new: usize,
    changed: usize,
    unchanged: usize,
    kept: usize,
}

fn counts(plan: &Plan) -> BTreeMap<(String, &'static str), Counts> {
    let mut counts: BTreeMap<(String, &'static str), Counts> = BTreeMap::new();
    for planned in &plan.planned {
        let of = counts.entry((planned.group.clone(), planned.memory.kind.as_str())).or_default();
        match planned.change {
            Change::New => of.new += 1,
            Change::Changed(_) => of.changed += 1,
            Change::Unchanged => of.unchanged += 1,
            Change::Kept(_) => of.kept += 1,
        }
    }
    counts
}

fn new(plan: &Plan) -> Vec<&Planned> {
    plan.planned.iter().filter(|planned| matches!(planned.change, Change::New)).collect()
}

/// Returns the new memories that are shown.
fn examples(plan: &Plan) -> Vec<&Planned> {
    let new = new(plan);
    let step = new.len().div_ceil(EXAMPLES).max(1);
    new.into_iter().step_by(step).collect()
}

/// Returns what is left out.
fn left_out(plan: &Plan) -> LeftOut {
    let kept = plan.planned.iter().filter_map(|planned| match &planned.change {
        Change::Kept(reason) => Some(SkippedText {
            path: planned.memory.path.clone(),
            place: planned.memory.place.clone(),
            reason: reason.to_string(),
        }),
        _ => None,
    });
    let mut all = Reading { skipped_more: plan.skipped_more.clone(), ..Reading::default() };
    plan.skipped.iter().cloned().chain(kept).for_each(|text| all.skip(text));
    LeftOut { listed: all.skipped, more: all.skipped_more }
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
        let lines: Vec<String> = self.listed.iter().take(LISTED).map(line).collect();
        section_of_reasons(text, screen, "Left out", &lines);
        let others: usize = self.more.values().sum();
        more(text, self.listed.len() + others);
        for (reason, count) in self.more.iter().take(LISTED) {
            let _ = writeln!(text, "    {count}: {}", escape_line(reason));
        }
    }
}

/// Returns the preview as JSON.
pub(super) fn json(format: Format, plan: &Plan, projects: &Projects) -> Value {
    let total = |of: fn(&Counts) -> usize| counts(plan).values().map(of).sum::<usize>();
    let rows: Vec<Value> = counts(plan)
        .iter()
        .map(|((group, kind), of)| {
            json!({"project": projects.json(group), "type": kind, "new": of.new, "changed": of.changed,
                "unchanged": of.unchanged, "left_out": of.kept})
        })
        .collect();
    let examples: Vec<Value> = examples(plan)
        .iter()
        .map(|planned| {
            json!({"project": projects.json(&planned.group), "type": planned.memory.kind,
                "path": planned.memory.path, "place": planned.memory.place, "content": planned.memory.content})
        })
        .collect();
    let LeftOut { listed, more } = left_out(plan);
    let listed: Vec<Value> = listed
        .iter()
        .map(|text| json!({"path": text.path, "place": text.place, "reason": text.reason}))
        .collect();
    json!({
        "from": format, "files": plan.files, "new": total(|of| of.new), "changed": total(|of| of.changed),
        "unchanged": total(|of| of.unchanged), "no_longer_there": plan.missing, "yours": yours(plan),
        "by_project": rows, "examples": examples, "left_out": listed, "left_out_more": more,
        "notices": plan.notices,
    })
}

/// Returns the new and changed memories of a standing.
fn written(plan: &Plan, is_wanted: impl Fn(Standing) -> bool) -> Vec<&Planned> {
    let is_written = |of: &&Planned| matches!(of.change, Change::New | Change::Changed(_));
    plan.planned.iter().filter(is_written).filter(|of| is_wanted(of.standing)).collect()
}

/// Returns the number of new and changed memories that are trusted as the person's own.
fn yours(plan: &Plan) -> usize {
    written(plan, |standing| standing == Standing::Own).len()
}

/// Returns the preview as text.
pub(super) fn text(format: Format, plan: &Plan, projects: &Projects) -> String {
    let screen = Screen::of_stdout();
    let mut text = String::new();
    let _ = writeln!(text, "{format}: {} read", counted(plan.files.len(), "file", "files"));
    for file in plan.files.iter().take(LISTED) {
        let _ = writeln!(text, "{}", screen.cut(&format!("  {}", escape_line(file))));
    }
    more(&mut text, plan.files.len());
    let mut rows = vec![["PROJECT", "TYPE", "NEW", "CHANGED", "UNCHANGED"].map(str::to_owned)];
    for ((group, kind), of) in counts(plan) {
        let name = projects.names.get(&group).map_or(group.as_str(), String::as_str);
        let numbers = [of.new, of.changed, of.unchanged].map(|number| number.to_string());
        let [new, changed, unchanged] = numbers;
        rows.push([escape_line(name), kind.to_owned(), new, changed, unchanged]);
    }
    let _ = write!(text, "\n{}", table(&rows));
    let mut by_project: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for planned in written(plan, |standing| standing != Standing::Suspicious) {
        let mark = if matches!(planned.change, Change::Changed(_)) { "changed: " } else { "" };
        by_project.entry(&planned.group).or_default().push(format!("{mark}{}", line(planned)));
    }
    for (group, lines) in by_project {
        let name = projects.names.get(group).map_or(group, String::as_str);
        section(&mut text, screen, &escape_line(name), &lines);
    }
    let suspicious = written(plan, |standing| standing == Standing::Suspicious);
    let suspicious: Vec<String> = suspicious
        .iter()
        .map(|planned| format!("{}: {}", planned.memory.flags.join(", "), line(planned)))
        .collect();
    section(&mut text, screen, "Looks suspicious, and waits", &suspicious);
    section_of_reasons(&mut text, screen, "Not sure", &plan.notices);
    left_out(plan).write(&mut text, screen);
    text.push_str(&notes(plan));
    text
}

fn notes(plan: &Plan) -> String {
    let mut text = String::from("\n");
    if plan.missing > 0 {
        let _ = writeln!(
            text,
            "{} no longer in these files; they stay.",
            counted(plan.missing, "earlier imported memory is", "earlier imported memories are")
        );
    }
    let mut say = |standing: Standing, what: &str| {
        let count = written(plan, |of| of == standing).len();
        if count > 0 {
            let _ = writeln!(text, "{} {what}", counted(count, "memory", "memories"));
        }
    };
    say(Standing::Own, "trusted as your own.");
    say(Standing::Confirmed, "confirmed by your yes, each in its own project.");
    say(
        Standing::OfNoProject,
        "of no sure project: held back in the one of this folder (loci list --held); --group NAME gives one.",
    );
    say(
        Standing::Suspicious,
        "held back until you confirm each: loci list --held, loci confirm ID.",
    );
    say(
        Standing::Unasked,
        "in no brief and no hook until loci confirm --imported, because nobody is asked here.",
    );
    if written(plan, |_| true).is_empty() {
        text.push_str("Nothing to import.\n");
    }
    text
}

fn line(planned: &Planned) -> String {
    let content = planned.memory.content.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{} · {content}", planned.memory.kind)
}

pub(super) fn section(text: &mut String, screen: Screen, title: &str, lines: &[String]) {
    let cut = |line: &String| vec![screen.cut(&format!("  {}", escape_line(line)))];
    list(text, screen, (title, lines), cut);
}

/// Like [`section`], with whole lines: their ends say why.
pub(super) fn section_of_reasons(text: &mut String, screen: Screen, title: &str, lines: &[String]) {
    let wrapped = |line: &String| {
        let shown = escape_line(&collapse_spaces(line));
        let parts = wrap(&shown, screen.width.saturating_sub(4));
        let indented = parts.into_iter().enumerate();
        indented
            .map(|(at, part)| format!("{}{}", if at == 0 { "  " } else { "    " }, &shown[part]))
            .collect()
    };
    list(text, screen, (title, lines), wrapped);
}

fn list(
    text: &mut String,
    screen: Screen,
    (title, lines): (&str, &[String]),
    shown: impl Fn(&String) -> Vec<String>,
) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", screen.style.bold(title));
    for line in lines.iter().take(LISTED).flat_map(shown) {
        let _ = writeln!(text, "{line}");
    }
    more(text, lines.len());
}

fn more(text: &mut String, count: usize) {
    if count > LISTED {
        let _ = writeln!(text, "  and {} more", count - LISTED);
    }
}

/// Returns which files of records were read, and what was left out of them.
pub(super) fn of_records(reading: &Reading) -> String {
    let files = counted(reading.files.len(), "file", "files");
    let mut text = format!("{files} of loci export --format markdown\n");
    let left_out = LeftOut { listed: reading.skipped.clone(), more: reading.skipped_more.clone() };
    left_out.write(&mut text, Screen::of_stdout());
    text
}
