//! Ids as people write them: whole, or as much of the beginning or the end as means one memory.
//!
//! Ids begin with the time at which they were made, so neighbours begin alike; tables show the end, which differs.

use crate::client::call::Door;
use crate::commands::line;
use crate::output::{Problem, plain};
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryId;
use loci_proto::requests::find::{FindReply, FindRequest, FoundMemory};
use loci_proto::requests::list::ListedMemory;
use std::fmt::Write as _;

/// Characters of an id's end that tables show.
const SHOWN: usize = 8;

/// Memories that the daemon names at the most.
const MOST: usize = 10;

/// The end of an id, for a table.
#[must_use]
pub fn short(id: &str) -> String {
    let start = id.len().saturating_sub(SHOWN);
    plain(id.get(start..).unwrap_or(id))
}

/// A memory that a person means.
#[derive(Debug)]
pub struct Meant {
    /// Its id.
    pub id: MemoryId,
    /// The memory in one line, where it had to be looked up.
    pub found: Option<FoundMemory>,
}

/// Finds the memory that a person means; the daemon is asked unless the id is whole.
///
/// # Errors
/// When it means none or several, or one of another project than `group`.
pub async fn find(door: &Door, part: &str, group: Option<&GroupName>) -> Result<Meant, Problem> {
    if let Ok(id) = part.trim().parse() {
        Ok(Meant { id, found: None })
    } else {
        let found = look_up(door, part.trim(), group).await?;
        Ok(Meant { id: found.memory.id.clone(), found: Some(found) })
    }
}

/// Looks a memory up, even where the id is whole: what is to be asked about has to be shown.
///
/// # Errors
/// As [`find`].
pub async fn look_up(
    door: &Door,
    part: &str,
    group: Option<&GroupName>,
) -> Result<FoundMemory, Problem> {
    if part.is_empty() {
        return Err(Problem::usage("The id is empty")
            .hint("`loci list` shows ids; 4 characters of one are enough"));
    }
    let is_part = part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if !is_part || !(4..=36).contains(&part.len()) {
        return Err(Problem::usage(format!(
            "{} is no id, nor at least 4 characters of one",
            plain(part)
        ))
        .hint("`loci list` shows ids"));
    }
    let reply: FindReply =
        door.reply("find", &FindRequest { part: part.to_owned() }).await?.read()?;
    let mut memories = reply.memories;
    match memories.len() {
        0 => Err(Problem::new(format!("No memory has an id that begins or ends with {part}"))
            .hint("`loci list --status all --all-groups` shows every one")),
        1 => seen(memories.remove(0), group),
        _ => Err(Problem::new(ambiguous(part, &memories)).hint("Write more of it")),
    }
}

/// Refuses a memory of a project that the command does not name; the verb would say that there is none.
fn seen(found: FoundMemory, group: Option<&GroupName>) -> Result<FoundMemory, Problem> {
    match (&found.group_id, group) {
        (Some(id), None) if !found.visible => {
            let name = found.memory.group.as_deref().unwrap_or(id);
            Err(Problem::new(format!("That memory belongs to another project, {}", plain(name)))
                .hint(format!("Add --group {}", plain(id))))
        }
        _ => Ok(found),
    }
}

fn ambiguous(part: &str, found: &[FoundMemory]) -> String {
    let mut text = format!("{part} may mean several memories:");
    for memory in found {
        let ListedMemory { id, preview, .. } = &memory.memory;
        let _ = write!(text, "\n  {id}  {}", plain(preview));
    }
    if found.len() == MOST {
        text.push_str("\n  … and perhaps more");
    }
    text
}

/// The memory in one line, or its id alone where no more is known.
#[must_use]
pub fn told(meant: &Meant) -> String {
    meant.found.as_ref().map_or_else(|| meant.id.to_string(), |found| line(&found.memory))
}
