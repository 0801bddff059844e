//! The transcripts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, one record a line.
//!
//! What the client itself writes in the user's name begins with a tag or a heading of its own and is left out.

use crate::transcripts::transcript::{Action, Step, What, cut_output, milliseconds};
use serde_json::Value;

/// The line with which the output of a command reports its end.
const EXIT_CODE: &str = "Process exited with code ";
/// What the client itself writes as a message of the user.
const OWN_TEXTS: [&str; 3] = [
    "<",
    "# AGENTS.md instructions",
    // A summary of the conversation.
    "Another language model started to solve this problem",
];

/// Returns the steps of a line.
pub fn steps(line: usize, record: &Value) -> Vec<Step> {
    let payload = &record["payload"];
    let what = match record["type"].as_str() {
        Some("session_meta") => {
            let session = payload["id"].as_str().map(|id| What::Session(id.to_owned()));
            session.into_iter().chain(folder(payload)).collect()
        }
        Some("turn_context") => folder(payload).into_iter().collect(),
        Some("response_item") => of_item(payload),
        _ => Vec::new(),
    };
    let message = payload["id"].as_str().or(payload["call_id"].as_str()).map(str::to_owned);
    let at = record["timestamp"].as_str().and_then(milliseconds);
    what.into_iter().map(|what| Step { line, message: message.clone(), at, what }).collect()
}

fn folder(payload: &Value) -> Option<What> {
    payload["cwd"].as_str().map(|folder| What::Folder(folder.to_owned()))
}

fn of_item(item: &Value) -> Vec<What> {
    match item["type"].as_str() {
        Some("message") => {
            let texts = item["content"].as_array().into_iter().flatten();
            let texts = texts.filter_map(|part| part["text"].as_str());
            match item["role"].as_str() {
                Some("user") => texts
                    .filter(|text| !OWN_TEXTS.iter().any(|start| text.starts_with(start)))
                    .map(|text| What::UserSaid(text.to_owned()))
                    .collect(),
                Some("assistant") => texts.map(|text| What::AgentSaid(text.to_owned())).collect(),
                _ => Vec::new(),
            }
        }
        Some("function_call" | "custom_tool_call" | "local_shell_call") => {
            called(item).into_iter().collect()
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            returned(item).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn called(item: &Value) -> Option<What> {
    let call = item["call_id"].as_str()?.to_owned();
    let text = item["arguments"].as_str().or(item["input"].as_str()).unwrap_or_default();
    let arguments: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let name = item["name"].as_str().unwrap_or("local_shell");
    let action = match name {
        "apply_patch" => Action::Edit(patched_file(text)?),
        "exec_command" => command(arguments["cmd"].as_str()?),
        "shell" | "shell_command" | "container.exec" => of_words(&arguments["command"])?,
        "local_shell" => of_words(&item["action"]["command"])?,
        _ => return None,
    };
    Some(What::Called { call, action })
}

fn command(text: &str) -> Action {
    Action::Command { text: text.to_owned(), title: None }
}

/// Returns the command of a list of words; that of `bash -lc TEXT` is the text.
fn of_words(words: &Value) -> Option<Action> {
    if let Some(text) = words.as_str() {
        return Some(command(text));
    }
    let words: Vec<&str> = words.as_array()?.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [shell, "-lc" | "-c", text] if shell.ends_with("sh") => Some(match heredoc_patch(text) {
            Some(path) => Action::Edit(path),
            None => command(text),
        }),
        words => Some(command(&words.join(" "))),
    }
}

fn heredoc_patch(text: &str) -> Option<String> {
    text.trim_start().starts_with("apply_patch").then(|| patched_file(text)).flatten()
}

/// Returns the first file of a patch.
pub(super) fn patched_file(patch: &str) -> Option<String> {
    let name = |line: &str| {
        let line = line.strip_prefix("*** ")?;
        ["Update File: ", "Add File: "]
            .iter()
            .find_map(|start| line.strip_prefix(start))
            .map(str::to_owned)
    };
    patch.lines().find_map(name)
}

fn returned(item: &Value) -> Option<What> {
    let call = item["call_id"].as_str()?.to_owned();
    let raw = item["output"].as_str().or(item["output"]["content"].as_str()).unwrap_or_default();
    // Earlier versions wrap the output into an object.
    let wrapped = serde_json::from_str::<Value>(raw).ok().filter(Value::is_object);
    let (code, output) = match &wrapped {
        Some(object) => (
            object["metadata"]["exit_code"].as_i64(),
            object["output"].as_str().unwrap_or_default(),
        ),
        None => (exit_code(raw), raw.split_once("\nOutput:\n").map_or(raw, |(_, output)| output)),
    };
    let failed = code.map(|code| code != 0);
    Some(What::Returned { call, failed, output: cut_output(output) })
}

fn exit_code(output: &str) -> Option<i64> {
    let starts = [EXIT_CODE, "Exit code: "];
    let code =
        |line: &str| starts.iter().find_map(|start| line.strip_prefix(start)?.trim().parse().ok());
    output.lines().take(8).find_map(code)
}
