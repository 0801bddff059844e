//! `loci eval --models`: measures a copy of the store with each of several models, in a sandbox. The store itself does not change.
//!
//! Not here: the table (`eval`), the sandbox.

use crate::cli::store_admin::Eval;
use crate::client::call::VerbClient;
use crate::commands::ctl::stop;
use crate::commands::model;
use crate::commands::sandbox::Sandbox;
use crate::commands::short_lived::parse;
use crate::output::{Problem, escape_line};
use crate::setup::files;
use loci_proto::requests::backup::{BackupEntry, BackupRequest};
use loci_proto::requests::eval::EvalReply;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::{fs, io};
use tokio::task::spawn_blocking;
use toml_edit::DocumentMut;

/// Keys that the sandbox takes from the user's configuration, beside the ranking. None is about an API.
const TAKEN_KEYS: [(&str, &str); 4] = [
    ("embedding", "path"),
    ("embedding", "download"),
    ("embedding", "url"),
    ("storage", "key_file"),
];

/// What one model finds.
#[derive(Debug, Serialize, Deserialize)]
pub struct ModelReply {
    /// The model, as `embedding.model` names it.
    pub model: String,
    /// What it finds.
    #[serde(flatten)]
    pub reply: EvalReply,
}

/// Measures each model of `args.models` on a copy of the store.
///
/// # Errors
/// A model cannot be had or used, or the daemon fails.
pub async fn run(args: &Eval) -> Result<Vec<ModelReply>, Problem> {
    for name in &args.models {
        if !model::download(name).await?.success() {
            return Err(Problem::new(format!("The model {} cannot be used", escape_line(name)))
                .hint("locid has said why; docs/models.md lists the models"));
        }
    }
    let client = VerbClient::of_process()?;
    let answer = client.call_streamed("/long/backup", &BackupRequest::default()).await?;
    let backup: BackupEntry =
        serde_json::from_slice(&answer.read_all().await?).map_err(io::Error::from)?;
    let config = files::read(&client.paths.config)?.unwrap_or_default();
    let key = client.paths.home.join("key");
    Sandbox::run("loci-eval-", async |sandbox| {
        let (from, to) = (PathBuf::from(&backup.path), sandbox.paths.db.clone());
        spawn_blocking(move || take(&from, &to)).await.map_err(io::Error::from)??;
        let mut replies = Vec::new();
        for model in &args.models {
            let mut config = config_for(&config, model)?;
            if key.exists() && config.get("storage").is_none() {
                config["storage"]["key_file"] = toml_edit::value(key.display().to_string());
            }
            fs::write(&sandbox.paths.config, config.to_string())?;
            replies.push(ModelReply { model: model.clone(), reply: measure(sandbox, args).await? });
        }
        Ok(replies)
    })
    .await
}

/// Makes a backup the database of the sandbox: a person does not want to keep it.
fn take(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    fs::remove_file(from)?;
    fs::remove_file(from.with_extension("json"))
}

/// Changes the copy to the model that is configured, then measures it.
async fn measure(sandbox: &Sandbox, args: &Eval) -> Result<EvalReply, Problem> {
    for arguments in [&["ctl", "start"][..], &["re-embed", "--wait"]] {
        let status = sandbox.loci(arguments).stdout(Stdio::null()).status().await?;
        if !status.success() {
            return Err(Problem::new(format!("loci {} failed", arguments.join(" "))));
        }
    }
    sandbox.wait_for_model().await?;
    let (probes, seed) = (args.probes.to_string(), args.seed.to_string());
    let eval = ["eval", "--json", "--probes", &probes, "--seed", &seed];
    let output = sandbox.loci(&eval).stderr(Stdio::inherit()).output().await?;
    if !output.status.success() {
        return Err(Problem::new("loci eval failed"));
    }
    stop::stop(&sandbox.paths).await?;
    parse(&String::from_utf8_lossy(&output.stdout))
}

/// Returns the configuration of the sandbox: the ranking of the user's, the key of an encrypted store, and a model on this machine.
fn config_for(text: &str, model: &str) -> Result<DocumentMut, Problem> {
    let own: DocumentMut = text
        .parse()
        .map_err(|error| Problem::new("The configuration cannot be read").because(&error))?;
    let mut config = DocumentMut::new();
    if let Some(retrieval) = own.get("retrieval") {
        config["retrieval"] = retrieval.clone();
    }
    for (section, key) in TAKEN_KEYS {
        if let Some(value) = own.get(section).and_then(|section| section.get(key)) {
            config[section][key] = value.clone();
        }
    }
    config["embedding"]["model"] = toml_edit::value(model);
    // The copy is only read.
    config["bridge"]["import"] = toml_edit::value(false);
    config["backup"]["enabled"] = toml_edit::value(false);
    config["maintenance"]["enabled"] = toml_edit::value(false);
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_has_the_ranking_of_the_store_and_another_model() {
        let own = "[embedding]\nprovider = \"openai\"\nconsent = \"yes\"\npath = \"~/m\"\n\
                   [retrieval]\nfusion = \"rrf\"\n[storage]\ndb_path = \"/a/b.db\"\nkey_file = \"/k\"\n\
                   [server]\nlog_level = \"warn\"\n";
        let config = config_for(own, "multilingual").expect("it is valid").to_string();
        for kept in
            ["model = \"multilingual\"", "path = \"~/m\"", "fusion = \"rrf\"", "key_file = \"/k\""]
        {
            assert!(config.contains(kept), "{kept}: {config}");
        }
        for left in ["provider", "consent", "db_path", "server"] {
            assert!(!config.contains(left), "{left}: {config}");
        }
        assert!(config_for("= 1", "minilm").is_err());
    }
}
