//! `locid read` prints the memories of another program, or what transcripts teach, `locid lines` the records of a backup, for `loci import`. None of them opens the database in use, or a socket; each ends with the `loci` that started it.

use crate::config::options::ReadFiles;
use crate::config::{Config, key_file};
use crate::process::startup;
use loci_engine::error::Error;
use loci_engine::transfer::backup_to_lines;
use loci_import::{Places, Wanted};
use loci_proto::error::{Code, Exit, Failure};
use loci_proto::foreign::{ImportSource, Reading};
use loci_proto::paths::Paths;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Runs the command; prints the reading, or the failure, as one line of JSON.
#[must_use]
pub fn run(paths: &Paths, files: &ReadFiles) -> Exit {
    startup::end_with_parent();
    let (line, exit) = match read(paths, files) {
        Ok(reading) => (serde_json::to_string(&reading), Exit::Ok),
        Err(failure) => (serde_json::to_string(&failure), Exit::Failed),
    };
    // The reader may have gone.
    let _ = writeln!(io::stdout(), "{}", line.unwrap_or_default());
    exit
}

/// Prints the records of a backup as lines; after a failure the last line is the failure.
#[must_use]
pub fn lines(paths: &Paths, path: &Path) -> Exit {
    print_lines(|out| {
        key_file::load(paths)?;
        backup_to_lines(path, out)
    })
}

fn print_lines(write: impl FnOnce(&mut dyn Write) -> Result<(), Error>) -> Exit {
    startup::end_with_parent();
    let mut out = BufWriter::new(io::stdout());
    let printed = write(&mut out).map_err(Failure::from);
    let Err(failure) = printed else { return Exit::Ok };
    let _ = writeln!(out, "{}", serde_json::to_string(&failure).unwrap_or_default());
    let _ = out.flush();
    Exit::Failed
}

fn read(paths: &Paths, files: &ReadFiles) -> Result<Reading, Failure> {
    let policy = Config::read(&paths.config)?.privacy.policy()?;
    let working_dir = std::env::current_dir().map_err(|error| {
        Failure::new(Code::NotFound, format!("the working directory cannot be read: {error}"))
    })?;
    let variable = |name: &str| std::env::var_os(name);
    let places = Places { home: files.home.clone(), working_dir, variable };
    match files.from {
        ImportSource::Memories(format) => loci_import::read(format, &places, &files.paths, &policy),
        ImportSource::Transcripts => {
            let wanted = Wanted { clients: files.client.clone(), since: files.since };
            Ok(loci_import::read_transcripts(&places, &wanted, &policy))
        }
    }
}
