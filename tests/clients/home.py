"""A throw-away loci: a private home with a daemon of its own, of which nothing is left behind.

Not here: any client; a client is given `loci`, `env` and a project's folder, and starts `loci mcp` itself.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LOCI_ORT_LIB", "LOCI_LOG_LEVEL", "LD_LIBRARY_PATH")
"""What a private home takes over from the caller's environment: nothing that names memories, projects or accounts."""

PATIENCE_S = 5.0
"""How long a daemon that said goodbye may take to leave the process table."""


class LeftBehind(AssertionError):
    """A daemon outlived the home that it served."""


class Home:
    """A home in a temporary folder; as a context it stops its daemon at the end, and proves that it is gone."""

    def __init__(self, loci):
        """`loci`: path of the binary under test; `locid` is its neighbour."""
        self.loci = Path(loci).resolve()
        for binary in (self.loci, self.loci.with_name("locid")):
            if not os.access(binary, os.X_OK):
                sys.exit(f"Error: {binary} is no program\nHint: cargo build --release")
        self.root = Path(tempfile.mkdtemp(prefix="loci-")).resolve()
        home, runtime = self.root / "home", self.root / "run"
        for folder in (home, runtime):
            folder.mkdir(mode=0o700)
        self.env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self.env |= {"HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "LOCI_MODELS": str(model_cache())}
        self._daemons = set()

    def project(self, name):
        """A folder that stands for a project, and so has a group of its own."""
        folder = self.root / "projects" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def run(self, *arguments):
        """Runs `loci` with the arguments to its end."""
        command = [str(self.loci), *arguments]
        return subprocess.run(command, env=self.env, cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def status(self):
        """The daemon's own account of itself; none when no daemon runs."""
        done = self.run("ctl", "status", "--json")
        if done.returncode == 3:
            return None
        if done.returncode != 0:
            raise RuntimeError(f"loci ctl status ended with {done.returncode}: {done.stderr.strip()}")
        status = json.loads(done.stdout)
        self._daemons.add(status["pid"])
        return status

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            self.status()
            if kind is not None:
                print(self.run("ctl", "logs", "-n", "20").stdout, file=sys.stderr)
            stopped = self.run("ctl", "stop")
            if stopped.returncode != 0:
                raise LeftBehind(f"loci ctl stop ended with {stopped.returncode}: {stopped.stderr.strip()}")
            if self.status() is not None:
                raise LeftBehind("a daemon answers after loci ctl stop")
        finally:
            left = [pid for pid in self._daemons if not _gone(pid)]
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self.root, ignore_errors=True)
        if left:
            raise LeftBehind(f"locid outlived loci ctl stop: pid {left}")


def model_cache():
    """Where the caller keeps the model; it is shared, since it is not what is under test."""
    if chosen := os.environ.get("LOCI_MODELS"):
        return Path(chosen)
    return Path(os.environ.get("LOCI_HOME") or Path.home() / ".loci") / "models"


def _gone(pid):
    """True once no process runs under the id; one that has ended and waits to be reaped does not run."""
    end = time.monotonic() + PATIENCE_S
    while _runs(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _runs(pid):
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")
    except (ProcessLookupError, FileNotFoundError):
        return False
