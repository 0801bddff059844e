//! The operations of the store, one file per verb. Each is a method of `Writer` or `Reader` that
//! takes the time and the request.

pub mod backup;
pub mod brief;
pub(crate) mod confirm;
pub mod deliveries;
pub(crate) mod doctor;
pub(crate) mod doctor_counts;
pub(crate) mod doctor_deep;
pub mod edit;
pub mod eval;
pub(crate) mod forget;
pub mod full_check;
pub mod groups;
pub(crate) mod hook;
pub(crate) mod injected;
pub(crate) mod inspect;
pub mod isolation;
pub(crate) mod list;
pub mod notices;
pub mod recall;
pub mod redo;
pub mod reembed;
pub(crate) mod relate;
pub(crate) mod repair;
pub(crate) mod restore;
pub(crate) mod review;
pub(crate) mod scan;
pub mod stats;
pub mod store;
pub(crate) mod store_similar;
pub(crate) mod store_texts;
pub(crate) mod supersede;
pub(crate) mod undo;
pub(crate) mod undo_act;
pub(crate) mod undo_session;
pub(crate) mod visible_memory;
