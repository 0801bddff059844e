//! The binary `loci`: reads the command line, has the command done, ends with its exit code.

use clap::{CommandFactory, FromArgMatches};
use loci::cli;
use loci::cli::{Cli, Command};
use loci::commands;
use loci::commands::{
    config, ctl, demo, doctor, eval, groups, lifecycle, mcp, model, pages, reset, transfer,
};
use loci::output::{Problem, Reader, report, tell_script};
use loci_proto::error::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    // What agents say is known without the parser and the commands of people: their code would stay in the memory of every session.
    if std::env::args_os().skip(1).eq(["mcp"]) {
        return to_its_end(Reader::Person, mcp::run());
    }
    match parsed() {
        Ok((reader, command)) => to_its_end(reader, run(command)),
        Err(shown) => {
            // Help and version come this way too; whoever closed the pipe has seen enough.
            let _ = shown.print();
            if !shown.use_stderr() {
                return Exit::Ok.into();
            }
            // The parser does not know yet that a script reads: it has not come to the end of the line.
            if std::env::args_os().any(|argument| argument == "--json") {
                let text = shown.to_string();
                let said = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
                let what = said.collect::<Vec<_>>().join(" ");
                tell_script(
                    &Problem::usage(what.strip_prefix("error: ").unwrap_or(&what))
                        .hint("Run loci help"),
                );
            }
            Exit::Usage.into()
        }
    }
}

fn parsed() -> Result<(Reader, Command), clap::Error> {
    let given = Cli::command().try_get_matches()?;
    Ok((cli::reader(&given), Cli::from_arg_matches(&given)?.command))
}

/// Runs a command; its exit code, or that of the problem that it ran into.
fn to_its_end(
    reader: Reader,
    command: impl Future<Output = Result<ExitCode, Problem>>,
) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&Problem::from(error), reader),
    };
    let done = runtime.block_on(command);
    // A thread may still wait for standard input, which nobody needs any more.
    runtime.shutdown_background();
    done.unwrap_or_else(|problem| report(&problem, reader))
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
        Command::Eval(asked) => eval::run(asked).await,
        Command::Config(command) => config::run(&command).await,
        Command::Completions { shell } => pages::completions(shell),
        Command::Man { dir } => pages::man(dir.as_deref()),
        of_memories => Box::pin(commands::run(of_memories)).await,
    }
}
