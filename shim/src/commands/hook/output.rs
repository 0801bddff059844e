//! The answer of a hook in the JSON of its client. docs/hooks.md has the formats with their sources.

use loci_proto::requests::hook::{HookClient, HookEvent, HookReply};
use serde_json::{Value, json};

/// Returns the answer that changes nothing.
pub(super) fn empty(client: HookClient, event: HookEvent) -> Value {
    match (client, event) {
        (HookClient::Cursor, HookEvent::Prompt) => json!({"continue": true}),
        _ => json!({}),
    }
}

/// Returns the answer with the text that the daemon gave, if the client takes one at this event. `host_event` is the client's own name of
/// the event.
pub(super) fn answer(
    client: HookClient,
    event: HookEvent,
    host_event: Option<&str>,
    reply: &HookReply,
) -> Value {
    if let Some(reminder) = &reply.reminder {
        return continue_with(client, event, reminder);
    }
    let Some(context) = reply.context.as_deref().filter(|_| client.takes_context(event)) else {
        return empty(client, event);
    };
    let name = host_event.unwrap_or_else(|| default_name(client, event));
    match client {
        HookClient::Codex => json!({
            "continue": true,
            "hookSpecificOutput": {"hookEventName": name, "additionalContext": context},
        }),
        HookClient::Cursor => json!({"additional_context": context}),
        HookClient::Copilot => json!({"additionalContext": context}),
        HookClient::Opencode | HookClient::CommandLine => json!({"context": context}),
        HookClient::Claude | HookClient::Vscode | HookClient::Devin | HookClient::Gemini => {
            json!({"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}})
        }
    }
}

/// Returns the answer with which the turn continues.
fn continue_with(client: HookClient, event: HookEvent, reminder: &str) -> Value {
    match client {
        HookClient::Claude | HookClient::Codex | HookClient::Devin => {
            json!({"decision": "block", "reason": reminder})
        }
        HookClient::Vscode => json!({
            "hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", "reason": reminder},
        }),
        HookClient::Gemini => json!({"decision": "deny", "reason": reminder}),
        HookClient::Cursor => json!({"followup_message": reminder}),
        HookClient::Opencode | HookClient::Copilot | HookClient::CommandLine => {
            empty(client, event)
        }
    }
}

/// Returns the client's name of an event whose input does not have it.
fn default_name(client: HookClient, event: HookEvent) -> &'static str {
    match (client, event) {
        (_, HookEvent::SessionStart) => "SessionStart",
        (HookClient::Gemini, HookEvent::Prompt) => "BeforeAgent",
        (_, HookEvent::Prompt) => "UserPromptSubmit",
        (_, HookEvent::PreTool) => "PreToolUse",
        (_, HookEvent::SubagentStart) => "SubagentStart",
        (_, HookEvent::PostCompact) => "PostCompact",
        (_, HookEvent::Stop) => "Stop",
        (_, HookEvent::SessionEnd) => "SessionEnd",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_proto::gate::ModelText;

    fn reply(context: &str) -> HookReply {
        HookReply { context: Some(ModelText::reply(context)), ..HookReply::default() }
    }

    #[test]
    fn each_client_gets_the_text_in_its_own_format() {
        let at_start =
            |client| answer(client, HookEvent::SessionStart, None, &reply("x")).to_string();
        let specific =
            r#""hookSpecificOutput":{"additionalContext":"x","hookEventName":"SessionStart"}"#;
        for client in
            [HookClient::Claude, HookClient::Vscode, HookClient::Gemini, HookClient::Devin]
        {
            assert_eq!(at_start(client), format!("{{{specific}}}"));
        }
        assert_eq!(at_start(HookClient::Codex), format!(r#"{{"continue":true,{specific}}}"#));
        assert_eq!(at_start(HookClient::Cursor), r#"{"additional_context":"x"}"#);
        assert_eq!(at_start(HookClient::Copilot), r#"{"additionalContext":"x"}"#);
        assert_eq!(at_start(HookClient::Opencode), r#"{"context":"x"}"#);
    }

    #[test]
    fn a_client_that_takes_no_text_with_a_prompt_gets_none() {
        let at_prompt = |client| answer(client, HookEvent::Prompt, None, &reply("x"));
        for client in [HookClient::Vscode, HookClient::Copilot] {
            assert_eq!(at_prompt(client), json!({}));
        }
        assert_eq!(at_prompt(HookClient::Cursor), json!({"continue": true}));
        let gemini = answer(HookClient::Gemini, HookEvent::Prompt, None, &reply("x"));
        assert_eq!(gemini["hookSpecificOutput"]["hookEventName"], "BeforeAgent");
    }

    #[test]
    fn a_reminder_continues_the_turn() {
        let reply =
            HookReply { reminder: Some(ModelText::own("store it")), ..HookReply::default() };
        let at_stop = |client| answer(client, HookEvent::Stop, None, &reply);
        assert_eq!(at_stop(HookClient::Claude), json!({"decision": "block", "reason": "store it"}));
        assert_eq!(at_stop(HookClient::Cursor), json!({"followup_message": "store it"}));
        assert_eq!(at_stop(HookClient::Copilot), json!({}));
    }
}
