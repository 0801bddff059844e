#!/usr/bin/env bash
# Every test of the repository; stops at the first that fails. Needs a Rust toolchain and python3 with pip.
# Ends with the duration of each step and the slowest Rust tests; target/test-durations.tsv has them all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

durations=()
step() {
    local start=$SECONDS
    printf '\n== %s (%d s so far)\n' "$*" "$start"
    "$@"
    durations+=("$(printf '%6d s  %s' $((SECONDS - start)) "$*")")
}

export LOCI_SKIPPED="$PWD/target/skipped.txt"
mkdir -p target
rm -f "$LOCI_SKIPPED"

step cargo fmt --check
step cargo clippy --release --all-targets --locked -- -D warnings
step release/dependencies.sh
step cargo build --release --locked
step target/release/loci model download
step tests/durations.py cargo test --release --locked
step tests/packages/run.py
step tests/clients/run.sh
step tests/view/run.sh
step tests/clients/conformance.sh

tests/durations.py
printf '\nSteps:\n'
printf '%s\n' "${durations[@]}"
tests/skipped.sh "$LOCI_SKIPPED"
printf '\n== All tests passed (%d s)\n' "$SECONDS"
