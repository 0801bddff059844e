//! `[bridge]`: how the memory files of clients are watched, once a person has switched it on (`loci bridge claude --on`).
//!
//! Not here: which clients are watched (the store), the watcher (`service::bridge`).

use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Seconds between two looks at the files.
pub const INTERVAL: RangeInclusive<f64> = 5.0..=3600.0;
/// MiB of versions.
pub const KEPT: RangeInclusive<f64> = 1.0..=1024.0;

/// `[bridge]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bridge {
    /// Store the statements of the files as imported memories.
    pub import: bool,
    /// Seconds between two looks at the files.
    pub interval_seconds: i64,
    /// MiB that all versions together may take, compressed.
    pub max_mib: i64,
}

impl Default for Bridge {
    fn default() -> Self {
        Self { import: true, interval_seconds: 60, max_mib: 32 }
    }
}

impl Bridge {
    /// Returns the seconds between two looks at the files.
    #[must_use]
    pub fn interval(&self) -> u64 {
        u64::try_from(self.interval_seconds).unwrap_or(60)
    }

    /// Returns the maximum size of all versions in bytes.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        u64::try_from(self.max_mib).unwrap_or(32) << 20
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use std::path::Path;

    #[test]
    fn each_key_is_read_and_a_value_out_of_range_is_refused_by_name() {
        let path = Path::new("/x/config.toml");
        let text = "[bridge]\nimport = false\ninterval_seconds = 5\nmax_mib = 2\n";
        let bridge = Config::from_text(text, path).expect("the file is valid").bridge;
        assert_eq!((bridge.import, bridge.interval(), bridge.max_bytes()), (false, 5, 2 << 20));
        let refused = Config::from_text("[bridge]\ninterval_seconds = 4\n", path);
        let refused = refused.expect_err("the value is refused").to_string();
        assert!(refused.contains("bridge.interval_seconds must be from 5 to 3600"), "{refused}");
    }
}
