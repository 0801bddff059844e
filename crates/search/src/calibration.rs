//! What depends on how an embedding model spreads its cosines: a row for each model whose files are
//! pinned.
//!
//! The constants are fitted by `bench/fit_judge.py` over whole persons and conversations of the test
//! sets. Another model has those of the default. Not here: the formulas (`ranking`, `judge`), running
//! a model (the daemon).

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
    /// What a memory of a preferred project gains.
    pub preferred: f64,
    /// The weights of the evidence that a page answers, in its order, and the constant.
    pub evidence: ([f64; 8], f64),
}

/// All of them; the first is the default.
static CALIBRATIONS: [Calibration; 2] = [
    Calibration {
        model: "all-MiniLM-L6-v2",
        cosine_weight: 0.4,
        match_cosine: 0.25,
        version_cosine: 0.45,
        preferred: 0.3813,
        evidence: ([2.8649, 2.5312, -0.6155, 0.9053, -3.0832, -2.5034, -0.9401, -3.0276], -1.3132),
    },
    Calibration {
        model: "multilingual-e5-small-q4",
        cosine_weight: 0.8,
        match_cosine: 0.12,
        version_cosine: 0.38,
        preferred: 0.3813,
        evidence: ([2.8649, 2.5312, -0.6155, 0.9053, -3.0832, -2.5034, -0.9401, -3.0276], -1.3132),
    },
];

/// The largest weight of a cosine.
pub(crate) const MAX_COSINE_WEIGHT: f64 = 0.8;

impl Calibration {
    /// Returns the constants of a model.
    pub fn of(model: &str) -> &'static Self {
        CALIBRATIONS.iter().find(|row| row.model == model).unwrap_or(&CALIBRATIONS[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_its_constants_and_another_those_of_the_default() {
        for row in &CALIBRATIONS {
            assert_eq!(Calibration::of(row.model), row);
            assert!(row.cosine_weight <= MAX_COSINE_WEIGHT);
        }
        assert_eq!(Calibration::of("custom-0"), &CALIBRATIONS[0]);
    }
}
