//! Writes findings as the lines of an export, which the daemon imports: as candidates, with the time of their session.
//!
//! The id of a memory is made of its project and its statement, so that a second import finds it again.

use crate::history::findings::{Finding, Found};
use loci_proto::requests::export::FORMAT_VERSION;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Returns the lines of an export with the findings.
#[must_use]
pub fn export_lines(found: &[&Found]) -> String {
    let mut lines = vec![json!({"loci": "export", "version": FORMAT_VERSION})];
    let mut groups: BTreeMap<&str, (&str, i64)> = BTreeMap::new();
    for found in found {
        let at = found.pointer.at;
        let group = groups.entry(&found.group.id).or_insert((&found.group.name, at));
        group.1 = group.1.min(at);
    }
    lines.extend(groups.iter().map(
        |(id, (name, at))| json!({"kind": "group", "id": id, "name": name, "created_at": at}),
    ));
    lines.extend(found.iter().map(|found| memory(found)));
    lines.push(json!({"kind": "end", "lines": lines.len()}));
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn memory(found: &Found) -> Value {
    let kind = match &found.finding {
        Finding::Preference(_) => "semantic",
        Finding::Decision(_) | Finding::Attempt { .. } => "episodic",
        Finding::Command { .. } | Finding::Fix(_) => "procedural",
    };
    let at = found.pointer.at;
    json!({
        "kind": "memory", "id": id(found), "type": kind, "scope": "group", "group": found.group.id, "status": "candidate",
        "status_at": at, "confidence": 1.0, "confidence_at": at, "created_at": at, "updated_at": at,
        "client": found.pointer.client, "session": found.pointer.session, "metadata": found.metadata(), "content": found.finding.text(),
    })
}

/// Returns the id of the memory of a finding.
#[must_use]
pub fn id(found: &Found) -> uuid::Uuid {
    let digest = Sha256::digest(format!("loci history\n{}", found.identity()));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}
