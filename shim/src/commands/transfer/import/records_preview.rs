//! The preview of lines that loci itself has written (a dump, an export, Markdown files): what is new, what changes, and what is kept.
//!
//! The rules are those of the daemon (`engine::transfer`), which decides. Not here: memories of other programs (`preview`).

use crate::client::call::VerbClient;
use crate::commands::transfer::import::existing::for_each_line;
use crate::commands::transfer::import::preview::{section, section_of_reasons};
use crate::output::{Problem, Screen, counted};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// Characters of a text that are shown.
const EXCERPT_CHARS: usize = 200;

/// A line, as far as the preview compares it.
#[derive(Debug, Clone, Deserialize)]
struct Line {
    kind: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    status_at: i64,
    #[serde(default)]
    updated_at: i64,
    #[serde(default)]
    trust: Option<String>,
    /// What else an edit changes.
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Line {
    fn is_of_person(&self) -> bool {
        self.trust.as_deref() == Some("person")
    }

    /// Returns whether its text or a field that an edit changes is another one.
    fn says_other(&self, stored: &Self) -> bool {
        let fields = ["type", "scope", "pinned", "expires_at", "metadata"];
        self.content != stored.content
            || fields.iter().any(|name| self.others.get(*name) != stored.others.get(*name))
    }
}

/// What an import of lines would do.
#[derive(Debug, Default)]
pub(super) struct RecordsPreview {
    stored: HashMap<String, Line>,
    erased: HashSet<String>,
    is_mine: bool,
    new: Vec<String>,
    changed: Vec<String>,
    kept: Vec<String>,
    unchanged: usize,
    others: usize,
}

impl RecordsPreview {
    /// Reads the store to compare with.
    ///
    /// # Errors
    /// The daemon cannot be reached, or the store cannot be read.
    pub async fn load(client: &VerbClient, is_mine: bool) -> Result<Self, Problem> {
        let mut preview = Self { is_mine, ..Self::default() };
        for_each_line(client, |line| {
            let Ok(line) = serde_json::from_slice::<Line>(line) else { return };
            match line.kind.as_str() {
                "memory" => drop(preview.stored.insert(line.id.clone(), line)),
                "tombstone" => drop(preview.erased.insert(line.id)),
                _ => {}
            }
        })
        .await?;
        Ok(preview)
    }

    /// Adds a line of the file. One that cannot be read is left to the daemon, which names it.
    pub fn add(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Line>(line) else { return };
        match line.kind.as_str() {
            "memory" => self.add_memory(&line),
            "end" | "vector" | "log" => {}
            _ => self.others += 1,
        }
    }

    fn add_memory(&mut self, line: &Line) {
        let content = excerpt(&line.content);
        if self.erased.contains(&line.id) {
            return self.kept.push(format!("{content}: was erased here"));
        }
        let Some(stored) = self.stored.get(&line.id) else { return self.new.push(content) };
        let is_later = line.updated_at > stored.updated_at;
        let has_other_status = line.status_at > stored.status_at && line.status != stored.status;
        let text = match (line.says_other(stored), has_other_status) {
            (true, _) if is_later && line.content != stored.content => {
                format!("{} -> {content}", excerpt(&stored.content))
            }
            (true, _) if is_later => format!("{content}: other fields"),
            (true, false) => {
                let reason = "its updated_at is not later than that of the stored one";
                return self.kept.push(format!("{content}: {reason}"));
            }
            (_, true) => format!("{content}: {} -> {}", stored.status, line.status),
            (false, false) => {
                self.unchanged += 1;
                return;
            }
        };
        if stored.is_of_person() && !(self.is_mine && line.is_of_person()) {
            let hint = if self.is_mine { "" } else { "; --mine takes the file" };
            let reason = "you stored or confirmed it";
            return self.kept.push(format!("{text}: {reason}{hint}"));
        }
        self.changed.push(text);
    }

    /// Returns the preview as text.
    pub fn text(&self, screen: Screen) -> String {
        let mut text = format!(
            "{}: {} new, {} changed, {} unchanged",
            counted(self.memories(), "memory", "memories"),
            self.new.len(),
            self.changed.len(),
            self.unchanged
        );
        if !self.kept.is_empty() {
            let _ = write!(text, ", {} kept as here", self.kept.len());
        }
        if self.others > 0 {
            let _ = write!(text, "; {}", counted(self.others, "other record", "other records"));
        }
        text.push('\n');
        section(&mut text, screen, "New", &self.new);
        section_of_reasons(&mut text, screen, "Changed", &self.changed);
        section_of_reasons(&mut text, screen, "Kept as here", &self.kept);
        text
    }

    /// Returns the preview as JSON.
    pub fn json(&self) -> Value {
        json!({
            "records": self.memories() + self.others, "new": self.new.len(), "changed": self.changed,
            "unchanged": self.unchanged, "kept": self.kept, "other": self.others,
        })
    }

    fn memories(&self) -> usize {
        self.new.len() + self.changed.len() + self.unchanged + self.kept.len()
    }
}

/// Returns the beginning of a text.
fn excerpt(text: &str) -> String {
    let mut shown: String = text.chars().take(EXCERPT_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
