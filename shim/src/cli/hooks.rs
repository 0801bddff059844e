//! The arguments of the commands about hooks. Only definitions; each command is implemented in `commands`.

use crate::cli::memories::Format;
use clap::Args;
use loci_proto::group::GroupName;

/// `loci hook`
#[derive(Debug, Args)]
pub struct Hook {
    /// The client: claude, codex, cursor, gemini, vscode, devin, opencode or copilot.
    #[arg(value_name = "CLIENT")]
    pub client: String,
    /// The event: session-start, prompt, pre-tool, subagent-start, post-compact, stop or session-end.
    #[arg(value_name = "EVENT")]
    pub event: String,
}

/// `loci injected`
#[derive(Debug, Args)]
pub struct Injected {
    /// Only this session: the client's own id, or its beginning.
    #[arg(value_name = "SESSION")]
    pub session: Option<String>,
    /// Maximum number of receipts, 1 to 1000.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,
    /// Also list events at which nothing was found.
    #[arg(long)]
    pub all: bool,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci brief`
#[derive(Debug, Args)]
pub struct Brief {
    /// Project; default: project of the working directory.
    #[arg(long, value_name = "NAME")]
    pub group: Option<GroupName>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci recall`
#[derive(Debug, Args)]
pub struct Recall {
    /// Print what a hook would add to this prompt, or nothing.
    #[arg(long, required = true)]
    pub for_hook: bool,
    /// The prompt; without it, or with -, it is read from standard input.
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// Project; default: project of the working directory.
    #[arg(long, value_name = "NAME")]
    pub group: Option<GroupName>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}
