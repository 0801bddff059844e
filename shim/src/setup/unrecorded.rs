//! Finds entries that start this `loci` and are not in the manifest: it was lost, or somebody wrote them by hand.
//!
//! Those that are as setup writes them are added to a copy of the manifest, so that `removal` takes them out. The others are named. Not
//! here: files of projects, unless their scope is asked for, because they may belong to a repository.

use super::change::{hook_commands, hook_parts, server_command, starts_loci};
use super::client::{Client, Content, Part, Scope, WantedEntry, WantedFile, Wishes};
use super::edit::{self, EntryKind, Format, Ledger, Target};
use super::environment::Environment;
use super::event::Event;
use super::manifest::{Manifest, Reverse, WrittenEntry, WrittenFile};
use super::{clients, files};
use clap::ValueEnum;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// Where and what to look for.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// The machine.
    pub environment: &'a Environment,
    /// The path of this program.
    pub loci: &'a Path,
    /// One client, or all.
    pub client: Option<Client>,
    /// One scope; without it, that of the user.
    pub scope: Option<Scope>,
    /// Add also entries that setup writes in another way.
    pub force: bool,
}

/// The manifest with what was found, and what was found but not added.
#[derive(Debug)]
pub struct Unrecorded {
    /// The manifest, with the entries that were found.
    pub manifest: Manifest,
    /// Entries that stay, in words.
    pub notes: Vec<(Client, String)>,
    /// Whether an entry of the client was added.
    is_adopting: bool,
}

/// Looks through the files of clients.
#[must_use]
pub fn find(manifest: &Manifest, search: &Search<'_>) -> Unrecorded {
    let manifest = manifest.clone();
    let mut found = Unrecorded { manifest, notes: Vec::new(), is_adopting: false };
    let scope = search.scope.unwrap_or(Scope::User);
    let clients = Client::value_variants().iter().copied();
    for client in clients.filter(|client| search.client.is_none_or(|only| only == *client)) {
        found.is_adopting = false;
        let place = (client, scope);
        // The plugin of OpenCode is recognised without asking for the version.
        let no_hooks = client == Client::Opencode;
        let with = Event::value_variants().to_vec();
        let wishes = Wishes { no_hooks, with, ..Wishes::default() };
        for file in clients::wanted_files(search.environment, search.loci, place, &wishes) {
            found.look_at(search, place, &file);
        }
    }
    found
}

/// Returns the folders of all files that setup writes.
#[must_use]
pub fn folders(manifest: &Manifest, environment: &Environment, loci: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = manifest.files.iter().map(|file| file.path.clone()).collect();
    for client in Client::value_variants() {
        let wishes = Wishes { no_hooks: *client == Client::Opencode, ..Wishes::default() };
        for scope in [Scope::User, Scope::Project] {
            let files = clients::wanted_files(environment, loci, (*client, scope), &wishes);
            paths.extend(files.into_iter().map(|file| file.path));
        }
    }
    let folder = |path: &PathBuf| files::real(path).parent().map(Path::to_path_buf);
    let mut folders: Vec<PathBuf> = paths.iter().filter_map(folder).collect();
    folders.sort();
    folders.dedup();
    folders
}

impl Unrecorded {
    fn look_at(&mut self, search: &Search<'_>, place: (Client, Scope), file: &WantedFile) {
        let Ok(Some(text)) = files::read(&file.path) else { return };
        let record = self.manifest.file(&file.path).cloned();
        match &file.content {
            Content::Nothing(texts) if record.is_none() && texts.contains(&text) => {
                self.manifest.put(WrittenFile::whole(place, &file.path, &text, None));
            }
            Content::Nothing(_) | Content::Whole(_) => {}
            Content::Entries(format, wanted) => {
                let Ok(document) = edit::parse(&text, *format) else { return };
                let known =
                    record.as_ref().map(|record| record.entries.clone()).unwrap_or_default();
                let mut entries = Vec::new();
                for wanted in wanted {
                    entries.extend(self.matching(search, place, (file, &document), wanted));
                    self.is_adopting |= !entries.is_empty();
                }
                entries.retain(|entry| !known.iter().any(|known| known.target == entry.target));
                entries.dedup();
                if !entries.is_empty() {
                    let targets: Vec<Target> =
                        entries.iter().map(|entry| entry.target.clone()).collect();
                    let mut record = record_with(record, place, &file.path, *format, entries);
                    record.ledger.claim(&document, &targets);
                    self.manifest.put(record);
                }
            }
        }
    }

