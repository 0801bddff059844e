//! A statement, and who wrote the message. Pure.

/// What a sentence states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// What the user wants in general.
    Preference(String),
    /// What was decided.
    Decision(String),
    /// What was tried and given up.
    Attempt {
        /// The sentence.
        text: String,
        /// Its part that says why it was given up.
        why: String,
    },
}

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// The agent.
    Agent,
}
