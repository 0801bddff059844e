//! `[projects]`: which projects are served. Not here: `.loci.toml`, and what a person has switched off.

use serde::{Deserialize, Serialize};

/// `[projects]`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Projects {
    /// Serve only projects with a `.loci.toml`, and those that a person has switched on.
    pub opt_in: bool,
}
