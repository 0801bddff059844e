//! `loci model`: has `locid model …` do the work, with this terminal and this environment, and tells a running daemon of it.
//!
//! The shim itself fetches nothing and reads no model.

use crate::cli::Model;
use crate::client::Unreachable;
use crate::client::admin::{self, NotDone};
use crate::output::Problem;
use crate::spawn::find_locid;
use loci_proto::error::Exit;
use loci_proto::paths::Paths;
use std::process::ExitCode;
use tokio::process::Command;

/// Does what was asked; ends with the exit code of `locid`.
///
/// # Errors
/// When `locid` cannot be run, or a running daemon cannot be told.
pub async fn run(command: Model) -> Result<ExitCode, Problem> {
    let paths = Paths::of_process()?;
    let mut locid = Command::new(find_locid().map_err(Problem::new)?);
    let fetches = match command {
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
    let status = locid
        .status()
        .await
        .map_err(|error| Problem::new("locid cannot be run").because(&error))?;
    if fetches && status.success() {
        tell_the_daemon(&paths).await?;
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(Exit::Failed.into(), ExitCode::from))
}

/// A running daemon looks at the model again; without one there is nothing to do.
async fn tell_the_daemon(paths: &Paths) -> Result<(), Problem> {
    match admin::post(paths, "/model/look").await {
        Ok(_) | Err(NotDone::Unreachable(Unreachable::Absent)) => Ok(()),
        Err(reason) => Err(reason.into()),
    }
}
