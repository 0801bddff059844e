//! `loci ctl`: controls the daemon. One file per subcommand.

mod cost;
mod drain;
mod incognito;
pub mod install;
mod logs;
mod maintenance;
mod ps;
mod reload;
pub mod restart;
pub mod start;
pub mod status;
pub mod stop;

use crate::cli::daemon::Ctl;
use crate::output::Problem;
use loci_proto::error::Exit;
use loci_proto::paths::Paths;
use std::process::ExitCode;

/// Runs the command.
///
/// # Errors
/// The error of the subcommand, with its exit code.
pub async fn run(command: Ctl) -> Result<ExitCode, Problem> {
    let paths = Paths::of_process()?;
    match command {
        Ctl::Status { json } => status::run(&paths, json).await?,
        Ctl::Start => start::run(&paths).await?,
        Ctl::Cost { json } => cost::run(&paths, json).await?,
        Ctl::Ps { json } => ps::run(&paths, json).await?,
        Ctl::Stop { hold } => stop::run(&paths, hold).await?,
        Ctl::Reload(format) => reload::run(&paths, format.json.into()).await?,
        Ctl::Restart => restart::run(&paths).await?,
        Ctl::Incognito(args) => incognito::run(args).await?,
        Ctl::Drain => drain::run(&paths).await?,
        Ctl::Install(args) => install::run(&paths, &args).await?,
        Ctl::Maintenance(command) => return maintenance::run(command).await,
        Ctl::Logs { follow, lines } => logs::run(&paths, lines, follow).await?,
    }
    Ok(Exit::Ok.into())
}
