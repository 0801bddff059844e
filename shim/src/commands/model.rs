//! `loci model`: runs `locid model …` with this terminal and environment, and makes a running daemon reload the model.
//!
//! Not here: downloading and checking the files (`locid`).

use crate::cli::daemon::Model;
use crate::client::admin;
use crate::client::admin::RequestError;
use crate::client::unreachable::Unreachable;
use crate::output::Problem;
use crate::spawn::find_locid;
use loci_proto::error::Exit;
use loci_proto::paths::Paths;
use std::process::ExitCode;
use tokio::process::Command;

/// Runs the command and returns the exit code of `locid`.
///
/// # Errors
/// When `locid` cannot be run, or a running daemon does not reload the model.
pub async fn run(command: Model) -> Result<ExitCode, Problem> {
    let paths = Paths::of_process()?;
    let mut locid = Command::new(find_locid().map_err(Problem::new)?);
    let is_download = match command {
        Model::Download { from } => {
            locid.args(["model", "fetch"]);
            if let Some(from) = from {
                locid.arg("--from").arg(from);
            }
            true
        }
        Model::Status { json } => {
            locid.args(["model", "status"]);
            if json {
                locid.arg("--json");
            }
            false
        }
    };
    let status =
        locid.status().await.map_err(|error| Problem::new("Cannot run locid").because(&error))?;
    if is_download && status.success() {
        reload_in_daemon(&paths).await?;
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(Exit::Failed.into(), ExitCode::from))
}

/// Makes a running daemon check for the model again; does nothing without a daemon.
async fn reload_in_daemon(paths: &Paths) -> Result<(), Problem> {
    match admin::post(paths, "/model/look").await {
        Ok(_) | Err(RequestError::Unreachable(Unreachable::Absent)) => Ok(()),
        Err(reason) => Err(reason.into()),
    }
}
