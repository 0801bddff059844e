//! `loci import`: what is imported decides how.

mod foreign;
mod native;
mod preview;

use crate::cli::import::{From, Import};
use crate::commands::transfer::markdown_folder;
use crate::output::Problem;
use crate::speaker::require_person;
use loci_proto::foreign::{Format, ImportSource};
use std::path::PathBuf;
use std::process::ExitCode;

/// Returns whether the only path is a folder of `loci export --format markdown`.
fn is_markdown_export(paths: &[PathBuf]) -> bool {
    matches!(paths, [folder] if folder.join(markdown_folder::LIST).is_file())
}

/// Imports files, or the memories of another program.
///
/// # Errors
/// Nothing can be read, there is no confirmation, or the daemon cannot be reached or refuses it.
pub async fn run(args: Import) -> Result<ExitCode, Problem> {
    if args.mine {
        let what = "Only a person may say that the texts of a file are their own";
        require_person(what, "loci import FILE --mine")?;
    }
    let format = match args.from {
        None if is_markdown_export(&args.paths) => Format::Markdown,
        None | Some(From::Export | From::Dump) => return native::run(&args).await,
        Some(From::History) => return foreign::run(ImportSource::Transcripts, &args).await,
        Some(From::ClaudeMemory) => Format::ClaudeMemory,
        Some(From::ClaudeMd) => Format::ClaudeMd,
        Some(From::AgentsMd) => Format::AgentsMd,
        Some(From::CodexMemory) => Format::CodexMemory,
        Some(From::ServerMemory) => Format::ServerMemory,
        Some(From::McpMemoryService) => Format::McpMemoryService,
        Some(From::BasicMemory) => Format::BasicMemory,
        Some(From::Engram) => Format::Engram,
        Some(From::Mem0) => Format::Mem0,
        Some(From::LociMcp) => Format::LociMcp,
        Some(From::Loomem) => Format::Loomem,
        Some(From::Markdown) => Format::Markdown,
    };
    foreign::run(ImportSource::Memories(format), &args).await
}
