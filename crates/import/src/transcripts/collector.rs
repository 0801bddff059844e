//! Collects what was found in all sessions: each statement once, with its first source, within bounds.

use crate::transcripts::command_line::Use;
use crate::transcripts::files;
use crate::transcripts::findings::{Finding, Found, Pointer, Project};
use loci_project::{Environment, find};
use loci_proto::group::{Group, GroupHint};
use serde_json::Map;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::PathBuf;

/// Stands for the project of sessions outside any project.
const OUTSIDE: &str = "default";
/// Findings that are held in memory; further ones are counted.
const MAX_FINDINGS: usize = 20_000;
/// How often a command of a program that builds, tests, runs or deploys must have worked.
const MIN_USES: usize = 2;
/// How often another command must have worked, unless it did in two sessions.
const MIN_USES_OF_TASK: usize = 3;
/// Commands of one project that are taken, those that worked in most sessions and most often.
const MAX_COMMANDS: usize = 30;
/// Other findings of one project and kind that are taken, the newest.
const MAX_OF_KIND: usize = 60;
/// What makes a text look like a secret or what stands beside one; such a text is not taken.
const SECRET_MARKS: [&str; 15] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "authorization",
    "bearer ",
    "private key",
    "credential",
    "://user",
    "_pass",
    "pass=",
    "pwd",
];
/// Characters of a word from which it may be a key.
const KEY_CHARS: usize = 24;
/// The same of a word without small letters.
const CAPITAL_KEY_CHARS: usize = 16;

/// The project and the checkout of a folder.
#[derive(Debug, Clone)]
struct Folder {
    project: Project,
    top: Option<PathBuf>,
}

/// What is worth a person's look, and how much was left out.
#[derive(Debug, Default)]
pub struct Collected {
    /// By project, then kind, then time.
    pub found: Vec<Found>,
    /// Findings that were left out because there were too many, by project and kind.
    pub over_limit: Vec<(String, &'static str, usize)>,
}

/// Collects the findings.
#[derive(Debug, Default)]
pub struct Collector {
    /// Each finding, and the session that it was found in last.
    found: HashMap<String, (Found, String)>,
    /// What is known of each folder; `None` for one of a project that is switched off.
    folders: HashMap<String, Option<Folder>>,
    /// Findings earlier than this are left out.
    since: i64,
    /// Findings that were left out because they may hold a secret.
    pub with_secrets: usize,
    /// Findings that were left out because there were too many to hold.
    over_limit: usize,
}

impl Collector {
    /// Creates a collector of findings from a time on.
    #[must_use]
    pub fn new(since: i64) -> Self {
        Self { since, ..Self::default() }
    }

    /// Finds the project of a folder.
    pub fn know_folder(&mut self, folder: &str) {
        if !self.folders.contains_key(folder) {
            let known = Self::folder(folder);
            self.folders.insert(folder.to_owned(), known);
        }
    }

    fn folder(folder: &str) -> Option<Folder> {
        let path = PathBuf::from(folder);
        if !path.is_dir() {
            // The project has been moved or deleted; what is known of it is its path.
            let hint = GroupHint::Folder(folder.to_owned());
            let project = Project { group: Group::of_folder(folder), hint, opted_in: false };
            return Some(Folder { project, top: None });
        }
        let mut environment = Environment::at(path);
        (environment.loci_group, environment.project_dir) = (None, None);
        let found = find(&environment);
        if found.off {
            return None;
        }
        let top = found.checkout.and_then(|checkout| checkout.read().top).map(PathBuf::from);
        let (hint, opted_in) = (found.hint, found.has_file);
        let group = match &hint {
            GroupHint::Folder(path) => Group::of_folder(path),
            GroupHint::ProjectNamed { folder, name } => Group::of_named_project(folder, name),
            GroupHint::Named(name) => Group::named(name),
            // The daemon knows its name; here it tells findings apart.
            GroupHint::Default => Group { id: OUTSIDE.to_owned(), name: OUTSIDE.to_owned() },
        };
        Some(Folder { project: Project { group, hint, opted_in }, top })
    }

