#!/usr/bin/env bash
# Every test of the repository; stops at the first that fails. Needs a Rust toolchain and python3 with pip.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

step() {
    printf '\n== %s (%d s so far)\n' "$*" "$SECONDS"
    "$@"
}

export LOCI_SKIPPED="$PWD/target/skipped.txt"
mkdir -p target
rm -f "$LOCI_SKIPPED"

step cargo fmt --check
step cargo clippy --release --all-targets --locked -- -D warnings
step cargo build --release --locked
step target/release/loci model download
step cargo test --release --locked
step tests/clients/run.sh
step tests/clients/conformance.sh
tests/skipped.sh "$LOCI_SKIPPED"
printf '\n== All tests passed (%d s)\n' "$SECONDS"
