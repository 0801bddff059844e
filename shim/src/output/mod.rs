//! Output of the commands: results on standard output, errors and notes on standard error, tables, and confirmations.
//!
//! Text that other programs or people have written is escaped before it is printed ([`escape_line`], [`escape_lines`]). With `--json` a command
//! prints the daemon's reply unchanged.

mod confirm;
mod escape;
pub mod local_time;
mod marked_text;
mod memory_row;
mod passage;
mod print;
mod problem;
pub(crate) mod progress;
mod style;
mod table;
mod wrap;

pub use confirm::{Consent, choose, confirm, confirm_typed};
pub use escape::{escape_line, escape_lines};
pub use loci_proto::counted::counted;
pub use marked_text::MarkedText;
pub use memory_row::{DERIVED_DAY, Extent, MemoryRow, Rows, bar, row_passage, short_id};
pub use passage::Terms;
pub use print::{OutputFormat, print_bytes, print_json_error, print_line, print_note, report};
pub use problem::Problem;
pub use style::{Ink, Style};
pub use table::{Screen, table, table_on};
pub use wrap::{collapse_spaces, wrap};
