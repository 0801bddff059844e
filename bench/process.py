"""What the kernel tells about processes and the machine, from /proc. Linux only."""

import os
import platform
import time
from pathlib import Path

TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
QUIET_S = 0.5
QUIET_WITHIN_S = 60


def cpu_ms(pid):
    """CPU time of the process since it began, user and system, all threads; in steps of one clock tick."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_MS


def cpu_by_thread_ms(pid):
    """CPU time of the threads that live, by their names, to the nanosecond."""
    times = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            name, spent = (task / "comm").read_text().strip(), int((task / "schedstat").read_text().split()[0]) / 1e6
        except OSError:
            continue  # it has ended meanwhile
        times[name] = times.get(name, 0) + spent
    return times


def pss_mib(pid):
    """Proportional set size: private pages whole, shared ones divided by the processes that share them."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"/proc/{pid}/smaps_rollup has no Pss")


def settle(pid):
    """Waits until the process rests, so that what came before is not measured with what comes next."""
    deadline, before = time.monotonic() + QUIET_WITHIN_S, cpu_ms(pid)
    while time.monotonic() < deadline:
        time.sleep(QUIET_S)
        now = cpu_ms(pid)
        if now - before <= TICK_MS:
            return
        before = now
    raise TimeoutError(f"locid (pid {pid}) does not come to rest within {QUIET_WITHIN_S} s")


def strangers(own):
    """Other processes of loci: they share pages with ours, and so flatter PSS."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            program = (process / "exe").readlink().name
        except OSError:
            continue  # it has ended, or is not ours to look at
        if int(process.name) not in own and program.split()[0] in ("loci", "locid"):
            found.append(int(process.name))
    return found


def machine():
    """CPU model, cores, memory, kernel, in one line."""
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
