#!/usr/bin/env python3
"""Writes the bundle for Claude Desktop and Cowork: pack.py BINARIES FILE [PLATFORM]

FILE is a .mcpb: a zip with manifest.json and both programs. The tools in its manifest are those that `loci mcp` lists. The programs find
the daemon of the command line, because its socket depends on the user alone; so there is one memory. PLATFORM is linux, darwin or win32.
"""

import json
import os
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The same bytes from the same programs: the oldest time that a zip can have.
TIME = (1980, 1, 1, 0, 0, 0)


def version():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def tools(loci):
    """Names and first sentences of the tools, from the program itself, which answers this without a daemon."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o700)
        surroundings = {"HOME": home, "XDG_RUNTIME_DIR": home, "PATH": ""}
        hold = Path(home, ".loci/hold")
        hold.parent.mkdir(mode=0o700)
        hold.touch()
        reply = subprocess.run(
            [loci, "mcp"], input=json.dumps(request) + "\n", env=surroundings, text=True, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ).stdout
    listed = json.loads(reply.splitlines()[0])["result"]["tools"]
    return [{"name": tool["name"], "description": tool["description"].split(". ")[0].rstrip(".")} for tool in listed]


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    binaries, bundle = Path(sys.argv[1]), Path(sys.argv[2])
    platform = sys.argv[3] if len(sys.argv) == 4 else "linux"
    ending = ".exe" if platform == "win32" else ""
    manifest = json.loads((HERE / "manifest.json").read_text())
    manifest["version"] = version()
    manifest["compatibility"]["platforms"] = [platform]
    manifest["tools"] = tools((binaries / f"loci{ending}").resolve())
    files = [("manifest.json", json.dumps(manifest, indent=2).encode() + b"\n", 0o644)]
    for program in ("loci", "locid"):
        files.append((f"server/{program}{ending}", (binaries / f"{program}{ending}").read_bytes(), 0o755))
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        files.append((licence, (ROOT / licence).read_bytes(), 0o644))
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in files:
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


if __name__ == "__main__":
    main()
