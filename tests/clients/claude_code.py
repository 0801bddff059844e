"""Test: Claude Code, offline, stores and recalls memories through `loci mcp` in two projects.

    python3 claude_code.py LOCI CLAUDE [modern|legacy]

`modern` is the default of Claude Code; `legacy` is the protocol with a handshake. The model is scripted (messages_api.py),
the settings are the defaults, so the model must load the tools that are deferred.
An episodic memory of one project must not be recalled in the other project; a semantic memory must be.
"""

import json
import subprocess
import sys
from pathlib import Path

import claude_offline
from home import Home
from messages_api import ScriptedModel

FACT = "Our invoices are printed on yellow paper."
EVENT = "On 3 March 2026 Ines moved the payments database to Lisbon."
FACT_QUESTION = {"query": "What colour are the bills?"}
EVENT_QUESTION = {"query": "Who migrated the storage of transactions to Portugal?"}

STORE, RECALL, STATS = (f"mcp__loci__{tool}" for tool in ("store_memory", "recall_memory", "memory_stats"))
TIMEOUT_S = 60


def run_script(home, claude, era, project, calls, server=None):
    """Runs Claude Code in a project until the script ends; returns the text of each tool result.

    `server`: the command that Claude Code starts as the MCP server, if not `loci mcp`.
    """
    servers = {"mcpServers": {"loci": server or {"command": str(home.loci), "args": ["mcp"]}}}
    log = home.root / f"claude-{project}.log"
    loading = claude_offline.loading(name for name, _ in calls)
    flags = ["-p", "use loci", "--strict-mcp-config", "--mcp-config", json.dumps(servers), "--allowedTools", "mcp__loci"]
    flags += ["--debug-file", str(log)]
    with ScriptedModel([*loading, *(later(call, len(loading)) for call in calls)]) as model:
        env = claude_offline.environment(home, model)
        if era == "legacy":
            env["MCP_PROTOCOL_NEGOTIATION"] = "legacy"
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        run = subprocess.run([claude, *flags], env=env, cwd=home.project(project), timeout=TIMEOUT_S, **options)
    assert run.returncode == 0, f"claude exited with {run.returncode}: {run.stdout}{run.stderr}"
    assert f'"protocolEra":"{era}"' in log.read_text(), f"claude does not speak the {era} protocol: {_mcp_log_lines(log)}"
    assert {STORE, RECALL} <= set(model.offered), f"the model was offered {model.offered}"
    results = model.results[len(loading) :]
    assert len(results) == len(calls), f"only {len(results)} of {len(calls)} calls were made: {run.stdout}{run.stderr}"
    for (name, _), result in zip(calls, results):
        assert not result["is_error"], f"{name} failed in {project}: {result['content']}"
        assert "degraded" not in result["content"], f"is the model installed (loci model download)? {result['content']}"
    return [result["content"] for result in results]


def later(call, count):
    """Returns a call that other calls precede: arguments that depend on results get those of the script alone."""
    name, arguments = call
    return (name, lambda results: arguments(results[count:])) if callable(arguments) else call


def _mcp_log_lines(log):
    return "\n".join(line for line in log.read_text().splitlines() if "MCP server" in line)


def main(loci, claude, era):
    """The first project stores and recalls; the second recalls only the global memory."""
    with Home(loci) as home:
        calls = [
            (STORE, {"content": FACT, "type": "semantic"}),
            (STORE, {"content": EVENT, "type": "episodic"}),
            (RECALL, FACT_QUESTION),
            (RECALL, EVENT_QUESTION),
            (STATS, {}),
        ]
        *_, fact, event, stats = run_script(home, claude, era, "first", calls)
        assert FACT in fact, f"a paraphrase did not find the fact: {fact}"
        assert EVENT in event, f"a paraphrase did not find the event: {event}"
        assert json.loads(stats)["active_memories"] == 2, f"wrong count: {stats}"

        fact, event = run_script(home, claude, era, "second", [(RECALL, FACT_QUESTION), (RECALL, EVENT_QUESTION)])
        assert FACT in fact, f"the second project did not find the global fact: {fact}"
        assert EVENT not in event, f"the second project saw an event of the first: {event}"


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()), (sys.argv[3:] or ["modern"])[0])
