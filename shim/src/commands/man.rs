//! `loci man`: prints the manual page, or writes one page per command into a folder.

use crate::cli::Cli;
use crate::output::{Problem, print_bytes, print_line};
use clap::CommandFactory;
use loci_proto::error::Exit;
use std::path::Path;
use std::process::ExitCode;

/// Prints the manual page of `loci`, or writes the pages of all commands into `folder`.
///
/// # Errors
/// When the folder cannot be written to.
pub fn run(folder: Option<&Path>) -> Result<ExitCode, Problem> {
    if let Some(folder) = folder {
        write_pages(folder).map_err(|error| {
            Problem::new(format!("Cannot write manual pages to {}", folder.display()))
                .because(&error)
        })?;
        print_line(format!("Wrote the manual pages to {}", folder.display()))?;
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        print_bytes(&page)?;
    }
    Ok(Exit::Ok.into())
}

fn write_pages(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Cli::command(), folder)
}
