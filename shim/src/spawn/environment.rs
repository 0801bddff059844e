//! The environment variables that a daemon inherits from an agent: paths, locale and proxies, nothing else.
//!
//! A daemon outlives the agent that started it, so it must have neither the agent's secrets nor its project (`LOCI_GROUP`).

use std::ffi::OsString;

/// Inherited variables.
const NAMES: &[&str] = &[
    "HOME",
    "PATH",
    "LANG",
    "TZ",
    "TMPDIR",
    "LOCI_HOME",
    "LOCI_DB",
    "LOCI_CONFIG",
    "LOCI_MODELS",
    "LOCI_ORT_LIB",
    "LOCI_LOG_LEVEL",
    "LOCI_FAULT_EMBEDDER",
    "LD_LIBRARY_PATH",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    // The index from which a missing model is downloaded.
    "PIP_CONFIG_FILE",
    "PIP_INDEX_URL",
    "PIP_NO_INDEX",
    "UV_DEFAULT_INDEX",
];

/// Prefixes of inherited variables.
const PREFIXES: &[&str] = &["LC_", "XDG_", "SSL_CERT_"];

/// Returns the variables that the daemon inherits.
pub fn for_daemon(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    all.filter(|(name, _)| name.to_str().is_some_and(is_inherited))
}

fn is_inherited(name: &str) -> bool {
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_the_project_are_not_inherited() {
        let names = [
            "HOME",
            "LC_ALL",
            "XDG_RUNTIME_DIR",
            "LOCI_DB",
            "https_proxy",
            "PIP_INDEX_URL",
            "LOCI_GROUP",
            "ANTHROPIC_API_KEY",
            "CLAUDE_PROJECT_DIR",
        ];
        let inherited: Vec<_> = for_daemon(names.iter().map(|name| (name.into(), "x".into())))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            inherited,
            ["HOME", "LC_ALL", "XDG_RUNTIME_DIR", "LOCI_DB", "https_proxy", "PIP_INDEX_URL"]
        );
    }
}
