//! Command names of other programs, with the commands of `loci` that do the same. For such a name the error suggests the command; it does
//! not run it, because the meaning is a guess.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The words, and what to type instead, below each command; `""` is `loci` itself.
const COMMANDS: &[(&str, &[&str], &[&str])] = &[
    (
        "",
        &["remember", "store", "save", "learn", "note", "new", "create", "insert", "put"],
        &["loci add"],
    ),
    ("", &["find", "query", "ask", "grep", "retrieve"], &["loci search"]),
    ("", &["ls", "all", "memories"], &["loci list"]),
    ("", &["get", "cat", "read", "open", "details"], &["loci inspect"]),
    ("", &["delete", "rm", "del", "erase", "drop", "unremember"], &["loci forget"]),
    ("", &["remove"], &["loci forget", "loci uninstall"]),
    ("", &["change", "modify", "set"], &["loci edit"]),
    ("", &["link", "relation", "connect"], &["loci relate"]),
    ("", &["revert", "rollback"], &["loci undo"]),
    ("", &["log", "journal", "acts"], &["loci history"]),
    ("", &["install"], &["loci setup", "loci ctl install"]),
    ("", &["init", "configure", "integrate", "connect-client"], &["loci setup"]),
    ("", &["status", "health"], &["loci ctl status", "loci doctor"]),
    ("", &["start", "daemon", "up", "run"], &["loci ctl start"]),
    ("", &["stop", "down", "kill", "quit"], &["loci ctl stop"]),
    ("", &["restart", "reload", "drain", "logs", "ps", "incognito", "maintenance"], &["loci ctl "]),
    ("", &["server"], &["loci mcp"]),
    ("", &["version", "about"], &["loci --version"]),
    ("", &["info", "count", "usage", "size", "chart"], &["loci stats"]),
    ("", &["upgrade", "self-update"], &["loci update"]),
    ("", &["check", "diagnose", "verify", "repair", "fsck"], &["loci doctor"]),
    ("", &["projects", "project", "group", "workspace", "namespaces"], &["loci groups"]),
    ("", &["save-all"], &["loci export", "loci dump"]),
    ("", &["load", "ingest", "migrate"], &["loci import"]),
    ("", &["clean", "prune", "gc", "vacuum"], &["loci cleanup"]),
    ("", &["purge", "wipe", "clear", "destroy"], &["loci reset"]),
    ("", &["reindex", "reembed", "embed", "index"], &["loci re-embed"]),
    ("", &["ui", "gui", "web", "browser"], &["loci view", "loci browse"]),
    ("", &["tui", "explore", "interactive"], &["loci browse"]),
    ("", &["candidates", "candidate", "pending"], &["loci review --candidates"]),
    ("", &["dashboard", "monitor", "watch", "htop"], &["loci top"]),
    ("", &["summary", "context", "prime"], &["loci brief"]),
    ("", &["snapshot", "backups"], &["loci backup"]),
    ("", &["settings", "preferences"], &["loci config show"]),
    ("", &["models", "download"], &["loci model"]),
    ("backup", &["save", "make", "new", "now", "add", "run"], &["loci backup create"]),
    ("backup", &["ls", "show"], &["loci backup list"]),
    ("backup", &["check", "test"], &["loci backup verify"]),
    ("backup", &["load", "recover", "revert"], &["loci backup restore"]),
    ("groups", &["ls", "show"], &["loci groups list"]),
    ("groups", &["mv", "move"], &["loci groups rename", "loci groups merge", "loci move"]),
    ("groups", &["add", "create", "new"], &["loci add --group NAME"]),
    ("groups", &["disable"], &["loci groups off"]),
    ("groups", &["enable"], &["loci groups on"]),
    ("config", &["get", "list", "ls", "print", "set", "edit"], &["loci config show"]),
    ("ctl", &["up", "run"], &["loci ctl start"]),
    ("ctl", &["down", "kill"], &["loci ctl stop"]),
    ("ctl", &["info", "health"], &["loci ctl status"]),
    ("ctl", &["uninstall", "remove"], &["loci ctl install --uninstall"]),
    ("ctl", &["sessions", "agents", "list"], &["loci ctl ps"]),
    ("model", &["get", "install", "pull", "fetch"], &["loci model download"]),
    ("model", &["check", "show", "list"], &["loci model status"]),
];

/// Names of clients that are no format of `loci import --from`, and what to type instead.
const FORMATS: &[(&[&str], &[&str])] = &[
    (&["gemini", "gemini-cli"], &["--from history --client gemini"]),
    (&["claude", "claude-code"], &["--from claude-memory", "--from history --client claude"]),
    (&["codex"], &["--from codex-memory", "--from history --client codex"]),
];

/// Returns what to type instead of a word, below a command.
#[must_use]
pub fn instead_of(parent: &str, typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    let known =
        COMMANDS.iter().find(|(of, words, _)| *of == parent && words.contains(&typed.as_str()));
    let complete = |command: &&str| match command.strip_suffix(' ') {
        Some(parent) => format!("{parent} {typed}"),
        None => (*command).to_owned(),
    };
    known.map(|(_, _, commands)| commands.iter().map(complete).collect()).unwrap_or_default()
}

