//! `loci completions`: prints the completion script of a shell, generated from the command definitions.

use crate::cli::Cli;
use crate::output::{Problem, print_bytes};
use clap::CommandFactory;
use loci_proto::error::Exit;
use std::process::ExitCode;

/// Prints the completion script of `shell`.
///
/// # Errors
/// Standard output cannot be written.
pub fn run(shell: clap_complete::Shell) -> Result<ExitCode, Problem> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "loci", &mut script);
    print_bytes(&script)?;
    Ok(Exit::Ok.into())
}
