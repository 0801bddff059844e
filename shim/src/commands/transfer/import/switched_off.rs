//! The projects in which loci is off: of other programs nothing is imported into them.

use crate::client::call::VerbClient;
use crate::output::Problem;
use crate::project::FoundProject;
use loci_proto::requests::config::{ConfigReply, ConfigRequest};
use loci_proto::requests::groups::GroupsReply;
use serde_json::json;
use std::collections::HashSet;

/// The key of the setting by which only projects with a `.loci.toml` are served.
const OPT_IN: &str = "projects.opt_in";

/// What is off.
#[derive(Debug, Default)]
pub(super) struct SwitchedOff {
    /// Ids and aliases of projects that a person switched off, or whose files do.
    ids: HashSet<String>,
    /// Projects without a `.loci.toml` are off.
    pub needs_file: bool,
}

impl SwitchedOff {
    /// Asks the daemon.
    ///
    /// # Errors
    /// The daemon cannot be reached.
    pub async fn load(client: &VerbClient) -> Result<Self, Problem> {
        let reply: GroupsReply = client.call("groups", &json!({})).await?;
        let off = reply.groups.into_iter().filter(|group| group.off);
        let ids = off.flat_map(|group| group.aliases.into_iter().chain([group.id])).collect();
        let config: ConfigReply = client.call("config", &ConfigRequest {}).await?;
        let opt_in = config.keys.iter().find(|key| key.key == OPT_IN);
        let needs_file = opt_in.is_some_and(|key| key.value == json!(true));
        Ok(Self { ids, needs_file })
    }

    /// Notes a project by what its folder says.
    pub fn note(&mut self, id: &str, found: &FoundProject) {
        if found.off || (self.needs_file && !found.has_file) {
            self.ids.insert(id.to_owned());
        }
    }

    /// Returns whether loci is off in a project.
    pub fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }
}
