//! `loci backup`: makes, lists, verifies and restores backups.
//!
//! The daemon makes a backup. `locid backup`, a short-lived process, does the rest, so that it also works while no daemon can start.

pub(crate) mod offline;
mod restore;

use crate::cli::backup::Backup;
use crate::client::call::VerbClient;
use crate::output::local_time::short_minute;
use crate::output::{Problem, Screen, counted, escape_line, print_line, table_on};
use loci_proto::error::Exit;
use loci_proto::requests::backup::{BackupEntry, BackupList, BackupRequest};
use std::io;
use std::process::ExitCode;

/// Runs one of the commands.
///
/// # Errors
/// The backup is refused or fails, or there is no confirmation.
pub async fn run(command: Backup) -> Result<ExitCode, Problem> {
    match command {
        Backup::Create { json } => create(json).await,
        Backup::List { json } => list(json).await,
        Backup::Verify { backup, json } => verify(backup, json).await,
        Backup::Restore(args) => restore::run(args).await,
    }
}

async fn create(json: bool) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let answer = client.call_streamed("/long/backup", &BackupRequest::default()).await?;
    let answer = answer.read_all().await?;
    if json {
        print_line(String::from_utf8_lossy(&answer))?;
    } else {
        let entry: BackupEntry = serde_json::from_slice(&answer).map_err(io::Error::from)?;
        print_line(format!(
            "Backup {}: {}, {}, verified\n  {}",
            escape_line(&entry.id),
            counted(entry.memories.unwrap_or_default(), "memory", "memories"),
            size(entry.bytes),
            escape_line(&entry.path)
        ))?;
    }
    Ok(Exit::Ok.into())
}

async fn list(json: bool) -> Result<ExitCode, Problem> {
    let reply = offline::run(&["list"]).await?;
    if json {
        print_line(&reply)?;
        return Ok(Exit::Ok.into());
    }
    let BackupList { backups } = offline::parse(&reply)?;
    print_line(if backups.is_empty() {
        "There are no backups. Make one: loci backup create".to_owned()
    } else {
        backup_table(&backups).trim_end().to_owned()
    })?;
    Ok(Exit::Ok.into())
}

async fn verify(backup: Option<String>, json: bool) -> Result<ExitCode, Problem> {
    let mut arguments = vec!["verify"];
    arguments.extend(backup.as_deref());
    let reply = offline::run(&arguments).await?;
    let BackupList { backups } = offline::parse(&reply)?;
    let faulty = backups.iter().filter(|entry| entry.fault.is_some()).count();
    if json {
        print_line(&reply)?;
    } else {
        for entry in &backups {
            print_line(match &entry.fault {
                None => format!(
                    "ok    {}  {}",
                    escape_line(&entry.id),
                    counted(entry.memories.unwrap_or_default(), "memory", "memories")
                ),
                Some(fault) => format!("fail  {}  {}", escape_line(&entry.id), escape_line(fault)),
            })?;
        }
        print_line(format!("verified {} of {} backups", backups.len() - faulty, backups.len()))?;
    }
    Ok(if faulty > 0 { Exit::Failed.into() } else { Exit::Ok.into() })
}

fn backup_table(backups: &[BackupEntry]) -> String {
    let row = |entry: &BackupEntry| {
        let state = match (&entry.fault, &entry.verified_at) {
            (Some(_), _) => "faulty",
            (None, Some(_)) => "verified",
            (None, None) => "unverified",
        };
        vec![
            escape_line(short_id(&entry.id)),
            short_minute(&entry.created_at),
            entry.reason.clone(),
            entry.memories.map_or_else(|| "-".to_owned(), |memories| memories.to_string()),
            size(entry.bytes),
            state.to_owned(),
        ]
    };
    let heading =
        ["ID", "TIME (UTC)", "REASON", "MEMORIES", "SIZE", "STATE"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(backups.iter().map(row)).collect();
    table_on(Screen::of_stdout(), &rows)
}

/// Returns the part of an id that is enough to name the backup, so that the table is not cut.
fn short_id(id: &str) -> &str {
    id.strip_prefix("memory-").unwrap_or(id)
}

/// Formats a size in KiB or MiB.
fn size(bytes: u64) -> String {
    if bytes < 10 << 20 {
        format!("{} KiB", bytes.div_ceil(1 << 10))
    } else {
        format!("{} MiB", bytes >> 20)
    }
}
