"""Test: the plugin in Codex, offline: installed from this repository it brings the tools, the hooks and the skill, and goes without a trace.

    python3 codex_plugin.py LOCI CODEX

Codex lists the hooks as untrusted, as it does with those of `loci setup codex`. Once they are approved, a second session gets the memory of the
first without asking for it.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from codex_hooks import EVENT, MARK, QUESTION, TIMEOUT_S, approve, ask, first_request, hooks_of, run_session
from home import Home

ROOT = Path(__file__).resolve().parents[2]
HOOKS = {f"loci hook codex {event}" for event in ("session-start", "prompt", "subagent-start", "post-compact", "session-end")}


def plugin(home, codex, *arguments):
    """Runs `codex plugin`; fails if it does."""
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
    run = subprocess.run([codex, "plugin", *arguments], env=home.env, cwd=home.project("first"), **options)
    assert run.returncode == 0, f"codex plugin {arguments} exited with {run.returncode}: {run.stdout}{run.stderr}"
    return run.stdout


def skills_of(home, codex):
    """Returns the names of the skills that Codex knows."""
    [listed] = ask(home, codex, ("skills/list", {"cwds": [str(home.project("first"))]}))
    return {skill["name"] for folder in listed["data"] for skill in folder["skills"]}


def main(loci, codex):
    """Installs, works, approves, works, removes."""
    with Home(loci) as home:
        home.env["PATH"] = os.pathsep.join((str(home.loci.parent), str(Path(codex).parent), home.env["PATH"]))
        plugin(home, codex, "marketplace", "add", str(ROOT))
        plugin(home, codex, "add", "loci@loci")
        hooks = hooks_of(home, codex)
        assert {hook["command"] for hook in hooks} == HOOKS, hooks
        assert {hook["trustStatus"] for hook in hooks} == {"untrusted"}, hooks
        assert "loci:loci-memory" in skills_of(home, codex), skills_of(home, codex)

        run_session(home, codex, "first", "move the database", [("store_memory", {"content": EVENT, "type": "episodic"})])
        silent = first_request(run_session(home, codex, "first", QUESTION))
        assert EVENT not in silent, "a hook ran that nobody approved"
        approve(home, codex)
        second = first_request(run_session(home, codex, "first", QUESTION))
        assert second.count(EVENT) == 1 and MARK in second, f"the second session got the memory {second.count(EVENT)} times: {second}"

        plugin(home, codex, "remove", "loci@loci")
        plugin(home, codex, "marketplace", "remove", "loci")
        after = run_session(home, codex, "first", QUESTION)
        assert after.offered == [] and MARK not in first_request(after), after.offered
        left = tomllib.loads((Path(home.env["HOME"]) / ".codex/config.toml").read_text())
        assert "plugins" not in left and "marketplaces" not in left, left


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()))
