#!/usr/bin/env bash
# Writes what packages contain besides the programs: files.sh LOCI FOLDER
#
# FOLDER gets man/, completions/, systemd/ (for programs in /usr/bin) and changelog.gz. LOCI runs on this machine.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ $# != 2 ]]; then
    echo "Usage: packaging/files.sh LOCI FOLDER" >&2
    exit 2
fi
loci=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder/completions" "$folder/systemd"
"$loci" man --dir "$folder/man" > /dev/null
"$loci" completions bash > "$folder/completions/loci"
"$loci" completions zsh > "$folder/completions/_loci"
"$loci" completions fish > "$folder/completions/loci.fish"
for unit in locid.service locid.socket; do
    # The comment before the first section is about installing by hand.
    sed -e '1,/^$/d' -e 's,%h/\.cargo/bin/locid,/usr/bin/locid,' "$root/systemd/$unit" > "$folder/systemd/$unit"
done
grep -q '^ExecStart=/usr/bin/locid$' "$folder/systemd/locid.service"
gzip -9n < "$root/CHANGELOG.md" > "$folder/changelog.gz"
