//! A command line as it is remembered: without the change of folder before it and the filter of its output after it. Pure.
//!
//! Not here: what is known of single programs (`programs`).

mod programs;
#[cfg(test)]
mod tests;

use programs::{
    BARE_BUILDERS, BUILDERS, DEPLOY_REMOTES, DEPLOYERS, GIT_READERS, GIT_RECORDERS, INTERPRETERS,
    LAST_LOOK_OPTIONS, LAUNCHER_VALUES, LAUNCHERS, LOOK_OPTIONS, LOOKS, NARROWING, NO_TASKS,
    READERS, RUNNERS_OF_TEXT, SCRIPT_FOLDERS, SHELLS, TASKS, WITH_LOOKS, WRAPPERS,
};

/// Longest command that is remembered, in characters.
const MAX_CHARS: usize = 240;
/// Commands within commands that are followed: `sudo sg docker -c 'uv run pytest'`.
const MAX_DEPTH: usize = 6;
/// Arguments that may say what a command does: `gcloud run deploy`.
const TASK_ARGUMENTS: usize = 2;

/// A command worth remembering.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommandLine {
    /// The command, one line.
    pub text: String,
    /// The name of its program.
    pub program: String,
}

/// Why a command may be worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Its program builds, tests, runs or deploys.
    Builder,
    /// It is a script of the project, or its arguments say that it builds, tests, runs or deploys.
    Task,
}

impl CommandLine {
    /// Reads the command line of a call; `None` for a script of several lines and one that is too long.
    #[must_use]
    pub fn of(raw: &str) -> Option<Self> {
        let raw = raw.trim();
        let mut text = raw;
        while let Some((before, rest)) = text.split_once("&&") {
            if !before.trim_start().starts_with("cd ") {
                break;
            }
            text = rest.trim_start();
        }
        for filter in [" 2>&1", " | tail", " | head", " | grep", "; echo"] {
            text = text.split_once(filter).map_or(text, |(command, _)| command);
        }
        let text = text.trim();
        let is_one_line = !text.is_empty() && !raw.contains('\n') && !text.contains("<<");
        if !is_one_line || text.chars().count() > MAX_CHARS {
            return None;
        }
        let words = text.split_whitespace();
        let program = words.skip_while(is_setting).find(|word| !LAUNCHERS.contains(word))?;
        let program = name_of(program).to_owned();
        Some(Self { text: text.to_owned(), program })
    }

    /// Returns whether the command changes nothing.
    #[must_use]
    pub fn only_looks(&self) -> bool {
        let words = inner_words(&self.text);
        let program = words.first().map_or(self.program.as_str(), |word| name_of(word));
        let git = words.get(1).filter(|_| program == "git");
        let mut arguments = words.iter().skip(1).filter(|word| !word.starts_with('-'));
        READERS.contains(&program)
            || (program == "git" && git.is_none_or(|word| GIT_READERS.contains(word)))
            || words.iter().any(|word| LOOK_OPTIONS.contains(word))
            || words.last().is_some_and(|word| LAST_LOOK_OPTIONS.contains(word))
            || (WITH_LOOKS.contains(&program)
                && arguments.by_ref().take(1).any(|word| LOOKS.contains(word)))
            || (["docker", "podman"].contains(&program)
                && words.get(1) == Some(&"compose")
                && arguments.take(1).any(|word| LOOKS.contains(word)))
    }

    /// Returns whether the command only keeps a version of the files: it mends no failure but one of git.
    #[must_use]
    pub fn only_records(&self) -> bool {
        let words = inner_words(&self.text);
        words.first() == Some(&"git")
            && words.get(1).is_some_and(|word| GIT_RECORDERS.contains(word))
    }

    /// Returns why the command may be worth knowing; `None` for one that looks, and a probe with code of its own.
    #[must_use]
    pub fn usefulness(&self) -> Option<Use> {
        let words = inner_words(&self.text);
        let takes_code = words.first().is_some_and(|word| INTERPRETERS.contains(&name_of(word)));
        let has_code = ["|", ">", ";", "$("].iter().any(|part| self.text.contains(part))
            || (takes_code && words.iter().any(|word| ["-c", "-e", "--eval", "-p"].contains(word)));
        if has_code || self.only_looks() {
            return None;
        }
        let program = self.program.as_str();
        let is_builder = BUILDERS.contains(&program)
            && (self.text.contains(' ') || BARE_BUILDERS.contains(&program));
        if is_builder {
            return Some(Use::Builder);
        }
        self.is_task().then_some(Use::Task)
    }

