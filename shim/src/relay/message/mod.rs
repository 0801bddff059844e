//! Parses a JSON-RPC line just far enough to route it.
//!
//! Lines are classified as request, notification or answer. A line that cannot be an MCP message is refused here, because the daemon
//! would ignore it silently and the agent would wait forever. Not here: what a message means; the daemon knows that.

#[cfg(test)]
mod tests;

use crate::relay::line_reader::Excerpt;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// JSON-RPC: the line is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: the line is JSON, but not a request.
pub const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC: the parameters are invalid.
pub const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: the server failed.
pub const INTERNAL_ERROR: i32 = -32603;

/// Deepest nesting that the daemon's JSON parser accepts (`serde_json` stops at 128 levels).
const MAX_DEPTH: usize = 127;

/// A request's id in normalised JSON: `"a"` equals `"\u0061"`, and `1` does not equal `"1"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Id(Box<str>);

impl Id {
    /// Returns the id as JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// Parses an id: a string or a whole number. `null`, fractions and everything else are not ids.
    fn of(raw: &RawValue) -> Option<Self> {
        let text = match serde_json::from_str(raw.get()).ok()? {
            serde_json::Value::String(text) => serde_json::to_string(&text).ok()?,
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(whole) => whole.to_string(),
                None => number
                    .as_f64()
                    .filter(|n| n.fract() == 0.0 && n.abs() < 9e15)
                    .map(|n| format!("{n:.0}"))?,
            },
            _ => return None,
        };
        Some(Self(text.into()))
    }
}

/// A message of the agent.
#[derive(Debug)]
pub enum Message<'a> {
    /// Expects an answer.
    Request(Request<'a>),
    /// Expects no answer.
    Notification(Notification<'a>),
    /// Answers a request of the daemon.
    Answer,
}

/// A message that expects an answer.
#[derive(Debug)]
pub struct Request<'a> {
    /// The id that the answer repeats.
    pub id: Id,
    /// The method, for example `tools/call`.
    pub method: Cow<'a, str>,
    /// The parameters, borrowed from the line.
    pub params: Option<&'a RawValue>,
}

/// A message that expects no answer.
#[derive(Debug)]
pub struct Notification<'a> {
    /// The method, for example `notifications/cancelled`.
    pub method: Cow<'a, str>,
    /// The parameters, borrowed from the line.
    pub params: Option<&'a RawValue>,
}

impl Notification<'_> {
    /// Returns the id of the request that `notifications/cancelled` cancels.
    #[must_use]
    pub fn cancelled_request(&self) -> Option<Id> {
        #[derive(Deserialize)]
        struct Cancelled<'a> {
            #[serde(borrow, rename = "requestId")]
            request_id: &'a RawValue,
        }
        let params = self.params.filter(|_| self.method == "notifications/cancelled")?;
        Id::of(serde_json::from_str::<Cancelled>(params.get()).ok()?.request_id)
    }
}

/// Why a line is not forwarded.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The id of the request, if it can be read.
    pub id: Option<Id>,
    /// The JSON-RPC error code.
    pub code: i32,
    /// The reason, in one sentence.
    pub reason: String,
}

impl Refusal {
    /// Creates a refusal; `id` is `None` if the id of the line cannot be read.
    pub fn new(id: Option<Id>, code: i32, reason: impl Into<String>) -> Self {
        Self { id, code, reason: reason.into() }
    }
}

/// The members of a message that routing needs.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
}

/// Deserialises a member so that `null` counts as present: an id of `null` is not a missing id.
pub(crate) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Parses a line of the agent.
///
/// # Errors
/// A refusal, which the relay sends as the answer, if the line must not be forwarded.
pub fn read(line: &[u8]) -> Result<Message<'_>, Refusal> {
    let not_json = |reason: String| Refusal::new(None, PARSE_ERROR, format!("Not JSON: {reason}"));
    let text = std::str::from_utf8(line).map_err(|e| not_json(e.to_string()))?;
    let envelope = serde_json::from_str::<Envelope>(text);
    if envelope.is_err() {
        // Valid JSON that is not an envelope is an invalid request, not a parse error.
        serde_json::from_str::<&RawValue>(text).map_err(|e| not_json(e.to_string()))?;
    }
    check_strings_and_depth(text).map_err(|reason| not_json(reason.to_owned()))?;
    let envelope = envelope.map_err(|e| not_a_message(text, &e))?;
    envelope.classify()
}

fn not_a_message(text: &str, error: &serde_json::Error) -> Refusal {
    let reason = if text.trim_start().starts_with('[') {
        "MCP does not support batches; send one message per line".to_owned()
    } else {
        error.to_string()
    };
    Refusal::new(None, INVALID_REQUEST, reason)
}

