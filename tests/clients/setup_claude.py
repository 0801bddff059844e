"""Test: `loci setup claude` with the real Claude Code, offline.

    python3 setup_claude.py LOCI CLAUDE

The entry is the one that `claude mcp add` writes; `claude -p` may call the tools without a flag that allows them; after
`loci setup claude --remove` every file is as before, also if Claude Code has rewritten its own.
"""

import json
import subprocess
import sys
from pathlib import Path

import claude_offline
from home import Home
from messages_api import ScriptedModel

FACT = "Our invoices are printed on yellow paper."
STORE, RECALL = (f"mcp__loci__{tool}" for tool in ("store_memory", "recall_memory"))
TIMEOUT_S = 60


def claude_run(home, claude, arguments, model=None):
    """Runs Claude Code in a project of the home; fails if it does."""
    env = claude_offline.environment(home, model)
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
    run = subprocess.run([claude, *arguments], env=env, cwd=home.project("shop"), **options)
    assert run.returncode == 0, f"claude {arguments} exited with {run.returncode}: {run.stdout}{run.stderr}"
    return run.stdout


def call_tools(home, claude):
    """Lets the scripted model store and recall; returns the results."""
    with ScriptedModel([(STORE, {"content": FACT, "type": "semantic"}), (RECALL, {"query": "yellow invoices"})]) as model:
        claude_run(home, claude, ["-p", "use loci"], model)
    return model.results


def setup(home, *arguments):
    """Runs `loci setup claude`; fails if it does."""
    run = home.run("setup", "claude", "--yes", *arguments)
    assert run.returncode == 0, f"loci setup exited with {run.returncode}: {run.stdout}{run.stderr}"
    return run.stdout


def hook_flags(home):
    """Leaves the hooks out if this build has no `loci hook`."""
    return [] if home.run("hook", "--help").returncode == 0 else ["--no-hooks"]


def settings(home):
    """Returns the content of each file that setup writes; None for a missing one."""
    folder = Path(home.env["HOME"])
    paths = [folder / ".claude.json", folder / ".claude/settings.json"]
    return [path.read_text() if path.exists() else None for path in paths]


def check_equal_to_the_command(loci, claude):
    """The entry of setup is that of `claude mcp add`."""
    with Home(loci) as home:
        claude_run(home, claude, ["mcp", "add", "--scope", "user", "loci", "--", str(home.loci), "mcp"])
        added = json.loads(settings(home)[0])["mcpServers"]["loci"]
    with Home(loci) as home:
        setup(home, "--no-hooks")
        written = json.loads(settings(home)[0])["mcpServers"]["loci"]
    assert written == added, f"setup wrote {written}, and claude mcp add {added}"


def main(loci, claude):
    """An empty home, then one that Claude Code has used."""
    check_equal_to_the_command(loci, claude)
    with Home(loci) as home:
        setup(home, *hook_flags(home))
        results = call_tools(home, claude)
        assert len(results) == 2 and not any(result["is_error"] for result in results), f"the tools were refused: {results}"
        assert FACT in results[1]["content"], f"the fact was not recalled: {results[1]}"
        assert "nothing to change" in setup(home, *hook_flags(home)), "Claude Code has rewritten its file, and the entry is the same"
        setup(home, "--remove")
        servers, permissions = settings(home)
        assert "loci" not in json.loads(servers).get("mcpServers", {}), servers
        assert permissions is None, permissions

    with Home(loci) as home:
        with ScriptedModel([]) as model:
            claude_run(home, claude, ["-p", "hello"], model)
        before = settings(home)
        setup(home, *hook_flags(home))
        assert settings(home) != before
        setup(home, "--remove")
        assert settings(home) == before, "the files are not as before"


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()))
