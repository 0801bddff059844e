//! The marks of the clients whose agents run commands: variables of their shells, and programs above them. Data only.
//!
//! A variable is here only if a client sets it where its agent runs a command, not in the terminals of people: editors set `CURSOR_TRACE_ID`,
//! `CLAUDE_CODE_SSE_PORT`, `GEMINI_CLI_IDE_SERVER_PORT`, `VSCODE_…`, `ZED_TERM` and `TERM_PROGRAM` in both. Keys and settings of people
//! (`COPILOT_MODEL`, `GOOSE_PROVIDER`) are no marks either.

/// One client.
#[derive(Debug)]
pub struct Client {
    /// The name under which its agent's texts are stored.
    pub name: &'static str,
    /// Its variables: `NAME` with any value, or `NAME=VALUE`.
    pub variables: &'static [&'static str],
    /// Its programs, or the scripts that an interpreter runs, without folder and ending.
    pub programs: &'static [&'static str],
    /// The folders that a package manager keeps it in.
    pub packages: &'static [&'static str],
}

const fn client(
    name: &'static str,
    variables: &'static [&'static str],
    programs: &'static [&'static str],
    packages: &'static [&'static str],
) -> Client {
    Client { name, variables, programs, packages }
}

/// Every known client. The last has what several clients set without saying who they are.
pub const CLIENTS: &[Client] = &[
    client(
        "claude-code",
        &["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION"],
        &["claude"],
        &["@anthropic-ai/claude-code"],
    ),
    client(
        "codex",
        &["CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_CI"],
        &["codex"],
        &["@openai/codex"],
    ),
    client("gemini-cli", &["GEMINI_CLI"], &["gemini"], &["@google/gemini-cli"]),
    client("opencode", &["OPENCODE", "OPENCODE_CLIENT"], &["opencode"], &["opencode-ai"]),
    client(
        "cursor",
        &["CURSOR_AGENT", "CURSOR_EXTENSION_HOST_ROLE=agent-exec"],
        &["cursor-agent"],
        &["cursor-agent"],
    ),
    client(
        "copilot",
        &[
            "COPILOT_CLI",
            "COPILOT_AGENT",
            "COPILOT_AGENT_SESSION_ID",
            "COPILOT_AGENT_JOB_ID",
            "VSCODE_COPILOT_TERMINAL",
        ],
        &["copilot"],
        &["@github/copilot"],
    ),
    client("qwen-code", &["QWEN_CODE"], &["qwen"], &["@qwen-code/qwen-code"]),
    client("goose", &["GOOSE_TERMINAL"], &["goose", "goosed"], &[]),
    client("amp", &["AMP_CURRENT_THREAD_ID"], &["amp"], &["@sourcegraph/amp"]),
    client("cline", &["CLINE_ACTIVE"], &["cline"], &[]),
    client("augment", &["AUGMENT_AGENT"], &["auggie"], &["@augmentcode/auggie"]),
    client("crush", &["CRUSH"], &["crush"], &["@charmland/crush"]),
    client("antigravity", &["ANTIGRAVITY_AGENT"], &[], &[]),
    client("trae", &["TRAE_AI_SHELL_ID"], &["trae-cli"], &[]),
    client("pi", &["PI_CODING_AGENT"], &[], &["@mariozechner/pi-coding-agent"]),
    client("aider", &[], &["aider"], &[]),
    client("droid", &[], &["droid"], &[]),
    client("openhands", &[], &["openhands"], &[]),
    client("agent", &["AGENT", "AI_AGENT"], &[], &[]),
];
