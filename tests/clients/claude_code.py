"""Claude Code itself, offline, stores and recalls through `loci mcp`, in two projects.

    python3 claude_code.py LOCI CLAUDE [modern|legacy]

`modern` is what Claude Code does when nothing is set; `legacy` is the protocol with a handshake. The model is scripted
(messages_api.py). What happened in one project (episodic) must not be recalled in the other; what is true everywhere
(semantic) must be.
"""

import json
import subprocess
import sys
from pathlib import Path

from home import Home
from messages_api import ScriptedModel

FACT = "Our invoices are printed on yellow paper."
EVENT = "On 3 March 2026 Ines moved the payments database to Lisbon."
ASK_FACT = {"query": "What colour are the bills?"}
ASK_EVENT = {"query": "Who migrated the storage of transactions to Portugal?"}

STORE, RECALL, STATS = (f"mcp__loci__{tool}" for tool in ("store_memory", "recall_memory", "memory_stats"))
TIMEOUT_S = 60


def script_of_a_project(home, claude, era, project, calls, server=None):
    """Runs Claude Code in the project until the script is done; gives what the model was told by each tool.

    `server`: what Claude Code launches as loci, where that is not `loci mcp` itself.
    """
    servers = {"mcpServers": {"loci": server or {"command": str(home.loci), "args": ["mcp"]}}}
    log = home.root / f"claude-{project}.log"
    flags = ["-p", "use loci", "--strict-mcp-config", "--mcp-config", json.dumps(servers), "--allowedTools", "mcp__loci"]
    flags += ["--debug-file", str(log)]
    with ScriptedModel(calls) as model:
        env = home.env | {
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ENABLE_TOOL_SEARCH": "false",
        }
        if era == "legacy":
            env["MCP_PROTOCOL_NEGOTIATION"] = "legacy"
        quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        run = subprocess.run([claude, *flags], env=env, cwd=home.project(project), timeout=TIMEOUT_S, **quiet)
    assert run.returncode == 0, f"claude ended with {run.returncode}: {run.stdout}{run.stderr}"
    assert f'"protocolEra":"{era}"' in log.read_text(), f"claude did not come to speak the {era} protocol: {_about_mcp(log)}"
    assert {STORE, RECALL, STATS} <= set(model.offered), f"the model was offered {model.offered}"
    assert len(model.results) == len(calls), f"{len(model.results)} of {len(calls)} calls were made: {run.stdout}{run.stderr}"
    for (name, _), result in zip(calls, model.results):
        assert not result["is_error"], f"{name} failed in {project}: {result['content']}"
        assert "degraded" not in result["content"], f"is the model there (loci model download)? {result['content']}"
    return [result["content"] for result in model.results]


def _about_mcp(log):
    return "\n".join(line for line in log.read_text().splitlines() if "MCP server" in line)


def main(loci, claude, era):
    """The first project stores and recalls; the second sees of it what it should."""
    with Home(loci) as home:
        calls = [
            (STORE, {"content": FACT, "type": "semantic"}),
            (STORE, {"content": EVENT, "type": "episodic"}),
            (RECALL, ASK_FACT),
            (RECALL, ASK_EVENT),
            (STATS, {}),
        ]
        *_, fact, event, stats = script_of_a_project(home, claude, era, "first", calls)
        assert FACT in fact, f"a paraphrase did not find the fact: {fact}"
        assert EVENT in event, f"a paraphrase did not find the event: {event}"
        assert json.loads(stats)["active_memories"] == 2, f"wrong count: {stats}"

        fact, event = script_of_a_project(home, claude, era, "second", [(RECALL, ASK_FACT), (RECALL, ASK_EVENT)])
        assert FACT in fact, f"the second project did not find the global fact: {fact}"
        assert EVENT not in event, f"the second project saw an event of the first: {event}"


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()), (sys.argv[3:] or ["modern"])[0])
