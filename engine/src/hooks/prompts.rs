//! The part of a prompt that is worth a recall, if any. Pure.
//!
//! Silent without a recall: confirmations ("yes, go on"), commands of the client, messages of the client itself, and pasted
//! texts without a question before them.

/// Maximum size of a text that a person typed, in bytes; a longer one is pasted.
const MAX_TYPED: usize = 4096;
/// Maximum length of the query, in characters.
const MAX_QUERY_CHARS: usize = 1000;
/// Maximum length of the paragraph before a pasted text that is still a question, in characters.
const MAX_PARAGRAPH_CHARS: usize = 500;
/// Maximum number of words of a confirmation.
const MAX_CONFIRMATION_WORDS: usize = 6;

/// Words of which a confirmation consists.
const CONFIRMATION: &[&str] = &[
    "again", "agreed", "ahead", "all", "alright", "and", "approved", "commit", "continue", "cool",
    "correct", "do", "done", "exactly", "fine", "go", "good", "great", "hello", "hey", "hi", "it",
    "keep", "lgtm", "looks", "made", "make", "n", "next", "nice", "no", "nope", "now", "ok",
    "okay", "on", "perfect", "please", "proceed", "push", "retry", "right", "so", "start", "stop",
    "sure", "thank", "thanks", "that", "this", "to", "try", "undo", "wait", "y", "yeah", "yep",
    "yes", "you",
];

/// Returns the text to search for; `None` if the prompt is not worth a recall.
#[must_use]
pub fn query(prompt: &str) -> Option<String> {
    let prompt = prompt.trim();
    if is_of_client(prompt) {
        return None;
    }
    let typed = without_code(prompt);
    let typed = typed.trim();
    let typed = if typed.len() > MAX_TYPED { first_paragraph(typed)? } else { typed };
    let query: String = typed.chars().take(MAX_QUERY_CHARS).collect();
    let has_letter = query.chars().any(char::is_alphanumeric);
    (has_letter && !is_confirmation(&query)).then_some(query)
}

/// Returns whether the prompt is a command of the client, or a message that the client itself wrote.
fn is_of_client(prompt: &str) -> bool {
    let word = prompt.split_whitespace().next().unwrap_or_default();
    let is_command = |word: &str| {
        word.strip_prefix('/').is_some_and(|name| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_:".contains(c))
        })
    };
    is_command(word) || prompt.starts_with('!') || prompt.starts_with('<')
}

/// Leaves out code between fences, which says little about what is asked.
fn without_code(prompt: &str) -> String {
    let mut kept = String::with_capacity(prompt.len().min(MAX_TYPED));
    for (number, part) in prompt.split("```").enumerate() {
        if number % 2 == 0 {
            kept.push_str(part);
            kept.push('\n');
        }
    }
    kept
}

/// Returns the first paragraph of a long text if it is short enough for a question.
fn first_paragraph(text: &str) -> Option<&str> {
    let first = text.split("\n\n").map(str::trim).find(|part| !part.is_empty())?;
    (first.chars().count() <= MAX_PARAGRAPH_CHARS && first.len() < text.len()).then_some(first)
}

fn is_confirmation(query: &str) -> bool {
    let words = || query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words().count() <= MAX_CONFIRMATION_WORDS
        && words().all(|word| CONFIRMATION.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_searched_for_as_it_is() {
        for question in ["how do I deploy this", "0x0806_0000", "latency budget", "/etc/hosts?"] {
            assert_eq!(query(question).as_deref(), Some(question));
        }
    }

    #[test]
    fn confirmations_commands_and_messages_of_the_client_are_silent() {
        for prompt in [
            "",
            "  ",
            "yes",
            "Yes, go on!",
            "ok do it",
            "continue",
            "/compact",
            "/loci:why now",
            "!ls -la",
            "<task-notification>done</task-notification>",
            "...",
            "```\nlet x = 1;\n```",
        ] {
            assert_eq!(query(prompt), None, "{prompt}");
        }
    }

    #[test]
    fn of_a_pasted_text_only_the_question_before_it_counts() {
        let blob = "at core::panicking::panic (lib.rs:1)\n".repeat(1000);
        assert_eq!(query(&blob), None);
        let asked = format!("why does the import fail?\n\n{blob}");
        assert_eq!(query(&asked).as_deref(), Some("why does the import fail?"));
        let fenced = format!("why does the import fail?\n```\n{blob}```");
        assert_eq!(query(&fenced).as_deref(), Some("why does the import fail?"));
        assert_eq!(query(&"wort ".repeat(700)).map(|query| query.len()), Some(MAX_QUERY_CHARS));
    }
}
