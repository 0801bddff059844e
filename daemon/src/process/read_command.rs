//! `locid read`: prints the memories of another program, for `loci import --from`. Opens neither loci's database nor a socket.

use crate::config::Config;
use crate::config::options::ReadFiles;
use loci_engine::foreign_formats::{self, Places};
use loci_proto::error::{Code, Exit, Failure};
use loci_proto::foreign::{Format, Reading};
use loci_proto::paths::Paths;
use std::io::{self, Write};

/// Runs the command; prints the reading, or the failure, as one line of JSON.
#[must_use]
pub fn run(paths: &Paths, files: &ReadFiles) -> Exit {
    let (line, exit) = match read(paths, files) {
        Ok(reading) => (serde_json::to_string(&reading), Exit::Ok),
        Err(failure) => (serde_json::to_string(&failure), Exit::Failed),
    };
    // The reader may have gone.
    let _ = writeln!(io::stdout(), "{}", line.unwrap_or_default());
    exit
}

fn read(paths: &Paths, files: &ReadFiles) -> Result<Reading, Failure> {
    let format: Format =
        files.from.parse().map_err(|reason| Failure::invalid("from", reason))?;
    let policy = Config::read(&paths.config)?.privacy.policy()?;
    let working_dir = std::env::current_dir().map_err(|error| {
        Failure::new(Code::NotFound, format!("the working directory cannot be read: {error}"))
    })?;
    let places = Places { home: files.home.clone(), working_dir };
    Ok(foreign_formats::read(format, &places, &files.paths, &policy)?)
}
