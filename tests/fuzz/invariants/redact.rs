//! Invariants of the screening of texts, for any text: it never panics, and what is kept has
//! nothing that would be replaced.

use loci_engine::privacy::{PersonalData, Policy, SecretMode};
use std::sync::LazyLock;

static POLICIES: LazyLock<[Policy; 2]> = LazyLock::new(|| {
    let personal = vec![
        PersonalData::Email,
        PersonalData::Phone,
        PersonalData::Card,
        PersonalData::Iban,
        PersonalData::Pesel,
    ];
    [false, true].map(|strips_html| {
        let words = ["Kowalska".to_owned()];
        Policy::new(SecretMode::Redact, personal.clone(), &words, strips_html)
            .expect("the words are valid")
    })
});

/// Screens the text with and without HTML.
///
/// # Panics
/// When an invariant is violated.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for policy in POLICIES.iter() {
        let Ok(screened) = policy.screen(&text) else { continue };
        assert_eq!(policy.scan(&screened.text), Vec::new(), "in {:?}", screened.text);
        let again = policy.screen(&screened.text).expect("a screened text is accepted");
        assert_eq!(again.redacted, Vec::<String>::new(), "of {:?}", screened.text);
    }
}
