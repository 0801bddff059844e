//! Parsers of argument values.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use loci_proto::memory::{Confidence, MemoryType, Scope};
use loci_proto::requests::list::ListOrder;
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

/// Parses a duration, for example `90d`, into seconds. Units: s, m, h, d, w and y.
pub(crate) fn parse_duration(text: &str) -> Result<i64, String> {
    let invalid = || {
        format!("{text} is not a duration; write a number and s, m, h, d, w or y, for example 90d")
    };
    let (number, unit) =
        text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        "y" => 365 * 86_400,
        _ => return Err(invalid()),
    };
    let number: u32 = number.parse().ok().filter(|number| *number > 0).ok_or_else(invalid)?;
    Ok(i64::from(number) * seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_needs_a_positive_whole_number_and_a_unit() {
        assert_eq!(
            ["90d", "2h", "1y", "30s"].map(parse_duration),
            [Ok(7_776_000), Ok(7_200), Ok(31_536_000), Ok(30)]
        );
        for invalid in ["", "90", "d", "-1d", "0d", "1.5h", "2 h", "5é", "99999999999d"] {
            assert!(parse_duration(invalid).is_err(), "{invalid}");
        }
    }
}
