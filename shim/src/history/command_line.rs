//! PURE: a command line as it is remembered: without the change of folder before it and the filter of its output after it.

/// Longest command that is remembered, in characters.
const MAX_CHARS: usize = 240;
/// Programs that only look: they mend nothing.
const READERS: [&str; 24] = [
    "ls", "cat", "grep", "rg", "find", "head", "tail", "sed", "awk", "echo", "pwd", "which", "cd",
    "wc", "tree", "less", "file", "stat", "du", "df", "ps", "sleep", "true", "printf",
];
/// Commands of git that only look.
const GIT_READERS: [&str; 8] =
    ["status", "log", "diff", "show", "branch", "blame", "rev-parse", "ls-files"];
/// Programs that start another one.
const LAUNCHERS: [&str; 6] = ["sudo", "env", "time", "nice", "exec", "command"];
/// Programs that build, test, run or deploy: their commands are worth knowing.
const BUILDERS: [&str; 44] = [
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "npx",
    "deno",
    "make",
    "just",
    "task",
    "pytest",
    "python",
    "python3",
    "uv",
    "poetry",
    "tox",
    "nox",
    "ruff",
    "mypy",
    "go",
    "gradle",
    "gradlew",
    "mvn",
    "mvnw",
    "docker",
    "docker-compose",
    "podman",
    "kubectl",
    "helm",
    "terraform",
    "cmake",
    "ctest",
    "ninja",
    "bazel",
    "dotnet",
    "swift",
    "bundle",
    "rake",
    "rails",
    "mix",
    "composer",
    "phpunit",
    "flutter",
    "sbt",
];

/// A command worth remembering.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommandLine {
    /// The command, one line.
    pub text: String,
    /// The name of its program.
    pub program: String,
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
        let is_setting =
            |word: &&str| word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
        let words = text.split_whitespace();
        let program = words.skip_while(is_setting).find(|word| !LAUNCHERS.contains(word))?;
        let program = program.rsplit('/').next().unwrap_or(program).to_owned();
        Some(Self { text: text.to_owned(), program })
    }

    /// Returns whether the command changes nothing.
    #[must_use]
    pub fn only_looks(&self) -> bool {
        let git = self.text.split_whitespace().skip_while(|word| *word != "git").nth(1);
        READERS.contains(&self.program.as_str())
            || (self.program == "git" && git.is_none_or(|word| GIT_READERS.contains(&word)))
    }

    /// Returns whether the command builds, tests, runs or deploys something, and is no probe with code of its own.
    #[must_use]
    pub fn is_of_builder(&self) -> bool {
        let has_code =
            [" -c ", " -e ", "|", ">", ";", "$("].iter().any(|part| self.text.contains(part));
        BUILDERS.contains(&self.program.as_str()) && !has_code && self.text.contains(' ')
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_folder_and_a_filter_are_left_out() {
        let line = CommandLine::of("cd /shop && CI=1 pnpm test --run 2>&1 | tail -5")
            .expect("it is one command");
        assert_eq!((line.text.as_str(), line.program.as_str()), ("CI=1 pnpm test --run", "pnpm"));
        assert!(line.is_of_builder() && !line.only_looks());
    }

    #[test]
    fn scripts_and_looks_are_recognised() {
        assert_eq!(CommandLine::of("for f in *; do\n cat $f\ndone"), None);
        assert_eq!(CommandLine::of("cat <<EOF"), None);
        for look in ["git status --short", "ls -la", "sudo cat /etc/hosts"] {
            assert!(CommandLine::of(look).is_some_and(|line| line.only_looks()), "{look}");
        }
        assert!(CommandLine::of("git commit -m x").is_some_and(|line| !line.only_looks()));
    }
}
