#!/usr/bin/env bash
# Shows that the tests do not depend on the speed of the machine: busy loops run beside them. Needs what tests/run.sh has built.
#
#   tests/steady.sh [LOOPS] [ROUNDS] [REPEATS]   by default 4 loops; the whole suite 3 times, and the tests that start, stop and
#                                                examine daemons 50 times
#
# Stops at the first failure; target/steady has the output of each round.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
loops=${1:-4} rounds=${2:-3} repeats=${3:-50}
logs=target/steady
mkdir -p "$logs"

busy=()
trap 'kill "${busy[@]}" 2>/dev/null || true' EXIT
for _ in $(seq "$loops"); do
    (while :; do :; done) &
    busy+=($!)
done

# round NAME COMMAND…: runs a command; its output goes to a file, of which the failures are shown.
round() {
    local log=$logs/$1.log start=$SECONDS
    shift
    if "$@" > "$log" 2>&1; then
        printf 'ok      %s (%d s)\n' "$log" $((SECONDS - start))
    else
        printf 'FAILED  %s (%d s)\n' "$log" $((SECONDS - start))
        grep -E 'FAILED|panicked' "$log" || tail -n 20 "$log"
        exit 1
    fi
}

threads=$(($(getconf _NPROCESSORS_ONLN) + 2))
for number in $(seq "$rounds"); do
    round "all-$number" tests/durations.py env "RUST_TEST_THREADS=$threads" cargo test --release --locked --test '*'
done
for number in $(seq "$repeats"); do
    round "daemons-$number" tests/durations.py env "RUST_TEST_THREADS=$threads" cargo test --release --locked --test it -- lifecycle:: ctl:: doctor:: silence::
done
