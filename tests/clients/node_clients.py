"""Test: the official MCP clients for Node, each in its own home: the TypeScript SDKs and the CLI of the inspector.

    python3 node_clients.py LOCI PACKAGES sdk
    python3 node_clients.py LOCI PACKAGES client [auto|legacy]
    python3 node_clients.py LOCI PACKAGES inspector

PACKAGES is the folder with node_modules. The session of an SDK is in node_sdk.mjs. The inspector starts a server for each command, so
its recall finds a memory of an earlier session.
"""

import json
import subprocess
import sys
from pathlib import Path

from home import Home

TIMEOUT_S = 60
SCRIPT = Path(__file__).with_name("node_sdk.mjs")
FACT = "Anna drinks green tea before work."
OTHER = "The nightly backup of the ledger goes to a disk in Lisbon."
QUESTION = "Which hot beverage does she like in the morning?"
TOOLS = {"store_memory", "recall_memory", "memory_stats"}


def run(home, *command):
    """Runs a Node program in the project, with the environment of the home."""
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
    return subprocess.run(["node", *map(str, command)], env=home.env, cwd=home.project("node"), **options)


def run_sdk(home, packages, generation, mode):
    """Runs one session of an SDK."""
    result = run(home, SCRIPT, packages, home.loci, home.project("node"), generation, mode)
    assert result.returncode == 0, f"node exited with {result.returncode}: {result.stdout}{result.stderr}"
    print(result.stdout, end="")


class Inspector:
    """The CLI of the inspector. Each request is a process and a session of its own."""

    def __init__(self, home, packages):
        self._home, self._program = home, packages / "node_modules/@modelcontextprotocol/inspector-cli/build/cli.js"

    def request(self, method, *flags):
        """Sends a request; returns the result."""
        result = run(self._home, self._program, "--cli", self._home.loci, "mcp", "--method", method, *flags)
        assert result.returncode == 0, f"{method}: the inspector exited with {result.returncode}: {result.stdout}{result.stderr}"
        return json.loads(result.stdout)

    def call(self, tool, **arguments):
        """Calls a tool; returns whether it is an error, its text and its structured content."""
        flags = [flag for name, value in arguments.items() for flag in ("--tool-arg", f"{name}={value}")]
        result = self.request("tools/call", "--tool-name", tool, *flags)
        return result.get("isError", False), result["content"][0]["text"], result.get("structuredContent")

    def call_ok(self, tool, **arguments):
        """Calls a tool that must succeed; returns its structured content."""
        refused, text, structured = self.call(tool, **arguments)
        assert not refused, f"{tool} refused: {text}"
        assert "degraded" not in structured, f"{tool} is degraded; is the model installed (loci model download)? {structured}"
        return structured


def check_inspector(home, packages):
    """Lists the tools, stores, recalls with a paraphrase, and sends a bad argument."""
    client = Inspector(home, packages)
    offered = {tool["name"] for tool in client.request("tools/list")["tools"]}
    assert TOOLS <= offered, f"offered only {offered}"
    stored = client.call_ok("store_memory", content=FACT, type="semantic")["id"]
    client.call_ok("store_memory", content=OTHER, type="procedural")
    found = client.call_ok("recall_memory", query=QUESTION)["results"]
    assert found and found[0]["id"] == stored and found[0]["content"] == FACT, f"the paraphrase found {found}"
    refused, text, _ = client.call("store_memory", content="A bad type.", type="poem")
    assert refused and "type" in text, f"a bad type was accepted: {text}"
    assert client.call_ok("memory_stats")["active_memories"] == 2


def main(loci, packages, client, mode="legacy"):
    """Runs one client in its own home."""
    packages = Path(packages).resolve()
    with Home(loci) as home:
        if client == "inspector":
            check_inspector(home, packages)
        else:
            run_sdk(home, packages, client, mode)


if __name__ == "__main__":
    main(*sys.argv[1:])
