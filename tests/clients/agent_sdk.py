"""Test: the examples of docs/clients.md for the Claude Agent SDK, offline, as they stand there: they store and recall through `loci mcp`.

    python3 agent_sdk.py LOCI python PYTHON      PYTHON: an interpreter that has claude-agent-sdk
    python3 agent_sdk.py LOCI node PACKAGES CLAUDE
                                                 PACKAGES: the folder whose node_modules has the SDK; CLAUDE: the program that it runs, if it
                                                 was installed without its own
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import claude_offline
from home import Home
from messages_api import ScriptedModel

PAGE = Path(__file__).resolve().parents[2] / "docs/clients.md"
STORE, RECALL = (f"mcp__loci__{tool}" for tool in claude_offline.ALWAYS_LOADED)
FACT = "The staging database is called heron."
TIMEOUT_S = 120


def example(language):
    """Returns the example of the page in a language."""
    section = PAGE.read_text().split("## Claude Agent SDK\n")[1].split("\n## ")[0]
    [code] = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return code


def command(language, home, arguments):
    """Writes the example to a file where it finds the SDK; returns the command that runs it."""
    if language == "python":
        file = home.root / "example.py"
        file.write_text(example("python"))
        return [arguments[0], str(file)]
    packages, claude = arguments
    code = example("js").replace("const options = {", f"const options = {{\n  pathToClaudeCodeExecutable: {json.dumps(claude)},")
    file = home.root / "example.mjs"
    file.write_text(code)
    (home.root / "node_modules").symlink_to(Path(packages).resolve() / "node_modules")
    return ["node", str(file)]


def main(loci, language, *arguments):
    with Home(loci) as home:
        home.env["PATH"] = f"{home.loci.parent}{os.pathsep}{home.env['PATH']}"
        run_it = command(language, home, arguments)
        calls = [(STORE, {"content": FACT, "type": "semantic"}), (RECALL, {"query": "Which is the staging database?"})]
        with ScriptedModel(calls) as model:
            options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
            run = subprocess.run(run_it, env=claude_offline.environment(home, model), cwd=home.project("agent"), **options)
        assert run.returncode == 0, f"the example exited with {run.returncode}: {run.stdout}{run.stderr}"
        assert run.stdout.strip() == "done", run.stdout
        assert {STORE, RECALL} <= set(model.offered), f"the model was offered {model.offered}"
        assert not [result for result in model.results if result["is_error"]], model.results
        assert len(model.results) == 2 and FACT in model.results[1]["content"], model.results


if __name__ == "__main__":
    main(*sys.argv[1:])
