#!/usr/bin/env bash
# Builds every package that this machine can build, from programs that are built already: build.sh FOLDER [KIND...]
#
# KINDS: archive deb mcpb npm wheel; all without a KIND. FOLDER gets the packages, sbom.cdx.json, install.sh and SHA256SUMS.
#   LOCI_BINARIES  folder of the programs, by default target/release
#   LOCI_TARGET    their target, by default that of this machine
# A tool that is missing is named, and its kind is left out; with KINDs that is an error. maturin builds the programs itself.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ $# == 0 || $1 == -* ]]; then
    sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
mkdir -p "$1"
output=$(cd "$1" && pwd)
shift
kinds=("$@")
[[ $# != 0 ]] || kinds=(archive deb mcpb npm wheel)
binaries=$(cd "${LOCI_BINARIES:-$root/target/release}" && pwd)
target=${LOCI_TARGET:-$(rustc -vV | sed -n 's/^host: //p')}
files=$root/target/package-files

# needs TOOL: whether the tool is installed; fails if its kind was asked for.
asked=$#
needs() {
    command -v "$1" > /dev/null && return
    echo "build.sh: $1 is not installed; left out: $kind"
    [[ $asked == 0 ]] || exit 1
    return 1
}

# The platform of this target as Node and Claude Desktop write it.
case $target in
    x86_64-*linux*) platform=linux-x64 architecture=amd64 ;;
    aarch64-*linux*) platform=linux-arm64 architecture=arm64 ;;
    x86_64-apple-*) platform=darwin-x64 ;;
    aarch64-apple-*) platform=darwin-arm64 ;;
    x86_64-*windows*) platform=win32-x64 ;;
    *) echo "build.sh: no packages for $target" >&2 && exit 1 ;;
esac

"$root/packaging/files.sh" "$binaries/loci" "$files"
for kind in "${kinds[@]}"; do
    case $kind in
        archive) "$root/packaging/archive.sh" "$binaries" "$files" "$target" "$output" ;;
        deb)
            if needs dpkg-deb; then
                "$root/packaging/deb/build.sh" "$binaries" "$files" "$output" "${architecture:-}"
            fi
            ;;
        mcpb) "$root/packaging/mcpb/pack.py" "$binaries" "$output/loci-$target.mcpb" "${platform%-*}" ;;
        npm)
            if needs npm; then
                "$root/packaging/npm/pack.py" "$binaries" "$output" "$platform" > /dev/null
            fi
            ;;
        wheel)
            if needs maturin; then
                (cd "$root/packaging/wheel" && maturin build --release --locked --quiet --out "$output")
            fi
            ;;
        *) echo "build.sh: unknown kind $kind" >&2 && exit 2 ;;
    esac
done
"$root/release/sbom.py" "$output/sbom.cdx.json"
cp "$root/packaging/install/install.sh" "$output"
cd "$output"
rm -f SHA256SUMS
# macOS has the one, Linux the other.
if command -v sha256sum > /dev/null; then sums=$(sha256sum -- *); else sums=$(shasum -a 256 -- *); fi
printf '%s\n' "$sums" > SHA256SUMS
ls -l "$output"
