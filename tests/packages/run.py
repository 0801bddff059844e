#!/usr/bin/env python3
"""Tests the packages: installs each from a local file into a temporary home and uses it there.

    tests/packages/run.py [KIND...]      KINDS: archive script wheel uv pipx npm npx deb bundle workflow; all without a KIND
    tests/packages/run.py --prepare      installs maturin, uv and pipx, and tests nothing

Needs the built programs (cargo build --release) and pip, with which it installs maturin, uv and pipx under target/packages, once. Builds the
packages with packaging/build.sh. Every package must run `loci --version`, store and recall a memory over `loci mcp` without a model, know in
`loci update --check` how it was installed, and leave nothing but the memories after `loci uninstall`. What a missing tool leaves out is
written to the file LOCI_SKIPPED. The last line is `N passed, N failed`.
"""

import functools
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PLACE = ROOT / "target/packages"
DIST = PLACE / "dist"
TOOLS = PLACE / "tools"
PINS = ("maturin==1.16.0", "uv==0.13.9", "pipx==1.18.4", "pyyaml==6.0.4")
FACT = "The ferry to the island leaves at nine"


def run(*command, home=None, **options):
    """Runs a command to its end and returns its standard output; fails with its output if it fails."""
    options.setdefault("env", environment(home) if home else None)
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def environment(home):
    """The variables of a bare login: a home, a runtime folder, and the tools' folder on PATH."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "NPM_", "SSL_", "HTTP", "http", "NODE_"))}
    path = f"{home}/.local/bin:{TOOLS}/bin:{os.environ['PATH']}"
    return kept | {"HOME": str(home), "XDG_RUNTIME_DIR": f"{home}/run", "PATH": path, "LANG": "C.UTF-8", "LOCI_PERSON": "1"}


def new_home():
    """A temporary home in which loci downloads nothing."""
    home = Path(tempfile.mkdtemp(prefix="loci-packages-"))
    for folder in ("run", ".loci"):
        (home / folder).mkdir(mode=0o700)
    config = home / ".loci/config.toml"
    config.write_text("[embedding]\ndownload = false\n")
    config.chmod(0o600)
    return home


def session(loci, home, *calls):
    """Calls tools in one session of `loci mcp`; returns the structured contents of the replies."""
    lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "packages", "version": "1"}}}]
    lines.append({"jsonrpc": "2.0", "method": "notifications/initialized"})
    process = subprocess.Popen([str(loci), "mcp"], env=environment(home), cwd=home, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    replies = []
    for line in lines:
        process.stdin.write(json.dumps(line) + "\n")
    process.stdin.flush()
    reply_to(process, 0)
    for number, (tool, arguments) in enumerate(calls, 1):
        call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        process.stdin.write(json.dumps(call) + "\n")
        process.stdin.flush()
        replies.append(reply_to(process, number)["result"]["structuredContent"])
    process.stdin.close()
    process.wait()
    return replies


def reply_to(process, number):
    """Reads lines up to the reply with this id."""
    while line := process.stdout.readline():
        message = json.loads(line)
        if message.get("id") == number:
            return message
    raise AssertionError("loci mcp has ended")


def check(loci, home, installer):
    """Uses an installed loci, then uninstalls it except for its programs."""
    assert run(loci, "--version", home=home).strip() == f"loci {version()}"
    stored, found = session(loci, home, ("store_memory", {"content": FACT, "type": "semantic"}), ("recall_memory", {"query": "ferry island"}))
    assert stored["degraded"] == ["embedding"], stored
    assert found["results"][0]["content"] == FACT, found
    daemon = json.loads(run(loci, "ctl", "status", "--json", home=home))["pid"]
    # A daemon of another installation, found on PATH, must not take its place.
    served_by = os.path.realpath(f"/proc/{daemon}/exe")
    assert served_by == os.path.join(os.path.dirname(real_program(loci, home)), "locid"), served_by
    told = json.loads(run(loci, "update", "--check", "--json", home=home))
    assert told["installer"] == installer, told
    report = json.loads(run(loci, "uninstall", "--yes", "--json", home=home))
    assert subprocess.run([loci, "ctl", "status"], env=environment(home), capture_output=True, check=False).returncode == 3
    assert not (home / "run/loci").exists() and (home / ".loci/memory.db").exists(), report
    return told


def real_program(loci, home):
    """The file of the program itself, which a script of npm starts."""
    return json.loads(run(loci, "update", "--check", "--json", home=home))["program"]


@functools.cache
def version():
    return run(ROOT / "target/release/loci", "--version").split()[1]


def one(pattern):
    found = sorted(DIST.glob(pattern))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


def archive(home):
    run("tar", "-xzf", one("loci-[0-9]*.tar.gz"), "-C", home)
    check(next(home.glob("loci-*/loci")), home, "unknown")


def script(home):
    """install.sh from a folder and from a server; a wrong checksum; the printed command removes what it installed."""
    handler = functools.partial(QuietHandler, directory=DIST)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        text = run("sh", DIST / "install.sh", "--from", f"http://127.0.0.1:{server.server_port}", home=home)
        server.shutdown()
    assert "Next:" in text and "model download" in text, text
    told = check(home / ".local/bin/loci", home, "script")
    run("sh", "-c", told["remove"], home=home)
    assert not [path for path in (home / ".local").rglob("*") if path.is_file()]
    run("sh", DIST / "install.sh", "--from", DIST, "--prefix", home / "my programs", home=home)
    told = check(home / "my programs/bin/loci", home, "script")
    run("sh", "-c", told["update"], home=home)
    bad = home / "bad"
    bad.mkdir()
    name = one("loci-[0-9]*.tar.gz").name
    (bad / "SHA256SUMS").write_text(f"{hashlib.sha256(b'other').hexdigest()}  {name}\n")
    shutil.copy(DIST / name, bad)
    try:
        run("sh", DIST / "install.sh", "--from", bad, "--prefix", home / "third", home=home)
    except AssertionError as refused:
        assert "nothing was installed" in str(refused)
    else:
        raise AssertionError("a wrong checksum was accepted")
    assert not (home / "third").exists()
    for place in ("http://localhost.example", "http://127.0.0.1.example", "http://localhost:1@example", "http://example"):
        try:
            run("sh", DIST / "install.sh", "--from", place, "--prefix", home / "third", home=home)
        except AssertionError as refused:
            assert "must begin with https://" in str(refused), refused
        else:
            raise AssertionError(f"{place} was accepted")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without a log."""

    def log_message(self, *_):
        pass


