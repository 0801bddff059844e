//! The gate to a model: every string that reaches one is a [`ModelText`] or part of a [`ModelReply`], and only the functions here make
//! them. Pure.
//!
//! They remove hidden characters, neutralise what is shaped like the frame of a conversation ([`shapes`]), shorten names ([`names`]) and
//! hold back remarks that are orders. A text in a reply to a call stays as exact as it can; one that nobody asked for is one line without
//! any such shape. The gate twice is the gate once. Not here: which texts are held back as a whole (`model::provenance`).

mod names;
mod reply;
mod shapes;
#[cfg(test)]
mod tests;

pub use names::{Screen, safe_name};
pub use reply::ModelReply;

use crate::error::Failure;
use crate::sanitize;
use serde::{Deserialize, Deserializer, Serialize};
use shapes::{Occasion, neutralised};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// Stands for a remark that is an order.
pub const HELD_BACK: &str = "held back";

/// A text that a model may be given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ModelText(String);

impl ModelText {
    /// A text of loci itself.
    #[must_use]
    pub fn own(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// A text in a reply to a call: as it is, but for frames.
    #[must_use]
    pub fn reply(text: &str) -> Self {
        Self(exact(text).into_owned())
    }

    /// A text that nobody asked for, or an error: one line without anything that is shaped like a frame.
    #[must_use]
    pub fn unasked(text: &str) -> Self {
        Self(one_line(text).into_owned())
    }

    /// A name.
    #[must_use]
    pub fn name(name: &str, orders: Screen) -> Self {
        Self(safe_name(name, orders).into_owned())
    }

    /// An error. What it repeats of an argument or a name may be an order.
    #[must_use]
    pub fn failure(failure: &Failure, orders: Screen) -> Self {
        let said = |text: &String| note(text, orders).into_owned();
        let shown = Failure {
            message: said(&failure.message),
            field: failure.field.as_ref().map(said),
            hint: failure.hint.as_ref().map(said),
            ..failure.clone()
        };
        Self(shown.to_string())
    }

    /// A sentence of loci that may repeat names: held back if it is an order.
    #[must_use]
    pub fn note(text: &str, orders: Screen) -> Self {
        Self(note(text, orders).into_owned())
    }

    /// Returns its lines.
    pub fn each_line(&self) -> impl Iterator<Item = Self> {
        self.0.lines().map(|line| Self(line.to_owned()))
    }

    /// Made by this folder of what has passed.
    fn of_gate(text: String) -> Self {
        Self(text)
    }

    /// Adds a text.
    #[must_use]
    pub fn and(mut self, more: &Self) -> Self {
        self.0.push_str(&more.0);
        self
    }

    /// Adds a text of loci itself.
    #[must_use]
    pub fn and_own(mut self, more: &'static str) -> Self {
        self.0.push_str(more);
        self
    }

    /// Adds a number.
    #[must_use]
    pub fn and_count(mut self, count: usize) -> Self {
        self.0.push_str(&count.to_string());
        self
    }

    /// Adds a text.
    pub fn push(&mut self, more: &Self) {
        self.0.push_str(&more.0);
    }

    /// Adds a text of loci itself.
    pub fn push_own(&mut self, more: &'static str) {
        self.0.push_str(more);
    }

    /// Returns the first bytes; the whole text if no character ends there.
    #[must_use]
    pub fn beginning(&self, bytes: usize) -> Self {
        Self(self.0.get(..bytes).unwrap_or(&self.0).to_owned())
    }

    /// Joins texts with a text of loci itself between them.
    #[must_use]
    pub fn joined<'a>(texts: impl IntoIterator<Item = &'a Self>, between: &'static str) -> Self {
        let texts: Vec<&str> = texts.into_iter().map(|text| text.0.as_str()).collect();
        Self(texts.join(between))
    }
}

impl Deref for ModelText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<ModelText> for String {
    fn from(text: ModelText) -> Self {
        text.0
    }
}

/// What comes over a socket passes the gate again.
impl<'de> Deserialize<'de> for ModelText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::reply(&text))
    }
}

/// Returns a text without hidden characters and frames.
fn exact(text: &str) -> Cow<'_, str> {
    match sanitize::text(text) {
        Cow::Borrowed(clean) => neutralised(clean, Occasion::Reply),
        Cow::Owned(clean) => Cow::Owned(neutralised(&clean, Occasion::Reply).into_owned()),
    }
}

/// Returns a text as one line without anything that is shaped like a frame.
fn one_line(text: &str) -> Cow<'_, str> {
    let clean = sanitize::text(text);
    let shown = neutralised(&clean, Occasion::Unasked);
    let is_one = !shown.starts_with(char::is_whitespace)
        && !shown.ends_with(char::is_whitespace)
        && !shown.contains("  ")
        && !shown.contains(|c: char| c.is_whitespace() && c != ' ');
    if is_one && *shown == *text {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = shown.split_whitespace().collect();
    let line = words.join(" ");
    // Two lines may make a shape together.
    Cow::Owned(neutralised(&line, Occasion::Unasked).into_owned())
}

/// Returns a sentence of loci, or that it is held back because a name in it is an order.
fn note(text: &str, orders: Screen) -> Cow<'_, str> {
    if names::is_order(text, orders) {
        return Cow::Borrowed(HELD_BACK);
    }
    let clean = sanitize::text(text);
    let line = neutralised(&clean, Occasion::Sentence).replace('\n', " ");
    // Two lines may make a shape together.
    Cow::Owned(neutralised(&line, Occasion::Sentence).into_owned())
}

/// Returns a remark as one line, or that it is held back because it is an order.
fn remark(text: &str, orders: Screen) -> Cow<'_, str> {
    // Most are ids, days and single words.
    let is_number = |b: u8| b.is_ascii_hexdigit() || b"-:.TZ+".contains(&b);
    if text.bytes().all(is_number) || text.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Cow::Borrowed(text);
    }
    if names::is_order(text, orders) { Cow::Borrowed(HELD_BACK) } else { one_line(text) }
}
