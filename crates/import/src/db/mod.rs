//! All SQL of the formats: reads the SQLite databases of other programs.

pub(crate) mod sessions;
pub(crate) mod stores;
