//! `forget_memory`: hides one memory, or deletes it permanently and reports backups that still hold it.

use crate::service::{Caller, Service};
use loci_engine::operations::backup;
use loci_proto::error::Failure;
use loci_proto::requests::forget::{ForgetReply, ForgetRequest};
use std::path::PathBuf;

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: ForgetRequest,
) -> Result<ForgetReply, Failure> {
    let (hard, id) = (request.hard_delete, request.memory_id.clone());
    if hard {
        // Usage of this memory may still be buffered. Flush it, so that it is deleted with the memory.
        service.flush_or_drop_usage().await?;
    }
    let reply = service
        .write_with_reserve(caller, move |writer, call| writer.forget(call, &request))
        .await?;
    if !hard {
        return Ok(reply);
    }
    let folder = service.backup_folder();
    let backups = service.read(move |_| Ok(backup::search(&folder, &id))).await?;
    // Summaries that quoted the memory were rewritten and have no vectors yet.
    service.set_vectors_missing(true);
    let notes: Vec<String> =
        [reply.note.clone(), backup_note(&backups)].into_iter().flatten().collect();
    Ok(ForgetReply { note: (!notes.is_empty()).then(|| notes.join(". ")), ..reply })
}

/// Returns the note about backups that hold the memory, or that cannot be read and may hold it.
fn backup_note(search: &backup::BackupSearch) -> Option<String> {
    let file_name =
        |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let oldest = search.containing.first().map(file_name);
    let unreadable = search.unreadable.first().map(file_name);
    match (oldest, unreadable) {
        (Some(oldest), _) => Some(format!(
            "{} backups still hold it, the oldest is {oldest}; loci forget ID --hard --purge-backups removes them",
            search.containing.len()
        )),
        (None, Some(name)) => Some(format!("the backup {name} cannot be read and may hold it")),
        (None, None) => None,
    }
}
