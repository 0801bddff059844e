//! Reads what a client writes to the hook's standard input, and translates its field names.
//!
//! Texts are cut here, so that the request stays small. Not here: the answer (`output`).

use loci_proto::requests::hook::{HookClient, HookEvent, HookRequest, SESSION_CHARS};
use serde_json::{Map, Value};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Instant;

/// Maximum size of the input in bytes; of a larger one nothing is used.
const MAX_INPUT_BYTES: usize = 8 * 1024 * 1024;
/// Maximum size of the prompt that is passed on, in bytes.
const MAX_PROMPT_BYTES: usize = 16 * 1024;
/// The same for the file, command or error of a tool.
const MAX_TARGET_BYTES: usize = 1024;
/// The same for the summary of a compacted conversation, and for the last message of a turn.
const MAX_SUMMARY_BYTES: usize = 32 * 1024;

/// The names of the fields that hold a session id, in the order in which they are tried.
const SESSION_FIELDS: &[&str] = &["session_id", "sessionId", "conversation_id", "sessionID"];
/// Fields of a tool's input that say what it works on.
const TARGET_FIELDS: &[&str] =
    &["file_path", "filePath", "notebook_path", "path", "absolute_path", "command", "cmd", "error"];
/// Variables in which clients name the folder of the project, if the input does not.
const FOLDER_VARIABLES: &[&str] =
    &["DEVIN_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR"];

/// What the client wrote.
pub(super) struct Input(Map<String, Value>);

/// Reads standard input to its end. `None` if the end does not come in time, or if the input is too large.
pub(super) fn read(end: Instant) -> Option<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let limit = MAX_INPUT_BYTES as u64 + 1;
        let read = io::stdin().lock().take(limit).read_to_end(&mut bytes);
        if bytes.len() > MAX_INPUT_BYTES {
            bytes.clear();
            // Read on, so that the client does not fail to write.
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        }
        let _ = sender.send(read.ok().map(|_| bytes));
    });
    receiver.recv_timeout(end.saturating_duration_since(Instant::now())).ok().flatten()
}

impl Input {
    /// Parses the input; `None` if it is not a JSON object.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        match serde_json::from_slice(bytes).ok()? {
            Value::Object(fields) => Some(Self(fields)),
            _ => None,
        }
    }

    /// Returns the client that runs the hook: VS Code also runs the hooks that were written for Claude Code.
    pub(super) fn client(&self, called_as: HookClient) -> HookClient {
        let is_vscode = self.0.contains_key("sessionId") && self.0.contains_key("hookEventName");
        if called_as == HookClient::Claude && is_vscode { HookClient::Vscode } else { called_as }
    }

    /// Returns the client's own name of the event.
    pub(super) fn host_event(&self) -> Option<&str> {
        self.text(&["hook_event_name", "hookEventName"])
    }

    /// Returns the folder of the project, if the input names one that exists.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let variables = FOLDER_VARIABLES.iter().filter_map(std::env::var_os).map(PathBuf::from);
        let named = self.named_folder().into_iter().chain(variables);
        named.into_iter().find(|folder| folder.is_absolute() && folder.is_dir())
    }

    /// Returns whether the folder that the input names no longer exists.
    pub(super) fn names_missing_folder(&self) -> bool {
        let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        self.named_folder()
            .is_some_and(|folder| folder.is_absolute() && folder.metadata().is_err_and(is_missing))
    }

    fn named_folder(&self) -> Option<PathBuf> {
        let root =
            self.0.get("workspace_roots").and_then(|roots| roots.get(0)).and_then(Value::as_str);
        self.text(&["cwd", "workspaceFolder", "directory"]).or(root).map(PathBuf::from)
    }

    /// Returns the request for the daemon.
    pub(super) fn request(&self, client: HookClient, event: HookEvent) -> HookRequest {
        let is_prompt = event == HookEvent::Prompt;
        let prompt = self.text(&["prompt", "user_prompt", "initialPrompt"]).filter(|_| is_prompt);
        let message = self.text(&["last_assistant_message", "prompt_response", "text"]);
        let summary = self.text(&["compact_summary", "compactSummary", "summary"]);
        let flag = |name: &str| self.0.get(name).and_then(Value::as_bool);
        HookRequest {
            session: self.session(),
            source: self.text(&["source", "trigger"]).map(|text| cut(text, SESSION_CHARS)),
            prompt: prompt.map(|text| cut(text, MAX_PROMPT_BYTES)),
            target: self.target().filter(|_| event == HookEvent::PreTool),
            summary: summary
                .filter(|_| event == HookEvent::PostCompact)
                .map(|text| cut(text, MAX_SUMMARY_BYTES)),
            message: message
                .filter(|_| event == HookEvent::Stop)
                .map(|text| cut(text, MAX_SUMMARY_BYTES)),
            idle_seconds: self.0.get("seconds_since_last_response").and_then(Value::as_f64),
            cache_expired: flag("prompt_cache_likely_expired"),
            continued: flag("stop_hook_active").unwrap_or_default(),
            ..HookRequest::new(client, event)
        }
    }

    fn session(&self) -> Option<String> {
        let id = self.text(SESSION_FIELDS)?;
        (id.chars().count() <= SESSION_CHARS && !id.chars().any(char::is_control))
            .then(|| id.to_owned())
    }

    /// Returns what a tool is about to work on.
    fn target(&self) -> Option<String> {
        let input = ["tool_input", "toolInput", "toolArgs", "arguments"];
        let input = input.iter().find_map(|name| self.0.get(*name));
        // Some clients write the input as a text of JSON.
        let parsed = match input {
            Some(Value::String(text)) => serde_json::from_str(text).ok(),
            Some(Value::Object(fields)) => Some(fields.clone()),
            _ => None,
        };
        let fields = parsed.as_ref().unwrap_or(&self.0);
        let target = TARGET_FIELDS.iter().find_map(|name| fields.get(*name)?.as_str());
        target.map(|text| cut(text, MAX_TARGET_BYTES))
    }

    fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.0.get(*name)?.as_str()).filter(|text| !text.is_empty())
    }
}

