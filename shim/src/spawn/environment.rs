//! What of an agent's environment a daemon inherits: enough to find its files, its language and its way out, nothing else.
//!
//! A daemon outlives the agent that started it, so it must hold neither its secrets nor its project (`LOCI_GROUP`).

use std::ffi::OsString;

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
];

const PREFIXES: &[&str] = &["LC_", "XDG_", "SSL_CERT_"];

/// The variables that are passed on.
pub fn for_the_daemon(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    all.filter(|(name, _)| name.to_str().is_some_and(is_passed_on))
}

fn is_passed_on(name: &str) -> bool {
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_projects_stay_behind() {
        let given = [
            "HOME",
            "LC_ALL",
            "XDG_RUNTIME_DIR",
            "LOCI_DB",
            "https_proxy",
            "LOCI_GROUP",
            "ANTHROPIC_API_KEY",
            "CLAUDE_PROJECT_DIR",
        ];
        let passed: Vec<_> = for_the_daemon(given.iter().map(|name| (name.into(), "x".into())))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(passed, ["HOME", "LC_ALL", "XDG_RUNTIME_DIR", "LOCI_DB", "https_proxy"]);
    }
}
