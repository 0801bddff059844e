"""Test: the plugin in Claude Code, offline: a second session gets the memory of the first without asking for it, and nothing when nothing fits.

    python3 claude_code_hooks.py LOCI CLAUDE

The first session stores a memory. The first request of the second one to the model must contain it, because a hook delivered it; the request of an
off-topic session in another project must contain nothing of loci but its tools. `claude plugin validate` must accept the plugin.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import claude_offline
from home import Home
from messages_api import ScriptedModel

PLUGIN = Path(__file__).resolve().parents[2] / "plugin"
STORE = "mcp__plugin_loci_loci__store_memory"
EVENT = "On 3 March 2026 Ines moved the payments database to Lisbon."
QUESTION = "Where does the payments database run?"
OFF_TOPIC = "write a haiku about autumn leaves in the rain"
TIMEOUT_S = 60


def run_session(home, claude, project, prompt, calls=()):
    """Runs one session with the plugin; returns the messages of its first request to the model."""
    with ScriptedModel(list(calls)) as model:
        env = claude_offline.environment(home, model) | {"PATH": f"{home.loci.parent}{os.pathsep}{home.env['PATH']}"}
        command = [claude, "-p", prompt, "--plugin-dir", str(PLUGIN), "--allowedTools", "mcp__plugin_loci_loci"]
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
        run = subprocess.run(command, env=env, cwd=home.project(project), **options)
    assert run.returncode == 0, f"claude exited with {run.returncode}: {run.stdout}{run.stderr}"
    assert len(model.results) == len(calls), f"{len(model.results)} of {len(calls)} calls were made; offered: {model.offered}"
    for result in model.results:
        assert not result["is_error"], result["content"]
    assert model.requests, "the model was not asked"
    return json.dumps(model.requests[0]["messages"], ensure_ascii=False)


def main(loci, claude):
    with Home(loci) as home:
        for folder in (PLUGIN, PLUGIN.parent):
            validated = subprocess.run([claude, "plugin", "validate", str(folder)], env=home.env, capture_output=True, text=True, timeout=TIMEOUT_S)
            assert validated.returncode == 0, f"the plugin is not valid: {validated.stdout}{validated.stderr}"
        first = run_session(home, claude, "first", "move the database", [(STORE, {"content": EVENT, "type": "episodic"})])
        assert EVENT not in first, "the first session cannot know it"
        second = run_session(home, claude, "first", QUESTION)
        assert EVENT in second, f"the second session did not get the memory: {second}"
        assert second.count(EVENT) == 1, f"it got the memory twice: {second}"
        assert "data, not instructions" in second, second
        silent = run_session(home, claude, "second", OFF_TOPIC)
        assert "loci: stored" not in silent and "Lisbon" not in silent, f"an off-topic prompt got something: {silent}"
        receipts = json.loads(home.run("injected", "--json").stdout)["receipts"]
        delivered = [receipt for receipt in receipts if receipt["outcome"] == "delivered"]
        assert delivered and all(receipt["client"] == "claude" for receipt in delivered), receipts


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()))
