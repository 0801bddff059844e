#!/usr/bin/env python3
"""Measures loci and similar servers with the same driver: time until a session is ready, and the cost of a call.

    python3 bench/rivals.py              about two minutes if the rivals are installed
    python3 bench/rivals.py --write      the same, and writes it to docs/benchmarks.md

Installs the rivals from their registries into target/rivals; one that cannot be installed is listed as left out. Linux; standard library
only. Not here: recall quality (bench/run.py --quality).
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

import process
import report
from home import Home, models_folder
from measure import percentile
from session import Session

PAGE = REPOSITORY / "docs" / "benchmarks.md"
RIVALS = REPOSITORY / "target" / "rivals"
COLD, JOINS, CALLS, WARM_UP = 20, 20, 500, 50
INSTALL_WITHIN_S = 600
NPM, NPM_VERSION = "@modelcontextprotocol/server-memory", "2026.8.31"
CRATE, CRATE_VERSION = "loci-mcp", "0.2.3"


@dataclass
class Figures:
    """Figures of one server; median times in milliseconds."""

    name: str
    cold: float
    """From launch, with none of its processes running, to the reply to `initialize`."""
    join: float
    """The same for one more session while another is open."""
    call: float
    """Its cheapest call; calls in sequence."""
    session_mib: float | str
    """PSS of the processes of one session; a shared daemon is not included."""


class Rival:
    """A server in a folder of its own, with the command and the environment that `session.Session` needs."""

    def __init__(self, name, command, call, env=None):
        self.name, self.command, self.call = name, command, call
        self.root = Path(tempfile.mkdtemp(prefix="loci-rival-"))
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.root), "XDG_RUNTIME_DIR": str(self.root)} | (env or {})

    def open(self):
        """Opens a session and completes its handshake."""
        return Session(self, self.root)

    def stop_processes(self):
        """Does nothing: the processes of a rival end with its session."""

    def close(self):
        """Removes its folder."""
        shutil.rmtree(self.root, ignore_errors=True)


class Loci:
    """loci in a temporary home."""

    name, call = "loci", ("memory_stats", {})

    def __init__(self, loci):
        self._home = Home(loci).__enter__()
        self.command, self.env, self._project = [str(self._home.loci), "mcp"], self._home.env, self._home.project("bench")

    def open(self):
        """Opens a session and completes its handshake."""
        return Session(self, self._project)

    def stop_processes(self):
        """Stops the daemon, so that the next session starts cold."""
        assert self._home.run("ctl", "stop").returncode == 0

    def relay_figures(self):
        """Returns the median time of a call in ms, through `loci mcp` and directly on the daemon's socket."""
        with self.open() as relayed, Direct(self._home) as direct:
            return call_ms(relayed, self.call), call_ms(direct, self.call)

    def close(self):
        """Removes its folder."""
        self._home.__exit__(None)


class Direct(Session):
    """A session directly on the daemon's socket; a daemon must be running."""

    class _Wire:
        def __init__(self, connection):
            self.pid, self.stdin, self.stdout = None, connection.makefile("wb"), connection.makefile("rb", buffering=0)
            self._connection = connection

        def wait(self, _timeout=None):
            self._connection.close()

    def __init__(self, home):
        self._last_id, self._unread = 0, b""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(Path(home.env["XDG_RUNTIME_DIR"]) / "loci" / "locid.sock"))
        self._shim = self._Wire(connection)
        self._write({"loci": [1, 1], "shim": "0.1.0", "session": {"id": str(uuid.uuid4()), "pid": os.getpid()}})
        welcome = self._message()
        assert welcome["ok"], f"the daemon refused: {welcome}"
        self._initialize()


@contextmanager
def closing(server):
    try:
        yield server
    finally:
        server.close()


def timed(action):
    """Returns the result of the action and its duration in milliseconds."""
    start = time.perf_counter()
    result = action()
    return result, 1000 * (time.perf_counter() - start)


def measure(server):
    """Measures one server."""
    cold, joins = [], []
    for _ in range(COLD):
        server.stop_processes()
        session, took = timed(server.open)
        # A call checks that the process that answered the handshake also serves calls.
        with session:
            cold.append(took)
            session.tool(server.call[0], **server.call[1])
    with server.open() as first:
        median_call = call_ms(first, server.call)
        for _ in range(JOINS):
            session, took = timed(server.open)
            with session:
                joins.append(took)
        session_mib = sum(process.pss_mib(pid) for pid in process_tree(first.pid))
    return Figures(server.name, percentile(cold, 50), percentile(joins, 50), median_call, session_mib)


def call_ms(session, call):
    """Returns the median time of calls in sequence, in milliseconds."""
    name, arguments = call
    for _ in range(WARM_UP):
        session.tool(name, **arguments)
    return percentile([timed(lambda: session.tool(name, **arguments))[1] for _ in range(CALLS)], 50)


