//! `loci add`: stores a memory.

use crate::cli::memories::Add;
use crate::client::call::VerbClient;
use crate::commands::input::{argument, memory_id, text};
use crate::commands::reply_text::{date_time, print_json};
use crate::output::{Problem, escape_line, print_line, print_note};
use crate::speaker;
use loci_proto::bounded_numbers::TtlSeconds;
use loci_proto::memory::MemoryType;
use loci_proto::requests::store::{StoreReply, StoreRequest};
use std::fmt::Write as _;

/// Stores the memory and prints the result.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Add) -> Result<(), Problem> {
    let content = text::read_argument(whole_text(args.text, args.words)?)?;
    let supersedes = match &args.supersedes {
        Some(id_part) => Some(memory_id::resolve(client, id_part, args.group.as_ref()).await?.id),
        None => None,
    };
    let ttl = args.ttl.map(|seconds| argument("ttl_seconds", TtlSeconds::new(seconds)));
    let request = StoreRequest {
        scope: args.scope,
        category: args.category,
        metadata: args.metadata.unwrap_or_default(),
        questions: Some(args.questions),
        supersedes,
        confidence: args.confidence,
        ttl_seconds: ttl.transpose()?,
        expires_at: args.expires,
        valid_from: args.valid_from,
        valid_to: args.valid_to,
        group: args.group,
        ..StoreRequest::new(content, args.kind)
    };
    let raw_reply = client.ask(&request).await?;
    let stored_as = speaker::of_process().stored_as();
    if args.format.json {
        if let Some(text) = &stored_as {
            print_note("Note:", text);
        }
        return print_json(&raw_reply);
    }
    let reply: StoreReply = raw_reply.parse()?;
    let stored_as = stored_as.map_or_else(String::new, |text| format!("\n  {text}"));
    print_line(result_text(&reply) + &stored_as)?;
    if let Some(hint) = &reply.degraded.hint {
        print_note("Note:", hint);
    }
    Ok(())
}

/// Joins the words of a text. The first of several is no option: one with two hyphens is misspelt.
fn whole_text(first: String, words: Vec<String>) -> Result<String, Problem> {
    if first.starts_with("--") && !words.is_empty() {
        return Err(Problem::usage(format!("{} is no option of loci add", escape_line(&first)))
            .hint("Quote the text if it begins with hyphens"));
    }
    Ok([vec![first], words].concat().join(" "))
}

fn result_text(reply: &StoreReply) -> String {
    let mut text = if let Some(known) = &reply.merged {
        let text = escape_line(&known.preview);
        format!("Already known; its confidence was raised: {}\n  {text}", reply.id)
    } else {
        format!("Stored {}", reply.id)
    };
    if let Some(act) = reply.act {
        let _ = write!(text, "\n  to take it back: loci undo {act}");
    } else if reply.merged.is_none() {
        let _ = write!(text, "\n  to take it back: loci forget {}", reply.id);
    }
    if let Some(old) = &reply.superseded {
        let _ = write!(text, "\n  replaces {old}");
    }
    if let Some(at) = &reply.expires_at {
        let _ = write!(text, "\n  expires {}", date_time(at));
    }
    if !reply.sanitized.is_empty() {
        let removed = escape_line(&reply.sanitized.join(", "));
        let _ = write!(text, "\n  without hidden characters: {removed}");
    }
    for similar in &reply.similar_texts {
        let id = memory_id::short(similar.id.as_str());
        let _ = write!(text, "\n  similar to {id}  {}", escape_line(&similar.preview));
    }
    if let [first, ..] = reply.similar.as_slice()
        && reply.kind != MemoryType::Episodic
    {
        let (old, new) = (memory_id::short(first.as_str()), memory_id::short(reply.id.as_str()));
        let _ = write!(text, "\n  if it is out of date: loci supersede {old} {new}");
    }
    if let Some(note) = reply.note.as_ref().filter(|_| reply.similar.is_empty()) {
        let _ = write!(text, "\n  {}", escape_line(note));
    }
    if !reply.flagged.is_empty() {
        let flags = escape_line(&reply.flagged.join(", "));
        let _ = write!(text, "\n  flagged: {flags}; in this project only until loci confirm");
    }
    if let Some(conflict) = &reply.conflict {
        let _ = write!(text, "\n  conflict: {}", escape_line(conflict));
    }
    if !reply.redacted.is_empty() {
        let _ = write!(text, "\n  replaced: {}", escape_line(&reply.redacted.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_one_text_and_a_misspelt_option_is_refused() {
        let text = |first: &str, words: &[&str]| {
            whole_text(first.to_owned(), words.iter().map(|word| (*word).to_owned()).collect())
        };
        assert_eq!(text("The", &["build", "runs"]).expect("it is a text"), "The build runs");
        assert_eq!(text("--json", &[]).expect("it was quoted"), "--json");
        assert!(text("--typo", &["semantic", "x"]).is_err());
    }
}
