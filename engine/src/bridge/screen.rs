//! Applies the rules about secrets and hidden characters to the statements of a file. Pure.

use crate::bridge::statements::{ERASED, Statement};
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

/// What stands in place of a part of a file that was not kept, in a file that was restored.
const MARKS: [&str; 2] = ["[SECRET:", ERASED];

fn screen(policy: &Policy, statement: Statement) -> Option<Statement> {
    if MARKS.iter().any(|mark| statement.text.contains(mark)) {
        return None;
    }
    let screened = policy.screen(&statement.text).ok()?.text;
    let text = content::clean_text(screened.trim(), &mut Removed::default()).ok()?;
    let place = policy.screen(&statement.place).ok()?.text;
    Some(Statement { text, place, ..statement })
}
