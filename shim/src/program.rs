//! The program `loci`: parses the command line, runs the command, and exits with its exit code. The binary only calls [`main`].

use crate::cli::{Cli, Command, foreign_commands};
use crate::output::{OutputFormat, Problem, print_json_error, report};
use crate::{cli, commands};
use clap::{CommandFactory, FromArgMatches};
use loci_proto::error::Exit;
use std::process::ExitCode;

/// Runs the program and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    // `loci mcp` bypasses the parser and the dispatcher, so that their code is not loaded into the memory of every agent session.
    if std::env::args_os().skip(1).eq(["mcp"]) {
        return block_on(OutputFormat::Text, commands::mcp::run(false));
    }
    // A hook runs with every prompt: it must be quick, and must not fail because of its arguments.
    if let Some((client, event)) = hook_arguments() {
        return block_on(OutputFormat::Text, async move {
            Ok(commands::hook::run(&client, &event).await)
        });
    }
    match parse() {
        Ok((format, command)) => block_on(format, commands::run(command)),
        Err(error) => report_parse_error(error),
    }
}

/// Returns the client and the event of `loci hook`, as far as they are given; `None` for another command, or if help is wanted.
fn hook_arguments() -> Option<(String, String)> {
    let mut arguments = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned());
    if arguments.next()? != "hook" {
        return None;
    }
    let given: Vec<String> = arguments.collect();
    let wants_help = given.iter().any(|argument| ["-h", "--help"].contains(&argument.as_str()));
    let mut given = given.into_iter();
    let mut next = || given.next().unwrap_or_default();
    (!wants_help).then(|| (next(), next()))
}

fn parse() -> Result<(OutputFormat, Command), clap::Error> {
    let matches = Cli::command().try_get_matches()?;
    let format = cli::wants_json(&matches).into();
    Ok((format, Cli::from_arg_matches(&matches)?.command))
}

/// Prints a parse error and returns its exit code; clap also reports `--help` and `--version` as errors.
fn report_parse_error(mut error: clap::Error) -> ExitCode {
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let tip = foreign_commands::explain(&mut error, &arguments);
    // A failed write, for example to a closed pipe, is not an error here.
    let _ = error.print();
    if !error.use_stderr() {
        return Exit::Ok.into();
    }
    // The parser failed, so search the arguments for the flag.
    if arguments.iter().any(|argument| argument == "--json") {
        let text = error.to_string();
        let lines = text.lines().take_while(|line| !line.is_empty()).map(str::trim);
        let message = lines.collect::<Vec<_>>().join(" ");
        let message = message.strip_prefix("error: ").unwrap_or(&message);
        let hint = tip.unwrap_or_else(|| "Run loci help".to_owned());
        print_json_error(&Problem::usage(message).hint(hint));
    }
    Exit::Usage.into()
}

/// Runs a command to its end and returns its exit code, or that of its error.
fn block_on(
    format: OutputFormat,
    command: impl Future<Output = Result<ExitCode, Problem>>,
) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&Problem::from(error), format),
    };
    let result = runtime.block_on(command);
    // A thread may still block on standard input; do not wait for it.
    runtime.shutdown_background();
    result.unwrap_or_else(|problem| report(&problem, format))
}
