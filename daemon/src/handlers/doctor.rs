//! `doctor`: checks the configuration, the model, the open sockets, the database and the index.

use crate::embedding::{MODEL_ID, ModelState};
use crate::handlers::handle::Handle;
use crate::handlers::isolation;
use crate::interface::agents::session::Session;
use crate::reranking::{Reranker, State};
use crate::service::open_sockets::OpenSockets;
use crate::service::store_state::StorePools;
use crate::service::{Caller, Service, findings, full_check, index_warmup};
use loci_engine::operations::languages::Languages;
use loci_engine::{Reader, Writer};
use loci_proto::admin::HookClientStatus;
use loci_proto::counted::counted;
use loci_proto::error::{Code, Failure};
use loci_proto::http::HttpStatus;
use loci_proto::memory::Origin;
use loci_proto::requests::bridge::BridgeClientStatus;
use loci_proto::requests::doctor::{DoctorReply, DoctorRequest, Finding};
use loci_proto::requests::stats::StatsRequest;
use std::collections::HashSet;
use std::net::SocketAddr;

/// Another model is offered if at least one memory in ten is not in English.
const FOREIGN_ONE_IN: usize = 10;
/// The parts whose findings count memories of every project.
const COUNTED: [&str; 7] =
    ["bridge", "held", "hooks", "index", "language", "older guards", "vectors"];

impl Handle for DoctorRequest {
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<DoctorReply, Failure> {
        if self.dismiss {
            return dismiss(service).await;
        }
        if self.deep {
            // It counts what it reads.
            isolation::check_whole_store(service, caller.session).await?;
        }
        let mut findings =
            vec![findings::config(&service.config.paths().config), check_model(service).await];
        findings.extend(service.reranker.as_ref().map(check_reranker));
        findings.push(describe_project(service, caller.clone()).await?);
        findings.extend(describe_folder(service, caller.session).await?);
        findings.extend(check_group_sections(service, caller.session).await?);
        findings.extend(describe_switches(service, caller.session).await);
        findings.push(check_network(service));
        let pools = index_warmup::pools_with_index(service).await?;
        let is_person = caller.session.actor().origin == Origin::Person;
        if self.fix {
            findings.extend(service.write(caller.clone(), Writer::mend).await?);
            let reading = service.clock.read();
            findings.extend(pools.writer()?.run(move |writer| writer.repair(reading)).await??);
            service.set_vectors_missing(true);
        }
        findings.extend(check_vectors(service, &pools).await?);
        findings.extend(check_languages(service).await?);
        let check = full_check::run(service, &pools).await?;
        service.check_disk();
        findings.extend(findings::storage(&service.health));
        #[cfg(feature = "encrypted")]
        findings.extend(crate::service::encryption::describe(service).await?);
        findings.extend(check.findings);
        findings.extend(service.read(move |reader| reader.old_damage(is_person)).await?);
        findings.push(service.read(Reader::held_back).await?);
        findings.push(service.read(Reader::examine_index).await?);
        findings.push(findings::backups(&service.backup_status().await));
        findings.extend(describe_hooks(service).await?);
        findings.extend(describe_bridge(service).await?);
        if self.deep {
            findings.extend(read_everything(service).await?);
        }
        if !is_person && service.has_isolated_groups().await {
            findings.iter_mut().for_each(hide_counts);
        }
        Ok(DoctorReply { findings, dismissed: None })
    }
}

/// Replaces what a finding counts of every project, for an agent that may not learn how much is in an isolated one.
fn hide_counts(finding: &mut Finding) {
    if COUNTED.contains(&finding.part.as_str()) {
        "not counted for an agent while a project is isolated".clone_into(&mut finding.found);
    }
}

