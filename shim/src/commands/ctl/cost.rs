//! `loci ctl cost`: prints what was sent to an embedding API, by day, and what it costs.

use crate::client::admin;
use crate::client::admin::RequestError;
use crate::client::unreachable::Unreachable;
use crate::output::{Problem, escape_line, print_line, table};
use loci_proto::cost::{CostDay, CostReply};
use loci_proto::paths::Paths;

/// Number of days that the table shows; `--json` has all.
const SHOWN_DAYS: usize = 14;

/// Prints the counters; never starts a daemon.
///
/// # Errors
/// `Absent` when none runs; the counters cannot be read.
pub async fn run(paths: &Paths, json: bool) -> Result<(), Problem> {
    let answer = admin::get(paths, "/cost").await?;
    if json {
        return print_line(String::from_utf8_lossy(&answer));
    }
    let reply: CostReply = serde_json::from_slice(&answer).map_err(|error| {
        RequestError::from(Unreachable::Broken(format!("its reply cannot be parsed: {error}")))
    })?;
    print_line(cost_text(&reply))
}

fn cost_text(reply: &CostReply) -> String {
    let mut lines = vec![match (&reply.host, reply.daily_tokens) {
        (Some(host), Some(limit)) => {
            format!("Texts are sent to {}, at most {limit} tokens a day", escape_line(host))
        }
        _ => "Texts are encoded on this machine; nothing is sent".to_owned(),
    }];
    if reply.is_limited {
        lines
            .push("The limit of today is reached; searches use keywords until tomorrow".to_owned());
    }
    lines.extend(reply.alerts.iter().map(|alert| format!("Warning: {}", escape_line(alert))));
    if reply.days.is_empty() {
        lines.push("Nothing was sent so far".to_owned());
        return lines.join("\n");
    }
    let heading = ["DAY", "CALLS", "FAILED", "TEXTS", "TOKENS", "COST"].map(str::to_owned);
    let rows: Vec<[String; 6]> =
        std::iter::once(heading).chain(reply.days.iter().take(SHOWN_DAYS).map(row)).collect();
    lines.push(String::new());
    lines.push(table(&rows).trim_end().to_owned());
    if reply.price.is_none() {
        lines.push("\nSet embedding.price to see what it costs".to_owned());
    }
    lines.join("\n")
}

fn row(day: &CostDay) -> [String; 6] {
    let cost = day.cost.map_or_else(|| "-".to_owned(), |cost| format!("{cost:.4}"));
    let [calls, failed, texts, tokens] =
        [day.calls, day.failed, day.texts, day.tokens].map(|number| number.to_string());
    [escape_line(&day.day), calls, failed, texts, tokens, cost]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_day_and_the_warnings() {
        let day = |day: &str, tokens, cost| CostDay {
            day: day.to_owned(),
            calls: 3,
            failed: 1,
            texts: 40,
            tokens,
            cost,
        };
        let mut reply = CostReply {
            provider: "openai".to_owned(),
            host: Some("api.openai.com".to_owned()),
            daily_tokens: Some(1000),
            price: Some(0.02),
            is_limited: true,
            alerts: vec!["900 of 1000 tokens".to_owned()],
            days: vec![day("2026-03-02", 900, Some(0.000_018)), day("2026-03-01", 12, Some(0.0))],
        };
        let expected = "\
Texts are sent to api.openai.com, at most 1000 tokens a day
The limit of today is reached; searches use keywords until tomorrow
Warning: 900 of 1000 tokens

  DAY         CALLS  FAILED  TEXTS  TOKENS    COST
  2026-03-02      3       1     40     900  0.0000
  2026-03-01      3       1     40      12  0.0000";
        assert_eq!(cost_text(&reply), expected);
        reply =
            CostReply { host: None, daily_tokens: None, price: None, is_limited: false, ..reply };
        (reply.alerts, reply.days) = (Vec::new(), Vec::new());
        assert_eq!(
            cost_text(&reply),
            "Texts are encoded on this machine; nothing is sent\nNothing was sent so far"
        );
    }
}
