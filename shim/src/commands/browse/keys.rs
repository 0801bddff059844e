//! What each key does.

use crate::commands::browse::detail::Detail;
use crate::commands::browse::filters::Filters;
use crate::commands::browse::picker::{Choice, Picker};
use crate::commands::browse::state::{Change, Focus, Popup, State};
use crate::output::{Ink, escape_line};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use loci_proto::memory::MemoryId;

/// Longest query in characters.
const MAX_QUERY: usize = 500;

/// What has to be done after a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Load the first page.
    Load,
    /// Show the selected memory.
    Show(MemoryId),
    /// List the projects, then let one be chosen.
    PickProject,
    /// Find what an undo would undo, then ask.
    AskUndo,
    /// Make a change.
    Change(Change),
    /// Edit the text of the memory that is shown.
    Edit,
    /// Draw everything again.
    Redraw,
    /// End.
    Quit,
}

/// The keys, as the help shows them.
pub const HELP: &[(&str, &str)] = &[
    ("letters", "search as you type, also at the beginning; Enter or Esc leaves the query"),
    ("/", "back to the query"),
    ("↑ ↓ j k PgUp PgDn g G", "move"),
    ("Enter →", "read the memory; ↑ ↓ select a relation or version, Enter follows it"),
    ("Backspace ←", "back to the memory before, then to the list"),
    ("t  p  c", "filter by type, project, client"),
    ("a  o", "filter by status, choose the order"),
    ("0", "remove all filters and the query"),
    ("e", "edit the text in $EDITOR"),
    ("i", "pin, or unpin"),
    ("d  r", "forget, restore"),
    ("y  n", "accept, reject a candidate"),
    ("u", "undo the last act"),
    ("Ctrl-R  Ctrl-L", "load again, draw again"),
    ("q  Ctrl-C", "quit"),
];

