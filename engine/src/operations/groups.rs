//! `groups`: lists and renames groups, adds and removes aliases, and resolves the redirects
//! of sessions whose group was merged into another.

use crate::db::groups;
use crate::db::groups::GroupRow;
use crate::db::import_rows;
use crate::db::log::Operation;
use crate::db::memories;
use crate::db::rows;
use crate::db::rows::{Image, Row};
use crate::error::{Error, Result};
use crate::handles::reader::Reader;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::model::actor::Viewer;
use crate::operations::named_project::{named_group, unknown_group};
use crate::operations::verbs::{read_verb, write_verb};
use crate::text::same_letters;
use crate::transaction::change::{CallContext, Change};
use loci_proto::error::{Code, Failure};
use loci_proto::group::{self, Group, GroupName};
use loci_proto::memory::{MemoryId, Origin};
use loci_proto::requests::groups::{
    AliasRequest, GroupChangedReply, GroupEntry, GroupsReply, GroupsRequest, RenameRequest,
};
use rusqlite::Connection;
use serde_json::json;
use std::sync::Arc;

read_verb!(GroupsRequest, |reader, _request, call| reader.groups(&call.actor));
write_verb!(RenameRequest, Writer::rename_group, Complete);
write_verb!(AliasRequest, Writer::alias_group, Complete);

/// The redirects of merged groups in the current state of the store.
#[derive(Debug, Clone)]
pub struct GroupRedirects(Arc<Shared>);

impl GroupRedirects {
    /// Returns the redirects of a store.
    pub(crate) fn of(shared: &Arc<Shared>) -> Self {
        Self(Arc::clone(shared))
    }

    /// Returns the group that this one was merged into, if any.
    #[must_use]
    pub fn resolve(&self, group: &Group) -> Option<Group> {
        self.0.group_redirects.read().get(&group.id).cloned()
    }
}

impl Reader {
    /// Returns every group that the viewer may name, sorted by name.
    ///
    /// # Errors
    /// `Database`.
    pub fn groups<'a>(&self, viewer: impl Into<Viewer<'a>>) -> Result<GroupsReply> {
        let (viewer, isolation) = (viewer.into(), self.shared.isolation());
        let mut groups = groups::all(&self.conn)?;
        groups.retain(|group| isolation.may_be_named(viewer, Some(&group.id)));
        let isolated = |group: &GroupRow| isolation.is_isolated(&group.id);
        let switches = self.shared.switches.read().clone();
        let entry = |row: GroupRow| {
            let off = switches.is_off(&row.id);
            GroupEntry { isolated: isolated(&row), off, ..to_entry(row) }
        };
        Ok(GroupsReply { groups: groups.into_iter().map(entry).collect() })
    }

    /// Returns the display names of groups; the id of one that has none.
    ///
    /// # Errors
    /// `Database`.
    pub fn group_names(&self, ids: &[String]) -> Result<Vec<String>> {
        let name = |id: &String| Ok(groups::name(&self.conn, id)?.unwrap_or_else(|| id.clone()));
        ids.iter().map(name).collect()
    }

    /// Returns the group that a person means by its id, an alias or its display name; a new one if there is none.
    ///
    /// # Errors
    /// `invalid` for a display name of several groups, or a name that no new group may have.
    pub fn group_named_by_person(&self, name: &GroupName) -> Result<Group> {
        // A person outside any project: no name is that of the own one.
        let nowhere = Group { id: String::new(), name: String::new() };
        let viewer = Viewer { origin: Origin::Person, ..Viewer::from(&nowhere) };
        named_group(&self.conn, &self.shared.isolation(), viewer, Some(name))
    }

    /// Returns the display name of the project of a session; that of its folder if nothing is stored there.
    ///
    /// # Errors
    /// `Database`.
    pub fn project_name(&self, group: &Group) -> Result<String> {
        Ok(groups::name(&self.conn, &group.id)?.unwrap_or_else(|| group.name.clone()))
    }

    /// Returns the project that a call names, the viewer's own if it names none, with the name that `loci groups list` shows.
    ///
    /// # Errors
    /// `invalid`, `not_found` or `conflict` for a project that the viewer may not name; `Database`.
    pub fn named_project(&self, viewer: Viewer<'_>, name: Option<&GroupName>) -> Result<Group> {
        let group = named_group(&self.conn, &self.shared.isolation(), viewer, name)?;
        let name = self.project_name(&group)?;
        Ok(Group { name, ..group })
    }

    /// Returns the project of a memory, with the name that `loci groups list` shows; `own` for a global one or an unknown id.
    ///
    /// # Errors
    /// `Database`.
    pub fn project_of_memory(&self, own: &Group, id: &MemoryId) -> Result<Group> {
        let id = memories::by_id(&self.conn, id)?.and_then(|memory| memory.group);
        let group = id.map_or_else(|| own.clone(), |id| Group { name: id.clone(), id });
        let name = self.project_name(&group)?;
        Ok(Group { name, ..group })
    }

    /// Returns true if the store has a group of this id.
    ///
    /// # Errors
    /// `Database`.
    pub fn has_group(&self, id: &str) -> Result<bool> {
        Ok(groups::name(&self.conn, id)?.is_some())
    }
}

