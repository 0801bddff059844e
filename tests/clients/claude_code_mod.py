"""Test: the mod for Claude Code: its status line and `/loci`, in Claude Code itself where no terminal is needed, else in node.

    python3 claude_code_mod.py LOCI CLAUDE

Claude Code validates the mod, and what it lists must be what docs/hooks.md lists. `claude -p /loci` runs the mod in the client; the model must
not be asked. The status line and the question of `/loci undo` need a terminal: they run in node with a thin stand-in of the client's API.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import claude_offline
from home import Home
from messages_api import ScriptedModel

ROOT = Path(__file__).resolve().parents[2]
HOOKS, MOD = ROOT / "plugin", ROOT / "plugin" / "mod"
STORE = "mcp__plugin_loci_loci__store_memory"
EVENT = "On 3 March 2026 Ines moved the payments database to Lisbon."
QUESTION = "Where does the payments database run?"
TIMEOUT_S = 60
BOUND_MS = 2000
"""After this time the mod gives up on `loci`."""


class Client:
    """Claude Code with both plugins, in one project; each run resumes the session."""

    def __init__(self, home, claude):
        self.home, self.claude, self.session = home, claude, None
        # Claude Code writes declarations of types into the folder of a mod.
        self.mod = shutil.copytree(MOD, home.root / "mod", dirs_exist_ok=True)
        self.env = home.env | {"PATH": f"{home.loci.parent}{os.pathsep}{home.env['PATH']}"}

    def prompt(self, text, calls=()):
        """Runs a prompt or a command; returns what is printed, and the number of requests with tools to the model."""
        with ScriptedModel(list(calls)) as model:
            env = self.env | claude_offline.environment(self.home, model) | {"PATH": self.env["PATH"]}
            which = ["--resume", self.session] if self.session else ["--session-id", self.start()]
            plugins = ["--plugin-dir", str(HOOKS), "--plugin-dir", str(self.mod)]
            command = [self.claude, "-p", text, *which, *plugins, "--allowedTools", "mcp__plugin_loci_loci"]
            options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
            run = subprocess.run(command, env=env, cwd=self.home.project("shop"), **options)
        assert run.returncode == 0, f"claude exited with {run.returncode}: {run.stdout}{run.stderr}"
        assert not [result for result in model.results if result["is_error"]], model.results
        return run.stdout, len(model.requests)

    def start(self):
        self.session = str(uuid.uuid4())
        return self.session


def run_mod(client, *steps, env=None):
    """Runs events and commands of the client's session in node; returns what each showed."""
    given = json.dumps({"session": client.session, "steps": steps})
    command = ["node", str(ROOT / "tests" / "clients" / "mod_stand_in.mjs"), str(MOD / "hooks" / "register.js")]
    options = {"input": given, "capture_output": True, "text": True, "timeout": TIMEOUT_S, "cwd": client.home.project("shop")}
    run = subprocess.run(command, env=env or client.env, **options)
    assert run.returncode == 0, run.stderr
    shown = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(shown) == len(steps), run.stdout
    return shown