impl State {
    /// Handles a key.
    pub fn press(&mut self, key: KeyEvent) -> Vec<Effect> {
        let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c' | 'd') if with_control => return vec![Effect::Quit],
            KeyCode::Char('l') if with_control => return vec![Effect::Redraw],
            KeyCode::Char('r') if with_control => return self.reload(),
            _ => {}
        }
        self.message = None;
        if let Some(popup) = self.popup.take() {
            return self.press_in_popup(popup, key);
        }
        match self.focus {
            Focus::Search => self.press_in_search(key),
            Focus::List => self.press_in_list(key.code),
            Focus::Detail => self.press_in_detail(key.code),
        }
    }

    /// Takes pasted text as a part of the query.
    pub fn paste(&mut self, text: &str) -> Vec<Effect> {
        if self.popup.is_some() || self.focus != Focus::Search {
            return Vec::new();
        }
        let room = MAX_QUERY.saturating_sub(self.filters.query.chars().count());
        let pasted = text.chars().map(|c| if c.is_control() { ' ' } else { c });
        self.filters.query.extend(pasted.take(room));
        self.reload()
    }

    fn reload(&mut self) -> Vec<Effect> {
        self.forget_total();
        vec![Effect::Load]
    }

    fn show_selected(&self) -> Vec<Effect> {
        self.selected_memory().map(|memory| Effect::Show(memory.id.clone())).into_iter().collect()
    }

    fn press_in_search(&mut self, key: KeyEvent) -> Vec<Effect> {
        let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let query = &mut self.filters.query;
        match key.code {
            KeyCode::Enter | KeyCode::Esc | KeyCode::Tab => {
                self.focus = Focus::List;
                return Vec::new();
            }
            KeyCode::Up => return self.moved(-1),
            KeyCode::Down => return self.moved(1),
            KeyCode::Backspace if query.pop().is_some() => {}
            KeyCode::Char('u') if with_control => query.clear(),
            KeyCode::Char('w') if with_control => {
                let kept = query.trim_end().rfind(' ').map_or(0, |at| at + 1);
                query.truncate(kept);
            }
            KeyCode::Char(c) if !with_control && query.chars().count() < MAX_QUERY => query.push(c),
            _ => return Vec::new(),
        }
        self.reload()
    }

    fn moved(&mut self, rows: isize) -> Vec<Effect> {
        if self.move_by(rows) { self.show_selected() } else { Vec::new() }
    }

    fn press_in_list(&mut self, code: KeyCode) -> Vec<Effect> {
        let page = isize::try_from(self.visible.saturating_sub(1)).unwrap_or(1).max(1);
        match code {
            KeyCode::Up | KeyCode::Char('k') => self.moved(-1),
            KeyCode::Down | KeyCode::Char('j') => self.moved(1),
            KeyCode::PageUp => self.moved(-page),
            KeyCode::PageDown | KeyCode::Char(' ') => self.moved(page),
            KeyCode::Home | KeyCode::Char('g') => self.moved(isize::MIN / 2),
            KeyCode::End | KeyCode::Char('G') => self.moved(isize::MAX / 2),
            KeyCode::Enter | KeyCode::Right | KeyCode::Tab if !self.rows.is_empty() => {
                self.focus = Focus::Detail;
                Vec::new()
            }
            KeyCode::Esc if !self.filters.query.is_empty() => {
                self.filters.query.clear();
                self.reload()
            }
            code => self.press_command(code),
        }
    }

    fn press_in_detail(&mut self, code: KeyCode) -> Vec<Effect> {
        let page = self.visible.saturating_sub(1).max(1);
        let Some(detail) = &mut self.detail else {
            self.focus = Focus::List;
            return Vec::new();
        };
        match code {
            KeyCode::Down | KeyCode::Char('j') => {
                if !detail.move_lead(true) {
                    detail.scroll += 1;
                }
            }
            KeyCode::Up | KeyCode::Char('k') => {
                if !detail.move_lead(false) {
                    detail.scroll = detail.scroll.saturating_sub(1);
                }
            }
            KeyCode::PageDown | KeyCode::Char(' ') => detail.scroll += page,
            KeyCode::PageUp => detail.scroll = detail.scroll.saturating_sub(page),
            KeyCode::Home | KeyCode::Char('g') => detail.scroll = 0,
            KeyCode::Enter | KeyCode::Right => {
                let Some(target) = detail.selected_lead().map(|lead| lead.id.clone()) else {
                    return Vec::new();
                };
                if target == *detail.id() {
                    return Vec::new();
                }
                self.trail.push(detail.id().clone());
                return vec![Effect::Show(target)];
            }
            KeyCode::Esc | KeyCode::Left | KeyCode::Backspace | KeyCode::Tab => {
                return self.back(code == KeyCode::Esc || code == KeyCode::Tab);
            }
            code => return self.press_command(code),
        }
        Vec::new()
    }

    /// Goes back to the memory before, or to the list.
    fn back(&mut self, to_list: bool) -> Vec<Effect> {
        if let (Some(earlier), false) = (self.trail.pop(), to_list) {
            return vec![Effect::Show(earlier)];
        }
        let had_followed =
            self.detail.as_ref().map(Detail::id) != self.selected_memory().map(|memory| &memory.id);
        self.trail.clear();
        self.focus = Focus::List;
        if had_followed { self.show_selected() } else { Vec::new() }
    }

    fn press_command(&mut self, code: KeyCode) -> Vec<Effect> {
        match code {
            KeyCode::Char('q') => return vec![Effect::Quit],
            KeyCode::Char('/') => self.focus = Focus::Search,
            KeyCode::Char('?') | KeyCode::F(1) => self.popup = Some(Popup::Help),
            KeyCode::Char('t') => return self.filtered(|state| state.filters.next_kind()),
            KeyCode::Char('a') => return self.filtered(|state| state.filters.next_status()),
            KeyCode::Char('o') => return self.filtered(|state| state.filters.next_order()),
            KeyCode::Char('0') => {
                return self.filtered(|state| state.filters = Filters::default());
            }
            KeyCode::Char('p') => return vec![Effect::PickProject],
            KeyCode::Char('c') => self.popup = Some(Popup::Picker(self.clients())),
            KeyCode::Char('u') => return vec![Effect::AskUndo],
            KeyCode::Char('e') if self.detail.is_some() => return vec![Effect::Edit],
            KeyCode::Char('i') => return self.change(|id, pinned| Change::Pin(id, !pinned)),
            KeyCode::Char('r') => return self.change(|id, _| Change::Restore(id)),
            KeyCode::Char('y') => return self.decide(Change::Accept),
            KeyCode::Char('n') => return self.decide(Change::Reject),
            KeyCode::Char('d') | KeyCode::Delete => self.ask_to_forget(),
            _ => {}
        }
        Vec::new()
    }

    fn filtered(&mut self, change: impl FnOnce(&mut Self)) -> Vec<Effect> {
        change(self);
        (self.selected, self.offset) = (0, 0);
        self.trail.clear();
        self.focus = Focus::List;
        self.reload()
    }

    /// Returns the id of the memory that keys act on, whether it is pinned, and its text.
    fn target(&self) -> Option<(MemoryId, bool, String)> {
        if self.focus == Focus::Detail
            && let Some(detail) = &self.detail
        {
            let memory = detail.memory();
            return Some((memory.id.clone(), memory.pinned, memory.content.clone()));
        }
        let memory = self.selected_memory()?;
        Some((memory.id.clone(), memory.pinned, memory.preview.clone()))
    }

    fn change(&self, change: impl FnOnce(MemoryId, bool) -> Change) -> Vec<Effect> {
        let target = self.target().map(|(id, pinned, _)| Effect::Change(change(id, pinned)));
        target.into_iter().collect()
    }

    /// Makes a change of a candidate; another memory stays as it is.
    fn decide(&mut self, change: impl FnOnce(MemoryId) -> Change) -> Vec<Effect> {
        let shown = self.detail.as_ref().filter(|_| self.focus == Focus::Detail);
        let status = match shown {
            Some(detail) => Some(detail.memory().status.clone()),
            None => self.selected_memory().map(|memory| memory.status.clone()),
        };
        match status.as_deref() {
            Some("candidate") => self.change(|id, _| change(id)),
            Some(_) => {
                let text = "This is no candidate; a shows the candidates";
                self.say(text, Ink::Dim);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn ask_to_forget(&mut self) {
        if let Some((id, _, text)) = self.target() {
            let start: String = escape_line(&text).chars().take(60).collect();
            self.popup = Some(Popup::Confirm(format!("Forget “{start}”?"), Change::Forget(id)));
        }
    }

    /// Returns the clients of the loaded rows as a choice.
    fn clients(&self) -> Picker {
        let mut names: Vec<String> = self
            .rows
            .iter()
            .filter_map(|row| row.memory.provenance.client.as_deref())
            .map(|client| client.rsplit_once(' ').map_or(client, |(name, _)| name))
            .map(str::to_owned)
            .chain(["person", "import", "maintenance"].map(str::to_owned))
            .collect();
        names.sort();
        names.dedup();
        let all = ("all clients".to_owned(), Choice::Client(None));
        let of_name =
            names.into_iter().map(|name| (escape_line(&name), Choice::Client(Some(name))));
        Picker::new("Client", std::iter::once(all).chain(of_name).collect())
    }

    fn press_in_popup(&mut self, popup: Popup, key: KeyEvent) -> Vec<Effect> {
        match popup {
            Popup::Help => Vec::new(),
            Popup::Confirm(question, change) => match key.code {
                KeyCode::Char('y' | 'Y') => vec![Effect::Change(change)],
                KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc | KeyCode::Enter => {
                    self.say("Nothing was changed", Ink::Dim);
                    Vec::new()
                }
                _ => {
                    self.popup = Some(Popup::Confirm(question, change));
                    Vec::new()
                }
            },
            Popup::Picker(picker) => self.press_in_picker(picker, key.code),
        }
    }

    fn press_in_picker(&mut self, mut picker: Picker, code: KeyCode) -> Vec<Effect> {
        match code {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Enter => {
                let Some(choice) = picker.choice() else { return Vec::new() };
                return self.filtered(|state| match choice {
                    Choice::Project(project) => state.filters.project = project,
                    Choice::Client(client) => state.filters.client = client,
                });
            }
            KeyCode::Up => picker.move_by(-1),
            KeyCode::Down => picker.move_by(1),
            KeyCode::Backspace => picker.edit(|typed| {
                typed.pop();
            }),
            KeyCode::Char(c) => picker.edit(|typed| typed.push(c)),
            _ => {}
        }
        self.popup = Some(Popup::Picker(picker));
        Vec::new()
    }
}
