//! `loci browse`: the memories in a full-screen terminal: search as you type, filters, reading, changes, relations and versions.
//!
//! This file is the loop: keys and replies change the [`State`], which is drawn when something has changed. Requests run beside it
//! ([`jobs`]), so a slow daemon does not make the screen slow.

mod detail;
mod filters;
mod jobs;
mod keys;
mod picker;
mod state;
mod view;

use crate::cli::memories::Browse;
use crate::client::call::VerbClient;
use crate::commands::input::editor;
use crate::output::{Ink, Problem};
use crate::tui::input::{EndSignals, Input};
use crate::tui::terminal::FullScreen;
use crate::tui::theme::Theme;
use crossterm::event::{Event, KeyEventKind};
use filters::{Filters, ProjectFilter};
use jobs::{Jobs, Kind, Outcome};
use keys::Effect;
use loci_proto::error::Exit;
use loci_proto::memory::MemoryId;
use loci_proto::requests::groups::{GroupEntry, GroupsRequest};
use picker::{Choice, Picker};
use state::{Change, Focus, Popup, State};
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// How often the daemon is asked whether it is there.
const PING_INTERVAL: Duration = Duration::from_secs(1);

/// Shows the memories until the person quits.
///
/// # Errors
/// There is no terminal, or no daemon can be reached at the beginning.
pub async fn run(client: VerbClient, args: Browse) -> Result<ExitCode, Problem> {
    let project = match args.group {
        Some(name) => named_project(&client, name.as_str()).await?,
        None if args.all_groups => ProjectFilter::All,
        None => ProjectFilter::Here,
    };
    let screen = FullScreen::enter("browse", "`loci list` and `loci search` work without one")?;
    let mut signals = EndSignals::catch()?;
    let filters =
        Filters { query: args.query.join(" "), kind: args.kind, project, ..Filters::default() };
    let mut browser = Browser::new(client, screen, filters);
    browser.run(vec![Effect::Load])?;
    loop {
        browser.draw()?;
        let mut ping = Browser::next_ping();
        let effects = tokio::select! {
            event = browser.input.next() => match event {
                Some(event) => browser.handle(event),
                None => return Ok(Exit::Ok.into()),
            },
            Some((kind, outcome)) = browser.outcomes.recv() => browser.apply(kind, outcome),
            code = signals.next() => return Ok(ExitCode::from(code)),
            () = &mut ping => { browser.ping(); Vec::new() }
        };
        if effects.contains(&Effect::Quit) {
            return Ok(Exit::Ok.into());
        }
        browser.run(effects)?;
    }
}

async fn named_project(client: &VerbClient, name: &str) -> Result<ProjectFilter, Problem> {
    use loci_proto::requests::groups::GroupsReply;
    let reply: GroupsReply = client.call(&GroupsRequest::default()).await?;
    let is_named = |group: &&GroupEntry| {
        group.id == name || group.name == name || group.aliases.iter().any(|alias| alias == name)
    };
    let found = reply.groups.iter().find(is_named).ok_or_else(|| {
        Problem::new(format!("group names no project: {name}"))
            .hint("`loci groups list` shows all projects")
    })?;
    Ok(ProjectFilter::Named { id: found.id.clone(), name: found.name.clone() })
}

/// The screen, its state, and the jobs that run.
struct Browser {
    screen: FullScreen,
    input: Input,
    theme: Theme,
    state: State,
    jobs: Jobs,
    outcomes: UnboundedReceiver<(Kind, Outcome)>,
    running: Running,
    /// An edited text that the daemon has not accepted yet.
    unsaved: Option<(MemoryId, String)>,
    is_dirty: bool,
}

/// The jobs of which one runs at a time, and what follows it.
#[derive(Debug, Default)]
struct Running {
    load: bool,
    load_again: bool,
    /// A page that was asked for before the list changed is dropped.
    stale_more: bool,
    more: bool,
    /// The version of the list that is being counted.
    count: Option<u64>,
    show: bool,
    show_next: Option<MemoryId>,
    ping: bool,
}

