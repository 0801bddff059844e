"""A fake Messages API server on loopback: a scripted model that calls one tool after another.

It lets a real agent run without a network or an account. Implements only what an agent reads.
"""

import json

from scripted_server import ScriptedServer


class ScriptedModel(ScriptedServer):
    """Requests the calls `[(tool, arguments), …]` in order, then ends its turn.

    Arguments that depend on earlier calls are a function of their results, oldest first.
    """

    prefix = "mcp__"
    """Prefix of MCP tools in requests. Requests without such tools are auxiliary, for example to name the session."""

    def __init__(self, calls):
        super().__init__()
        self.calls = calls
        self.offered = []
        """Names of the MCP tools in the last request."""
        self.results = []
        """Results of the calls so far, `{"content": …, "is_error": …}`, in order."""
        self.requests = []
        """Requests that offer any tools, oldest first."""

    def answer(self, path, request):
        path = path.partition("?")[0]
        if path.endswith("/count_tokens"):
            return json.dumps({"input_tokens": 1}), "application/json"
        if not path.endswith("/messages"):
            return None
        if request.get("tools"):
            self.requests.append(request)
        message = _message_of(request, *self.next_block(request))
        is_stream = request.get("stream")
        return (_stream(message), "text/event-stream") if is_stream else (json.dumps(message), "application/json")

    def next_block(self, request):
        """Returns the content block of the next message, and its stop reason."""
        offered = [tool["name"] for tool in request.get("tools", []) if tool.get("name", "").startswith(self.prefix)]
        if not offered:
            return {"type": "text", "text": "done"}, "end_turn"
        self.offered, self.results = offered, list(_tool_results(request["messages"]))
        step = len(self.results)
        if step == len(self.calls):
            return {"type": "text", "text": "done"}, "end_turn"
        name, arguments = self.calls[step]
        if callable(arguments):
            arguments = arguments([result["content"] for result in self.results])
        return {"type": "tool_use", "id": f"toolu_{step}", "name": name, "input": arguments}, "tool_use"


def _tool_results(messages):
    for message in messages:
        blocks = message["content"] if isinstance(message["content"], list) else []
        for block in blocks:
            if block["type"] == "tool_result":
                yield {"content": _text_of(block.get("content", "")), "is_error": bool(block.get("is_error"))}


def _text_of(content):
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _message_of(request, block, stop):
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_scripted", "type": "message", "role": "assistant", "model": request.get("model", "scripted")}
    return message | {"content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}


def _stream(message):
    """Formats a message with one content block as server-sent events."""
    [block] = message["content"]
    if block["type"] == "tool_use":
        start, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        start, delta = block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events = (
        {"type": "message_start", "message": message | {"content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": message["usage"]},
        {"type": "message_stop"},
    )
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
