//! Follows one session: which commands worked, which failed, and what mended them.

use crate::transcripts::collector::Collector;
use crate::transcripts::command_line::CommandLine;
use crate::transcripts::findings::{Finding, FixedError, Pointer};
use crate::transcripts::statements;
use crate::transcripts::statements::Statement;
use crate::transcripts::transcript::{Action, Step, What};
use loci_proto::error_text;
use std::collections::{HashMap, HashSet, VecDeque};

/// Calls whose results are awaited at once.
const MAX_OPEN_CALLS: usize = 64;
/// Calls of which it is known that they were followed.
const MAX_SEEN_CALLS: usize = 4096;
/// Failed commands that wait for their repair.
const MAX_FAILURES: usize = 8;
/// Calls after which a repair no longer counts as that of a failure.
const MAX_DISTANCE: usize = 25;
/// Calls after which another form of a command no longer counts as the repair of a failure.
const MAX_DISTANCE_OF_VARIANT: usize = 8;
/// Files and commands of a repair that are named.
const MAX_NAMED: usize = 3;

/// A command that failed and was not repaired yet.
struct Failure {
    command: CommandLine,
    error: String,
    /// Number of the call.
    at: usize,
    files: Vec<String>,
    commands: Vec<CommandLine>,
    pointer: Pointer,
}

/// One session of a client.
pub struct Session<'a> {
    collector: &'a mut Collector,
    client: &'static str,
    file: String,
    id: String,
    /// The folder that the session began in: statements belong to its project.
    first_folder: Option<String>,
    /// The folder that it works in now: commands belong to its project.
    folder: Option<String>,
    open_calls: VecDeque<(String, Action)>,
    failures: VecDeque<Failure>,
    calls: usize,
    /// The time of a step without one is that of the last with one.
    at: i64,
    /// Calls that were followed: some clients write a message again.
    seen_calls: HashSet<String>,
    /// Titles that the agent gave to commands.
    titles: HashMap<CommandLine, String>,
}

impl<'a> Session<'a> {
    /// Begins to follow the session of a file.
    pub fn new(collector: &'a mut Collector, client: &'static str, file: String) -> Self {
        Self {
            collector,
            client,
            file,
            id: String::new(),
            first_folder: None,
            folder: None,
            open_calls: VecDeque::new(),
            failures: VecDeque::new(),
            calls: 0,
            at: 0,
            seen_calls: HashSet::new(),
            titles: HashMap::new(),
        }
    }

    /// Forgets what belongs to the session before.
    fn begin(&mut self) {
        (self.id, self.calls, self.at) = (String::new(), 0, 0);
        (self.first_folder, self.folder) = (None, None);
        self.open_calls.clear();
        self.failures.clear();
        self.seen_calls.clear();
        self.titles.clear();
    }

    /// Follows one step.
    pub fn follow(&mut self, step: Step) {
        self.at = step.at.unwrap_or(self.at);
        let pointer = Pointer {
            client: self.client,
            file: self.file.clone(),
            line: step.line,
            message: step.message,
            session: self.id.clone(),
            at: self.at,
        };
        match step.what {
            What::Began => self.begin(),
            What::Session(id) => self.id = id,
            What::Folder(folder) => {
                self.collector.know_folder(&folder);
                self.first_folder.get_or_insert_with(|| folder.clone());
                self.folder = Some(folder);
            }
            What::UserSaid(text) => self.say(statements::of_user(&text), &pointer),
            What::AgentSaid(text) => self.say(statements::of_agent(&text), &pointer),
            What::Called { call, action } => {
                if self.seen_calls.len() >= MAX_SEEN_CALLS {
                    self.seen_calls.clear();
                }
                if !self.seen_calls.insert(call.clone()) {
                    return;
                }
                self.calls += 1;
                self.open_calls.push_back((call, action));
                self.open_calls.drain(..self.open_calls.len().saturating_sub(MAX_OPEN_CALLS));
            }
            What::Returned { call, failed, output } => {
                let at = self.open_calls.iter().position(|(open, _)| *open == call);
                let action = at.and_then(|at| self.open_calls.remove(at));
                if let (Some((_, action)), Some(failed)) = (action, failed) {
                    self.end(action, failed.then_some(output), pointer);
                }
            }
        }
    }

    fn say(&mut self, found: Vec<Statement>, pointer: &Pointer) {
        let Some(folder) = self.first_folder.clone().filter(|_| self.at > 0) else { return };
        for statement in found {
            let finding = match statement {
                Statement::Preference(text) => Finding::Preference(text),
                Statement::Decision(text) => Finding::Decision(text),
                Statement::Attempt { text, why } => Finding::Attempt { text, why },
            };
            self.collector.add(&folder, finding, pointer.clone());
        }
    }

