#!/usr/bin/env python3
"""Tests the dependencies in Cargo.lock against deny.toml, and that cargo compiles no library of this repository twice.

    checks/dependencies.py                    exit code 1 and a line for each finding
    checks/dependencies.py --twice            only the latter
    checks/dependencies.py --notices FILE     writes the notices of all crates in the binary instead

Notices are the licence files of the crates that are linked into `sluice`, from cargo's copy of the registry.

Needs Python 3.11 or newer, `--twice` and `--notices` 3.9. Sources of dependencies are fetched if they are not there.
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


def cargo(*arguments, **environment):
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | environment).stdout


def packages(platform, *arguments):
    """Packages that cargo compiles for a platform, by name and version."""
    tree = cargo("tree", *arguments, "--target", platform, "--prefix", "none", "--format", "{p}")
    names = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    known = json.loads(cargo("metadata", "--format-version", "1", "--all-features"))["packages"]
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


def notices():
    """Text that names each crate in the binary, its licence and where it is from, with the texts of all licences."""
    names, crates = collections.defaultdict(list), []
    for package in packages(PLATFORM, "--package", "sluice", "--edges", "normal,no-proc-macro", "--features", FEATURES):
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
    parts = ["The binary `sluice` has code of these crates. Their licences follow.\n\n" + "\n".join(crates)]
    for text, having in sorted(names.items(), key=lambda entry: (entry[1], entry[0])):
        parts.append(f"{', '.join(dict.fromkeys(having))}\n\n{text}")
    return rule.join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notices", metavar="FILE", help="write the notices")
    parser.add_argument("--twice", action="store_true", help="test only that no library is compiled twice")
    args = parser.parse_args()
    if args.notices:
        with open(args.notices, "w", encoding="utf-8") as out:
            out.write(notices())
        return
    findings = [*([] if args.twice else policy_findings()), *twice()]
    print("\n".join(findings) or "no finding")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
