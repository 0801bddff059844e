//! `loci update --check`: prints how loci was installed and the command that updates it. loci does not update itself, and looks for no
//! new version, because that would need the network.

use crate::cli::installation::Update;
use crate::installation::origin;
use crate::output::{Problem, print_line};
use loci_proto::VERSION;
use loci_proto::error::Exit;
use std::io;
use std::process::ExitCode;

/// Prints the origin and the command.
///
/// # Errors
/// `--check` is missing.
pub fn run(args: &Update) -> Result<ExitCode, Problem> {
    if !args.check {
        return Err(Problem::usage("loci does not update itself, because it uses no network")
            .hint("Run loci update --check, which prints the command that updates it"));
    }
    let origin = origin::of_process();
    if args.json {
        let mut reply = serde_json::to_value(&origin).map_err(io::Error::from)?;
        reply["version"] = VERSION.into();
        print_line(reply.to_string())?;
    } else {
        print_line(format!("loci {VERSION}: {}", origin.program.display()))?;
        print_line(format!("Installed by {}. To update it:", origin.installer.name()))?;
        print_line(format!("  {}", origin.update))?;
        print_line("Then run loci ctl restart; agents continue without interruption.")?;
    }
    Ok(Exit::Ok.into())
}