    fn is_task(&self) -> bool {
        let words = inner_words(&self.text);
        let Some((first, arguments)) = words.split_first() else { return false };
        let program = name_of(first);
        let script = arguments.first().filter(|_| SHELLS.contains(&program)).unwrap_or(first);
        if is_script(script) {
            return true;
        }
        let pushed_to = arguments.iter().skip(1).find(|word| !word.starts_with('-'));
        if program == "git" && arguments.first() == Some(&"push") {
            return pushed_to.is_some_and(|remote| DEPLOY_REMOTES.contains(remote));
        }
        let is_excluded = READERS.contains(&program)
            || SHELLS.contains(&program)
            || NO_TASKS.contains(&program)
            || first.starts_with(['/', '~', '.', '$']);
        let mut named = arguments.iter().filter(|word| !word.starts_with('-')).take(TASK_ARGUMENTS);
        !is_excluded
            && (named.any(|word| TASKS.contains(word))
                || (DEPLOYERS.contains(&program) && !arguments.is_empty()))
    }

    /// Returns whether another command has the same purpose: the same program, or a common argument.
    #[must_use]
    pub fn resembles(&self, other: &Self) -> bool {
        let is_argument = |word: &&str| word.len() >= 4 && !word.starts_with('-');
        let arguments = |line: &Self| -> Vec<String> {
            line.text.split_whitespace().skip(1).filter(is_argument).map(str::to_owned).collect()
        };
        let theirs = arguments(other);
        arguments(self).iter().any(|argument| theirs.contains(argument))
    }

    /// Returns whether another command is this one with other options, variables, or another program that starts it, and does not do less.
    #[must_use]
    pub fn is_varied_by(&self, other: &Self) -> bool {
        let (own, others) = (inner_words(&self.text), inner_words(&other.text));
        let is_narrowing = |word: &&&str| {
            let option = word.split('=').next().unwrap_or(word);
            NARROWING.contains(&option) && !own.contains(word)
        };
        !own.is_empty()
            && purpose(&own) == purpose(&others)
            && !other.only_looks()
            && !others.iter().any(|word| is_narrowing(&word))
    }
}

/// Returns the program and its arguments without options, numbers and variables.
fn purpose<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let is_number =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || b":.,-".contains(&byte));
    let (first, arguments) =
        words.split_first().map_or(("", words), |(first, rest)| (*first, rest));
    let named = arguments
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-') && !is_number(word) && !is_setting(word));
    std::iter::once(name_of(first)).chain(named).collect()
}

fn is_setting(word: &&str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn is_script(program: &str) -> bool {
    let path = program.strip_prefix("./").unwrap_or(program);
    let is_local = program.starts_with("./") || SCRIPT_FOLDERS.iter().any(|f| path.starts_with(f));
    let is_foreign = path.contains("node_modules") || path.contains("..") || path.is_empty();
    is_local && !is_foreign && path != "a.out" && !path.starts_with("target/")
}

/// Returns the words of the command that is run in the end: without variables before it, programs that start it, and quotation marks.
fn inner_words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    for _ in 0..MAX_DEPTH {
        let Some(skipped) = outer(&words) else { break };
        words.drain(..skipped);
        remove_quotes(&mut words);
    }
    words
}

/// Returns how many words only start what follows them.
fn outer(words: &[&str]) -> Option<usize> {
    let settings = words.iter().take_while(|word| is_setting(word)).count();
    if settings > 0 {
        return Some(settings);
    }
    let program = name_of(words.first()?);
    if LAUNCHERS.contains(&program) {
        return Some(1 + launcher_options(&words[1..]));
    }
    if SHELLS.contains(&program) || RUNNERS_OF_TEXT.contains(&program) {
        return words.iter().position(|word| ["-c", "-lc", "-ic"].contains(word)).map(|at| at + 1);
    }
    let wrapper = WRAPPERS.iter().find(|wrapper| words.starts_with(wrapper))?;
    let options = words[wrapper.len()..].iter().take_while(|word| word.starts_with('-')).count();
    (words.len() > wrapper.len() + options).then_some(wrapper.len() + options)
}

fn launcher_options(words: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let has_value = LAUNCHER_VALUES.contains(word);
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        if !word.starts_with('-') && !is_number {
            break;
        }
        at += if has_value { 2 } else { 1 };
    }
    at.min(words.len())
}

fn remove_quotes(words: &mut [&str]) {
    let mark = |c: char| c == '\'' || c == '"';
    let opens = words.first().is_some_and(|word| word.starts_with(mark));
    if !opens {
        return;
    }
    if let Some(first) = words.first_mut() {
        *first = first.trim_start_matches(mark);
    }
    if let Some(last) = words.last_mut() {
        *last = last.trim_end_matches(mark);
    }
}
