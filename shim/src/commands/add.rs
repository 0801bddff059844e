//! `loci add`: stores a memory as an agent would.

use crate::cli::memories::Add;
use crate::client::call::Door;
use crate::commands::input::{memory_id, text};
use crate::commands::print;
use crate::output::{Problem, note, plain, say};
use loci_proto::requests::store::StoreReply;
use serde_json::json;
use std::fmt::Write as _;

/// Stores it, and says what became of it.
///
/// # Errors
/// What the daemon refuses.
pub async fn run(door: &Door, asked: Add) -> Result<(), Problem> {
    let content = text::given(asked.text)?;
    let supersedes = match &asked.supersedes {
        Some(part) => Some(memory_id::find(door, part, asked.group.as_ref()).await?.id),
        None => None,
    };
    let request = json!({
        "content": content, "type": asked.kind, "scope": asked.scope, "metadata": asked.metadata, "supersedes": supersedes,
        "confidence": asked.confidence, "ttl_seconds": asked.ttl, "expires_at": asked.expires, "group": asked.group,
    });
    let answer = door.reply("store_memory", &request).await?;
    if asked.format.json {
        return print(&answer);
    }
    let reply: StoreReply = answer.read()?;
    say(sentence(&reply))?;
    if let Some(hint) = &reply.degraded.hint {
        note("Note:", hint);
    }
    Ok(())
}

fn sentence(reply: &StoreReply) -> String {
    let mut text = if reply.deduplicated {
        format!("Known already, and now surer: {}", reply.id)
    } else {
        format!("Stored {}", reply.id)
    };
    if let Some(old) = &reply.superseded {
        let _ = write!(text, "\n  in place of {old}");
    }
    if let Some(at) = &reply.expires_at {
        let _ = write!(text, "\n  holds until {}", crate::commands::moment(at));
    }
    if !reply.similar.is_empty() {
        let similar: Vec<String> =
            reply.similar.iter().map(|other| plain(other.as_str())).collect();
        let _ = write!(
            text,
            "\n  close to {}; use --supersedes where the new one takes its place",
            similar.join(", ")
        );
    }
    text
}
