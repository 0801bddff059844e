//! HTTP: the model hub at the pinned revision, or a mirror that a person names.
//!
//! Proxy and certificates are the system's. Not here: any judgement of the bytes (`store`).

use crate::embedding::fetch::cache_folder::Store;
use crate::embedding::fetch::progress::Progress;
use crate::embedding::fetch::{Outcome, REACH_TIME};
use crate::embedding::pinned_files::{Artifact, HUB_REVISION, MODEL_ID};
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

/// Where the model is published; it has the weights and the tokenizer, and no runtime.
const HUB: &str = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve";

/// How long a server may be silent once it has answered.
const SILENCE: Duration = Duration::from_secs(30);

/// Where to ask.
pub(crate) enum Site<'a> {
    Hub,
    /// A folder on a server that has the files by name, the runtime among them if it likes.
    Mirror(&'a str),
}

impl Site<'_> {
    /// As it is named in messages, without any password that the address may hold.
    pub fn name(&self) -> String {
        match self {
            Self::Hub => "the model hub".to_owned(),
            Self::Mirror(url) => {
                match url.split_once("://").map(|(scheme, rest)| (scheme, rest.rsplit_once('@'))) {
                    Some((scheme, Some((_, rest)))) => format!("{scheme}://{rest}"),
                    _ => (*url).to_owned(),
                }
            }
        }
    }

    fn address(&self, artifact: &Artifact) -> Option<String> {
        match self {
            Self::Hub if artifact.folder == MODEL_ID => {
                Some(format!("{HUB}/{HUB_REVISION}/{}", artifact.name))
            }
            Self::Hub => None,
            Self::Mirror(url) => Some(format!("{}/{}", url.trim_end_matches('/'), artifact.name)),
        }
    }
}

/// Asks for each file. A site that cannot be reached is not asked twice.
pub(crate) fn fetch(site: &Site, wanted: &[&'static Artifact], store: &Store) -> Vec<Outcome> {
    let agent = agent(site);
    let mut unreachable = None;
    let mut outcomes = Vec::new();
    for artifact in wanted {
        let outcome = match (site.address(artifact), &unreachable) {
            (None, _) => Err("does not have it".to_owned()),
            (_, Some(reason)) => Err(String::clone(reason)),
            (Some(address), None) => match agent.get(&address).call() {
                Ok(answer) => {
                    let mut progress = Progress::start(
                        artifact.name,
                        &format!("from {}", site.name()),
                        artifact.size,
                    );
                    store.put(artifact, &mut answer.into_body().into_reader(), &mut |done| {
                        progress.at(done)
                    })
                }
                Err(ureq::Error::StatusCode(status)) => Err(format!("HTTP status {status}")),
                Err(e) => Err(unreachable.insert(e.to_string()).clone()),
            },
        };
        outcomes.push((*artifact, outcome));
    }
    outcomes
}

fn agent(site: &Site) -> Agent {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .tls_config(tls)
        .user_agent(format!("loci/{}", loci_proto::VERSION))
        .timeout_resolve(Some(REACH_TIME))
        .timeout_connect(Some(REACH_TIME))
        .timeout_recv_response(Some(SILENCE))
        .timeout_per_read(Some(SILENCE));
    // No proxy can see this machine's own ports.
    let config = if is_loopback(site) { config.proxy(None) } else { config };
    config.build().new_agent()
}

fn is_loopback(site: &Site) -> bool {
    let Site::Mirror(url) = site else { return false };
    let host = url.split_once("://").map_or(*url, |(_, rest)| rest);
    ["127.", "localhost", "[::1]"].iter().any(|start| host.starts_with(start))
}
