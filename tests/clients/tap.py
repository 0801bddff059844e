"""Relays lines between an agent and `loci mcp`, and kills the daemon between the commit of a store and its reply.

    python3 tap.py DATABASE RECORD LOCI mcp

For each call of store_memory it forwards the line and lets the daemon run in short slices (SIGCONT, SIGSTOP). After each slice it reads
the header of the WAL index, until a commit has added the row. If the daemon sent the reply in that slice, the reply soon arrives through
the relay: too late, and the daemon continues. Else the daemon is killed with SIGKILL: the row is committed, and this daemon can no longer
reply. RECORD gets a line for each store: `killed PID` or `late PID`.

SQLite is queried only after a commit: if the daemon was stopped while it held a lock, a query would block for seconds.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

COMMIT_WITHIN_S = 20
"""Maximum time until the commit of a store, including the time to load the model."""
HEADER_COPY_BYTES = 48
"""Size of the WAL index header. The `-shm` file begins with two copies of it; every commit rewrites both."""
SLICE_S = 0.00003
"""Time that the daemon runs between two checks. Commit and reply are a few slices apart."""
STOP_WITHIN_S = 0.0001
"""Time until all threads of the daemon have stopped after SIGSTOP. A SIGCONT before that would cancel the stop."""
LATE_WITHIN_S = 0.5
"""Time in which a reply that the daemon has sent arrives through the relay."""


class TapRelay:
    """A relay process, and the ids of the replies that came through it."""

    def __init__(self, database, record, command):
        self.database, self.record, self.loci = database, record, command[0]
        self.relay = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.replied_ids, self.reply_arrived = set(), threading.Condition()

    def run(self):
        """Forwards lines both ways until the agent closes its output; returns the exit code of the relay."""
        reply_thread = threading.Thread(target=self._forward_replies)
        reply_thread.start()
        for line in iter(sys.stdin.buffer.readline, b""):
            message = json.loads(line)
            if message.get("method") == "tools/call" and message["params"]["name"] == "store_memory":
                self._forward_store_and_kill(line, message)
            else:
                self._forward(line)
        self.relay.stdin.close()
        reply_thread.join()
        return self.relay.wait()

    def _forward(self, line):
        self.relay.stdin.write(line)
        self.relay.stdin.flush()

    def _forward_replies(self):
        for line in self.relay.stdout:
            with self.reply_arrived:
                self.replied_ids.add(json.loads(line).get("id"))
                self.reply_arrived.notify()
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()

    def _forward_store_and_kill(self, line, message):
        status = subprocess.run([self.loci, "ctl", "status", "--json"], stdout=subprocess.PIPE, check=True)
        daemon = json.loads(status.stdout)["pid"]
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, isolation_level=None, timeout=0)) as database:
            before, deadline = _row_count(database), time.monotonic() + COMMIT_WITHIN_S
            with open(f"{self.database}-shm", "rb", buffering=0) as wal_index:
                seen = _wal_index_header(wal_index)
                self._forward(line)
                while (now := _wal_index_header(wal_index)) in (None, seen) or _row_count(database) == before:
                    seen = now or seen
                    os.kill(daemon, signal.SIGCONT)
                    assert time.monotonic() < deadline, "the store was not committed in time"
                    _busy_wait(SLICE_S)
                    os.kill(daemon, signal.SIGSTOP)
                    _busy_wait(STOP_WITHIN_S)
        with self.reply_arrived:
            late = self.reply_arrived.wait_for(lambda: message["id"] in self.replied_ids, LATE_WITHIN_S)
        os.kill(daemon, signal.SIGCONT if late else signal.SIGKILL)
        with open(self.record, "a", encoding="utf-8") as record:
            print("late" if late else "killed", daemon, file=record)


def _busy_wait(seconds):
    """Waits without sleeping: a sleep this short would wake up too late."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def _wal_index_header(wal_index):
    """Returns the header of the WAL index; None while the daemon is writing it (the copies differ)."""
    first, second = (os.pread(wal_index.fileno(), HEADER_COPY_BYTES, start) for start in (0, HEADER_COPY_BYTES))
    return first if first == second else None


def _row_count(database):
    return database.execute("SELECT count(*) FROM memories").fetchone()


if __name__ == "__main__":
    sys.exit(TapRelay(sys.argv[1], sys.argv[2], sys.argv[3:]).run())
