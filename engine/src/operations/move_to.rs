//! `move_to`: a person moves memories to another project. Their scope stays.

use crate::db::groups;
use crate::error::{Error, Result};
use crate::handles::writer::Writer;
use crate::model::visibility::Visibility;
use crate::operations::groups::{check_not_off, find, move_memory};
use crate::operations::verbs::write_verb;
use crate::operations::visible_memory::FindVisible;
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use loci_proto::error::{Code, Failure};
use loci_proto::group::{Group, NAME_HINT, check_name};
use loci_proto::requests::move_to::{MoveReply, MoveRequest};

write_verb!(MoveRequest, Writer::move_to, Complete);

impl Writer {
    /// Moves memories, all or none.
    ///
    /// # Errors
    /// `not_found` for a memory or a project, `conflict` if the project is off, `Database`.
    pub fn move_to(&mut self, call: &CallContext, request: &MoveRequest) -> Result<MoveReply> {
        self.run_idempotent(call, |change| {
            let visibility = Visibility::new(
                change.shared,
                change.conn,
                (&call.actor).into(),
                request.group.as_ref(),
            )?;
            let mut memories = Vec::with_capacity(request.memory_ids.len());
            for id in &request.memory_ids {
                memories.push(visibility.find_to_change(change.conn, "memory_ids", id)?);
            }
            let (to, name, created) = target(change, request)?;
            let isolation = change.shared.isolation();
            let mut isolated = false;
            let mut moved = Vec::new();
            for memory in &memories {
                let from = memory.group.as_deref();
                if from != Some(to.as_str()) {
                    isolated |= from.is_some_and(|from| isolation.is_isolated(from));
                    move_memory(change, memory.seq, &to)?;
                    moved.push(memory.seq);
                }
            }
            mentions::renew_all(change, &moved, |_| false)?;
            let act = change.commit_to_journal("move")?;
            isolated |= isolation.is_isolated(&to) && !moved.is_empty();
            Ok(MoveReply { moved: moved.len(), to, name, created, isolated, act })
        })
    }
}

/// Returns id and name of the project, and whether it was created.
fn target(change: &mut Change<'_>, request: &MoveRequest) -> Result<(String, String, bool)> {
    match find(change, "to", &request.to) {
        Ok(group) => {
            check_not_off(change, "to", &group)?;
            Ok((group.id, group.name, false))
        }
        Err(Error::Refused(failure)) if failure.code == Code::NotFound => {
            if !request.create {
                let known = failure.hint.clone().unwrap_or_default();
                let hint = format!("{known}; --create makes a new one");
                return Err(failure.hint(hint).into());
            }
            check_name(request.to.as_str())
                .map_err(|reason| Failure::invalid("to", reason).hint(NAME_HINT))?;
            let group = Group::named(&request.to);
            groups::ensure(change.conn, &group, change.call.now)?;
            Ok((group.id, group.name, true))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::fixture::{TestStore, id, parse};
    use loci_proto::requests::move_to::MoveRequest;
    use serde_json::json;

    #[test]
    fn a_move_needs_a_project_and_can_be_undone() {
        let mut store = TestStore::new();
        let episode = json!({"content": "The kiln was repaired", "type": "episodic"});
        let id = id(&store.store("old", episode, None)).clone();
        let request = |create: bool| -> MoveRequest {
            parse(json!({"memory_ids": [id], "to": "new", "create": create}))
        };
        let call = store.call("old", None);
        let refused = store.writer.move_to(&call, &request(false)).expect_err("no project");
        assert!(refused.to_string().contains("names no project: new"), "{refused}");
        let reply = store.writer.move_to(&call, &request(true)).expect("it is moved");
        assert_eq!((reply.moved, reply.created, reply.to.as_str()), (1, true, "new"));
        let again: MoveRequest = parse(json!({"memory_ids": [id], "to": "new", "group": "new"}));
        let again = store.writer.move_to(&call, &again).expect("it is there");
        assert_eq!((again.moved, again.act), (0, None));
    }
}
