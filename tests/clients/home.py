"""A temporary home folder with its own daemon, for one test; removes both at the end.

Not here: the clients. A client gets `loci`, `env` and a project folder, and starts `loci mcp` itself.
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

INHERITED_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LOCI_ORT_LIB", "LOCI_LOG_LEVEL", "LD_LIBRARY_PATH")
"""Environment variables that a temporary home inherits: none that names memories, projects or accounts."""

EXIT_WITHIN_S = 5.0
"""Maximum time from `loci ctl stop` until the daemon's process ends, in seconds."""


class DaemonLeftRunning(AssertionError):
    """A daemon still runs after its home was closed."""


class Home:
    """A home in a temporary folder. As a context manager it stops its daemon at the end and checks that it has exited."""

    def __init__(self, loci):
        """`loci`: path of the binary under test; `locid` must be in the same folder."""
        self.loci = Path(loci).resolve()
        for binary in (self.loci, self.loci.with_name("locid")):
            if not os.access(binary, os.X_OK):
                sys.exit(f"Error: {binary} is not an executable file\nHint: cargo build --release")
        self.root = Path(tempfile.mkdtemp(prefix="loci-")).resolve()
        home, runtime = self.root / "home", self.root / "run"
        for folder in (home, runtime):
            folder.mkdir(mode=0o700)
        self.env = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
        self.env |= {"HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "LOCI_MODELS": str(models_folder()), "LOCI_PERSON": "1"}
        self._daemons = set()

    def project(self, name):
        """Creates and returns the folder of a project, which is a group of its own."""
        folder = self.root / "projects" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def run(self, *arguments):
        """Runs `loci` with the arguments and waits for it."""
        command = [str(self.loci), *arguments]
        return subprocess.run(command, env=self.env, cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def status(self):
        """Returns the status that the daemon reports; None if no daemon runs."""
        result = self.run("ctl", "status", "--json")
        if result.returncode == 3:
            return None
        if result.returncode != 0:
            raise RuntimeError(f"loci ctl status exited with {result.returncode}: {result.stderr.strip()}")
        status = json.loads(result.stdout)
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
                raise DaemonLeftRunning(f"loci ctl stop exited with {stopped.returncode}: {stopped.stderr.strip()}")
            if self.status() is not None:
                raise DaemonLeftRunning("a daemon answers after loci ctl stop")
        finally:
            running = [pid for pid in self._daemons if not _has_exited(pid)]
            for pid in running:
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self.root, ignore_errors=True)
        if running:
            raise DaemonLeftRunning(f"locid still runs after loci ctl stop: pid {running}")


def models_folder():
    """Returns the models folder of the caller, which all tests share."""
    if chosen := os.environ.get("LOCI_MODELS"):
        return Path(chosen)
    return Path(os.environ.get("LOCI_HOME") or Path.home() / ".loci") / "models"


def _has_exited(pid):
    """Waits until the process has ended; returns False on a timeout. A zombie without further threads counts as ended."""
    end = time.monotonic() + EXIT_WITHIN_S
    while _is_running(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _is_running(pid):
    try:
        os.kill(pid, 0)
        process = Path(f"/proc/{pid}")
        if not process.exists():
            return True
        is_zombie = (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        return not is_zombie or len(list((process / "task").iterdir())) > 1
    except (ProcessLookupError, FileNotFoundError):
        return False
