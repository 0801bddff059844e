#!/usr/bin/env bash
# Builds the Debian package: build.sh BINARIES FILES FOLDER [ARCHITECTURE]
#
# FILES is the folder that packaging/files.sh wrote. FOLDER gets loci-local_VERSION_ARCHITECTURE.deb. ARCHITECTURE is by default that of this
# machine. With dpkg-shlibdeps the dependencies are those of the programs; without it, those of a build on Debian 12.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
if [[ $# != 3 && $# != 4 ]]; then
    echo "Usage: packaging/deb/build.sh BINARIES FILES FOLDER [ARCHITECTURE]" >&2
    exit 2
fi
binaries=$(cd "$1" && pwd) files=$(cd "$2" && pwd) architecture=${4:-$(dpkg --print-architecture)}
mkdir -p "$3"
output=$(cd "$3" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
umask 022

# put MODE FILE PATH: copies a file into the package.
put() { install -D -m "$1" "$2" "$tree/$3"; }

put 0755 "$binaries/loci" usr/bin/loci
put 0755 "$binaries/locid" usr/bin/locid
for page in "$files"/man/*.1; do
    gzip -9n < "$page" > "$work/page.gz"
    put 0644 "$work/page.gz" "usr/share/man/man1/$(basename "$page").gz"
done
put 0644 "$files/completions/loci" usr/share/bash-completion/completions/loci
put 0644 "$files/completions/_loci" usr/share/zsh/vendor-completions/_loci
put 0644 "$files/completions/loci.fish" usr/share/fish/vendor_completions.d/loci.fish
put 0644 "$files/systemd/locid.service" usr/lib/systemd/user/locid.service
put 0644 "$files/systemd/locid.socket" usr/lib/systemd/user/locid.socket
put 0644 "$here/copyright" usr/share/doc/loci-local/copyright
put 0644 "$files/changelog.gz" usr/share/doc/loci-local/changelog.gz
put 0644 "$root/config.example.toml" usr/share/doc/loci-local/examples/config.toml
for program in loci locid; do
    strip --strip-unneeded "$tree/usr/bin/$program" 2> /dev/null || true
done

depends='libc6 (>= 2.36), libgcc-s1 (>= 3.0)'
if command -v dpkg-shlibdeps > /dev/null; then
    mkdir "$work/debian"
    touch "$work/debian/control"
    depends=$(cd "$work" && dpkg-shlibdeps -O tree/usr/bin/loci tree/usr/bin/locid 2> /dev/null | sed -n 's/^shlibs:Depends=//p')
fi
size=$(du -sk --apparent-size "$tree" | cut -f 1)
mkdir -m 0755 "$tree/DEBIAN"
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$size/" -e "s/@DEPENDS@/$depends/" \
    "$here/control.in" > "$tree/DEBIAN/control"
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
dpkg-deb --root-owner-group --build "$tree" "$output/loci-local_${version}_$architecture.deb" > /dev/null
