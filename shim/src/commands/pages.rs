//! What is made of the definitions of the command line: completions of shells, and manual pages.

use crate::cli::Cli;
use crate::output::{Problem, say};
use clap::CommandFactory;
use loci_proto::error::Exit;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Prints the completions of a shell.
///
/// # Errors
/// Those of standard output.
pub fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Problem> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "loci", &mut script);
    print(&script)
}

/// Prints the manual page of `loci`, or writes the pages of all commands into a folder.
///
/// # Errors
/// When the folder cannot be written to.
pub fn man(folder: Option<&Path>) -> Result<ExitCode, Problem> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        return print(&page);
    };
    let failed = |error: std::io::Error| {
        Problem::new(format!("The pages cannot be written to {}", folder.display())).because(&error)
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
    say(format!("The manual pages are in {}", folder.display()))?;
    Ok(Exit::Ok.into())
}

fn print(bytes: &[u8]) -> Result<ExitCode, Problem> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(Exit::Ok.into())
}
