//! Adds an idempotency key to every `tools/call`, the checkout if it has changed since the hello, and that the folder of the session is
//! gone: the only changes that the relay makes to a line of the agent.
//!
//! The key is `params._meta["dev.loci/key"]`, the checkout `params._meta["dev.loci/checkout"]`; each replaces a value that the client
//! wrote there. All other bytes of the line stay unchanged, except that the names within `_meta` may be escaped differently.

use loci_project::{CheckoutReader, CheckoutStamp};
use loci_proto::hello::Checkout;
use loci_proto::mcp::idempotency::{CHECKOUT_KEY, FOLDER_GONE_KEY, META_KEY};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::{fmt, io};
use uuid::Uuid;

/// Generates the keys of one session: `<session uuid v7>:<sequence>`.
#[derive(Debug)]
pub struct IdempotencyKeys {
    session: String,
    last: u64,
    /// The folder of the session, if it was there.
    folder: Option<PathBuf>,
}

impl IdempotencyKeys {
    /// Starts a new session.
    #[must_use]
    pub fn new() -> Self {
        Self { session: Uuid::now_v7().to_string(), last: 0, folder: None }
    }

    /// Returns the session's id.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Has calls say when the folder of the session is gone.
    pub fn watch_folder(&mut self, folder: Option<&str>) {
        self.folder = folder.map(PathBuf::from).filter(|folder| folder.is_dir());
    }

    fn folder_is_gone(&self) -> bool {
        let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
        self.folder.as_ref().is_some_and(|folder| folder.metadata().is_err_and(is_missing))
    }

    /// Returns the next key; keys never repeat.
    pub fn next_key(&mut self) -> String {
        self.last += 1;
        format!("{}:{}", self.session, self.last)
    }
}

impl Default for IdempotencyKeys {
    fn default() -> Self {
        Self::new()
    }
}

/// The checkout of a session: the branch may change between two calls.
#[derive(Debug)]
pub struct SessionCheckout {
    reader: CheckoutReader,
    in_hello: Checkout,
    /// The files when they were last read.
    read_at: Option<CheckoutStamp>,
    /// What was read then, as JSON; `None` if it was that of the hello.
    last: Option<String>,
}

impl SessionCheckout {
    /// Creates it with what the hello said.
    #[must_use]
    pub fn new(reader: CheckoutReader, in_hello: Checkout) -> Self {
        Self { reader, in_hello, read_at: None, last: None }
    }

    /// Returns the present checkout as JSON; `None` if it is that of the hello. The files are read only if they have changed.
    fn changed(&mut self) -> Option<String> {
        if self.read_at.as_ref().is_none_or(|stamp| !self.reader.is_as(stamp)) {
            let (now, stamp) = self.reader.read_with_stamp();
            let is_other = now != self.in_hello;
            self.last = is_other.then(|| serde_json::to_string(&now).ok()).flatten();
            self.read_at = Some(stamp);
        }
        self.last.clone()
    }
}

/// What is added to one call.
#[derive(Debug)]
pub struct CallMeta {
    key: String,
    /// JSON.
    checkout: Option<String>,
    folder_is_gone: bool,
}

impl CallMeta {
    /// Adds only a key.
    #[must_use]
    pub fn of_key(key: &str) -> Self {
        Self { key: key.to_owned(), checkout: None, folder_is_gone: false }
    }

    /// Creates what is added to the next call.
    #[must_use]
    pub fn next(keys: &mut IdempotencyKeys, checkout: Option<&mut SessionCheckout>) -> Self {
        Self {
            key: keys.next_key(),
            checkout: checkout.and_then(SessionCheckout::changed),
            folder_is_gone: keys.folder_is_gone(),
        }
    }
}

/// Returns `line` with the key in `params._meta`; `params` must be borrowed from `line`.
///
/// Parameters that are not an object stay unchanged: the daemon refuses such a call before it has any effect.
///
/// # Errors
/// When `_meta` occurs twice, or is not an object.
pub fn inject_key(line: &str, params: &RawValue, added: &CallMeta) -> Result<String, &'static str> {
    let text = params.get();
    if !text.starts_with('{') {
        return Ok(line.to_owned());
    }
    let Params { meta } = serde_json::from_str(text).map_err(|_| "params contains _meta twice")?;
    let (range, value) = match meta {
        Some(meta) if meta.get() != "null" => {
            let mut members: Members =
                serde_json::from_str(meta.get()).map_err(|_| "params._meta must be an object")?;
            let own = [META_KEY, CHECKOUT_KEY, FOLDER_GONE_KEY];
            members.0.retain(|(name, _)| !own.contains(&name.as_str()));
            (span(line, meta.get()), members.with(added))
        }
        Some(null) => (span(line, null.get()), Members::default().with(added)),
        None => {
            let first_member = span(line, text).start + 1;
            let comma = if text[1..].trim_start().starts_with('}') { "" } else { "," };
            (
                first_member..first_member,
                format!("\"_meta\":{}{comma}", Members::default().with(added)),
            )
        }
    };
    Ok([&line[..range.start], &value, &line[range.end..]].concat())
}

