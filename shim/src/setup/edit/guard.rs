//! Checks the result of an edit before anybody writes it: it must be valid, have the entry, and be the same everywhere else.
//!
//! The comparison is of values: where an entry comes or goes, empty objects and arrays around it may come and go too.

use super::entry::{EditError, EntryKind, Found, Target};
use serde_json::Value as Json;

/// What an edit does to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// It is there afterwards.
    Write,
    /// The key has another value afterwards.
    PutBack,
    /// It is gone afterwards; of equal elements, one.
    Remove,
}

/// Compares the values of a text before and after an edit; `after` is `None` if the new text is not valid.
///
/// # Errors
/// The edit did something else.
pub fn check(
    before: &Json,
    after: Option<&Json>,
    target: &Target,
    intent: Intent,
) -> Result<(), EditError> {
    let is_right = after.is_some_and(|after| match intent {
        Intent::Write => {
            find(after, target) == Found::Same && rest(before, target) == rest(after, target)
        }
        Intent::PutBack => rest(before, target) == rest(after, target),
        Intent::Remove => rest(before, target) == without_empty(after.clone(), target),
    });
    if is_right { Ok(()) } else { Err(EditError::Unsafe { path: target.path.join(".") }) }
}

/// Looks for an entry in a value.
pub fn find(document: &Json, target: &Target) -> Found {
    match (at(document, &target.path), target.kind) {
        (Some(value), EntryKind::Key) if *value == target.value => Found::Same,
        (Some(value), EntryKind::Key) => Found::Different(value.clone()),
        (Some(Json::Array(items)), EntryKind::Element) if items.contains(&target.value) => {
            Found::Same
        }
        (None, _) | (Some(_), EntryKind::Element) => Found::Absent,
    }
}

/// Returns the value at a path. In an array, a name is the number of an item.
#[must_use]
pub fn at<'a>(document: &'a Json, path: &[String]) -> Option<&'a Json> {
    path.iter().try_fold(document, |value, name| match value {
        Json::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}

fn at_mut<'a>(document: &'a mut Json, path: &[String]) -> Option<&'a mut Json> {
    path.iter().try_fold(document, |value, name| match value {
        Json::Array(items) => items.get_mut(name.parse::<usize>().ok()?),
        value => value.get_mut(name),
    })
}

/// Returns the document without the entry: without the key, or without the last element of that value.
fn rest(document: &Json, target: &Target) -> Json {
    let mut document = document.clone();
    let (name, parents) = match (target.kind, target.path.split_last()) {
        (EntryKind::Key, Some((name, parents))) => (Some(name), parents),
        _ => (None, target.path.as_slice()),
    };
    match (at_mut(&mut document, parents), name) {
        (Some(Json::Object(members)), Some(name)) => {
            members.remove(name);
        }
        (Some(Json::Array(items)), None) => {
            if let Some(last) = items.iter().rposition(|item| *item == target.value) {
                items.remove(last);
            }
        }
        _ => {}
    }
    without_empty(document, target)
}

/// Removes empty objects and arrays on the path of an entry.
fn without_empty(mut document: Json, target: &Target) -> Json {
    for depth in (1..=target.path.len()).rev() {
        let (path, parent) = (&target.path[..depth], &target.path[..depth - 1]);
        let is_empty = at(&document, path).is_some_and(|value| match value {
            Json::Object(members) => members.is_empty(),
            Json::Array(items) => items.is_empty(),
            _ => false,
        });
        if is_empty && let Some(Json::Object(members)) = at_mut(&mut document, parent) {
            members.remove(&target.path[depth - 1]);
        }
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn target(kind: EntryKind) -> Target {
        let path = ["a", "b"].map(str::to_owned).to_vec();
        Target { path, kind, value: json!({"x": 1}) }
    }

    fn is_right(before: &Json, after: &Json, kind: EntryKind, intent: Intent) -> bool {
        check(before, Some(after), &target(kind), intent).is_ok()
    }

    #[test]
    fn an_edit_that_changes_anything_else_is_refused() {
        let entry = json!({"x": 1});
        let (empty, written) = (json!({"z": 2}), json!({"z": 2, "a": {"b": entry}}));
        assert!(is_right(&empty, &written, EntryKind::Key, Intent::Write));
        assert!(is_right(&written, &empty, EntryKind::Key, Intent::Remove));
        for wrong in [json!({"a": {"b": entry}}), json!({"z": 2}), json!({"z": 2, "a": {"b": 1}})] {
            assert!(!is_right(&empty, &wrong, EntryKind::Key, Intent::Write), "{wrong}");
        }
        assert!(!is_right(&written, &written, EntryKind::Key, Intent::Remove));
        assert!(check(&empty, None, &target(EntryKind::Key), Intent::Write).is_err());
        let other = json!({"z": 2, "a": {"b": {"y": 1}}});
        assert!(is_right(&written, &other, EntryKind::Key, Intent::PutBack));
    }

    #[test]
    fn of_equal_elements_one_goes() {
        let entry = json!({"x": 1});
        let (two, one) = (json!({"a": {"b": [entry, 1, entry]}}), json!({"a": {"b": [entry, 1]}}));
        assert!(is_right(&two, &one, EntryKind::Element, Intent::Remove));
        assert!(!is_right(&two, &json!({"a": {"b": [1]}}), EntryKind::Element, Intent::Remove));
        let alone = json!({"a": {"b": [entry]}});
        for empty in [json!({}), json!({"a": {}}), json!({"a": {"b": []}})] {
            assert!(is_right(&alone, &empty, EntryKind::Element, Intent::Remove), "{empty}");
        }
    }
}
