//! Turns findings into memories of an import: they become candidates, with the time of their session.
//!
//! The id of a memory is made of its project and its statement, so that a second import finds it again.

use crate::transcripts::findings::{Finding, Found, Project};
use loci_proto::foreign::{ForeignMemory, ForeignProject, Learned, LocalProject};
use loci_proto::memory::{MemoryId, MemoryType, Scope};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Returns the projects of findings.
pub(super) fn projects(found: &[Found]) -> Vec<LocalProject> {
    let projects: BTreeMap<&str, &Project> =
        found.iter().map(|found| (found.folder.as_str(), &found.project)).collect();
    let local = |(folder, Project { hint, opted_in, .. }): (&str, &Project)| LocalProject {
        project: project_of(folder),
        hint: hint.clone(),
        off: false,
        isolated: false,
        opted_in: *opted_in,
    };
    projects.into_iter().map(local).collect()
}

fn project_of(folder: &str) -> ForeignProject {
    ForeignProject::Folder(folder.to_owned())
}

/// Returns a finding as a memory of an import.
pub(super) fn memory(found: &Found) -> ForeignMemory {
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
        content: found.finding.text(),
    }
}

fn id(found: &Found) -> MemoryId {
    let digest = Sha256::digest(format!("loci history\n{}", found.identity()));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    MemoryId::from(uuid::Builder::from_random_bytes(bytes).into_uuid())
}
