//! Wishes: what agents and scripts asked to do to a memory and only a person may do. They wait until the person does or declines it.
//!
//! Not here: who may do what (`check_may_change`, the table of verbs), how wishes are listed (`list`) and declined (`review`).

use crate::db::{memories, wishes};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::actor::Viewer;
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::operations::groups::find;
use crate::operations::visible_memory::FindVisible;
use crate::transaction::change::CallContext;
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryId;
use loci_proto::requests::list::{ListRequest, ListedMemory};
use loci_proto::wish::WishKind;
use serde::{Deserialize, Serialize};

/// Maximum open wishes of a store; further ones are refused, so that none is buried.
pub const MAX_WISHES: usize = 100;

/// Characters of the text of a memory with wishes.
const TEXT_CHARS: usize = 2000;

/// What a refused request asked for.
#[derive(Debug, Clone)]
pub struct Wished {
    /// What shall be done.
    pub kind: WishKind,
    /// To this memory.
    pub id: MemoryId,
    /// The project of a move.
    pub to: Option<GroupName>,
    /// The project that the request named.
    pub group: Option<GroupName>,
}

/// What became of a wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WishState {
    /// It waits.
    Waits,
    /// A person has declined it, and the memory is as it was.
    Declined,
    /// The memory is as wished.
    Done,
    /// Too many wait.
    Full,
}

impl Writer {
    /// Records what a refused request asked for, if the caller sees the memory.
    ///
    /// # Errors
    /// `not_found`, `conflict` for a memory that the caller may not see or change, or a project; `Database`.
    pub fn wish(&mut self, call: &CallContext, wished: &Wished) -> Result<WishState> {
        // The refused call has no stored reply, so it may be sent again with its key.
        let call = CallContext { key: None, ..call.clone() };
        self.run_idempotent(&call, |change| {
            let (viewer, named) = ((&call.actor).into(), wished.group.as_ref());
            let visibility = Visibility::new(change.shared, change.conn, viewer, named)?;
            let memory = visibility.find_to_change(change.conn, "memory_id", &wished.id)?;
            let to = wished.to.as_ref().map(|to| find(change, "to", to)).transpose()?;
            if to.as_ref().is_some_and(|to| memory.group.as_deref() == Some(to.id.as_str())) {
                return Ok(WishState::Done);
            }
            let waiting = wishes::delete_ended(change.conn)?;
            match wishes::is_declined(change.conn, memory.seq, wished.kind)? {
                Some(true) => return Ok(WishState::Declined),
                None if waiting >= MAX_WISHES => return Ok(WishState::Full),
                _ => {}
            }
            let what = (wished.kind, to.as_ref().map(|to| to.id.as_str()));
            wishes::insert(change.conn, &memory, what, (&call.actor, call.now))?;
            wishes::delete_ended(change.conn)?;
            let waits = wishes::is_declined(change.conn, memory.seq, wished.kind)?.is_some();
            Ok(if waits { WishState::Waits } else { WishState::Done })
        })
    }
}

impl Reader {
    /// Returns the memories with wishes, of all projects that the viewer may name.
    pub(crate) fn wished(&self, viewer: Viewer<'_>, now: Timestamp) -> Result<Vec<ListedMemory>> {
        if wishes::open(&self.conn)?.is_empty() {
            return Ok(Vec::new());
        }
        let request = ListRequest {
            wished: true,
            status: Some("all".to_owned()),
            all_groups: true,
            text_chars: Some(TEXT_CHARS),
            limit: Some(MAX_WISHES),
            ..ListRequest::default()
        };
        Ok(self.list(&request, viewer, now)?.memories)
    }

    /// Returns how many memories that this visibility admits have wishes.
    pub(crate) fn count_wished(&self, visibility: &Visibility) -> Result<usize> {
        let mut count = 0;
        for seq in wishes::open(&self.conn)?.into_keys() {
            let memory = memories::by_seq(&self.conn, seq)?;
            count += usize::from(memory.is_some_and(|memory| visibility.admits(memory.audience())));
        }
        Ok(count)
    }
}
