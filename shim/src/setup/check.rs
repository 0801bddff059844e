//! Checks the configuration of each client for `loci doctor`: the server and its program, permission, hooks, versions, duplicates.
//!
//! Not here: repairing it (`repair`), whether hooks fired (the caller says it).

use super::change::{hook_commands, server_command, starts_loci};
use super::client::{Client, Content, Part, Scope, WantedFile, Wishes};
use super::edit::{self, EntryKind, Found};
use super::environment::{Environment, is_executable};
use super::manifest::{Manifest, WrittenFile};
use super::{clients, files, plugin, program, trust};
use clap::ValueEnum;
use loci_proto::requests::doctor::Finding;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a check needs to know.
pub struct Checked<'a> {
    /// The machine.
    pub environment: &'a Environment,
    /// The record of what was written.
    pub manifest: &'a Manifest,
    /// The path of the running program.
    pub loci: &'a Path,
    /// When the last hook of a client fired, as a part of a sentence.
    pub last_delivery: &'a dyn Fn(Client) -> Option<String>,
}

/// Returns the findings about every client that is configured.
#[must_use]
pub fn check(checked: &Checked<'_>) -> Vec<Finding> {
    Client::value_variants().iter().flat_map(|client| check_client(checked, *client)).collect()
}

/// What was found of one client.
#[derive(Default)]
struct State {
    findings: Vec<Finding>,
    /// The programs that its servers start.
    programs: BTreeSet<String>,
    has_permission: bool,
    hooks: usize,
}

fn check_client(checked: &Checked<'_>, client: Client) -> Vec<Finding> {
    let records = || {
        checked.manifest.files.iter().filter(move |file| {
            file.client == client
                && (file.scope == Scope::User
                    || file.path.starts_with(&checked.environment.project))
        })
    };
    let mut state = State::default();
    for file in records() {
        check_record(file, &mut state);
    }
    for scope in [Scope::User, Scope::Project] {
        for file in wanted_files(checked, client, scope) {
            look_at(&file, client, &mut state);
        }
    }
    let has_plugin = match client {
        Client::Claude => plugin::is_on(client, &clients::claude::folder(checked.environment)),
        Client::Codex => plugin::is_on(client, &clients::codex::folder(checked.environment)),
        _ => false,
    };
    if has_plugin {
        check_plugin(client, &mut state);
    }
    let is_configured = records().next().is_some() || !state.programs.is_empty();
    if !is_configured {
        return Vec::new();
    }
    let part = client.name();
    check_programs(checked, client, &mut state);
    if client == Client::Claude && !state.has_permission {
        state.findings.push(Finding::warn(
            part,
            "claude -p refuses the tools of loci, because no permission allows them",
            "Run loci setup claude",
        ));
    }
    if client == Client::Codex && (state.hooks > 0 || has_plugin) {
        state.findings.extend(check_trust(checked.environment));
    }
    let is_fine = state.findings.is_empty();
    if is_fine {
        let programs: Vec<String> = state.programs.into_iter().collect();
        let hooks = match state.hooks {
            0 if has_plugin => "hooks of the plugin".to_owned(),
            0 => "no hooks".to_owned(),
            1 => "1 hook".to_owned(),
            count => format!("{count} hooks"),
        };
        let fired = (checked.last_delivery)(client).map(|when| format!(", {when}"));
        let found = format!(
            "{} starts {}; {hooks}{}",
            client.product(),
            programs.join(" and "),
            fired.unwrap_or_default()
        );
        return vec![Finding::ok(part, found)];
    }
    state.findings
}

/// Returns the files that setup would write for a client.
fn wanted_files(checked: &Checked<'_>, client: Client, scope: Scope) -> Vec<WantedFile> {
    // OpenCode's plugin is checked by the record: asking for the version would take too long here.
    let wishes = Wishes { no_hooks: client == Client::Opencode, ..Wishes::default() };
    clients::wanted_files(checked.environment, checked.loci, (client, scope), &wishes)
}

/// Compares what was written with what is there.
fn check_record(file: &WrittenFile, state: &mut State) {
    let (part, shown) = (file.client.name(), file.path.display());
    let next_step = format!("Run loci doctor --fix, or loci setup {part} --remove");
    let text = match files::read(&file.path) {
        Ok(Some(text)) => text,
        Ok(None) => {
            let found = format!("{shown}, which loci setup wrote, is missing");
            state.findings.push(Finding::fail(part, found, next_step));
            return;
        }
        Err(problem) => {
            let hint = problem.next_step().unwrap_or("Correct it").to_owned();
            state.findings.push(Finding::fail(part, problem.message(), hint));
            return;
        }
    };
    let Some(format) = file.format else {
        state.hooks += 1;
        if files::hash(&text) != file.hash {
            let found = format!("{shown} was changed by hand");
            let next_step = format!("Run loci setup {part} --force to write it again");
            state.findings.push(Finding::warn(part, found, next_step));
        }
        return;
    };
    for entry in &file.entries {
        let target = &entry.target;
        match edit::look(&text, format, target) {
            Ok(Found::Same) => {}
            Ok(Found::Different(_)) => state.findings.push(Finding::warn(
                part,
                format!("{target} in {shown} was changed by hand"),
                format!("Run loci setup {part} --force to write it again"),
            )),
            Ok(Found::Absent) => state.findings.push(Finding::fail(
                part,
                format!("{target}, which loci setup wrote, is not in {shown}"),
                next_step.clone(),
            )),
            Err(error) => {
                let found = format!("{shown} is broken: {error}");
                state.findings.push(Finding::fail(part, found, "Correct that place"));
                return;
            }
        }
    }
}

