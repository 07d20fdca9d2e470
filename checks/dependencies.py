#!/usr/bin/env python3
"""Tests the dependencies in Cargo.lock against deny.toml, and that cargo compiles no library of this repository twice.

    checks/dependencies.py                    exit code 1 and a line for each finding
    checks/dependencies.py --twice            only the latter
    checks/dependencies.py --notices FILE     writes the notices of all crates in the binary instead
    checks/dependencies.py --sbom FILE        writes the list of these crates as CycloneDX 1.5 instead
    checks/dependencies.py --wheel ..         the same of the native module of the Python package

Notices are the licence files of the crates that are linked into `sluice`, from cargo's copy of the registry. The list of crates has
their versions, licences, SHA-256 and dependencies, and neither a time nor a path, so the same lock file gives the same list.

Needs Python 3.11 or newer, `--twice`, `--notices` and `--sbom` 3.9. Sources of dependencies are fetched if they are not there.
"""
import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLATFORM = "x86_64-unknown-linux-gnu"
# What archives are built with.
FEATURES = "parquet"
# The builds that .ci/run and users make. Those of .ci/run share what they compile, because their profile is the same.
BUILDS = [
    ["build"],
    ["build", "--release", "--package", "sluice"],
    ["build", "--release", "--package", "sluice", "--features", FEATURES],
    ["clippy", "--workspace", "--all-targets", "--profile", "test", "--features", "sluice/parquet"],
    ["test", "--workspace", "--no-run"],
]
OWN = {"MIT": "LICENSE-MIT", "Apache-2.0": "LICENSE-APACHE"}
LICENCE_FILE = re.compile(r"^(licen[cs]e|notice|copyright|unlicense)", re.I)


class Product:
    """What is linked into one file: its workspace, package, and the features with which it is built."""

    def __init__(self, title, folder, package, *features):
        self.title, self.folder = title, os.path.join(ROOT, folder)
        self.arguments = ["--package", package, "--edges", "normal,no-proc-macro", *features]
        self.package = package


BINARY = Product("The binary `sluice`", "", "sluice", "--features", FEATURES)
WHEEL = Product("The native module of the Python package", "python", "sluice-python")


def cargo(*arguments, folder=ROOT, **environment):
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | environment).stdout


def packages(platform, *arguments, folder=ROOT):
    """Packages that cargo compiles for a platform, by name and version."""
    tree = cargo("tree", *arguments, "--target", platform, "--prefix", "none", "--format", "{p}", folder=folder)
    names = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    known = json.loads(cargo("metadata", "--format-version", "1", "--all-features", folder=folder))["packages"]
    return sorted((p for p in known if (p["name"], f"v{p['version']}") in names), key=lambda p: (p["name"], p["version"]))


def offers(expression, allowed):
    """True if an SPDX expression can be met with the allowed licences."""
    words = re.findall(r"[()]|[^()\s/]+", expression.replace("/", " OR ")) + [""]

    def either():
        found = both()
        while words[0] == "OR":
            del words[0]
            found = both() or found
        return found

    def both():
        found = one()
        while words[0] == "AND":
            del words[0]
            found = one() and found
        return found

    def one():
        word = words.pop(0)
        if word == "(":
            found = either()
            del words[0]
            return found
        if words[0] == "WITH":
            del words[:2]
            return False
        return word in allowed

    return either()


def policy_findings():
    import tomllib

    with open(os.path.join(ROOT, "deny.toml"), "rb") as file:
        policy = tomllib.load(file)
    everything = ["--workspace", "--all-features", "--edges", "normal,build,dev"]
    versions = collections.defaultdict(set)
    for package in packages(PLATFORM, *everything):
        versions[package["name"]].add(package["version"])
        name = f"{package['name']} {package['version']}"
        expression = package["license"]
        if not expression or not offers(expression, policy["licenses"]["allow"]):
            yield f"{name}: no allowed licence in `{expression}`"
        source = package["source"]
        if source and source.removeprefix("registry+") not in policy["sources"]["allow-registry"]:
            yield f"{name}: from {source}"
        for dependency in package["dependencies"]:
            if not source and dependency["source"] and dependency["req"] == "*":
                yield f"{name}: any version of {dependency['name']}"
    skipped = {entry["crate"] for entry in policy["bans"]["skip"]}
    for name, found in sorted(versions.items()):
        listed = {v for v in found if any(f"{name}@{v}.".startswith(f"{entry}.") for entry in skipped)}
        if len(found - listed) > 1:
            yield f"{name}: versions {', '.join(sorted(found))}"
    for entry in sorted(skipped):
        name, version = entry.split("@")
        if len(versions[name]) < 2 or not any(f"{v}.".startswith(f"{version}.") for v in versions[name]):
            yield f"deny.toml skips {entry}, which is not a second version"


