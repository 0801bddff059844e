//! Fits a reply into a token budget, and makes previews. Pure.
//!
//! A token is estimated as four characters of the reply's compact JSON. Not here: which memories
//! are in the reply (`operations::recall`).

use loci_proto::limits;
use loci_proto::memory::MemoryId;
use loci_proto::requests::association::Association;
use loci_proto::requests::explain::{RecallExplanation, ScoreBreakdown};
use loci_proto::requests::recall::{RecallReply, RecalledMemory};
use loci_proto::requests::topics::ResultCluster;
use serde::Serialize;
use std::io::Write;
use unicode_segmentation::UnicodeSegmentation;

/// Characters per token.
const CHARS_PER_TOKEN: usize = 4;
/// Characters reserved for the fields that report omitted results.
const NOTICE: usize = r#""omitted":[],"omitted_count":100,"token_budget_too_small":true"#.len();

/// Adds results in order while the reply fits the budget (in tokens) and the maximum reply size.
/// The ids of the rest are added to `omitted` as long as they fit; `omitted_count` counts all of
/// them.
pub fn fit(reply: &mut RecallReply, results: Vec<RecalledMemory>, budget: usize) {
    let limit = budget.saturating_mul(CHARS_PER_TOKEN).min(limits::REPLY_BYTES);
    let total = results.len();
    // A preliminary value with as many digits as the estimate can have.
    reply.token_estimate = limit.div_ceil(CHARS_PER_TOKEN);
    let mut used = size(reply);
    let sizes: Vec<Size> = results.iter().map(size).collect();
    let all_fit = sizes.iter().fold(used, Size::with_member).fits(limit);
    let limit = if all_fit { limit } else { limit.saturating_sub(NOTICE) };
    let mut rest = results.into_iter().zip(&sizes).peekable();
    let mut included = Vec::with_capacity(total);
    while let Some((result, size)) = rest.next_if(|(_, size)| used.with_member(size).fits(limit)) {
        used = used.with_member(size);
        included.push(result);
    }
    reply.omitted_count = total - included.len();
    for (omitted, _) in rest {
        used = used.with_member(&size(&omitted.id));
        if !used.fits(limit) {
            break;
        }
        reply.omitted.push(omitted.id);
    }
    reply.token_budget_too_small = included.is_empty() && reply.omitted_count > 0;
    // One comma between two results.
    let of_results = sizes
        .iter()
        .take(included.len())
        .map(|size| size.chars + 1)
        .sum::<usize>()
        .saturating_sub(1);
    set_estimate(reply, of_results);
    reply.results = included;
}

/// Adds associations in order while the reply fits the budget (in tokens) and the maximum reply size.
/// Returns the sequence numbers of those that fit.
pub fn add_associations(
    reply: &mut RecallReply,
    associations: Vec<(i64, Association)>,
    budget: usize,
) -> Vec<i64> {
    if associations.is_empty() {
        return Vec::new();
    }
    let limit = budget.saturating_mul(CHARS_PER_TOKEN).min(limits::REPLY_BYTES);
    let mut seqs = Vec::new();
    for (seq, association) in associations {
        reply.associations.push(association);
        set_estimate(reply, 0);
        if !size(reply).fits(limit) {
            reply.associations.pop();
            break;
        }
        seqs.push(seq);
    }
    set_estimate(reply, 0);
    seqs
}

/// Adds which of the results are about the same, if that fits the budget (in tokens) and the maximum
/// reply size.
pub fn add_clusters(reply: &mut RecallReply, clusters: Vec<ResultCluster>, budget: usize) {
    let limit = budget.saturating_mul(CHARS_PER_TOKEN).min(limits::REPLY_BYTES);
    let is_in_reply = |id: &MemoryId| reply.results.iter().any(|result| result.id == *id);
    let mut clusters = clusters;
    for cluster in &mut clusters {
        cluster.ids.retain(is_in_reply);
    }
    clusters.retain(|cluster| !cluster.ids.is_empty());
    if clusters.is_empty() {
        return;
    }
    reply.clusters = clusters;
    set_estimate(reply, 0);
    if !size(reply).fits(limit) {
        reply.clusters.clear();
        set_estimate(reply, 0);
    }
}

