//! The transcripts of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, one record a line; the folder of the project stands in
//! `.project_root` beside `chats`. A message is written again when its calls have returned.

use crate::regular_file;
use crate::transcripts::transcript::{Action, Step, What, cut_output, milliseconds};
use serde_json::Value;
use std::path::Path;

/// The file with the folder of a project.
const PROJECT_ROOT: &str = ".project_root";
/// The line with which the output of a command reports that it failed.
const EXIT_CODE: &str = "Exit Code: ";
/// Longest path that is read.
const MAX_PATH_BYTES: usize = 4096;

/// Returns the folder of the project of a transcript.
pub fn folder(file: &Path) -> Option<String> {
    let root = file.parent()?.parent()?.join(PROJECT_ROOT);
    let text = regular_file::read_text(&root).ok()?;
    Some(text.trim().to_owned()).filter(|path| !path.is_empty() && path.len() <= MAX_PATH_BYTES)
}

/// Returns the steps of a line.
pub fn steps(line: usize, record: &Value) -> Vec<Step> {
    let step = |what| Step {
        line,
        message: record["id"].as_str().map(str::to_owned),
        at: record["timestamp"].as_str().and_then(milliseconds),
        what,
    };
    if let Some(session) = record["sessionId"].as_str() {
        return vec![step(What::Session(session.to_owned()))];
    }
    let texts = match &record["content"] {
        Value::String(text) => vec![text.as_str()],
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => Vec::new(),
    };
    let texts = texts.into_iter().filter(|text| !text.is_empty()).map(str::to_owned);
    match record["type"].as_str() {
        Some("user") => texts.map(What::UserSaid).map(step).collect(),
        Some("gemini") => {
            let calls = record["toolCalls"].as_array().into_iter().flatten().flat_map(of_call);
            texts.map(What::AgentSaid).chain(calls).map(step).collect()
        }
        _ => Vec::new(),
    }
}

fn of_call(call: &Value) -> Vec<What> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let arguments = &call["args"];
    let action = match call["name"].as_str() {
        Some("run_shell_command") => text(&arguments["command"]).map(|command| Action::Command {
            text: command,
            title: text(&arguments["description"]),
        }),
        Some("write_file" | "replace") => text(&arguments["file_path"]).map(Action::Edit),
        _ => None,
    };
    let (Some(id), Some(action)) = (text(&call["id"]), action) else { return Vec::new() };
    let output = call["result"][0]["functionResponse"]["response"]["output"].as_str();
    let output = output.unwrap_or_default().replace("<untrusted_context>\n", "");
    let code = output.lines().rev().find_map(|line| line.strip_prefix(EXIT_CODE));
    let failed = match call["status"].as_str() {
        Some("success") => Some(code.is_some_and(|code| code.trim() != "0")),
        Some("error") => Some(true),
        _ => None,
    };
    let output = cut_output(output.strip_prefix("Output: ").unwrap_or(&output));
    vec![What::Called { call: id.clone(), action }, What::Returned { call: id, failed, output }]
}
