"""Test: `loci setup codex` with the real Codex, offline.

    python3 setup_codex.py LOCI CODEX

`codex mcp list` shows what it shows after `codex mcp add`; Codex knows every hook and trusts none of them unasked, which `loci doctor`
says; `--remove` leaves the files as before.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from home import Home

CONFIG = '# mine\nmodel = "gpt-5" # kept\n\n[mcp_servers.docs]\ncommand = "docs"\n'
TIMEOUT_S = 60


def codex_run(home, codex, *arguments):
    """Runs Codex; fails if it does."""
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": TIMEOUT_S}
    run = subprocess.run([codex, *arguments], env=home.env, cwd=home.project("shop"), **options)
    assert run.returncode == 0, f"codex {arguments} exited with {run.returncode}: {run.stdout}{run.stderr}"
    return run.stdout


def setup(home, *arguments):
    """Runs `loci setup codex`; fails if it does."""
    run = home.run("setup", "codex", "--yes", *arguments)
    assert run.returncode == 0, f"loci setup exited with {run.returncode}: {run.stdout}{run.stderr}"


def folder_of(home):
    """Creates the folder of Codex with a configuration."""
    folder = Path(home.env["HOME"]) / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(CONFIG)
    return folder


def main(loci, codex):
    """Compares with `codex mcp add`, then checks the hooks."""
    with Home(loci) as home:
        folder_of(home)
        codex_run(home, codex, "mcp", "add", "loci", "--", str(home.loci), "mcp")
        added = json.loads(codex_run(home, codex, "mcp", "list", "--json"))

    with Home(loci) as home:
        home.env["PATH"] = f"{Path(codex).parent}{os.pathsep}{home.env['PATH']}"
        folder = folder_of(home)
        setup(home)
        written = json.loads(codex_run(home, codex, "mcp", "list", "--json"))
        # The home of a test is moved by variables, which Codex gives to a server only if it is told to.
        passed = [server["transport"].pop("env_vars") for server in written]
        assert ["LOCI_MODELS", "XDG_RUNTIME_DIR"] in passed, passed
        for server in added:
            server["transport"].pop("env_vars", None)
        assert written == added, f"after setup Codex lists {written}, after its own command {added}"
        # Codex is asked for its hooks only if it was used before.
        (folder / "installation_id").write_text("00000000-0000-4000-8000-000000000000")
        findings = json.loads(home.run("doctor", "--json").stdout)["findings"]
        found = [finding["found"] for finding in findings if finding["part"] == "codex"]
        hooks = len(json.loads((folder / "hooks.json").read_text())["hooks"])
        assert found == [f"Codex runs 0 of {hooks} hooks of loci"], f"doctor says {found}"
        assert "trusted_hash" not in (folder / "config.toml").read_text(), "setup approved a hook"
        setup(home, "--remove")
        assert (folder / "config.toml").read_text() == CONFIG
        assert not (folder / "hooks.json").exists()


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()))
