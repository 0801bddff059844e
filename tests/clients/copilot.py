"""Test: Copilot CLI, offline: its model gets the tools and, from the hook, the instructions, which Copilot CLI itself does not give.

    python3 copilot.py LOCI COPILOT

`loci setup` writes the server and the hook. The model is scripted (messages_api.py), as a provider of the user's own.
"""

import json
import subprocess
import sys
from pathlib import Path

from home import Home
from messages_api import ScriptedModel

STORE, RECALL = "loci-store_memory", "loci-recall_memory"
FACT = "The staging database is called heron."
INSTRUCTIONS = "loci is the user's long-term memory"
TIMEOUT_S = 120


class Model(ScriptedModel):
    """Copilot CLI names the tools of a server `SERVER-TOOL`."""

    prefix = "loci-"


def run_session(home, copilot, calls):
    """Runs one session; returns its model."""
    with Model(calls) as model:
        env = home.env | {
            "COPILOT_PROVIDER_BASE_URL": model.url,
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "claude-sonnet-4",
        }
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
        run = subprocess.run([copilot, "-p", "use loci", "--allow-tool", "loci"], env=env, cwd=home.project("shop"), **options)
    assert run.returncode == 0, f"copilot exited with {run.returncode}: {run.stdout}{run.stderr}"
    assert len(model.results) == len(calls), f"{len(model.results)} of {len(calls)} calls were made; offered: {model.offered}"
    assert not [result for result in model.results if result["is_error"]], model.results
    return model


def main(loci, copilot):
    with Home(loci) as home:
        setup = home.run("setup", "copilot", "--yes")
        assert setup.returncode == 0, f"loci setup exited with {setup.returncode}: {setup.stdout}{setup.stderr}"
        first = run_session(home, copilot, [(STORE, {"content": FACT, "type": "semantic"})])
        assert {STORE, RECALL} <= set(first.offered), f"the model was offered {first.offered}"
        text = json.dumps(first.requests[0])
        assert text.count(INSTRUCTIONS) == 1, f"the first request has the instructions {text.count(INSTRUCTIONS)} times"
        second = run_session(home, copilot, [(RECALL, {"query": "Which is the staging database?"})])
        text = json.dumps(second.requests[0])
        assert INSTRUCTIONS in text and FACT in text, "the brief lacks the instructions or the memory"
        assert FACT in second.results[0]["content"], second.results


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).absolute()))
