//! Decides whether a recorded history of one key is linearisable: whether its calls can be put into
//! an order that agrees with their times and in which each answer is right (Wing and Gong).
//!
//! Not here: recording a history (the module above).

use std::collections::HashSet;

/// The state of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyState {
    /// There is no such memory, text or relation.
    Absent,
    /// It is there: for a memory, it is active.
    Present,
    Forgotten,
    Superseded,
}

/// What a call did with a key, with its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A recall by id showed the memory in this state; `Forgotten` and `Absent` are both missing.
    Read(KeyState),
    /// It was stored; false if it was there already.
    Stored(bool),
    /// It was forgotten; false if it was so already.
    Forgot(bool),
    /// It was restored from this state.
    Restored(KeyState),
    /// It was superseded; false if that was refused.
    Replaced(bool),
}

impl Action {
    /// Returns the state after the action; `None` if its answer is wrong in this state.
    fn apply(self, state: KeyState) -> Option<KeyState> {
        use KeyState::{Absent, Forgotten, Present, Superseded};
        match self {
            Self::Read(Forgotten | Absent) => matches!(state, Forgotten | Absent).then_some(state),
            Self::Read(shown) => (shown == state).then_some(state),
            Self::Stored(is_new) => (is_new == (state == Absent)).then_some(Present),
            Self::Forgot(is_new) => {
                (state != Absent && is_new == (state != Forgotten)).then_some(Forgotten)
            }
            Self::Restored(was) => (was == state && state != Absent).then_some(Present),
            Self::Replaced(true) => (state == Present).then_some(Superseded),
            Self::Replaced(false) => (state != Present).then_some(state),
        }
    }
}

/// One call on a key with its times.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    pub invoked: u64,
    pub returned: u64,
    pub action: Action,
}

/// Returns whether a history of one key is linearisable from a state. At most 128 operations.
pub fn is_linearisable(operations: &[Operation], start: KeyState) -> bool {
    assert!(operations.len() <= 128, "{} operations of one key", operations.len());
    let all = if operations.len() == 128 { u128::MAX } else { (1 << operations.len()) - 1 };
    let mut visited = HashSet::new();
    let mut open = vec![(0_u128, start)];
    while let Some((done, state)) = open.pop() {
        if done == all {
            return true;
        }
        if !visited.insert((done, state)) {
            continue;
        }
        let is_open = |number: &usize| done & (1 << number) == 0;
        // An operation may come next if none of the others had returned before it began.
        let first_return = (0..operations.len())
            .filter(is_open)
            .map(|number| operations[number].returned)
            .min()
            .unwrap_or(u64::MAX);
        for number in (0..operations.len()).filter(is_open) {
            let operation = &operations[number];
            if operation.invoked <= first_return
                && let Some(next) = operation.action.apply(state)
            {
                open.push((done | (1 << number), next));
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::Action::{Forgot, Read, Replaced, Restored, Stored};
    use super::KeyState::{Absent, Forgotten, Present, Superseded};
    use super::*;

    fn history(operations: &[(u64, u64, Action)]) -> Vec<Operation> {
        let operation = |(invoked, returned, action): &(u64, u64, Action)| Operation {
            invoked: *invoked,
            returned: *returned,
            action: *action,
        };
        operations.iter().map(operation).collect()
    }

    #[test]
    fn overlapping_calls_may_take_effect_in_either_order() {
        let calls = [
            (0, 10, Forgot(true)),
            (1, 9, Forgot(false)),
            (2, 3, Read(Present)),
            (11, 12, Restored(Forgotten)),
            (12, 20, Replaced(true)),
            (13, 19, Read(Superseded)),
        ];
        assert!(is_linearisable(&history(&calls), Present));
    }

    #[test]
    fn a_stale_read_a_lost_effect_and_a_doubled_effect_are_found() {
        let forgotten = (0, 1, Forgot(true));
        for wrong in [
            vec![forgotten, (2, 3, Read(Present))],
            vec![forgotten, (2, 3, Forgot(true))],
            vec![forgotten, (2, 3, Replaced(true))],
            vec![(0, 1, Read(Superseded))],
            vec![(0, 1, Replaced(true)), (2, 3, Replaced(true))],
            vec![(0, 5, Replaced(true)), (1, 4, Replaced(true))],
            vec![(0, 5, Stored(true)), (1, 4, Stored(true))],
            vec![(0, 1, Restored(Forgotten))],
        ] {
            let start =
                if wrong.iter().any(|(_, _, a)| matches!(a, Stored(_))) { Absent } else { Present };
            assert!(!is_linearisable(&history(&wrong), start), "{wrong:?}");
        }
    }
}
