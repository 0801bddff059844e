//! The bounds of what one call may carry. Every bound has a test; what passes one is refused with the bound and the actual size.

/// Largest content of one memory, in bytes of UTF-8.
pub const CONTENT_BYTES: usize = 32 * 1024;
/// Largest metadata of one memory, in bytes of compact JSON.
pub const METADATA_BYTES: usize = 16 * 1024;
/// Deepest nesting of metadata; the object itself is level 1.
pub const METADATA_DEPTH: usize = 8;
/// Bytes of a query that are read; the rest is cut and the answer says `truncated`.
pub const QUERY_BYTES: usize = 4 * 1024;
/// Distinct words of a query that take part in the keyword search; further ones are cut and the answer says `truncated`.
pub const QUERY_TERMS: usize = 32;
/// Most ids that one recall may hydrate.
pub const RECALL_IDS: usize = 100;
/// Most results that one recall may ask for.
pub const MAX_RESULTS: i64 = 20;
/// Longest group name, in characters.
pub const GROUP_CHARS: usize = 128;
/// Longest name of a new group, in bytes of UTF-8: it fits into a file name with room for an ending.
pub const GROUP_BYTES: usize = 200;
/// Longest line on the wire in either direction, in bytes, newline included.
pub const LINE_BYTES: usize = 1024 * 1024;
/// Longest hello line, in bytes, newline included.
pub const HELLO_BYTES: usize = 16 * 1024;
/// Longest preview of a memory, in Unicode scalar values; it is cut before the grapheme that would pass this.
pub const PREVIEW_CHARS: usize = 80;
/// Connections that the daemon serves at once; a further one is told `busy`.
pub const CONNECTIONS: usize = 256;
/// Calls of one session that run at once; further lines wait in the socket.
pub const CALLS_IN_FLIGHT: usize = 16;
/// Stores of one text in a minute; a further one is answered `busy`.
pub const SAME_STORES_A_MINUTE: u32 = 20;
/// Jobs that may wait for the writer, the readers or the model; a further one is answered `busy`.
pub const QUEUE: usize = 256;
/// Largest structured answer of one call, in bytes of compact JSON; a recall leaves results out before it passes this.
pub const ANSWER_BYTES: usize = 480 * 1024;
/// Longest predicate of a relation, in characters.
pub const PREDICATE_CHARS: usize = 64;
/// Most memories that one call may name as evidence of a relation.
pub const EVIDENCE: usize = 50;
/// Longest reason for forgetting, in characters.
pub const REASON_CHARS: usize = 1000;
