//! Parsers of argument values.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use loci_proto::memory::{Confidence, MemoryType, Scope};
use serde_json::{Map, Value};

/// Accepts the name of a memory type.
pub(crate) fn memory_types() -> impl TypedValueParser<Value = MemoryType> {
    PossibleValuesParser::new(MemoryType::ALL.iter().map(|kind| kind.as_str()))
        .try_map(|word| word.parse::<MemoryType>())
}

/// Accepts the name of a scope.
pub(crate) fn scopes() -> impl TypedValueParser<Value = Scope> {
    PossibleValuesParser::new(Scope::ALL.iter().map(|scope| scope.as_str()))
        .try_map(|word| word.parse::<Scope>())
}

/// Parses a number from 0 to 1.
pub(crate) fn confidence(text: &str) -> Result<Confidence, String> {
    Confidence::new(text.parse().unwrap_or(f64::NAN))
}

/// Parses a JSON object.
pub(crate) fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("must be a JSON object: {error}"))
}

/// Parses a duration, a number and s, m, h, d, w or y, into seconds.
pub(crate) fn duration(text: &str) -> Result<i64, String> {
    let wrong = || {
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
        _ => return Err(wrong()),
    };
    let number: u32 = number.parse().ok().filter(|number| *number > 0).ok_or_else(wrong)?;
    Ok(i64::from(number) * seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_unit() {
        assert_eq!(
            ["90d", "2h", "1y", "30s"].map(duration),
            [Ok(7_776_000), Ok(7_200), Ok(31_536_000), Ok(30)]
        );
        for wrong in ["", "90", "d", "-1d", "0d", "1.5h", "2 h", "5é", "99999999999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
