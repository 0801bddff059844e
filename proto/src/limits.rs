//! The limits of calls, replies and queues. Every limit has a test; an error names the limit and the actual size.

/// Maximum size of the content of one memory, in bytes of UTF-8.
pub const CONTENT_BYTES: usize = 32 * 1024;
/// Maximum size of the metadata of one memory, in bytes of compact JSON.
pub const METADATA_BYTES: usize = 16 * 1024;
/// Maximum nesting depth of metadata; the object itself is level 1.
pub const METADATA_DEPTH: usize = 8;
/// Maximum number of questions of one memory.
pub const QUESTIONS: usize = 5;
/// Maximum length of one question of a memory, in characters.
pub const QUESTION_CHARS: usize = 200;
/// Maximum size of a query, in bytes; a longer query is cut and the reply has `truncated`.
pub const QUERY_BYTES: usize = 4 * 1024;
/// Maximum number of distinct terms of a query in the keyword search; further terms are ignored and the reply has `truncated`.
pub const QUERY_TERMS: usize = 32;
/// Maximum number of ids of one recall.
pub const RECALL_IDS: usize = 100;
/// Maximum number of results of one recall.
pub const MAX_RESULTS: i64 = 20;
/// Maximum length of a group name, in characters.
pub const GROUP_CHARS: usize = 128;
/// Maximum length of the name of a new group, in bytes of UTF-8. With an extension it still is a valid file name.
pub const GROUP_BYTES: usize = 200;
/// Maximum length of a line on the wire or in an export, in bytes, including the newline.
pub const LINE_BYTES: usize = 1024 * 1024;
/// Maximum length of the hello line, in bytes, including the newline.
pub const HELLO_BYTES: usize = 64 * 1024;
/// Maximum length of a preview, in Unicode scalar values; it is cut at a grapheme boundary.
pub const PREVIEW_CHARS: usize = 80;
/// Maximum number of sessions of the daemon; a further `hello` is refused with `busy`.
pub const CONNECTIONS: usize = 256;
/// Maximum number of calls in flight of one session; further lines wait in the socket.
pub const CALLS_IN_FLIGHT: usize = 16;
/// Maximum number of stores of the same text per minute; a further one is refused with `busy`.
pub const REPEATED_STORES_PER_MINUTE: u32 = 20;
/// Maximum number of jobs that wait for the writer, the readers or the model each; a further one is refused with `busy`.
pub const QUEUE_LENGTH: usize = 256;
/// Maximum size of a reply, in bytes of compact JSON; a recall omits results to stay below it.
pub const REPLY_BYTES: usize = 480 * 1024;
/// Maximum length of the predicate of a relation, in characters.
pub const PREDICATE_CHARS: usize = 64;
/// Maximum number of memories that one call can give as evidence of a relation.
pub const EVIDENCE_IDS: usize = 50;
/// Maximum length of the reason for forgetting, in characters.
pub const REASON_CHARS: usize = 1000;
