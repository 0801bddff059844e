//! Computes the change that brings the entries of a client into one file. Entries that are there already stay where they are.
//!
//! Not here: writing it (`apply`), taking entries out again (`removal`).

use super::change::{Change, Outcome, hook_commands, is_blank, refuse, starts_loci};
use super::client::{Client, Content, Part, Scope, WantedEntry, WantedFile};
use super::edit::{self, EditError, Entry, EntryKind, Format, Found, Ledger, Target};
use super::files;
use super::manifest::{Manifest, Reverse, WrittenEntry, WrittenFile};
use crate::output::Problem;
use serde_json::Value as Json;
use std::path::Path;

/// Whose file is drafted.
#[derive(Debug, Clone, Copy)]
pub struct Owner {
    /// The client.
    pub client: Client,
    /// Whose configuration it is.
    pub scope: Scope,
    /// Overwrite entries that somebody has changed.
    pub force: bool,
}

/// Returns the change of a file.
///
/// # Errors
/// The file cannot be read, is broken, or has something else in the place of the server.
pub fn draft(manifest: &Manifest, owner: Owner, wanted: &WantedFile) -> Result<Outcome, Problem> {
    let before = files::read(&wanted.path)?;
    let record = manifest.file(&wanted.path).filter(|_| before.is_some());
    match &wanted.content {
        Content::Whole(text) => Ok(whole(owner, &wanted.path, before, record, text)),
        Content::Entries(format, entries) => {
            let mut draft = Draft::new(owner, *format, before.as_deref(), record);
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
        }
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
                && (target.kind == EntryKind::Key || known.target == target)
        };
        let known = self.known.iter().find(at_path).cloned();
        let previous = known.as_ref().and_then(|known| known.previous.clone());
        match self.look(&target)? {
            Found::Same => {
                // An entry that somebody else has written is not ours to remove.
                if let Some(known) = known {
                    self.written.push(known);
                }
            }
            Found::Absent => {
                self.remove_other_hook(wanted)?;
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
            }
            Found::Different(found) => {
                let is_ours = known.as_ref().is_some_and(|known| known.target.value == found);
                let is_edited = known.is_some() && !is_ours;
                if is_edited && !self.owner.force {
                    let note =
                        format!("{target} was changed by hand and stays; --force replaces it");
                    self.notes.push(note);
                    self.written.extend(known);
                } else if is_ours || self.owner.force || wanted.part != Part::Server {
                    self.replace(wanted, previous, is_ours)?;
                } else if starts_loci(&found) {
                    self.replace(wanted, None, false)?;
                } else {
                    self.other_server = Some(found);
                }
            }
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

    /// Removes a hook of the same event that starts another `loci`, so that no hook runs twice.
    fn remove_other_hook(&mut self, wanted: &WantedEntry) -> Result<(), EditError> {
        let Entry { path, kind: EntryKind::Element, value } = &wanted.entry else { return Ok(()) };
        let event = |command: &str| command.split_once(" hook ").map(|(_, event)| event.to_owned());
        let events: Vec<String> =
            hook_commands(&value.to_json()).iter().filter_map(|command| event(command)).collect();
        let document = edit::parse(&self.text, self.format)?;
        let array = path.iter().try_fold(&document, |value, name| value.get(name));
        let others = array.and_then(Json::as_array).into_iter().flatten().filter(|item| {
            let commands = hook_commands(item);
            !commands.is_empty()
                && commands.iter().filter_map(|command| event(command)).eq(events.iter().cloned())
        });
        for other in others.cloned().collect::<Vec<_>>() {
            let target = Target { path: path.clone(), kind: EntryKind::Element, value: other };
            self.text = edit::remove(&self.text, self.format, &target, &self.ledger)?;
            self.words.push(format!("remove the hook of another loci from {target}"));
        }
        Ok(())
    }

    fn finish(
        self,
        path: &Path,
        before: Option<String>,
        record: Option<&WrittenFile>,
    ) -> Result<Outcome, Problem> {
        let is_same = before.as_deref().unwrap_or_default() == self.text;
        if is_same && record.is_none_or(|record| record.entries == self.written) {
            return Ok(Outcome { change: None, notes: self.notes });
        }
        let existed = record.map_or(before.is_some(), |record| record.existed);
        let original = match record {
            None => before.clone().unwrap_or_default(),
            Some(record) => match before.as_deref().and_then(|text| record.original(text)) {
                Some(original) => original,
                None => without_entries(&self.text, self.format, &self.written, &self.ledger)
                    .map_err(|error| refuse(path, self.format, &error))?,
            },
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
        Ok(Outcome { change: Some(change), notes: self.notes })
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

/// Drafts a file that is written as a whole.
fn whole(
    owner: Owner,
    path: &Path,
    before: Option<String>,
    record: Option<&WrittenFile>,
    text: &str,
) -> Outcome {
    let is_ours = record
        .is_some_and(|record| before.as_deref().map(files::hash) == Some(record.hash.clone()));
    match &before {
        Some(before) if before == text => return Outcome::default(),
        Some(_) if !is_ours && !owner.force => {
            let shown = path.display();
            let note = match record {
                Some(_) => format!("{shown} was changed by hand and stays; --force replaces it"),
                None => format!("{shown} is not of loci and stays; --force replaces it"),
            };
            return Outcome { change: None, notes: vec![note] };
        }
        _ => {}
    }
    let target = Target { path: Vec::new(), kind: EntryKind::Key, value: Json::Null };
    let original = match record {
        Some(record) => {
            before.as_deref().and_then(|text| record.original(text)).unwrap_or_default()
        }
        None => before.clone().unwrap_or_default(),
    };
    let Owner { client, scope, .. } = owner;
    let record = WrittenFile {
        client,
        scope,
        path: path.to_path_buf(),
        format: None,
        existed: record.map_or(before.is_some(), |record| record.existed),
        folders: record.map(|record| record.folders.clone()).unwrap_or_default(),
        hash: files::hash(text),
        reverse: Reverse::between(&original, text),
        ledger: Ledger::default(),
        entries: vec![WrittenEntry { part: Part::Hook, target, previous: None }],
    };
    let words = vec!["write the plugin that runs the hooks of loci".to_owned()];
    let (path, after) = (path.to_path_buf(), Some(text.to_owned()));
    let change = Change { client, scope, path, before, after, words, record };
    Outcome { change: Some(change), notes: Vec::new() }
}
