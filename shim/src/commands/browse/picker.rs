//! A choice from a list that is narrowed by typing: projects and clients.

use crate::commands::browse::filters::ProjectFilter;

/// What a choice sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The project.
    Project(ProjectFilter),
    /// The client; `None` for all.
    Client(Option<String>),
}

/// A choice in progress.
#[derive(Debug, Clone)]
pub struct Picker {
    /// What is chosen.
    pub title: &'static str,
    /// What was typed.
    pub typed: String,
    /// The names with what they set.
    pub options: Vec<(String, Choice)>,
    /// Index of the selected option among those that match.
    pub selected: usize,
}

impl Picker {
    /// Starts a choice.
    #[must_use]
    pub fn new(title: &'static str, options: Vec<(String, Choice)>) -> Self {
        Self { title, typed: String::new(), options, selected: 0 }
    }

    /// Returns the options that contain what was typed.
    #[must_use]
    pub fn matching(&self) -> Vec<&(String, Choice)> {
        let typed = self.typed.to_lowercase();
        self.options.iter().filter(|(name, _)| name.to_lowercase().contains(&typed)).collect()
    }

    /// Moves the selection.
    pub fn move_by(&mut self, rows: isize) {
        let last = self.matching().len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(rows).min(last);
    }

    /// Changes what was typed.
    pub fn edit(&mut self, change: impl FnOnce(&mut String)) {
        change(&mut self.typed);
        self.selected = 0;
    }

    /// Returns the selected choice; a client may have any name.
    #[must_use]
    pub fn choice(&self) -> Option<Choice> {
        let chosen = self.matching().get(self.selected).map(|(_, choice)| choice.clone());
        let typed = || {
            let is_client = matches!(self.options.first(), Some((_, Choice::Client(_))));
            (is_client && !self.typed.is_empty()).then(|| Choice::Client(Some(self.typed.clone())))
        };
        chosen.or_else(typed)
    }
}
