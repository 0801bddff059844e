//! `doctor`: checks the configuration, the model, the database and the index.

use crate::config::Config;
use crate::embedding::{MODEL_ID, ModelState};
use crate::service::{Service, index_warmup};
use loci_engine::Reader;
use loci_engine::error::Error;
use loci_proto::error::Failure;
use loci_proto::requests::doctor::{DoctorReply, Finding};
use std::path::Path;

pub(super) async fn handle(service: &Service) -> Result<DoctorReply, Failure> {
    let mut findings =
        vec![check_config(&service.config.paths().config), check_model(service).await];
    let pools = index_warmup::pools_with_index(service).await?;
    findings.extend(service.read(Reader::examine).await?);
    findings.extend(pools.findings.iter().map(|finding| {
        Finding::warn("database", finding.clone(), "Compare loci backup list with what is missing")
    }));
    let words = pools.writer.run(|writer| Ok::<_, Error>(writer.examine_words())).await??;
    findings.push(words);
    Ok(DoctorReply { findings })
}

fn check_config(path: &Path) -> Finding {
    match Config::read(path) {
        Ok(_) if !path.exists() => Finding::ok(
            "config",
            format!("{} does not exist; every key has its default", path.display()),
        ),
        Ok(_) => Finding::ok("config", format!("{} is valid", path.display())),
        Err(failure) => Finding::fail(
            "config",
            failure.to_string(),
            "Correct the file; the daemon will not start with it",
        ),
    }
}

async fn check_model(service: &Service) -> Finding {
    match service.embedder.wait_until_loaded().await {
        ModelState::Ready { sha256 } => {
            Finding::ok("model", format!("{MODEL_ID} is ready, SHA-256 {sha256}"))
        }
        ModelState::Loading => {
            Finding::warn("model", format!("{MODEL_ID} is being loaded"), "Try again in a moment")
        }
        ModelState::Missing { hint } => Finding::warn(
            "model",
            format!("{MODEL_ID} is missing; search uses keywords only"),
            hint,
        ),
        ModelState::Failed { reason, hint } => Finding::fail("model", reason, hint),
    }
}