    /// Ends a call; `output` is that of a failed one.
    fn end(&mut self, action: Action, output: Option<String>, pointer: Pointer) {
        self.failures.retain(|failure| self.calls.saturating_sub(failure.at) <= MAX_DISTANCE);
        match (action, output) {
            (Action::Edit(path), None) => {
                let path = self.relative(&path);
                for failure in &mut self.failures {
                    if failure.files.len() < MAX_NAMED && !failure.files.contains(&path) {
                        failure.files.push(path.clone());
                    }
                }
            }
            (Action::Command { text, title }, None) => self.succeed(&text, title, &pointer),
            (Action::Command { text, .. }, Some(output)) => self.fail(&text, &output, pointer),
            (Action::Edit(_), Some(_)) => {}
        }
    }

    fn fail(&mut self, text: &str, output: &str, pointer: Pointer) {
        let Some(command) = CommandLine::of(text).filter(|line| !line.only_looks()) else { return };
        let Some(error) = error_text::line(output).filter(|error| error_text::key(error).is_some())
        else {
            return;
        };
        // Another error of the same command begins anew: what was done since did not mend this one.
        self.failures.retain(|failure| failure.command != command || failure.error == error);
        if self.failures.iter().any(|failure| failure.command == command) {
            return;
        }
        let (at, files, commands) = (self.calls, Vec::new(), Vec::new());
        self.failures.push_back(Failure { command, error, at, files, commands, pointer });
        self.failures.drain(..self.failures.len().saturating_sub(MAX_FAILURES));
    }

    fn succeed(&mut self, text: &str, title: Option<String>, pointer: &Pointer) {
        let Some(folder) = self.folder.clone().filter(|_| self.at > 0) else { return };
        let Some(command) = CommandLine::of(text) else { return };
        if let Some((failure, commands)) = self.repaired_by(&command) {
            let files = failure.files.clone();
            self.add_fix(&folder, &failure, files, commands);
        }
        if !command.only_looks() {
            for failure in &mut self.failures {
                if command.only_records() && failure.command.program != "git" {
                    continue;
                }
                failure.commands.retain(|line| *line != command);
                failure.commands.push(command.clone());
                failure.commands.drain(..failure.commands.len().saturating_sub(MAX_NAMED));
            }
        }
        if command.usefulness().is_some() {
            if let Some(title) = title {
                self.titles.insert(command.clone(), title);
            }
            let title = self.titles.get(&command).cloned();
            self.collector.add(&folder, Finding::Command { command, title }, pointer.clone());
        }
    }

    /// Removes the failure that a command ends; returns it with the commands that mended it.
    fn repaired_by(&mut self, command: &CommandLine) -> Option<(Failure, Vec<String>)> {
        let texts = |lines: &[CommandLine]| lines.iter().map(|line| line.text.clone()).collect();
        if let Some(at) = self.failures.iter().position(|failure| failure.command == *command) {
            let failure = self.failures.remove(at)?;
            let commands: Vec<String> = texts(&failure.commands);
            let is_mended = !(failure.files.is_empty() && commands.is_empty());
            return is_mended.then_some((failure, commands));
        }
        let (calls, looks) = (self.calls, command.only_looks());
        let is_variant = |failure: &Failure| {
            calls.saturating_sub(failure.at) <= MAX_DISTANCE_OF_VARIANT
                && failure.command.is_varied_by(command)
        };
        let is_next = |failure: &Failure| {
            failure.at + 1 == calls
                && !looks
                && failure.command.resembles(command)
                && failure.files.is_empty()
                && failure.commands.is_empty()
        };
        let variant = self.failures.iter().position(is_variant);
        let failure =
            self.failures.remove(variant.or_else(|| self.failures.iter().position(is_next))?)?;
        let mut commands: Vec<String> = texts(&failure.commands);
        if failure.files.is_empty() {
            commands.push(command.text.clone());
        }
        Some((failure, commands))
    }

    fn add_fix(
        &mut self,
        folder: &str,
        failure: &Failure,
        files: Vec<String>,
        commands: Vec<String>,
    ) {
        let fixed = FixedError {
            command: failure.command.clone(),
            error: failure.error.clone(),
            files,
            commands,
        };
        self.collector.add(folder, Finding::Fix(fixed), failure.pointer.clone());
    }

    /// Returns the path of a file within the session's folder.
    fn relative(&self, path: &str) -> String {
        let folder = self.folder.as_deref().unwrap_or_default();
        let within = path.strip_prefix(folder).and_then(|path| path.strip_prefix('/'));
        within.unwrap_or(path).to_owned()
    }
}
