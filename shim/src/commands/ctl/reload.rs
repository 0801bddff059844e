//! `loci ctl reload`: the daemon reads config.toml again; starts nothing.

use crate::client::Unreachable;
use crate::client::admin;
use crate::commands::config::value;
use crate::output::{Problem, Reader, plain, say};
use loci_proto::paths::Paths;
use loci_proto::requests::config::{ChangedKey, ReloadReply};

/// Has it read, and tells what is different now and what waits for a restart.
///
/// # Errors
/// `Absent` when no daemon runs; what is wrong with the file, which then changes nothing.
pub async fn run(paths: &Paths, reader: Reader) -> Result<(), Problem> {
    let answer = admin::post(paths, "/reload").await?;
    if reader == Reader::Script {
        return say(String::from_utf8_lossy(&answer));
    }
    let unreadable = |error: serde_json::Error| {
        Unreachable::Broken(format!("its answer cannot be read: {error}"))
    };
    say(sentences(&serde_json::from_slice(&answer).map_err(unreadable)?))
}

fn sentences(reply: &ReloadReply) -> String {
    if reply.changed.is_empty() {
        return format!("{} has been read; nothing in it is new.", plain(&reply.file));
    }
    let line = |changed: &ChangedKey| {
        let waits = if changed.waits { "  (waits for loci ctl restart)" } else { "" };
        format!(
            "\n  {}: {} → {}{waits}",
            plain(&changed.key),
            value(&changed.was),
            value(&changed.is)
        )
    };
    format!(
        "{} has been read.{}",
        plain(&reply.file),
        reply.changed.iter().map(line).collect::<String>()
    )
}
