//! The transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, one message a line.
//!
//! Messages of subagents and those that the client itself writes in the user's name are left out, as are its summaries of a conversation.

use crate::transcripts::transcript::{Action, Step, What, cut_output, milliseconds};
use serde_json::Value;

/// Texts with which the client reports that the user refused a call, and those of its own checks: no command failed.
const NOT_RUN: [&str; 3] = ["The user doesn't want", "<tool_use_error>", "[Request interrupted"];
/// Marks of a line that neither the user nor the agent of this conversation wrote.
const LEFT_OUT: [&str; 5] =
    ["isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"];
/// How a summary of a conversation begins in transcripts without such a mark.
const SUMMARY: &str = "This session is being continued from a previous conversation";
/// Tools that change a file.
const EDITORS: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

/// Returns the steps of a line.
pub fn steps(line: usize, record: &Value) -> Vec<Step> {
    let is_left_out = |name: &str| record[name].as_bool() == Some(true);
    let kind = record["type"].as_str().unwrap_or_default();
    if !["user", "assistant"].contains(&kind) || LEFT_OUT.iter().any(|name| is_left_out(name)) {
        return Vec::new();
    }
    let step = |what| Step {
        line,
        message: record["uuid"].as_str().map(str::to_owned),
        at: record["timestamp"].as_str().and_then(milliseconds),
        what,
    };
    let mut steps = Vec::new();
    steps.extend(record["sessionId"].as_str().map(|id| step(What::Session(id.to_owned()))));
    steps.extend(record["cwd"].as_str().map(|folder| step(What::Folder(folder.to_owned()))));
    let is_user = kind == "user";
    match &record["message"]["content"] {
        Value::String(text) => steps.extend(said(is_user, text).map(step)),
        Value::Array(blocks) => {
            steps.extend(blocks.iter().filter_map(|block| of_block(is_user, block)).map(step));
        }
        _ => {}
    }
    steps
}

fn said(is_user: bool, text: &str) -> Option<What> {
    let is_summary = text.trim_start().starts_with(SUMMARY);
    let said = if is_user { What::UserSaid } else { What::AgentSaid };
    (!is_summary).then(|| said(text.to_owned()))
}

fn of_block(is_user: bool, block: &Value) -> Option<What> {
    match block["type"].as_str()? {
        "text" => said(is_user, block["text"].as_str()?),
        "tool_use" => {
            let call = block["id"].as_str()?.to_owned();
            let input = &block["input"];
            let action = match block["name"].as_str()? {
                "Bash" => Action::Command {
                    text: input["command"].as_str()?.to_owned(),
                    title: input["description"].as_str().map(str::to_owned),
                },
                name if EDITORS.contains(&name) => {
                    let path = input["file_path"].as_str().or(input["notebook_path"].as_str())?;
                    Action::Edit(path.to_owned())
                }
                _ => return None,
            };
            Some(What::Called { call, action })
        }
        "tool_result" => {
            let output = match &block["content"] {
                Value::String(text) => text.clone(),
                Value::Array(parts) => {
                    let texts = parts.iter().filter_map(|part| part["text"].as_str());
                    texts.collect::<Vec<_>>().join("\n")
                }
                _ => String::new(),
            };
            let output = match output.strip_prefix("Exit code ") {
                Some(rest) => rest.split_once('\n').map_or("", |(_, rest)| rest).to_owned(),
                None => output,
            };
            let is_error = block["is_error"].as_bool() == Some(true);
            let was_run = !NOT_RUN.iter().any(|text| output.contains(text));
            Some(What::Returned {
                call: block["tool_use_id"].as_str()?.to_owned(),
                failed: was_run.then_some(is_error),
                output: cut_output(&output),
            })
        }
        _ => None,
    }
}
