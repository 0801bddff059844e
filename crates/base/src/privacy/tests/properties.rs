//! Properties of redaction over any Unicode: it never panics, a second one changes nothing, and no
//! planted token is left.

use super::{github_token, policy, strict};
use crate::privacy::SecretMode;
use proptest::prelude::*;

/// Pieces from which texts are made: what the rules look for, broken and whole, among anything.
fn pieces() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "<private>",
        "</private>",
        "<",
        ">",
        "password",
        "password: ",
        "token = ",
        "\"",
        "'",
        "`",
        "[SECRET:",
        "[SECRET:x]",
        "]",
        "[EMAIL]",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "MIIEowIBAAKCAQEAq7Rk2Zp0vL9sXc4TmN8bYw3HdJ6fGa1eUoKi",
        "postgres://anna:",
        "Tr0ub4dor&3",
        "@db.local/x",
        "a@b.pl",
        "+48 601 234 567",
        "4111 1111 1111 1111",
        "44051401359",
        "Kowalska",
        "<p>",
        "</p>",
        "&lt;",
        "eyJ",
        ".",
        "=",
        "AKIA",
        "Q7RK2ZP0VL9SXC4T",
        "Bearer ",
        "hunter2",
        " ",
        "\n",
        "PIN: 4821",
    ]);
    prop_oneof![
        3 => known.prop_map(str::to_owned),
        1 => any::<String>(),
        1 => Just(github_token()),
        1 => "[A-Za-z0-9+/_.:@-]{1,60}",
    ]
}

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(pieces(), 0..14).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn screening_twice_is_screening_once(text in texts()) {
        for policy in [strict(), policy(SecretMode::Redact), policy(SecretMode::Allow)] {
            let once = policy.screen(&text).expect("redaction refuses nothing").text;
            let twice = policy.screen(&once).expect("redaction refuses nothing");
            prop_assert_eq!(&twice.text, &once);
            prop_assert!(twice.redacted.is_empty(), "{:?}", twice.redacted);
        }
    }

    #[test]
    fn what_was_redacted_is_not_refused(text in texts()) {
        let redacted = policy(SecretMode::Redact).screen(&text).expect("refuses nothing").text;
        prop_assert!(policy(SecretMode::Refuse).screen(&redacted).is_ok());
    }

    #[test]
    fn positions_are_within_the_text(text in texts()) {
        for (_, range) in strict().scan(&text) {
            prop_assert!(range.start < range.end && range.end <= text.chars().count());
        }
    }

    #[test]
    fn a_planted_token_is_never_left(before in any::<String>(), after in any::<String>()) {
        let text = format!("{before} {} {after}", github_token());
        let kept = policy(SecretMode::Redact).screen(&text).expect("refuses nothing").text;
        prop_assert!(!kept.contains(&github_token()));
    }
}
