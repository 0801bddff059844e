//! Value types shared by the database, the index and the operations. They depend on none of these.

pub mod actor;
pub(crate) mod candidate;
pub(crate) mod content;
pub(crate) mod counts;
pub mod decay;
pub mod document;
pub mod encoding;
pub(crate) mod entity_link;
pub(crate) mod entry;
pub(crate) mod error_key;
pub(crate) mod event_date;
pub(crate) mod excerpt;
pub mod files;
pub mod importance;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod past;
pub(crate) mod provenance;
pub mod sign_code;
pub(crate) mod statement_filter;
pub(crate) mod status;
pub(crate) mod switch_set;
pub mod time;
pub(crate) mod validity;
pub mod vector_set;
pub(crate) mod visibility;
