//! Finds what imitates the frame of a conversation: tags and turns of roles, notes of a system, calls
//! of tools, and orders in languages without spaces.

use crate::flags::flag::{Flag, Flags};
use crate::flags::rules;
use crate::flags::words::{ADDRESS, END, Words};

/// Parts of tags that only prompts have, in lower case.
const TAGS: [&str; 22] = [
    "<|im_",
    "<|system",
    "<|user",
    "<|assistant",
    "<|end",
    "<|start",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<system>",
    "</system",
    "<assistant>",
    "</assistant",
    "</human>",
    "</user>",
    "</instructions",
    "<system-reminder",
    "</tool_result",
    "<function_calls",
    "<invoke",
    "<tool_call",
    "</untrusted",
];
/// Parts of calls, in lower case.
const CALLS: [&str; 8] = [
    "<function_calls",
    "<invoke",
    "<tool_call",
    "\"tool_calls\"",
    "\"function_call\"",
    "\"tools/call\"",
    "<tool_use",
    "```tool_code",
];
/// Names of roles at the beginning of a line.
const ROLES: [&str; 6] = ["system", "assistant", "user", "human", "developer", "ai"];
/// Words that make a line after the name of a role an order.
const ORDER_WORDS: [&str; 22] = [
    "you",
    "your",
    "ignore",
    "must",
    "always",
    "never",
    "new",
    "do",
    "reply",
    "respond",
    "answer",
    "obey",
    "override",
    "execute",
    "send",
    "disregard",
    "forget",
    "understood",
    "sure",
    "okay",
    "reveal",
    "trust",
];
/// Who claims to write a note of the system, and what such a note is called.
const AUTHORITIES: [&str; 9] = [
    "system",
    "admin",
    "administrator",
    "root",
    "developer",
    "security",
    "anthropic",
    "openai",
    "moderator",
];
const NOTES: [&str; 12] = [
    "note",
    "notice",
    "message",
    "override",
    "directive",
    "instruction",
    "instructions",
    "command",
    "alert",
    "update",
    "policy",
    "mode",
];

/// Adds the flags of a text with these words.
pub(super) fn find(text: &str, words: &Words, flags: &mut Flags) {
    let lower = text.to_lowercase();
    if lower.contains(['<', '[']) && TAGS.iter().any(|tag| lower.contains(tag)) {
        flags.insert(Flag::RoleMarker);
    }
    if has_call(&lower) {
        flags.insert(Flag::ToolCall);
    }
    if has_turns(&lower) {
        flags.insert(Flag::RoleMarker);
    }
    if has_system_note(words) {
        flags.insert(Flag::SystemNote);
    }
    if has_image_with_data(&lower) {
        flags.insert(Flag::Exfiltration);
    }
    if !text.is_ascii() {
        for (flag, verbs, objects) in rules::PARTS {
            let has_one = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
            if has_one(verbs) && has_one(objects) {
                flags.insert(*flag);
            }
        }
    }
}

fn has_call(lower: &str) -> bool {
    let is_json_call = lower.contains('{')
        && ["\"tool\"", "\"function\"", "\"tool_name\"", "_memory\"", "\"recipient_name\""]
            .iter()
            .any(|name| lower.contains(name))
        && ["\"arguments\"", "\"parameters\"", "\"args\"", "\"input\""]
            .iter()
            .any(|name| lower.contains(name));
    let is_function = ["store_memory(", "forget_memory(", "recall_memory(", "store_relation("]
        .iter()
        .any(|call| lower.contains(call));
    is_json_call || is_function || CALLS.iter().any(|call| lower.contains(call))
}

/// Returns true for a turn of a role that gives an order, and for turns of two roles.
fn has_turns(lower: &str) -> bool {
    let mut found: Option<&str> = None;
    for line in lower.lines() {
        let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        let Some(role) = ROLES.into_iter().find(|role| line.starts_with(role)) else { continue };
        let after = line[role.len()..].trim_start_matches(['*', '_', ']', ')', ' ', '#']);
        let is_heading = line.len() == role.len() && lower.contains("###");
        let Some(turn) = after.strip_prefix(':').or(is_heading.then_some("")) else { continue };
        let mut first =
            turn.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).take(5);
        if first.any(|word| ORDER_WORDS.contains(&word)) {
            return true;
        }
        match found {
            Some(other) if other != role => return true,
            _ => found = Some(role),
        }
    }
    false
}

/// Returns true for a text or sentence that begins as a note of an authority and gives an order.
fn has_system_note(words: &Words) -> bool {
    let begins = |at: usize| at <= 2 || words.get(at - 1) == END;
    let is_order = |word: &str| {
        ORDER_WORDS[..14].contains(&word)
            || ["agents", "assistants", "immediately", "authorized"].contains(&word)
            || word == ADDRESS
    };
    (0..words.len()).any(|at| {
        AUTHORITIES.contains(&words.get(at))
            && NOTES.contains(&words.get(at + 1))
            && begins(at)
            && words.from(at + 2).take(16).any(is_order)
    })
}

/// Returns true for a Markdown image whose address takes data along.
fn has_image_with_data(lower: &str) -> bool {
    let addresses = lower.split("](http").skip(1).filter_map(|rest| rest.split(')').next());
    lower.contains("![")
        && addresses
            .filter_map(|address| address.split_once('?'))
            .any(|(_, query)| query.contains(['{', '<', '[', '$']))
}
