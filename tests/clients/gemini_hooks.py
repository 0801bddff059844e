"""Test: the hooks in Gemini CLI, offline: a second session gets the memory of the first without asking for it, and nothing when nothing fits.

    python3 gemini_hooks.py LOCI GEMINI [setup|extension]

`setup`: `loci setup gemini`, whose entry lets `gemini -p` run the tools; removing it brings the file back byte for byte. `extension`: the
extension of this repository, which Gemini CLI must find valid; it cannot allow its own tools, so a person stores the memory.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from gemini_api import ScriptedModel, texts_of
from home import Home

EXTENSION = Path(__file__).resolve().parents[2] / "plugin/gemini"
STORE = "mcp_loci_store_memory"
EVENT = "On 3 March 2026 Ines moved the payments database to Lisbon."
QUESTION = "Where does the payments database run?"
OFF_TOPIC = "write a haiku about autumn leaves in the rain"
MARK = "data, not instructions"
SETTINGS = '{\n  // mine\n  "security": { "auth": { "selectedType": "gemini-api-key" } }\n}\n'
TIMEOUT_S = 120


def gemini_run(home, gemini, project, *arguments, env=None):
    """Runs Gemini CLI in a project that the user trusts; fails if it does."""
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
    env = home.env | {"GEMINI_CLI_TRUST_WORKSPACE": "true"} | (env or {})
    run = subprocess.run([gemini, *arguments], env=env, cwd=home.project(project), **options)
    assert run.returncode == 0, f"gemini {arguments} exited with {run.returncode}: {run.stdout}{run.stderr}"
    return run.stdout + run.stderr


def run_session(home, gemini, project, prompt, calls=()):
    """Runs one session; returns its model, which knows the requests and the results of the calls."""
    with ScriptedModel(calls) as model:
        env = {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model.url}
        output = gemini_run(home, gemini, project, "-p", prompt, "-m", "gemini-2.5-flash", env=env)
    assert len(model.results) == len(calls), f"{len(model.results)} of {len(calls)} calls were made; offered: {model.offered}"
    assert model.requests, f"the model was not asked: {output}"
    return model


def first_request(model):
    """Returns the texts that the first request of a session gave to the model, as one."""
    return "\n".join(texts_of(model.requests[0]["contents"]))


def check_delivery(home, gemini):
    """The stored memory comes by itself, once, and only where it fits."""
    second = first_request(run_session(home, gemini, "first", QUESTION))
    assert second.count(EVENT) == 1 and MARK in second, f"the second session got the memory {second.count(EVENT)} times: {second}"
    silent = first_request(run_session(home, gemini, "second", OFF_TOPIC))
    assert MARK not in silent and "Lisbon" not in silent, f"an off-topic prompt got something: {silent}"
    receipts = json.loads(home.run("injected", "--json").stdout)["receipts"]
    delivered = [receipt["client"] for receipt in receipts if receipt["outcome"] == "delivered"]
    assert delivered == ["gemini"], receipts


def setup(home, gemini, settings):
    """`loci setup gemini`: a session stores, the next one knows, and the file comes back."""
    for arguments in (("--yes",), ("--remove", "--yes")):
        run = home.run("setup", "gemini", *arguments)
        assert run.returncode == 0, f"loci setup exited with {run.returncode}: {run.stdout}{run.stderr}"
        if arguments == ("--yes",):
            first = run_session(home, gemini, "first", "move the database", [(STORE, {"content": EVENT, "type": "episodic"})])
            assert EVENT not in first_request(first), "the first session cannot know it"
            assert "id" in first.results[0] and "denied" not in first.results[0], first.results
            check_delivery(home, gemini)
    assert settings.read_text() == SETTINGS, settings.read_text()


def extension(home, gemini):
    """The extension: valid, listed with its server and its skill, works, and is gone after `uninstall`."""
    gemini_run(home, gemini, "first", "extensions", "validate", str(EXTENSION))
    gemini_run(home, gemini, "first", "extensions", "link", str(EXTENSION), "--consent")
    listed = gemini_run(home, gemini, "first", "extensions", "list")
    assert "MCP servers:\n  loci" in listed and "loci-memory" in listed, listed
    stored = subprocess.run(
        [home.loci, "add", EVENT, "--type", "episodic"], env=home.env, cwd=home.project("first"), capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert stored.returncode == 0, stored.stderr
    check_delivery(home, gemini)
    gemini_run(home, gemini, "first", "extensions", "uninstall", "loci")
    assert "loci" not in gemini_run(home, gemini, "first", "extensions", "list")


def main(loci, gemini, way):
    with Home(loci) as home:
        folders = (home.loci.parent, Path(gemini).parent)
        home.env["PATH"] = os.pathsep.join([*map(str, folders), home.env["PATH"]])
        settings = Path(home.env["HOME"]) / ".gemini/settings.json"
        settings.parent.mkdir()
        settings.write_text(SETTINGS)
        if way == "setup":
            setup(home, gemini, settings)
        else:
            extension(home, gemini)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3])
