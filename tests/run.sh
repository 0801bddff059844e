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

# Runs commands at the same time, which mostly wait for other programs; prints the output of each when all have ended.
together() {
    local start=$SECONDS command number
    local pids=() failed=()
    for command in "$@"; do
        $command > "target/together-${command//[\/ ]/-}.log" 2>&1 &
        pids+=($!)
    done
    for number in "${!pids[@]}"; do
        wait "${pids[number]}" || failed+=("${@:number+1:1}")
    done
    for command in "$@"; do
        printf '\n== %s (with others, %d s so far)\n' "$command" "$start"
        cat "target/together-${command//[\/ ]/-}.log"
    done
    durations+=("$(printf '%6d s  %s' $((SECONDS - start)) "$*")")
    if [ ${#failed[@]} -gt 0 ]; then
        printf '\nFailed: %s\n' "${failed[*]}"
        exit 1
    fi
}

export LOCI_SKIPPED="$PWD/target/skipped.txt"
mkdir -p target
rm -f "$LOCI_SKIPPED"

# What the tests of clients and packages install, one after the other: mostly waits for the network, and is done when they begin. They do
# again what fails here.
install_clients() {
    tests/clients/conformance.sh --prepare
    tests/clients/run.sh --prepare
    tests/packages/run.py --prepare
}
background=()
trap 'kill "${background[@]}" 2>/dev/null || true' EXIT
(set +e; renice -n 10 "$BASHPID" > /dev/null; install_clients) > target/install.log 2>&1 &
background+=($!)

step cargo fmt --check
step cargo clippy --release --all-targets --locked -- -D warnings
step release/dependencies.sh
step cargo build --release --locked
step target/release/loci model download
# The tests of the packages link the programs in target/release again; these copies stay while others are run.
mkdir -p target/tested
cp target/release/loci target/release/locid target/tested/
# What the browser tests need takes a minute or two of one core. They do again what fails here.
nice -n 19 env -u LOCI_SKIPPED tests/view/run.sh --prepare target/tested/loci > target/view-prepare.log 2>&1 &
background+=($!)
rm -f target/test-durations.tsv
# These mostly wait for the programs that they start, so more of them than there are cores run at the same time.
threads=$(($(getconf _NPROCESSORS_ONLN) + 2))
step tests/durations.py env "RUST_TEST_THREADS=$threads" cargo test --release --locked --test '*'
# The unit tests of the two programs' own code are compiled without optimisation, which takes a third of the time; the engine and all other
# crates are those of the release. In a step of its own, because the libraries of the two programs would be compiled so too. The examples are
# compiled by clippy and by the conformance tests.
quick=()
for setting in loci.opt-level=0 loci.codegen-units=16 locid.opt-level=0 locid.codegen-units=16; do
    quick+=(--config "profile.release.package.$setting")
done
step tests/durations.py cargo test --release --locked "${quick[@]}" --lib
step cargo test --release --locked --doc
wait "${background[@]}" || true
# Times between frames are those of the page only while nothing else runs.
frames=(scrolls_smoothly types_smoothly)
step tests/view/run.sh target/tested/loci "${frames[@]}"
together tests/packages/run.py "tests/clients/run.sh target/tested/loci" "tests/view/run.sh target/tested/loci ${frames[*]/#/-}" tests/clients/conformance.sh

tests/durations.py
printf '\nSteps:\n'
printf '%s\n' "${durations[@]}"
tests/skipped.sh "$LOCI_SKIPPED"
printf '\n== All tests passed (%d s)\n' "$SECONDS"
