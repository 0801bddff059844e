//! The project that a call names: by its id, an alias, or the name that replies show.
//!
//! Not here: who may name which project (`model::visibility`), the session's own project (the daemon).

use crate::db::groups;
use crate::error::Result;
use crate::flags::safe_name;
use crate::model::actor::Viewer;
use crate::model::visibility::Isolation;
use crate::text::same_letters;
use crate::transaction::change::Change;
use loci_proto::error::{Code, Failure};
use loci_proto::group::{Group, GroupName};
use loci_proto::off::OffReason;
use rusqlite::Connection;

/// Letters of the shortest name in which one may be wrong.
const MIN_MISSPELLED: usize = 4;

/// Returns the project that a call names, the viewer's own if it names none, for a call that stores: a name that no project has is that
/// of a new one.
///
/// # Errors
/// As [`existing_group`].
pub(crate) fn named_group(
    conn: &Connection,
    isolation: &Isolation,
    viewer: Viewer<'_>,
    name: Option<&GroupName>,
) -> Result<Group> {
    let Some(name) = name else { return Ok(viewer.group.clone()) };
    match find_group(conn, isolation, viewer, name)? {
        Some(group) => Ok(group),
        None => groups::new_named(name),
    }
}

/// Returns the project that a call names, the viewer's own if it names none.
///
/// # Errors
/// `not_found` at `group` for a name that no project has, with names that are near, and for an isolated project that is not the viewer's
/// own; `off`; `invalid` for a name that no project may have, or that several have; `conflict` if the viewer's own project is isolated
/// and the call names another. A person may name every project.
pub(crate) fn existing_group(
    conn: &Connection,
    isolation: &Isolation,
    viewer: Viewer<'_>,
    name: Option<&GroupName>,
) -> Result<Group> {
    let Some(name) = name else { return Ok(viewer.group.clone()) };
    if let Some(group) = find_group(conn, isolation, viewer, name)? {
        return Ok(group);
    }
    groups::new_named(name)?;
    Err(unknown_group("group", name.as_str(), &namable(conn, isolation, viewer)?).into())
}

/// Returns the project of a name, if there is one: the viewer's own first, so that no other project can take its name.
fn find_group(
    conn: &Connection,
    isolation: &Isolation,
    viewer: Viewer<'_>,
    name: &GroupName,
) -> Result<Option<Group>> {
    let own = viewer.group;
    let composed = same_letters::composed(name.as_str());
    if [&own.id, &own.name].iter().any(|known| same_letters::composed(known) == composed) {
        return Ok(Some(own.clone()));
    }
    let stored = groups::find(conn, name)?;
    if viewer.is_person() {
        return match stored {
            Some(group) => Ok(Some(group)),
            None => only(conn, shown_as(conn, name)?),
        };
    }
    let mut candidates = shown_as(conn, name)?;
    candidates.retain(|group| stored.as_ref().is_none_or(|stored| stored.id != group.id));
    candidates.extend(stored);
    // Renamed, or called by an alias.
    if candidates.iter().any(|group| group.id == own.id) {
        return Ok(Some(own.clone()));
    }
    if isolation.is_isolated(&own.id) {
        // Also if there is no such project: an isolated one learns of no other.
        let message = format!("names another project, but {} is isolated", safe_name(&own.name));
        return Err(Failure::new(Code::Conflict, message)
            .at("group")
            .hint("Leave out group: an isolated project sees only its own memories")
            .into());
    }
    // A project that is off is not passed over for another one of its name; of an isolated one nobody outside learns that it is off.
    let tells_off =
        |group: &&Group| isolation.is_off(&group.id) && !isolation.is_isolated(&group.id);
    if let Some(off) = candidates.iter().find(tells_off) {
        return Err(OffReason::Person.failure(&safe_name(&off.name)).at("group").into());
    }
    let is_known = !candidates.is_empty();
    // An isolated one makes no name ambiguous: that would tell of it.
    candidates.retain(|group| isolation.may_be_named(viewer, Some(&group.id)));
    if is_known && candidates.is_empty() {
        let known = namable(conn, isolation, viewer)?;
        return Err(unknown_group("group", name.as_str(), &known).into());
    }
    only(conn, candidates)
}

/// Returns the projects that replies show by this name; if there is none, those whose name differs only in capitals.
fn shown_as(conn: &Connection, name: &GroupName) -> Result<Vec<Group>> {
    let (typed, folded) =
        (same_letters::composed(name.as_str()), same_letters::folded(name.as_str()));
    let mut named = groups::names(conn)?;
    let is_exact = |group: &Group| same_letters::composed(&group.name) == typed;
    let has_exact = named.iter().any(is_exact);
    named.retain(|group| {
        is_exact(group) || (!has_exact && same_letters::folded(&group.name) == folded)
    });
    Ok(named)
}

