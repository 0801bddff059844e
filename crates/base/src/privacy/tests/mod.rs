//! Tests of the policy over all its steps. Secrets are put together at run time, so that no file of
//! the repository holds one.

mod properties;
mod requests;
mod texts;

use crate::privacy::{PersonalData, Policy, SecretMode};

/// Returns a token of GitHub's shape.
pub(super) fn github_token() -> String {
    ["gh", "p_", "q7Rk2Zp0vL9sXc4TmN8bYw3HdJ6fGa", "1eUoKi"].concat()
}

/// Returns a policy without personal data and own words.
pub(super) fn policy(secrets: SecretMode) -> Policy {
    Policy::new(secrets, Vec::new(), &[], true).expect("is a policy")
}

/// Returns a policy that replaces everything.
pub(super) fn strict() -> Policy {
    let words = ["Kowalska".to_owned(), "C++ team".to_owned()];
    Policy::new(SecretMode::Redact, PersonalData::ALL.to_vec(), &words, true).expect("is a policy")
}