/// Adds the explanation of each score. It is not counted against the budget, so an explained reply
/// has the same results as a plain one.
pub fn explain(
    reply: &mut RecallReply,
    explained: Option<RecallExplanation>,
    breakdowns: Vec<Option<ScoreBreakdown>>,
) {
    let Some(explained) = explained else { return };
    reply.explain = Some(RecallExplanation { cut_by_budget: reply.omitted_count, ..explained });
    reply.results.iter_mut().zip(breakdowns).for_each(|(result, breakdown)| result.why = breakdown);
    set_estimate(reply, 0);
    if size(reply).bytes > limits::REPLY_BYTES {
        reply.results.iter_mut().for_each(|result| result.why = None);
        reply.note = Some(
            "The reply is too large for an explanation. Ask for fewer results, or set summary_only"
                .to_owned(),
        );
        set_estimate(reply, 0);
    }
}

/// Counts the tokens of a reply that was changed.
pub fn count_again(reply: &mut RecallReply) {
    set_estimate(reply, 0);
}

/// Sets the token estimate of the reply; `pending` is the number of characters that are added
/// later.
fn set_estimate(reply: &mut RecallReply, pending: usize) {
    // The digits of the estimate are part of the reply; the second pass counts them.
    reply.token_estimate = 0;
    let chars = size(reply).chars + pending;
    for _ in 0..2 {
        let digits = reply.token_estimate.checked_ilog10().unwrap_or(0) as usize;
        reply.token_estimate = (chars + digits).div_ceil(CHARS_PER_TOKEN);
    }
}

/// Size of a value as compact JSON.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    chars: usize,
    bytes: usize,
}

impl Size {
    /// The size with one more member and the comma before it.
    fn with_member(self, member: &Self) -> Self {
        Self { chars: self.chars + member.chars + 1, bytes: self.bytes + member.bytes + 1 }
    }

    fn fits(self, limit: usize) -> bool {
        self.chars <= limit && self.bytes <= limits::REPLY_BYTES
    }
}

