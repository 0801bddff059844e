//! Recording of the amount that each scoring step adds, for `explain`.
//!
//! The formulas are generic over [`ScoreRecorder`]: a plain search passes [`NoRecord`], which
//! compiles to nothing, and an explained one passes [`StepRecord`]. Both run the same code. Not
//! here: the wording of an explanation (`search::explain`).

/// One step of the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The cosine of the vectors.
    Cosine,
    /// The keyword score.
    Bm25,
    /// The match of the query terms with the tokens.
    Words,
    /// The boost for a day near a time that the query refers to.
    Date,
    /// The boost for the speaker whom the query names.
    Person,
    /// The further boost if this speaker uses the first person.
    FirstPerson,
    /// The boost for the kind of content that the query asks for.
    Expect,
    /// The share of the score of a preceding question.
    Answer,
    /// The share of the score of the better direct neighbour.
    Next,
    /// The share of the best scores in the window.
    Window,
    /// The penalty of a memory that is a question.
    Question,
    /// The age.
    Recency,
}

impl Step {
    /// Every step, in the order in which an explanation lists them.
    pub const ALL: [Self; 12] = [
        Self::Cosine,
        Self::Bm25,
        Self::Words,
        Self::Date,
        Self::Person,
        Self::FirstPerson,
        Self::Expect,
        Self::Answer,
        Self::Next,
        Self::Window,
        Self::Question,
        Self::Recency,
    ];

    /// The name of the step in the reply of an explained recall.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cosine => "cosine",
            Self::Bm25 => "bm25",
            Self::Words => "words",
            Self::Date => "date",
            Self::Person => "person",
            Self::FirstPerson => "first_person",
            Self::Expect => "expect",
            Self::Answer => "answer",
            Self::Next => "next",
            Self::Window => "window",
            Self::Question => "question",
            Self::Recency => "recency",
        }
    }
}

/// Receives the amount that each step adds to the score of each memory.
pub trait ScoreRecorder {
    /// Adds `amount` to the total of a step for the memory at position `at` of the scored list.
    fn record(&mut self, at: usize, step: Step, amount: f64);
}

/// Records nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NoRecord;

impl ScoreRecorder for NoRecord {
    #[inline(always)]
    fn record(&mut self, _: usize, _: Step, _: f64) {}
}

/// The amount that each of [`Step::ALL`] added to one score, in that order.
pub(crate) type StepAmounts = [f64; Step::ALL.len()];

/// The amounts that each step added, one row per scored memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct StepRecord {
    rows: Vec<StepAmounts>,
}

impl StepRecord {
    /// The rows recorded for the first `count` memories; a memory for which nothing was recorded
    /// has zeros.
    pub(crate) fn into_rows(mut self, count: usize) -> Vec<StepAmounts> {
        self.rows.resize(count, StepAmounts::default());
        self.rows
    }
}

impl ScoreRecorder for StepRecord {
    fn record(&mut self, at: usize, step: Step, amount: f64) {
        if self.rows.len() <= at {
            self.rows.resize(at + 1, StepAmounts::default());
        }
        self.rows[at][step as usize] += amount;
    }
}
