//! What somebody declared of a memory: its category, that it is true in every project, and whether it is given unasked. All are kept in the
//! metadata, and nothing is read out of the words. Pure.
//!
//! Not here: what a brief makes of it (`hooks::brief` of the engine).

use crate::Result;
use crate::model::memory::Memory;
use crate::model::visibility::Isolation;
use loci_proto::error::Failure;
use loci_proto::memory::{Category, Origin, Scope, Unasked};
use serde_json::{Map, Value};

/// The field of metadata and of requests.
const CATEGORY: &str = "category";
/// The field of the metadata that says that the scope was given, and is not only the default of the type.
const SCOPE: &str = "declared_scope";
/// The field of metadata and of requests.
const UNASKED: &str = "unasked";

/// Returns the category, if it is one of [`Category`].
pub fn category(metadata: &Map<String, Value>) -> Option<Category> {
    metadata.get(CATEGORY)?.as_str()?.trim().to_lowercase().parse().ok()
}

/// Returns whether somebody declared a memory to be about the person: it is seen in every project, and that was said, it is a rule or
/// preference, or the person added it outside of any project.
pub fn is_about_person(memory: &Memory, isolation: &Isolation) -> bool {
    let is_declared =
        memory.metadata.get(SCOPE).and_then(Value::as_str) == Some(Scope::Global.as_str());
    let is_of_person =
        matches!(category(&memory.metadata), Some(Category::Rule | Category::Preference));
    let is_added = memory.provenance.origin == Some(Origin::Person)
        && isolation.is_outside(memory.group.as_deref());
    memory.scope == Scope::Global && (is_declared || is_of_person || is_added)
}

/// Removes from the metadata of a store what only `scope` and a person say; returns whether it said whether it is given unasked.
pub fn clean(metadata: &mut Map<String, Value>) -> bool {
    metadata.remove(SCOPE);
    metadata.remove(UNASKED).is_some()
}

/// Copies what a person and the scope said of a memory to metadata that replace its own, or to those of a memory that supersedes it.
fn inherit(from: &Map<String, Value>, fields: &mut Map<String, Value>) {
    for name in [SCOPE, UNASKED] {
        if let Some(value) = from.get(name) {
            fields.entry(name).or_insert_with(|| value.clone());
        }
    }
}

/// Like [`inherit`], for a text that replaces another. What is always given stays with the text of which a person said so.
pub fn inherit_from_replaced(
    origin: Origin,
    from: &Map<String, Value>,
    fields: &mut Map<String, Value>,
) {
    inherit(from, fields);
    if origin != Origin::Person && unasked(fields) == Some(Unasked::Always) {
        fields.remove(UNASKED);
    }
}

/// Like [`inherit`], for metadata that replace those of an edited memory. What a person said of texts that nobody asked for an agent
/// cannot say.
pub fn inherit_edited(origin: Origin, from: &Map<String, Value>, fields: &mut Map<String, Value>) {
    if origin != Origin::Person {
        fields.remove(UNASKED);
    }
    inherit(from, fields);
}

/// Writes what a request declares to metadata.
///
/// # Errors
/// `invalid` if the metadata has another category.
pub fn write(
    given: Option<Category>,
    scope: Option<Scope>,
    metadata: &mut Map<String, Value>,
) -> Result<()> {
    if let Some(given) = given {
        if metadata.get(CATEGORY).is_some_and(|other| *other != given.as_str()) {
            return Err(Failure::invalid(CATEGORY, "differs from metadata.category")
                .hint("Leave out metadata.category"));
        }
        set_category(given, metadata);
    }
    match scope {
        Some(Scope::Global) => set_global(metadata),
        Some(Scope::Group) => drop(metadata.remove(SCOPE)),
        None => {}
    }
    Ok(())
}

/// Declares that a memory is about the person, or true in every project.
pub fn set_global(metadata: &mut Map<String, Value>) {
    metadata.insert(SCOPE.to_owned(), Scope::Global.as_str().into());
}

/// Returns what a person said of the memory in texts that nobody asked for.
pub fn unasked(metadata: &Map<String, Value>) -> Option<Unasked> {
    metadata.get(UNASKED)?.as_str()?.parse().ok()
}

/// Replaces what is given of the category and of `unasked`.
pub fn edit(
    category: Option<Category>,
    unasked: Option<Unasked>,
    metadata: &mut Map<String, Value>,
) {
    if let Some(category) = category {
        set_category(category, metadata);
    }
    match unasked {
        Some(Unasked::Auto) => drop(metadata.remove(UNASKED)),
        Some(said) => drop(metadata.insert(UNASKED.to_owned(), said.as_str().into())),
        None => {}
    }
}

/// Restores the category of a known memory after other metadata were merged into its own; returns it if they had another.
pub fn keep(known: Category, merged: &mut Map<String, Value>) -> Option<Category> {
    let is_other = category(merged) != Some(known);
    set_category(known, merged);
    is_other.then_some(known)
}

fn set_category(category: Category, metadata: &mut Map<String, Value>) {
    metadata.insert(CATEGORY.to_owned(), Value::from(category.as_str()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_category_is_one_of_eight_and_said_once() {
        let mut metadata = Map::new();
        write(Some(Category::Rule), Some(Scope::Global), &mut metadata).expect("it is valid");
        assert_eq!(
            Value::from(metadata.clone()),
            json!({"category": "rule", "declared_scope": "global"})
        );
        assert_eq!(category(&metadata), Some(Category::Rule));
        let refused = write(Some(Category::Fix), None, &mut metadata).expect_err("it says two");
        assert!(refused.to_string().contains("category"), "{refused}");
        write(None, Some(Scope::Group), &mut metadata).expect("it is valid");
        assert_eq!(Value::from(metadata), json!({"category": "rule"}));
        for (text, expected) in [(" Decision", Some(Category::Decision)), ("hardware", None)] {
            let metadata = json!({"category": text}).as_object().cloned().unwrap_or_default();
            assert_eq!(category(&metadata), expected);
        }
    }

    #[test]
    fn a_person_says_never_or_always_and_takes_it_back() {
        let mut metadata = Map::new();
        edit(Some(Category::State), Some(Unasked::Never), &mut metadata);
        assert_eq!(
            (category(&metadata), unasked(&metadata)),
            (Some(Category::State), Some(Unasked::Never))
        );
        edit(None, Some(Unasked::Auto), &mut metadata);
        assert_eq!(Value::from(metadata), json!({"category": "state"}));
    }
}
