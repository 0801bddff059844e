//! `loci config show`: prints every configuration key, its value, and its source.

use crate::cli::daemon::Config;
use crate::client::call::VerbClient;
use crate::output::{Problem, Screen, escape_line, print_line, table_on};
use loci_proto::error::Exit;
use loci_proto::requests::config::{ConfigKey, ConfigReply, ConfigRequest};
use serde_json::Value;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Runs the command.
///
/// # Errors
/// When no daemon runs, for example because the configuration file is invalid.
pub async fn run(command: &Config) -> Result<ExitCode, Problem> {
    let Config::Show(format) = command;
    let raw_reply = VerbClient::of_process()?.ask(&ConfigRequest::default()).await?;
    if format.json {
        print_line(raw_reply.as_str())?;
    } else {
        print_line(config_text(&raw_reply.parse()?).trim_end())?;
    }
    Ok(Exit::Ok.into())
}

fn config_text(reply: &ConfigReply) -> String {
    let row = |key: &ConfigKey| {
        let pending = if key.waits.is_some() { " *" } else { "" };
        [
            escape_line(&key.key),
            format!("{}{pending}", format_value(&key.value)),
            escape_line(&key.from),
        ]
    };
    // Keys and paths must not be truncated.
    let screen = Screen { width: usize::MAX, ..Screen::of_stdout() };
    let heading = ["KEY", "VALUE", "SOURCE"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(reply.keys.iter().map(row)).collect();
    let mut text = format!(
        "{}{}\n\n{}",
        escape_line(&reply.file),
        if reply.exists { "" } else { " (does not exist)" },
        table_on(screen, &rows)
    );
    for (key, pending) in
        reply.keys.iter().filter_map(|key| key.waits.as_ref().map(|pending| (key, pending)))
    {
        let _ = write!(
            text,
            "\n* {} changes to {} at the next start: loci ctl restart",
            escape_line(&key.key),
            format_value(pending)
        );
    }
    text
}

/// Formats a configuration value.
pub(crate) fn format_value(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => escape_line(text),
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        other => other.to_string(),
    }
}
