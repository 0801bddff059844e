//! `loci config show`: every key of the configuration, its value, and where that comes from.

use crate::cli::Config;
use crate::client::call::Door;
use crate::output::{Problem, Screen, plain, say, table_on};
use loci_proto::error::Exit;
use loci_proto::requests::config::{ConfigKey, ConfigReply};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;

/// Does what was asked.
///
/// # Errors
/// When there is no daemon, for example because the file cannot be read.
pub async fn run(command: &Config) -> Result<ExitCode, Problem> {
    let Config::Show(format) = command;
    let answer = Door::of_process()?.reply("config", &json!({})).await?;
    if format.json {
        say(answer.as_str())?;
    } else {
        say(screen(&answer.read()?).trim_end())?;
    }
    Ok(Exit::Ok.into())
}

fn screen(reply: &ConfigReply) -> String {
    let row = |key: &ConfigKey| {
        let waits = if key.waits.is_some() { " *" } else { "" };
        [plain(&key.key), format!("{}{waits}", value(&key.value)), plain(&key.from)]
    };
    // Neither a key nor a path is of use when it is cut.
    let screen = Screen { width: usize::MAX, ..Screen::of_stdout() };
    let head = ["KEY", "VALUE", "FROM"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(reply.keys.iter().map(row)).collect();
    let mut text = format!(
        "{}{}\n\n{}",
        plain(&reply.file),
        if reply.exists { "" } else { " (not there)" },
        table_on(screen, &rows)
    );
    for (key, waits) in
        reply.keys.iter().filter_map(|key| key.waits.as_ref().map(|waits| (key, waits)))
    {
        let _ = write!(
            text,
            "\n* {} becomes {} at the next start: loci ctl restart",
            plain(&key.key),
            value(waits)
        );
    }
    text
}

/// A value as a person reads it.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => plain(text),
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
        }
        other => other.to_string(),
    }
}
