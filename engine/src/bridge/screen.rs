//! Applies the rules about secrets and hidden characters to the statements of a file. Pure.

use crate::bridge::Statement;
use crate::model::content;
use crate::privacy::Policy;
use loci_proto::sanitize::Removed;

/// Returns the statements as they may be stored, and how many may not be.
#[must_use]
pub fn screened(policy: &Policy, statements: Vec<Statement>) -> (Vec<Statement>, usize) {
    let all = statements.len();
    let kept: Vec<Statement> =
        statements.into_iter().filter_map(|one| screen(policy, one)).collect();
    let refused = all - kept.len();
    (kept, refused)
}

fn screen(policy: &Policy, statement: Statement) -> Option<Statement> {
    let screened = policy.screen(&statement.text).ok()?.text;
    let text = content::clean_text(screened.trim(), &mut Removed::default()).ok()?;
    let section = policy.screen(&statement.section).ok()?.text;
    Some(Statement { text, section, ..statement })
}
