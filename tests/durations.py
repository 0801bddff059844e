#!/usr/bin/env python3
"""Records how long each Rust test takes.

    tests/durations.py cargo test …   runs the command and adds to target/test-durations.tsv: seconds, test binary, test
    tests/durations.py                prints the slowest tests of that file, and the total

Cargo starts each test binary through this script, as its "runner", with RUSTC_BOOTSTRAP=1: libtest of the stable toolchain then accepts
--report-time, which adds the duration to each line. The variable is not set while cargo compiles. A binary in which no test ends for five
minutes is killed, and the tests that it was running are named.
"""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "target" / "test-durations.tsv"
SLOWEST = 15
SILENCE_S = 300
"""Time after which a binary that prints nothing is killed."""
# Set for the runner: the file to which it appends.
VARIABLE = "TEST_DURATIONS"
LONG = re.compile(r"test (?P<name>\S+) has been running for over")
LINE = re.compile(r"test (?P<name>\S+)(?: - .*)? \.\.\. .*<(?P<seconds>[0-9.]+)s>$")


def run_command(command):
    """Runs cargo with this script as the runner of test binaries."""
    version = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    host = re.search(r"^host: (.*)$", version, re.MULTILINE).group(1)
    runner = f"CARGO_TARGET_{host.upper().replace('-', '_')}_RUNNER"
    RECORD.parent.mkdir(exist_ok=True)
    # Relative to the current folder: cargo splits the value at spaces.
    environment = {**os.environ, runner: os.path.relpath(__file__), VARIABLE: str(RECORD)}
    return subprocess.run(command, env=environment).returncode


def run_binary(record, binary, arguments):
    """Runs one test binary, passes its output on, and records the durations in it."""
    environment = dict(os.environ)
    if Path(binary).parent.name == "deps":
        arguments = [*arguments, "-Zunstable-options", "--report-time"]
        environment["RUSTC_BOOTSTRAP"] = "1"
    name = re.sub(r"-[0-9a-f]{16}$", "", Path(binary).name)
    with subprocess.Popen([binary, *arguments], env=environment, stdout=subprocess.PIPE) as process, open(record, "a") as file:
        running = set()
        timer = watch(process, running)
        for line in process.stdout:
            timer.cancel()
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            text = line.decode(errors="replace").rstrip()
            if found := LONG.match(text):
                running.add(found["name"])
            if found := LINE.match(text):
                running.discard(found["name"])
                file.write(f"{found['seconds']}\t{name}\t{found['name']}\n")
            timer = watch(process, running)
        timer.cancel()
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def watch(process, running):
    """Starts a timer that kills a process and names its long tests."""

    def give_up():
        names = ", ".join(sorted(running)) or "a test"
        print(f"FAILED: nothing was printed for {SILENCE_S} s; still running: {names}", flush=True)
        process.kill()

    timer = threading.Timer(SILENCE_S, give_up)
    timer.daemon = True
    timer.start()
    return timer


def print_summary():
    """Prints the slowest tests and the total."""
    if not RECORD.exists():
        return
    rows = [line.split("\t") for line in RECORD.read_text().splitlines()]
    rows.sort(key=lambda row: -float(row[0]))
    print(f"\nThe {min(SLOWEST, len(rows))} slowest of {len(rows)} tests (all: {RECORD.relative_to(ROOT)}):")
    for seconds, binary, test in rows[:SLOWEST]:
        print(f"{float(seconds):8.1f} s  {binary} {test}")
    print(f"{sum(float(row[0]) for row in rows):8.1f} s  all tests, one after another")


def main():
    record, arguments = os.environ.get(VARIABLE), sys.argv[1:]
    if record:
        return run_binary(record, arguments[0], arguments[1:])
    if arguments:
        return run_command(arguments)
    print_summary()
    return 0


if __name__ == "__main__":
    sys.exit(main())
