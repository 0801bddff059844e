//! Recall by id: shows memories in full.
//!
//! Not here: recall by query (`search`), the reply's content (`hydrate`).

use crate::Reader;
use crate::db::memories;
use crate::error::Result;
use crate::index::Statuses;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::operations::recall::hydrate::{Hit, ReplyDraft};
use crate::operations::recall::search::Scope;
use crate::operations::recall::{Answer, RecallContext};
use loci_proto::group::Group;
use loci_proto::memory::MemoryId;
use loci_proto::requests::recall::{RecallReply, RecallRequest};

impl Reader {
    /// Returns memories by id, in the order requested. Ids of memories that do not exist
    /// or that the session cannot see are `missing`.
    pub(crate) fn recall_ids(
        &self,
        request: &RecallRequest,
        context: RecallContext<'_>,
        group: &Group,
        ids: &[MemoryId],
    ) -> Result<Answer> {
        let visibility = Visibility::of_group(&group.id, self.shared.isolation_for(context.viewer));
        let mut reply = RecallReply { as_of: self.stamp(), ..RecallReply::default() };
        let mut hits: Vec<Hit> = Vec::new();
        for id in ids {
            if hits.iter().any(|hit| hit.memory.id == *id) || reply.missing.contains(id) {
                continue;
            }
            match memories::by_id(&self.conn, id)?
                .filter(|memory| can_show(memory, &visibility, context.now))
            {
                Some(memory) => hits.push(Hit::of(memory)),
                None => reply.missing.push(id.clone()),
            }
        }
        reply.total_matched = hits.len();
        reply.note = match request {
            RecallRequest { query: Some(_), .. } => {
                Some("query was ignored because ids were given".to_owned())
            }
            RecallRequest { explain: true, .. } => {
                Some("explain was ignored because ids are not ranked".to_owned())
            }
            _ => None,
        };
        let scope = Scope {
            request,
            context,
            group,
            visibility: &visibility,
            statuses: Statuses::Active,
            selected: None,
            kind: None,
        };
        let associations = self.associations(scope, None, &hits)?;
        let clusters = self.clusters(scope, &hits);
        self.hydrate(ReplyDraft { request, group, reply, hits, associations, clusters }, context)
    }
}

fn can_show(memory: &Memory, visibility: &Visibility, now: Timestamp) -> bool {
    visibility.admits(memory.audience())
        && memory.status != Status::Forgotten
        && memory.expires_at.is_none_or(|at| at > now)
}
