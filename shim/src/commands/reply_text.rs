//! Formatting that several commands share: raw replies, times, and the undo hint.

use crate::client::call::RawReply;
pub use crate::output::local_time::{date, date_time};
use crate::output::{Problem, print_line, print_note};
use loci_proto::as_of::AsOf;
use serde::de::DeserializeOwned;

/// Prints a reply unchanged (`--json`).
pub fn print_json<T: DeserializeOwned>(raw_reply: &RawReply<T>) -> Result<(), Problem> {
    print_line(raw_reply.as_str())
}

/// Prints, if a reply shows the store at an earlier time, which it is and how far back is known.
pub fn print_as_of(as_of: Option<&AsOf>) {
    if let Some(AsOf { at, history_from, note }) = as_of {
        let since = date_time(history_from);
        print_note("As of:", &format!("{}; every change since {since} is known", date_time(at)));
        if let Some(note) = note {
            print_note("Note:", note);
        }
    }
}

/// Serialises a value as one line of JSON.
pub fn to_json(value: &impl serde::Serialize) -> Result<String, Problem> {
    serde_json::to_string(value).map_err(|error| Problem::from(std::io::Error::from(error)))
}

/// Returns a second line that says how to undo `act`; empty without an act.
pub fn undo_hint(act: Option<i64>) -> String {
    act.map(|act| format!("\n  undo: loci undo {act}")).unwrap_or_default()
}