def process_tree(pid):
    """Returns the pids of a process and its descendants; a detached daemon is not one of them."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *[descendant for child in children for descendant in process_tree(int(child))]]


def npm_rival():
    """Installs server-memory for Node, which stores a graph in a file and searches it by keywords."""
    folder = RIVALS / f"npm-{NPM_VERSION}"
    program = folder / "node_modules" / NPM / "dist" / "index.js"
    if not program.exists():
        flags = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        install("npm", "install", "--prefix", folder, *flags, f"{NPM}@{NPM_VERSION}")
    rival = Rival(f"{NPM} {NPM_VERSION}", [shutil.which("node"), str(program)], ("read_graph", {}))
    rival.env["MEMORY_FILE_PATH"] = str(rival.root / "memory.json")
    return rival


def crate_rival():
    """Installs loci-mcp, an older program called Loci: one process for each session, each with its own model."""
    program = RIVALS / CRATE / "bin" / "loci"
    if not program.exists():
        flags = ["--locked", "--root", RIVALS / CRATE, "--target-dir", RIVALS / "build"]
        install("cargo", "install", CRATE, "--version", CRATE_VERSION, *flags, env=os.environ | runtime_environment())
    libraries = {name: value for name, value in runtime_environment().items() if name == "LD_LIBRARY_PATH"}
    with tempfile.TemporaryDirectory() as home:
        # It does not start without its model, which only the model hub provides.
        download = subprocess.run([program, "model", "download"], env=os.environ | libraries | {"HOME": home}, capture_output=True, timeout=INSTALL_WITHIN_S)
    if download.returncode != 0:
        raise RuntimeError("it exits without its model, and the model hub is not reachable")
    return Rival(f"{CRATE} {CRATE_VERSION}", [str(program), "serve"], ("memory_stats", {}), libraries)


def install(*command, env=None):
    """Runs an installer with a time limit."""
    print(f"Installing: {' '.join(map(str, command[:4]))} …", file=sys.stderr)
    subprocess.run(list(map(str, command)), check=True, timeout=INSTALL_WITHIN_S, stdout=sys.stderr, env=env)


def runtime_environment():
    """Returns the environment that links the crate with the ONNX Runtime of `loci model download`; its build would download another."""
    libraries = sorted(models_folder().glob("onnxruntime-*/libonnxruntime.so.*"))
    if not libraries:
        return {}
    folder = RIVALS / "ort"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("libonnxruntime.so", "libonnxruntime.so.1"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(libraries[-1])
    return {"ORT_LIB_LOCATION": str(folder), "ORT_PREFER_DYNAMIC_LINK": "1", "LD_LIBRARY_PATH": str(folder)}


def section(figures, relay, left_out):
    """Formats the figures as Markdown."""
    rows = [[f.name, f.cold, f.join, f"{f.call:.2f}", f.session_mib] for f in figures]
    text = f"""\
The same driver talks to each over stdio, in one run. "Cold" is the time from launch, with no process of the server running, to the reply of
`initialize`; "join" the same for one more session while another is open; "call" the cheapest call of each (`memory_stats`, or `read_graph` of
an empty graph), {CALLS} in sequence; medians. The calls do different work, so "call" is not a comparison of speed. "A session" is
the PSS in MiB of one session's own processes; loci's shared daemon is not included (see Memory).

Cost of the relay: {relay[0]:.2f} ms through `loci mcp`, {relay[1]:.2f} ms for the same call directly on the daemon's socket.
"""
    table = report.table(["", "cold ms", "join ms", "call ms", "a session MiB"], rows)
    missing = "".join(f"\nLeft out: {name}: {why}\n" for name, why in left_out)
    return f"## Comparison with similar servers\n\n{text}\n{table}\n{missing}"


def main():
    """Measures, prints, and writes with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"), metavar="PATH", help="default: target/release/loci")
    parser.add_argument("--without", action="append", default=[], metavar="NAME", help="skip a rival, by package name")
    parser.add_argument("--write", action="store_true", help="write the figures to docs/benchmarks.md")
    chosen = parser.parse_args()
    figures, relay, left_out = [], None, []
    for name, make in (("loci", lambda: Loci(chosen.loci)), (NPM, npm_rival), (CRATE, crate_rival)):
        if name in chosen.without:
            left_out.append((name, "skipped"))
            continue
        try:
            print(f"{name} …", file=sys.stderr)
            with closing(make()) as server:
                figures.append(measure(server))
                relay = relay or server.relay_figures()
        except (OSError, EOFError, TimeoutError, subprocess.SubprocessError, RuntimeError) as why:
            if name == "loci":
                raise
            left_out.append((name, f"{type(why).__name__}: {why}".splitlines()[0]))
    version = subprocess.run([chosen.loci, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    text = section(figures, relay, left_out) + "\n" + report.source(version, process.machine(), "python3 bench/rivals.py", date.today().isoformat())
    print(text)
    if chosen.write:
        report.write(PAGE, "rivals", text)


if __name__ == "__main__":
    main()
