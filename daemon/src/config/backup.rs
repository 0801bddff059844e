//! `[backup]`: whether backups are made by themselves, and how much space they may take.
//!
//! Not here: when they are made (`service::backups`).

use serde::{Deserialize, Serialize};

/// The smallest and the largest budget, in bytes: 1 MiB and 1 TiB.
pub const BUDGET: std::ops::RangeInclusive<f64> = 1_048_576.0..=1_099_511_627_776.0;

/// `[backup]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Backup {
    /// Make a backup every day on which something changed, and before an import and a maintenance run.
    pub enabled: bool,
    /// The bytes that all backups together may take.
    pub max_bytes: i64,
}

impl Default for Backup {
    fn default() -> Self {
        Self { enabled: true, max_bytes: 1 << 30 }
    }
}

impl Backup {
    /// Returns the budget in bytes.
    #[must_use]
    pub fn budget(&self) -> u64 {
        u64::try_from(self.max_bytes).unwrap_or(0)
    }
}
