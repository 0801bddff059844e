//! What rows show of memories that another reply only names: type, day, project and text, in one request.

use crate::client::call::VerbClient;
use crate::output::{MemoryRow, Problem};
use loci_proto::memory::MemoryId;
use loci_proto::requests::list::{ListReply, ListRequest, ListedMemory};
use std::collections::HashMap;

/// Characters of each text, in which a passage is looked for: more than any memory has.
const TEXT_CHARS: usize = 40_000;
/// Ids per request.
const IDS: usize = 1000;

/// Memories by their ids.
#[derive(Debug, Default)]
pub struct RowDetails(HashMap<MemoryId, ListedMemory>);

impl RowDetails {
    /// Fetches the memories with these ids, of every project and status that the caller may see.
    ///
    /// # Errors
    /// The daemon cannot be reached, or refuses the call.
    pub async fn fetch(
        client: &VerbClient,
        ids: impl IntoIterator<Item = &MemoryId>,
    ) -> Result<Self, Problem> {
        Self::fetch_as_of(client, ids, None).await
    }

    /// Like [`RowDetails::fetch`], as the memories were known at a time.
    ///
    /// # Errors
    /// As [`RowDetails::fetch`].
    pub async fn fetch_as_of(
        client: &VerbClient,
        ids: impl IntoIterator<Item = &MemoryId>,
        as_of: Option<&str>,
    ) -> Result<Self, Problem> {
        let ids: Vec<MemoryId> = ids.into_iter().cloned().collect();
        let mut found = HashMap::new();
        for part in ids.chunks(IDS) {
            let request = ListRequest {
                ids: Some(part.to_vec()),
                status: Some("all".to_owned()),
                all_groups: true,
                as_of: as_of.map(str::to_owned),
                text_chars: Some(TEXT_CHARS),
                ..ListRequest::default()
            };
            let reply: ListReply = client.call(&request).await?;
            found.extend(reply.memories.into_iter().map(|memory| (memory.id.clone(), memory)));
        }
        Ok(Self(found))
    }

    /// Returns a memory.
    #[must_use]
    pub fn get(&self, id: &MemoryId) -> Option<&ListedMemory> {
        self.0.get(id)
    }

    /// Returns the row of a memory; of one that no longer exists, or cannot be seen, the row has only `preview`.
    #[must_use]
    pub fn row(&self, id: &MemoryId, preview: &str) -> MemoryRow {
        self.get(id).map_or_else(
            || MemoryRow { id: id.to_string(), text: preview.to_owned(), ..MemoryRow::default() },
            MemoryRow::from,
        )
    }
}
