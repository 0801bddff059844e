//! What is known of programs: which only look, which start others, which build, test, run or deploy. Pure.

/// Programs that only look: they mend nothing.
pub(super) const READERS: [&str; 26] = [
    "ls", "cat", "grep", "rg", "find", "head", "tail", "sed", "awk", "echo", "pwd", "which", "cd",
    "wc", "tree", "less", "file", "stat", "du", "df", "ps", "sleep", "true", "printf", "type",
    "jq",
];
/// Commands of git that only look.
pub(super) const GIT_READERS: [&str; 8] =
    ["status", "log", "diff", "show", "branch", "blame", "rev-parse", "ls-files"];
/// Commands of git that record what was done: they mend nothing but failures of git.
pub(super) const GIT_RECORDERS: [&str; 5] = ["add", "commit", "push", "fetch", "tag"];
/// Programs whose first argument may only look.
pub(super) const WITH_LOOKS: [&str; 17] = [
    "docker",
    "docker-compose",
    "podman",
    "kubectl",
    "helm",
    "terraform",
    "npm",
    "pnpm",
    "yarn",
    "cargo",
    "go",
    "fly",
    "flyctl",
    "wrangler",
    "vercel",
    "gcloud",
    "systemctl",
];
/// Arguments of these that only look.
pub(super) const LOOKS: [&str; 20] = [
    "ps", "logs", "images", "inspect", "get", "describe", "ls", "list", "view", "outdated", "why",
    "tree", "search", "show", "status", "version", "help", "info", "whoami", "output",
];
/// Options with which any program only looks.
pub(super) const LOOK_OPTIONS: [&str; 3] = ["--version", "--help", "--dry-run"];
/// The same at the end of a command; elsewhere a value follows, as in `pg_dump -h HOST`.
pub(super) const LAST_LOOK_OPTIONS: [&str; 2] = ["-V", "-h"];
/// Programs that start another one.
pub(super) const LAUNCHERS: [&str; 13] = [
    "sudo", "doas", "env", "time", "nice", "ionice", "exec", "command", "nohup", "timeout",
    "stdbuf", "setsid", "xvfb-run",
];
/// Options of these that have a value.
pub(super) const LAUNCHER_VALUES: [&str; 3] = ["-u", "-g", "-n"];
/// Shells.
pub(super) const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];
/// Programs that take code as an argument.
pub(super) const INTERPRETERS: [&str; 12] = [
    "python", "python3", "node", "deno", "bun", "ruby", "perl", "php", "lua", "psql", "mysql",
    "sqlite3",
];
/// Programs that run a command of a text after `-c`.
pub(super) const RUNNERS_OF_TEXT: [&str; 2] = ["sg", "su"];
/// Beginnings that run another program in an environment.
pub(super) const WRAPPERS: [&[&str]; 12] = [
    &["uv", "run"],
    &["poetry", "run"],
    &["pipenv", "run"],
    &["pdm", "run"],
    &["rye", "run"],
    &["bundle", "exec"],
    &["pnpm", "exec"],
    &["npx"],
    &["bunx"],
    &["mise", "exec", "--"],
    &["direnv", "exec", "."],
    &["nix", "develop", "-c"],
];
/// Programs that build, test, run or deploy: their commands are worth knowing.
pub(super) const BUILDERS: [&str; 45] = [
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
    "node",
];
/// Those that do so without an argument.
pub(super) const BARE_BUILDERS: [&str; 13] = [
    "make", "just", "pytest", "tox", "nox", "ctest", "ninja", "rake", "gradlew", "mvnw", "phpunit",
    "sbt", "task",
];
/// Folders of a project with scripts of its own.
pub(super) const SCRIPT_FOLDERS: [&str; 7] =
    ["scripts/", "script/", "bin/", "tools/", "ci/", "hack/", "dev/"];
/// What a command does that is worth knowing, whatever its program.
pub(super) const TASKS: [&str; 19] = [
    "deploy",
    "migrate",
    "generate",
    "test",
    "tests",
    "build",
    "release",
    "publish",
    "lint",
    "format",
    "fmt",
    "serve",
    "seed",
    "codegen",
    "provision",
    "upgrade",
    "run",
    "check",
    "e2e",
];
/// Programs whose commands are no tasks of a project: they install, connect, keep versions, or handle files.
pub(super) const NO_TASKS: [&str; 62] = [
    "mkdir",
    "rmdir",
    "rm",
    "cp",
    "mv",
    "ln",
    "touch",
    "chmod",
    "chown",
    "tar",
    "zip",
    "unzip",
    "diff",
    "sort",
    "uniq",
    "cut",
    "tr",
    "tee",
    "xargs",
    "date",
    "man",
    "watch",
    "source",
    "export",
    "set",
    "alias",
    "vim",
    "nano",
    "code",
    "open",
    "apt",
    "apt-get",
    "brew",
    "dnf",
    "yum",
    "pacman",
    "apk",
    "snap",
    "pip",
    "pip3",
    "pipx",
    "gem",
    "rustup",
    "nvm",
    "git",
    "gh",
    "glab",
    "systemctl",
    "service",
    "ssh",
    "scp",
    "rsync",
    "curl",
    "wget",
    "test",
    "[",
    "kill",
    "claude",
    "codex",
    "gemini",
    "loci",
    "loci-mcp",
];
/// Programs that deploy or provision without such a word.
pub(super) const DEPLOYERS: [&str; 4] = ["vercel", "ansible-playbook", "cdk", "serverless"];
/// Names of a remote to which a push deploys.
pub(super) const DEPLOY_REMOTES: [&str; 7] =
    ["heroku", "dokku", "piku", "production", "prod", "staging", "live"];
/// Options that make a command do less: that it works then mends nothing.
pub(super) const NARROWING: [&str; 16] = [
    "-run",
    "--filter",
    "--grep",
    "-k",
    "-t",
    "-m",
    "--lf",
    "--only",
    "--no-run",
    "--passWithNoTests",
    "--collect-only",
    "--testNamePattern",
    "--skip",
    "--exclude",
    "--ignore",
    "--lib",
];