/// Says whether the cross-encoder can be used.
fn check_reranker(reranker: &Reranker) -> Finding {
    const SUBJECT: &str = "rerank";
    if let Some(fault) = reranker.fault() {
        let next_step = "Correct retrieval.rerank_path, or set retrieval.rerank to \"none\"; then run loci ctl restart";
        return Finding::warn(SUBJECT, fault, next_step.to_owned());
    }
    if reranker.encoder.state() == State::Loading {
        return Finding::ok(SUBJECT, "the cross-encoder is being loaded".to_owned());
    }
    let folder = reranker.folder().display();
    Finding::ok(SUBJECT, format!("the cross-encoder in {folder} is loaded"))
}

/// Says whether the project of the caller is isolated, and the default scopes if they were changed.
async fn describe_project(service: &Service, caller: Caller<'_>) -> Result<Finding, Failure> {
    let (actor, now) = (caller.session.actor(), service.now());
    let request = StatsRequest::default();
    let stats = service.read(move |reader| reader.stats(&request, &actor, now)).await?;
    let isolation = if stats.isolated { "isolated" } else { "not isolated" };
    let scope = |(kind, scope): (&String, &String)| format!("{kind} {scope}");
    let scopes: Vec<String> = stats.default_scopes.iter().map(scope).collect();
    let scopes = match scopes.as_slice() {
        [] => String::new(),
        scopes => format!("; default scopes: {}", scopes.join(", ")),
    };
    let name = service.project_name(caller.session).await;
    Ok(Finding::ok("project", format!("{name} is {isolation}{scopes}")))
}

/// Says that the folder of the caller may be one that was moved.
async fn describe_folder(service: &Service, session: &Session) -> Result<Option<Finding>, Failure> {
    let offer = service.offer(session).await;
    Ok(offer.map(|offer| {
        Finding::warn("project", String::from(offer.what), format!("Run {}", offer.command))
    }))
}

/// Says which sections `[groups.NAME]` apply to no project.
async fn check_group_sections(
    service: &Service,
    session: &Session,
) -> Result<Option<Finding>, Failure> {
    let mut names = service.config.group_sections();
    if names.is_empty() {
        return Ok(None);
    }
    let actor = session.actor();
    let groups = service.read(move |reader| reader.groups(&actor)).await?.groups;
    let projects = groups.iter().map(|group| (&group.id, &group.name));
    let known: HashSet<&String> = projects
        .chain([(&session.group.id, &session.group.name)])
        .flat_map(|(id, name)| [id, name])
        .collect();
    names.retain(|name| !known.contains(name));
    if names.is_empty() {
        return Ok(None);
    }
    let sections: Vec<String> = names.iter().map(|name| format!("[groups.{name}]")).collect();
    let found = format!("no project has the id or name of {}", sections.join(", "));
    let next_step = "Compare with loci groups list; a new project is listed after its first memory";
    Ok(Some(Finding::warn("config", found, next_step)))
}

/// Says where loci is off.
async fn describe_switches(service: &Service, session: &Session) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(reason) = service.off(session).await {
        let found = reason.sentence(&service.project_name(session).await);
        findings.push(Finding::warn("switches", found, reason.next_step()));
    }
    let switches = service.switch_status(&mut service.sessions.list().0).await;
    let mut found = Vec::new();
    if switches.opt_in {
        found.push("only projects with a .loci.toml are served (projects.opt_in)".to_owned());
    }
    if !switches.off.is_empty() {
        found.push(format!("off in {}", switches.off.join(", ")));
    }
    if switches.incognito > 0 {
        found.push(counted(switches.incognito, "session is incognito", "sessions are incognito"));
    }
    if !found.is_empty() {
        findings.push(Finding::ok("switches", found.join("; ")));
    }
    findings
}

