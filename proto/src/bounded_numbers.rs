//! Integer arguments with bounds: parsing refuses a value out of bounds with an error that names the bounds.

use crate::limits;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// Declares a newtype of a whole number with a minimum, a maximum and the error message that names both.
macro_rules! bounded_number {
    ($(#[$doc:meta])* $name:ident, $min:expr, $max:expr, $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        pub struct $name(i64);

        impl $name {
            /// Wraps a number within the bounds.
            ///
            /// # Errors
            /// A sentence that names the bounds, for any other number.
            pub fn new(value: i64) -> Result<Self, String> {
                if ($min..=$max).contains(&value) { Ok(Self(value)) } else { Err($expected.to_owned()) }
            }

            /// Returns the number.
            #[must_use]
            pub fn get(self) -> usize {
                usize::try_from(self.0).unwrap_or(usize::MAX)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let value = Value::deserialize(d)?.as_i64().ok_or_else(|| D::Error::custom($expected))?;
                Self::new(value).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool { true }
            fn schema_name() -> Cow<'static, str> { stringify!($name).into() }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                if $max == i64::MAX {
                    json_schema!({"type": "integer", "minimum": $min})
                } else {
                    json_schema!({"type": "integer", "minimum": $min, "maximum": $max})
                }
            }
        }
    };
}

bounded_number!(
    /// Maximum number of results, 1 to 20.
    MaxResults, 1_i64, limits::MAX_RESULTS, "must be a whole number in 1..20"
);
bounded_number!(
    /// Maximum size of a reply in tokens of four characters, 0 or more.
    TokenBudget, 0_i64, i64::MAX, "must be a whole number, 0 or more"
);
bounded_number!(
    /// Lifetime of a memory in seconds, 1 second to 10 years.
    TtlSeconds, 1_i64, 315_360_000_i64, "must be a whole number of seconds in 1..315360000"
);
