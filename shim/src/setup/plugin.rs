//! Whether a client runs the plugin of loci, which brings the server and the same hooks as setup.

use super::client::Client;
use super::edit::{self, Format};
use serde_json::Value as Json;
use std::path::Path;

/// The start of the plugin's name in a client's configuration; the name of the marketplace follows.
const NAME: &str = "loci@";
/// Why setup writes no hooks beside the plugin.
pub const NO_HOOKS: &str = "The plugin loci runs the hooks, so setup writes none";

/// Returns whether the user has the plugin and it is on. `folder` has the client's configuration. Known of Claude Code and Codex.
#[must_use]
pub fn is_on(client: Client, folder: &Path) -> bool {
    let (file, format) = match client {
        Client::Claude => ("settings.json", Format::Json),
        Client::Codex => ("config.toml", Format::Toml),
        _ => return false,
    };
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let document = edit::parse(&text, format).unwrap_or_default();
    let is_on = |state: &Json| match client {
        Client::Claude => *state == true,
        _ => state["enabled"] != false,
    };
    let plugins = match client {
        Client::Claude => &document["enabledPlugins"],
        _ => &document["plugins"],
    };
    let plugins = plugins.as_object().into_iter().flatten();
    plugins.into_iter().any(|(name, state)| name.starts_with(NAME) && is_on(state))
}
