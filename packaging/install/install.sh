#!/bin/sh
# Installs loci from a release: downloads the archive of this platform, compares its checksum, and copies the programs.
#
#   install.sh [--from URL_OR_FOLDER] [--version VERSION] [--prefix FOLDER]
#
# --from     where loci-VERSION-TARGET.tar.gz and SHA256SUMS are; a release sets the default
# --version  the version; a release sets the default
# --prefix   programs go to FOLDER/bin, manual pages and completions to FOLDER/share; default ~/.local
#
# Changes nothing else: no shell profile, no client's configuration, no service.
set -eu

source_default=""
version_default=""

say() { printf '%s\n' "$*"; }
fail() {
    printf 'install.sh: %s\n' "$1" >&2
    [ $# -lt 2 ] || printf 'Hint: %s\n' "$2" >&2
    exit 1
}

# target: prints the target of this machine.
target() {
    system=$(uname -s)
    machine=$(uname -m)
    case "$system-$machine" in
        Linux-x86_64) say x86_64-unknown-linux-gnu ;;
        Linux-aarch64 | Linux-arm64) say aarch64-unknown-linux-gnu ;;
        Darwin-x86_64) say x86_64-apple-darwin ;;
        Darwin-arm64) say aarch64-apple-darwin ;;
        *) fail "there are no programs for $system on $machine" "build from source: cargo install --locked --path packaging/cargo" ;;
    esac
}

# get NAME FILE: fetches a file of the release.
get() {
    case "$from" in
        http://*@*) fail "--from must begin with https://, not http://" ;;
        http://127.0.0.1 | http://127.0.0.1[:/]* | http://localhost | http://localhost[:/]* | https://*)
            if command -v curl > /dev/null; then
                curl -fsSL --retry 3 -o "$2" "$from/$1"
            elif command -v wget > /dev/null; then
                wget -q -O "$2" "$from/$1"
            else
                fail "neither curl nor wget is installed" "download $1 yourself and use --from FOLDER"
            fi
            ;;
        http://*) fail "--from must begin with https://, not http://" ;;
        file://*) cp "${from#file://}/$1" "$2" ;;
        *) cp "$from/$1" "$2" ;;
    esac
}

# checksum FILE: prints its SHA-256.
checksum() {
    if command -v sha256sum > /dev/null; then
        sha256sum "$1" | cut -d ' ' -f 1
    elif command -v shasum > /dev/null; then
        shasum -a 256 "$1" | cut -d ' ' -f 1
    else
        fail "neither sha256sum nor shasum is installed, so the archive cannot be checked"
    fi
}

# json TEXT: as a string of JSON.
json() {
    case "$1" in
        *[[:cntrl:]]*) fail "a path must not contain control characters: $1" ;;
    esac
    printf '"%s"' "$(printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g')"
}

# copy MODE FILE FOLDER: installs a file in one step, so that a running program is not overwritten, and notes it for the receipt.
copy() {
    name=$(basename "$2")
    mkdir -p "$3"
    cp "$2" "$3/.$name.new"
    chmod "$1" "$3/.$name.new"
    mv -f "$3/.$name.new" "$3/$name"
    files="$files${files:+, }$(json "$3/$name")"
}

from=$source_default version=$version_default prefix=${HOME:-}/.local
while [ $# -gt 0 ]; do
    case "$1" in
        --from | --version | --prefix)
            [ $# -ge 2 ] || fail "$1 needs a value"
            case "$1" in
                --from)
                    from=${2%/}
                    [ ! -d "$from" ] || from=$(cd "$from" && pwd)
                    ;;
                --version) version=$2 ;;
                --prefix) prefix=${2%/} ;;
            esac
            shift 2
            ;;
        -h | --help)
            say "Usage: install.sh [--from URL_OR_FOLDER] [--version VERSION] [--prefix FOLDER]"
            exit 0
            ;;
        *) fail "unknown argument $1" "install.sh --help" ;;
    esac
done
[ -n "$from" ] || fail "this copy is not of a release, so it does not know where the archives are" "use --from URL_OR_FOLDER"
case "$prefix" in
    /*) ;;
    *) fail "--prefix must be an absolute path, not $prefix" ;;
esac
target=$(target)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

get SHA256SUMS "$work/SHA256SUMS" || fail "there is no SHA256SUMS at $from"
if [ -z "$version" ]; then
    version=$(sed -n "s/^[0-9a-f]\{64\}  loci-\([0-9][^/ ]*\)-$target\.tar\.gz\$/\1/p" "$work/SHA256SUMS" | head -n 1)
    [ -n "$version" ] || fail "the release at $from has no archive for $target"
fi
archive=loci-$version-$target.tar.gz
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/SHA256SUMS")
[ -n "$expected" ] || fail "SHA256SUMS at $from does not list $archive"
get "$archive" "$work/$archive" || fail "cannot get $from/$archive"
found=$(checksum "$work/$archive")
[ "$found" = "$expected" ] || fail "$archive has the SHA-256 $found instead of $expected; nothing was installed"
tar -xzf "$work/$archive" -C "$work"
content=$work/loci-$version-$target
for program in loci locid; do
    [ -f "$content/$program" ] || fail "$archive does not contain $program; nothing was installed"
done
"$content/loci" --version > /dev/null || fail "the programs do not run on this system; nothing was installed" "build from source"

files=""
copy 0755 "$content/locid" "$prefix/bin"
copy 0755 "$content/loci" "$prefix/bin"
for page in "$content"/man/*.1; do
    [ ! -f "$page" ] || copy 0644 "$page" "$prefix/share/man/man1"
done
[ ! -f "$content/completions/loci" ] || copy 0644 "$content/completions/loci" "$prefix/share/bash-completion/completions"
[ ! -f "$content/completions/_loci" ] || copy 0644 "$content/completions/_loci" "$prefix/share/zsh/site-functions"
[ ! -f "$content/completions/loci.fish" ] || copy 0644 "$content/completions/loci.fish" "$prefix/share/fish/vendor_completions.d"
mkdir -p "$prefix/share/loci"
printf '{"installer": "install.sh", "version": %s, "target": %s, "source": %s, "bin": %s, "files": [%s]}\n' \
    "$(json "$version")" "$(json "$target")" "$(json "$from")" "$(json "$prefix/bin")" "$files" > "$prefix/share/loci/install.json"

say "Installed loci $version to $prefix/bin"
case ":${PATH:-}:" in
    *":$prefix/bin:"*) loci=loci ;;
    *)
        loci=$prefix/bin/loci
        say "$prefix/bin is not on PATH. Add to your shell's profile:"
        say "  export PATH=\"$prefix/bin:\$PATH\""
        ;;
esac
say "Next:"
say "  $loci model download    # the embedding model, once"
say "  $loci setup             # shows what it writes to the clients that are installed, and asks"
say "  $loci doctor"
say "To remove it: $loci uninstall"
