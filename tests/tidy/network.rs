//! Network code is confined to the download of the model and to calls of an embedding API.
//!
//! Not here: what the running processes do (`it::silence`).

use crate::assert_rule;
use crate::repository::sources;
use crate::rust::Source;
use std::collections::BTreeSet;

/// The folder that may contain network code.
const DOWNLOAD: &str = "daemon/src/embedding/fetch/";
/// The file that calls an embedding API, in a process of its own.
const API: &str = "daemon/src/embedding/api/http.rs";
/// The file that accepts HTTP clients on the loopback address; it connects to nothing.
const HTTP_SERVER: &str = "daemon/src/interface/http/server.rs";
/// Names by which a program reaches the network. Addresses alone reach nothing.
const NAMES: [&str; 14] = [
    "std::net::Tcp",
    "std::net::Udp",
    "std::net::*",
    "tokio::net::Tcp",
    "tokio::net::Udp",
    "tokio::net::lookup_host",
    "TcpStream",
    "TcpListener",
    "TcpSocket",
    "UdpSocket",
    "ToSocketAddrs",
    "SocketAddrV",
    "ureq",
    "AF_INET",
];

fn network_code(source: &Source) -> Vec<String> {
    let product = ["proto/src/", "crates/", "engine/src/", "daemon/src/", "shim/src/"];
    let is_product = product.iter().any(|folder| source.path.starts_with(folder));
    if !is_product || source.path.starts_with(DOWNLOAD) || source.path == API {
        return Vec::new();
    }
    let names: &[&str] = if source.path == HTTP_SERVER { &["connect("] } else { &NAMES };
    let lines = source.product_lines_with(names);
    let lines: BTreeSet<usize> = lines.into_iter().collect();
    lines.into_iter().map(|line| format!("{}:{line}: network code", source.path)).collect()
}

#[test]
fn only_the_download_of_the_model_and_the_embedding_api_contain_network_code() {
    for code in [
        "use std::net::TcpStream;",
        "let agent = ureq::Agent::new();",
        "tokio::net::TcpSocket::new_v4()",
    ] {
        assert_eq!(network_code(&Source::new("shim/src/a.rs", code)).len(), 1, "{code}");
        assert!(network_code(&Source::new("daemon/src/embedding/fetch/a.rs", code)).is_empty());
        assert!(network_code(&Source::new("tests/it/a.rs", code)).is_empty());
    }
    let local = "use tokio::net::UnixStream; // not a TcpStream";
    assert!(network_code(&Source::new("shim/src/a.rs", local)).is_empty());
    assert!(network_code(&Source::new(HTTP_SERVER, "TcpListener::bind(address)")).is_empty());
    assert_eq!(network_code(&Source::new(HTTP_SERVER, "TcpStream::connect(address)")).len(), 1);
    let sources = sources();
    assert!(
        sources.iter().any(|source| source.path.starts_with(DOWNLOAD)
            && !source.product_lines_with(&["ureq"]).is_empty()),
        "the download is where this rule says"
    );
    let rule = "Only daemon/src/embedding/fetch and daemon/src/embedding/api/http.rs connect to the network, and only the HTTP server accepts connections, on loopback: nothing else may leave the machine (docs/security-model.md).";
    assert_rule(rule, &sources.iter().flat_map(network_code).collect::<Vec<_>>());
}
