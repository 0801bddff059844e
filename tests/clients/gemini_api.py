"""A fake Gemini API server on loopback: a scripted model that calls one tool after another.

It lets the real Gemini CLI run without a network or an account. Implements only what Gemini CLI reads of a streamed answer.
"""

import json

from scripted_server import ScriptedServer

PREFIX = "mcp_"
"""Prefix of MCP tools in requests. Requests without any tools are auxiliary."""


class ScriptedModel(ScriptedServer):
    """Requests the calls `[(tool, arguments), …]` in order, then ends its turn."""

    def __init__(self, calls=()):
        super().__init__()
        self.calls = list(calls)
        self.requests = []
        """Requests that offer tools, oldest first."""
        self.offered = []
        """Names of the MCP tools in the last request."""
        self.results = []
        """Results of the calls so far, in order."""

    def answer(self, path, request):
        candidate = {"content": {"role": "model", "parts": [self.next_part(request)]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        answer = json.dumps({"candidates": [candidate], "usageMetadata": usage})
        is_stream = "streamGenerateContent" in path
        return (f"data: {answer}\r\n\r\n", "text/event-stream") if is_stream else (answer, "application/json")

    def next_part(self, request):
        """Returns the part of the next answer: a call, or the last text."""
        tools = [tool["name"] for group in request.get("tools", []) for tool in group.get("functionDeclarations", [])]
        if tools:
            parts = [part for content in request["contents"] for part in content["parts"]]
            self.requests.append(request)
            self.offered = [name for name in tools if name.startswith(PREFIX)]
            self.results = [json.dumps(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]
        step = len(self.results)
        if not tools or step == len(self.calls):
            return {"text": "done"}
        name, arguments = self.calls[step]
        return {"functionCall": {"id": f"call_{step}", "name": name, "args": arguments}}


def texts_of(contents):
    """Returns the texts that a request gives to the model, in order; without the tools."""
    return [part["text"] for content in contents for part in content["parts"] if "text" in part]