impl Writer {
    /// Returns the redirects of merged groups.
    #[must_use]
    pub fn group_redirects(&self) -> GroupRedirects {
        GroupRedirects(Arc::clone(&self.shared))
    }

    /// Changes the display name of a group.
    ///
    /// # Errors
    /// `not_found`, `conflict` if the name belongs to another group, `Database`.
    pub fn rename_group(
        &mut self,
        call: &CallContext,
        request: &RenameRequest,
    ) -> Result<GroupChangedReply> {
        self.run_idempotent(call, |change| {
            let group = find(change, "group", &request.group)?;
            check_own(change, &group, "loci groups rename")?;
            check_name_free(change.conn, "to", &request.to, &group)?;
            if call.actor.origin != Origin::Person {
                // Whoever knows the project by its name goes on finding it, and no other one gets the name.
                keep_name(change, &group)?;
            }
            change.record_before(Row::Group(group.id.clone()))?;
            let columns = Image::from_iter([("name".to_owned(), json!(request.to))]);
            rows::update(change.conn, &Row::Group(group.id.clone()), &columns)?;
            commit(change, &group.id, 0, "groups rename")
        })
    }

    /// Adds or removes an alias of a group.
    ///
    /// # Errors
    /// `not_found`, `conflict` if the name belongs to another group, `Database`.
    pub fn alias_group(
        &mut self,
        call: &CallContext,
        request: &AliasRequest,
    ) -> Result<GroupChangedReply> {
        self.run_idempotent(call, |change| {
            let group = find(change, "group", &request.group)?;
            check_own(change, &group, "loci groups alias")?;
            let alias = request.alias.as_str();
            let row = Row::Alias(alias.to_owned());
            if request.remove {
                if call.actor.origin != Origin::Person {
                    let message = "only a person may remove a name of a project";
                    return Err(Failure::only_person(message, "loci groups alias").into());
                }
                if !group.aliases.iter().any(|existing| existing == alias) {
                    let failure = Failure::new(
                        Code::NotFound,
                        format!("is not an alias of {}: {alias}", group.name),
                    )
                    .at("alias");
                    return Err(failure.hint("Run loci groups list to see them").into());
                }
                change.record_before(row.clone())?;
                rows::delete(change.conn, &row)?;
            } else if !group.aliases.iter().any(|existing| existing == alias) {
                if call.actor.origin != Origin::Person && Group::is_folder_id(alias) {
                    let message = "looks like the id of a folder, whose sessions would move here";
                    return Err(Failure::only_person(message, "loci groups alias")
                        .at("alias")
                        .into());
                }
                check_name_free(change.conn, "alias", &request.alias, &group)?;
                import_rows::add_alias(change.conn, alias, &group.id)?;
                change.record_created(row);
            }
            commit(change, &group.id, 0, "groups alias")
        })
    }
}

/// Makes the present name of a project an alias of it, unless it is one or its id.
fn keep_name(change: &mut Change<'_>, group: &GroupRow) -> Result<()> {
    if group.name != group.id && import_rows::group(change.conn, &group.name)?.is_none() {
        import_rows::add_alias(change.conn, &group.name, &group.id)?;
        change.record_created(Row::Alias(group.name.clone()));
    }
    Ok(())
}

/// Refuses to an agent or a script to change the names of another project than its own.
fn check_own(change: &Change<'_>, group: &GroupRow, command: &str) -> Result<()> {
    let actor = &change.call.actor;
    if actor.origin == Origin::Person || actor.group.id == group.id {
        return Ok(());
    }
    let message = format!("is not the project of this session: {}", group.name);
    Err(Failure::only_person(message, command).at("group").into())
}

pub(crate) fn move_memory(change: &mut Change<'_>, seq: i64, into: &str) -> Result<()> {
    change.record_before(Row::Memory(seq))?;
    let columns = Image::from_iter([
        ("source_group".to_owned(), json!(into)),
        ("updated_at".to_owned(), json!(change.call.now.0)),
    ]);
    rows::update(change.conn, &Row::Memory(seq), &columns)?;
    if let Some(memory) = crate::db::memories::by_seq(change.conn, seq)? {
        change.log(Operation::Update, &memory.id, &json!({"group": into}))?;
    }
    change.touch(seq);
    Ok(())
}

