#!/usr/bin/env bash
# Tests the release binaries with real MCP clients: installs the clients under target/clients (once), then runs each case.
#
#   tests/clients/run.sh [LOCI]      LOCI: the binary under test, by default target/release/loci; locid must be in its folder
#   tests/clients/run.sh --prepare   installs the clients, and runs no case
#
# Needs python3 (3.10 or newer) with pip and venv, and the model (`loci model download`). Installs npm with pip if it is missing.
# The last line is `N passed, N failed`; the exit code is 0 if none failed.
set -euo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
prepares=
[ "${1:-}" != --prepare ] || { prepares=1; shift; }
loci=${1:-$root/target/release/loci}
clients=$root/target/clients
node_root=$clients
claude_code=2.1.330
codex_version=0.169.0
gemini_cli=0.61.0
opencode_version=1.18.33
copilot_version=1.0.102
agent_sdk_version=0.3.332
passed=0 failed=0
# shellcheck source=tests/node.sh
source "$root/tests/node.sh"

# install_sdk NAME: creates a virtual environment with the packages of NAME.txt; again if the file has changed.
install_sdk() {
    local pins=$here/$1.txt venv=$clients/$1
    cmp -s "$pins" "$venv/installed.txt" && return
    echo "Installing $1 with pip"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$pins"
    cp "$pins" "$venv/installed.txt"
}

# Installs the npm package with the Claude Code program of this platform; prints the path of the program.
install_claude_code() {
    local system machine package folder
    system=$(uname -s | tr '[:upper:]' '[:lower:]')
    case $(uname -m) in aarch64 | arm64) machine=arm64 ;; *) machine=x64 ;; esac
    package=@anthropic-ai/claude-code-$system-$machine
    folder=$clients/claude-code-$claude_code
    if [ ! -e "$folder/installed" ]; then
        echo "Installing $package $claude_code with npm" >&2
        rm -rf "$folder"
        mkdir -p "$folder"
        npm install --prefix "$folder" --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error \
            "$package@$claude_code" >&2
        touch "$folder/installed"
    fi
    echo "$folder/node_modules/$package/claude"
}

