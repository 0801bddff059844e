//! The restore drill: a copy of a backup is opened as a store, a known memory is found by its words,
//! and the rows are compared with the manifest. The outcome is written to the manifest.
//!
//! Not here: when it is done (the daemon).

use crate::backups::manifest::{self, Backup, Manifest, TEMPORARY, failed};
use crate::backups::prepare::copy_private;
use crate::db::{backup, integrity, lexical};
use crate::error::Result;
use crate::handles::open::open_cold;
use crate::handles::settings::{BackupSettings, Settings};
use crate::model::time::Timestamp;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Tests whether a backup can be restored; returns what is wrong, if anything is.
///
/// # Errors
/// `File` if there is no space for the copy; the outcome of an earlier drill stays then.
pub fn drill(found: &Backup, settings: &Settings, now: Timestamp) -> Result<Option<String>> {
    let parent = found.path.parent().unwrap_or(Path::new("/"));
    let folder = parent.join(format!("{TEMPORARY}{}", uuid::Uuid::now_v7().simple()));
    DirBuilder::new().mode(0o700).create(&folder).map_err(|error| failed(&folder, error))?;
    let _in_use = manifest::mark_in_use(&folder)?;
    let path = folder.join("memory.db");
    let copied = copy_private(&found.path, &path);
    let outcome = copied.map(|()| open_and_search(&path, found, settings, now));
    // What cannot be removed is removed before the next backup.
    let _ = std::fs::remove_dir_all(&folder);
    let fault = outcome?.err().map(|error| format!("the restore drill failed: {error}"));
    if let Some(known) = &found.manifest {
        let earlier_fault = known.fault.clone().filter(|_| fault.is_none());
        let manifest = Manifest {
            drilled_at: Some(now.0),
            fault: fault.clone().or(earlier_fault),
            ..known.clone()
        };
        manifest::write_manifest(&found.path, &manifest)?;
    }
    Ok(fault)
}

fn open_and_search(
    path: &Path,
    found: &Backup,
    settings: &Settings,
    now: Timestamp,
) -> Result<(), String> {
    let text = |error: crate::error::Error| error.to_string();
    let settings = Settings { backups: BackupSettings::default(), ..settings.clone() };
    let writer = open_cold(path, settings, now).map_err(text)?;
    let contents = backup::contents(&writer.conn).map_err(text)?;
    if let Some(manifest) = &found.manifest {
        let known = &manifest.contents;
        if (contents.memories, contents.relations, &contents.rows)
            != (known.memories, known.relations, &known.rows)
        {
            return Err(format!(
                "it has {} memories and {} relations, its manifest {} and {}",
                contents.memories, contents.relations, known.memories, known.relations
            ));
        }
    }
    integrity::words(&writer.conn).map_err(text)?;
    if let Some((seq, content)) = lexical::newest_text(&writer.conn).map_err(text)?
        && let Some(word) = longest_word(&content)
        && !lexical::matches_word(&writer.conn, seq, word).map_err(text)?
    {
        return Err(format!("the memory {seq} is not found by its word"));
    }
    writer.close().map_err(text)
}

fn longest_word(text: &str) -> Option<&str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .max_by_key(|word| word.len())
}
