//! Whether a sentence states a decision, a cause, a fix or a changed value. English only. Pure.
//!
//! Not here: choosing the sentences of a summary (`summary`).

use regex::Regex;
use std::sync::LazyLock;

static SALIENT: LazyLock<Regex> = LazyLock::new(|| {
    let decision = r"decid\w+|decision|agreed|chose|chosen|approved|rejected|signed|ruled|will use|went with|opted|settled on|policy";
    let cause =
        r"because|caused|root cause|the cause|due to|reason|came from|traced .{1,60} to|turned out";
    let fix = r"fix(?:ed|es)?|repaired|resolved|solved|mended|patched|rolled back|reverted|restored|workaround|hotfix\w*";
    let change = r"from .{1,40} to .{1,40}|no longer|instead of|(?:chang|switch|mov|migrat|renam|replac|upgrad|rais|lower|increas|reduc|dropp|remov|cancell?|postpon|extend)ed";
    Regex::new(&format!(r"(?i)\b(?:{decision}|{cause}|{fix}|{change})\b"))
        .expect("the pattern compiles")
});

/// Returns whether a sentence states a decision, a cause, a fix or a changed value.
pub(crate) fn is_salient(sentence: &str) -> bool {
    SALIENT.is_match(sentence)
}

#[cfg(test)]
mod tests {
    use super::is_salient;

    #[test]
    fn decisions_causes_fixes_and_changes_are_salient_and_routine_is_not() {
        for text in [
            "We decided to keep Postgres",
            "The outage was caused by a full disk",
            "It failed because of a wrong time zone",
            "Dora traced ticket 41 about the mail gateway to a stale cache",
            "Fixed the login page",
            "Release 12 was rolled back",
            "The limit went from 100 to 250",
            "The office moved to Ghent",
            "Chidi and Rosa agreed on a budget",
        ] {
            assert!(is_salient(text), "{text}");
        }
        for text in [
            "Daily meeting as usual",
            "All tests are green",
            "Lunch near the gateway",
            "Read the mail",
        ] {
            assert!(!is_salient(text), "{text}");
        }
    }
}
