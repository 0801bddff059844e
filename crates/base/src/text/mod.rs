//! Text analysis: tokens, stems, languages, dates, and features of a text. Values in, values out.
//!
//! [`features`] splits a text into date, speaker and body and finds its content words; `terms`
//! returns its terms for the keyword index. This module depends on no other module of the crate. Not
//! here: weights and scores (`ranking`).

pub mod dates;
pub mod features;
pub mod language;
pub mod same_letters;
pub mod stem;
pub mod stop_words;
pub mod terms;
pub mod tokenize;
