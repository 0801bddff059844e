//! Resolves the ids that people type: complete ids, or a unique prefix or suffix of at least 4 characters.
//!
//! Ids start with their creation time, so ids of the same time have the same prefix. Tables therefore show the end.

use crate::client::call::VerbClient;
use crate::output::{Problem, escape_line};
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryId;
use loci_proto::requests::find::{FindReply, FindRequest, FoundMemory};
use loci_proto::requests::list::ListedMemory;
use std::fmt::Write as _;

/// Maximum number of matches that the daemon returns.
const MAX_MATCHES: usize = 10;

/// Returns the end of an id, for tables.
pub use crate::output::short_id as short;

/// A resolved memory id.
#[derive(Debug)]
pub struct ResolvedId {
    /// The complete id.
    pub id: MemoryId,
    /// The memory, if it was looked up.
    pub found: Option<FoundMemory>,
}

/// Resolves an id; looks it up in the daemon only if it is not complete.
///
/// # Errors
/// When no memory or several match, or the memory belongs to a project other than `group`.
pub async fn resolve(
    client: &VerbClient,
    id_part: &str,
    group: Option<&GroupName>,
) -> Result<ResolvedId, Problem> {
    if let Ok(id) = id_part.trim().parse() {
        Ok(ResolvedId { id, found: None })
    } else {
        let found = look_up(client, id_part.trim(), group).await?;
        Ok(ResolvedId { id: found.memory.id.clone(), found: Some(found) })
    }
}

/// Looks up a memory even if the id is complete, so that it can be shown before a confirmation.
///
/// # Errors
/// As [`resolve`].
pub async fn look_up(
    client: &VerbClient,
    id_part: &str,
    group: Option<&GroupName>,
) -> Result<FoundMemory, Problem> {
    if id_part.is_empty() {
        return Err(Problem::usage("The id is empty")
            .hint("`loci list` shows ids; 4 characters of one are enough"));
    }
    let has_id_characters = id_part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if !has_id_characters || !(4..=36).contains(&id_part.len()) {
        return Err(Problem::usage(format!(
            "{} is not an id, nor at least 4 characters of one",
            escape_line(id_part)
        ))
        .hint("`loci list` shows ids"));
    }
    let reply: FindReply = client.call(&FindRequest { part: id_part.to_owned() }).await?;
    let mut memories = reply.memories;
    match memories.len() {
        0 => Err(Problem::new(format!("No memory id starts or ends with {id_part}"))
            .hint("`loci list --status all --all-groups` lists every memory")),
        1 => check_project(memories.remove(0), group),
        _ => {
            Err(Problem::new(ambiguity_text(id_part, &memories))
                .hint("Type more characters of the id"))
        }
    }
}

/// Refuses a memory that is not visible here, and names its project; the verb itself would report that it does not exist.
fn check_project(found: FoundMemory, group: Option<&GroupName>) -> Result<FoundMemory, Problem> {
    match (&found.group_id, group) {
        (Some(id), None) if !found.visible => {
            let name = found.memory.group.as_deref().unwrap_or(id);
            Err(Problem::new(format!(
                "This memory belongs to another project, {}",
                escape_line(name)
            ))
            .hint(format!("Add --group {}", escape_line(id))))
        }
        _ => Ok(found),
    }
}

fn ambiguity_text(id_part: &str, matches: &[FoundMemory]) -> String {
    let mut text = format!("{id_part} matches several memories:");
    for memory in matches {
        let ListedMemory { id, preview, .. } = &memory.memory;
        let _ = write!(text, "\n  {id}  {}", escape_line(preview));
    }
    if matches.len() == MAX_MATCHES {
        text.push_str("\n  … and possibly more");
    }
    text
}

/// Describes the memory in one line, or by its id if it was not looked up.
#[must_use]
pub fn describe(resolved: &ResolvedId) -> String {
    resolved.found.as_ref().map_or_else(|| resolved.id.to_string(), |found| summary(&found.memory))
}

/// Returns the end of the id and the preview.
fn summary(memory: &ListedMemory) -> String {
    format!("{}  {}", short(memory.id.as_str()), escape_line(&memory.preview))
}
