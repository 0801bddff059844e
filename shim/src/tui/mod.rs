//! What the full-screen commands share: the terminal ([`terminal`]), keys ([`input`]), colours ([`theme`]), lines ([`line`]).
//!
//! Not here: what they show (`commands::browse`, `commands::top`).

pub mod input;
pub mod line;
pub mod terminal;
pub mod theme;
