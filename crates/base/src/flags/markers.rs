//! Finds what imitates the frame of a conversation, images that carry data to an address, and orders in
//! languages without spaces.

use crate::flags::flag::{Flag, Flags};
use crate::flags::rules;

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
/// Adds the flags of a text.
pub(super) fn find(text: &str, flags: &mut Flags) {
    let lower = text.to_lowercase();
    if lower.contains(['<', '[']) && TAGS.iter().any(|tag| lower.contains(tag)) {
        flags.insert(Flag::RoleMarker);
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

/// Returns true for a Markdown image whose address takes data along.
fn has_image_with_data(lower: &str) -> bool {
    let addresses = lower.split("](http").skip(1).filter_map(|rest| rest.split(')').next());
    lower.contains("![")
        && addresses
            .filter_map(|address| address.split_once('?'))
            .any(|(_, query)| query.contains(['{', '<', '[', '$']))
}
