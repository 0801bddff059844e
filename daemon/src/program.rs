//! The program `locid`: parses the command line and runs the command. The binary only calls [`main`].

use crate::config::options;
use crate::config::options::{Command, Model, Options};
use crate::embedding;
use crate::embedding::model_thread;
use crate::process::backup_commands;
use crate::process::doctor_command;
use crate::process::encryption_commands;
use crate::process::read_command;
use crate::process::serve;
use crate::process::time_zone;
use clap::Parser;
use loci_proto::error::{Exit, Failure};
use loci_proto::paths::Paths;
use std::io::{self, Write};
use std::process::ExitCode;

/// Runs the program and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    // First, while the process has one thread: this sets an environment variable, which ONNX Runtime reads when it is loaded.
    embedding::onnx::switch_off_telemetry();
    time_zone::apply();
    let options = Options::parse();
    let paths = match Paths::of_process() {
        Ok(paths) => paths,
        Err(failure) => return fail(&failure, Exit::Config),
    };
    match &options.command {
        None | Some(Command::Serve) => match serve::run(&options, &paths) {
            Ok(()) => model_thread::exit(Exit::Ok),
            Err(error) if error.exit == Exit::AlreadyRunning => model_thread::exit(error.exit),
            Err(error) => {
                fail(&error.failure, error.exit);
                model_thread::exit(error.exit)
            }
        },
        Some(Command::Backup(command)) => backup_commands::run(&paths, command).into(),
        Some(Command::Doctor { deep }) => doctor_command::run(&paths, *deep).into(),
        Some(Command::Encryption(command)) => encryption_commands::run(&paths, *command).into(),
        Some(Command::Lines { path }) => read_command::lines(&paths, path).into(),
        Some(Command::Read(files)) => read_command::run(&paths, files).into(),
        Some(Command::Model { command: Model::Fetch { from, model } }) => {
            options::fetch(&paths, from.as_deref(), model.as_deref())
        }
        Some(Command::Model { command: Model::Status { json } }) => options::status(&paths, *json),
        Some(Command::Embed) => embedding::api::program::run(),
        Some(Command::Paths) => options::paths(&paths),
    }
}

fn fail(failure: &Failure, exit: Exit) -> ExitCode {
    // Not `eprintln!`, which panics if writing fails, for example on a full disk; the exit code is still correct then.
    let _ = writeln!(io::stderr(), "locid: {failure}");
    exit.into()
}
