//! Drafts a file that setup writes as a whole: the plugin of `OpenCode`. One that somebody has changed stays.

use super::change::{Change, Outcome, Owner};
use super::files;
use super::manifest::WrittenFile;
use std::path::Path;

/// Returns the change of a file.
pub fn whole(
    owner: Owner,
    path: &Path,
    before: Option<String>,
    record: Option<&WrittenFile>,
    text: &str,
) -> Outcome {
    let is_ours = record
        .is_some_and(|record| before.as_deref().map(files::hash) == Some(record.hash.clone()));
    let is_same = before.as_deref() == Some(text);
    if is_same && record.is_some() {
        return Outcome::default();
    }
    if before.is_some() && !is_same && !is_ours && !owner.force {
        let shown = path.display();
        let note = match record {
            Some(_) => format!("{shown} was changed by hand and stays; --force replaces it"),
            None => format!("{shown} is not of loci and stays; --force replaces it"),
        };
        return Outcome { notes: vec![note], ..Outcome::default() };
    }
    let original = match record {
        Some(record) => {
            let original = || before.as_deref().and_then(|text| record.original(text));
            record.existed.then(|| original().unwrap_or_default())
        }
        None => before.clone().filter(|_| !is_same),
    };
    let Owner { client, scope, .. } = owner;
    let mut written = WrittenFile::whole((client, scope), path, text, original.as_deref());
    written.folders = record.map(|record| record.folders.clone()).unwrap_or_default();
    let words = vec!["write the plugin that runs the hooks of loci".to_owned()];
    let (path, after) = (path.to_path_buf(), Some(text.to_owned()));
    let change = Change { client, scope, path, before, after, words, record: written };
    Outcome { change: Some(change), ..Outcome::default() }
}
