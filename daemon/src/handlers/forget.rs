//! `forget_memory`: hides one memory, or deletes it permanently and reports backups that still hold it.

use crate::handlers::handle::Handle;
use crate::service::{Caller, Service};
use loci_engine::operations::backup;
use loci_proto::error::Failure;
use loci_proto::memory::MemoryId;
use loci_proto::requests::forget::{ForgetReply, ForgetRequest};
use std::path::{Path, PathBuf};

impl Handle for ForgetRequest {
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<ForgetReply, Failure> {
        let (hard, id) = (self.hard_delete, self.memory_id.clone());
        if hard {
            // Usage of this memory may still be buffered. Flush it, so that it is deleted with the memory.
            service.flush_or_drop_usage().await?;
        }
        let reply = service
            .write_with_reserve(caller, move |writer, call| writer.forget(call, &self))
            .await?;
        if !hard {
            return Ok(reply);
        }
        let folder = service.backup_folder();
        let backups = service.read(move |_| Ok(backup::search(&folder, &id))).await?;
        // Summaries that quoted the memory were rewritten and have no vectors yet.
        service.set_vectors_missing(true);
        let quarantine = quarantine_note(&service.database().with_file_name("quarantine"));
        let notes: Vec<String> = [reply.note.clone(), backup_note(&reply.id, &backups), quarantine]
            .into_iter()
            .flatten()
            .collect();
        Ok(ForgetReply { note: (!notes.is_empty()).then(|| notes.join(". ")), ..reply })
    }
}

/// Returns the note about backups that hold the memory, or that cannot be read and may hold it.
fn backup_note(id: &MemoryId, search: &backup::BackupSearch) -> Option<String> {
    let file_name =
        |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let oldest = search.containing.first().map(file_name);
    let unreadable = search.unreadable.first().map(file_name);
    match (oldest, unreadable) {
        (Some(oldest), _) => Some(format!(
            "{} it, the oldest is {oldest}; loci forget {id} --hard --purge-backups removes it there",
            match search.containing.len() {
                1 => "1 backup still holds".to_owned(),
                count => format!("{count} backups still hold"),
            }
        )),
        (None, Some(name)) => Some(format!("the backup {name} cannot be read and may hold it")),
        (None, None) => None,
    }
}

/// Returns the note about the quarantine, which loci never changes.
fn quarantine_note(folder: &Path) -> Option<String> {
    let is_empty = std::fs::read_dir(folder).ok()?.next().is_none();
    (!is_empty).then(|| {
        format!("{} may hold it too: remove what you no longer need there", folder.display())
    })
}
