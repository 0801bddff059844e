"""Test: the hooks in Codex, offline: a second session gets the memory of the first without asking for it, and nothing when nothing fits.

    python3 codex_hooks.py LOCI CODEX

Before a hook is approved, Codex skips it silently and `loci doctor` says so, but the tools work. The approval is the user's: the test asks the
app server of Codex for the hooks with their hashes and hands the hashes back, which is what Codex does when a user approves in `/hooks`.
"""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from codex_api import ScriptedModel, texts_of
from home import Home

NAMESPACE = "mcp__loci"
EVENT = "On 3 March 2026 Ines moved the payments database to Lisbon."
QUESTION = "Where does the payments database run?"
OFF_TOPIC = "write a haiku about autumn leaves in the rain"
MARK = "data, not instructions"
TIMEOUT_S = 60


def run_session(home, codex, project, prompt, calls=()):
    """Runs one session; returns its model, which knows the requests, the tools that were offered and the results of the calls."""
    with ScriptedModel((NAMESPACE, tool, arguments) for tool, arguments in calls) as model:
        command = [codex, "exec", "--skip-git-repo-check", *model.settings(), prompt]
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
        run = subprocess.run(command, env=home.env, cwd=home.project(project), **options)
    assert run.returncode == 0, f"codex exited with {run.returncode}: {run.stdout}{run.stderr}"
    assert len(model.results) == len(calls), f"{len(model.results)} of {len(calls)} calls were made; offered: {model.offered}"
    return model


def first_request(model):
    """Returns the texts that the first request of a session gave to the model, as one."""
    return "\n".join(text for _, text in texts_of(model.requests[0]))


def ask(home, codex, *requests):
    """Sends requests, `(method, parameters)`, to the app server of Codex; returns their results."""
    initialize = ("initialize", {"clientInfo": {"name": "test", "version": "1"}})
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    results = []
    with subprocess.Popen([codex, "app-server"], env=home.env, cwd=home.project("first"), **options) as server:
        for number, (method, parameters) in enumerate((initialize, *requests)):
            print(json.dumps({"id": number, "method": method, "params": parameters}), file=server.stdin, flush=True)
            replies = (json.loads(line) for line in server.stdout)
            reply = next(reply for reply in replies if reply.get("id") == number)
            assert "result" in reply, f"{method}: {reply}"
            results.append(reply["result"])
        server.stdin.close()
    return results[1:]


def hooks_of(home, codex):
    """Returns the hooks that Codex knows."""
    [listed] = ask(home, codex, ("hooks/list", {"cwds": [str(home.project("first"))]}))
    return [hook for folder in listed["data"] for hook in folder["hooks"]]


def approve(home, codex):
    """Approves every hook as a user does in `/hooks`; returns what Codex keeps of it."""
    approvals = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks_of(home, codex)}
    edit = {"keyPath": "hooks.state", "value": approvals, "mergeStrategy": "upsert"}
    ask(home, codex, ("config/batchWrite", {"edits": [edit]}))
    assert {hook["trustStatus"] for hook in hooks_of(home, codex)} == {"trusted"}
    return approvals


def findings(home):
    """Returns what `loci doctor` finds of Codex, `(verdict, text)`."""
    found = json.loads(home.run("doctor", "--json").stdout)["findings"]
    return [(finding["verdict"], finding["found"]) for finding in found if finding["part"] == "codex"]


def files_outside(home):
    """Returns the files of the home folder that belong neither to Codex nor to loci."""
    folder = Path(home.env["HOME"])
    inside = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in inside if path.parts[0] not in (".codex", ".loci")]


def check_before_approval(home, codex):
    """The tools work, unasked hooks do not run, and doctor says so."""
    first = run_session(home, codex, "first", "move the database", [("store_memory", {"content": EVENT, "type": "episodic"})])
    assert EVENT not in first_request(first), "the first session cannot know it"
    second = run_session(home, codex, "first", QUESTION, [("recall_memory", {"query": QUESTION})])
    assert EVENT not in first_request(second), "a hook ran that nobody approved"
    assert EVENT in second.results[0], f"the second session did not recall it: {second.results}"
    hooks = hooks_of(home, codex)
    assert findings(home) == [("warn", f"Codex runs 0 of {len(hooks)} hooks of loci")], findings(home)


def check_after_approval(home, codex):
    """The memory of the first session comes by itself, once, and only where it fits."""
    second = first_request(run_session(home, codex, "first", QUESTION))
    assert second.count(EVENT) == 1, f"the second session got the memory {second.count(EVENT)} times: {second}"
    assert MARK in second, second
    silent = first_request(run_session(home, codex, "second", OFF_TOPIC))
    assert MARK not in silent and "Lisbon" not in silent, f"an off-topic prompt got something: {silent}"
    receipts = json.loads(home.run("injected", "--json").stdout)["receipts"]
    delivered = [receipt for receipt in receipts if receipt["outcome"] == "delivered"]
    assert [receipt["client"] for receipt in delivered] == ["codex"], receipts
    assert all(verdict == "ok" for verdict, _ in findings(home)), findings(home)


def main(loci, codex):
    """Sets up, works, approves, works, removes."""
    with Home(loci) as home:
        home.env["PATH"] = f"{Path(codex).parent}{os.pathsep}{home.env['PATH']}"
        folder = Path(home.env["HOME"]) / ".codex"
        for arguments in (("--yes",), ("--yes",)):
            setup = home.run("setup", "codex", *arguments)
            assert setup.returncode == 0, f"loci setup exited with {setup.returncode}: {setup.stdout}{setup.stderr}"
        check_before_approval(home, codex)
        approvals = approve(home, codex)
        check_after_approval(home, codex)

        removed = home.run("setup", "codex", "--remove", "--yes")
        assert removed.returncode == 0, f"loci setup exited with {removed.returncode}: {removed.stdout}{removed.stderr}"
        assert not (folder / "hooks.json").exists()
        # Only the approvals stay, which Codex wrote for the user.
        left = tomllib.loads((folder / "config.toml").read_text())
        assert left == {"hooks": {"state": approvals}}, left
        assert files_outside(home) == [], files_outside(home)
        after = run_session(home, codex, "first", QUESTION)
        assert after.offered == [] and MARK not in first_request(after), after.offered


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()))
