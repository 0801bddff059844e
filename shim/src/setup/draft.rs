//! Computes the change that brings the entries of a client into one file. Entries that are there already stay where they are.
//!
//! Not here: writing it (`apply`), taking entries out again (`removal`).

use super::additions::{differs_at_most_in_timeout, keep_additions, keep_timeout};
use super::change::{Change, Outcome, Owner, hook_commands, is_blank, refuse, starts_loci};
use super::client::{Content, Part, WantedEntry, WantedFile};
use super::edit::{self, EditError, EntryKind, Format, Found, Ledger, Target};
use super::manifest::{Manifest, Reverse, WrittenEntry, WrittenFile};
use super::whole::whole;
use super::{files, other_hooks, removal};
use crate::output::Problem;
use serde_json::Value as Json;
use std::path::Path;

/// Returns the change of a file.
///
/// # Errors
/// The file cannot be read, is broken, or has something else in the place of the server.
pub fn draft(manifest: &Manifest, owner: Owner, wanted: &WantedFile) -> Result<Outcome, Problem> {
    let before = files::read(&wanted.path)?;
    let record = manifest.file(&wanted.path).filter(|_| before.is_some());
    match &wanted.content {
        Content::Whole(text) => Ok(whole(owner, &wanted.path, before, record, text)),
        Content::Nothing(_) => match record {
            Some(record) => removal::remove(record, owner.force),
            None => Ok(Outcome::default()),
        },
        Content::Entries(format, entries) => {
            let mut draft = Draft::new(owner, *format, before.as_deref(), record);
            let entries = &draft.with_timeouts(entries);
            let edited = draft
                .remove_unwanted(entries)
                .and_then(|()| entries.iter().try_for_each(|wanted| draft.bring_in(wanted)));
            edited.map_err(|error| refuse(&wanted.path, *format, &error))?;
            if let Some(found) = draft.other_server {
                let message =
                    format!("{} has another server with the name loci", wanted.path.display());
                let problem = Problem::new(message).because(&found);
                return Err(problem.hint("Rename it, or add --force to replace it"));
            }
            draft.finish(&wanted.path, before, record)
        }
    }
}

/// A text while entries are brought in.
struct Draft {
    owner: Owner,
    format: Format,
    text: String,
    ledger: Ledger,
    /// The entries of the record at first.
    known: Vec<WrittenEntry>,
    /// The entries of the new record.
    written: Vec<WrittenEntry>,
    words: Vec<String>,
    notes: Vec<String>,
    other_server: Option<Json>,
    /// Whether an entry of the client is recorded that was there without a record.
    is_adopting: bool,
    /// Those of this file.
    adopted: Vec<Target>,
}

impl Draft {
    fn new(
        owner: Owner,
        format: Format,
        before: Option<&str>,
        record: Option<&WrittenFile>,
    ) -> Self {
        Self {
            owner,
            format,
            text: before.unwrap_or_default().to_owned(),
            ledger: record.map(|record| record.ledger.clone()).unwrap_or_default(),
            known: record.map(|record| record.entries.clone()).unwrap_or_default(),
            written: Vec::new(),
            words: Vec::new(),
            notes: Vec::new(),
            other_server: None,
            is_adopting: owner.is_adopting,
            adopted: Vec::new(),
        }
    }

    /// Keeps the timeouts that somebody has given to hooks.
    fn with_timeouts(&self, entries: &[WantedEntry]) -> Vec<WantedEntry> {
        let document = edit::parse(&self.text, self.format).unwrap_or_default();
        let keep = |wanted: &WantedEntry| match edit::at(&document, &wanted.entry.target().path) {
            Some(Json::Array(items)) if wanted.part == Part::Hook && !self.owner.force => {
                WantedEntry { entry: keep_timeout(&wanted.entry, items), ..wanted.clone() }
            }
            _ => wanted.clone(),
        };
        entries.iter().map(keep).collect()
    }

    fn look(&self, target: &Target) -> Result<Found, EditError> {
        edit::look(&self.text, self.format, target)
    }

