//! Keeps secrets and personal data out of the store: what a text may not contain, and what replaces
//! it.
//!
//! [`Policy`] is the one entry point; `request` applies it to every text of a request, before
//! anything is encoded or written. Steps, in this order: parts in `<private>` are dropped
//! (`private_parts`), HTML is reduced to its text (`html`), secrets are found (`secrets`: tokens by
//! `token_rules`, assignments and sentences by `passwords`), personal data (`personal`) and the user's
//! own words (`words`): in the text and in what is seen of it (`visible_text`). PURE: text in, text
//! out. Not here: configuration files, the scan of a whole store
//! (`operations::scan`).

mod card;
mod checks;
mod finding;
mod html;
mod metadata;
mod passwords;
mod personal;
mod policy;
mod private_parts;
pub mod request;
mod secrets;
mod source_map;
#[cfg(test)]
mod tests;
mod token_rules;
mod visible_text;
mod words;

pub use metadata::RedactedJson;
pub use policy::{Detected, MAX_LISTED, PersonalData, Policy, Screened, SecretMode};
