//! The events at which clients run `loci hook`. Not here: the entries of hooks (`hooks`).

use clap::ValueEnum;

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Event {
    /// A session starts, resumes or was compacted.
    SessionStart,
    /// The user has sent a prompt.
    Prompt,
    /// A tool is about to run.
    PreTool,
    /// A subagent starts.
    SubagentStart,
    /// The conversation was compacted.
    PostCompact,
    /// The agent has answered.
    Stop,
    /// A session ends.
    SessionEnd,
}

impl Event {
    /// Returns the name in the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::Prompt => "prompt",
            Self::PreTool => "pre-tool",
            Self::SubagentStart => "subagent-start",
            Self::PostCompact => "post-compact",
            Self::Stop => "stop",
            Self::SessionEnd => "session-end",
        }
    }

    /// Returns whether the hook is written without `--with`.
    #[must_use]
    pub fn is_default(self) -> bool {
        !matches!(self, Self::PreTool | Self::Stop)
    }

    /// Returns the seconds after which a client gives up.
    #[must_use]
    pub fn timeout_s(self) -> i64 {
        match self {
            Self::SessionStart | Self::PostCompact => 5,
            _ => 2,
        }
    }

    /// Returns what the hook does.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::SessionStart => "give the brief of the project when a session starts",
            Self::Prompt => "recall what fits a prompt",
            Self::PreTool => "recall what is known about a file or command before a tool runs",
            Self::SubagentStart => "give a short brief to a subagent",
            Self::PostCompact => {
                "note a compaction; store the client's summary if hooks.post_compact is on"
            }
            Self::Stop => "remind to store what was decided",
            Self::SessionEnd => "note the end of a session",
        }
    }
}