/// Says of each client whose hooks have fired when the last one did, and what was missed.
async fn describe_hooks(service: &Service) -> Result<Vec<Finding>, Failure> {
    let status = service.hook_status().await?;
    let describe = |client: HookClientStatus| {
        let last = client.last_event.map_or_else(
            || "never reached the daemon".to_owned(),
            |at| format!("last fired {}", at.chars().take(16).collect::<String>()),
        );
        let (name, delivered, missed) = (client.client, client.delivered, client.missed);
        Finding::ok("hooks", format!("{name}: {last}; {delivered} delivered, {missed} missed"))
    };
    Ok(status.clients.into_iter().map(describe).collect())
}

/// Says of each client whose memory files are watched when they were last read, and what could not be kept.
async fn describe_bridge(service: &Service) -> Result<Vec<Finding>, Failure> {
    let status = service.read(|reader| reader.bridge_status(false)).await?;
    let describe = |client: BridgeClientStatus| {
        let last = client.scanned_at.map_or_else(
            || "never read".to_owned(),
            |at| format!("last read {}", at.chars().take(16).collect::<String>()),
        );
        let (name, files, versions) = (client.client, client.files, client.versions);
        let files = counted(files, "file", "files");
        let versions = counted(versions, "version", "versions");
        Finding::ok("bridge", format!("{name}: {last}; {files}, {versions}"))
    };
    let problems = service.bridge.problems().into_iter();
    let warn = |problem: String| Finding::warn("bridge", problem, "Run loci bridge status --scan");
    Ok(status.clients.into_iter().map(describe).chain(problems.map(warn)).collect())
}

/// Reads every row and every backup, while calls go on.
async fn read_everything(service: &Service) -> Result<Vec<Finding>, Failure> {
    let reader = service.read(Reader::try_clone).await?;
    let read = tokio::task::spawn_blocking(move || reader.examine_rows()).await;
    let read = read.map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
    let mut findings = read.map_err(Failure::from)?;
    let backups = service.verify_backups().await?;
    let faults: Vec<&String> = backups.iter().filter_map(|backup| backup.fault.as_ref()).collect();
    let text = format!("verified {} of {} backups", backups.len() - faults.len(), backups.len());
    findings.push(match faults.first() {
        None => Finding::ok("backup", text),
        Some(fault) => {
            Finding::warn("backup", format!("{text}; {fault}"), "Run loci backup create")
        }
    });
    Ok(findings)
}

/// Removes the lasting notices.
async fn dismiss(service: &Service) -> Result<DoctorReply, Failure> {
    let pools = service.pools().await?;
    let dismissed = pools.writer()?.run(|writer| writer.dismiss_notices()).await??;
    service.health.set_notices(Vec::new());
    Ok(DoctorReply { findings: Vec::new(), dismissed: Some(dismissed) })
}

/// Checks that the daemon can reach no other machine at the moment.
fn check_network(service: &Service) -> Finding {
    let http = service.http.status();
    let mut served = service.viewers.addresses();
    let viewers = served.iter().map(|at| format!("a viewer is open at http://{at}/"));
    let mut open: Vec<String> = viewers.collect();
    served.extend(http.as_ref().and_then(|http| http_address(&http.url)));
    if let Some(HttpStatus { url, .. }) = http {
        open.push(format!("HTTP clients of this machine are served at {url}"));
    }
    match OpenSockets::of_process(&served) {
        Ok(sockets) if sockets.other.is_empty() => {
            let local = sockets.local;
            if open.is_empty() {
                open.push("no internet socket is open".to_owned());
            } else {
                let connected = sockets.http.saturating_sub(served.len());
                open.push(format!("{connected} connected"));
            }
            let local = counted(local, "local socket", "local sockets");
            Finding::ok("network", format!("{}; {local}", open.join("; ")))
        }
        Ok(sockets) => Finding::fail(
            "network",
            format!("sockets that are not local are open: {}", sockets.other.join(", ")),
            "Run loci ctl restart in a terminal: the program that started the daemon passed them on",
        ),
        Err(error) => Finding::warn(
            "network",
            format!("the open sockets cannot be listed: {error}"),
            "Make /proc readable, then run loci doctor again",
        ),
    }
}

