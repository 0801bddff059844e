//! What `loci browse` shows, and how replies change it. Nothing here draws or asks the daemon.

use crate::commands::browse::detail::Detail;
use crate::commands::browse::filters::Filters;
use crate::commands::browse::picker::Picker;
use crate::output::Ink;
use loci_proto::memory::MemoryId;
use loci_proto::requests::list::ListedMemory;

/// A row of the list.
#[derive(Debug, Clone)]
pub struct Row {
    /// The memory.
    pub memory: ListedMemory,
    /// How well it fits, compared with the best; absent without a query, or if it only contains the words.
    pub share: Option<f64>,
}

/// A part of the list.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Its rows.
    pub rows: Vec<Row>,
    /// `before` of the next page.
    pub next: Option<i64>,
    /// What a person should know, a degraded search for example.
    pub note: Option<String>,
}

/// Where keys go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The query.
    Search,
    /// The list.
    List,
    /// The memory.
    Detail,
}

/// A change that a person asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Pins or unpins.
    Pin(MemoryId, bool),
    /// Forgets.
    Forget(MemoryId),
    /// Makes it active again.
    Restore(MemoryId),
    /// Confirms a candidate.
    Accept(MemoryId),
    /// Forgets a candidate.
    Reject(MemoryId),
    /// Replaces the text.
    SetText(MemoryId, String),
    /// Undoes these acts.
    Undo(Vec<i64>),
}

/// What lies above the list.
#[derive(Debug, Clone)]
pub enum Popup {
    /// All keys.
    Help,
    /// A choice.
    Picker(Picker),
    /// A question, and what a yes does.
    Confirm(String, Change),
}

/// A sentence at the bottom.
#[derive(Debug, Clone)]
pub struct Message {
    /// The sentence.
    pub text: String,
    /// Its colour.
    pub ink: Ink,
}

/// Everything that is shown.
#[derive(Debug)]
pub struct State {
    /// What is listed.
    pub filters: Filters,
    /// Where keys go.
    pub focus: Focus,
    /// What lies above.
    pub popup: Option<Popup>,
    /// The rows that are loaded: the first ones of the list.
    pub rows: Vec<Row>,
    /// `before` of the next page; `None` if all are loaded.
    pub next: Option<i64>,
    /// How many there are; unknown while they are counted.
    pub total: Option<usize>,
    /// Raised whenever the list becomes another one: a count of an earlier list is dropped.
    pub list_version: u64,
    /// Whether rows are being loaded.
    pub loading: bool,
    /// Index of the selected row.
    pub selected: usize,
    /// Index of the first visible row.
    pub offset: usize,
    /// Number of visible rows, as last drawn.
    pub visible: usize,
    /// The memory that is shown.
    pub detail: Option<Detail>,
    /// The memories from which relations were followed.
    pub trail: Vec<MemoryId>,
    /// What a person should know about the rows.
    pub note: Option<String>,
    /// The sentence at the bottom.
    pub message: Option<Message>,
    /// Why the daemon cannot be reached, while it cannot.
    pub lost: Option<String>,
}

impl State {
    /// Starts with a query and a project.
    #[must_use]
    pub fn new(filters: Filters) -> Self {
        Self {
            filters,
            focus: Focus::Search,
            popup: None,
            rows: Vec::new(),
            next: None,
            total: None,
            list_version: 0,
            loading: true,
            selected: 0,
            offset: 0,
            visible: 1,
            detail: None,
            trail: Vec::new(),
            note: None,
            message: None,
            lost: None,
        }
    }

    /// Returns the selected memory of the list.
    #[must_use]
    pub fn selected_memory(&self) -> Option<&ListedMemory> {
        self.rows.get(self.selected).map(|row| &row.memory)
    }

    /// Returns the id of the memory that is shown, or will be.
    #[must_use]
    pub fn shown_id(&self) -> Option<MemoryId> {
        match &self.detail {
            Some(detail) if !self.trail.is_empty() => Some(detail.id().clone()),
            _ => self.selected_memory().map(|memory| memory.id.clone()),
        }
    }

    /// Selects another row; returns whether another memory is selected.
    pub fn select(&mut self, index: usize) -> bool {
        let index = index.min(self.rows.len().saturating_sub(1));
        self.trail.clear();
        std::mem::replace(&mut self.selected, index) != index
    }

    /// Moves the selection by rows.
    pub fn move_by(&mut self, rows: isize) -> bool {
        self.select(self.selected.saturating_add_signed(rows))
    }

    /// The list becomes another one: how many it has is not known any more.
    pub fn forget_total(&mut self) {
        self.total = None;
        self.list_version += 1;
    }

    /// Returns whether what is listed should be counted. The results of a query are not.
    #[must_use]
    pub fn needs_total(&self) -> bool {
        self.total.is_none() && self.filters.query.trim().is_empty()
    }

    /// Returns whether the next page should be loaded: less than two screens are left.
    #[must_use]
    pub fn needs_more(&self) -> bool {
        self.next.is_some() && !self.loading && self.selected + 2 * self.visible >= self.rows.len()
    }

    /// Shows the first page; the selection stays on its memory if that is still listed.
    pub fn replace(&mut self, page: Page) {
        let earlier = self.selected_memory().map(|memory| memory.id.clone());
        let keeps = |row: &Row| earlier.as_ref() == Some(&row.memory.id);
        self.selected = page.rows.iter().position(keeps).unwrap_or_else(|| {
            // After a change the row that follows the vanished one is selected.
            if self.filters.query.is_empty() {
                self.selected.min(page.rows.len().saturating_sub(1))
            } else {
                0
            }
        });
        (self.rows, self.next, self.loading) = (page.rows, page.next, false);
        self.note = page.note;
        if self.rows.is_empty() {
            self.detail = None;
        }
    }

    /// Adds a page at the end.
    pub fn append(&mut self, page: Page) {
        self.loading = false;
        self.next = page.next;
        self.rows.extend(page.rows);
    }

    /// Shows a sentence at the bottom until the next key.
    pub fn say(&mut self, text: impl Into<String>, ink: Ink) {
        self.message = Some(Message { text: text.into(), ink });
    }

    /// Scrolls so that the selected row is visible.
    pub fn scroll_to_selected(&mut self, visible: usize) {
        self.visible = visible.max(1);
        if self.selected < self.offset {
            self.offset = self.selected;
        }
        if self.selected >= self.offset + self.visible {
            self.offset = self.selected + 1 - self.visible;
        }
        self.offset = self.offset.min(self.rows.len().saturating_sub(self.visible));
    }
}
