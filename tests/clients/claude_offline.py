"""What the tests of Claude Code have in common: its variables offline, and the loading of tools that it defers.

Everything else is as a user has it. With its default settings Claude Code defers the tools of servers, all but those that ask to be loaded.
"""

ALWAYS_LOADED = ("store_memory", "recall_memory")
"""The tools that loci asks clients to load at once."""


def environment(home, model=None):
    """Variables with which Claude Code runs without a network, asking `model` if it is given."""
    env = home.env | {"ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    return env | {"ANTHROPIC_BASE_URL": model.url} if model else env


def loading(names):
    """The calls with which a model loads those of the tools that are deferred."""
    deferred = sorted({name for name in names if name.rpartition("__")[2] not in ALWAYS_LOADED})
    return [("ToolSearch", {"query": f"select:{','.join(deferred)}"})] if deferred else []
