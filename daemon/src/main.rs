//! Entry of `locid`: reads the command line and hands over.

use clap::Parser;
use loci_proto::error::{Exit, Failure};
use loci_proto::paths::Paths;
use locid::config::options;
use locid::config::options::{Command, Model, Options};
use locid::embedding;
use locid::process::serve;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    // First of all, while there is one thread: the ONNX library reads this when it is loaded.
    embedding::onnx::switch_off_telemetry();
    let options = Options::parse();
    let paths = match Paths::of_process() {
        Ok(paths) => paths,
        Err(failure) => return fail(&failure, Exit::Config),
    };
    match &options.command {
        None | Some(Command::Serve) => match serve::run(&options, &paths) {
            Ok(()) => Exit::Ok.into(),
            Err(end) if end.exit == Exit::AlreadyRunning => end.exit.into(),
            Err(end) => fail(&end.failure, end.exit),
        },
        Some(Command::Model { command: Model::Fetch { from } }) => {
            options::fetch(&paths, from.as_deref())
        }
        Some(Command::Model { command: Model::Status { json } }) => options::status(&paths, *json),
    }
}

fn fail(failure: &Failure, exit: Exit) -> ExitCode {
    // A log on a full disk takes no word of it; the code still tells, where a panic would not.
    let _ = writeln!(io::stderr(), "locid: {failure}");
    exit.into()
}
