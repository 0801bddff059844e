#!/usr/bin/env python3
"""Writes the npm packages: pack.py BINARIES FOLDER [PLATFORM]

FOLDER gets loci-local-VERSION.tgz, which starts the programs, and loci-local-PLATFORM-VERSION.tgz, which carries those of BINARIES.
PLATFORM is `linux-x64` by default, as `process.platform-process.arch` of Node writes it. Every package that a release has is an optional
dependency of the first one, and npm installs the one that fits.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLATFORMS = ("linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64")
LICENCE = "MIT OR Apache-2.0"


def version():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def described(name, text):
    """The keys that every package has."""
    return {"name": name, "version": version(), "description": text, "license": LICENCE}


def main_package(folder):
    """The package with the names of the commands."""
    text = "One lasting memory for all of your AI agents, on your own machine"
    package = described("loci-local", text) | {
        "keywords": ["memory", "mcp", "agents", "claude", "codex"],
        "bin": {"loci": "bin/loci.js", "locid": "bin/locid.js", "loci-local": "bin/loci.js"},
        "files": ["bin"],
        "engines": {"node": ">=18"},
        "optionalDependencies": {f"@loci-local/{platform}": version() for platform in PLATFORMS},
    }
    (folder / "bin").mkdir()
    for program in ("loci", "locid"):
        shutil.copy(HERE / "loci.js", folder / "bin" / f"{program}.js")
    shutil.copy(HERE / "README.md", folder)
    return package


def platform_package(folder, binaries, platform):
    """The package with the programs of one platform."""
    system, machine = platform.split("-")
    package = described(f"@loci-local/{platform}", f"The programs of loci-local for {platform}")
    package |= {"os": [system], "cpu": [machine], "files": ["bin"], "preferUnplugged": True}
    if system == "linux":
        package["libc"] = ["glibc"]
    (folder / "bin").mkdir()
    for program in ("loci", "locid"):
        name = f"{program}.exe" if system == "win32" else program
        shutil.copy(binaries / name, folder / "bin" / name)
        (folder / "bin" / name).chmod(0o755)
    return package


def pack(folder, package, output):
    """Adds the licences and packs the folder; prints the name of the file."""
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(ROOT / licence, folder)
    (folder / "package.json").write_text(json.dumps(package, indent=2) + "\n")
    command = ["npm", "pack", "--silent", "--pack-destination", output.resolve()]
    subprocess.run(command, cwd=folder, check=True)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    binaries, output = Path(sys.argv[1]), Path(sys.argv[2])
    platform = sys.argv[3] if len(sys.argv) == 4 else PLATFORMS[0]
    if platform not in PLATFORMS:
        sys.exit(f"pack.py: PLATFORM is one of {', '.join(PLATFORMS)}, not {platform}")
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pack(Path(folder), main_package(Path(folder)), output)
    with tempfile.TemporaryDirectory() as folder:
        pack(Path(folder), platform_package(Path(folder), binaries, platform), output)


if __name__ == "__main__":
    main()
