//! `loci ctl reload`: makes the daemon read config.toml again; never starts a daemon.

use crate::client::admin;
use crate::client::unreachable::Unreachable;
use crate::commands::config::format_value;
use crate::output::{OutputFormat, Problem, escape_line, print_line};
use loci_proto::paths::Paths;
use loci_proto::requests::config::{ChangedKey, ReloadReply};

/// Reloads the file; prints what changed and what needs a restart.
///
/// # Errors
/// `Absent` when no daemon runs; an invalid file, which changes nothing.
pub async fn run(paths: &Paths, format: OutputFormat) -> Result<(), Problem> {
    let answer = admin::post(paths, "/reload").await?;
    if format == OutputFormat::Json {
        return print_line(String::from_utf8_lossy(&answer));
    }
    let unreadable = |error: serde_json::Error| {
        Unreachable::Broken(format!("its answer cannot be parsed: {error}"))
    };
    print_line(result_text(&serde_json::from_slice(&answer).map_err(unreadable)?))
}

fn result_text(reply: &ReloadReply) -> String {
    if reply.changed.is_empty() {
        return format!("Reloaded {}; nothing changed.", escape_line(&reply.file));
    }
    let line = |changed: &ChangedKey| {
        let pending = if changed.waits { "  (needs loci ctl restart)" } else { "" };
        format!(
            "\n  {}: {} → {}{pending}",
            escape_line(&changed.key),
            format_value(&changed.was),
            format_value(&changed.is)
        )
    };
    format!(
        "Reloaded {}.{}",
        escape_line(&reply.file),
        reply.changed.iter().map(line).collect::<String>()
    )
}
