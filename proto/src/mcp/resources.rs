//! The MCP resources: one memory, a brief of one project, or what is to be reviewed in it, addressed by URI.
//!
//! Not here: the content of a resource and MCP wire types (`daemon`).

use crate::error::{Code, Failure};
use crate::group::GroupName;
use crate::memory::MemoryId;

/// URI of the brief of the session's own project, which is listed.
pub const OWN_GROUP: &str = "loci://group";

/// URI of what is to be reviewed in the session's own project.
pub const OWN_REVIEW: &str = "loci://review";

/// A parsed resource URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    /// `loci://memory/<id>`: one memory with all its fields, as JSON. The id, or a part of it ([`MemoryId::is_part`]).
    Memory(String),
    /// `loci://group/<group>`: a brief of a project, as Markdown; `None` is the session's own project.
    Group(Option<GroupName>),
    /// `loci://review/<group>`: what is to be reviewed in a project, as Markdown; `None` is the session's own project.
    Review(Option<GroupName>),
}

impl Resource {
    /// Parses a URI.
    ///
    /// # Errors
    /// `not_found` if the URI has another form.
    pub fn parse(uri: &str) -> Result<Self, Failure> {
        let not_found = |reason: String| {
            Failure::new(Code::NotFound, format!("{uri} is not a resource: {reason}"))
                .hint("Use loci://memory/{id}, loci://group/{group} or loci://review/{group}")
        };
        let path = uri
            .strip_prefix("loci://")
            .ok_or_else(|| not_found("it does not begin with loci://".to_owned()))?;
        match path.split_once('/') {
            Some(("memory", part)) if MemoryId::is_part(part) => Ok(Self::Memory(part.to_owned())),
            Some(("memory", id)) => {
                let id: MemoryId = id.parse().map_err(not_found)?;
                Ok(Self::Memory(id.to_string()))
            }
            Some(("group", name)) => {
                Ok(Self::Group(Some(percent_decode(name).parse().map_err(not_found)?)))
            }
            Some(("review", name)) => {
                Ok(Self::Review(Some(percent_decode(name).parse().map_err(not_found)?)))
            }
            None if path == "group" => Ok(Self::Group(None)),
            None if path == "review" => Ok(Self::Review(None)),
            _ => Err(not_found("the kind is unknown".to_owned())),
        }
    }
}

/// Decodes the `%XX` escapes of URIs; text that is not a valid escape stays unchanged.
fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut decoded, mut position) = (Vec::with_capacity(bytes.len()), 0);
    while position < bytes.len() {
        let byte = text
            .get(position + 1..position + 3)
            .filter(|_| bytes[position] == b'%')
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        decoded.push(byte.unwrap_or(bytes[position]));
        position += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_parsed_into_a_memory_or_a_group() {
        let id = "01953a2b-7c1e-7000-8000-0123456789ab";
        assert_eq!(
            Resource::parse(&format!("loci://memory/{id}")).expect("the URI is valid"),
            Resource::Memory(id.to_owned())
        );
        let short = Resource::parse("loci://memory/6789ab").expect("the URI is valid");
        assert_eq!(short, Resource::Memory("6789ab".to_owned()));
        assert_eq!(Resource::parse(OWN_GROUP).expect("the URI is valid"), Resource::Group(None));
        let named = Resource::parse("loci://group/my%20shop%2F2").expect("the URI is valid");
        assert_eq!(named, Resource::Group(Some("my shop/2".parse().expect("the name is valid"))));
        assert_eq!(Resource::parse(OWN_REVIEW).expect("the URI is valid"), Resource::Review(None));
        let named = Resource::parse("loci://review/shop").expect("the URI is valid");
        assert_eq!(named, Resource::Review(Some("shop".parse().expect("the name is valid"))));
    }

    #[test]
    fn any_other_uri_is_not_found() {
        for uri in [
            "",
            "file:///etc/passwd",
            "loci://",
            "loci://memory/7",
            "loci://group/",
            "loci://what/x",
            "loci://group/%0a",
            "loci://review/",
        ] {
            let failure = Resource::parse(uri).expect_err("the URI is refused");
            assert_eq!(failure.code, Code::NotFound, "{uri}");
        }
    }
}
