//! Reads the transcripts of clients for `loci import --from history`.
//!
//! Not here: what is taken (`crate::history`), what becomes of it (the daemon).

use crate::cli::import::Import;
use crate::client::call::VerbClient;
use crate::history::clients::Client;
use crate::history::{read, to_foreign};
use crate::output::Problem;
use loci_proto::foreign::{LocalProject, Reading};
use loci_proto::requests::config::{ConfigReply, ConfigRequest};
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

/// The key of the project of sessions outside any project.
const DEFAULT_GROUP: &str = "storage.default_group";

/// Returns what the transcripts teach, and the projects of their sessions.
///
/// # Errors
/// The daemon cannot be reached, or the home folder is unknown.
pub(super) async fn read_transcripts(
    client: &VerbClient,
    args: &Import,
) -> Result<(Reading, Vec<LocalProject>), Problem> {
    let home = directories::BaseDirs::new().map(|folders| folders.home_dir().to_path_buf());
    let home = home.ok_or_else(|| Problem::new("The home folder is unknown").hint("Set HOME"))?;
    let outside = default_group(client).await?;
    let clients = if args.client.is_empty() { Client::ALL.to_vec() } else { args.client.clone() };
    let since = args.since.map_or(0, |seconds| now().saturating_sub(seconds.saturating_mul(1000)));
    let reading = move || to_foreign(&read(&clients, &home, since, &outside), &outside);
    Ok(tokio::task::spawn_blocking(reading).await.map_err(io::Error::other)?)
}

async fn default_group(client: &VerbClient) -> Result<String, Problem> {
    let config: ConfigReply = client.call("config", &ConfigRequest::default()).await?;
    let value = config.keys.into_iter().find(|key| key.key == DEFAULT_GROUP);
    Ok(value
        .and_then(|key| key.value.as_str().map(str::to_owned))
        .unwrap_or_else(|| "default".to_owned()))
}

fn now() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}
