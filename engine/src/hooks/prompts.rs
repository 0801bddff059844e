//! The parts of a prompt that are worth a recall, if any. Pure.
//!
//! Silent without a recall: commands of the client, messages of the client itself, and pasted texts without a paragraph before them. That
//! an approval or a log asks nothing is for the judge to say: no list of words does.

use unicode_segmentation::UnicodeSegmentation;

/// Maximum size of a text that a person typed, in bytes; a longer one is pasted.
const MAX_TYPED: usize = 4096;
/// Maximum length of the query, in characters.
const MAX_QUERY_CHARS: usize = 1000;
/// Maximum length of the paragraph before a pasted text that is still a question, in characters.
const MAX_PARAGRAPH_CHARS: usize = 500;
/// Maximum number of questions of one prompt.
const MAX_QUESTIONS: usize = 3;

/// Returns the texts to search for: each question of a prompt with several, else the whole of it; none if it is not worth a recall.
#[must_use]
pub fn queries(prompt: &str) -> Vec<String> {
    let Some(query) = query(prompt) else { return Vec::new() };
    let questions: Vec<String> = query
        .unicode_sentences()
        .map(str::trim)
        .filter(|sentence| sentence.ends_with(['?', '？', '؟']))
        .filter(|sentence| sentence.chars().any(char::is_alphanumeric))
        .map(str::to_owned)
        .collect();
    match questions.len() {
        0 | 1 => vec![query],
        _ => questions.into_iter().take(MAX_QUESTIONS).collect(),
    }
}

/// Returns what a person typed of a prompt.
fn query(prompt: &str) -> Option<String> {
    let prompt = prompt.trim();
    if is_of_client(prompt) {
        return None;
    }
    let typed = without_code(prompt);
    let typed = typed.trim();
    let typed = if typed.len() > MAX_TYPED { first_paragraph(typed)? } else { typed };
    let query: String = typed.chars().take(MAX_QUERY_CHARS).collect();
    let has_letter = query.chars().any(char::is_alphanumeric);
    has_letter.then_some(query)
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
    fn commands_and_messages_of_the_client_are_silent() {
        for prompt in [
            "",
            "  ",
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

    #[test]
    fn a_prompt_with_several_questions_asks_each() {
        let asked = "Before we ship: who signs off releases? And which port has staging? Thanks.";
        assert_eq!(
            queries(asked),
            ["Before we ship: who signs off releases?", "And which port has staging?"]
        );
        assert_eq!(queries("谁负责发布？ 端口是多少？").len(), 2);
        let one = "I moved the file. Is that right?";
        assert_eq!(queries(one), [one]);
        assert_eq!(queries("a? b? c? d?").len(), MAX_QUESTIONS);
        assert_eq!(queries("/compact"), Vec::<String>::new());
    }
}