impl<'a> Envelope<'a> {
    fn classify(self) -> Result<Message<'a>, Refusal> {
        let id = self.id.and_then(Id::of);
        let refuse = |id: Option<Id>, reason: &str| Err(Refusal::new(id, INVALID_REQUEST, reason));
        if self.jsonrpc.and_then(parse_string).as_deref() != Some("2.0") {
            return refuse(id, "jsonrpc must be \"2.0\"");
        }
        let method = match self.method.map(parse_string) {
            Some(Some(method)) => method,
            Some(None) => return refuse(id, "method must be a string"),
            None if self.id.is_some() => return Ok(Message::Answer),
            None => return refuse(None, "A message must have a method or an id"),
        };
        match (self.id, id) {
            (None, _) => Ok(Message::Notification(Notification { method, params: self.params })),
            (Some(_), Some(id)) => {
                Ok(Message::Request(Request { id, method, params: self.params }))
            }
            (Some(_), None) => refuse(None, "id must be a string or a whole number"),
        }
    }
}

fn parse_string(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str(raw.get()).map(Cow::Owned).ok()
}

/// A line of the daemon.
#[derive(Debug, PartialEq, Eq)]
pub enum FromDaemon {
    /// The answer to the request with this id.
    Answer(Id),
    /// A notification, or a request of the daemon.
    Other,
    /// Not a message.
    Unreadable,
}

/// Classifies a line of the daemon, which is trusted to be JSON.
#[must_use]
pub fn read_answer(line: &[u8]) -> FromDaemon {
    match serde_json::from_slice::<Envelope>(line) {
        Ok(Envelope { method: Some(_), .. }) => FromDaemon::Other,
        Ok(Envelope { id: Some(id), .. }) => {
            Id::of(id).map_or(FromDaemon::Unreadable, FromDaemon::Answer)
        }
        _ => FromDaemon::Unreadable,
    }
}

/// Checks what `serde_json` does not check in a `RawValue`: nesting depth and unpaired surrogates. `text` must be valid JSON otherwise.
fn check_strings_and_depth(text: &str) -> Result<(), &'static str> {
    let mut bytes = text.bytes().enumerate();
    let (mut depth, mut in_string) = (0_usize, false);
    while let Some((offset, byte)) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => {
                let escape = text.get(offset..).unwrap_or_default();
                let length = escape_length(escape).ok_or("unpaired surrogate")?;
                bytes.nth(length - 2);
            }
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err("nested too deeply");
        }
    }
    Ok(())
}

/// Returns the length of the escape at the start of `text` in bytes: 2, 6, or 12 for a surrogate pair; `None` for an unpaired surrogate.
fn escape_length(text: &str) -> Option<usize> {
    let utf16_unit = |text: &str| {
        text.strip_prefix("\\u").and_then(|rest| u16::from_str_radix(rest.get(..4)?, 16).ok())
    };
    match utf16_unit(text) {
        None => Some(2),
        Some(0xD800..0xDC00) => text
            .get(6..)
            .and_then(utf16_unit)
            .filter(|low| (0xDC00..0xE000).contains(low))
            .map(|_| 12),
        Some(0xDC00..0xE000) => None,
        Some(_) => Some(6),
    }
}

/// Finds the id of a too long request near its start, or as the last member: some clients write the id last.
#[must_use]
pub fn id_of_excerpt(excerpt: &Excerpt) -> Option<Id> {
    let mut id = None;
    // An error is expected: the text is truncated.
    let _ = IdOfHead(&mut id).deserialize(&mut serde_json::Deserializer::from_slice(&excerpt.head));
    id.or_else(|| id_at_end(&String::from_utf8_lossy(&excerpt.tail)))
}

/// Parses `…,"id":7}` at the end of a line. It can only be the last member of the message: inside a nested object another brace would
/// follow, and inside a string the quotes would be escaped.
fn id_at_end(tail: &str) -> Option<Id> {
    let (before, after) = tail.rsplit_once("\"id\"")?;
    let value = after.trim_start().strip_prefix(':')?.trim_end().strip_suffix('}')?;
    let is_last_member = before.trim_end().ends_with(',');
    Id::of(serde_json::from_str(value.trim()).ok().filter(|_| is_last_member)?)
}

/// Deserialises a truncated object and stores its `id`.
struct IdOfHead<'a>(&'a mut Option<Id>);

impl<'de> DeserializeSeed<'de> for IdOfHead<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for IdOfHead<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            if name == "id" {
                let id = Id::of(members.next_value()?);
                // A number at the end of the excerpt may be truncated; a following member name or the end of the object proves that it is complete.
                members.next_key::<IgnoredAny>()?;
                *self.0 = id;
                return Err(de::Error::custom("found"));
            }
            members.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