/// Ends the act and returns the reply with the group as it is now.
pub(crate) fn commit(
    change: &mut Change<'_>,
    id: &str,
    moved: usize,
    act: &str,
) -> Result<GroupChangedReply> {
    let group = groups::one(change.conn, id)?
        .ok_or_else(|| Failure::new(Code::Internal, "the group no longer exists"))?;
    let act = change.commit_to_journal(act)?;
    Ok(GroupChangedReply { group: to_entry(group), moved, from: None, act })
}

/// Refuses to merge a group that is off: its sessions would be served again, or memories would be added to it.
pub(crate) fn check_not_off(change: &Change<'_>, field: &str, group: &GroupRow) -> Result<()> {
    if !change.shared.switches.read().is_off(&group.id) {
        return Ok(());
    }
    let message = format!("is a project that is off: {}", group.name);
    let hint = format!("Switch it on first: loci groups on {}", group.id);
    Err(Failure::new(Code::Conflict, message).at(field).hint(hint).into())
}

/// Returns the group with this id, alias or unique display name, if the caller may name it.
pub(crate) fn find(change: &Change<'_>, field: &str, name: &GroupName) -> Result<GroupRow> {
    let group = match find_any(change.conn, field, name) {
        Err(Error::Refused(failure))
            if failure.code == Code::NotFound && change.call.actor.origin == Origin::Person =>
        {
            let known = groups::names_and_aliases(change.conn)?;
            return Err(unknown_group(field, name.as_str(), &known).into());
        }
        found => found?,
    };
    if change.shared.isolation().may_be_named((&change.call.actor).into(), Some(&group.id)) {
        return Ok(group);
    }
    Err(names_no_group(field, name))
}

fn names_no_group(field: &str, name: &GroupName) -> Error {
    let message = format!("names no project: {}", name.as_str());
    let failure = Failure::new(Code::NotFound, message).at(field);
    failure.hint("Run loci groups list to see them").into()
}

/// Returns the group with this id, alias or unique display name.
fn find_any(conn: &Connection, field: &str, name: &GroupName) -> Result<GroupRow> {
    if let Some(id) = import_rows::group(conn, name.as_str())?
        && let Some(group) = groups::one(conn, &id)?
    {
        return Ok(group);
    }
    let mut named: Vec<GroupRow> =
        groups::all(conn)?.into_iter().filter(|group| group.name == name.as_str()).collect();
    match (named.pop(), named.len()) {
        (Some(group), 0) => Ok(group),
        (Some(last), _) => {
            let ids: Vec<String> = named.into_iter().chain([last]).map(|group| group.id).collect();
            let failure = Failure::new(
                Code::Conflict,
                format!("is the name of several groups: {}", ids.join(", ")),
            )
            .at(field);
            Err(failure.hint("Use one of the ids").into())
        }
        (None, _) => Err(names_no_group(field, name)),
    }
}

/// Refuses a name that is invalid or that belongs to another group.
fn check_name_free(conn: &Connection, field: &str, name: &GroupName, own: &GroupRow) -> Result<()> {
    group::check_name(name.as_str())
        .map_err(|reason| Failure::invalid(field, reason).hint(group::NAME_HINT))?;
    let folded = same_letters::folded(name.as_str());
    let is_same = |known: &String| same_letters::folded(known) == folded;
    let mut others = groups::all(conn)?.into_iter().filter(|group| group.id != own.id);
    let other = others.find(|group| is_same(&group.name) || group.aliases.iter().any(is_same));
    let owner = import_rows::group(conn, name.as_str())?.or(other.map(|group| group.id));
    match owner {
        Some(id) if id != own.id => {
            let failure =
                Failure::new(Code::Conflict, format!("is the name of another group: {id}"))
                    .at(field);
            Err(failure.hint("Choose another name, or merge the two: loci groups merge").into())
        }
        _ => Ok(()),
    }
}

pub(crate) fn to_entry(row: GroupRow) -> GroupEntry {
    let GroupRow { id, name, aliases, active, memories } = row;
    GroupEntry { id, name, aliases, active, memories, isolated: false, off: false }
}

#[cfg(test)]
mod tests {
    use crate::tests::fixture::{TestStore, named, parse};
    use loci_proto::group::Group;
    use loci_proto::memory::Origin;
    use serde_json::json;

    fn store_with_two_groups() -> TestStore {
        let mut test_store = TestStore::new();
        test_store.store(
            "old",
            json!({"content": "The gate code is on the fridge", "type": "episodic"}),
            None,
        );
        test_store.store(
            "new",
            json!({"content": "The fridge was repaired", "type": "episodic"}),
            None,
        );
        test_store.store(
            "new",
            json!({"content": "The fridge is from Bosch", "type": "entity", "scope": "group", "metadata": {"name": "fridge"}}),
            None,
        );
        test_store
    }

