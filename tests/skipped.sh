#!/usr/bin/env bash
# Prints which tests were skipped and why: skipped.sh FILE, where each line of FILE is `TEST: REASON`. No file means none.
set -euo pipefail

file=$1
if [[ ! -s $file ]]; then
    printf 'Skipped: none\n'
    exit 0
fi
sort -u "$file" | awk 'END { printf "Skipped: %d\n", NR }'
sort -u "$file" | sed 's/^/  /'
