//! Asks Codex which hooks of loci the user has approved, by its own `codex app-server`. Nothing is approved here.

use super::clients::codex;
use super::environment::Environment;
use super::program;
use serde_json::{Value as Json, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Id of the request for the hooks.
const REQUEST: u64 = 2;

/// A hook of loci as Codex sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedHook {
    /// The command line.
    pub command: String,
    /// Whether Codex runs it: the user has approved this command line.
    pub runs: bool,
}

/// Returns the hooks of loci; `None` if Codex is not installed, was never used, or gives no answer.
#[must_use]
pub fn hooks(environment: &Environment) -> Option<Vec<TrustedHook>> {
    // Codex creates its databases when it is asked, so it is not asked before it has them.
    if !codex::folder(environment).join("installation_id").exists() {
        return None;
    }
    ask(&environment.program("codex")?, &environment.project)
}

fn ask(program: &Path, folder: &Path) -> Option<Vec<TrustedHook>> {
    let mut command = Command::new(program);
    command.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    let client = json!({"name": "loci", "version": loci_proto::VERSION});
    let messages = [
        json!({"id": 1, "method": "initialize", "params": {"clientInfo": client}}),
        json!({"method": "initialized"}),
        json!({"id": REQUEST, "method": "hooks/list", "params": {"cwds": [folder]}}),
    ];
    let sent = messages.iter().try_for_each(|message| writeln!(stdin, "{message}"));
    let stdout = child.stdout.take()?;
    let answer = sent.ok().and_then(|()| {
        program::read_in_time(stdout, |lines| {
            let mut answers = lines.filter_map(|line| serde_json::from_str::<Json>(&line).ok());
            answers.find(|answer| answer["id"] == REQUEST)
        })
    });
    drop(stdin);
    program::end(child);
    let mut found = Vec::new();
    collect(&answer?["result"], &mut found);
    Some(found)
}

fn collect(value: &Json, found: &mut Vec<TrustedHook>) {
    match value {
        Json::Object(members) => {
            let command = value["command"].as_str().filter(|c| c.contains(" hook codex "));
            if let (Some(command), Some(trust)) = (command, value["trustStatus"].as_str()) {
                let runs = ["trusted", "managed"].contains(&trust);
                found.push(TrustedHook { command: command.to_owned(), runs });
            }
            members.values().for_each(|member| collect(member, found));
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hooks_of_loci_are_found_and_a_changed_one_does_not_run() {
        let hook = |command: &str, trust: &str| json!({"command": command, "trustStatus": trust});
        let hooks = json!({"data": [{"hooks": [
            hook("/opt/loci hook codex prompt", "trusted"),
            hook("/opt/loci hook codex stop", "modified"),
            hook("/opt/other", "trusted"),
        ]}]});
        let mut found = Vec::new();
        collect(&hooks, &mut found);
        let runs: Vec<_> = found.iter().map(|hook| (hook.command.as_str(), hook.runs)).collect();
        assert_eq!(
            runs,
            [("/opt/loci hook codex prompt", true), ("/opt/loci hook codex stop", false)]
        );
    }
}