def wheel(home):
    run(sys.executable, "-m", "venv", home / "venv")
    run(home / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-index", one("*.whl"), home=home)
    check(home / "venv/bin/loci", home, "pip")


def uv(home):
    run("uv", "tool", "install", "--offline", "--python", sys.executable, one("*.whl"), home=home)
    check(home / ".local/bin/loci", home, "uv-tool")
    run("uv", "tool", "uninstall", "loci-local", home=home)
    assert not (home / ".local/bin/loci").exists()


def pipx(home):
    run("pipx", "install", "--python", sys.executable, one("*.whl"), home=home)
    check(home / ".local/bin/loci", home, "pipx")


def npm_files():
    return one(f"loci-local-{version()}.tgz"), one(f"loci-local-*x64-{version()}.tgz")


def npm(home):
    npm_prefix = home / "global"
    run("npm", "install", "--global", "--offline", "--prefix", npm_prefix, *npm_files(), home=home)
    check(npm_prefix / "bin/loci", home, "npm")


def npx(home):
    app = home / "app"
    app.mkdir()
    run("npm", "install", "--offline", *npm_files(), home=home, cwd=app)
    assert run("npx", "--offline", "loci", "--version", home=home, cwd=app).strip() == f"loci {version()}"
    check(app / "node_modules/.bin/loci", home, "npm")


def deb(home):
    """Unpacked, not installed: that needs root. Checks what lintian would: owner, modes, pages, no file outside /usr."""
    package, tree = one("*.deb"), home / "tree"
    run("dpkg-deb", "--extract", package, tree)
    listed = run("dpkg-deb", "--contents", package).splitlines()
    assert all("root/root" in line and line.split()[-1].startswith(("./", "./usr/")) for line in listed), listed
    for path in tree.rglob("*"):
        assert path.is_relative_to(tree / "usr") or path == tree / "usr"
        assert path.stat().st_mode & 0o022 == 0, f"{path} can be written by others"
    described = run("dpkg-deb", "--info", package)
    assert "libc6 (>=" in described and "loci model download" in described, described
    for name in ("share/man/man1/loci.1.gz", "share/bash-completion/completions/loci", "share/doc/loci-local/copyright",
                 "lib/systemd/user/locid.socket"):
        assert (tree / "usr" / name).is_file(), name
    unit = (tree / "usr/lib/systemd/user/locid.service").read_text()
    assert "\nExecStart=/usr/bin/locid\n" in unit
    sums = run("dpkg-deb", "--ctrl-tarfile", package, errors="replace")
    assert sums
    check(tree / "usr/bin/loci", home, "unknown")


def bundle(home):
    run(sys.executable, "-m", "zipfile", "-e", one("*.mcpb"), home / "extension")
    manifest = json.loads((home / "extension/manifest.json").read_text())
    assert manifest["version"] == version() and len(manifest["tools"]) >= 8, manifest
    program = home / "extension/server/loci"
    # zipfile does not restore modes; Claude Desktop does.
    for name in ("loci", "locid"):
        program.with_name(name).chmod(0o755)
    check(program, home, "bundle")
    built = ROOT / "target/release/loci"
    # One daemon for the bundle and for the command line: the second session finds what the first has stored.
    session(program, home, ("store_memory", {"content": "Stored by the bundle", "type": "semantic"}))
    found = json.loads(run(built, "search", "bundle", "--json", home=home))
    assert "Stored by the bundle" in json.dumps(found), found
    run(built, "ctl", "stop", home=home)


def workflow(home):
    """Every script that the release workflow runs exists, and what completes a release works on these packages."""
    import yaml

    described = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    targets = {row["target"] for row in described["jobs"]["build"]["strategy"]["matrix"]["include"]}
    assert len(targets) == 5, targets
    commands = [step["run"] for job in described["jobs"].values() for step in job["steps"] if "run" in step]
    scripts = {word for text in commands for word in text.split() if word.startswith(("packaging/", ".ci/", "release/"))}
    assert {".ci/run", "packaging/build.sh", "packaging/release.sh"} <= scripts, scripts
    assert all(os.access(ROOT / name, os.X_OK) for name in scripts), scripts
    dist = home / "dist"
    shutil.copytree(DIST, dist)
    name = one("loci-[0-9]*.tar.gz").name
    target = name.removeprefix(f"loci-{version()}-").removesuffix(".tar.gz")
    for other in targets - {target}:
        shutil.copy(DIST / name, dist / name.replace(target, other))
    run(ROOT / "packaging/release.sh", dist, version(), "https://example.test/loci", f"file://{dist}")
    formula = (dist / "loci.rb").read_text()
    assert "@" not in formula.replace("loci@", "") and hashlib.sha256((dist / name).read_bytes()).hexdigest() in formula
    run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=dist)
    # The script of a release needs no argument.
    run("sh", dist / "install.sh", home=home)
    check(home / ".local/bin/loci", home, "script")


