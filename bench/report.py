"""Formats figures as Markdown, and replaces sections of docs/benchmarks.md."""

import re

HEAD = """\
# Benchmarks

Time, memory and quality of loci on a real machine, with the real model. Each section is written by the command that it names (`--write`), in
one run, and names its machine. The sections are independent: they may come from different runs.
"""


def table(columns, rows):
    """A Markdown table; the first column is text, the others are numbers."""
    cells = [columns, *[[_cell(value) for value in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    lines = ["| " + " | ".join(_pad(cell, width, i) for i, (cell, width) in enumerate(zip(row, widths))) + " |" for row in cells]
    rule = "|" + "|".join("-" * (width + 1) + ("-" if i == 0 else ":") for i, width in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _cell(value):
    return f"{value:.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value


def _pad(cell, width, column):
    return cell.ljust(width) if column == 0 else cell.rjust(width)


def speed(latencies):
    """Formats store and recall by store size."""
    rows = [[f"{f.verb}, {f.memories:,} memories", f.calls, f.p50, f.p99, f.cpu] for f in latencies]
    text = """\
Wall time of one call as an agent sees it, through `loci mcp` and back, calls in sequence. CPU is the daemon's user and system time per call
over the batch, including its work after the replies. A note is one sentence of about 20 words. "Store" at N memories measures the calls that
bring the store to N.
"""
    return f"## Store and recall\n\n{text}\n{table(['', 'calls', 'p50 ms', 'p99 ms', 'CPU ms'], rows)}\n"


def memory(footprints, memories):
    """Formats PSS by number of sessions."""
    rows = [[_sessions(f.sessions), f.daemon, f.shims, f.shims / f.sessions, f.daemon + f.shims] for f in footprints]
    text = f"Proportional set size in MiB with {memories} memories and the model loaded, after one recall in every session and 4 s without a call."
    if others := max(f.other_processes for f in footprints):
        text += f" {others} other loci processes ran at the same time and share pages, so these figures are too low."
    return f"## Memory\n\n{text}\n\n{table(['', 'daemon', 'all shims', 'one shim', 'total'], rows)}\n"


def _sessions(count):
    return "1 session" if count == 1 else f"{count} sessions"


def burst(figures, sessions, stores):
    """Formats the burst as one row."""
    row = [f"{sessions} sessions × {stores} stores", figures.acknowledged, figures.found, figures.errors, f"{figures.seconds:.2f}"]
    text = "Every session sends all of its stores without waiting for replies; then each text is searched by its own words."
    return f"## Concurrent stores\n\n{text}\n\n{table(['', 'acknowledged', 'found', 'errors', 'seconds'], [row])}\n"


def quality(recall, duplicates):
    """Formats recall quality and the duplicate gate."""
    measures = ("R@1", "R@5", "R@10", "nDCG@10", "MRR@10")
    rows = [[name, recall[name]["stored"], *[recall[name]["ALL"][m] for m in measures]] for name in recall]
    gate = f"Duplicates detected: {duplicates['duplicates']:.1f} %. Contradictions merged: {duplicates['contradictions']:.2f} %."
    text = """\
Public test sets, DEV halves, through the MCP tools; percent, over all questions except LoCoMo's adversarial ones. The sets and the scripts are
not part of this repository, since the licences of the sets do not allow it; the command finds both in a folder next to it.
"""
    return f"## Quality of answers\n\n{text}\n{table(['set', 'stored', *measures], rows)}\n\n{gate}\n"


def source(version, machine, command, day):
    """Formats the version, date, machine and command of a section."""
    return f"{version}, {day}, on {machine}:\n\n    {command}\n"


def write(path, name, text):
    """Replaces the section with this name in a page, or appends it."""
    page = path.read_text() if path.exists() else HEAD
    begin, end = f"<!-- begin of {name} -->", f"<!-- end of {name} -->"
    section = f"{begin}\n{text}{end}"
    existing = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    page = existing.sub(lambda _: section, page) if existing.search(page) else f"{page.rstrip()}\n\n{section}\n"
    path.parent.mkdir(exist_ok=True)
    path.write_text(page)
