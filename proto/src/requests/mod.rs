//! Requests.

pub mod compact;
pub mod config;
pub mod doctor;
pub mod eval;
pub mod explain;
pub mod forget;
pub mod groups;
pub mod inspect;
pub mod maintain;
pub mod people;
pub mod recall;
pub mod relate;
pub mod stats;
pub mod store;
pub mod store_admin;
pub mod transfer;
pub mod undo;
