"""Reads processes and the machine from /proc. Linux only."""

import os
import platform
import time
from pathlib import Path

TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
POLL_S = 0.5
IDLE_WITHIN_S = 60


def cpu_ms(pid):
    """CPU time of the process since its start, user and system, all threads; resolution one clock tick."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_MS


def cpu_by_thread_ms(pid):
    """CPU time of the live threads by name, resolution one nanosecond."""
    times = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            name, spent = (task / "comm").read_text().strip(), int((task / "schedstat").read_text().split()[0]) / 1e6
        except OSError:
            continue  # it has exited
        times[name] = times.get(name, 0) + spent
    return times


def pss_mib(pid):
    """Proportional set size: private pages in full, shared pages divided by the number of processes that share them."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"/proc/{pid}/smaps_rollup has no Pss")


def wait_until_idle(pid):
    """Waits until the process uses no CPU, so that earlier work is not measured with the next work."""
    deadline, before = time.monotonic() + IDLE_WITHIN_S, cpu_ms(pid)
    while time.monotonic() < deadline:
        time.sleep(POLL_S)
        now = cpu_ms(pid)
        if now - before <= TICK_MS:
            return
        before = now
    raise TimeoutError(f"locid (pid {pid}) is not idle after {IDLE_WITHIN_S} s")


def other_loci_processes(own):
    """Pids of other loci processes: they share pages with the measured ones and lower their PSS."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            program = (process / "exe").readlink().name
        except OSError:
            continue  # it has exited, or belongs to another user
        if int(process.name) not in own and program.split()[0] in ("loci", "locid"):
            found.append(int(process.name))
    return found


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
