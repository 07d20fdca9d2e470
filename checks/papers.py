#!/usr/bin/env python3
"""Runs all experiments of papers at scale quick and compares docs/papers.md with what they print; times of runs are left open.

The experiments of STRICT must have no errors, nothing that disagrees or is undecided without a known cause, and no cause of what
agrees. `cargo test` says the same of those that are marked `brief`; these take too long without optimisation.

--strict runs those of STRICT alone, which .ci/slow does: all of them take three quarters of an hour on two processors, and are run by
hand. --update writes the page. --output keeps the runs in a folder, so that an interrupted check goes on.
"""
import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "papers.md")
STRICT = ["pfc/alpha", "pfc/deadlock", "pfc/livelock", "pfc/slow-receiver"]
# `less than 1 s`, `12 s`, `3 min`, where a time stands: at the end of a row or of the line with the command.
TIME = re.compile(r"(\| |`, )(less than 1 s|\d+ s|\d+ min)( \||\.)$", re.M)


def strict(results):
    """Findings in the experiments of STRICT."""
    done = {experiment["id"]: experiment for experiment in results["experiments"]}
    for name in STRICT:
        if name not in done:
            yield f"{name}: is no experiment"
            continue
        yield from (f"{name}: {error}" for error in done[name]["errors"])
        for found in done[name]["rows"] + done[name]["claims"]:
            if found["verdict"] in ("disagrees", "undecided") and not found["because"]:
                yield f"{name}: `{found['what']}`: {found['verdict']}, and no cause is known"
            if found["verdict"] == "agrees" and found["because"]:
                yield f"{name}: `{found['what']}` agrees, so its `because` is stale"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "sluice"))
    parser.add_argument("--update", action="store_true", help="write the page")
    parser.add_argument("--strict", action="store_true", help="only the experiments of STRICT, without the page")
    parser.add_argument("--output", help="folder that keeps the runs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.abspath(args.output or folder)
        command = [args.binary, "reproduce", *(STRICT if args.strict else ["all"]), "--markdown", "-o", output]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        # 1: something disagrees or is undecided without a known cause, which the page says.
        if run.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)} ended with {run.returncode}")
        with open(os.path.join(output, "reproduce.json")) as results:
            findings = list(strict(json.load(results)))
    if args.strict:
        print("\n".join(findings) or f"{', '.join(STRICT)}: nothing disagrees or is undecided without a known cause")
        sys.exit(1 if findings else 0)
    if args.update:
        with open(PAGE, "w") as page:
            page.write(run.stdout)
        return
    with open(PAGE) as page:
        known, found = (TIME.sub(r"\1..\3", text).splitlines() for text in (page.read(), run.stdout))
    changed = list(difflib.unified_diff(known, found, "docs/papers.md", "sluice reproduce all", lineterm="", n=0))
    print("\n".join(findings + changed) or "docs/papers.md is what the experiments print")
    sys.exit(1 if findings or changed else 0)


if __name__ == "__main__":
    main()