def check_list(home, claude):
    """What the client finds in the module must be what the documentation lists."""
    for folder in (MOD, ROOT):
        validated = subprocess.run([claude, "plugin", "validate", str(folder)], env=home.env, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert validated.returncode == 0, f"it is not valid: {validated.stdout}{validated.stderr}"
    page = (ROOT / "docs" / "hooks.md").read_text()
    for kind, row in (("hooks", "events"), ("calls", "calls")):
        [listed] = re.findall(rf"register\.js {kind}: (.*)", validated.stdout)
        [documented] = re.findall(rf"^\| {row} \| (.*) \|$", page, re.MULTILINE)
        found = {re.sub(r" \(via .*?\)", "", name) for name in re.split(r", (?![^(]*\))", listed)}
        assert found == set(re.findall(r"`([^`]+)`", documented)), f"{row}: {listed}"


def check_without_loci(client):
    """Without a daemon, a program or an answer, `/loci` says so in one line, the status line is empty, and nothing waits."""
    node = Path(subprocess.run(["sh", "-c", "command -v node"], capture_output=True, text=True, env=client.env).stdout.strip())
    absent, silent = client.home.root / "absent", client.home.root / "silent"
    for folder in (absent, silent):
        folder.mkdir()
        (folder / "node").symlink_to(node)
    (silent / "loci").write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    (silent / "loci").chmod(0o700)
    cases = ((client.env, "not running"), (client.env | {"PATH": str(absent)}, "not on PATH"), (client.env | {"PATH": str(silent)}, "within 2 s"))
    for env, said in cases:
        [turn, overview, why, undo] = run_mod(client, {"event": "turn.complete"}, *({"command": word} for word in ("", "why", "undo")), env=env)
        for shown in (overview, why, undo):
            assert said in shown["text"] and "\n" not in shown["text"], shown
            assert shown["ms"] < BOUND_MS * 1.5, shown
        assert turn["status"] is None and turn["ms"] < 100, turn
    assert client.home.status() is None, "the mod has started a daemon"


def check_in_client(client):
    """Commands of the mod in the real client: the texts are printed, and the model is not asked."""
    for command, expected in (("/loci", "1 memory, "), ("/loci why", EVENT), ("/loci pin nonsense", "Which memory?"), ("/loci help", "why | undo")):
        printed, requests = client.prompt(command)
        assert expected in printed and requests == 0, f"{command}: {requests} requests: {printed}"


def check_commands(client):
    """The commands, with the answers of a person."""
    [turn, logged, _, overview, why] = run_mod(
        client, {"event": "turn.start"}, {"command": "why"}, {"event": "turn.complete"}, {"command": ""}, {"command": "why"}
    )
    assert "text" not in logged and any(EVENT in line for line in logged["logs"]), f"during a turn the log has it, not the model: {logged}"
    assert re.fullmatch(r"1 memory, \d+ tokens", turn["status"]), turn
    assert "Project: shop. loci is on." in overview["text"] and turn["status"] in overview["text"], overview
    assert EVENT in why["text"] and why["isTextDisplayOnly"], why
    id = re.search(rf"(\w{{8}})  {re.escape(EVENT)}", why["text"])[1]
    [pinned] = run_mod(client, {"command": f"pin {id}"})
    assert "Pinned" in pinned["text"] and memory(client, id)["pinned"], pinned
    [off, seen, on] = run_mod(client, {"command": "off"}, {"command": ""}, {"command": "on"})
    assert "loci is off" in off["text"] and "this session is incognito" in seen["text"], (off, seen)
    assert on["text"] == "loci is on in this session.", on


def check_undo(client):
    """The last act is shown, and taken back only after a yes."""
    printed, requests = client.prompt("/loci undo")
    assert "Nothing was taken back" in printed and EVENT in printed and requests == 0, printed
    [kept] = run_mod(client, {"command": "undo", "answer": "Keep it"})
    assert EVENT in kept["question"] and "Nothing was taken back" in kept["text"], kept
    [taken, again] = run_mod(client, *[{"command": "undo", "answer": "Take it back"}] * 2)
    assert EVENT in taken["question"] and "Taken back" in taken["text"], taken
    assert "no memory that can be taken back" in again["text"] and again["question"] is None, again
    listed = subprocess.run([str(client.home.loci), "list"], env=client.env, cwd=client.home.project("shop"), capture_output=True, text=True)
    assert listed.returncode == 0 and EVENT not in listed.stdout, listed


def memory(client, id):
    inspected = subprocess.run([str(client.home.loci), "inspect", id, "--json"], env=client.env, cwd=client.home.project("shop"), capture_output=True)
    return json.loads(inspected.stdout)["memory"]


def main(loci, claude):
    with Home(loci) as home:
        check_list(home, claude)
        first = Client(home, claude)
        first.start()
        check_without_loci(first)
        first = Client(home, claude)
        first.prompt("move the database", [(STORE, {"content": EVENT, "type": "episodic"})])
        second = Client(home, claude)
        second.prompt(QUESTION)
        check_in_client(second)
        check_commands(second)
        check_undo(first)


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()))