KINDS = {kind.__name__: kind for kind in (archive, script, wheel, uv, pipx, npm, npx, deb, bundle, workflow)}
TOOL = {"npm": "npm", "npx": "npm", "deb": "dpkg-deb"}


def install_tools():
    """Installs the tools, once."""
    pins = TOOLS / "installed.txt"
    if not pins.exists() or pins.read_text() != "\n".join(PINS):
        shutil.rmtree(TOOLS, ignore_errors=True)
        run(sys.executable, "-m", "venv", TOOLS)
        run(TOOLS / "bin/python", "-m", "pip", "install", "--quiet", *PINS)
        pins.write_text("\n".join(PINS))


def prepare():
    """Installs the tools and builds the packages."""
    install_tools()
    sys.path.extend(str(path) for path in TOOLS.glob("lib/python*/site-packages"))
    shutil.rmtree(DIST, ignore_errors=True)
    run(ROOT / "packaging/build.sh", DIST, env=os.environ | {"PATH": f"{TOOLS}/bin:{os.environ['PATH']}"}, cwd=ROOT)


def main():
    if sys.argv[1:] == ["--prepare"]:
        return install_tools()
    kinds = sys.argv[1:] or list(KINDS)
    if unknown := set(kinds) - set(KINDS):
        sys.exit(f"unknown: {unknown}\n{__doc__}")
    prepare()
    passed = failed = 0
    for kind in kinds:
        tool = TOOL.get(kind)
        if tool and not shutil.which(tool):
            print(f"skipped {kind}: {tool} is not installed")
            if os.environ.get("LOCI_SKIPPED"):
                with open(os.environ["LOCI_SKIPPED"], "a", encoding="utf-8") as skipped:
                    skipped.write(f"tests/packages/run.py {kind}: {tool} is not installed\n")
            continue
        home = new_home()
        try:
            KINDS[kind](home)
            passed += 1
            print(f"ok {kind}", flush=True)
        except Exception:
            failed += 1
            print(f"not ok {kind}\n{traceback.format_exc()}", flush=True)
            stop = ROOT / "target/release/loci"
            subprocess.run([stop, "ctl", "stop"], env=environment(home), check=False)
        finally:
            shutil.rmtree(home, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