# install_package PACKAGE VERSION [FLAG…]: installs an npm package; prints the folder of its modules.
install_package() {
    local folder=$clients/${1##*/}-$2
    if [ ! -e "$folder/installed" ]; then
        echo "Installing $1 $2 with npm" >&2
        rm -rf "$folder"
        mkdir -p "$folder"
        npm install --prefix "$folder" --no-save --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error "${@:3}" "$1@$2" >&2
        touch "$folder/installed"
    fi
    echo "$folder/node_modules"
}

# run_case NAME COMMAND…: runs one client and prints the verdict.
run_case() {
    local name=$1 start=$SECONDS
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok      $name ($((SECONDS - start)) s)"
    else
        failed=$((failed + 1))
        echo "FAILED  $name ($((SECONDS - start)) s)"
    fi
}

[ -n "$prepares" ] || [ -x "$loci" ] || { printf 'Error: %s is not an executable file\nHint: cargo build --release\n' "$loci" >&2; exit 1; }
export PYTHONDONTWRITEBYTECODE=1
mkdir -p "$clients"
install_sdk mcp-1.30.0
install_sdk mcp-2.3.0
install_sdk claude-agent-sdk-0.2.189
find_npm
install_packages "$here/node" "the clients for Node"
claude=$(install_claude_code)
codex=$(find "$(install_package @openai/codex "$codex_version")/@openai" -path '*/vendor/*/bin/codex' -type f)
gemini=$(install_package @google/gemini-cli "$gemini_cli")/.bin/gemini
# Its own program of a platform: the link to it is made by a script, and no scripts of packages run here.
opencode=$(find "$(install_package opencode-ai "$opencode_version")" -path '*/opencode-*/bin/opencode' -type f ! -path '*musl*' | LC_ALL=C sort | head -n 1)
copilot=$(install_package @github/copilot "$copilot_version")/.bin/copilot
# It runs the Claude Code of the other tests, in place of one of its own of 230 MB.
agent_sdk=$(install_package @anthropic-ai/claude-agent-sdk "$agent_sdk_version" --omit=optional)
[ -z "$prepares" ] || exit 0

run_case "Python client 1.30.0" "$clients/mcp-1.30.0/bin/python" "$here/python_sdk.py" "$loci" legacy
run_case "Python client 2.3.0, modern era" "$clients/mcp-2.3.0/bin/python" "$here/python_sdk.py" "$loci" auto
run_case "Python client 2.3.0, legacy era" "$clients/mcp-2.3.0/bin/python" "$here/python_sdk.py" "$loci" legacy
run_case "TypeScript client 1.32.2" python3 "$here/node_clients.py" "$loci" "$clients/packages" sdk
run_case "TypeScript client 2.4.0, modern era" python3 "$here/node_clients.py" "$loci" "$clients/packages" client auto
run_case "TypeScript client 2.4.0, legacy era" python3 "$here/node_clients.py" "$loci" "$clients/packages" client legacy
run_case "Inspector 0.15.0" python3 "$here/node_clients.py" "$loci" "$clients/packages" inspector
run_case "Claude Code $claude_code, modern era" python3 "$here/claude_code.py" "$loci" "$claude" modern
run_case "Claude Code $claude_code, legacy era" python3 "$here/claude_code.py" "$loci" "$claude" legacy
run_case "Claude Code $claude_code, daemon killed before the reply" python3 "$here/claude_code_kill.py" "$loci" "$claude" modern
run_case "Claude Code $claude_code, entities and relations" python3 "$here/claude_code_graph.py" "$loci" "$claude"
run_case "First requests of Claude Code, Codex and Gemini CLI" python3 "$here/first_requests.py" "$loci" "$claude" "$codex" "$gemini"
run_case "Claude Code $claude_code, a long session with a compaction" python3 "$here/claude_code_long.py" "$loci" "$claude"
run_case "Claude Agent SDK for Python" python3 "$here/agent_sdk.py" "$loci" python "$clients/claude-agent-sdk-0.2.189/bin/python"
run_case "Claude Agent SDK for Node $agent_sdk_version" python3 "$here/agent_sdk.py" "$loci" node "$agent_sdk/.." "$claude"
run_case "Copilot CLI $copilot_version" python3 "$here/copilot.py" "$loci" "$copilot"
run_case "Claude Code $claude_code, set up and removed" python3 "$here/setup_claude.py" "$loci" "$claude"
run_case "Codex $codex_version, set up and removed" python3 "$here/setup_codex.py" "$loci" "$codex"
run_case "Codex $codex_version, hooks" python3 "$here/codex_hooks.py" "$loci" "$codex"
run_case "Codex $codex_version, plugin with hooks" python3 "$here/codex_plugin.py" "$loci" "$codex"
run_case "Gemini CLI $gemini_cli, hooks" python3 "$here/gemini_hooks.py" "$loci" "$gemini" setup
run_case "Gemini CLI $gemini_cli, extension with hooks" python3 "$here/gemini_hooks.py" "$loci" "$gemini" extension
run_case "OpenCode $opencode_version, history" python3 "$here/opencode_history.py" "$loci" "$opencode"
run_case "Claude Code $claude_code, plugin with hooks" python3 "$here/claude_code_hooks.py" "$loci" "$claude"
run_case "Claude Code $claude_code, mod with status line and /loci" python3 "$here/claude_code_mod.py" "$loci" "$claude"
run_case "Claude Code $claude_code, memory imported with a yes" python3 "$here/claude_code_import.py" "$loci" "$claude"

run_case "First minutes with three weeks of Claude Code" python3 "$here/first_minutes.py" "$loci"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
