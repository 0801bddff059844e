//! Verbs of people that look after the whole store: groups, reset, backups, doctor.

use crate::config::Config;
use crate::embedding::{MODEL_ID, ModelState};
use crate::handlers::{Asked, answer, parse, read, write};
use crate::service::Service;
use loci_engine::Reader;
use loci_engine::error::Error;
use loci_engine::operations::backup;
use loci_proto::error::{Code, Failure};
use loci_proto::requests::doctor::{DoctorReply, DoctorRequest, Finding};
use loci_proto::requests::forget::{ForgetReply, ForgetRequest};
use loci_proto::requests::groups::{AliasRequest, GroupsRequest, MergeRequest, RenameRequest};
use loci_proto::requests::purge_backups::PurgeBackupsRequest;
use loci_proto::requests::reset::ResetRequest;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Does what was asked.
///
/// # Errors
/// `invalid` for an unknown verb or its arguments; else the verb's own.
pub(crate) async fn call(service: &Service, asked: Asked<'_>) -> Result<Value, Failure> {
    let Asked { session, name, given, key } = asked;
    match name {
        "groups" => {
            let GroupsRequest {} = parse(given)?;
            answer(read(service, Reader::groups).await?)
        }
        "groups_rename" => {
            let request: RenameRequest = parse(given)?;
            answer(
                write(service, session, key, move |writer, call| {
                    writer.rename_group(call, &request)
                })
                .await?,
            )
        }
        "groups_merge" => {
            let request: MergeRequest = parse(given)?;
            answer(
                write(service, session, key, move |writer, call| {
                    writer.merge_groups(call, &request)
                })
                .await?,
            )
        }
        "groups_alias" => {
            let request: AliasRequest = parse(given)?;
            answer(
                write(service, session, key, move |writer, call| {
                    writer.alias_group(call, &request)
                })
                .await?,
            )
        }
        "reset" => {
            let (request, folder): (ResetRequest, _) = (parse(given)?, backups(service));
            drop(service.take_accesses());
            answer(
                write(service, session, key, move |writer, call| {
                    writer.reset(call, &request, &folder)
                })
                .await?,
            )
        }
        "purge_backups" => {
            let (request, folder): (PurgeBackupsRequest, _) = (parse(given)?, backups(service));
            answer(
                read(service, move |reader| reader.purge_backups(&request.memory_id, &folder))
                    .await?,
            )
        }
        "doctor" => {
            let DoctorRequest {} = parse(given)?;
            answer(doctor(service).await?)
        }
        other => Err(Failure::new(Code::Invalid, format!("there is no verb {other}"))),
    }
}

/// Forgets; what was removed for good and still stands in a backup is said so.
pub(crate) async fn forget(service: &Service, asked: Asked<'_>) -> Result<ForgetReply, Failure> {
    let request: ForgetRequest = parse(asked.given)?;
    let (hard, id) = (request.hard_delete, request.memory_id.clone());
    if hard {
        // What was asked for it may wait to be written down; it goes with the memory.
        service.flush_accesses().await?;
    }
    let reply =
        write(service, asked.session, asked.key, move |writer, call| writer.forget(call, &request))
            .await?;
    if !hard {
        return Ok(reply);
    }
    let folder = backups(service);
    let found = read(service, move |_| Ok(backup::holding(&folder, &id))).await?;
    // Summaries that quoted it have been written anew.
    service.vectors_may_be_missing();
    let notes: Vec<String> = [reply.note.clone(), note(&found)].into_iter().flatten().collect();
    Ok(ForgetReply { note: (!notes.is_empty()).then(|| notes.join(". ")), ..reply })
}

fn note(found: &backup::BackupSearch) -> Option<String> {
    let named =
        |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let oldest = found.holding.first().map(named);
    let unreadable = found.unreadable.first().map(named);
    match (oldest, unreadable) {
        (Some(oldest), _) => Some(format!(
            "{} backups still hold it, the oldest is {oldest}; loci forget ID --hard --purge-backups removes them",
            found.holding.len()
        )),
        (None, Some(name)) => Some(format!("the backup {name} cannot be read and may hold it")),
        (None, None) => None,
    }
}

fn backups(service: &Service) -> PathBuf {
    service.home().join("backups")
}

async fn doctor(service: &Service) -> Result<DoctorReply, Failure> {
    let mut findings = vec![config(service.config_file()), model(service).await];
    let pools = service.warm_pools().await?;
    findings.extend(read(service, Reader::examine).await?);
    let words = pools.writer.run(|writer| Ok::<_, Error>(writer.examine_words())).await??;
    findings.push(words);
    Ok(DoctorReply { findings })
}

fn config(path: &Path) -> Finding {
    match Config::read(path) {
        Ok(_) if !path.exists() => Finding::ok(
            "config",
            format!("{} is not there, so every key has its default", path.display()),
        ),
        Ok(_) => Finding::ok("config", format!("{} can be read", path.display())),
        Err(failure) => Finding::fail(
            "config",
            failure.to_string(),
            "Mend the file; the next start of the daemon refuses it as it is",
        ),
    }
}

async fn model(service: &Service) -> Finding {
    match service.embedder.wait_until_loaded().await {
        ModelState::Ready { sha256 } => {
            Finding::ok("model", format!("{MODEL_ID} is ready, SHA-256 {sha256}"))
        }
        ModelState::Loading => {
            Finding::warn("model", format!("{MODEL_ID} is being loaded"), "Look again in a moment")
        }
        ModelState::Missing { hint } => Finding::warn(
            "model",
            format!("{MODEL_ID} is not here; searching goes by words alone"),
            hint,
        ),
        ModelState::Failed { reason, hint } => Finding::fail("model", reason, hint),
    }
}
