#!/usr/bin/env python3
"""Packs a folder: tar.py FOLDER FILE.tar.gz

Sorted, owned by root, with the time 0: the same content gives the same bytes on every system, which tar of macOS cannot do.
"""

import gzip
import sys
import tarfile
from pathlib import Path


def plain(entry):
    """Leaves out what depends on the machine."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = "root"
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, output = Path(sys.argv[1]), Path(sys.argv[2])
    with output.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as compressed, tarfile.open(fileobj=compressed, mode="w") as archive:
        for path in [folder, *sorted(folder.rglob("*"))]:
            archive.add(path, str(path.relative_to(folder.parent)), recursive=False, filter=plain)


if __name__ == "__main__":
    main()
