"""A fake Gemini API server on loopback: a scripted model that calls one tool after another.

It lets the real Gemini CLI run without a network or an account. Implements only what Gemini CLI reads of a streamed answer.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PREFIX = "mcp_"
"""Prefix of MCP tools in requests. Requests without any tools are auxiliary."""


class ScriptedModel:
    """Requests the calls `[(tool, arguments), …]` in order, then ends its turn."""

    def __init__(self, calls=()):
        self.calls = list(calls)
        self.requests = []
        """Contents of the requests that offer tools, oldest first."""
        self.offered = []
        """Names of the MCP tools in the last request."""
        self.results = []
        """Results of the calls so far, in order."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def next_part(self, request):
        """Returns the part of the next answer: a call, or the last text."""
        tools = [tool["name"] for group in request.get("tools", []) for tool in group.get("functionDeclarations", [])]
        if tools:
            parts = [part for content in request["contents"] for part in content["parts"]]
            self.requests.append(request["contents"])
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


def _handler(model):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            part = model.next_part(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
            usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
            answer = json.dumps({"candidates": [candidate], "usageMetadata": usage})
            if "streamGenerateContent" in self.path:
                self.reply(200, f"data: {answer}\r\n\r\n", "text/event-stream")
            else:
                self.reply(200, answer)

        def do_GET(self):
            self.reply(404, "{}")

        def reply(self, status, text, kind="application/json"):
            body = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Requests are not logged."""

    return Handler
