//! The MCP prompts that a user can select in a client.
//!
//! The list depends only on the version, so it is part of the handshake snapshot. Not here: MCP wire types (`daemon`).

use crate::mcp::guidance;
use std::sync::LazyLock;

/// A prompt.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Name in `prompts/get`.
    pub name: &'static str,
    /// Title shown to the user.
    pub title: &'static str,
    /// What the prompt does.
    pub description: &'static str,
    /// Its only argument, if it takes one.
    pub argument: Option<Argument>,
    text: String,
}

/// The argument of a prompt.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// Name in `prompts/get`; in braces, the placeholder in the prompt's text.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// Text used if the argument is not given.
    default: &'static str,
}

/// Returns every prompt, in the order of the list.
#[must_use]
pub fn all() -> &'static [Prompt] {
    static PROMPTS: LazyLock<[Prompt; 4]> = LazyLock::new(build);
    PROMPTS.as_slice()
}

fn build() -> [Prompt; 4] {
    let (one, not) = (guidance::ONE_STATEMENT, guidance::DO_NOT_STORE);
    [
        Prompt {
            name: "remember",
            title: "Remember this",
            description: "Store something for later sessions",
            argument: Some(Argument {
                name: "what",
                description: "What to remember. Default: the last message",
                default: "the last message",
            }),
            text: format!(
                "Remember this for later sessions: {{what}}\n\
                 First call recall_memory to find what is already stored about it. Then call store_memory. {one} Pass supersedes if it \
                 changes a stored memory. Relate people and things with store_relation."
            ),
        },
        Prompt {
            name: "recall",
            title: "What do you remember?",
            description: "Look something up in the memories of earlier sessions",
            argument: Some(Argument {
                name: "topic",
                description: "What to look up. Default: the current task",
                default: "the current task",
            }),
            text: format!(
                "Recall what is stored about this: {{topic}}\n\
                 Call recall_memory with summary_only, then with the ids that matter. Answer from their content, with dates. {} Say so if \
                 nothing is stored.",
                guidance::NOTES
            ),
        },
        Prompt {
            name: "wrap_up",
            title: "Wrap up the session",
            description: "Store what this session decided, did and learned",
            argument: None,
            text: format!(
                "Wrap up this session: store what a later session would have to find out again.\n{}\n{not}\n{one}\n\
                 Pass supersedes for what has changed. Then state in one line what you stored; nothing new is a good answer.",
                guidance::STORE
            ),
        },
        Prompt {
            name: ANNOTATE,
            title: "Link memories to people and things",
            description: "Name the people and things in memories that mention none",
            argument: None,
            text: format!(
                "Link these memories to people and things. {} For each person, system or component that several of them are about, first \
                 call recall_memory with its name, to see whether it is stored; else call store_memory with type entity, metadata.name \
                 and metadata.aliases. Memories that contain a name are linked by loci itself. Then relate people and things with \
                 store_relation. Leave out what is named once only, and do not guess.",
                guidance::NOTES
            ),
        },
    ]
}

/// The prompt whose text is followed by the memories of the project that mention no entity.
pub const ANNOTATE: &str = "annotate";
/// What [`ANNOTATE`] says if there are none.
pub const NOTHING_UNLINKED: &str =
    "Every memory of this project mentions a stored person or thing.";

impl Prompt {
    /// Returns the text for the model. `value` is the argument's value; if it is absent or blank, the default is inserted.
    #[must_use]
    pub fn text(&self, value: Option<&str>) -> String {
        let Some(argument) = self.argument else { return self.text.clone() };
        let value = value.map(str::trim).filter(|text| !text.is_empty());
        self.text.replace(&format!("{{{}}}", argument.name), value.unwrap_or(argument.default))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_contains_its_argument_or_the_default() {
        assert!(all()[0].text(Some("tea at four")).contains("sessions: tea at four\n"));
        assert!(all()[1].text(Some("  ")).contains("the current task"));
        assert!(all().iter().all(|prompt| !prompt.text(None).contains('{')));
    }
}
