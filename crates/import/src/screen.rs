//! Applies the rules for secrets to a reading, so that its preview shows what would be refused.

use loci_base::privacy::Policy;
use loci_base::privacy::request::Texts;
use loci_proto::foreign::{Reading, SkippedText};

/// Redacts the texts of a reading, or moves the memories that hold a secret to what is skipped.
pub(crate) fn apply(policy: &Policy, reading: &mut Reading) {
    let mut skipped = Vec::new();
    reading.memories.retain_mut(|memory| {
        let mut texts = Texts::new(policy);
        let screened = texts
            .content("text", &mut memory.content)
            .and_then(|()| texts.text("place", &mut memory.place))
            .and_then(|()| texts.metadata(&mut memory.metadata));
        let Err(failure) = screened else { return true };
        // A heading may hold the secret.
        let place = policy.redact(&memory.place);
        let field = failure.field.clone().unwrap_or_default();
        let reason = format!("{field} {}", failure.message);
        skipped.push(SkippedText { path: memory.path.clone(), place, reason });
        false
    });
    for text in skipped {
        reading.skip(text);
    }
    for text in &mut reading.skipped {
        text.place = policy.redact(&text.place);
        text.reason = policy.redact(&text.reason);
    }
}