    /// Removes entries of the record that are not wanted any more; a key that is wanted with another value is replaced later.
    fn remove_unwanted(&mut self, wanted: &[WantedEntry]) -> Result<(), EditError> {
        for known in self.known.clone() {
            let is_wanted = wanted.iter().any(|wanted| {
                let target = wanted.entry.target();
                target == known.target
                    || (target.kind == EntryKind::Key && target.path == known.target.path)
            });
            if is_wanted || self.look(&known.target)? != Found::Same {
                continue;
            }
            self.text = match &known.previous {
                Some(previous) => edit::put_back(&self.text, self.format, &known.target, previous)?,
                None => edit::remove(&self.text, self.format, &known.target, &self.ledger)?,
            };
            self.words.push(format!("remove {}", known.target));
        }
        Ok(())
    }

    fn bring_in(&mut self, wanted: &WantedEntry) -> Result<(), EditError> {
        let target = wanted.entry.target();
        let at_path = |known: &&WrittenEntry| {
            known.target.path == target.path
                && (target.kind == EntryKind::Key
                    || differs_at_most_in_timeout(&known.target.value, &target.value))
        };
        let known = self.known.iter().find(at_path).cloned();
        let wanted = &self.with_additions(wanted, known.as_ref())?;
        let target = wanted.entry.target();
        match self.look(&target)? {
            Found::Same => {
                self.adopt(wanted, known);
                Ok(())
            }
            Found::Absent => self.add(wanted, target),
            Found::Different(found) => self.change(wanted, known, found),
        }
    }

    /// Keeps what somebody has added to a server's entry, unless an entry that setup wrote was changed: such a one stays as it is.
    fn with_additions(
        &self,
        wanted: &WantedEntry,
        known: Option<&WrittenEntry>,
    ) -> Result<WantedEntry, EditError> {
        let mut wanted = wanted.clone();
        if wanted.part != Part::Server {
            return Ok(wanted);
        }
        let base = match self.look(&wanted.entry.target())? {
            Found::Different(found) => Some(found),
            Found::Absent => known.map(|known| known.target.value.clone()),
            Found::Same => None,
        };
        let is_edited = |base: &Json| known.is_some_and(|known| known.target.value != *base);
        let Some(base) = base.filter(|base| starts_loci(base) && !is_edited(base)) else {
            return Ok(wanted);
        };
        let (entry, names) = keep_additions(&wanted.entry, &base);
        if !names.is_empty() {
            let verb = if self.owner.force { "drop" } else { "keep" };
            wanted.words = format!("{}, and {verb} {}", wanted.words, names.join(", "));
        }
        if !self.owner.force {
            wanted.entry = entry;
        }
        Ok(wanted)
    }

    /// Records an entry that is there already. One that setup did not write is recorded if it is about loci alone.
    fn adopt(&mut self, wanted: &WantedEntry, known: Option<WrittenEntry>) {
        let target = wanted.entry.target();
        if let Some(known) = known {
            self.written.push(WrittenEntry { target, ..known });
        } else if self.can_adopt(wanted) {
            self.is_adopting = true;
            self.adopted.push(target.clone());
            self.written.push(WrittenEntry { part: wanted.part, target, previous: None });
        }
    }

    /// Whether an entry that is there without a record starts loci. A permission alone does not: somebody may have written it before.
    fn can_adopt(&self, wanted: &WantedEntry) -> bool {
        match wanted.part {
            Part::Server => true,
            Part::Hook => !hook_commands(&wanted.entry.value.to_json()).is_empty(),
            Part::Permission => self.is_adopting,
        }
    }

