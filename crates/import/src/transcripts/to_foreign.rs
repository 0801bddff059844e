//! Turns findings into memories of an import: they become candidates, with the time of their session.
//!
//! The id of a memory is made of its project and its statement, so that a second import finds it again.

use crate::transcripts::findings::{Finding, Found, Project};
use crate::transcripts::{NotRead, Reading};
use loci_proto::foreign::{
    self, ForeignMemory, ForeignProject, Learned, LocalProject, SkippedText,
};
use loci_proto::group::GroupHint;
use loci_proto::memory::{MemoryId, MemoryType, Scope};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Returns what was read as of another program. `outside` is the project of sessions outside any project.
pub(super) fn to_foreign(read: &Reading, outside: &str) -> foreign::Reading {
    let projects: BTreeMap<&str, &Project> =
        read.found.iter().map(|found| (found.folder.as_str(), &found.project)).collect();
    let local = |(folder, project): (&str, &Project)| {
        let hint = match (&project.hint, outside.parse()) {
            (GroupHint::Default, Ok(name)) => GroupHint::Named(name),
            (hint, _) => hint.clone(),
        };
        let (project, opted_in) = (project_of(folder), project.opted_in);
        LocalProject { project, hint, off: false, opted_in }
    };
    let mut reading = foreign::Reading {
        files: read.files.clone(),
        memories: read.found.iter().map(memory).collect(),
        projects: projects.into_iter().map(local).collect(),
        ..foreign::Reading::default()
    };
    for NotRead { file, reason } in &read.not_read {
        let (path, place, reason) = (file.clone(), String::new(), reason.clone());
        reading.skip(SkippedText { path, place, reason });
    }
    let mut left_out = |count: usize, reason: String| {
        if count > 0 {
            reading.skipped_more.insert(reason, count);
        }
    };
    left_out(read.unreadable - read.not_read.len(), "files that cannot be read".to_owned());
    left_out(read.skipped_lines, "lines that cannot be read".to_owned());
    left_out(read.with_secrets, "may hold a secret".to_owned());
    for (project, kind, count) in &read.over_limit {
        let place = if project.is_empty() { String::new() } else { format!(" in {project}") };
        left_out(*count, format!("a {kind}{place}: there are too many"));
    }
    reading
}

fn project_of(folder: &str) -> ForeignProject {
    ForeignProject::Folder(folder.to_owned())
}

fn memory(found: &Found) -> ForeignMemory {
    let kind = match &found.finding {
        Finding::Preference(_) => MemoryType::Semantic,
        Finding::Decision(_) | Finding::Attempt { .. } => MemoryType::Episodic,
        Finding::Command { .. } | Finding::Fix(_) => MemoryType::Procedural,
    };
    let pointer = &found.pointer;
    ForeignMemory {
        path: pointer.file.clone(),
        root: None,
        place: format!("line {}", pointer.line),
        own_id: None,
        learned: Some(Learned {
            id: id(found),
            client: pointer.client.to_owned(),
            session: pointer.session.clone(),
        }),
        kind,
        scope: Scope::Group,
        project: Some(project_of(&found.folder)),
        by_person: false,
        pinned: false,
        created_at: pointer.at,
        updated_at: pointer.at,
        confidence: None,
        metadata: found.metadata(),
        relations: Vec::new(),
        flags: Vec::new(),
        content: found.finding.text(),
    }
}

fn id(found: &Found) -> MemoryId {
    let digest = Sha256::digest(format!("loci history\n{}", found.identity()));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    MemoryId::from(uuid::Builder::from_random_bytes(bytes).into_uuid())
}