    /// Adds a finding of a session in a folder.
    pub fn add(&mut self, folder: &str, finding: Finding, pointer: Pointer) {
        if pointer.at < self.since {
            return;
        }
        let Some(Some(Folder { project, .. })) = self.folders.get(folder).cloned() else { return };
        if may_hold_secret(&finding.text()) {
            self.with_secrets += 1;
            return;
        }
        let session = pointer.session.clone();
        let (folder, files) = (folder.to_owned(), Map::new());
        let new = Found { finding, project, pointer, folder, count: 1, sessions: 1, files };
        let key = new.identity();
        let is_full = self.found.len() >= MAX_FINDINGS;
        match self.found.get_mut(&key) {
            Some((known, last_session)) => {
                known.count += 1;
                known.sessions += usize::from(*last_session != session);
                *last_session = session;
                if new.pointer.at < known.pointer.at {
                    *known = Found { count: known.count, sessions: known.sessions, ..new };
                }
            }
            None if is_full => self.over_limit += 1,
            None => {
                self.found.insert(key, (new, session));
            }
        }
    }

    /// Returns what is worth a person's look.
    #[must_use]
    pub fn finish(self) -> Collected {
        let mut by_kind: HashMap<(String, &'static str), Vec<Found>> = HashMap::new();
        for (found, _) in self.found.into_values().filter(|(found, _)| is_used_enough(found)) {
            let key = (found.project.group.id.clone(), found.finding.kind());
            by_kind.entry(key).or_default().push(found);
        }
        let mut collected = Collected::default();
        for ((_, kind), mut list) in by_kind {
            list.sort_by_cached_key(|found| (Reverse(found.pointer.at), found.identity()));
            let limit = if kind == "command" { MAX_COMMANDS } else { MAX_OF_KIND };
            if kind == "command" {
                list.sort_by_key(|found| Reverse((found.sessions, found.count)));
            }
            if list.len() > limit {
                let project = list[0].project.group.name.clone();
                collected.over_limit.push((project, kind, list.len() - limit));
            }
            list.truncate(limit);
            collected.found.extend(list);
        }
        if self.over_limit > 0 {
            collected.over_limit.push((String::new(), "finding", self.over_limit));
        }
        for found in &mut collected.found {
            let folder = self.folders.get(&found.folder).and_then(Option::as_ref);
            if let Some(top) = folder.and_then(|folder| folder.top.as_deref()) {
                found.files = files::of(found, top);
            }
        }
        collected.over_limit.sort();
        collected.found.sort_by_cached_key(|found| {
            (
                found.project.group.name.clone(),
                found.finding.kind(),
                found.pointer.at,
                found.identity(),
            )
        });
        collected
    }
}

/// Returns whether a command worked often enough to be worth knowing; other findings are.
fn is_used_enough(found: &Found) -> bool {
    let Finding::Command { command, .. } = &found.finding else { return true };
    match command.usefulness() {
        Some(Use::Builder) => found.count >= MIN_USES,
        Some(Use::Task) => found.count >= MIN_USES_OF_TASK || found.sessions > 1,
        None => false,
    }
}

/// Returns whether a text may hold a secret. The daemon checks by its own rules, too.
fn may_hold_secret(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_key = |word: &str| {
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "+/=_-".contains(c));
        let (digits, letters) =
            (word.chars().any(|c| c.is_ascii_digit()), word.chars().any(char::is_alphabetic));
        // A key of capitals and digits may be shorter.
        let length =
            if word.chars().any(char::is_lowercase) { KEY_CHARS } else { CAPITAL_KEY_CHARS };
        word.len() >= length && plain && digits && letters && !word.contains('/')
    };
    SECRET_MARKS.iter().any(|mark| lower.contains(mark))
        || text.split(|c: char| c.is_whitespace() || "'\"`=:,;()".contains(c)).any(is_key)
}
