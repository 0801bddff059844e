//! Computes the change that takes the entries of the manifest out of a file. A file that is as setup left it gets its bytes of before;
//! from any other file only the entries go, and an entry that somebody has changed stays.
//!
//! Not here: writing it (`apply`).

use super::change::{Change, Outcome, is_blank, refuse};
use super::edit::{self, EditError, Format, Found, Target};
use super::files;
use super::manifest::{WrittenEntry, WrittenFile};
use crate::output::Problem;

/// Returns the change of one file of the manifest. `force` also removes entries that were changed or moved.
///
/// # Errors
/// The file cannot be read or is broken.
pub fn remove(record: &WrittenFile, force: bool) -> Result<Outcome, Problem> {
    let before = files::read(&record.path)?;
    let shown = record.path.display();
    let Some(text) = &before else {
        let notes = vec![format!("{shown} does not exist any more")];
        return Ok(Outcome {
            change: Some(change(record, None, None, Vec::new(), Vec::new())),
            notes,
            ..Outcome::default()
        });
    };
    // Somebody has moved a file that setup created to where the link leads, so it stays without entries.
    let emptied = record.format.filter(|_| record.path.is_symlink()).map(empty_document);
    if let Some(original) = record.original(text) {
        let after = (record.existed || !is_blank(&original)).then_some(original).or(emptied);
        let words = vec![match after {
            Some(_) => "bring back what it was before loci setup".to_owned(),
            None => "delete it: loci setup created it".to_owned(),
        }];
        let is_link = after.is_none() && record.path.is_symlink();
        let note =
            || format!("{} stays; {shown} was a link to it", files::real(&record.path).display());
        return Ok(Outcome {
            change: Some(change(record, before, after, words, Vec::new())),
            notes: is_link.then(note).into_iter().collect(),
            ..Outcome::default()
        });
    }
    let Some(format) = record.format else {
        if force && !record.existed {
            let words = vec!["delete it, although it was changed by hand".to_owned()];
            let change = change(record, before, None, words, Vec::new());
            return Ok(Outcome { change: Some(change), ..Outcome::default() });
        }
        let note = format!("{shown} was changed by hand and stays; --force deletes it");
        return Ok(Outcome { notes: vec![note], ..Outcome::default() });
    };
    let mut taking = Taking { format, text: text.clone(), force, ..Taking::default() };
    for entry in record.entries.iter().rev() {
        taking.take(record, entry).map_err(|error| refuse(&record.path, format, &error))?;
    }
    let is_empty = !record.existed && taking.kept.is_empty() && is_blank(&taking.text);
    let after = if is_empty { emptied } else { Some(taking.text) };
    taking.words.reverse();
    taking.kept.reverse();
    let change = change(record, before, after, taking.words, taking.kept);
    Ok(Outcome { change: Some(change), notes: taking.notes, ..Outcome::default() })
}

/// Returns what a client reads as a file without settings.
fn empty_document(format: Format) -> String {
    if format == Format::Toml { String::new() } else { "{}\n".to_owned() }
}

/// A text while entries are taken out.
struct Taking {
    format: Format,
    text: String,
    force: bool,
    words: Vec<String>,
    notes: Vec<String>,
    kept: Vec<WrittenEntry>,
}

impl Default for Taking {
    fn default() -> Self {
        Self {
            format: Format::Json,
            text: String::new(),
            force: false,
            words: Vec::new(),
            notes: Vec::new(),
            kept: Vec::new(),
        }
    }
}

impl Taking {
    fn take(&mut self, record: &WrittenFile, entry: &WrittenEntry) -> Result<(), EditError> {
        let target = &entry.target;
        let shown = record.path.display();
        match edit::look(&self.text, self.format, target)? {
            Found::Same => self.cut(record, target, entry.previous.as_deref()),
            Found::Different(_) if self.force => {
                self.cut(record, target, entry.previous.as_deref())
            }
            Found::Different(_) => {
                self.notes.push(format!(
                    "{target} in {shown} was changed by hand and stays; --force removes it"
                ));
                self.kept.push(entry.clone());
                Ok(())
            }
            Found::Absent => match edit::moved_to(&self.text, self.format, target)? {
                Some(path) if self.force => {
                    let target = Target { path, ..target.clone() };
                    self.cut(record, &target, None)
                }
                Some(path) => {
                    self.notes.push(format!(
                        "{target} in {shown} was moved to {} and stays; --force removes it",
                        path.join(".")
                    ));
                    self.kept.push(entry.clone());
                    Ok(())
                }
                None => Ok(()),
            },
        }
    }

    fn cut(
        &mut self,
        record: &WrittenFile,
        target: &Target,
        previous: Option<&str>,
    ) -> Result<(), EditError> {
        self.text = match previous {
            Some(previous) => edit::put_back(&self.text, self.format, target, previous)?,
            None => edit::remove(&self.text, self.format, target, &record.ledger)?,
        };
        let verb = if previous.is_some() { "bring back" } else { "remove" };
        self.words.push(format!("{verb} {target}"));
        Ok(())
    }
}

fn change(
    record: &WrittenFile,
    before: Option<String>,
    after: Option<String>,
    words: Vec<String>,
    kept: Vec<WrittenEntry>,
) -> Change {
    let record = WrittenFile { entries: kept, ..record.clone() };
    let (client, scope, path) = (record.client, record.scope, record.path.clone());
    Change { client, scope, path, before, after, words, record }
}
