//! What the full-screen commands share: the terminal ([`terminal`]), keys ([`input`]), colours ([`theme`]).
//!
//! Not here: what they show (`commands::browse`, `commands::top`).

pub mod input;
pub mod terminal;
pub mod theme;
