"""A fake Responses API server on loopback: a scripted model that calls one tool after another.

It lets the real Codex run without a network or an account. Implements only what Codex reads of a streamed response.
"""

import json

from scripted_server import ScriptedServer

PREFIX = "mcp__"
"""Prefix of the namespaces of MCP tools in requests."""


class ScriptedModel(ScriptedServer):
    """Requests the calls `[(namespace, tool, arguments), …]` in order, then ends its turn."""

    def __init__(self, calls=()):
        super().__init__()
        self.calls = list(calls)
        self.requests = []
        """Bodies of the requests, oldest first."""
        self.offered = []
        """Names of the MCP tools in the last request, `namespace.tool`."""
        self.results = []
        """Results of the calls so far, as text, in order."""

    def settings(self):
        """Returns the command-line options with which Codex asks this server, without a key; its files stay as they are."""
        provider = f'{{name="scripted", base_url="{self.url}/v1", wire_api="responses", request_max_retries=0, stream_max_retries=0}}'
        settings = ('model_provider="scripted"', f"model_providers.scripted={provider}", 'model="scripted"')
        return [part for setting in settings for part in ("-c", setting)]

    def answer(self, path, request):
        return (_stream(self.next_item(request)), "text/event-stream") if path == "/v1/responses" else None

    def next_item(self, request):
        """Returns the item of the next response: a call, or the last message."""
        self.requests.append(request)
        self.offered = list(_mcp_tools(request))
        self.results = [_text_of(item["output"]) for item in request["input"] if item["type"] == "function_call_output"]
        step = len(self.results)
        if step == len(self.calls):
            return {"type": "message", "role": "assistant", "id": "msg_0", "content": [{"type": "output_text", "text": "done"}]}
        namespace, tool, arguments = self.calls[step]
        call = {"type": "function_call", "id": f"fc_{step}", "call_id": f"call_{step}", "namespace": namespace}
        return call | {"name": tool, "arguments": json.dumps(arguments)}


def texts_of(request):
    """Returns the texts that a request gives to the model, `(role, text)`, in order; without the tools."""
    messages = (item for item in request["input"] if item["type"] == "message")
    return [(message["role"], part.get("text", "")) for message in messages for part in message["content"]]


def _mcp_tools(request):
    for tool in request["tools"]:
        if tool["type"] == "namespace" and tool["name"].startswith(PREFIX):
            yield from (f"{tool['name']}.{member['name']}" for member in tool["tools"])


def _text_of(output):
    return output if isinstance(output, str) else "\n".join(part.get("text", "") for part in output)


def _stream(item):
    """Formats a response with one item as server-sent events."""
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}
    events = (
        {"type": "response.created", "response": {"id": "resp_scripted"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_scripted", "usage": usage}},
    )
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
