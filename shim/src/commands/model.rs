//! `loci model`: runs `locid model …` with this terminal and environment, and makes a running daemon use the model.
//!
//! Not here: downloading and checking the files (`locid`), encoding the store again (the daemon, after its start).

use crate::cli::daemon::Model;
use crate::client::admin;
use crate::client::admin::RequestError;
use crate::client::unreachable::Unreachable;
use crate::commands::ctl::{restart, status};
use crate::output::{Problem, print_line};
use crate::setup::files;
use crate::spawn::find_locid;
use loci_proto::error::Exit;
use loci_proto::paths::Paths;
use std::process::{ExitCode, ExitStatus};
use tokio::process::Command;
use toml_edit::{DocumentMut, Item, Table, value};

/// Runs the command and returns the exit code of `locid`.
///
/// # Errors
/// When `locid` cannot be run, or a running daemon does not use the model.
pub async fn run(command: Model) -> Result<ExitCode, Problem> {
    let paths = Paths::of_process()?;
    let status = match command {
        Model::Use { name } => return use_model(&paths, &name).await,
        Model::Download { from } => {
            let from = from.map(|from| ["--from".into(), from.into_os_string()]);
            let status =
                locid(["fetch".into()].into_iter().chain(from.into_iter().flatten())).await?;
            if status.success() {
                reload_in_daemon(&paths).await?;
            }
            status
        }
        Model::Status { json } => {
            locid(["status".into()].into_iter().chain(json.then(|| "--json".into()))).await?
        }
    };
    Ok(exit_code(status))
}

/// Runs `locid model` with these arguments.
async fn locid(arguments: impl Iterator<Item = std::ffi::OsString>) -> Result<ExitStatus, Problem> {
    let mut locid = Command::new(find_locid().map_err(Problem::new)?);
    locid.arg("model").args(arguments);
    locid.status().await.map_err(|error| Problem::new("Cannot run locid").because(&error))
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(Exit::Failed.into(), ExitCode::from)
}

/// Makes a running daemon check for the model again; does nothing without a daemon.
async fn reload_in_daemon(paths: &Paths) -> Result<(), Problem> {
    match admin::post(paths, "/model/look").await {
        Ok(_) | Err(RequestError::Unreachable(Unreachable::Absent)) => Ok(()),
        Err(reason) => Err(reason.into()),
    }
}

/// Writes the model into the configuration, downloads it, and restarts a running daemon, which encodes the store in the background. If the
/// model cannot be had, the configuration is as before.
async fn use_model(paths: &Paths, name: &str) -> Result<ExitCode, Problem> {
    let before = files::read(&paths.config)?;
    let text = with_model(before.as_deref().unwrap_or_default(), name)
        .map_err(|reason| Problem::new(format!("{}: {reason}", paths.config.display())))?;
    files::replace(&paths.config, before.as_deref(), &text)?;
    let fetched = locid(["fetch".into()].into_iter()).await;
    if !fetched.as_ref().is_ok_and(ExitStatus::success) {
        match &before {
            Some(before) => drop(files::replace(&paths.config, Some(&text), before)?),
            None => files::delete(&paths.config, &[])?,
        }
        print_line("The configuration is as before")?;
        return fetched.map(exit_code);
    }
    let is_running = status::fetch(paths).await.is_ok();
    if is_running {
        restart::run(paths).await?;
    }
    print_line(format!(
        "embedding.model = \"{name}\". The store changes in the background, and the earlier vectors serve until then;\n\
         loci ctl status shows how far it is, and loci model use minilm returns"
    ))?;
    Ok(Exit::Ok.into())
}

/// Returns the text of a configuration with another model.
fn with_model(text: &str, name: &str) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("{error}"))?;
    let section = document.entry("embedding").or_insert(Item::Table(Table::new()));
    let section = section.as_table_like_mut().ok_or("embedding is not a section")?;
    section.insert("model", value(name));
    section.remove("path");
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_model_leaves_the_rest_of_the_configuration() {
        let with = |text| with_model(text, "multilingual").expect("it is valid");
        assert_eq!(with(""), "[embedding]\nmodel = \"multilingual\"\n");
        let text = "# mine\n[embedding]\ndownload = false # slow\nmodel = \"minilm\"\n[server]\nlog_level = \"warn\"\n";
        assert_eq!(with(text), text.replace("minilm", "multilingual"));
        assert_eq!(
            with("embedding = { model = \"x\" }\n"),
            "embedding = { model = \"multilingual\" }\n"
        );
        assert!(with_model("embedding = 1", "minilm").is_err());
    }
}
