//! Finds the later acts on the rows that an act created: those that `undo` takes back with it, because they only confirmed, reviewed or
//! pinned its memories, and those that it must not touch.
//!
//! Not here: undoing (`undo`, `undo_act`).

use crate::db::journal::{self, Entry, RowChange, RowEffect};
use crate::db::rows::{Image, Row};
use crate::error::Result;
use crate::operations::bridge;
use crate::operations::folders::HEAL;
use crate::transaction::change::is_usage_column;
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};

/// Acts of a person that say something about a memory and do not change what it says.
const REVIEWS: [&str; 6] = ["confirm", "pin", "unpin", "reject", "forget", "restore"];
/// Acts of loci itself that note something in a memory.
const AUTOMATIC: [&str; 2] = [HEAL, bridge::ACT];

/// Acts that add what a file says.
const IMPORTS: [&str; 2] = ["import", bridge::ACT];

/// Returns whether an act adds what a file says.
pub(crate) fn is_import(act: &str) -> bool {
    IMPORTS.contains(&act)
}

/// Returns whether an act leaves the texts of the memories that it changes alone.
pub(crate) fn keeps_texts(act: &str) -> bool {
    REVIEWS.contains(&act) || AUTOMATIC.contains(&act)
}

/// The later acts, not yet undone, on the rows of an act.
#[derive(Debug, Default)]
pub(crate) struct LaterActs {
    /// Acts that only reviewed memories of the act: taken back with it. Newest first.
    pub whole: Vec<Entry>,
    /// Acts that reviewed memories of the act and others: for the others they stay in force. Newest first.
    pub in_part: Vec<Entry>,
    /// All later acts on each row, newest first: number and name.
    by_row: HashMap<Row, Vec<(i64, String)>>,
}

impl LaterActs {
    /// Finds the later acts, without `excluded` ones.
    pub fn find(conn: &Connection, entry: &Entry, excluded: &[i64]) -> Result<Self> {
        let mut later = Self::default();
        let rows: HashMap<&Row, &RowEffect> =
            entry.rows.iter().map(|changed| (&changed.row, &changed.effect)).collect();
        // A review of what an import changed belongs to the import; of what another act changed it is a decision of its own.
        let is_import = is_import(&entry.act);
        for id in journal::open_after(conn, entry.id)? {
            let Some(act) = journal::by_id(conn, id)?.filter(|act| !excluded.contains(&act.id))
            else {
                continue;
            };
            let common: Vec<&RowChange> =
                act.rows.iter().filter(|changed| rows.contains_key(&changed.row)).collect();
            for changed in &common {
                let acts = later.by_row.entry(changed.row.clone()).or_default();
                acts.push((act.id, act.act.clone()));
            }
            let is_in_the_way = common.iter().any(|changed| {
                let effect = rows.get(&changed.row);
                effect.is_some_and(|effect| overlaps(effect, &changed.effect, is_import))
            });
            if !is_in_the_way || !keeps_texts(&act.act) {
                continue;
            }
            let is_whole = common.len() == act.rows.len() && REVIEWS.contains(&act.act.as_str());
            if is_whole {
                later.whole.push(act);
            } else {
                later.in_part.push(act);
            }
        }
        Ok(later)
    }

    /// Names the acts after one on rows that it does not have.
    pub fn of_rows(conn: &Connection, entry: &Entry, rows: &[Row]) -> Result<String> {
        let mut later = Self::default();
        for id in journal::open_after(conn, entry.id)? {
            let Some(act) = journal::by_id(conn, id)? else { continue };
            for changed in act.rows.iter().filter(|changed| rows.contains(&changed.row)) {
                let acts = later.by_row.entry(changed.row.clone()).or_default();
                acts.push((act.id, act.act.clone()));
            }
        }
        Ok(later.named(rows))
    }

    /// Returns the numbers of the acts that are undone with it, whole or in part.
    pub fn ids(&self) -> impl Iterator<Item = i64> + '_ {
        self.whole.iter().chain(&self.in_part).map(|act| act.id)
    }

    /// Returns the same with nothing that is undone too: they are only named.
    pub fn kept(self) -> Self {
        Self { by_row: self.by_row, ..Self::default() }
    }

    /// Returns a row as it was before the acts that are undone in part.
    pub fn before_parts(&self, row: &Row, mut image: Image) -> Image {
        for act in &self.in_part {
            for changed in act.rows.iter().filter(|changed| changed.row == *row) {
                if let RowEffect::Set { before, .. } = &changed.effect {
                    image.extend(before.clone());
                }
            }
        }
        image
    }

    /// Names the later acts on rows, oldest first: ` by act 4 (edit)`; empty if there are none.
    pub fn named<'a>(&self, rows: impl IntoIterator<Item = &'a Row>) -> String {
        let of_rows = rows.into_iter().filter_map(|row| self.by_row.get(row)).flatten();
        let acts: HashSet<&(i64, String)> = of_rows.filter(|act| !keeps_texts(&act.1)).collect();
        let mut acts: Vec<_> = acts.into_iter().collect();
        acts.sort_unstable();
        let names: Vec<String> =
            acts.iter().map(|(id, name)| format!("act {id} ({name})")).collect();
        if names.is_empty() { String::new() } else { format!(" by {}", names.join(", ")) }
    }
}

/// Returns whether a later change of a row keeps the earlier one from being undone, and is undone with it.
fn overlaps(earlier: &RowEffect, later: &RowEffect, is_import: bool) -> bool {
    match (earlier, later) {
        (RowEffect::Inserted(_), _) => true,
        (RowEffect::Set { after, .. }, RowEffect::Set { after: later, .. }) if is_import => {
            later.keys().any(|name| !is_usage_column(name) && after.contains_key(name))
        }
        _ => false,
    }
}
