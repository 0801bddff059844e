//! The memories that `loci bridge write` puts into a client's memory file: those of a brief, without what the files state themselves.
//!
//! Not here: writing the file (the command line), the brief (`operations::brief`).

use crate::bridge::{LoadedMemory, origin};
use crate::db::{bridge, import_rows, memories};
use crate::duplicate::{compare_facts, is_same_wording};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::operations::bridge::current;
use crate::operations::brief::BriefRequest;
use crate::search::nearest;
use crate::search::similar_results::SAME_FACT_COSINE;
use loci_proto::memory::MemoryId;
use loci_proto::requests::bridge::{BLOCK_BEGIN, BLOCK_END, BridgeBlockReply, BridgeClient};
use std::cmp::Ordering;
use std::sync::Arc;

/// The size of what is written to a memory file.
const BLOCK_TOKENS: usize = 500;

impl Reader {
    /// Returns the memories of a project for its memory file: those of a brief, without those that a memory file of the project states:
    /// in the same words, in part, or in other words.
    ///
    /// # Errors
    /// `Database`.
    pub fn bridge_block(
        &self,
        client: BridgeClient,
        viewer: Viewer<'_>,
        max_lines: usize,
        now: Timestamp,
    ) -> Result<BridgeBlockReply> {
        let mut own = LoadedMemory::default();
        for file in bridge::files(&self.conn)?.into_iter().filter(|file| !file.is_gone) {
            let is_of_project = file.client == client.as_str()
                && match &file.group {
                    Some(group) => self.is_group(group, &viewer.group.id)?,
                    None => false,
                };
            if is_of_project && let Some((text, ids)) = current(&self.conn, file.id)? {
                own.add_whole(client, (&file.path, &without_block(&text)), ids);
            }
        }
        own.add_reworded(self.reworded(&own, viewer, now)?);
        let own = Some(Arc::new(own));
        let wanted = BriefRequest { budget: BLOCK_TOKENS, own, ..BriefRequest::default() };
        let brief = self.hook_brief(&wanted, viewer, now)?;
        let lines = brief.text.each_line().filter(|line| line.starts_with("- ")).take(max_lines);
        let row =
            bridge::clients(&self.conn)?.into_iter().find(|row| row.client == client.as_str());
        Ok(BridgeBlockReply {
            lines: lines.collect(),
            withheld: brief.withheld.len() as u64,
            project: viewer.group.name.clone(),
            folder: row.map(|row| row.folder),
        })
    }

    /// Returns whether two ids are of one project: one may be that of a project that was merged into it.
    fn is_group(&self, one: &str, other: &str) -> Result<bool> {
        let found = import_rows::group(&self.conn, one)?;
        Ok(one == other || found.is_some() && found == import_rows::group(&self.conn, other)?)
    }

    /// Returns the memories that say in other words what the files state, as far as the index is loaded.
    fn reworded(
        &self,
        own: &LoadedMemory,
        viewer: Viewer<'_>,
        now: Timestamp,
    ) -> Result<Vec<MemoryId>> {
        let Some(index) = self.shared.warm() else { return Ok(Vec::new()) };
        let isolation = self.shared.isolation_for(viewer);
        let visibility = Visibility::of_group(&viewer.group.id, isolation);
        let mask = index.mask(&self.shared.filter(&visibility, now));
        let mut found = Vec::new();
        for id in own.imported() {
            let Some(stated) = memories::by_id(&self.conn, id)? else { continue };
            let Some(vector) = index.direction(stated.seq) else { continue };
            for (slot, _) in nearest::nearest(&index, &mask, &vector, SAME_FACT_COSINE.into()) {
                let other = memories::by_seq(&self.conn, index.seq(slot))?;
                found.extend(other.filter(|other| says(&stated, other)).map(|other| other.id));
            }
        }
        Ok(found)
    }
}

/// Returns whether a statement of a file says all that a memory near it says.
fn says(stated: &Memory, other: &Memory) -> bool {
    let (stated, text) = (origin::bare(stated), origin::bare(other));
    is_same_wording(stated, text) || compare_facts(stated, text).is_some_and(Ordering::is_ge)
}

/// Returns a file without the part that loci wrote.
fn without_block(text: &str) -> String {
    let mut is_inside = false;
    let is_kept = |line: &&str| {
        let was_inside = is_inside;
        is_inside = (is_inside || line.trim() == BLOCK_BEGIN) && line.trim() != BLOCK_END;
        !is_inside && !was_inside
    };
    text.split_inclusive('\n').filter(is_kept).collect()
}