/// Returns the byte range of `part`, a substring of `line`.
fn span(line: &str, part: &str) -> std::ops::Range<usize> {
    let start = part.as_ptr() as usize - line.as_ptr() as usize;
    start..start + part.len()
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(
        borrow,
        rename = "_meta",
        default,
        deserialize_with = "crate::relay::message::present"
    )]
    meta: Option<&'a RawValue>,
}

/// The members of an object in order, with their values as raw JSON.
#[derive(Default)]
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl Members<'_> {
    fn with(&self, added: &CallMeta) -> String {
        let quote = |text: &str| serde_json::Value::from(text).to_string();
        let mut object = "{".to_owned();
        for (name, value) in &self.0 {
            object.extend([&quote(name), ":", value.get(), ","]);
        }
        if let Some(checkout) = &added.checkout {
            object.extend([&quote(CHECKOUT_KEY), ":", checkout, ","]);
        }
        if added.folder_is_gone {
            object.extend([&quote(FOLDER_GONE_KEY), ":true,"]);
        }
        object.extend([&quote(META_KEY), ":", &quote(&added.key), "}"]);
        object
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::message::{Message, read};

    fn keyed(params: &str) -> Result<String, &'static str> {
        let line =
            format!(r#"{{ "method":"tools/call", "params" : {params},"id":1,"jsonrpc":"2.0"}}"#);
        let Ok(Message::Request(request)) = read(line.as_bytes()) else {
            panic!("not a request: {line}")
        };
        let params = request.params.expect("the request has parameters");
        let added = CallMeta::of_key("s:1");
        let keyed = inject_key(&line, params, &added)?;
        let (head, tail) =
            (r#"{ "method":"tools/call", "params" : "#, r#","id":1,"jsonrpc":"2.0"}"#);
        Ok(keyed
            .strip_prefix(head)
            .and_then(|rest| rest.strip_suffix(tail))
            .expect("the rest of the line is unchanged")
            .to_owned())
    }

    #[test]
    fn a_call_without_meta_gets_meta_as_first_member() {
        let params = r#"{ "name":"x","arguments":{"a":1e999,"a":"\u0041"}}"#;
        assert_eq!(
            keyed(params),
            Ok(format!(r#"{{"_meta":{{"dev.loci/key":"s:1"}},{}"#, &params[1..]))
        );
        assert_eq!(keyed("{ }"), Ok(r#"{"_meta":{"dev.loci/key":"s:1"} }"#.to_owned()));
    }

    #[test]
    fn other_members_of_meta_stay_and_the_clients_own_key_is_replaced() {
        let params =
            r#"{"_meta":{"progressToken": 1.50,"dev.loci\/key":"mine","z":{"q":[1]}},"name":"x"}"#;
        let expected =
            r#"{"_meta":{"progressToken":1.50,"z":{"q":[1]},"dev.loci/key":"s:1"},"name":"x"}"#;
        assert_eq!(keyed(params), Ok(expected.to_owned()));
    }

    #[test]
    fn a_changed_checkout_is_added_and_that_of_the_client_removed() {
        let params = RawValue::from_string(
            r#"{"_meta":{"dev.loci/checkout":{"branch":"mine"}},"name":"x"}"#.to_owned(),
        )
        .expect("the text is JSON");
        let mut added = CallMeta::of_key("s:1");
        let expected = r#"{"_meta":{"dev.loci/key":"s:1"},"name":"x"}"#;
        assert_eq!(inject_key(params.get(), &params, &added).as_deref(), Ok(expected));
        added.checkout = Some(r#"{"branch":"fix"}"#.to_owned());
        let expected =
            r#"{"_meta":{"dev.loci/checkout":{"branch":"fix"},"dev.loci/key":"s:1"},"name":"x"}"#;
        assert_eq!(inject_key(params.get(), &params, &added).as_deref(), Ok(expected));
    }

    #[test]
    fn a_null_meta_counts_as_absent() {
        assert_eq!(
            keyed(r#"{"_meta":null}"#),
            Ok(r#"{"_meta":{"dev.loci/key":"s:1"}}"#.to_owned())
        );
    }

    #[test]
    fn a_meta_that_is_not_an_object_or_occurs_twice_is_refused() {
        assert_eq!(keyed(r#"{"_meta":[]}"#), Err("params._meta must be an object"));
        assert_eq!(keyed(r#"{"_meta":{},"\u005fmeta":{}}"#), Err("params contains _meta twice"));
    }

    #[test]
    fn parameters_that_are_not_an_object_stay_unchanged() {
        assert_eq!(keyed("[1]"), Ok("[1]".to_owned()));
    }

    #[test]
    fn keys_never_repeat() {
        let mut keys = IdempotencyKeys::new();
        let (first, second) = (keys.next_key(), keys.next_key());
        assert!(first != second && first.starts_with(keys.session()));
    }
}
