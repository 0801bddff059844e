//! The arguments of `loci fix`, `loci how` and `loci reject`. Only definitions; each command is implemented in `commands`.

use crate::cli::memories::{Format, Project};
use clap::Args;

/// `loci reject`
#[derive(Debug, Args)]
pub struct Reject {
    /// Memory id, or at least 4 characters of its start or end.
    pub id: String,
    /// Why the attempt was given up.
    #[arg(long, value_name = "TEXT")]
    pub why: String,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci fix`
#[derive(Debug, Args)]
pub struct Fix {
    /// Error message, or the output of a program; - reads it from standard input.
    #[arg(required = true, value_name = "ERROR")]
    pub error: Vec<String>,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}

/// `loci how`
#[derive(Debug, Args)]
pub struct How {
    /// Name of the program, for example pnpm.
    pub tool: String,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub project: Project,
    #[expect(missing_docs, reason = "flattened")]
    #[command(flatten)]
    pub format: Format,
}
