#!/usr/bin/env bash
# Checks licences, versions and sources of all dependencies by deny.toml. Without cargo-deny nothing is checked and the summary of
# tests/run.sh says so. Advisories are not checked here: their database is a git repository, which the build server cannot reach;
# `cargo deny check advisories` does it elsewhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v cargo-deny > /dev/null; then
    echo "cargo-deny is not installed: licences of all platforms were not checked"
    if [[ -n ${LOCI_SKIPPED:-} ]]; then
        echo "release/dependencies.sh: cargo-deny is not installed" >> "$LOCI_SKIPPED"
    fi
    exit 0
fi
cargo deny check licenses bans sources
