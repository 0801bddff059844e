#!/usr/bin/env bash
# Completes a folder of packages for a release: release.sh FOLDER VERSION HOMEPAGE RELEASE
#
# RELEASE is the address from which the files will be downloaded. Writes it into install.sh, fills the Homebrew formula (loci.rb), and writes
# SHA256SUMS of all files.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ $# != 4 ]]; then
    echo "Usage: packaging/release.sh FOLDER VERSION HOMEPAGE RELEASE" >&2
    exit 2
fi
cd "$1"
version=$2 homepage=$3 release=$4
if [[ $release == *[\"\`\$\\]* || $version == *[!0-9A-Za-z.-]* ]]; then
    echo "release.sh: unexpected characters in $release or $version" >&2
    exit 2
fi
sed -e "s|^source_default=\"\"\$|source_default=\"$release\"|" -e "s|^version_default=\"\"\$|version_default=\"$version\"|" \
    "$root/packaging/install/install.sh" > install.sh
grep -q '^source_default=".' install.sh
chmod +x install.sh
rm -f SHA256SUMS loci.rb
sha256sum -- *.tar.gz > archives.txt
"$root/packaging/homebrew/fill.py" "$version" "$homepage" "$release" archives.txt > loci.rb
rm archives.txt
sums=$(sha256sum -- *)
printf '%s\n' "$sums" > SHA256SUMS
