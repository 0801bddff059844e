//! Findings of `loci doctor` that need no running daemon: configuration, storage, backups, the model of the vectors. `locid doctor` uses
//! them too.
//!
//! Not here: the checks that a daemon makes of itself (`handlers::doctor`), those of the database (the engine).

use crate::config::Config;
use crate::service::storage_health::StorageHealth;
use loci_proto::admin::{BackupStatus, StorageWarning, WarningKind};
use loci_proto::counted::counted;
use loci_proto::requests::doctor::Finding;
use std::path::Path;

/// Checks the configuration file.
#[must_use]
pub fn config(path: &Path) -> Finding {
    match Config::read(path) {
        Ok(_) if !path.exists() => Finding::ok(
            "config",
            format!("{} does not exist; every key has its default", path.display()),
        ),
        Ok(_) => Finding::ok("config", format!("{} is valid", path.display())),
        Err(failure) => Finding::fail(
            "config",
            failure.to_string(),
            "Correct the file; the daemon will not start with it",
        ),
    }
}

/// Returns the warnings about storage as findings.
#[must_use]
pub fn storage(health: &StorageHealth) -> Vec<Finding> {
    let mut warnings = health.warnings();
    // The findings about the database say it in detail.
    warnings
        .retain(|warning| !matches!(warning.kind, WarningKind::Damaged | WarningKind::DamagedRows));
    if warnings.is_empty() {
        return vec![Finding::ok("storage", "the data folder is private and can be written")];
    }
    let finding = |warning: StorageWarning| {
        let found = format!("{} (since {})", warning.message, warning.since);
        if warning.kind.is_failure() {
            Finding::fail("storage", found, warning.next_step)
        } else {
            Finding::warn("storage", found, warning.next_step)
        }
    };
    warnings.into_iter().map(finding).collect()
}

/// Says when backups were last made, verified and tested.
#[must_use]
pub fn backups(status: &BackupStatus) -> Finding {
    let age = |time: &Option<String>| {
        time.as_ref().map_or_else(|| "never".to_owned(), |time| time.chars().take(16).collect())
    };
    let text = format!(
        "{}, {} KiB; last made {}, verified {}, tested {}",
        counted(status.count, "backup", "backups"),
        status.bytes.div_ceil(1 << 10),
        age(&status.last),
        age(&status.last_verified),
        age(&status.last_drill)
    );
    match status.faults.first() {
        Some(fault) => {
            Finding::warn("backup", format!("{fault}; {text}"), "Run loci backup create")
        }
        None if status.count == 0 => {
            Finding::ok("backup", "there is none yet; the first is made a minute after a store")
        }
        None => Finding::ok("backup", text),
    }
}

/// Says that the vectors are of another model than the configured one.
#[must_use]
pub fn other_model(active: &str) -> Finding {
    let found = format!("the vectors are of {active}, not of the configured model");
    Finding::warn("vectors", found, "Run loci re-embed to use the configured model")
}
