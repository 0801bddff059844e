"""The official clients of MCP for Node, each in a home of its own: the TypeScript SDKs, and the inspector's command line.

    python3 node_clients.py LOCI PACKAGES sdk
    python3 node_clients.py LOCI PACKAGES client [auto|legacy]
    python3 node_clients.py LOCI PACKAGES inspector

PACKAGES holds node_modules. What the SDKs do is in node_sdk.mjs; the inspector starts a server for each command, so a memory that it
recalls has outlived the session that stored it.
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
    """Runs a program of Node in the project, with the environment of the home."""
    quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
    return subprocess.run(["node", *map(str, command)], env=home.env, cwd=home.project("node"), **quiet)


def sdk(home, packages, generation, mode):
    """One whole session of an SDK."""
    done = run(home, SCRIPT, packages, home.loci, home.project("node"), generation, mode)
    assert done.returncode == 0, f"node ended with {done.returncode}: {done.stdout}{done.stderr}"
    print(done.stdout, end="")


class Inspector:
    """The inspector's command line; each request is a process, and a session of its own."""

    def __init__(self, home, packages):
        self._home, self._program = home, packages / "node_modules/@modelcontextprotocol/inspector-cli/build/cli.js"

    def request(self, method, *flags):
        """What it prints, which is the result as JSON."""
        done = run(self._home, self._program, "--cli", self._home.loci, "mcp", "--method", method, *flags)
        assert done.returncode == 0, f"{method}: the inspector ended with {done.returncode}: {done.stdout}{done.stderr}"
        return json.loads(done.stdout)

    def call(self, tool, **arguments):
        """Calls a tool; gives whether it refused, its text, its structured content."""
        flags = [flag for name, value in arguments.items() for flag in ("--tool-arg", f"{name}={value}")]
        result = self.request("tools/call", "--tool-name", tool, *flags)
        return result.get("isError", False), result["content"][0]["text"], result.get("structuredContent")

    def answer(self, tool, **arguments):
        """The structured content of a call that must succeed."""
        refused, text, structured = self.call(tool, **arguments)
        assert not refused, f"{tool} refused: {text}"
        assert "degraded" not in structured, f"{tool} is degraded; is the model there (loci model download)? {structured}"
        return structured


def inspector(home, packages):
    """Lists, stores, recalls by paraphrase, and is refused."""
    client = Inspector(home, packages)
    offered = {tool["name"] for tool in client.request("tools/list")["tools"]}
    assert TOOLS <= offered, f"offered only {offered}"
    wanted = client.answer("store_memory", content=FACT, type="semantic")["id"]
    client.answer("store_memory", content=OTHER, type="procedural")
    found = client.answer("recall_memory", query=QUESTION)["results"]
    assert found and found[0]["id"] == wanted and found[0]["content"] == FACT, f"the paraphrase found {found}"
    refused, text, _ = client.call("store_memory", content="A bad type.", type="poem")
    assert refused and "type" in text, f"a bad type was answered: {text}"
    assert client.answer("memory_stats")["active_memories"] == 2


def main(loci, packages, client, mode="legacy"):
    """One client in a home of its own."""
    packages = Path(packages).resolve()
    with Home(loci) as home:
        if client == "inspector":
            inspector(home, packages)
        else:
            sdk(home, packages, client, mode)


if __name__ == "__main__":
    main(*sys.argv[1:])
