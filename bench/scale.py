#!/usr/bin/env python3
"""Finding by the size of the store, beside SQLite's own vector and keyword search, from the example `scale`.

    python3 bench/scale.py [--write] [1000 10000 100000]

Each size is a process of its own, so that its memory is told apart.
"""

import subprocess
import sys

import measure
import report

SIZES = ["1000", "10000", "100000"]
