"""Test: what Claude Code, Codex and Gemini CLI give a model in the first request of a session, with their default settings, offline.

    python3 first_requests.py LOCI CLAUDE CODEX GEMINI

`loci setup` configures each client. The request is printed as far as it is of loci: the tools with their schemas, the names of deferred tools,
and where the instructions stand. Every client must give the two tools that are always loaded, with the descriptions of the server, and the
instructions.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import claude_offline
import codex_api
import gemini_api
import messages_api
from home import Home

TIMEOUT_S = 120
GEMINI_SETTINGS = '{"security": {"auth": {"selectedType": "gemini-api-key"}}}\n'


class Claude(messages_api.ScriptedModel):
    """Knows the tools of its first request."""

    def tools(self):
        tools = [tool for tool in self.requests[0]["tools"] if "__loci__" in tool["name"]]
        return {tool["name"].rpartition("__")[2]: (tool["description"], tool["input_schema"]) for tool in tools}


class Codex(codex_api.ScriptedModel):
    """Knows the tools of its first request."""

    def tools(self):
        [server] = [tool for tool in self.requests[0]["tools"] if tool.get("name") == "mcp__loci"]
        return {tool["name"]: (tool["description"], tool["parameters"]) for tool in server["tools"]}


class Gemini(gemini_api.ScriptedModel):
    """Knows the tools of its first request."""

    def tools(self):
        declared = [tool for group in self.requests[0]["tools"] for tool in group.get("functionDeclarations", [])]
        schema = "parametersJsonSchema"
        return {tool["name"].removeprefix("mcp_loci_"): (tool["description"], tool.get(schema) or tool.get("parameters")) for tool in declared if "_loci_" in tool["name"]}


def served(home):
    """Returns the instructions and the tools of the server itself, by name."""
    messages = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0"} | message) + "\n" for message in messages)
    with subprocess.Popen([str(home.loci), "mcp"], env=home.env, cwd=home.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shim:
        print(lines, end="", file=shim.stdin, flush=True)
        replies = [json.loads(shim.stdout.readline())["result"] for _ in range(2)]
        shim.stdin.close()
    return replies[0]["instructions"], {tool["name"]: tool for tool in replies[1]["tools"]}


def run(home, command, env=None):
    """Runs a client in a project of its own; fails if it does."""
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
    done = subprocess.run(command, env=env or home.env, cwd=home.project("shop"), **options)
    assert done.returncode == 0, f"{command[0]} exited with {done.returncode}: {done.stdout}{done.stderr}"


def show(name, model, loaded):
    """Prints what a client gave of loci."""
    print(f"{name}: {len(json.dumps(model.requests[0]))} characters; of loci:")
    for tool, (description, schema) in loaded.items():
        shown = {"description": description, "schema": schema} if tool in claude_offline.ALWAYS_LOADED else {"description": description}
        print(f"  {tool} {json.dumps(shown, ensure_ascii=False)}")


def check(name, model, instructions, tools):
    """The two tools are there as the server describes them, and the instructions stand somewhere."""
    loaded = model.tools()
    show(name, model, loaded)
    for tool in claude_offline.ALWAYS_LOADED:
        assert tool in loaded, f"{name} did not load {tool}: {sorted(loaded)}"
        description, schema = loaded[tool]
        assert tools[tool]["description"] in description, f"{name} gives another description of {tool}: {description}"
        missing = set(tools[tool]["inputSchema"]["properties"]) - set(schema["properties"])
        assert not missing, f"{name} leaves out arguments of {tool}: {missing}"
    text = json.dumps(model.requests[0], ensure_ascii=False)
    assert json.dumps(instructions, ensure_ascii=False)[1:-1] in text, f"{name} does not give the instructions"
    return loaded


def check_claude(home, claude, instructions, tools):
    """Claude Code defers all other tools, and names them."""
    with Claude([]) as model:
        run(home, [claude, "-p", "hello"], claude_offline.environment(home, model))
    loaded = check("Claude Code", model, instructions, tools)
    assert set(loaded) == set(claude_offline.ALWAYS_LOADED), f"Claude Code loaded {sorted(loaded)}"
    text = json.dumps(model.requests[0])
    for tool in set(tools) - set(loaded):
        assert f"mcp__loci__{tool}" in text, f"the deferred {tool} is not named"
        print(f"  {tool}: deferred, named")


def check_codex(home, codex, instructions, tools):
    with Codex() as model:
        run(home, [codex, "exec", "--skip-git-repo-check", *model.settings(), "hello"])
    assert set(check("Codex", model, instructions, tools)) == set(tools)


def check_gemini(home, gemini, instructions, tools):
    with Gemini() as model:
        env = home.env | {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        run(home, [gemini, "-p", "hello", "-m", "gemini-2.5-flash"], env)
    assert set(check("Gemini CLI", model, instructions, tools)) == set(tools)


def main(loci, claude, codex, gemini):
    with Home(loci) as home:
        folder = Path(home.env["HOME"])
        (folder / ".gemini").mkdir()
        (folder / ".gemini" / "settings.json").write_text(GEMINI_SETTINGS)
        home.env["PATH"] = f"{Path(codex).parent}{os.pathsep}{home.env['PATH']}"
        for client in ("claude", "codex", "gemini"):
            setup = home.run("setup", client, "--yes")
            assert setup.returncode == 0, f"loci setup {client} exited with {setup.returncode}: {setup.stdout}{setup.stderr}"
        instructions, tools = served(home)
        check_claude(home, claude, instructions, tools)
        check_codex(home, codex, instructions, tools)
        check_gemini(home, gemini, instructions, tools)


if __name__ == "__main__":
    main(sys.argv[1], *(str(Path(program).absolute()) for program in sys.argv[2:]))
