//! Memories of a project that mention no known entity: a page for agents, who can name the people and things in them.
//!
//! Gated memories are not on it. Not here: how mentions are found (`transaction`).

use crate::db::{listing, mentions};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::operations::brief::Brief;
use crate::operations::named_project::existing_group;
use crate::search::budget;
use loci_proto::gate::ModelText;
use loci_proto::memory::MemoryType;

/// Maximum memories on the page.
const MAX_LISTED: usize = 20;

impl Reader {
    /// Returns the newest memories of the caller's project that mention no entity, one a line with its id.
    ///
    /// # Errors
    /// `Database`.
    pub fn unlinked<'a>(&self, viewer: impl Into<Viewer<'a>>, now: Timestamp) -> Result<Brief> {
        let viewer = viewer.into();
        let group = existing_group(&self.conn, &self.shared.isolation(), viewer, None)?;
        let mut memories = Vec::new();
        listing::newest_first(&self.conn, |memory| {
            if is_listed(&memory, &group.id, now) {
                memories.push(memory);
            }
        })?;
        let mut page = Brief { text: ModelText::default(), shown: Vec::new() };
        for memory in memories {
            if page.shown.len() == MAX_LISTED {
                break;
            }
            if mentions::in_memory(&self.conn, memory.seq)?.is_empty() {
                let preview = budget::preview(&memory.content);
                let [id, preview] = [memory.id.as_str(), &preview].map(ModelText::unasked);
                let line = ModelText::own("- ").and(&id).and_own(" ").and(&preview).and_own("\n");
                page.text.push(&line);
                page.shown.push(memory.seq);
            }
        }
        Ok(page)
    }
}

fn is_listed(memory: &Memory, group: &str, now: Timestamp) -> bool {
    memory.group.as_deref() == Some(group)
        && memory.kind != MemoryType::Entity
        && memory.status == Status::Active
        && memory.expires_at.is_none_or(|at| at > now)
        && !memory.provenance.is_gated()
}
