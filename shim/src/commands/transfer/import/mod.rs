//! `loci import`: what is imported decides how.

mod foreign;
mod history;
mod native;
mod preview;

use crate::cli::import::{From, Import};
use crate::commands::transfer::markdown_folder;
use crate::output::Problem;
use loci_proto::foreign::Format;
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
    match args.from {
        None if is_markdown_export(&args.paths) => foreign::run(Format::Markdown, &args).await,
        None | Some(From::Export | From::Dump) => native::run(&args).await,
        Some(From::History) => history::run(args).await,
        Some(From::ClaudeMemory) => foreign::run(Format::ClaudeMemory, &args).await,
        Some(From::ClaudeMd) => foreign::run(Format::ClaudeMd, &args).await,
        Some(From::AgentsMd) => foreign::run(Format::AgentsMd, &args).await,
        Some(From::CodexMemory) => foreign::run(Format::CodexMemory, &args).await,
        Some(From::ServerMemory) => foreign::run(Format::ServerMemory, &args).await,
        Some(From::McpMemoryService) => foreign::run(Format::McpMemoryService, &args).await,
        Some(From::BasicMemory) => foreign::run(Format::BasicMemory, &args).await,
        Some(From::Engram) => foreign::run(Format::Engram, &args).await,
        Some(From::Mem0) => foreign::run(Format::Mem0, &args).await,
        Some(From::LociMcp) => foreign::run(Format::LociMcp, &args).await,
        Some(From::Loomem) => foreign::run(Format::Loomem, &args).await,
        Some(From::Markdown) => foreign::run(Format::Markdown, &args).await,
    }
}
