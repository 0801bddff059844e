//! Single texts: what is refused, redacted, allowed, dropped; positions; time.

use super::{github_token, policy, strict};
use crate::privacy::SecretMode;
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