/// Adds to the error of an unknown command what to type instead, if the word is known, and returns it.
pub fn explain(error: &mut clap::Error, arguments: &[String]) -> Option<String> {
    let suggestions = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand)
            else {
                return None;
            };
            let at = arguments.iter().position(|argument| argument == typed)?;
            let parent = arguments[..at].iter().rfind(|argument| !argument.starts_with('-'));
            let parent = parent.map_or("", String::as_str);
            let known = instead_of(parent, typed);
            if known.is_empty() {
                put_nearest_first(error);
            }
            known
        }
        ErrorKind::InvalidValue if arguments.iter().any(|argument| argument == "import") => {
            let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidValue) else {
                return None;
            };
            let known = FORMATS.iter().find(|(names, _)| names.contains(&typed.as_str()));
            let complete = |format: &&str| format!("loci import {format}");
            known.map(|(_, formats)| formats.iter().map(complete).collect()).unwrap_or_default()
        }
        // `recall` exists, but only for hooks.
        ErrorKind::MissingRequiredArgument
            if arguments.iter().find(|a| !a.starts_with('-')).is_some_and(|a| a == "recall") =>
        {
            vec!["loci search".to_owned()]
        }
        _ => return None,
    };
    if suggestions.is_empty() {
        return None;
    }
    let tip = format!("did you mean {}?", suggestions.join(" or "));
    error.remove(ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::SuggestedValue);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.clone().into()]));
    Some(tip)
}

/// Puts the command that is most like the typed one first; the parser puts it last.
fn put_nearest_first(error: &mut clap::Error) {
    if let Some(ContextValue::Strings(names)) = error.get(ContextKind::SuggestedSubcommand) {
        let names = names.iter().rev().cloned().collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    #[test]
    fn every_suggestion_is_a_command_and_no_word_is_one() {
        let root = Cli::command();
        let sub = |of: &clap::Command, name: &str| of.find_subcommand(name).cloned();
        for (parent, words, commands) in COMMANDS {
            let of =
                if parent.is_empty() { root.clone() } else { sub(&root, parent).expect(parent) };
            for word in *words {
                assert!(sub(&of, word).is_none(), "{parent} {word} is a command");
            }
            let suggested = words.iter().flat_map(|word| instead_of(parent, word));
            for command in suggested.chain(commands.iter().map(|c| (*c).to_owned())) {
                let mut at = root.clone();
                for word in command.split_whitespace().skip(1) {
                    if word.starts_with('-') || word == "NAME" {
                        continue;
                    }
                    at = sub(&at, word).unwrap_or_else(|| panic!("{command}"));
                }
            }
        }
        let all: Vec<(&str, &str)> = COMMANDS
            .iter()
            .flat_map(|(of, words, _)| words.iter().map(move |w| (*of, *w)))
            .collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "a word occurs twice");
    }

    #[test]
    fn an_unknown_command_names_what_to_type() {
        let tip = |typed: &[&str]| {
            let arguments: Vec<String> = typed.iter().map(|word| (*word).to_owned()).collect();
            let mut error = Cli::command()
                .try_get_matches_from(std::iter::once("loci").chain(typed.iter().copied()))
                .expect_err("the command is unknown");
            let tip = explain(&mut error, &arguments);
            let is_printed = |tip: &String| error.to_string().contains(tip);
            assert!(tip.as_ref().is_none_or(is_printed), "{error}");
            tip
        };
        assert_eq!(tip(&["remember", "this"]).as_deref(), Some("did you mean loci add?"));
        assert_eq!(
            tip(&["install"]).as_deref(),
            Some("did you mean loci setup or loci ctl install?")
        );
        assert_eq!(tip(&["logs"]).as_deref(), Some("did you mean loci ctl logs?"));
        assert_eq!(tip(&["backup", "now"]).as_deref(), Some("did you mean loci backup create?"));
        assert_eq!(tip(&["recall", "deploy"]).as_deref(), Some("did you mean loci search?"));
        assert_eq!(tip(&["frobnicate"]), None);
        assert_eq!(tip(&["candidates"]).as_deref(), Some("did you mean loci review --candidates?"));
        assert_eq!(
            tip(&["import", "--from", "gemini"]).as_deref(),
            Some("did you mean loci import --from history --client gemini?")
        );
    }

    #[test]
    fn the_nearest_command_is_suggested_first() {
        let typed = ["loci", "recal"];
        let mut error = Cli::command().try_get_matches_from(typed).expect_err("it is unknown");
        assert_eq!(explain(&mut error, &["recal".to_owned()]), None);
        let text = error.to_string();
        let at = |name: &str| text.find(&format!("'{name}'"));
        assert!(
            at("recall").is_some() && at("recall") < at("reject").or(Some(usize::MAX)),
            "{text}"
        );
    }
}
