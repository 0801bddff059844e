//! The arguments of `loci import`, and the programs and formats that it imports from. Only definitions; see `commands::transfer::import`.

use crate::cli::values::parse_past;
use clap::{Args, ValueEnum};
use loci_proto::foreign::Client;
use loci_proto::group::GroupName;
use std::path::PathBuf;

/// `loci import`
#[derive(Debug, Args)]
pub struct Import {
    /// What loci export or loci dump has written, or a backup, - for standard input. With --from: files and folders of that program.
    #[arg(value_name = "PATH", required_unless_present = "from")]
    pub paths: Vec<PathBuf>,
    /// Import from another program, or Markdown; shows a preview and asks. Default: export or dump, as the file says.
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<From>,
    /// With --from: put everything into this project instead of those that the texts belong to.
    #[arg(long, value_name = "NAME", requires = "from")]
    pub group: Option<GroupName>,
    /// With --from history: only the transcripts of claude, codex, gemini or opencode; repeatable.
    #[arg(long, value_name = "CLIENT", requires = "from")]
    pub client: Vec<Client>,
    /// With --from history: only what is from then on: 90d, yesterday, 2026-11-01.
    #[arg(long, value_name = "TIME", value_parser = parse_past, requires = "from")]
    pub since: Option<i64>,
    /// With --from or a folder: print what would be imported, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// The texts are your own: trust them as those that you store yourself, except those that are flagged.
    #[arg(long)]
    pub mine: bool,
    /// With --from or a folder: do not ask for confirmation.
    #[arg(long, short)]
    pub yes: bool,
    /// Skip and list lines that cannot be imported.
    #[arg(long)]
    pub skip_bad: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}

/// What is imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum From {
    /// A file of loci export.
    Export,
    /// A file of loci dump.
    Dump,
    /// Transcripts that clients left on the disk, as candidates.
    History,
    /// Claude Code's own memory: ~/.claude/projects/*/memory.
    ClaudeMemory,
    /// CLAUDE.md from this folder up, and your own in ~/.claude.
    ClaudeMd,
    /// AGENTS.md from this folder up, and your own in ~/.codex.
    AgentsMd,
    /// Codex's memory: ~/.codex/memories.
    CodexMemory,
    /// The memory.jsonl of server-memory.
    ServerMemory,
    /// The database of mcp-memory-service.
    McpMemoryService,
    /// The notes of basic-memory.
    BasicMemory,
    /// The database of engram, or its JSON export.
    Engram,
    /// A JSON export of mem0, or its history database.
    Mem0,
    /// The database of loci-mcp.
    LociMcp,
    /// The chunks of loomem as JSON, with its entities and edges.
    Loomem,
    /// Markdown files, also those of loci export --format markdown.
    Markdown,
}