/// Counts the characters and bytes that are written, and discards them.
impl Write for Size {
    fn write(&mut self, json: &[u8]) -> std::io::Result<usize> {
        self.bytes += json.len();
        // In UTF-8 only continuation bytes are 10xxxxxx.
        self.chars += json.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        Ok(json.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn size(value: &impl Serialize) -> Size {
    let mut size = Size::default();
    serde_json::to_writer(&mut size, value).map_or_else(|_| Size::default(), |()| size)
}

/// Returns the first non-blank line, cut at a grapheme boundary to at most
/// [`limits::PREVIEW_CHARS`] characters.
pub fn preview(content: &str) -> String {
    let line = content.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut left = limits::PREVIEW_CHARS;
    let mut end = 0;
    for (start, grapheme) in line.grapheme_indices(true) {
        let size = grapheme.chars().count();
        if size > left {
            break;
        }
        left -= size;
        end = start + grapheme.len();
    }
    line[..end].to_owned()
}

/// As [`preview`], for a person: cut between words if it can be, and with `…` where it was cut.
pub fn preview_for_person(content: &str) -> String {
    let start = preview(content);
    let line = content.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if start.len() == line.len() {
        return start;
    }
    // One character makes room for the sign.
    let shorter = start.char_indices().next_back().map_or(0, |(at, _)| at);
    let cut = match start[..shorter].rfind(char::is_whitespace) {
        Some(space) if space >= shorter / 2 => &start[..space],
        _ => &start[..shorter],
    };
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_proto::memory::MemoryType;
    use proptest::prelude::*;

    #[test]
    fn a_person_sees_where_a_text_was_cut() {
        let long = "The kiln by the north door was repaired in spring. ".repeat(10);
        let shown = preview_for_person(&long);
        assert!(shown.chars().count() <= limits::PREVIEW_CHARS, "{shown}");
        let cut = shown.strip_suffix('…').expect("says that it was cut");
        assert!(long.starts_with(cut) && long[cut.len()..].starts_with(' '), "{shown}");
        let word = "x".repeat(2 * limits::PREVIEW_CHARS);
        assert_eq!(preview_for_person(&word).chars().count(), limits::PREVIEW_CHARS);
        assert_eq!(preview_for_person("\n  A short one. \nmore"), "A short one.");
    }

    fn result(number: u128, content: &str) -> RecalledMemory {
        RecalledMemory {
            id: MemoryId::from(uuid::Uuid::from_u128(number)),
            kind: Some(MemoryType::Semantic),
            preview: None,
            content: Some(content.to_owned()),
            confidence: None,
            score: Some(0.5),
            created_at: None,
            metadata: None,
            status: None,
            rejected: None,
            tried: Vec::new(),
            matched: None,
            stale: None,
            superseded_by: None,
            older_version_of: None,
            sources: Vec::new(),
            relations: Vec::new(),
            also: Vec::new(),
            group: None,
            by: None,
            flagged: Vec::new(),
            event_date_derived: None,
            faded: false,
            outdated: None,
            why: None,
        }
    }

    fn fitted(contents: &[&str], budget: usize) -> RecallReply {
        let mut reply = RecallReply::default();
        let results =
            contents.iter().enumerate().map(|(i, content)| result(i as u128, content)).collect();
        fit(&mut reply, results, budget);
        reply
    }

    #[test]
    fn results_are_added_in_order_until_the_first_that_does_not_fit() {
        let long = "x".repeat(4000);
        let reply = fitted(&["short", &long, "short too"], 200);
        assert_eq!((reply.results.len(), reply.omitted.len()), (1, 2));
        assert!(!reply.token_budget_too_small);
    }

    #[test]
    fn the_digits_of_the_estimate_are_counted_too() {
        let contents = [190, 505, 225, 272, 440, 591].map(|length| "ż".repeat(length));
        let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
        assert!((500..900).all(|budget| fitted(&contents, budget).token_estimate <= budget));
    }

    #[test]
    fn the_budget_counts_characters_and_not_bytes() {
        let (ascii, japanese) =
            (fitted(&["x".repeat(400).as_str()], 4000), fitted(&["記".repeat(400).as_str()], 4000));
        assert_eq!(ascii.token_estimate, japanese.token_estimate);
    }

    #[test]
    fn a_budget_of_zero_returns_nothing_and_says_so() {
        for budget in [0, 1] {
            let reply = fitted(&["short"], budget);
            assert!(
                reply.results.is_empty()
                    && reply.token_budget_too_small
                    && reply.omitted_count == 1
            );
        }
        assert!(
            !fitted(&[], 0).token_budget_too_small,
            "nothing was found, so nothing was left out"
        );
    }

    #[test]
    fn a_preview_is_one_line_and_never_cuts_a_grapheme() {
        assert_eq!(preview("\n  first line \nsecond"), "first line");
        let flags = "🇵🇱".repeat(60);
        let cut = preview(&flags);
        assert_eq!(cut.chars().count(), 80);
        assert_eq!(cut, "🇵🇱".repeat(40));
        assert!(
            preview(&format!("{}🇵🇱", "x".repeat(79))).ends_with('x'),
            "half a flag would be left"
        );
    }

    proptest! {
        #[test]
        fn a_reply_never_exceeds_its_budget(lengths in prop::collection::vec(0_usize..600, 0..12), budget in 40_usize..2000) {
            let contents: Vec<String> = lengths.iter().map(|n| "ż".repeat(*n)).collect();
            let reply = fitted(&contents.iter().map(String::as_str).collect::<Vec<_>>(), budget);
            prop_assert!(reply.token_estimate <= budget, "{} > {budget}", reply.token_estimate);
            let json = serde_json::to_string(&reply).expect("a reply is valid JSON");
            prop_assert_eq!(reply.token_estimate, json.chars().count().div_ceil(CHARS_PER_TOKEN));
            prop_assert_eq!((size(&reply).chars, size(&reply).bytes), (json.chars().count(), json.len()));
            prop_assert_eq!(reply.results.len() + reply.omitted_count, contents.len());
            prop_assert!(reply.omitted.len() <= reply.omitted_count);
        }
    }
}
