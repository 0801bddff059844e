//! The binary `loci`: reads the command line, has the command done, ends with its exit code.

use clap::Parser;
use loci::cli::{Cli, Command};
use loci::output::{Problem, report};
use loci::{ctl, demo, doctor, groups, lifecycle, mcp, model, reset, transfer};
use loci_proto::error::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = match command() {
        Ok(command) => command,
        Err(shown) => {
            // Help and version come this way too; whoever closed the pipe has seen enough.
            let _ = shown.print();
            return if shown.use_stderr() { Exit::Usage.into() } else { Exit::Ok.into() };
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&Problem::from(error)),
    };
    let done = runtime.block_on(run(command));
    // A thread may still wait for standard input, which nobody needs any more.
    runtime.shutdown_background();
    match done {
        Ok(code) => code,
        Err(problem) => report(&problem),
    }
}

/// What this process is to do. What agents say is known without the parser, whose code would stay in the memory of every session.
fn command() -> Result<Command, clap::Error> {
    if std::env::args_os().skip(1).eq(["mcp"]) {
        return Ok(Command::Mcp);
    }
    Cli::try_parse().map(|cli| cli.command)
}

async fn run(command: Command) -> Result<ExitCode, Problem> {
    match command {
        Command::Mcp => mcp::run().await,
        Command::Ctl(command) => ctl::run(command).await,
        Command::Model(command) => model::run(command).await,
        Command::Compact(given) => lifecycle::compact(given).await,
        Command::Cleanup(given) => lifecycle::cleanup(given).await,
        Command::Demo => demo::run().await,
        Command::Export(asked) => transfer::export::run(asked).await,
        Command::Import(asked) => transfer::import::run(asked).await,
        Command::Reset(asked) => reset::run(asked).await,
        Command::Groups(command) => groups::run(command).await,
        Command::Doctor(asked) => doctor::run(asked).await,
    }
}
