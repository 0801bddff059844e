"""Test: `loci import --from history` takes what a session of the real OpenCode teaches, from the database that OpenCode itself wrote.

    python3 opencode_history.py LOCI OPENCODE

The session runs offline. The import is also tried while an `opencode serve` has the database open. Neither changes the database or its log,
or leaves a file beside them.
"""

import json
import os
import select
import subprocess
import sys
from pathlib import Path

from home import Home
from opencode_api import ScriptedModel, settings

SCRIPT = """#!/bin/sh
[ -f node_modules ] || { echo "Error: Cannot find module 'heron-client'" >&2; exit 1; }
echo ok
"""
CALLS = [
    ("bash", {"command": "./scripts/test.sh", "description": "Run the tests"}),
    ("bash", {"command": "cp package.json node_modules", "description": "Install"}),
    *[("bash", {"command": "./scripts/test.sh", "description": "Run the tests"})] * 3,
    ("task", {"description": "Look", "prompt": "We decided to paint the kiln blue.", "subagent_type": "general"}),
]
PROMPT = "Always use pnpm, never npm."
LAST_TEXT = "We decided to keep prices in cents because rounding lost money."
EXPECTED = [
    ("command", "Run the tests: `./scripts/test.sh`"),
    ("decision", LAST_TEXT),
    (
        "fix",
        "`./scripts/test.sh` failed with: Error: Cannot find module 'heron-client'\nMended by running `cp package.json node_modules`.",
    ),
    ("preference", PROMPT),
]
IMPORT = ("import", "--from", "history", "--client", "opencode")
TIMEOUT_S = 180


def prepare(folder):
    """Writes the files of a project, in a repository."""
    (folder / "scripts").mkdir()
    script = folder / "scripts/test.sh"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    (folder / "package.json").write_text("{}\n")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


def run_session(home, opencode, folder):
    """Runs one session."""
    with ScriptedModel(CALLS, LAST_TEXT) as model:
        config = Path(home.env["HOME"]) / ".config/opencode/opencode.json"
        config.parent.mkdir(parents=True)
        config.write_text(json.dumps(settings(model.url)))
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
        run = subprocess.run([opencode, "run", PROMPT], env=environment(home), cwd=folder, **options)
    assert run.returncode == 0, f"opencode exited with {run.returncode}: {run.stdout}{run.stderr}"


def environment(home):
    return home.env | {"OPENCODE_DISABLE_MODELS_FETCH": "1"}


def bytes_of(home):
    """Returns the contents of the database and its log, and the names of the files beside them."""
    folder = Path(home.env["HOME"]) / ".local/share/opencode"
    names = sorted(path.name for path in folder.iterdir() if path.name.startswith("opencode.db"))
    return names, [(folder / name).read_bytes() for name in names if not name.endswith("-shm")]


def preview(home):
    run = home.run(*IMPORT, "--dry-run", "--json")
    assert run.returncode == 0, run.stderr
    reply = json.loads(run.stdout)
    assert len(reply["files"]) == 1 and reply["left_out"] == [], reply
    return [(found["metadata"]["kind"], found["content"]) for found in reply["memories"]]


def check_while_it_runs(home, opencode, folder):
    """OpenCode has the database open, and the import reads it."""
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    server = subprocess.Popen([opencode, "serve"], env=environment(home), cwd=folder, **options)
    try:
        while select.select([server.stdout], [], [], TIMEOUT_S)[0]:
            line = server.stdout.readline()
            assert line, "opencode serve has ended"
            if "listening" in line:
                break
        assert preview(home) == EXPECTED
    finally:
        server.terminate()
        server.wait(TIMEOUT_S)


def main(loci, opencode):
    with Home(loci) as home:
        home.env["PATH"] = os.pathsep.join([str(Path(opencode).parent), home.env["PATH"]])
        folder = prepare(home.project("heron"))
        run_session(home, opencode, folder)
        before = bytes_of(home)
        assert preview(home) == EXPECTED, preview(home)
        assert bytes_of(home) == before, "the import changed the database"
        check_while_it_runs(home, opencode, folder)
        run = home.run(*IMPORT, "--yes", "--json")
        assert run.returncode == 0 and json.loads(run.stdout)["import"]["added"] == len(EXPECTED), run.stdout + run.stderr
        run = home.run(*IMPORT, "--yes", "--json")
        assert run.returncode == 0 and json.loads(run.stdout)["new"] == 0, run.stdout + run.stderr


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
