"""One agent session with `loci mcp`, or with a rival: JSON-RPC, one message in each line, standard library only.

Not here: real clients (tests/clients).
"""

import json
import os
import select
import subprocess
import time

REPLY_WITHIN_S = 120
"""Longer than any deadline of loci: a later reply was lost."""


class Refused(RuntimeError):
    """The reply was an error of the tool or of the protocol."""


class Session:
    """A running `loci mcp` after its handshake."""

    def __init__(self, home, project):
        """`home`: the temporary home, or any object with `command` and `env`; `project`: working folder of the session."""
        self._last_id, self._unread = 0, b""
        command = getattr(home, "command", None) or [str(home.loci), "mcp"]
        self._shim = subprocess.Popen(
            command, env=home.env, cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.pid = self._shim.pid
        self._initialize()

    def _initialize(self):
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "loci-bench", "version": "1"}}
        self.instructions = self._receive(self._send("initialize", client))["result"].get("instructions")
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tool(self, name, **arguments):
        """Calls a tool; returns the structured content of the reply."""
        return self._content(self._receive(self.send_call(name, **arguments)))

    def list_tools(self):
        """Returns the tools."""
        return self._receive(self._send("tools/list", {}))["result"]["tools"]

    def send_call(self, name, **arguments):
        """Sends a call without waiting for the reply; returns its id for `replies`."""
        return self._send("tools/call", {"name": name, "arguments": arguments})

    def replies(self, ids):
        """Waits for replies; returns their structured contents, or `Refused` as a value, in the order of the ids."""
        waiting, messages = set(ids), {}
        while waiting:
            message = self._message()
            if message.get("id") in waiting:
                waiting.remove(message["id"])
                messages[message["id"]] = message
        return [self._content_or_error(messages[number]) for number in ids]

    def close(self):
        """Ends the session as an agent does, by closing its end of the pipe."""
        self._shim.stdin.close()
        self._shim.wait(10)
        self._shim.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _send(self, method, params):
        self._last_id += 1
        self._write({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    def _write(self, message):
        self._shim.stdin.write(json.dumps(message).encode() + b"\n")
        self._shim.stdin.flush()

    def _receive(self, number):
        while (message := self._message()).get("id") != number:
            pass
        return message

    def _message(self):
        deadline, out = time.monotonic() + REPLY_WITHIN_S, self._shim.stdout.fileno()
        while b"\n" not in self._unread:
            if not select.select([out], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"no reply within {REPLY_WITHIN_S} s")
            data = os.read(out, 1 << 16)
            if not data:
                raise EOFError(f"loci mcp exited with {self._shim.wait()}")
            self._unread += data
        line, self._unread = self._unread.split(b"\n", 1)
        return json.loads(line)

    @staticmethod
    def _content(message):
        if "error" in message:
            raise Refused(message["error"]["message"])
        result = message["result"]
        if result.get("isError"):
            raise Refused("\n".join(part.get("text", "") for part in result["content"]))
        return result.get("structuredContent")

    @classmethod
    def _content_or_error(cls, message):
        try:
            return cls._content(message)
        except Refused as refusal:
            return refusal
