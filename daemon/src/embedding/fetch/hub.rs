//! Download over HTTP: from the model hub at the pinned revision, or from a mirror that the user names.
//!
//! Uses the system's proxy settings and certificates. Not here: verification (`models_folder`).

use crate::embedding::fetch::models_folder::{ModelsFolder, SourceOutcome};
use crate::embedding::fetch::progress::Progress;
use crate::embedding::pinned_files::{Artifact, HUB_REVISION, MODEL_ID};
use std::io::Read;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

/// Address of the model on the hub, which has the weights and the tokenizer, but no ONNX Runtime.
const HUB: &str = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve";

/// Maximum time to resolve a name, and to connect. Where a firewall blocks the hub, the user waits this long.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Maximum time without data after the connection is made.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A server to download from.
pub(crate) enum Site<'a> {
    /// The model hub.
    Hub,
    /// Base address of a folder that has the files by name, possibly also the runtime.
    Mirror(&'a str),
}

impl Site<'_> {
    /// Returns the name for messages, without credentials in the address.
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

    /// Returns the address of an artifact; `None` if the site does not have it.
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

/// Downloads each file. After a connection error the remaining files are not tried.
pub(crate) fn fetch(
    site: &Site,
    wanted: &[&'static Artifact],
    folder: &ModelsFolder,
) -> Vec<SourceOutcome> {
    let agent = agent(match site {
        Site::Hub => HUB,
        Site::Mirror(url) => url,
    });
    let mut connection_error = None;
    let mut outcomes = Vec::new();
    for artifact in wanted {
        let outcome = match (site.address(artifact), &connection_error) {
            (None, _) => Err("does not have it".to_owned()),
            (_, Some(reason)) => Err(String::clone(reason)),
            (Some(address), None) => match agent.get(&address).call() {
                Ok(response) => {
                    let label = format!("{} from {}", artifact.name, site.name());
                    let mut progress = Progress::start(&label, artifact.size);
                    folder.put(artifact, &mut response.into_body().into_reader(), &mut |done| {
                        progress.update(done);
                    })
                }
                Err(ureq::Error::StatusCode(status)) => Err(format!("HTTP status {status}")),
                Err(e) => Err(connection_error.insert(e.to_string()).clone()),
            },
        };
        outcomes.push((*artifact, outcome));
    }
    outcomes
}

/// Returns the address of a file of a repository on the hub, which is not pinned.
pub(crate) fn unpinned_address(repository: &str, file: &str) -> String {
    format!("https://huggingface.co/{repository}/resolve/main/{file}")
}

/// Opens a file at an address; returns it with its size, if the server says it.
///
/// # Errors
/// The HTTP status, or why there is no connection.
pub(crate) fn open(address: &str) -> Result<(impl Read + use<>, u64), String> {
    match agent(address).get(address).call() {
        Ok(response) => {
            let body = response.into_body();
            let size = body.content_length().unwrap_or(0);
            // Without a limit of its own: the limit of ureq is 10 MB.
            Ok((body.into_with_config().limit(u64::MAX).reader(), size))
        }
        Err(ureq::Error::StatusCode(status)) => Err(format!("HTTP status {status}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns a client for a server at this address.
pub(crate) fn agent(url: &str) -> Agent {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .tls_config(tls)
        .user_agent(format!("loci/{}", loci_proto::VERSION))
        .timeout_resolve(Some(CONNECT_TIMEOUT))
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(READ_TIMEOUT))
        .timeout_per_read(Some(READ_TIMEOUT));
    // A proxy cannot reach the loopback addresses of this machine.
    let config = if is_loopback(url) { config.proxy(None) } else { config };
    config.build().new_agent()
}

fn is_loopback(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    ["127.", "localhost", "[::1]"].iter().any(|start| host.starts_with(start))
}
