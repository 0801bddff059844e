#!/usr/bin/env bash
# Collects what a release consists of and writes the checksums: checksums.sh BINARIES FOLDER
#
# BINARIES: the folder with loci and locid, usually target/release. FOLDER gets loci, locid, sbom.cdx.json and SHA256SUMS.
# To check a download: sha256sum --check SHA256SUMS
set -euo pipefail

release=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ $# != 2 ]]; then
    echo "Usage: release/checksums.sh BINARIES FOLDER" >&2
    exit 2
fi
mkdir -p "$2"
install -m 0755 "$1/loci" "$1/locid" "$2"
"$release/sbom.py" "$2/sbom.cdx.json"
cd "$2"
sha256sum loci locid sbom.cdx.json > SHA256SUMS
