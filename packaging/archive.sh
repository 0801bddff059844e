#!/usr/bin/env bash
# Writes the archive of one target: archive.sh BINARIES FILES TARGET FOLDER
#
# FILES is the folder that packaging/files.sh wrote. FOLDER gets loci-VERSION-TARGET.tar.gz, for Windows .zip. The same input gives the same
# bytes.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ $# != 4 ]]; then
    echo "Usage: packaging/archive.sh BINARIES FILES TARGET FOLDER" >&2
    exit 2
fi
binaries=$1 files=$2 target=$3
mkdir -p "$4"
output=$(cd "$4" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
name=loci-$version-$target
ending=
[[ $target != *windows* ]] || ending=.exe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/$name"
install -m 0755 "$binaries/loci$ending" "$binaries/locid$ending" "$work/$name"
cp -r "$files/man" "$files/completions" "$work/$name"
cp "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$root/README.md" "$root/config.example.toml" "$work/$name"
if [[ -n $ending ]]; then
    (cd "$work" && python3 -m zipfile -c "$output/$name.zip" "$name")
else
    python3 "$root/packaging/tar.py" "$work/$name" "$output/$name.tar.gz"
fi