/// Returns at most `max` bytes of a text.
fn cut(text: &str, max: usize) -> String {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn input(value: &Value) -> Input {
        Input::parse(value.to_string().as_bytes()).expect("the input is an object")
    }

    #[test]
    fn every_client_has_its_own_names_for_the_same_fields() {
        for fields in [
            json!({"session_id": "s", "prompt": "why?", "cwd": "/"}),
            json!({"sessionId": "s", "hookEventName": "UserPromptSubmit", "prompt": "why?", "cwd": "/"}),
            json!({"conversation_id": "s", "prompt": "why?", "workspace_roots": ["/"]}),
        ] {
            let input = input(&fields);
            let request = input.request(HookClient::Claude, HookEvent::Prompt);
            assert_eq!(request.session.as_deref(), Some("s"), "{fields}");
            assert_eq!(request.prompt.as_deref(), Some("why?"), "{fields}");
            assert_eq!(input.folder(), Some("/".into()), "{fields}");
        }
    }

    #[test]
    fn vs_code_is_recognised_by_its_field_names_when_it_runs_the_hooks_of_claude() {
        let vscode = input(&json!({"sessionId": "s", "hookEventName": "SessionStart"}));
        assert_eq!(vscode.client(HookClient::Claude), HookClient::Vscode);
        let copilot = input(&json!({"sessionId": "s", "source": "new"}));
        assert_eq!(copilot.client(HookClient::Copilot), HookClient::Copilot);
        let claude = input(&json!({"session_id": "s", "hook_event_name": "SessionStart"}));
        assert_eq!(claude.client(HookClient::Claude), HookClient::Claude);
    }

    #[test]
    fn the_target_of_a_tool_is_its_file_or_its_command() {
        for (fields, target) in [
            (json!({"tool_input": {"file_path": "/a.rs", "content": "x"}}), "/a.rs"),
            (json!({"tool_input": {"command": "just ship"}}), "just ship"),
            (json!({"toolArgs": "{\"path\": \"/b.rs\"}"}), "/b.rs"),
            (json!({"command": "ls"}), "ls"),
        ] {
            let request = input(&fields).request(HookClient::Claude, HookEvent::PreTool);
            assert_eq!(request.target.as_deref(), Some(target), "{fields}");
        }
    }

    #[test]
    fn texts_are_cut_and_what_is_no_object_is_refused() {
        let long = "ż".repeat(MAX_PROMPT_BYTES);
        let request =
            input(&json!({"prompt": long})).request(HookClient::Claude, HookEvent::Prompt);
        assert_eq!(request.prompt.map(|prompt| prompt.len()), Some(MAX_PROMPT_BYTES));
        let id = "x".repeat(SESSION_CHARS + 1);
        let request =
            input(&json!({"session_id": id})).request(HookClient::Claude, HookEvent::Stop);
        assert_eq!(request.session, None);
        for broken in ["", "[]", "{\"a\":", "\"text\""] {
            assert!(Input::parse(broken.as_bytes()).is_none(), "{broken}");
        }
    }
}