/// Counts the entries of loci in a file, also those that loci did not write.
fn look_at(file: &WantedFile, client: Client, state: &mut State) {
    let Content::Entries(format, entries) = &file.content else { return };
    let Ok(Some(text)) = files::read(&file.path) else { return };
    let Ok(document) = edit::parse(&text, *format) else { return };
    let at = |path: &[String]| path.iter().try_fold(&document, |value, name| value.get(name));
    for wanted in entries {
        let entry = &wanted.entry;
        let Some(found) = at(&entry.path) else { continue };
        match wanted.part {
            Part::Server if starts_loci(found) => {
                state.programs.extend(server_command(found).map(|(program, _)| program));
            }
            Part::Permission if entry.kind == EntryKind::Element => {
                let value = entry.value.to_json();
                let rules = found.as_array().into_iter().flatten();
                let allows = |rule: &Json| *rule == value || is_rule_for_loci(rule);
                state.has_permission |= rules.into_iter().any(allows);
            }
            _ => {}
        }
    }
    if document["hooks"].is_object() {
        count_hooks(&document["hooks"], file, client, state);
    }
}

/// Adds what the plugin brings: the server, its permission, and hooks, which must not run twice.
fn check_plugin(client: Client, state: &mut State) {
    state.has_permission = true;
    if state.hooks > 0 {
        state.findings.push(Finding::warn(
            client.name(),
            "the plugin loci and the hooks of loci setup both run",
            format!("Run loci setup {client} --no-hooks, or remove the plugin"),
        ));
    }
    if state.programs.is_empty() {
        state.programs.insert("loci".to_owned());
    }
}

/// Whether a rule of Claude Code allows a tool of loci.
fn is_rule_for_loci(rule: &Json) -> bool {
    rule.as_str().is_some_and(|rule| rule == "mcp__loci" || rule.starts_with("mcp__loci__"))
}

fn count_hooks(hooks: &Json, file: &WantedFile, client: Client, state: &mut State) {
    for (event, entries) in hooks.as_object().into_iter().flatten() {
        let mut commands = hook_commands(entries);
        commands.dedup();
        state.hooks += usize::from(!commands.is_empty());
        if commands.len() > 1 {
            let found =
                format!("{event} runs {} hooks of loci in {}", commands.len(), file.path.display());
            let next_step = format!("Run loci setup {client}");
            state.findings.push(Finding::warn(client.name(), found, next_step));
        }
        for command in commands.iter().filter_map(|command| command.split_once(" hook ")) {
            state.programs.insert(command.0.trim_matches('\'').to_owned());
        }
    }
}

/// Checks that the programs exist, are of this version, and are one.
fn check_programs(checked: &Checked<'_>, client: Client, state: &mut State) {
    let part = client.name();
    let next_step = format!("Run loci setup {client}");
    if state.programs.is_empty() {
        let found = format!("{} does not start loci mcp", client.product());
        state.findings.push(Finding::fail(part, found, next_step));
        return;
    }
    if state.programs.len() > 1 {
        let programs: Vec<&str> = state.programs.iter().map(String::as_str).collect();
        let found = format!("starts different programs: {}", programs.join(", "));
        state.findings.push(Finding::warn(part, found, next_step.clone()));
    }
    for name in &state.programs {
        let path = match Path::new(name) {
            path if path.is_absolute() => Some(path.to_path_buf()),
            _ => checked.environment.program(name),
        };
        let Some(path) = path.filter(|path| is_executable(path)) else {
            let found = format!("{name} cannot be run, so the client has no memory");
            state.findings.push(Finding::fail(part, found, next_step.clone()));
            continue;
        };
        if is_same_file(&path, checked.loci) {
            continue;
        }
        let answer = program::first_line(&path, &["--version"]).unwrap_or_default();
        if answer != format!("loci {}", loci_proto::VERSION) {
            let found = format!("{name} is {answer:?}, and this is loci {}", loci_proto::VERSION);
            state.findings.push(Finding::warn(part, found, next_step.clone()));
        }
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    canonical(a) == canonical(b)
}

/// Asks Codex which hooks it runs.
fn check_trust(environment: &Environment) -> Option<Finding> {
    let hooks = trust::hooks(environment)?;
    let waiting = hooks.iter().filter(|hook| !hook.runs).count();
    let part = Client::Codex.name();
    let found = format!("Codex runs {} of {} hooks of loci", hooks.len() - waiting, hooks.len());
    (waiting > 0).then(|| Finding::warn(part, found, "Type /hooks in Codex and approve them"))
}
