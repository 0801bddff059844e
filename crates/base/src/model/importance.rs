//! The importance of a memory: how much it differed from what was known when it was stored, raised
//! by use. Pure.
//!
//! Not here: finding the nearest memory (`search::nearest`), what importance changes (`model::decay`,
//! `search::weights`).

use serde::{Deserialize, Serialize};
use std::num::NonZeroU8;

/// The importance of a memory, 0.7 to 1.5, in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Importance(NonZeroU8);

/// The importance of a text that states nothing new, in hundredths.
const LOWEST: u8 = 70;
/// The importance that changes nothing, in hundredths.
const NEUTRAL: u8 = 100;
/// The highest importance, in hundredths.
const HIGHEST: u8 = 150;
/// What a use adds, in hundredths.
const RAISED_BY: u8 = 2;

impl Importance {
    /// The importance that changes nothing.
    pub const NEUTRAL: Self = Self::of_hundredths(NEUTRAL);

    /// The importance of a text that states nothing new.
    pub(crate) const LOWEST: Self = Self::of_hundredths(LOWEST);

    /// Returns the importance of a text whose nearest memory has this cosine: 0.7 for the same text,
    /// 1.5 for an unrelated one. The first memory of a project is neutral.
    pub fn of_nearest(cosine: Option<f32>) -> Self {
        let Some(cosine) = cosine else { return Self::NEUTRAL };
        let surprise = f64::from(1.0 - cosine.clamp(0.0, 1.0));
        let added = surprise * f64::from(HIGHEST - LOWEST);
        Self::nearest_to(f64::from(LOWEST) + added)
    }

    /// Returns the importance after a use.
    #[must_use]
    pub fn raised(self) -> Self {
        Self::of_hundredths(self.0.get().saturating_add(RAISED_BY))
    }

    /// Returns the number, 0.7 to 1.5.
    pub fn get(self) -> f64 {
        f64::from(self.0.get()) / 100.0
    }

    /// Returns the factor at a weight from 0 (always 1) to 1 (the importance itself).
    pub fn factor(importance: Option<Self>, weight: f64) -> f64 {
        1.0 + weight * (importance.map_or(1.0, Self::get) - 1.0)
    }

    /// Returns the byte that [`Importance::from_byte`] reads.
    pub fn byte(importance: Option<Self>) -> u8 {
        importance.map_or(0, |importance| importance.0.get())
    }

    /// Returns the importance of a byte: outer `None` if it is out of range, inner `None` for 0, which is unknown.
    pub fn from_byte(byte: u8) -> Option<Option<Self>> {
        match byte {
            0 => Some(None),
            LOWEST..=HIGHEST => Some(Some(Self::of_hundredths(byte))),
            _ => None,
        }
    }

    /// Returns the importance nearest to a number of hundredths.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is clamped"
    )]
    fn nearest_to(hundredths: f64) -> Self {
        let bounded = hundredths.round().clamp(f64::from(LOWEST), f64::from(HIGHEST));
        Self::of_hundredths(bounded as u8)
    }

    const fn of_hundredths(hundredths: u8) -> Self {
        let bounded = if hundredths < LOWEST {
            LOWEST
        } else if hundredths > HIGHEST {
            HIGHEST
        } else {
            hundredths
        };
        match NonZeroU8::new(bounded) {
            Some(bounded) => Self(bounded),
            None => Self(NonZeroU8::MAX),
        }
    }
}

impl TryFrom<f64> for Importance {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, String> {
        let hundredths = (number * 100.0).round();
        if (f64::from(LOWEST)..=f64::from(HIGHEST)).contains(&hundredths) {
            Ok(Self::nearest_to(hundredths))
        } else {
            Err(format!("importance must be from 0.7 to 1.5, not {number}"))
        }
    }
}

impl From<Importance> for f64 {
    fn from(importance: Importance) -> Self {
        importance.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_more_important_the_less_it_resembles() {
        let of = |cosine| Importance::byte(Some(Importance::of_nearest(Some(cosine))));
        assert_eq!([of(1.0), of(0.625), of(0.0), of(-0.2)], [70, 100, 150, 150]);
        assert_eq!(Importance::of_nearest(None), Importance::NEUTRAL);
    }

    #[test]
    fn uses_raise_it_to_one_and_a_half_and_no_further() {
        let mut importance = Importance::NEUTRAL;
        for _ in 0..25 {
            importance = importance.raised();
        }
        assert_eq!(Importance::byte(Some(importance)), HIGHEST);
        assert_eq!(importance.raised(), importance);
    }

    #[test]
    fn every_value_is_read_back_and_others_are_refused() {
        for byte in 0..=u8::MAX {
            let is_valid = byte == 0 || (LOWEST..=HIGHEST).contains(&byte);
            assert_eq!(Importance::from_byte(byte).is_some(), is_valid);
            if let Some(Some(importance)) = Importance::from_byte(byte) {
                assert_eq!(Importance::byte(Some(importance)), byte);
                assert_eq!(Importance::try_from(importance.get()), Ok(importance));
            }
        }
        assert!(Importance::try_from(f64::NAN).is_err());
        assert!(Importance::try_from(0.69).is_err() && Importance::try_from(1.51).is_err());
    }
}
