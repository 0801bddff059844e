//! Drops the parts of a text that their author marked `<private>…</private>`. A tag that is not
//! closed drops everything up to the end.

use crate::privacy::source_map::SourceMap;
use regex::Regex;
use std::sync::LazyLock;

#[expect(clippy::expect_used, reason = "a constant pattern; a test compiles it")]
static TAG: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)<\s*(/?)\s*private(?:\s[^<>]*)?>").expect("compiles"));

/// Returns where the first tag begins.
pub(crate) fn first_tag(text: &str) -> Option<usize> {
    TAG.find(text).map(|tag| tag.start())
}

/// Returns the text without its private parts; `None` if it has no such tag.
pub(crate) fn drop_parts(text: &str) -> Option<SourceMap> {
    let (mut depth, mut from, mut found) = (0_usize, 0, false);
    let mut kept = SourceMap::default();
    for tag in TAG.captures_iter(text) {
        let whole = tag.get_match();
        let closes = tag.get(1).is_some_and(|slash| !slash.is_empty());
        found = true;
        if depth == 0 {
            kept.push(&text[from..whole.start()], from);
        }
        depth = if closes { depth.saturating_sub(1) } else { depth + 1 };
        from = whole.end();
    }
    if depth == 0 {
        kept.push(&text[from..], from);
    }
    found.then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        drop_parts(text).map_or_else(|| text.to_owned(), |kept| kept.text)
    }

    #[test]
    fn private_parts_are_dropped_nested_and_unclosed_ones_too() {
        assert_eq!(kept("a <private>b</private> c"), "a  c");
        assert_eq!(kept("a <PRIVATE>b\nc</Private>d"), "a d");
        assert_eq!(kept("a <private>b <private>c</private> d</private> e"), "a  e");
        assert_eq!(kept("a <private>b"), "a ");
        assert_eq!(kept("a </private> b"), "a  b");
        assert_eq!(kept("a < b and Vec<Private>"), "a < b and Vec");
        assert_eq!(kept("<privateer> stays"), "<privateer> stays");
    }
}
