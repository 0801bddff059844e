//! Reads the memories of other programs, and Markdown files, without changing anything there.
//!
//! One file per format; each finds the program's usual places or takes paths, and adds what it finds
//! to a [`Collector`]. `statements` splits Markdown into single statements. Whatever a format is,
//! the texts pass the rules for secrets before they leave this module. Not here: SQL
//! (`db`), what becomes of a reading (`loci_engine::transfer`).

mod agents_files;
mod basic_memory;
mod claude_memory;
mod codex_memory;
mod collector;
mod db;
mod engram;
pub mod error;
mod front_matter;
mod json;
mod left_out;
pub mod loci_markdown;
mod loci_mcp;
mod loomem;
mod markdown;
mod markup;
mod mcp_memory_service;
mod mem0;
pub mod memory_files;
mod places;
mod projects;
mod regular_file;
mod rows;
mod screen;
mod server_memory;
mod statements;
#[cfg(test)]
mod tests;
mod times;
mod transcripts;

use collector::Collector;
pub use collector::memory_at;
use error::Result;
use loci_base::privacy::Policy;
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::{Format, Reading};
pub use places::Places;
use std::path::PathBuf;
pub use transcripts::Wanted;

/// Reads memories. Without `paths`, from the usual places of the program.
///
/// # Errors
/// `not_found` if nothing is there, `invalid` for a path that does not have the format.
pub fn read(
    format: Format,
    places: &Places,
    paths: &[PathBuf],
    policy: &Policy,
) -> Result<Reading> {
    let hint = format!("Name the file or folder: loci import --from {format} PATH");
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        let message = format!("{} does not exist", missing.display());
        return Err(Failure::new(Code::NotFound, message).hint(hint));
    }
    let paths = if paths.is_empty() { usual_paths(format, places) } else { paths.to_vec() };
    if paths.is_empty() {
        let message = match format {
            Format::Markdown => "Markdown files have no usual place".to_owned(),
            Format::Loomem => "exports of loomem have no usual place".to_owned(),
            _ => format!("no memories of {format} were found in the usual places"),
        };
        return Err(Failure::new(Code::NotFound, message).hint(hint));
    }
    let mut collector = Collector::new(places);
    collector.names_data = matches!(format, Format::Markdown | Format::BasicMemory);
    for path in paths {
        let path = path.canonicalize().unwrap_or(path);
        match format {
            Format::ClaudeMemory => claude_memory::read(&mut collector, &path)?,
            Format::ClaudeMd | Format::AgentsMd => agents_files::read(&mut collector, &path)?,
            Format::CodexMemory => codex_memory::read(&mut collector, &path)?,
            Format::ServerMemory => server_memory::read(&mut collector, &path)?,
            Format::McpMemoryService => mcp_memory_service::read(&mut collector, &path)?,
            Format::BasicMemory => basic_memory::read(&mut collector, &path)?,
            Format::Engram => engram::read(&mut collector, &path)?,
            Format::Mem0 => mem0::read(&mut collector, &path)?,
            Format::LociMcp => loci_mcp::read(&mut collector, &path)?,
            Format::Loomem => loomem::read(&mut collector, &path)?,
            Format::Markdown => markdown::read(&mut collector, &path)?,
        }
    }
    let mut reading = collector.finish();
    if format == Format::BasicMemory {
        basic_memory::relate(&mut reading);
    }
    // Of two texts about the same, the one that is stored later is the newer one.
    if reading.memories.iter().all(|memory| memory.own_id.is_some()) {
        reading.memories.sort_by_key(|memory| memory.created_at);
    }
    screen::apply(policy, &mut reading);
    reading.projects = projects::on_this_machine(&reading.memories);
    Ok(reading)
}

/// Reads what the transcripts of clients teach.
#[must_use]
pub fn read_transcripts(places: &Places, wanted: &Wanted, policy: &Policy) -> Reading {
    let mut reading = transcripts::read(places, wanted);
    screen::apply(policy, &mut reading);
    reading
}

/// Returns the places where a program usually keeps its memories; not all of them exist.
fn usual_paths(format: Format, places: &Places) -> Vec<PathBuf> {
    let paths = match format {
        Format::ClaudeMemory => claude_memory::usual_paths(places),
        Format::ClaudeMd => agents_files::usual_claude_paths(places),
        Format::AgentsMd => agents_files::usual_agents_paths(places),
        Format::CodexMemory => vec![places.home.join(".codex/memories")],
        Format::ServerMemory => server_memory::usual_paths(places),
        Format::McpMemoryService => mcp_memory_service::usual_paths(places),
        Format::BasicMemory => basic_memory::usual_paths(places),
        Format::Engram => vec![places.home.join(".engram/engram.db")],
        Format::Mem0 => vec![places.home.join(".mem0/history.db")],
        Format::LociMcp => loci_mcp::usual_paths(places),
        Format::Loomem | Format::Markdown => Vec::new(),
    };
    paths.into_iter().filter(|path| path.exists()).collect()
}
