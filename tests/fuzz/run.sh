#!/usr/bin/env bash
# Runs libFuzzer on a target, starting from its corpus in tests/fuzz/corpus.
#
#   tests/fuzz/run.sh [SECONDS] [TARGET ...]      default: 60 seconds, every target in tests/fuzz/fuzz_targets
#
# Needs a C++ compiler and a stable toolchain. cargo-fuzz also works: `cargo fuzz run TARGET --fuzz-dir tests/fuzz`.
# New inputs are written to target/fuzz/found. A failing input is named at the end: add it to the corpus, then fix the code.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
built=$here/../../target/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')
targets=("${@:2}")
if [ ${#targets[@]} -eq 0 ]; then
    for file in "$here"/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi

# The flags of cargo-fuzz without the address sanitizer, which needs a nightly toolchain; the tested code has no unsafe blocks.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage+=" -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
# Use the lock file of the workspace, and leave no second one behind.
trap 'rm -f "$here/Cargo.lock"' EXIT
cp "$here/../../Cargo.lock" "$here/Cargo.lock"
RUSTFLAGS="$coverage --cfg fuzzing -Cdebug-assertions -Ccodegen-units=1" \
    cargo build --release --quiet --manifest-path "$here/Cargo.toml" --target "$host" --target-dir "$built"
for target in "${targets[@]}"; do
    mkdir -p "$built/found/$target" "$built/failed/$target"
    printf '\n== %s\n' "$target"
    "$built/$host/release/$target" -max_total_time="${1:-60}" -max_len=8192 -timeout=10 -print_final_stats=1 \
        -artifact_prefix="$built/failed/$target/" "$built/found/$target" "$here/corpus/$target"
done
