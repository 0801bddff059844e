//! What depends on how an embedding model spreads its cosines: a row for each model whose files are
//! pinned.
//!
//! docs/retrieval.md ("Models compared") has the measurements. The likelihoods of the judge need no
//! weights of their own: fitted again with the other model they are no better on persons and
//! conversations that were left out. Another model has the constants of the default. Not here: the
//! formulas (`ranking`, `judge`), running a model (the daemon).

/// The constants of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// The id of the model, as in a vector set.
    pub model: &'static str,
    /// Weight of the cosine between query and memory in a score.
    pub cosine_weight: f64,
    /// Cosine from which a memory matches by its vector.
    pub match_cosine: f32,
    /// Cosine from which two texts may state values of one fact.
    pub version_cosine: f32,
}

/// All of them; the first is the default.
const CALIBRATIONS: [Calibration; 2] = [
    Calibration {
        model: "all-MiniLM-L6-v2",
        cosine_weight: 0.4,
        match_cosine: 0.25,
        version_cosine: 0.45,
    },
    Calibration {
        model: "multilingual-e5-small-q4",
        cosine_weight: 0.8,
        match_cosine: 0.12,
        version_cosine: 0.38,
    },
];

/// The largest weight of a cosine in the table.
pub(crate) const MAX_COSINE_WEIGHT: f64 =
    CALIBRATIONS[0].cosine_weight.max(CALIBRATIONS[1].cosine_weight);

impl Calibration {
    /// Returns the constants of a model.
    pub fn of(model: &str) -> &'static Self {
        let rows: &[Self] = &CALIBRATIONS;
        rows.iter().find(|row| row.model == model).unwrap_or(&rows[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_its_constants_and_another_those_of_the_default() {
        for row in CALIBRATIONS {
            assert_eq!(*Calibration::of(row.model), row);
            assert!(row.cosine_weight <= MAX_COSINE_WEIGHT);
        }
        assert_eq!(*Calibration::of("custom-0"), CALIBRATIONS[0]);
    }
}
