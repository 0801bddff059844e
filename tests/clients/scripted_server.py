"""An HTTP server on loopback for scripted models: what the stand-ins of the clients' APIs have in common."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ScriptedServer:
    """Answers each POST with what `answer` returns; runs while it is used as a context manager."""

    def __init__(self):
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path, request):
        """Returns the text of the answer and its content type; `None` if there is no such path."""
        raise NotImplementedError


def _handler(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = server.answer(self.path, request)
            self.reply(404, "{}", "application/json") if answer is None else self.reply(200, *answer)

        def do_GET(self):
            self.reply(404, "{}", "application/json")

        def do_HEAD(self):
            self.reply(404, "", "application/json")

        def reply(self, status, text, kind):
            body = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Requests are not logged."""

    return Handler
