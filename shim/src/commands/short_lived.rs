//! Runs a short-lived command of `locid`, which prints its reply as JSON; its last line is the failure if it fails.

use crate::output::Problem;
use crate::spawn::find_locid;
use loci_proto::admin::Places;
use loci_proto::error::Failure;
use serde::de::DeserializeOwned;
use std::ffi::OsStr;
use std::process::Stdio;
use tokio::process::Command;

/// Runs a command; returns its reply.
///
/// # Errors
/// The failure that it reports.
pub async fn run(arguments: &[impl AsRef<OsStr>]) -> Result<String, Problem> {
    let locid = find_locid().map_err(Problem::new)?;
    let output = Command::new(&locid)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .await
        .map_err(|error| Problem::new(format!("Cannot run {}", locid.display())).because(&error))?;
    let reply = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() {
        return Ok(reply);
    }
    let last_line = reply.lines().next_back().unwrap_or_default();
    Err(match serde_json::from_str::<Failure>(last_line) {
        Ok(failure) => failure.into(),
        Err(_) => Problem::new(format!("locid failed: {}", output.status)),
    })
}

/// Asks for the places of database and model. `locid` reads the configuration for that.
///
/// # Errors
/// The mistake in the configuration, with its file, line and key.
pub async fn places() -> Result<Places, Problem> {
    let locid = find_locid().map_err(Problem::new)?;
    let output =
        Command::new(&locid).arg("paths").stdin(Stdio::null()).output().await.map_err(|error| {
            Problem::new(format!("Cannot run {}", locid.display())).because(&error)
        })?;
    if output.status.success() {
        return parse(&String::from_utf8_lossy(&output.stdout));
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(Problem::new(stderr.trim().trim_start_matches("Error: ")))
}

/// Parses a reply.
///
/// # Errors
/// When `locid` has another version.
pub fn parse<T: DeserializeOwned>(reply: &str) -> Result<T, Problem> {
    serde_json::from_str(reply)
        .map_err(|error| Problem::new("The answer of locid cannot be parsed").because(&error))
}
