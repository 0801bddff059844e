//! Which backups are kept: for each of the newest days and weeks the newest backup, the newest of
//! each other automatic kind, and whatever a person made.
//!
//! A wrong clock deletes nothing: days count if they have a backup, not by their distance from
//! today. The newest verified backup is never deleted. Not here: making a backup (`create`).

use crate::backups::manifest::{self, Backup, Reason};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Days of which the newest backup is kept.
const DAYS: usize = 7;
/// Weeks of which the newest backup is kept.
const WEEKS: usize = 4;
/// Backups that are kept of each other automatic kind.
const OF_EACH_KIND: usize = 3;

/// Deletes the backups that are not kept any longer, except the newest.
pub(crate) fn rotate(folder: &Path, max_bytes: u64, newest: &Backup) {
    for path in to_remove(&manifest::list(folder), max_bytes) {
        if path != newest.path {
            // One that cannot be deleted stays in the list, and the next backup tries again.
            let _ = manifest::remove(&path);
        }
    }
}

/// Returns the backups that are not kept, of all in a folder, oldest first. Those of several
/// databases are kept independently, and share the budget.
#[must_use]
pub fn to_remove(backups: &[Backup], max_bytes: u64) -> Vec<PathBuf> {
    let mut by_database: BTreeMap<&str, Vec<&Backup>> = BTreeMap::new();
    for backup in backups {
        by_database.entry(database(backup)).or_default().push(backup);
    }
    let mut kept: BTreeSet<PathBuf> =
        by_database.values().flat_map(|of_one| kept_of_one(of_one)).collect();
    let last_verified: BTreeSet<&Path> = by_database
        .values()
        .filter_map(|of_one| {
            of_one.iter().copied().filter(|backup| backup.is_verified()).max_by_key(order)
        })
        .map(|backup| backup.path.as_path())
        .collect();
    kept.extend(last_verified.iter().map(|path| path.to_path_buf()));
    let mut bytes: u64 =
        backups.iter().filter(|b| kept.contains(&b.path)).map(|backup| backup.bytes).sum();
    let mut oldest_first: Vec<&Backup> = backups.iter().collect();
    oldest_first.sort_by_key(order);
    for backup in oldest_first {
        let is_protected =
            !backup.reason().is_automatic() || last_verified.contains(backup.path.as_path());
        if bytes > max_bytes && !is_protected && kept.remove(&backup.path) {
            bytes -= backup.bytes;
        }
    }
    let is_removed = |backup: &&Backup| !kept.contains(&backup.path);
    backups.iter().filter(is_removed).map(|backup| backup.path.clone()).collect()
}

/// The order in which backups were made, whatever the clock said.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "a key of an iterator over references")]
fn order(backup: &&Backup) -> (u64, i64) {
    let number = backup.manifest.as_ref().map_or(0, |manifest| manifest.number);
    (number, backup.created_at.0)
}

/// Returns the id of the database that was backed up; empty if it is not known.
fn database(backup: &Backup) -> &str {
    backup.manifest.as_ref().map_or("", |manifest| manifest.contents.database.as_str())
}

/// Returns the backups of one database that are kept regardless of their size.
fn kept_of_one(backups: &[&Backup]) -> BTreeSet<PathBuf> {
    let backups = backups.iter().copied();
    let is_faulty = |backup: &&Backup| backup.manifest.as_ref().is_some_and(|m| m.fault.is_some());
    let mut kept: BTreeSet<PathBuf> = backups
        .clone()
        .filter(|backup| !backup.reason().is_automatic() || is_faulty(backup))
        .map(|backup| backup.path.clone())
        .collect();
    let whole: Vec<&Backup> =
        backups.filter(|backup| backup.reason().is_automatic() && !is_faulty(backup)).collect();
    let daily = |backup: &&&Backup| backup.reason() == Reason::Daily;
    kept.extend(newest_of_each(whole.iter().filter(daily), DAYS, |b| b.created_at.date()));
    kept.extend(newest_of_each(whole.iter().filter(daily), WEEKS, |b| b.created_at.week()));
    let mut by_kind: BTreeMap<&str, Vec<&Backup>> = BTreeMap::new();
    for backup in whole.iter().filter(|backup| backup.reason() != Reason::Daily) {
        by_kind.entry(backup.reason().as_str()).or_default().push(backup);
    }
    for mut of_kind in by_kind.into_values() {
        of_kind.sort_by_key(order);
        kept.extend(of_kind.iter().rev().take(OF_EACH_KIND).map(|backup| backup.path.clone()));
    }
    kept
}