def twice():
    """Libraries of this repository that one build compiles with different settings or different dependencies."""
    for arguments in BUILDS:
        graph = cargo(*arguments, "--unit-graph", "-Z", "unstable-options", RUSTC_BOOTSTRAP="1")
        built = collections.Counter()
        for unit in json.loads(graph)["units"]:
            if unit["mode"] == "build" and unit["pkg_id"].startswith("path+") and unit["target"]["kind"] == ["lib"]:
                built[unit["target"]["name"]] += 1
        for name, count in sorted(built.items()):
            if count > 1:
                yield f"`cargo {' '.join(arguments)}` compiles {name} {count} times"


def licence_files(folder):
    """Texts of licence files in a folder and in those of vendored sources below it."""
    files = glob.glob(os.path.join(folder, "**", "*"), recursive=True)
    for path in sorted(files):
        inner = os.path.relpath(path, folder).split(os.sep)
        if LICENCE_FILE.match(inner[-1]) and os.path.isfile(path) and not {"assets", "tests"} & set(inner[:-1]):
            with open(path, encoding="utf-8") as text:
                yield text.read().replace("\r\n", "\n").strip("\n")


def notices(product=BINARY):
    """Text that names each crate in a product, its licence and where it is from, with the texts of all licences."""
    names, crates = collections.defaultdict(list), []
    for package in packages(PLATFORM, *product.arguments, folder=product.folder):
        if not package["source"]:
            continue
        name = f"{package['name']} {package['version']}"
        texts = list(licence_files(os.path.dirname(package["manifest_path"])))
        for text in texts:
            names[text].append(name)
        crates.append(f"{name}: {package['license']}\n    {package['repository'] or package['homepage'] or package['source']}")
        if not texts:
            # The archive has the texts of these two licences as its own.
            own = [file for licence, file in OWN.items() if offers(package["license"], [licence])]
            if not own:
                sys.exit(f"{name} has no licence file, and its licence is {package['license']}")
            crates[-1] += f"\n    Copyright {', '.join(package['authors']) or 'its authors'}; the licence has the text of {own[0]}"
    rule = "\n\n" + "-" * 80 + "\n"
    parts = [f"{product.title} has code of these crates. Their licences follow.\n\n" + "\n".join(crates)]
    for text, having in sorted(names.items(), key=lambda entry: (entry[1], entry[0])):
        parts.append(f"{', '.join(dict.fromkeys(having))}\n\n{text}")
    return rule.join(parts) + "\n"


def crate_url(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, sums):
    """A crate as CycloneDX has it."""
    url = crate_url(package)
    made = {"type": "library", "bom-ref": url, "name": package["name"], "version": package["version"], "purl": url}
    if package["license"]:
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if (package["name"], package["version"]) in sums:
        made["hashes"] = [{"alg": "SHA-256", "content": sums[package["name"], package["version"]]}]
    if package["repository"]:
        made["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return made


def checksums(folder):
    """SHA-256 of the crates of a lock file by name and version."""
    with open(os.path.join(folder, "Cargo.lock"), encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r'name = "([^"]+)"\nversion = "([^"]+)"\nsource = "[^"]+"\nchecksum = "([0-9a-f]{64})"', text)
    return {(name, version): digest for name, version, digest in found}


def sbom(product=BINARY):
    """List of the crates in a product as CycloneDX 1.5, JSON text."""
    crates = packages(PLATFORM, *product.arguments, folder=product.folder)
    sums, own = checksums(product.folder), {package["id"]: crate_url(package) for package in crates}
    graph = json.loads(cargo("metadata", "--format-version", "1", "--all-features", folder=product.folder))["resolve"]
    needs = {}
    for node in graph["nodes"]:
        normal = [d["pkg"] for d in node["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])]
        if node["id"] in own:
            needs[own[node["id"]]] = sorted({own[package] for package in normal if package in own})
    components = {package["name"]: component(package, sums) for package in crates if package["name"] == product.package}
    main = components[product.package] | {"type": "application" if product is BINARY else "library"}
    value = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": main},
        "components": [component(package, sums) for package in crates if package["name"] != product.package],
        "dependencies": [{"ref": ref, "dependsOn": needs[ref]} for ref in sorted(needs)],
    }
    return json.dumps(value, indent=1) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notices", metavar="FILE", help="write the notices")
    parser.add_argument("--sbom", metavar="FILE", help="write the list of crates as CycloneDX")
    parser.add_argument("--wheel", action="store_true", help="with --notices or --sbom: of the wheel's native module")
    parser.add_argument("--twice", action="store_true", help="test only that no library is compiled twice")
    args = parser.parse_args()
    product = WHEEL if args.wheel else BINARY
    for path, text in ((args.notices, notices), (args.sbom, sbom)):
        if path:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text(product))
    if args.notices or args.sbom:
        return
    findings = [*([] if args.twice else policy_findings()), *twice()]
    print("\n".join(findings) or "no finding")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
