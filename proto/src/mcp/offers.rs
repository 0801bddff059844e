//! What MCP offers beside tools: prompts that a person picks, and memories as resources.
//!
//! The lists depend on nothing but the version, so they are part of the handshake's snapshot. Not here: how they look on the wire
//! (`daemon::mcp`).

use crate::error::{Code, Failure};
use crate::group::GroupName;
use crate::memory::MemoryId;

/// A prompt that a person can pick.
#[derive(Debug, Clone, Copy)]
pub struct Prompt {
    /// Name in `prompts/get`.
    pub name: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// What it does.
    pub description: &'static str,
    /// Its one argument and what it means, where it takes one.
    pub argument: Option<(&'static str, &'static str)>,
    text: &'static str,
}

/// Every prompt, in the order of the listing.
pub const PROMPTS: [Prompt; 3] = [
    Prompt {
        name: "remember",
        title: "Remember this",
        description: "Store something for later sessions",
        argument: Some(("what", "What to remember; the last thing said, where it is left out")),
        text: "Remember this for later sessions with store_memory: {what}\n\
               Recall first what is known of it. Store one self-contained statement for each fact, with names and full dates, under the type \
               that fits; give supersedes where a known memory is out of date; relate people and things with store_relation.",
    },
    Prompt {
        name: "recall",
        title: "What do you remember?",
        description: "Look something up in the memories of earlier sessions",
        argument: Some(("topic", "What to look up; the task at hand, where it is left out")),
        text: "Recall what is known of this: {topic}\n\
               Call recall_memory with summary_only, then with the ids that matter. Answer from what they say, with dates, and say so where \
               nothing is known.",
    },
    Prompt {
        name: "wrap_up",
        title: "Wrap up the session",
        description: "Store what this session decided, did and learned",
        argument: None,
        text: "Wrap up this session. Store with store_memory what a later session would need: one episodic summary of what was done and \
               decided, with today's date as event_date; each new fact or preference as semantic, each way of working as procedural, each new \
               person or thing as entity. Use supersedes for what has changed. Then say in one line what you stored.",
    },
];

impl Prompt {
    /// The text for the model, with the argument in its place.
    #[must_use]
    pub fn text(&self, given: Option<&str>) -> String {
        let Some((name, _)) = self.argument else { return self.text.to_owned() };
        let usual = if self.name == "recall" { "the task at hand" } else { "what was said last" };
        self.text.replace(
            &format!("{{{name}}}"),
            given.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(usual),
        )
    }
}

/// The resource that is listed by name: what is known in the session's own project.
pub const OWN_GROUP: &str = "loci://group";

/// A resource, told by its URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    /// `loci://memory/<id>`: everything about one memory, as JSON.
    Memory(MemoryId),
    /// `loci://group/<group>`: a brief of a project, as Markdown; of the session's own without a name.
    Group(Option<GroupName>),
}

impl Resource {
    /// What a URI names.
    ///
    /// # Errors
    /// `not_found` when it names nothing that there could be.
    pub fn parse(uri: &str) -> Result<Self, Failure> {
        let nothing = |why: String| {
            Failure::new(Code::NotFound, format!("{uri} is no resource: {why}"))
                .hint("There are loci://memory/<id> and loci://group/<group>")
        };
        let path = uri
            .strip_prefix("loci://")
            .ok_or_else(|| nothing("it does not begin with loci://".to_owned()))?;
        match path.split_once('/') {
            Some(("memory", id)) => Ok(Self::Memory(id.parse().map_err(nothing)?)),
            Some(("group", name)) => {
                Ok(Self::Group(Some(unescaped(name).parse().map_err(nothing)?)))
            }
            None if path == "group" => Ok(Self::Group(None)),
            _ => Err(nothing("there is no such kind".to_owned())),
        }
    }
}

/// Text without the `%XX` of URIs; what is no such escape stays as it is.
fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut plain, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let code = text
            .get(at + 1..at + 3)
            .filter(|_| bytes[at] == b'%')
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        plain.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_told_by_their_uri() {
        let id = "01953a2b-7c1e-7000-8000-0123456789ab";
        assert_eq!(
            Resource::parse(&format!("loci://memory/{id}")).expect("is one"),
            Resource::Memory(id.parse().expect("is an id"))
        );
        assert_eq!(Resource::parse(OWN_GROUP).expect("is one"), Resource::Group(None));
        let named = Resource::parse("loci://group/my%20shop%2F2").expect("is one");
        assert_eq!(named, Resource::Group(Some("my shop/2".parse().expect("is a name"))));
        for wrong in [
            "",
            "file:///etc/passwd",
            "loci://",
            "loci://memory/7",
            "loci://group/",
            "loci://what/x",
            "loci://group/%0a",
        ] {
            assert_eq!(
                Resource::parse(wrong).expect_err("is refused").code,
                Code::NotFound,
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_prompt_has_its_argument_in_its_place() {
        assert!(PROMPTS[0].text(Some("tea at four")).contains("store_memory: tea at four\n"));
        assert!(PROMPTS[1].text(Some("  ")).contains("the task at hand"));
        assert!(PROMPTS.iter().all(|prompt| !prompt.text(None).contains('{')));
    }
}
