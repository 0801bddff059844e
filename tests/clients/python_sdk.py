"""Test: the official Python MCP client, generation 1 or 2, stores and recalls memories through `loci mcp`.

    python python_sdk.py LOCI [auto|legacy]

Run it with the Python that has the package `mcp`. Generation 1 has one way to connect, generation 2 has both.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from importlib.metadata import version

import mcp
from home import Home
from mcp.client.stdio import stdio_client

TOOLS = {"store_memory", "recall_memory", "memory_stats"}
MEMORIES = (
    {"content": "Anna drinks green tea before work.", "type": "semantic"},
    {"content": "The nightly backup of the ledger goes to a disk in Lisbon.", "type": "procedural"},
    {"content": "On 3 March 2026 the release was postponed because the login page crashed.", "type": "episodic"},
)
QUESTION = "Which hot beverage does she like in the morning?"
"""A paraphrase of the first memory without a common word."""


class Generation1:
    """Package `mcp` 1.x: a session on the streams of a process."""

    def __init__(self, session, handshake):
        self._session, self.protocol = session, str(handshake.protocolVersion)

    @classmethod
    @asynccontextmanager
    async def connect(cls, server, _mode):
        async with stdio_client(server) as streams, mcp.ClientSession(*streams) as session:
            yield cls(session, await session.initialize())

    async def tool_names(self):
        return {tool.name for tool in (await self._session.list_tools()).tools}

    async def call(self, name, **arguments):
        """Calls a tool; returns whether it is an error, its text and its structured content."""
        result = await self._session.call_tool(name, arguments)
        return result.isError, result.content[0].text, result.structuredContent


class Generation2:
    """Package `mcp` 2.x: a client object, which also supports the revisions without a handshake."""

    def __init__(self, client):
        self._client, self.protocol = client, client.protocol_version

    @classmethod
    @asynccontextmanager
    async def connect(cls, server, mode):
        async with mcp.Client(server, mode=mode) as client:
            yield cls(client)

    async def tool_names(self):
        return {tool.name for tool in (await self._client.list_tools()).tools}

    async def call(self, name, **arguments):
        """Calls a tool; returns whether it is an error, its text and its structured content."""
        result = await self._client.call_tool(name, arguments)
        return result.is_error, result.content[0].text, result.structured_content


async def call_ok(client, name, **arguments):
    """Calls a tool that must succeed; returns its structured content, which must equal its text."""
    refused, text, structured = await client.call(name, **arguments)
    assert not refused, f"{name} refused: {text}"
    assert isinstance(structured, dict), f"{name} returned no structuredContent: {text}"
    assert json.loads(text) == structured, f"{name}: the text {text} is not the structuredContent {structured}"
    assert "degraded" not in structured, f"{name} is degraded; is the model installed (loci model download)? {structured}"
    return structured


async def check(client):
    """Runs one session."""
    offered = await client.tool_names()
    assert TOOLS <= offered, f"offered only {offered}"

    ids = [(await call_ok(client, "store_memory", **memory))["id"] for memory in MEMORIES]
    assert len(set(ids)) == len(MEMORIES), f"memories share an id: {ids}"

    found = (await call_ok(client, "recall_memory", query=QUESTION))["results"]
    assert found and found[0]["id"] == ids[0], f"the paraphrase found {found}"
    assert found[0]["content"] == MEMORIES[0]["content"], f"the content was changed: {found[0]}"

    refused, text, _ = await client.call("store_memory", content="A bad type.", type="poem")
    assert refused and "type" in text, f"a bad type was accepted: {text}"

    stats = await call_ok(client, "memory_stats")
    assert stats["active_memories"] == len(MEMORIES), f"wrong count: {stats}"
    assert {kind for kind, count in stats["by_type"].items() if count} == {memory["type"] for memory in MEMORIES}, f"wrong types: {stats}"


async def main(loci, mode):
    """Connects with the installed generation, in its own home."""
    generation = Generation2 if hasattr(mcp, "Client") else Generation1
    with Home(loci) as home:
        server = mcp.StdioServerParameters(command=str(home.loci), args=["mcp"], env=home.env, cwd=home.project("sdk"))
        async with generation.connect(server, mode) as client:
            modern = client.protocol >= "2026"
            assert modern == (generation is Generation2 and mode == "auto"), f"{mode} speaks {client.protocol}"
            await check(client)
            print(f"package mcp {version('mcp')}, mode {mode}, protocol {client.protocol}")


def innermost(error):
    """Returns the error that the task groups of the client have wrapped."""
    while getattr(error, "exceptions", None):
        error = error.exceptions[0]
    return error


if __name__ == "__main__":
    try:
        asyncio.run(main(sys.argv[1], (sys.argv[2:] or ["legacy"])[0]))
    except Exception as error:
        raise innermost(error) from None