fn http_address(url: &str) -> Option<SocketAddr> {
    url.strip_prefix("http://")?.strip_suffix("/mcp")?.parse().ok()
}

/// Checks the configured model.
async fn check_model(service: &Service) -> Finding {
    let configured = service.models.configured();
    let state = configured.wait_until_loaded().await;
    let id = configured.id();
    let id = id.as_deref().unwrap_or("the model in embedding.path");
    match state {
        ModelState::Ready { .. } if service.api().is_some() => describe_api(service, id),
        ModelState::Ready { sha256 } => {
            Finding::ok("model", format!("{id} is ready, SHA-256 {sha256}"))
        }
        ModelState::Loading => {
            Finding::warn("model", format!("{id} is being loaded"), "Try again in a moment")
        }
        ModelState::Missing { hint } => {
            Finding::warn("model", format!("{id} is missing; search uses keywords only"), hint)
        }
        ModelState::Failed { reason, hint } => Finding::fail("model", reason, hint),
    }
}

/// Says where texts are sent, and what is unusual today.
fn describe_api(service: &Service, id: &str) -> Finding {
    let host = service.api().map(|api| api.config.target.host.clone()).unwrap_or_default();
    let text = format!("{id}: texts are sent to {host} (embedding.consent)");
    match service.api_alerts().first() {
        Some(alert) => Finding::warn("model", format!("{text}; {alert}"), "Run loci ctl cost"),
        None => Finding::ok("model", text),
    }
}

/// Offers a model of many languages to a store that the default model cannot read, or to a person of another language.
async fn check_languages(service: &Service) -> Result<Option<Finding>, Failure> {
    let sets = service.vector_sets();
    // Also minilm-fast, which is the same model.
    if sets.filling.is_some() || !sets.active.model.starts_with(MODEL_ID) {
        return Ok(None);
    }
    let Languages { memories, foreign } = service.read(Reader::languages).await?;
    let found = if foreign * FOREIGN_ONE_IN >= memories.max(1) {
        format!("{foreign} of the {memories} newest memories are not in English")
    } else if let Some(language) = loci_proto::locale::foreign_language() {
        format!("the language of this system is {language}")
    } else {
        return Ok(None);
    };
    let found = format!("{found}, and {MODEL_ID} reads English only");
    Ok(Some(Finding::warn("language", found, "Run loci model use multilingual")))
}

/// Checks the vectors that are searched: the progress of a re-embedding, and their model if it is not the configured one.
async fn check_vectors(service: &Service, pools: &StorePools) -> Result<Option<Finding>, Failure> {
    let active = &service.vector_sets().active;
    let embedder = service.models.of(active).await;
    let state = match &embedder {
        Some(embedder) => Some(embedder.wait_until_loaded().await),
        None => None,
    };
    let is_usable = matches!(state, Some(ModelState::Ready { .. }));
    if let Some(progress) = service.re_embedding(pools).await? {
        let found = progress.sentence();
        let next_step = if progress.state == "waiting" {
            "Correct the fault of the model above; loci doctor shows it"
        } else {
            "Wait, or run loci re-embed --wait"
        };
        let search = if is_usable { "" } else { "; search uses keywords only until then" };
        return Ok(Some(Finding::warn("vectors", format!("{found}{search}"), next_step)));
    }
    let is_configured = service.models.configured().id().as_deref() == Some(active.model.as_str());
    // The fault of the configured model was found above.
    let is_waiting = service.models.ready_model().is_none();
    if is_configured || active.model.is_empty() || is_waiting {
        return Ok(None);
    }
    let other = findings::other_model(&active.model);
    Ok(Some(if is_usable {
        other
    } else {
        let found = format!("{}, and it cannot be loaded; search uses keywords only", other.found);
        Finding::fail("vectors", found, "Run loci re-embed, or put the files of that model back")
    }))
}
