//! Reduces HTML to its text, where a text is HTML: it begins with a tag and ends with one, of names
//! that HTML has, and it is not code.
//!
//! Anything else stays as it is: `Vec<String>`, `a < b`, a sentence that names `<div>`, a component
//! with `className`.

use crate::privacy::source_map::SourceMap;
use regex::Regex;
use std::sync::LazyLock;

#[expect(clippy::expect_used, reason = "a constant pattern; a test compiles it")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("compiles")
}

/// Tags of text, as pages and mails have them.
const NAMES: &str = "a|article|b|blockquote|body|br|center|div|em|font|footer|h[1-6]|head|header|hr|html|i|img|li|main|nav|ol|p|section|small|span|strong|sub|sup|table|tbody|td|th|thead|title|tr|u|ul";
static BEGINS: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(r"^\s*(?i:<!doctype html[^>]*>|<(?:{NAMES})(?:\s[^<>]*)?>)"))
});
static ENDS: LazyLock<Regex> =
    LazyLock::new(|| compile(&format!(r"(?i:</(?:{NAMES})\s*>|<(?:br|hr)\s*/?>|-->)\s*$")));
static CODE: LazyLock<Regex> =
    LazyLock::new(|| compile(r"```|`|className=|=\{|\{\{|\{%|<%|<\?php|=>|v-if=|ng-"));
/// Elements whose content is no text, comments, and all other tags and entities.
static MARKUP: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?is)<script\b.*?</script\s*>|<style\b.*?</style\s*>|<!--.*?-->|</?[a-z!][^<>]*>|&(?:#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,6});",
    )
});
static BLOCK: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?i)^</?(?:br|p|div|li|tr|h[1-6]|ul|ol|table|section|article|blockquote|title|hr)\b")
});

/// Returns the text of an HTML text; `None` if it is not HTML, or has no text.
pub(crate) fn strip(text: &str) -> Option<SourceMap> {
    if !BEGINS.is_match(text) || !ENDS.is_match(text) || CODE.is_match(text) {
        return None;
    }
    let mut kept = SourceMap::default();
    let mut from = 0;
    for markup in MARKUP.find_iter(text) {
        kept.push(&text[from..markup.start()], from);
        from = markup.end();
        let found = markup.as_str();
        if found.starts_with('&') {
            kept.push(&entity(found), markup.start());
        } else if BLOCK.is_match(found) && !kept.text.is_empty() && !kept.text.ends_with('\n') {
            kept.push("\n", markup.start());
        }
    }
    kept.push(&text[from..], from);
    kept.truncate(kept.text.trim_end_matches('\n').len());
    (!kept.text.trim().is_empty()).then_some(kept)
}

/// Returns the character of an entity; an unknown one stays.
fn entity(found: &str) -> String {
    let name = &found[1..found.len() - 1];
    let number = name.strip_prefix('#').and_then(|digits| match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    });
    if let Some(c) = number.and_then(char::from_u32).filter(|c| !c.is_control()) {
        return c.to_string();
    }
    let known = match name.to_ascii_lowercase().as_str() {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        "nbsp" => " ",
        "ndash" => "–",
        "mdash" => "—",
        "hellip" => "…",
        _ => found,
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_its_text() {
        let page = "<!DOCTYPE html><html><head><title>Ferry</title><style>p {}</style></head><body><p>It leaves at <b>nine</b> &amp; ten.</p><script>x()</script></body></html>";
        assert_eq!(strip(page).expect("is HTML").text.trim(), "Ferry\nIt leaves at nine & ten.");
        assert_eq!(
            strip("<p>Anna likes <i>tabs</i></p>").expect("is").text.trim(),
            "Anna likes tabs"
        );
    }

    #[test]
    fn code_and_comparisons_are_no_html() {
        for text in [
            "Vec<String> and a < b",
            "Use <div> in place of <span>",
            "<div className={x}>hi</div>",
            "`<p>x</p>` is a paragraph",
            "<T> is the type parameter of Vec<T>",
            "<p></p>",
            "if a<b and c>d",
        ] {
            assert!(strip(text).is_none(), "{text}");
        }
    }
}
