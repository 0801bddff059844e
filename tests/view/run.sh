#!/usr/bin/env bash
# Tests the viewer in Chromium: installs what that needs under target/view (once), checks the page's script, then runs each case.
#
#   tests/view/run.sh [LOCI [CASE… | -CASE…]]     LOCI: the binary under test, by default target/release/loci; locid must be in its
#                                                 folder. CASEs are run alone, -CASEs are left out
#   tests/view/run.sh --prepare [LOCI]   installs everything and encodes the store, and runs no case
#
# Needs python3 (3.10 or newer) with pip and venv, and the model (`loci model download`). Installs npm with pip if it is missing, and
# Debian's package `chromium` where this user may; without a Chromium the cases are skipped, and the file LOCI_SKIPPED says so. The first
# run encodes a store of 10,000 notes, which takes a minute or two. Screenshots are in target/view-screens. The last line is
# `N passed, N failed`; the exit code is 0 if none failed.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
prepares=
if [ "${1:-}" = --prepare ]; then
    prepares=1
    shift
fi
loci=${1:-$root/target/release/loci}
tools=$root/target/view
node_root=$tools
python=$tools/playwright/bin/python
chromium=
# shellcheck source=tests/node.sh
source "$root/tests/node.sh"

# Says that the cases are skipped, and why.
skip() {
    echo "skipped: $1"
    [ -z "${LOCI_SKIPPED:-}" ] || echo "tests/view/run.sh: $1" >> "$LOCI_SKIPPED"
    exit 0
}

install_chromium() {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium
}

# Sets `chromium` to an installed one; installs Debian's package where this user may.
find_chromium() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        chromium=$(command -v "$name") && return
    done
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        echo "Installing chromium with apt"
        if install_chromium > "$tools/apt.log" 2>&1; then
            chromium=$(command -v chromium) && return
        fi
    fi
    skip "there is no Chromium, and it could not be installed"
}

# Installs Playwright; again if its versions have changed.
install_playwright() {
    local pins=$here/playwright-1.65.2.txt
    cmp -s "$pins" "$tools/playwright/installed.txt" && return
    echo "Installing Playwright with pip"
    rm -rf "$tools/playwright"
    python3 -m venv "$tools/playwright"
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$pins"
    cp "$pins" "$tools/playwright/installed.txt"
}

# Checks the types of the page's script, which is one program of all its files.
check_script() {
    mkdir -p "$tools/script"
    python3 "$here/joined.py" "$tools/script/page.js"
    cp "$here/types.d.ts" "$tools/script/"
    "$tools/packages/node_modules/.bin/tsc" --checkJs --allowJs --noEmit --strict --target es2024 --lib es2024,dom,dom.iterable \
        "$tools/script/page.js" "$tools/script/types.d.ts"
    echo "ok      the types of the page's script"
}

[ -x "$loci" ] || { printf 'Error: %s is not an executable file\nHint: cargo build --release\n' "$loci" >&2; exit 1; }
export PYTHONDONTWRITEBYTECODE=1
mkdir -p "$tools"
find_npm
install_packages "$here/node" "axe and tsc"
check_script
find_chromium
install_playwright
[ -z "$prepares" ] || exec "$python" "$here/prepare.py" "$loci"
exec "$python" "$here/main.py" "$loci" "$chromium" "$tools/packages" "${@:2}"
