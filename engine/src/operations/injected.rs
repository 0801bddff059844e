//! `injected`: lists what hooks delivered and withheld.
//!
//! A person sees every receipt. An agent sees those of its own project, and of each memory only what it can see itself.

use crate::db::hook_deliveries::{self, EventRow};
use crate::db::{groups, memories};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::hooks::receipt::Outcome;
use crate::model::actor::Viewer;
use crate::model::visibility::Visibility;
use crate::search::budget;
use loci_proto::group::Group;
use loci_proto::requests::injected::{InjectedReply, InjectedRequest, Receipt, ReceiptMemory};

/// Default of `limit`.
const DEFAULT_LIMIT: usize = 20;
/// Maximum of `limit`.
const MAX_LIMIT: usize = 1000;

impl Reader {
    /// Returns the newest receipts.
    ///
    /// # Errors
    /// `Database`.
    pub fn injected(&self, request: &InjectedRequest, viewer: Viewer<'_>) -> Result<InjectedReply> {
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let visibility = Visibility::of_group(&viewer.group.id, self.shared.isolation());
        let mut reply = InjectedReply::default();
        hook_deliveries::newest(&self.conn, request.session.as_deref().unwrap_or(""), |event| {
            let is_own = event.group.as_deref() == Some(viewer.group.id.as_str());
            if !viewer.is_person() && !is_own {
                return Ok(true);
            }
            let project = self.project_of(event.group.as_deref(), viewer.group)?;
            let visibility = (!viewer.is_person()).then_some(&visibility);
            let receipt = self.receipt(event, project, visibility)?;
            let is_empty = receipt.memories.is_empty() && receipt.withheld.is_empty();
            let is_routine = [Outcome::Silent, Outcome::Closed].map(Outcome::as_str);
            if is_empty && is_routine.contains(&receipt.outcome.as_str()) && !request.all {
                return Ok(true);
            }
            if reply.receipts.len() == limit {
                reply.more = true;
                return Ok(false);
            }
            reply.receipts.push(receipt);
            Ok(true)
        })?;
        Ok(reply)
    }

    /// Returns the display name of a project. Of one in which nothing is stored only the id is known, which names nothing; the caller's own
    /// has the name of its folder.
    fn project_of(&self, id: Option<&str>, own: &Group) -> Result<Option<String>> {
        let Some(id) = id else { return Ok(None) };
        let unknown = || match id {
            id if id == own.id => Some(own.name.clone()),
            id => (!Group::is_folder_id(id)).then(|| id.to_owned()),
        };
        Ok(groups::name(&self.conn, id)?.or_else(unknown))
    }

    /// Completes an event with the memories that the caller can see; a person sees all.
    fn receipt(
        &self,
        event: EventRow,
        project: Option<String>,
        visibility: Option<&Visibility>,
    ) -> Result<Receipt> {
        let (mut delivered, mut withheld) = (Vec::new(), Vec::new());
        for row in hook_deliveries::memories_of(&self.conn, event.id)? {
            let Some(memory) = memories::by_seq(&self.conn, row.memory)? else { continue };
            if visibility.is_some_and(|visibility| !visibility.admits(memory.audience())) {
                continue;
            }
            let preview = budget::preview(&memory.content);
            let list = if row.withheld.is_none() { &mut delivered } else { &mut withheld };
            let (why, edited) = (row.withheld, row.is_edited);
            list.push(ReceiptMemory { id: memory.id, preview, why, edited });
        }
        Ok(Receipt {
            at: event.at.iso(),
            client: event.client,
            event: event.event,
            session: event.session,
            project,
            outcome: event.outcome,
            reason: event.reason,
            tokens: event.tokens,
            memories: delivered,
            withheld,
        })
    }
}
