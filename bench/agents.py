#!/usr/bin/env python3
"""Measures what models do with the tools: builds what a client would give them, and counts the lines that they answer.

    python3 bench/agents.py pack FILE [--own-memory [TEXT]] [--deferred]    writes a pack from the answers of target/release/loci
    python3 bench/agents.py count KEY FILE…                           counts lines of models; one FILE for each run

A model that knows nothing of the purpose reads a pack and one file of conversations, and plays each conversation as it would in earnest:
`bench/agents/trades.md` (20 conversations of four trades in four languages), or another file of the same form. Its last message are lines
`N.turn tool {json}` and `N.turn say: …`; they are the FILEs. The KEY (`bench/agents/trades.json`) says what each conversation holds.

A statement is kept if a store has one of its words (`any`). A store without worth is one that fits no statement of its conversation. A
recall is needed where the key says so; a recall by ids is not counted. No model is called from here.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

from home import Home
from session import Session

TODAY = "Friday, 2026-11-27"
"""The day of the conversations."""
LOADED = ("store_memory", "recall_memory")
LINE = re.compile(r"^\s*[`*-]*\s*(\d+)\.(\d+)\s+([\w.]+)\s*(\{.*\})\s*`*\s*$")
RELATIVE = re.compile(
    r"\b(yesterday|today|tomorrow|gestern|heute|morgen|ayer|hoy|mañana|hier|aujourd'hui|demain|last (week|monday|tuesday|wednesday|thursday|friday))\b",
    re.IGNORECASE,
)

OTHERS = [
    {"server": "github", "tools": [
        {"name": "create_issue", "description": "Create a new issue in a GitHub repository",
         "inputSchema": {"type": "object", "properties": {"repo": {"type": "string"}, "title": {"type": "string"}, "body": {"type": "string"}},
                         "required": ["repo", "title"]}},
        {"name": "get_pull_request", "description": "Get details of a specific pull request",
         "inputSchema": {"type": "object", "properties": {"repo": {"type": "string"}, "number": {"type": "integer"}}, "required": ["repo", "number"]}},
        {"name": "list_issues", "description": "List issues in a GitHub repository",
         "inputSchema": {"type": "object", "properties": {"repo": {"type": "string"}, "state": {"type": "string"}}, "required": ["repo"]}}]},
    {"server": "weather", "tools": [
        {"name": "forecast", "description": "Get the weather forecast of a place",
         "inputSchema": {"type": "object", "properties": {"place": {"type": "string"}, "days": {"type": "integer"}}, "required": ["place"]}}]},
]
"""Servers that another user might have beside loci."""

OWN_MEMORY = """\
# Memory

You have a persistent, file-based memory at ~/.assistant/projects/<this project>/memory/. Its MEMORY.md is loaded into your context at the
start of every session in this project (it is empty now); other files there are read on demand. As you work, keep notes in it with Edit:
conventions and corrections, decisions, the user's preferences, solutions to problems that came back. Keep it short and organised, and
remove what has become wrong. Do not keep there what only matters in this session.
"""
"""What a client with a memory of its own says of it, in the words of no client."""

DEFERRED = """\
# Deferred tools

