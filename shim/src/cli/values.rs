//! Parsers of argument values.

use crate::output::local_time;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use loci_proto::memory::{Confidence, MemoryType, Scope};
use loci_proto::requests::list::ListOrder;
use loci_proto::when::{self, When};
use serde_json::{Map, Value};

/// Returns a parser of the names of memory types.
pub(crate) fn memory_type_parser() -> impl TypedValueParser<Value = MemoryType> {
    PossibleValuesParser::new(MemoryType::ALL.iter().map(|kind| kind.as_str()))
        .try_map(|name| name.parse::<MemoryType>())
}

/// Returns a parser of the orders of a list.
pub(crate) fn list_order_parser() -> impl TypedValueParser<Value = ListOrder> {
    PossibleValuesParser::new(ListOrder::ALL.map(|(name, _)| name)).try_map(|name| {
        let found = ListOrder::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, order)| order).ok_or("is not an order")
    })
}

/// Returns a parser of the names of scopes.
pub(crate) fn scope_parser() -> impl TypedValueParser<Value = Scope> {
    PossibleValuesParser::new(Scope::ALL.iter().map(|scope| scope.as_str()))
        .try_map(|name| name.parse::<Scope>())
}

/// Parses a number from 0 to 1.
pub(crate) fn parse_confidence(text: &str) -> Result<Confidence, String> {
    Confidence::new(text.parse().unwrap_or(f64::NAN))
}

/// Parses the number of an act.
pub(crate) fn parse_act(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "is not the number of an act; loci history lists them".to_owned())
}

/// Parses a JSON object.
pub(crate) fn parse_object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("must be a JSON object: {error}"))
}

/// Parses a span of time, for example `90d`, into seconds. Units: s, m, h, d, w and y.
pub(crate) fn parse_span(text: &str) -> Result<i64, String> {
    let invalid = || {
        format!(
            "{text} is not a span of time; write a number and s, m, h, d, w or y, for example 90d"
        )
    };
    when::span(text).map(|milliseconds| milliseconds / 1000).ok_or_else(invalid)
}

/// Parses a time of the past, for example `yesterday` (its beginning), into the seconds since then.
pub(crate) fn parse_past(text: &str) -> Result<i64, String> {
    let at =
        When::parse(text).ok_or_else(|| format!("{text} is not a time; write {}", when::FORMS))?;
    let clock = local_time::now();
    let passed = clock.now.saturating_sub(at.start(clock));
    if passed < 0 {
        Err(format!("{text} is in the future"))
    } else {
        Ok(passed.saturating_add(999) / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_needs_a_positive_whole_number_and_a_unit() {
        assert_eq!(
            ["90d", "2h", "1y", "30s"].map(parse_span),
            [Ok(7_776_000), Ok(7_200), Ok(31_536_000), Ok(30)]
        );
        for invalid in ["", "90", "yesterday", "2026-01-01"] {
            assert!(parse_span(invalid).is_err(), "{invalid}");
        }
    }
    #[test]
    fn a_time_of_the_past_is_a_day_a_time_or_a_span() {
        assert_eq!(["90d", "2h", "now"].map(parse_past), [Ok(7_776_000), Ok(7_200), Ok(0)]);
        let ago = |text| parse_past(text).expect(text);
        assert!((0..=90_000).contains(&ago("today")) && ago("yesterday") - ago("today") > 79_000);
        assert!(
            ago("2020-02-03") < ago("2020-02-02T00:00:00Z"),
            "the time zone is less than a day"
        );
        for invalid in ["", "90", "soon", "9998-01-01"] {
            assert!(parse_past(invalid).is_err(), "{invalid}");
        }
    }
}
