//! The memories that a session has been shown, and those whose confidence it has raised today.
//!
//! What an agent stores after it was shown the same is no evidence. Kept in memory, for the time of the connection.

use loci_engine::model::time::{DAY, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Maximum number of memories in each record of one session; older ones are dropped.
const MAX_MEMORIES: usize = 1024;

/// The memories of one session, by row number.
#[derive(Debug, Default)]
pub struct ShownMemories(Mutex<Record>);

#[derive(Debug, Default)]
struct Record {
    /// Oldest first.
    shown: VecDeque<i64>,
    /// Those that it was shown in full, oldest first.
    in_full: VecDeque<(i64, Timestamp)>,
    /// When an access of the session last raised a memory's confidence.
    boosted: HashMap<i64, Timestamp>,
}

impl ShownMemories {
    /// Records that the agent was shown these memories.
    pub fn record(&self, seqs: &[i64]) {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for seq in seqs {
            if !record.shown.contains(seq) {
                record.shown.push_back(*seq);
            }
        }
        let surplus = record.shown.len().saturating_sub(MAX_MEMORIES);
        record.shown.drain(..surplus);
    }

    /// Records that the agent was shown these memories in full.
    pub fn record_in_full(&self, seqs: &[i64], now: Timestamp) {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for seq in seqs {
            record.in_full.retain(|(known, _)| known != seq);
            record.in_full.push_back((*seq, now));
        }
        let surplus = record.in_full.len().saturating_sub(MAX_MEMORIES);
        record.in_full.drain(..surplus);
    }

    /// Returns the memories that the agent was shown in full, and when it last was.
    #[must_use]
    pub fn read_in_full(&self) -> Vec<(i64, Timestamp)> {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        record.in_full.iter().copied().collect()
    }

    /// Returns the memories that the agent was shown.
    #[must_use]
    pub fn seqs(&self) -> Vec<i64> {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        record.shown.iter().copied().collect()
    }

    /// Returns true if an access may raise the memory's confidence: once a day. The access then counts as the one of the day.
    pub fn take_boost(&self, seq: i64, now: Timestamp) -> bool {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = record.boosted.get(&seq).is_none_or(|at| now.since(*at) >= DAY);
        let has_room = record.boosted.len() < MAX_MEMORIES || record.boosted.contains_key(&seq);
        if !has_room {
            record.boosted.retain(|_, at| now.since(*at) < DAY);
        }
        // The record is full for today: the session raises no further memory.
        let takes = is_due && record.boosted.len() < MAX_MEMORIES;
        if takes {
            record.boosted.insert(seq, now);
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_memories_are_kept_each_once() {
        let shown = ShownMemories::default();
        shown.record(&[1, 2, 2, 1]);
        assert_eq!(shown.seqs(), [1, 2]);
        let many: Vec<i64> = (3..2000).collect();
        shown.record(&many);
        assert_eq!((shown.seqs().len(), shown.seqs()[0]), (MAX_MEMORIES, 976));
    }

    #[test]
    fn a_session_raises_the_confidence_of_a_memory_once_a_day() {
        let shown = ShownMemories::default();
        let at = |ms| Timestamp(1_769_904_000_000 + ms);
        assert!(shown.take_boost(1, at(0)) && shown.take_boost(2, at(0)));
        assert!(!shown.take_boost(1, at(DAY - 1)));
        assert!(shown.take_boost(1, at(DAY)));
        for seq in 3..=2000 {
            shown.take_boost(seq, at(DAY));
        }
        assert!(!shown.take_boost(5000, at(DAY)) && shown.take_boost(5000, at(3 * DAY)));
    }
}
