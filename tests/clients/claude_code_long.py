"""Test: a long session of Claude Code with its default settings, offline: loci's tools stay through the turns and a compaction.

    python3 claude_code_long.py LOCI CLAUDE

The scripted model stores a fact, works through long turns, and is compacted; the summary does not name the fact. Then the fact changes: the
model recalls it, supersedes it with the id of the reply, and asks again. In every request of a turn both tools and the instructions of
loci must be there, beside what the client says of a memory of its own.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path

import claude_offline
from home import Home
from messages_api import ScriptedModel

STORE, RECALL = (f"mcp__loci__{tool}" for tool in claude_offline.ALWAYS_LOADED)
OLD, NEW = "The staging database of the shop is db-s1.", "The staging database of the shop is db-s7 since 2026-11-26."
QUESTION = {"query": "Which is the staging database?"}
LONG_TURNS, LONG_TEXT = 8, "The minutes of the last meeting say nothing new about the release. " * 300
SUMMARY = "<summary>The user read minutes of meetings aloud.</summary>"
WITHIN_S = 120


class LongModel(ScriptedModel):
    """Makes calls turn by turn: `calls` is what it is to do before it ends its turn. Summarises where the client asks for that."""

    def __init__(self):
        super().__init__([])
        self.last_result = None

    def next_block(self, request):
        last = request["messages"][-1]["content"]
        parts = last if isinstance(last, list) else [{"type": "text", "text": last}]
        if any("<summary>" in part.get("text", "") for part in parts):
            return {"type": "text", "text": SUMMARY}, "end_turn"
        if not request.get("tools"):
            return {"type": "text", "text": "done"}, "end_turn"
        for part in parts:
            if part["type"] == "tool_result":
                assert not part.get("is_error"), part
                content = part["content"]
                self.last_result = content if isinstance(content, str) else content[0]["text"]
        if not self.calls:
            return {"type": "text", "text": "done"}, "end_turn"
        name, arguments = self.calls.pop(0)
        arguments = arguments(json.loads(self.last_result)) if callable(arguments) else arguments
        return {"type": "tool_use", "id": f"toolu_{len(self.requests)}", "name": name, "input": arguments}, "tool_use"


class Session:
    """Claude Code with its standard input open, as an editor runs it."""

    def __init__(self, home, claude, model):
        self.model = model
        command = [claude, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=claude_offline.environment(home, model), cwd=home.project("shop"), **pipes)
        self.watch = threading.Timer(WITHIN_S, self.process.kill)
        self.watch.start()

    def turn(self, text, *calls):
        """Sends a message and lets the model make the calls; returns the result of the last one as JSON, and the kinds of events."""
        self.model.calls, self.model.last_result, kinds = list(calls), None, []
        print(json.dumps({"type": "user", "message": {"role": "user", "content": text}}), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            event = json.loads(line)
            kinds.append(event.get("subtype") or event["type"])
            if event["type"] == "result":
                assert not event.get("is_error"), event
                assert not self.model.calls, f"the model did not come to {self.model.calls}"
                return json.loads(self.model.last_result) if self.model.last_result else None, kinds
        raise AssertionError(f"Claude Code ended, or was ended after {WITHIN_S} s: {self.process.stderr.read()}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(WITHIN_S)
        self.watch.cancel()


def check_requests(requests, instructions):
    """Every request of a turn has both tools and the instructions; the client speaks of its own memory beside them."""
    for request in requests:
        tools = {tool["name"] for tool in request["tools"]}
        assert {STORE, RECALL} <= tools, f"a request has only {sorted(tools)}"
        text = json.dumps(request, ensure_ascii=False)
        assert instructions in text, "a request has no instructions of loci"
    assert "MEMORY.md" in json.dumps(requests[0]), "this client has no memory of its own any more: the test no longer shows that it hides nothing"


def main(loci, claude):
    with Home(loci) as home, LongModel() as model:
        setup = home.run("setup", "claude", "--yes")
        assert setup.returncode == 0, f"loci setup exited with {setup.returncode}: {setup.stdout}{setup.stderr}"
        session = Session(home, claude, model)
        stored, _ = session.turn("The staging database is db-s1, by the way", (STORE, {"content": OLD, "type": "semantic", "scope": "group"}))
        for number in range(LONG_TURNS):
            session.turn(f"{number}: {LONG_TEXT}")
        _, kinds = session.turn("/compact")
        assert "compact_boundary" in kinds, f"nothing was compacted: {kinds}"
        before = len(model.requests)
        changed = lambda found: {"content": NEW, "type": "semantic", "scope": "group", "supersedes": found["results"][0]["id"]}
        superseded, _ = session.turn("The staging database moved, it is db-s7 now", (RECALL, QUESTION), (STORE, changed))
        assert superseded["superseded"] == stored["id"], superseded
        found, _ = session.turn("Which is it?", (RECALL, QUESTION))
        session.close()
        assert [result["content"] for result in found["results"]] == [NEW], found
        assert len(model.requests) > before, "no request came after the compaction"
        check_requests(model.requests, "loci is the user's long-term memory")


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()))