    #[test]
    fn a_merged_group_is_found_under_both_names_and_the_merge_can_be_undone() {
        let mut test_store = store_with_two_groups();
        let before = test_store.dump();
        let call = test_store.call("new", None);
        let request = |dry: bool| parse(json!({"from": "old", "into": "new", "dry_run": dry}));
        assert_eq!(
            test_store
                .writer
                .merge_groups(&call, &request(true))
                .expect("the dry run succeeds")
                .moved,
            1
        );
        assert_eq!(test_store.dump(), before);
        let reply =
            test_store.writer.merge_groups(&call, &request(false)).expect("the groups are merged");
        assert_eq!(
            (reply.moved, reply.group.active, reply.group.aliases),
            (1, 3, vec!["old".to_owned()])
        );
        assert_eq!(
            test_store.found("new", json!({"query": "gate code"}), None),
            ["The gate code is on the fridge"]
        );
        assert_eq!(
            test_store
                .found("elsewhere", json!({"query": "gate code", "group": "old"}), None)
                .len(),
            1,
            "a call that names the merged group"
        );
        let redirects = test_store.writer.group_redirects();
        assert_eq!(redirects.resolve(&named("old")), Some(named("new")));
        assert_eq!(redirects.resolve(&named("new")), None);
        let entity = test_store
            .reader
            .list(&parse(json!({"type": "entity"})), &named("new"), test_store.now)
            .expect("the memories are listed")
            .memories[0]
            .id
            .clone();
        let inspected =
            test_store.inspect("new", json!({"memory_id": entity})).expect("the memory exists");
        assert!(
            serde_json::to_string(&inspected).expect("the reply is encoded").contains("gate code"),
            "the merged memory mentions the entity: {inspected:?}"
        );
        test_store.undo_last().expect("the merge is undone");
        assert_eq!(test_store.dump(), before);
        assert_eq!(redirects.resolve(&named("old")), None);
    }

    #[test]
    fn unknown_and_ambiguous_names_are_refused() {
        let mut test_store = store_with_two_groups();
        let call = test_store.call("new", None);
        for (id, folder) in [("g_1", "/a/app"), ("g_2", "/b/app")] {
            let group = Group { id: id.to_owned(), name: Group::of_folder(folder).name };
            crate::db::groups::ensure(&test_store.writer.conn, &group, test_store.now)
                .expect("the group is created");
        }
        let mut merge = |from: &str, into: &str| {
            let request = parse(json!({"from": from, "into": into}));
            test_store.writer.merge_groups(&call, &request).map_err(|error| error.to_string())
        };
        assert!(
            merge("app", "new")
                .expect_err("the call is refused")
                .contains("several groups: g_1, g_2")
        );
        assert!(
            merge("none", "new")
                .expect_err("the call is refused")
                .contains("from names no project: none")
        );
        assert!(
            merge("new", "new").expect_err("the call is refused").contains("is the group itself")
        );
        assert!(
            merge("g_1", "new").expect("the groups are merged").group.aliases == ["g_1"],
            "another group has the same name"
        );
    }

    #[test]
    fn a_rename_changes_only_the_display_name_and_a_name_is_unique() {
        let mut test_store = store_with_two_groups();
        let mut call = test_store.call("new", None);
        let request = parse(json!({"group": "old", "to": "the house"}));
        let refused = test_store.writer.rename_group(&call, &request).expect_err("it is another's");
        assert!(refused.to_string().contains("loci groups rename"), "{refused}");
        call.actor.origin = Origin::Person;
        let reply = test_store
            .writer
            .rename_group(&call, &parse(json!({"group": "old", "to": "the house"})))
            .expect("the group is renamed");
        assert_eq!((reply.group.id.as_str(), reply.group.name.as_str()), ("old", "the house"));
        assert_eq!(test_store.found("old", json!({"query": "gate"}), None).len(), 1);
        let mut alias = |name: &str, remove: bool| {
            let request = parse(json!({"group": "the house", "alias": name, "remove": remove}));
            test_store.writer.alias_group(&call, &request).map_err(|error| error.to_string())
        };
        assert!(
            alias("new", false).expect_err("the call is refused").contains("another group: new")
        );
        assert_eq!(alias("home", false).expect("the alias is added").group.aliases, ["home"]);
        assert_eq!(alias("home", false).expect("an existing alias is accepted").act, None);
        assert!(alias("home", true).expect("the alias is removed").group.aliases.is_empty());
        assert!(
            alias("home", true).expect_err("the call is refused").contains("is not an alias of")
        );
        let renamed = test_store
            .writer
            .rename_group(&call, &parse(json!({"group": "new", "to": "the house"})));
        assert!(
            renamed.expect_err("the call is refused").to_string().contains("name of another group")
        );
    }
}