These tools exist and are not loaded; only their names are known. `ToolSearch {query}` loads those that fit; then they can be called: """


def answers(loci):
    """Returns the instructions and the tools of the real binary."""
    with Home(loci) as home:
        with Session(home, home.project("agents")) as session:
            return session.instructions, session.list_tools()


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def shown(tool):
    """What a model sees of a tool: clients send it neither title nor metadata."""
    return {name: tool[name] for name in ("name", "description", "inputSchema")}


def pack(instructions, tools, own_memory, deferred):
    """Returns the text of a pack."""
    parts = [f"You are an assistant in a terminal client. This is what the client gives you besides its own tools. Today is {TODAY}.\n"]
    if own_memory:
        parts.append(own_memory)
    parts.append(f"# MCP server instructions\n\n## loci\n{instructions}\n")
    always = [tool for tool in tools if tool.get("_meta", {}).get("anthropic/alwaysLoad")]
    loci = [tool for tool in tools if not deferred or tool in always]
    later = [tool for tool in tools if tool not in loci]
    listed = [{"server": "loci", "tools": [shown(tool) for tool in loci]}] if loci else []
    listed += [] if deferred else OTHERS
    names = [f"loci.{tool['name']}" for tool in later]
    names += [f"{server['server']}.{tool['name']}" for server in OTHERS for tool in server["tools"]]
    if deferred:
        parts.append(DEFERRED + ", ".join(names) + "\n")
    parts.append("# Tools of MCP servers\n\n" + "\n".join(compact(server) for server in listed) + "\n")
    return "\n".join(parts)


def tokens(instructions, tools):
    """Tokens of all tools with the instructions, and of the two that are always loaded: characters of the compact JSON, divided by four."""
    two = [tool for tool in tools if tool["name"] in LOADED]
    return tuple((len(compact(listed)) + len(instructions)) // 4 for listed in (tools, two))


def calls_of(text):
    """Yields `(session, turn, tool, arguments)` of the lines of a run."""
    for line in text.splitlines():
        found = LINE.match(line)
        if not found:
            continue
        try:
            arguments = json.loads(found[4])
        except ValueError:
            print(f"not JSON: {line}", file=sys.stderr)
            continue
        yield int(found[1]), int(found[2]), re.split(r"__|\.", found[3])[-1], arguments


def text_of(store):
    """The texts of a store in which a statement is looked for."""
    metadata = store.get("metadata") or {}
    return f"{store.get('content', '')} {json.dumps(metadata, ensure_ascii=False)}".lower()


def fits(statement, store):
    return any(word.lower() in text_of(store) for word in statement["any"])


class Count:
    """The counts of one run."""

    def __init__(self):
        self.sums = {}
        self.faults = []

    def add(self, name, good, of=1):
        have, total = self.sums.get(name, (0, 0))
        self.sums[name] = (have + int(good), total + of)

    def session(self, key, stores, recalls, own_memory):
        """Counts one conversation."""
        number, required = key["session"], [s for s in key["keep"] if not s.get("optional")]
        for statement in required:
            kept = [store for store in stores if fits(statement, store)]
            self.add("kept", bool(kept))
            if not kept:
                where = "in the client's own memory" if own_memory else "nowhere"
                self.faults.append(f"{number}: not kept ({where}): {statement['about']}")
                continue
            self.statement(number, statement, kept)
        for store in stores:
            worth = [s for s in key["keep"] if fits(s, store)]
            self.add("stored without worth", not worth)
            if not worth:
                self.faults.append(f"{number}: without worth: {store.get('content')}")
            self.add("several statements in one", len(worth) > 1 and len(stores) < len(key["keep"]))
            self.add("with questions", bool(store.get("questions")))
            self.add("complete: no relative day", not RELATIVE.search(store.get("content", "")))
        self.add("needed recalls made", bool(recalls) if key["recall"] else 0, int(key["recall"]))
        if key["recall"] and not recalls:
            self.faults.append(f"{number}: no recall")
        self.add("recalls a needed one", len(recalls), int(key["recall"]))
        if len(recalls) > int(key["recall"]):
            self.faults.append(f"{number}: {len(recalls)} recalls, {int(key['recall'])} needed")

    def statement(self, number, statement, kept):
        """Counts how a statement was kept."""
        if statement["scope"] != "either":
            # Without a scope the type decides.
            scopes = [s.get("scope") or ("group" if s.get("type") == "episodic" else "global") for s in kept]
            is_right = set(scopes) == {statement["scope"]}
            self.add("scope right", is_right)
            if not is_right:
                self.faults.append(f"{number}: scope {scopes}, not {statement['scope']}: {statement['about']}")
        if statement.get("error"):
            self.add("error given", any((s.get("metadata") or {}).get("error") for s in kept))
        if statement.get("supersedes"):
            named = any(str(s.get("supersedes", "")).startswith(statement["supersedes"]) for s in kept)
            self.add("supersedes given", named)
        if statement.get("expires"):
            self.add("expiry given", any(s.get("expires_at") or s.get("ttl_seconds") or "valid_to" in text_of(s) for s in kept))
        for day in statement.get("dates", []):
            given = any(day in text_of(s) + str(s.get("expires_at")) for s in kept)
            self.add("date absolute", given)
            if not given:
                self.faults.append(f"{number}: {day} is missing: {[s.get('content') for s in kept]}")


def count(key, text):
    """Returns the counts of one run."""
    calls, counted = list(calls_of(text)), Count()
    for entry in key["sessions"]:
        own = [(tool, arguments) for number, _, tool, arguments in calls if number == entry["session"]]
        stores = [arguments for tool, arguments in own if tool == "store_memory"]
        recalls = [arguments for tool, arguments in own if tool == "recall_memory" and not arguments.get("ids")]
        wrote = any(tool in ("Edit", "Write") and "memory" in json.dumps(arguments).lower() for tool, arguments in own)
        counted.session(entry, stores, recalls, wrote)
    return counted


def report(key, files, verbose):
    """Prints one row for each count: all runs together, then each run."""
    runs = [count(key, Path(file).read_text()) for file in files]
    names = list(dict.fromkeys(name for run in runs for name in run.sums))
    print(f"| {len(runs)} runs | together | each |\n|---|--:|---|")
    for name in names:
        pairs = [run.sums.get(name, (0, 0)) for run in runs]
        have, total = (sum(column) for column in zip(*pairs))
        share = f"{have / total:.2f}" if name.startswith("recalls") else f"{100 * have / total:.1f} %" if total else "-"
        print(f"| {name} | {share} | {', '.join(f'{a}/{b}' for a, b in pairs)} |")
    if verbose:
        for file, run in zip(files, runs):
            print(f"\n{file}")
            print("\n".join(f"  {fault}" for fault in run.faults))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack")
    packing.add_argument("file")
    packing.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"))
    packing.add_argument(
        "--own-memory", nargs="?", const="", metavar="TEXT", help="the client has a memory of its own; TEXT is a file with what it says of that"
    )
    packing.add_argument("--deferred", action="store_true", help="the client defers all tools that are not marked as always loaded")
    counting = commands.add_parser("count")
    counting.add_argument("key")
    counting.add_argument("files", nargs="+")
    counting.add_argument("--verbose", action="store_true", help="name each fault")
    arguments = parser.parse_args()
    if arguments.command == "count":
        report(json.loads(Path(arguments.key).read_text()), arguments.files, arguments.verbose)
        return
    instructions, tools = answers(arguments.loci)
    own_memory = OWN_MEMORY if arguments.own_memory == "" else arguments.own_memory and Path(arguments.own_memory).read_text()
    Path(arguments.file).write_text(pack(instructions, tools, own_memory, arguments.deferred))
    print("{}: all tools {} tokens, the two that are always loaded {}".format(arguments.file, *tokens(instructions, tools)))


if __name__ == "__main__":
    main()