/// Returns the newest backup of each of the last `count` periods that have one.
fn newest_of_each<'a>(
    backups: impl Iterator<Item = &'a &'a Backup>,
    count: usize,
    period: impl Fn(&Backup) -> String,
) -> Vec<PathBuf> {
    let mut newest: BTreeMap<String, &Backup> = BTreeMap::new();
    for backup in backups {
        let current = newest.entry(period(backup)).or_insert(backup);
        if order(backup) > order(current) {
            *current = backup;
        }
    }
    newest.into_values().rev().take(count).map(|backup| backup.path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backups::manifest::Manifest;
    use crate::model::time::{DAY, HOUR, Timestamp};
    use crate::tests::fixture::T0;

    fn backup(number: u64, reason: Reason, created_at: Timestamp) -> Backup {
        let manifest = Manifest {
            number,
            reason,
            created_at: created_at.0,
            verified_at: Some(created_at.0),
            ..Manifest::default()
        };
        let path = PathBuf::from(format!("{number:05}"));
        Backup { path, bytes: 10, created_at, manifest: Some(manifest) }
    }

    /// Makes the backups one after another, with a rotation after each; returns what is left.
    fn rotated(made: impl IntoIterator<Item = Backup>, max_bytes: u64) -> Vec<Backup> {
        let mut left: Vec<Backup> = Vec::new();
        for backup in made {
            left.push(backup);
            let removed = to_remove(&left, max_bytes);
            left.retain(|backup| !removed.contains(&backup.path));
        }
        left
    }

    fn numbers(backups: &[Backup]) -> Vec<u64> {
        backups.iter().filter_map(|b| b.manifest.as_ref().map(|m| m.number)).collect()
    }

    #[test]
    fn seven_days_and_four_weeks_are_kept_of_a_year_of_daily_backups() {
        // T0 is a Sunday, so day 0 ends a week.
        let made = (0..365).map(|day| {
            backup(day, Reason::Daily, T0.plus(i64::try_from(day).expect("small") * DAY))
        });
        let left = rotated(made, u64::MAX);
        assert_eq!(numbers(&left), [343, 350, 357, 358, 359, 360, 361, 362, 363, 364]);
        // Several a day: the newest of the day stays.
        let made = (0..48).map(|hour| {
            backup(hour, Reason::Daily, T0.plus(i64::try_from(hour).expect("small") * HOUR))
        });
        assert_eq!(numbers(&rotated(made, u64::MAX)), [23, 47]);
    }

    #[test]
    fn the_backups_of_another_database_in_the_folder_are_kept_independently() {
        let of = |number: u64, database: &str| {
            let mut made = backup(number, Reason::Daily, T0);
            made.manifest.as_mut().expect("has one").contents.database = database.to_owned();
            made
        };
        let made = [of(1, "a"), of(2, "b"), of(3, "a"), of(4, "b")];
        assert_eq!(numbers(&rotated(made.clone(), u64::MAX)), [3, 4]);
        assert_eq!(numbers(&rotated(made, 1)), [3, 4], "the last verified one of each stays");
    }

    #[test]
    fn three_of_each_kind_stay_and_what_a_person_made_stays() {
        let made = (0..40).map(|n| {
            let reason = match n % 4 {
                0 => Reason::Migration,
                1 => Reason::Import,
                2 => Reason::Manual,
                _ => Reason::Reset,
            };
            backup(n, reason, T0.plus(i64::try_from(n).expect("small")))
        });
        let left = rotated(made, u64::MAX);
        let of = |reason| left.iter().filter(|backup| backup.reason() == reason).count();
        assert_eq!(
            [Reason::Migration, Reason::Import, Reason::Manual, Reason::Reset].map(of),
            [3, 3, 10, 10]
        );
        assert!(numbers(&left).contains(&36) && !numbers(&left).contains(&0));
    }

    #[test]
    fn the_budget_removes_the_oldest_automatic_ones_and_never_the_last_verified() {
        let made = (0..30).map(|day| {
            backup(day, Reason::Daily, T0.plus(i64::try_from(day).expect("small") * DAY))
        });
        assert_eq!(numbers(&rotated(made.clone(), 35)), [27, 28, 29]);
        assert_eq!(numbers(&rotated(made, 1)), [29]);
        let mut faulty = backup(2, Reason::Daily, T0.plus(DAY));
        if let Some(manifest) = &mut faulty.manifest {
            manifest.fault = Some("changed".to_owned());
        }
        let left = rotated([backup(1, Reason::Daily, T0), faulty], 1);
        assert_eq!(numbers(&left), [1], "the last one that is whole stays");
    }

    #[test]
    fn a_clock_that_jumps_back_or_ahead_deletes_no_good_backup() {
        let year = 365 * DAY;
        let day = |number: u64, at: i64| backup(number, Reason::Daily, T0.plus(at));
        let made = [day(1, 0), day(2, DAY), day(3, 10 * year), day(4, 2 * DAY), day(5, -year)];
        assert_eq!(numbers(&rotated(made, u64::MAX)), [1, 2, 3, 4, 5]);
    }
}
