//! `[hooks]`: which events of clients are answered, and with how much text.

use loci_proto::error::Failure;
use loci_proto::requests::hook::HookEvent;
use serde::{Deserialize, Serialize};

/// The tokens that one text may have: a brief has at most 4,000 characters.
const TOKENS: std::ops::RangeInclusive<i64> = 20..=1000;

/// `[hooks]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hooks {
    /// Give the brief of the project at the beginning of a session.
    pub session_start: bool,
    /// Give the memories that belong to a prompt.
    pub prompt: bool,
    /// Give a short brief to a subagent.
    pub subagent_start: bool,
    /// Give the memories about the file or command of a tool.
    pub pre_tool: bool,
    /// Store the client's summary of a compacted conversation.
    pub post_compact: bool,
    /// Remind the agent to store a decision.
    pub stop: bool,
    /// Maximum size of the brief, in tokens.
    pub session_start_tokens: i64,
    /// Maximum size of the text for a prompt, in tokens.
    pub prompt_tokens: i64,
    /// Maximum size of the brief of a subagent, in tokens.
    pub subagent_start_tokens: i64,
    /// Maximum size of the text for a tool, in tokens.
    pub pre_tool_tokens: i64,
}

impl Default for Hooks {
    fn default() -> Self {
        Self {
            session_start: true,
            prompt: true,
            subagent_start: true,
            pre_tool: false,
            post_compact: false,
            stop: false,
            session_start_tokens: 1000,
            prompt_tokens: 300,
            subagent_start_tokens: 500,
            pre_tool_tokens: 150,
        }
    }
}

impl Hooks {
    /// Refuses a budget that is out of range.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn check(&self) -> Result<(), Failure> {
        let budgets = [
            ("hooks.session_start_tokens", self.session_start_tokens),
            ("hooks.prompt_tokens", self.prompt_tokens),
            ("hooks.subagent_start_tokens", self.subagent_start_tokens),
            ("hooks.pre_tool_tokens", self.pre_tool_tokens),
        ];
        match budgets.into_iter().find(|(_, value)| !TOKENS.contains(value)) {
            None => Ok(()),
            Some((key, value)) => {
                let (min, max) = (TOKENS.start(), TOKENS.end());
                Err(Failure::invalid(key, format!("must be from {min} to {max}, not {value}")))
            }
        }
    }

    /// Returns whether an event is answered. The end of a session always is: it delivers nothing.
    #[must_use]
    pub fn is_on(&self, event: HookEvent) -> bool {
        match event {
            HookEvent::SessionStart => self.session_start,
            HookEvent::Prompt => self.prompt,
            HookEvent::PreTool => self.pre_tool,
            HookEvent::SubagentStart => self.subagent_start,
            HookEvent::PostCompact => self.post_compact,
            HookEvent::Stop => self.stop,
            HookEvent::SessionEnd => true,
        }
    }

    /// Returns the maximum size of the text of an event, in tokens.
    #[must_use]
    pub fn budget(&self, event: HookEvent) -> usize {
        let tokens = match event {
            HookEvent::Prompt => self.prompt_tokens,
            HookEvent::PreTool => self.pre_tool_tokens,
            HookEvent::SubagentStart => self.subagent_start_tokens,
            _ => self.session_start_tokens,
        };
        usize::try_from(tokens).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use std::path::Path;

    #[test]
    fn a_budget_out_of_range_is_refused_by_name() {
        let path = Path::new("/x/config.toml");
        let config = Config::from_text("[hooks]\nstop = true\nprompt_tokens = 20\n", path);
        assert!(config.is_ok_and(|config| config.hooks.stop && config.hooks.prompt_tokens == 20));
        let refused = Config::from_text("[hooks]\npre_tool_tokens = 1001\n", path);
        let refused = refused.expect_err("the value is refused").to_string();
        assert!(refused.contains("hooks.pre_tool_tokens must be from 20 to 1000"), "{refused}");
    }
}
