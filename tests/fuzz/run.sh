#!/usr/bin/env bash
# Runs libFuzzer on the relay's line handling, starting from tests/fuzz/corpus/lines.
#
#   tests/fuzz/run.sh [SECONDS]      default: 60
#
# Needs a C++ compiler and a stable toolchain. cargo-fuzz also works: `cargo fuzz run lines --fuzz-dir tests/fuzz`.
# New inputs are written to target/fuzz/found. A failing input is named at the end: add it to the corpus, then fix the relay.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
built=$here/../../target/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')
mkdir -p "$built/found" "$built/failed"

# The flags of cargo-fuzz without the address sanitizer, which needs a nightly toolchain; the tested code has no unsafe blocks.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage+=" -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
# Use the lock file of the workspace, and leave no second one behind.
trap 'rm -f "$here/Cargo.lock"' EXIT
cp "$here/../../Cargo.lock" "$here/Cargo.lock"
RUSTFLAGS="$coverage --cfg fuzzing -Cdebug-assertions -Ccodegen-units=1" \
    cargo build --release --quiet --manifest-path "$here/Cargo.toml" --target "$host" --target-dir "$built"
"$built/$host/release/lines" -max_total_time="${1:-60}" -max_len=8192 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$built/failed/" "$built/found" "$here/corpus/lines"