    fn add(&mut self, wanted: &WantedEntry, target: Target) -> Result<(), EditError> {
        if wanted.part == Part::Hook && target.kind == EntryKind::Element {
            let (format, force) = (self.format, self.owner.force);
            let others =
                other_hooks::take_out(&self.text, format, &target, &mut self.ledger, force)?;
            if let Some(text) = others.text {
                self.text = text;
                self.words.push(format!("remove the hook of another loci from {target}"));
            }
            if let Some(command) = others.of_somebody {
                self.notes.push(format!(
                    "{target} runs {command}, which setup did not write, and stays; --force replaces it"
                ));
                return Ok(());
            }
        }
        match edit::insert(&self.text, self.format, &wanted.entry, &mut self.ledger) {
            Ok(text) => self.text = text,
            // A client works without a permission, so a shape that does not allow one is no error.
            Err(EditError::Shape { path, .. }) if wanted.part == Part::Permission => {
                self.notes.push(format!("{target} was not added: {path} has another form"));
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        self.words.push(format!("add {target}: {}", wanted.words));
        self.written.push(WrittenEntry { part: wanted.part, target, previous: None });
        Ok(())
    }

    fn change(
        &mut self,
        wanted: &WantedEntry,
        known: Option<WrittenEntry>,
        found: Json,
    ) -> Result<(), EditError> {
        let is_ours = known.as_ref().is_some_and(|known| known.target.value == found);
        if known.is_some() && !is_ours && !self.owner.force {
            let target = wanted.entry.target();
            let note = format!("{target} was changed by hand and stays; --force replaces it");
            self.notes.push(note);
            self.written.extend(known);
        } else if is_ours || self.owner.force || wanted.part != Part::Server {
            self.replace(wanted, known.and_then(|known| known.previous), is_ours)?;
        } else if starts_loci(&found) {
            self.replace(wanted, None, false)?;
        } else {
            self.other_server = Some(found);
        }
        Ok(())
    }

    fn replace(
        &mut self,
        wanted: &WantedEntry,
        previous: Option<String>,
        is_ours: bool,
    ) -> Result<(), EditError> {
        let (text, was) = edit::replace(&self.text, self.format, &wanted.entry)?;
        self.text = text;
        let target = wanted.entry.target();
        self.words.push(format!("change {target}: {}", wanted.words));
        let previous = if is_ours { previous } else { Some(was) };
        self.written.push(WrittenEntry { part: wanted.part, target, previous });
        Ok(())
    }

    fn finish(
        mut self,
        path: &Path,
        before: Option<String>,
        record: Option<&WrittenFile>,
    ) -> Result<Outcome, Problem> {
        let is_same = before.as_deref().unwrap_or_default() == self.text;
        if is_same
            && record.map_or(self.written.is_empty(), |record| record.entries == self.written)
        {
            return Ok(Outcome { notes: self.notes, ..Outcome::default() });
        }
        let is_adopting = !self.adopted.is_empty();
        if is_same && is_adopting {
            let note = "Entries of loci that were there are recorded, so --remove takes them out";
            self.notes.push(note.to_owned());
        }
        if let Ok(document) = edit::parse(&self.text, self.format) {
            self.ledger.claim(&document, &self.adopted);
        }
        let existed = record.map_or(before.is_some(), |record| record.existed);
        let known = match (record, before.as_deref()) {
            _ if is_adopting => None,
            (None, before) => Some(before.unwrap_or_default().to_owned()),
            (Some(record), before) => before.and_then(|text| record.original(text)),
        };
        let original = match known {
            Some(original) => original,
            None => without_entries(&self.text, self.format, &self.written, &self.ledger)
                .map_err(|error| refuse(path, self.format, &error))?,
        };
        let after = if self.written.is_empty() && !existed && is_blank(&self.text) {
            None
        } else {
            Some(self.text)
        };
        let text = after.clone().unwrap_or_default();
        let record = WrittenFile {
            client: self.owner.client,
            scope: self.owner.scope,
            path: path.to_path_buf(),
            format: Some(self.format),
            existed,
            folders: record.map(|record| record.folders.clone()).unwrap_or_default(),
            hash: files::hash(&text),
            reverse: Reverse::between(&original, &text),
            ledger: self.ledger,
            entries: self.written,
        };
        let Owner { client, scope, .. } = self.owner;
        let path = path.to_path_buf();
        let change = Change { client, scope, path, before, after, words: self.words, record };
        Ok(Outcome { change: Some(change), notes: self.notes, is_adopting })
    }
}

/// Returns the text without entries, as it would be if they had never been written.
///
/// # Errors
/// The text is not valid.
pub fn without_entries(
    text: &str,
    format: Format,
    entries: &[WrittenEntry],
    ledger: &Ledger,
) -> Result<String, EditError> {
    entries.iter().rev().try_fold(text.to_owned(), |text, entry| {
        Ok(match (edit::look(&text, format, &entry.target)?, &entry.previous) {
            (Found::Same, Some(previous)) => {
                edit::put_back(&text, format, &entry.target, previous)?
            }
            (Found::Same, None) => edit::remove(&text, format, &entry.target, ledger)?,
            _ => text,
        })
    })
}
