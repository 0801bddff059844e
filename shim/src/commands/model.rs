//! `loci model`: runs `locid model …` with this terminal and environment, and makes a running daemon use the model.
//!
//! Not here: downloading and checking the files (`locid`), encoding the store again (the daemon, after its start).

use crate::cli::daemon::Model;
use crate::client::admin;
use crate::client::admin::RequestError;
use crate::client::unreachable::Unreachable;
use crate::commands::ctl::{restart, status};
use crate::commands::reembed;
use crate::output::{Problem, escape_line, print_line};
use crate::setup::files;
use crate::spawn::find_locid;
use crate::speaker::require_person;
use loci_proto::error::Exit;
use loci_proto::paths::Paths;
use std::ffi::OsString;
use std::process::{ExitCode, ExitStatus};
use tokio::process::Command;
use toml_edit::{DocumentMut, Item, Table, Value};

/// The value of `embedding.provider` for a model on this machine.
const LOCAL: &str = "local";

/// Runs the command and returns the exit code of `locid`.
///
/// # Errors
/// When `locid` cannot be run, or a running daemon does not use the model.
pub async fn run(command: Model) -> Result<ExitCode, Problem> {
    let paths = Paths::of_process()?;
    let status = match command {
        Model::Use { name } => {
            require_person("Only a person may change the configuration", "loci model use")?;
            return use_model(&paths, &name).await;
        }
        Model::Download { from } => {
            let mut arguments = vec!["fetch".into()];
            arguments.extend(from.into_iter().flat_map(|from| ["--from".into(), from.into()]));
            let status = locid(arguments).await?;
            if status.success() {
                reload_in_daemon(&paths).await?;
            }
            status
        }
        Model::Status { json } => {
            let arguments = ["status".into()].into_iter().chain(json.then(|| "--json".into()));
            locid(arguments.collect()).await?
        }
    };
    Ok(exit_code(status))
}

/// Runs `locid model` with these arguments.
async fn locid(arguments: Vec<OsString>) -> Result<ExitStatus, Problem> {
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

/// Downloads a model of this machine by its name; `locid` says why if it cannot be had.
///
/// # Errors
/// When `locid` cannot be run.
pub async fn download(name: &str) -> Result<ExitStatus, Problem> {
    locid(vec!["fetch".into(), "--model".into(), name.into()]).await
}

/// Downloads the model, writes it into the configuration, and restarts a running daemon, which encodes the store in the background. Nothing is
/// written unless the model can be had.
async fn use_model(paths: &Paths, name: &str) -> Result<ExitCode, Problem> {
    let before = files::read(&paths.config)?;
    let text = with_model(before.as_deref().unwrap_or_default(), name).map_err(|reason| {
        Problem::new(format!("{}: {reason}", paths.config.display()))
            .hint("Nothing was written. Correct the file, then run the command again")
    })?;
    let fetched = download(name).await?;
    if !fetched.success() {
        return Ok(exit_code(fetched));
    }
    files::replace(&paths.config, before.as_deref(), &text)?;
    print_line(format!("embedding.model = \"{}\"", escape_line(name)))?;
    if before.is_some_and(|before| has_key(&before, "dimensions")) && !has_key(&text, "dimensions")
    {
        print_line("embedding.dimensions was removed: it was for the earlier model")?;
    }
    if status::fetch(paths).await.is_err() {
        print_line("The store changes as soon as the daemon runs")?;
        return Ok(Exit::Ok.into());
    }
    restart::run(paths).await?;
    // Also if the change to this model was cancelled before.
    print_line(reembed::start().await?)?;
    Ok(Exit::Ok.into())
}

/// Returns whether a configuration has a key of `[embedding]`; one that cannot be read has none.
pub(crate) fn has_key(text: &str, key: &str) -> bool {
    let document = text.parse::<DocumentMut>().unwrap_or_default();
    document.get("embedding").and_then(|section| section.get(key)).is_some()
}

/// Returns the text of a configuration with another model.
pub(crate) fn with_model(text: &str, name: &str) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error| format!("{error}"))?;
    let section = document.entry("embedding").or_insert(Item::Table(Table::new()));
    let section = section.as_table_like_mut().ok_or("embedding is not a section")?;
    let provider = section.get("provider").and_then(Item::as_str).unwrap_or(LOCAL);
    if provider != LOCAL {
        return Err(format!(
            "embedding.provider is \"{provider}\": its API computes the vectors; remove provider and its keys for a model on this machine"
        ));
    }
    let mut model = Value::from(name);
    // It is about the earlier model.
    if section.get("model").and_then(Item::as_str) != Some(name) {
        section.remove("dimensions");
    }
    match section.get_mut("model") {
        // With the comments before and behind it.
        Some(item) => {
            if let Some(earlier) = item.as_value() {
                *model.decor_mut() = earlier.decor().clone();
            }
            *item = Item::Value(model);
        }
        None => drop(section.insert("model", Item::Value(model))),
    }
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
        let commented = "[embedding]\n# this\nmodel = \"minilm\" # mine\npath = \"~/own\"\n";
        assert_eq!(with(commented), commented.replace("minilm", "multilingual"));
        assert!(has_key(commented, "model") && !has_key("[rerank]\nmodel = 1", "model"));
        let large = "[embedding]\nmodel = \"large\"\ndimensions = 256\n";
        assert_eq!(with(large), "[embedding]\nmodel = \"multilingual\"\n");
        assert!(with_model("embedding = 1", "minilm").is_err());
        let refusal = with_model("embedding.provider = \"openai\"", "minilm");
        assert!(refusal.is_err_and(|reason| reason.starts_with("embedding.provider")));
    }
}