impl Browser {
    fn new(client: VerbClient, screen: FullScreen, filters: Filters) -> Self {
        let (sender, outcomes) = unbounded_channel();
        Self {
            screen,
            input: Input::start(),
            theme: Theme::of_terminal(),
            state: State::new(filters),
            jobs: Jobs::new(client, sender),
            outcomes,
            running: Running::default(),
            unsaved: None,
            is_dirty: true,
        }
    }

    fn draw(&mut self) -> Result<(), Problem> {
        if std::mem::take(&mut self.is_dirty) || self.screen.is_resized()? {
            let (state, theme) = (&mut self.state, self.theme);
            self.screen.draw(|frame| view::render(frame, state, theme))?;
            self.load_more();
        }
        Ok(())
    }

    fn next_ping() -> std::pin::Pin<Box<tokio::time::Sleep>> {
        Box::pin(tokio::time::sleep(PING_INTERVAL))
    }

    fn ping(&mut self) {
        if !std::mem::replace(&mut self.running.ping, true) {
            self.jobs.ping(self.state.lost.is_some());
        }
    }

    /// Handles an event, and those that wait behind it: many keys make one frame.
    fn handle(&mut self, event: Event) -> Vec<Effect> {
        self.is_dirty = true;
        let (mut effects, mut next) = (Vec::new(), Some(event));
        while let Some(event) = next {
            match event {
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    for effect in self.state.press(key) {
                        // Only the last of several loads counts.
                        effects
                            .retain(|earlier| *earlier != Effect::Load || effect != Effect::Load);
                        effects.push(effect);
                    }
                }
                Event::Paste(text) => effects.extend(self.state.paste(&text)),
                _ => {}
            }
            let is_plain = effects.iter().all(|e| matches!(e, Effect::Load | Effect::Show(_)));
            next = if is_plain { self.input.waiting() } else { None };
        }
        effects
    }

    fn run(&mut self, effects: Vec<Effect>) -> Result<(), Problem> {
        for effect in effects {
            match effect {
                Effect::Load => self.load(),
                Effect::Show(id) => self.show(id),
                Effect::PickProject => self.jobs.projects(),
                Effect::AskUndo => self.jobs.undoable(),
                Effect::Change(change) => self.jobs.change(change),
                Effect::Edit => self.edit()?,
                Effect::Redraw => {
                    self.screen.clear()?;
                    self.is_dirty = true;
                }
                Effect::Quit => {}
            }
        }
        Ok(())
    }

    fn load(&mut self) {
        self.state.loading = true;
        self.running.stale_more = self.running.more;
        if std::mem::replace(&mut self.running.load, true) {
            self.running.load_again = true;
            return;
        }
        self.jobs.load(self.state.filters.clone());
        self.count();
    }

    fn count(&mut self) {
        if self.running.count.is_none() && self.state.needs_total() {
            self.running.count = Some(self.state.list_version);
            self.jobs.count(self.state.filters.clone(), self.state.list_version);
        }
    }

    fn load_more(&mut self) {
        if let Some(before) = self.state.next.filter(|_| self.state.needs_more())
            && !std::mem::replace(&mut self.running.more, true)
        {
            self.jobs.load_more(self.state.filters.clone(), before);
        }
    }

    fn show(&mut self, id: MemoryId) {
        if std::mem::replace(&mut self.running.show, true) {
            self.running.show_next = Some(id);
        } else {
            self.jobs.show(id);
        }
    }

    fn edit(&mut self) -> Result<(), Problem> {
        let Some(detail) = &self.state.detail else { return Ok(()) };
        let memory = detail.memory();
        let id = memory.id.clone();
        let unsaved = self.unsaved.take().filter(|(edited, _)| *edited == id);
        let content = unsaved.map_or_else(|| memory.content.clone(), |(_, text)| text);
        let (screen, input) = (&mut self.screen, &self.input);
        let edited = input.paused(|| screen.suspended(|| editor::edit(&content)))?;
        self.is_dirty = true;
        match edited {
            Ok(Some(text)) => {
                self.unsaved = Some((id.clone(), text.clone()));
                self.jobs.change(Change::SetText(id, text));
            }
            Ok(None) => self.state.say("Nothing was changed", Ink::Dim),
            Err(problem) => self.state.say(problem.message(), Ink::Red),
        }
        Ok(())
    }

    fn ended(&mut self, kind: Kind) -> Vec<Effect> {
        match kind {
            Kind::Load => {
                self.running.load = false;
                let again = std::mem::take(&mut self.running.load_again);
                again.then_some(Effect::Load).into_iter().collect()
            }
            Kind::More => {
                self.running.more = false;
                Vec::new()
            }
            Kind::Count => {
                // A count that failed is not tried again until the list changes.
                if self.running.count.take() != Some(self.state.list_version) {
                    self.count();
                }
                Vec::new()
            }
            Kind::Show => {
                self.running.show = false;
                self.running.show_next.take().map(Effect::Show).into_iter().collect()
            }
            Kind::Other => Vec::new(),
        }
    }

    /// Shows what a job found.
    fn apply(&mut self, kind: Kind, outcome: Outcome) -> Vec<Effect> {
        let mut effects = self.ended(kind);
        let is_last_load = !effects.contains(&Effect::Load);
        self.is_dirty |= !matches!(outcome, Outcome::Alive) || self.state.lost.is_some();
        match outcome {
            // The rows of an earlier query are better than none while the next ones are loaded.
            Outcome::Rows(page) => {
                self.state.replace(page);
                self.state.loading = !is_last_load;
                let shown = self.state.shown_id();
                effects.extend(shown.map(Effect::Show));
            }
            Outcome::More(page) if !std::mem::take(&mut self.running.stale_more) => {
                self.state.append(page);
            }
            Outcome::Total { list_version, total } if list_version == self.state.list_version => {
                self.state.total = Some(total);
            }
            Outcome::More(_) | Outcome::Total { .. } => {}
            Outcome::Inspected(mut detail) => {
                if let Some(earlier) = self.state.detail.as_ref().filter(|d| d.id() == detail.id())
                {
                    (detail.scroll, detail.selected) = (earlier.scroll, earlier.selected);
                }
                self.state.detail = Some(*detail);
            }
            Outcome::Changed(sentence) => {
                self.unsaved = None;
                self.state.say(sentence, Ink::Green);
                self.state.forget_total();
                effects.push(Effect::Load);
                if self.state.focus == Focus::Detail {
                    effects
                        .extend(self.state.detail.as_ref().map(|d| Effect::Show(d.id().clone())));
                }
            }
            Outcome::Projects(groups) => self.state.popup = Some(Popup::Picker(projects(groups))),
            Outcome::Undoable(None) => self.state.say("There is nothing to undo", Ink::Dim),
            Outcome::Undoable(Some((act, what))) => {
                let question = format!("Undo {}?", crate::output::escape_line(&what));
                self.state.popup = Some(Popup::Confirm(question, Change::Undo(vec![act])));
            }
            Outcome::Alive => {
                self.running.ping = false;
                if self.state.lost.take().is_some() {
                    self.state.say("Connected again", Ink::Green);
                    self.state.forget_total();
                    effects.push(Effect::Load);
                }
            }
            Outcome::Failed(failed) => self.failed(failed),
        }
        effects
    }

    fn failed(&mut self, failed: jobs::Failed) {
        self.running.ping &= failed.job != Kind::Other;
        if failed.job == Kind::Load {
            self.state.loading = false;
        }
        if failed.is_lost {
            self.state.lost = Some(failed.reason);
        } else if failed.job != Kind::Count {
            // First, because the line may be cut.
            let kept =
                if self.unsaved.is_some() { "Press e to go on with your text. " } else { "" };
            self.state.say(format!("{kept}{}", failed.reason), Ink::Red);
        }
    }
}

fn projects(groups: Vec<GroupEntry>) -> Picker {
    let option = |group: GroupEntry| {
        let shown = format!("{} ({})", group.name, group.active);
        (shown, Choice::Project(ProjectFilter::Named { id: group.id, name: group.name }))
    };
    let fixed = [
        ("visible here".to_owned(), Choice::Project(ProjectFilter::Here)),
        ("all projects".to_owned(), Choice::Project(ProjectFilter::All)),
    ];
    Picker::new("Project", fixed.into_iter().chain(groups.into_iter().map(option)).collect())
}
