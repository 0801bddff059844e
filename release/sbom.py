#!/usr/bin/env python3
"""Writes the bill of materials of loci, as CycloneDX JSON, from Cargo.lock.

    release/sbom.py               prints it
    release/sbom.py FILE          writes it to FILE

Every package of Cargo.lock is a component: name, version, checksum of its archive, and what it depends on. `cargo metadata` adds the
licences of those packages that are part of the build for this machine. The output depends on Cargo.lock and the target alone, so that two
builds of one commit have the same. Not in it: the model and ONNX Runtime, which are not part of a release (`loci model status --json`
lists their files and checksums), and the C code inside packages (SQLite in libsqlite3-sys, sqlite-vec).
"""

import json
import re
import subprocess
import sys
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEMBERS = ("loci", "locid")
"""The packages whose binaries are released."""


def reference(name, version):
    """The package URL, which is also the component's reference inside the document."""
    return f"pkg:cargo/{name}@{version}"


def licences():
    """The licence expressions of the packages that are built for this machine, by name and version."""
    host = next(line.split()[1] for line in _run("rustc", "-vV").splitlines() if line.startswith("host:"))
    metadata = json.loads(_run("cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host))
    packages = metadata["packages"]
    # Older packages write "MIT/Apache-2.0".
    return {(p["name"], p["version"]): p["license"].replace("/", " OR ") for p in packages if p["license"]}


def _run(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def locked_packages(lock):
    """The packages of Cargo.lock, each as a dictionary. Only the forms that cargo writes are parsed."""
    packages = []
    for block in lock.split("[[package]]")[1:]:
        package = {key: value for key, value in re.findall(r'^(\w+) = "(.*)"$', block, re.MULTILINE)}
        package["dependencies"] = re.findall(r'^ "(.*)",$', block, re.MULTILINE)
        packages.append(package)
    return packages


def component(package, expressions):
    """One package as a component."""
    name, version = package["name"], package["version"]
    described = {"type": "library", "bom-ref": reference(name, version), "name": name, "version": version}
    if "source" in package:
        described["purl"] = reference(name, version)
    if "checksum" in package:
        described["hashes"] = [{"alg": "SHA-256", "content": package["checksum"]}]
    if (name, version) in expressions:
        described["licenses"] = [{"expression": expressions[name, version]}]
    if name in MEMBERS:
        described["type"] = "application"
    return described


def dependencies(packages):
    """What each package depends on."""
    versions = {}
    for package in packages:
        versions.setdefault(package["name"], []).append(package["version"])

    def target(entry):
        # `name`, or `name version` where several versions are locked.
        name, _, version = entry.partition(" ")
        return reference(name, version.split(" ")[0] or versions[name][0])

    return [
        {"ref": reference(p["name"], p["version"]), "dependsOn": sorted(target(entry) for entry in p["dependencies"])}
        for p in packages
    ]


def document():
    """The whole bill of materials."""
    lock = (ROOT / "Cargo.lock").read_text()
    packages = locked_packages(lock)
    version = next(package["version"] for package in packages if package["name"] == MEMBERS[0])
    expressions = licences()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, lock)}",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": f"loci@{version}", "name": "loci", "version": version}},
        "components": [component(package, expressions) for package in packages],
        "dependencies": dependencies(packages),
    }


def main():
    text = json.dumps(document(), indent=1) + "\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
