//! Who runs a command: a person, the agent of a client, or a script. Everything in the command line that asks it asks here.
//!
//! A person is at a terminal without an agent's marks; the terminal of an editor is a person's; what is unknown is a script. This protects
//! from agents that go too far, not from a program that wants to deceive: that can also edit files and make a terminal
//! (docs/security-model.md). Not here: what only a person may do (the daemon's `handlers::powers`, the engine).

mod clients;
pub mod processes;

use clients::{CLIENTS, Client};
use loci_proto::error::Failure;
use loci_proto::hello::Speaker;
use processes::Process;
use std::sync::OnceLock;

/// The variable by which a script says that it acts for its person. It takes away no mark of an agent.
pub const SWITCH: &str = "LOCI_PERSON";

/// Programs that run a script, which says what they are.
const INTERPRETERS: [&str; 12] = [
    "node", "nodejs", "bun", "deno", "python", "python3", "ruby", "sh", "bash", "dash", "zsh",
    "env",
];
/// Endings of scripts and programs.
const ENDINGS: [&str; 6] = [".js", ".mjs", ".cjs", ".py", ".sh", ".exe"];

/// What is known of a process.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Its variables.
    pub variables: Vec<(String, String)>,
    /// The processes above it, the nearest first; `None` if the system does not show them.
    pub above: Option<Vec<Process>>,
    /// It has a terminal, wherever its input comes from.
    pub has_terminal: bool,
}

/// Who runs this command, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Who.
    pub speaker: Speaker,
    /// Why, as the end of a sentence.
    pub because: String,
}

/// Returns who runs this command.
#[must_use]
pub fn of_process() -> &'static Caller {
    static CALLER: OnceLock<Caller> = OnceLock::new();
    CALLER.get_or_init(|| Evidence::of_process().decide())
}

/// Returns the agent's own session that started this process, if its client says it.
#[must_use]
pub fn agent_session() -> Option<String> {
    std::env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|id| (1..=128).contains(&id.len()))
}

/// Refuses what only a person may do, which `command` does.
///
/// # Errors
/// An agent or a script runs this command.
pub fn require_person(what: &str, command: &str) -> Result<(), Failure> {
    if of_process().is_person() { Ok(()) } else { Err(Failure::only_person(what, command)) }
}

impl Evidence {
    fn of_process() -> Self {
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
        Self {
            variables: variables.collect(),
            above: processes::above(),
            // Standard input may be a pipe that a person has typed.
            has_terminal: std::fs::File::open("/dev/tty").is_ok(),
        }
    }

    /// Decides who runs the command.
    #[must_use]
    pub fn decide(&self) -> Caller {
        let found = CLIENTS.iter().find_map(|client| Some((client, self.variable_of(client)?)));
        if let Some((client, name)) = found {
            return Caller::agent(client, format!("{name} is set"));
        }
        let above = self.above.iter().flatten();
        let found = above.clone().find_map(|one| Some((client_of(one)?, one.id)));
        if let Some((client, id)) = found {
            return Caller::agent(client, format!("process {id} above it is {}", client.name));
        }
        let (speaker, because) = match self.above {
            Some(_) if self.has_terminal => (Speaker::Person, "it has a terminal"),
            _ if self.value(SWITCH).is_some() => (Speaker::Person, "LOCI_PERSON is set"),
            Some(_) => (Speaker::Script, "it has no terminal"),
            None => (Speaker::Script, "the processes above it cannot be seen"),
        };
        Caller { speaker, because: because.to_owned() }
    }

    /// Returns the variable that marks a client's agent.
    fn variable_of(&self, client: &Client) -> Option<&'static str> {
        client.variables.iter().find_map(|mark| {
            let (name, wanted) = mark.split_once('=').map_or((*mark, None), |(n, v)| (n, Some(v)));
            let value = self.value(name)?;
            wanted.is_none_or(|wanted| wanted == value).then_some(name)
        })
    }

    /// Returns the value of a variable, unless it is empty or says no.
    fn value(&self, name: &str) -> Option<&str> {
        let (_, value) = self.variables.iter().find(|(known, _)| known == name)?;
        Some(value.as_str()).filter(|value| !["", "0", "false"].contains(value))
    }
}

/// Returns the client whose program, or whose script in an interpreter, a process is.
fn client_of(process: &Process) -> Option<&'static Client> {
    let program = process.arguments.first().map_or("", String::as_str);
    let is_interpreter = INTERPRETERS
        .iter()
        .any(|name| [stem(program), process.name.clone()].contains(&(*name).to_owned()));
    let script = process.arguments.iter().skip(1).find(|one| !one.starts_with('-'));
    let script = script.filter(|one| is_interpreter && !one.contains(char::is_whitespace));
    let paths: Vec<&str> =
        [process.name.as_str(), program].into_iter().chain(script.map(String::as_str)).collect();
    CLIENTS.iter().find(|client| {
        let is_program = |path: &&str| client.programs.contains(&stem(path).as_str());
        let is_in = |path: &&str| {
            client.packages.iter().any(|package| path.contains(&format!("/{package}/")))
        };
        paths.iter().any(|path| is_program(path) || is_in(path))
    })
}

/// Returns the name of a program or script without folder and ending; a login shell has a hyphen before it.
fn stem(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default().trim_start_matches('-').to_lowercase();
    let ending = ENDINGS.iter().find(|ending| name.ends_with(*ending));
    ending.and_then(|ending| name.strip_suffix(ending)).unwrap_or(&name).to_owned()
}

impl Caller {
    fn agent(client: &Client, because: String) -> Self {
        Self { speaker: Speaker::Agent(client.name.to_owned()), because }
    }

    /// Returns whether a person runs the command.
    #[must_use]
    pub fn is_person(&self) -> bool {
        self.speaker == Speaker::Person
    }

    /// Says whom the command was taken for, and what a person's own script can do.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("loci takes you for {}, because {}{}", self.who(), self.because, self.next_step())
    }

    /// Says as whose a text was stored; `None` for a person.
    #[must_use]
    pub fn stored_as(&self) -> Option<String> {
        let whose = if self.speaker.is_script() { "a script's" } else { "an agent's" };
        let step = if self.next_step().is_empty() {
            "run it in a terminal outside the agent"
        } else {
            "run it in a terminal, or set LOCI_PERSON=1 in a script of your own"
        };
        let name = self.speaker.name();
        (!self.is_person()).then(|| {
            format!(
                "stored as {whose} ({name}: {}), not as yours; to store it as yours, {step}",
                self.because
            )
        })
    }

    /// Names the caller and the reason in a few words.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} ({})", self.who(), self.because)
    }

    fn who(&self) -> String {
        match &self.speaker {
            Speaker::Person => "a person".to_owned(),
            Speaker::Agent(client) => format!("an agent of {client}"),
            Speaker::Script => "a script".to_owned(),
        }
    }

    fn next_step(&self) -> &'static str {
        if self.speaker.is_script() {
            "; LOCI_PERSON=1 in a script of your own says that it acts for you"
        } else {
            ""
        }
    }
}

#[cfg(test)]
mod tests;
