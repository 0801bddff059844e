"""A fake Chat Completions server on loopback: a scripted model that calls one tool of OpenCode after another, then says a text.

It lets the real OpenCode run without a network or an account. Implements only what OpenCode reads of a streamed answer.
"""

import json

from scripted_server import ScriptedServer


class ScriptedModel(ScriptedServer):
    """Requests the calls `[(tool, arguments), …]` in order, then ends its turn with a text. Requests without tools name the session."""

    def __init__(self, calls, last_text):
        super().__init__()
        self.calls, self.last_text = calls, last_text

    def answer(self, path, request):
        if not path.endswith("/chat/completions"):
            return None
        message, reason = self.next_message(request)
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        first = chunk | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]}
        last = chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
        return "".join(f"data: {json.dumps(part)}\n\n" for part in (first, last)) + "data: [DONE]\n\n", "text/event-stream"

    def next_message(self, request):
        """Returns the next message and its reason to stop."""
        if not request.get("tools"):
            return {"role": "assistant", "content": "A title"}, "stop"
        step = sum(message["role"] == "tool" for message in request["messages"])
        if step >= len(self.calls):
            return {"role": "assistant", "content": self.last_text}, "stop"
        tool, arguments = self.calls[step]
        call = {"index": 0, "id": f"call_{step}", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


def settings(url):
    """Returns an `opencode.json` with the model at this address, in which every tool is allowed."""
    model = {"m": {"name": "m", "tool_call": True}}
    options = {"baseURL": f"{url}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "stand-in", "options": options, "models": model}
    wishes = {"permission": "allow", "autoupdate": False, "share": "disabled"}
    return {"provider": {"stand-in": provider}, "model": "stand-in/m", "small_model": "stand-in/m"} | wishes
