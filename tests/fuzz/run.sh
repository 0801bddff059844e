#!/usr/bin/env bash
# Looks for lines that the relay treats wrongly: libFuzzer over tests/fuzz/corpus/lines and what it finds from there.
#
#   tests/fuzz/run.sh [SECONDS]      60 unless given
#
# Needs a C++ compiler; a stable toolchain will do, and cargo-fuzz is not needed (`cargo fuzz run lines --fuzz-dir tests/fuzz` works too).
# New inputs go to target/fuzz/found; one that fails is named at the end: put it into the corpus, then mend the relay.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
built=$here/../../target/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')
mkdir -p "$built/found" "$built/failed"

# What cargo-fuzz sets, but for the address sanitizer: there is no unsafe code on this way, and it needs a nightly toolchain.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage+=" -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
# The lock file would only be another one to keep in step.
trap 'rm -f "$here/Cargo.lock"' EXIT
cp "$here/../../Cargo.lock" "$here/Cargo.lock"
RUSTFLAGS="$coverage --cfg fuzzing -Cdebug-assertions -Ccodegen-units=1" \
    cargo build --release --quiet --manifest-path "$here/Cargo.toml" --target "$host" --target-dir "$built"
"$built/$host/release/lines" -max_total_time="${1:-60}" -max_len=8192 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$built/failed/" "$built/found" "$here/corpus/lines"
