//! Text.

pub(crate) mod dates;
pub mod features;
pub(crate) mod language;
pub(crate) mod stem;
pub(crate) mod stop_words;
pub(crate) mod terms;
pub(crate) mod tokenize;
