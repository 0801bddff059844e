//! Single texts: what is refused, redacted, allowed, dropped; positions; time.

use super::{github_token, policy, strict};
use crate::privacy::{PersonalData, Policy, SecretMode};
use std::time::{Duration, Instant};

#[test]
fn a_refusal_names_kind_and_characters_and_never_the_value() {
    let token = github_token();
    let text = format!("Żółw's token: {token}, do not lose it");
    let refused = policy(SecretMode::Refuse).screen(&text).expect_err("is refused");
    let said = refused.clone().at("content").to_string();
    assert!(
        said.starts_with(
            "secret_detected: content holds a secret: github-token at characters 14..54"
        ),
        "{said}"
    );
    assert!(!said.contains(&token[4..12]), "{said}");
    assert!(refused.hint.is_some_and(|hint| hint.contains("privacy.secrets")));
}

#[test]
fn a_redaction_keeps_the_rest_and_lists_what_it_replaced() {
    let text = format!("The token is {}.", github_token());
    let screened = policy(SecretMode::Redact).screen(&text).expect("is redacted");
    assert_eq!(screened.text, "The token is [SECRET:github-token].");
    assert_eq!(screened.redacted, ["github-token at 13..53"]);
    let allowed = policy(SecretMode::Allow).screen(&text).expect("is allowed");
    assert_eq!((allowed.text, allowed.redacted.len()), (text, 0));
}

#[test]
fn positions_count_the_characters_of_the_text_as_given() {
    let text = format!("a<private>ż</private>b <private>c</private>{}", github_token());
    let refused = policy(SecretMode::Refuse).screen(&text).expect_err("is refused");
    let start = text.chars().count() - 40;
    let range = format!("{start}..{}", start + 40);
    assert!(refused.to_string().contains(&range), "{refused} {range}");
}

#[test]
fn a_secret_in_a_private_part_is_dropped_and_not_refused() {
    let text = format!("Deploys on Friday <private>{}</private>", github_token());
    let screened = policy(SecretMode::Refuse).screen(&text).expect("is stored");
    assert_eq!(screened.text.trim(), "Deploys on Friday");
    assert!(screened.dropped_private);
}

#[test]
fn personal_data_and_own_words_are_replaced_only_on_request() {
    let text = "Anna Kowalska, anna@example.org, +48 601 234 567, PESEL 44051401359, IBAN GB82 WEST 1234 5698 7654 32, card 4111 1111 1111 1111";
    assert_eq!(
        strict().screen(text).expect("is redacted").text,
        "Anna [REDACTED], [EMAIL], [PHONE], PESEL [ID], IBAN [ID], card [ID]"
    );
    let without_card = text.replace(", card 4111 1111 1111 1111", "");
    let kept = policy(SecretMode::Refuse).screen(&without_card).expect("is stored");
    assert_eq!(kept.text, without_card);
}

#[test]
fn a_hidden_character_at_any_place_hides_no_datum() {
    let words = ["Project Falcon".to_owned(), "Zo\u{eb} Lem".to_owned()];
    let policy = Policy::new(SecretMode::Redact, PersonalData::ALL.to_vec(), &words, true);
    let policy = policy.expect("is a policy");
    let token = github_token();
    let data = [
        ("bob.smith@example.org", "[EMAIL]"),
        ("+48 601 234 567", "[PHONE]"),
        ("GB82 WEST 1234 5698 7654 32", "[ID]"),
        ("4111 1111 1111 1111", "[ID]"),
        ("44051401359", "[ID]"),
        ("Project Falcon", "[REDACTED]"),
        ("Zoe\u{308} Lem", "[REDACTED]"),
        (&token, "[SECRET:github-token]"),
    ];
    // Removed before storing, and kept by their neighbours.
    let hidden =
        ["\u{200b}", "\u{ad}", "\u{2060}", "\u{1b}[31m", "\u{200e}", "\u{34f}", "\u{feff}"];
    for (datum, mark) in data {
        for hidden in hidden {
            for (at, _) in datum.char_indices().skip(1) {
                let text = format!("See {}{hidden}{} now", &datum[..at], &datum[at..]);
                let screened = policy.screen(&text).expect("is redacted");
                assert_eq!(screened.text, format!("See {mark} now"), "{text:?}");
                assert_eq!(policy.redact(&text), screened.text, "{text:?}");
                assert_eq!(policy.kept_copy(&text).0, screened.text, "{text:?}");
                assert_eq!(policy.scan(&text).len(), 1, "{text:?}");
                let end = 4 + format!("{datum}{hidden}").chars().count();
                assert!(screened.redacted[0].ends_with(&format!(" at 4..{end}")), "{screened:?}");
            }
        }
    }
}

