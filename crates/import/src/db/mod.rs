//! All SQL of the formats: reads the SQLite databases of other programs.

#[cfg(test)]
pub(crate) mod made_up;
pub(crate) mod sessions;
pub(crate) mod stores;
