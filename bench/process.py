"""Reads figures of processes and of the machine from /proc. Linux only."""

import os
import platform
import time
from pathlib import Path

TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
POLL_S = 0.5
QUIET_S = 4  # the daemon gives memory back after 3 s without a call
IDLE_WITHIN_S = 60


def cpu_ms(pid):
    """User and system time of all threads of a process since its start; resolution one clock tick."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_MS


def cpu_by_thread_ms(pid):
    """CPU time of the running threads by name; resolution one nanosecond."""
    times = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            name, cpu = (task / "comm").read_text().strip(), int((task / "schedstat").read_text().split()[0]) / 1e6
        except OSError:
            continue  # the thread has exited
        times[name] = times.get(name, 0) + cpu
    return times


def pss_mib(pid):
    """Proportional set size: private pages in full, shared pages divided by the number of processes that share them."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"/proc/{pid}/smaps_rollup has no Pss")


def wait_until_idle(pid, quiet_s=0.0):
    """Waits until the process has used no CPU time for a while, so that earlier work is not counted."""
    deadline, before, quiet_since = time.monotonic() + IDLE_WITHIN_S, cpu_ms(pid), time.monotonic()
    while time.monotonic() < deadline:
        time.sleep(POLL_S)
        now = cpu_ms(pid)
        if now - before > TICK_MS:
            quiet_since = time.monotonic()
        elif time.monotonic() - quiet_since >= quiet_s:
            return
        before = now
    raise TimeoutError(f"locid (pid {pid}) is not idle after {IDLE_WITHIN_S} s")


def other_loci_processes(measured):
    """Pids of loci processes other than the measured ones: they share pages with those and lower their PSS."""
    pids = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            program = (process / "exe").readlink().name
        except OSError:
            continue  # the process has exited, or belongs to another user
        if int(process.name) not in measured and program.split()[0] in ("loci", "locid"):
            pids.append(int(process.name))
    return pids


def machine():
    """CPU model, cores, memory and kernel in one line."""
    cpu = _value("/proc/cpuinfo", "model name") or platform.machine()
    memory = int(_value("/proc/meminfo", "MemTotal").split()[0]) / 1024 / 1024
    cores = len(os.sched_getaffinity(0))
    return f"{cpu}, {cores} cores, {memory:.1f} GiB memory, {platform.system()} {platform.release()}"


def _value(file, key):
    for line in Path(file).read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None