#[test]
fn a_hidden_character_beside_a_datum_stays_and_one_in_a_tag_does_not() {
    let screened = strict().screen("a\u{200b}b anna@example.org").expect("is redacted");
    assert_eq!(screened.text, "a\u{200b}b [EMAIL]");
    let screened = strict().screen("Open <pri\u{200b}vate>hidden</private>end").expect("is stored");
    assert_eq!((screened.text.as_str(), screened.dropped_private), ("Open end", true));
}

#[test]
fn an_own_phrase_beside_a_datum_is_replaced_too() {
    let words = ["Anna Kowalska".to_owned()];
    let policy = Policy::new(SecretMode::Refuse, vec![PersonalData::Email], &words, true);
    let screened = policy.expect("is a policy").screen("Anna kowalska@example.org calls");
    assert_eq!(screened.expect("is redacted").text, "[REDACTED] [EMAIL] calls");
}

#[test]
fn a_token_of_every_written_form_is_found() {
    let token = github_token();
    for text in [
        token.clone(),
        format!("`{token}`"),
        format!("({token})"),
        format!("https://x:{token}@github.com/a/b"),
        format!("git clone https://{token}@github.com/a/b"),
        format!("TOKEN={token}"),
        format!("{{\"token\":\"{token}\"}}"),
        format!("**{token}**, then"),
        format!("żółć{}{token}", ' '),
    ] {
        assert!(
            policy(SecretMode::Refuse).screen(&text).is_err(),
            "{}",
            text.replace(&token, "TOKEN")
        );
    }
}

#[test]
fn a_password_in_a_url_is_found_unless_it_is_a_placeholder() {
    let refused = |text: &str| policy(SecretMode::Refuse).screen(text).is_err();
    for text in ["postgres://u:p@h", "mongodb+srv://app:Xk9mQ2vLp@db.example.com/x"] {
        assert!(refused(text), "{text}");
    }
    for text in [
        "postgres://user:password@localhost/db",
        "postgres://${USER}:${PASSWORD}@db/x",
        "https://host:8080/a@b",
        "ssh://git@host:22/x",
    ] {
        assert!(!refused(text), "{text}");
    }
}

#[test]
fn texts_of_the_largest_size_take_no_more_than_linear_time() {
    let hostile = [
        "a".repeat(64 * 1024),
        "password ".repeat(7 * 1024),
        "secret token key = ".repeat(3 * 1024),
        "-----BEGIN PRIVATE KEY-----".repeat(2 * 1024),
        "1 ".repeat(32 * 1024),
        "4111-".repeat(13 * 1024),
        "<private>".repeat(7 * 1024),
        "<p>&amp;</p>".repeat(5 * 1024),
        "ghp_a eyJ.a AKIA sk- :// Bearer Basic xox ".repeat(1500),
        "https://a:b".repeat(5 * 1024),
        "a@".repeat(32 * 1024),
        "ż= ".repeat(16 * 1024),
    ];
    for policy in [strict(), policy(SecretMode::Refuse)] {
        let _warm = policy.screen("password: x ghp_a");
        for text in &hostile {
            // 20 to 40 ms on two cores; seconds if a rule is quadratic. The machine may be busy: the
            // fastest of some runs counts.
            let took = (0..5)
                .map(|_| {
                    let begun = Instant::now();
                    let _screened = policy.screen(text);
                    begun.elapsed()
                })
                .min();
            let start: String = text.chars().take(20).collect();
            assert!(took < Some(Duration::from_millis(500)), "{start}: {took:?}");
        }
    }
}