    /// Returns the entries in the place of a wanted one that start this program; notes those that are written in another way.
    fn matching(
        &mut self,
        search: &Search<'_>,
        place: (Client, Scope),
        (file, document): (&WantedFile, &Json),
        wanted: &WantedEntry,
    ) -> Vec<WrittenEntry> {
        let target = wanted.entry.target();
        let Some(value) = edit::at(document, &target.path) else { return Vec::new() };
        let record = self.manifest.file(&file.path);
        let is_known = |value: &Json| {
            let mut entries = record.into_iter().flat_map(|record| &record.entries);
            entries.any(|known| {
                known.target.path == target.path
                    && (target.kind == EntryKind::Key || known.target.value == *value)
            })
        };
        let values: Vec<&Json> = match target.kind {
            EntryKind::Key => vec![value],
            EntryKind::Element => value.as_array().into_iter().flatten().collect(),
        };
        let (mut entries, mut has_others) = (Vec::new(), false);
        for value in values.into_iter().filter(|value| !is_known(value)) {
            let is_plain = *value == target.value;
            // A permission goes with an entry that starts loci; alone, somebody may have written it before.
            let is_permission = wanted.part == Part::Permission && is_plain && self.is_adopting;
            if !is_permission && !starts(search, wanted.part, value) {
                continue;
            }
            if is_plain || (search.force && !runs_others(value)) {
                let target = Target { value: value.clone(), ..target.clone() };
                entries.push(WrittenEntry { part: wanted.part, target, previous: None });
            } else {
                has_others = true;
            }
        }
        if has_others {
            let (shown, client) = (file.path.display(), place.0);
            let note = format!(
                "{target} in {shown} starts loci, is not as loci setup writes it, and stays; loci setup {client} --remove --force takes it out"
            );
            if !self.notes.iter().any(|(_, known)| *known == note) {
                self.notes.push((client, note));
            }
        }
        entries
    }
}

/// Whether a value starts this program.
fn starts(search: &Search<'_>, part: Part, value: &Json) -> bool {
    match part {
        Part::Server if starts_loci(value) => {
            server_command(value).is_some_and(|(program, _)| is_this(search, &program))
        }
        Part::Server | Part::Permission => false,
        Part::Hook => hook_commands(value).iter().any(|command| {
            hook_parts(command).is_some_and(|(program, _)| is_this(search, &program))
        }),
    }
}

/// Whether a group of hooks also runs other commands.
fn runs_others(group: &Json) -> bool {
    let hooks = group["hooks"].as_array().into_iter().flatten();
    hooks.into_iter().any(|hook| hook_commands(hook).is_empty())
}

fn is_this(search: &Search<'_>, program: &str) -> bool {
    let path = match Path::new(program) {
        path if path.is_absolute() => Some(path.to_path_buf()),
        path if path.components().count() == 1 => search.environment.program(program),
        _ => None,
    };
    let canonical = |path: &Path| path.canonicalize().ok();
    path.is_some_and(|path| path == search.loci || canonical(&path) == canonical(search.loci))
}

/// Returns the record of a file with more entries. Its text of before is unknown then, so only the entries go.
fn record_with(
    record: Option<WrittenFile>,
    (client, scope): (Client, Scope),
    path: &Path,
    format: Format,
    mut entries: Vec<WrittenEntry>,
) -> WrittenFile {
    let path = path.to_path_buf();
    let (hash, reverse) = (String::new(), Reverse::between("", ""));
    if let Some(mut record) = record {
        record.entries.append(&mut entries);
        return WrittenFile { hash, reverse, ..record };
    }
    let (folders, ledger, format) = (Vec::new(), Ledger::default(), Some(format));
    let existed = true;
    WrittenFile { client, scope, path, format, existed, folders, hash, reverse, ledger, entries }
}