/// Returns the one project of a list.
///
/// # Errors
/// `invalid` if there are several, with their ids and what tells them apart.
fn only(conn: &Connection, mut projects: Vec<Group>) -> Result<Option<Group>> {
    if projects.len() < 2 {
        return Ok(projects.pop());
    }
    let mut ids = Vec::with_capacity(projects.len());
    for group in &projects {
        let memories = groups::one(conn, &group.id)?.map_or(0, |row| row.active);
        ids.push(format!("{} ({memories} active memories)", group.id));
    }
    let message = format!("is the name of {} projects", projects.len());
    let hint = format!("Use the id of one: {}", ids.join(", "));
    Err(Failure::invalid("group", message).hint(hint).into())
}

/// Returns the name by which the viewer can name a project, as replies show it: its display name, or its id if that name leads to another
/// or is not shown as it is.
pub(crate) fn shown_name(
    conn: &Connection,
    isolation: &Isolation,
    viewer: Viewer<'_>,
    id: &str,
) -> Result<Option<String>> {
    let Some(name) = groups::name(conn, id)? else { return Ok(None) };
    let parsed = name.parse().ok().filter(|_| *safe_name(&name) == *name);
    let leads_here = parsed
        .and_then(|parsed| find_group(conn, isolation, viewer, &parsed).ok().flatten())
        .is_some_and(|found| found.id == id);
    Ok(Some(if leads_here { name } else { id.to_owned() }))
}

/// Returns the project with this id as the caller of a change can name it, if it is not the caller's own.
pub(crate) fn other_group(change: &Change<'_>, id: Option<&str>) -> Result<Option<String>> {
    let actor = &change.call.actor;
    match id.filter(|id| *id != actor.group.id) {
        Some(id) => shown_name(change.conn, &change.shared.isolation(), actor.into(), id),
        None => Ok(None),
    }
}

/// Returns the display names and aliases of the projects that the viewer may name.
fn namable(conn: &Connection, isolation: &Isolation, viewer: Viewer<'_>) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for row in groups::all(conn)? {
        if isolation.may_be_named(viewer, Some(&row.id)) {
            // A person sees every name whole.
            let is_shown = |name: &String| viewer.is_person() || *safe_name(name) == **name;
            let name = if is_shown(&row.name) { row.name } else { row.id };
            names.extend(row.aliases.into_iter().filter(is_shown).chain([name]));
        }
    }
    Ok(names)
}

/// Returns the error for the name of no project, with at most three names that are near.
pub(crate) fn unknown_group(field: &str, name: &str, known: &[String]) -> Failure {
    let near = similar_names(name, known);
    let hint = match near.as_slice() {
        [] => "`loci groups list` shows all projects".to_owned(),
        near => {
            format!("Did you mean {}? `loci groups list` shows all projects", near.join(" or "))
        }
    };
    let message = format!("names no project: {name}");
    Failure::new(Code::NotFound, message).at(field).hint(hint)
}

/// Returns what a store into a new project says: that it is new, and what else the name may mean.
pub(crate) fn new_group_note(
    conn: &Connection,
    isolation: &Isolation,
    viewer: Viewer<'_>,
    name: &str,
) -> Result<String> {
    let name = safe_name(name);
    let made = format!("There was no project {name}; it was made");
    Ok(match similar_names(&name, &namable(conn, isolation, viewer)?).as_slice() {
        [] => made,
        near => format!(
            "{made}. If you meant {}, store it there and forget this one with group: {name}",
            near.join(" or ")
        ),
    })
}

/// Returns true if two names differ in one letter, or only in capitals and signs.
pub(crate) fn is_misspelled(a: &str, b: &str) -> bool {
    let folded = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (a, b) = (folded(a), folded(b));
    let is_long = a.chars().count().min(b.chars().count()) >= MIN_MISSPELLED;
    a == b || is_long && strsim::damerau_levenshtein(&a, &b) == 1
}

/// Returns the names that contain the typed one or are spelled like it, nearest first.
fn similar_names(typed: &str, known: &[String]) -> Vec<String> {
    let typed = same_letters::folded(typed);
    let mut near: Vec<(usize, &String)> = Vec::new();
    for name in known {
        let folded = same_letters::folded(name);
        let distance = strsim::damerau_levenshtein(&folded, &typed);
        let is_part = typed.chars().count() >= 3 && folded.contains(&typed);
        if is_part || distance <= 1 + typed.chars().count() / 4 {
            near.push((if is_part { 0 } else { distance }, name));
        }
    }
    near.sort();
    near.dedup_by(|a, b| a.1 == b.1);
    near.into_iter().take(3).map(|(_, name)| name.clone()).collect()
}
