//! Whether a daily backup or a restore drill is due. Pure.
//!
//! A clock that was set back makes neither due again and again, and does not stop them for years.

use crate::backups::manifest::{Backup, Manifest, Reason};
use crate::model::time::{DAY, Timestamp};

/// Time between two restore drills, in milliseconds.
const DRILL_INTERVAL: i64 = 7 * DAY;

/// The state of a store, compared with its backups.
#[derive(Debug, Clone, Copy)]
pub struct StoreState<'a> {
    /// The id of the database.
    pub database: &'a str,
    /// The number of its last change.
    pub last_change: i64,
    /// The time.
    pub now: Timestamp,
    /// Milliseconds since the last daily backup by a clock that is never set, if this process made
    /// it; otherwise since the process started.
    pub uptime: i64,
}

/// Returns whether a daily backup is due: something has changed since the newest backup, and the
/// last daily one is a day old.
#[must_use]
pub fn is_backup_due(backups: &[Backup], store: StoreState<'_>) -> bool {
    if store.last_change == 0 || is_saved(backups, store.database, store.last_change) {
        return false;
    }
    let daily = manifests(backups, store.database).filter(|m| m.reason == Reason::Daily);
    match daily.max_by_key(|manifest| manifest.number) {
        None => true,
        Some(last) => {
            let age = store.now.0.saturating_sub(last.created_at);
            !(0..DAY).contains(&age) || store.uptime >= DAY
        }
    }
}

/// Returns whether the newest backup of a database is whole and has its last change.
#[must_use]
pub fn is_saved(backups: &[Backup], database: &str, last_change: i64) -> bool {
    saved(backups, database, last_change).is_some()
}

/// Returns the newest backup of a database if it is whole and has its last change.
pub(crate) fn saved<'a>(
    backups: &'a [Backup],
    database: &str,
    last_change: i64,
) -> Option<&'a Backup> {
    let own = backups.iter().filter_map(|backup| Some((backup, backup.manifest.as_ref()?)));
    let own = own.filter(|(_, manifest)| manifest.contents.database == database);
    let (backup, last) = own.max_by_key(|(_, manifest)| manifest.number)?;
    let is_saved = last.contents.last_change == last_change && last.fault.is_none();
    is_saved.then_some(backup)
}

/// Returns the backup with which a restore drill is due: the newest verified one, if the last drill
/// of any was a week ago.
#[must_use]
pub fn drill_due<'a>(backups: &'a [Backup], database: &str, now: Timestamp) -> Option<&'a Backup> {
    let last = manifests(backups, database).filter_map(|manifest| manifest.drilled_at).max();
    let is_due = last.is_none_or(|last| !(0..DRILL_INTERVAL).contains(&(now.0 - last)));
    let own = backups.iter().filter(|b| b.is_verified() && b.is_of(Some(database)));
    own.max_by_key(|b| b.manifest.as_ref().map_or(0, |m| m.number)).filter(|_| is_due)
}

fn manifests<'a>(backups: &'a [Backup], database: &str) -> impl Iterator<Item = &'a Manifest> {
    let known = backups.iter().filter_map(|backup| backup.manifest.as_ref());
    known.filter(move |manifest| manifest.contents.database == database)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backups::manifest::Contents;
    use crate::model::time::HOUR;
    use crate::tests::fixture::T0;
    use std::path::PathBuf;

    fn backup(number: u64, reason: Reason, at: Timestamp, last_change: i64) -> Backup {
        let contents = Contents { database: "d".to_owned(), last_change, ..Contents::default() };
        let manifest = Manifest {
            number,
            reason,
            created_at: at.0,
            contents,
            verified_at: Some(at.0),
            ..Manifest::default()
        };
        let path = PathBuf::from(number.to_string());
        Backup { path, bytes: 1, created_at: at, manifest: Some(manifest) }
    }

    fn store(last_change: i64, now: Timestamp) -> StoreState<'static> {
        StoreState { database: "d", last_change, now, uptime: 0 }
    }

    #[test]
    fn a_daily_backup_is_due_a_day_after_the_last_if_something_changed() {
        assert!(!is_backup_due(&[], store(0, T0)), "nothing was ever stored");
        assert!(is_backup_due(&[], store(1, T0)), "the first is due at once");
        let made = [backup(1, Reason::Daily, T0, 1)];
        let due = |last_change, now| is_backup_due(&made, store(last_change, now));
        assert!(!due(1, T0.plus(9 * DAY)), "nothing changed");
        assert!(!due(2, T0.plus(DAY - 1)) && due(2, T0.plus(DAY)));
        assert!(is_backup_due(&made, StoreState { database: "other", ..store(1, T0) }));
        let made = [made[0].clone(), backup(2, Reason::Import, T0.plus(HOUR), 5)];
        assert!(!is_backup_due(&made, store(5, T0.plus(DAY))), "the import's has everything");
        assert!(is_backup_due(&made, store(6, T0.plus(DAY))));
    }

    #[test]
    fn a_clock_that_jumps_makes_one_backup_and_not_one_after_another() {
        let mut made = vec![backup(1, Reason::Daily, T0.plus(3650 * DAY), 1)];
        assert!(is_backup_due(&made, store(2, T0)), "the clock was set back");
        made.push(backup(2, Reason::Daily, T0, 2));
        assert!(!is_backup_due(&made, store(3, T0.plus(HOUR))));
        assert!(is_backup_due(&made, store(3, T0.plus(DAY))));
        let standing = StoreState { uptime: DAY, ..store(3, T0) };
        assert!(is_backup_due(&made, standing), "a clock that stands still does not stop them");
    }

    #[test]
    fn a_drill_is_due_a_week_after_the_last_with_the_newest_verified_backup() {
        let mut made = [backup(1, Reason::Daily, T0, 1), backup(2, Reason::Daily, T0.plus(DAY), 2)];
        let due = |made: &[Backup], now| drill_due(made, "d", now).map(Backup::id);
        assert_eq!(due(&made, T0), Some("2".to_owned()));
        made[0].manifest.as_mut().expect("has one").drilled_at = Some(T0.0);
        assert_eq!(due(&made, T0.plus(7 * DAY - 1)), None);
        assert_eq!(due(&made, T0.plus(7 * DAY)), Some("2".to_owned()));
        assert_eq!(due(&made, T0.plus(-DAY)), Some("2".to_owned()), "the clock was set back");
        made[1].manifest.as_mut().expect("has one").fault = Some("changed".to_owned());
        assert_eq!(due(&made, T0.plus(7 * DAY)), Some("1".to_owned()));
        assert_eq!(drill_due(&made, "other", T0), None);
    }
}
