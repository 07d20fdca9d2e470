#!/usr/bin/env python3
"""Checks what properties notice of mutants, program by program.

    cargo build --release -p sluice
    checks/mutants.py                    compare with the table of docs/fuzz-properties.md; exit code 1 if a share fell
    checks/mutants.py --update           write the table again
    checks/mutants.py --only letflow int these programs alone

Runs `sluice fuzz PROGRAM --cases 256 --seed 3 --compare 16 --mutants 100`. Two shares are held, and may be at most two points
below the table: what properties alone notice of the mutants that change a packet's bytes, port, fate or order, and what
properties or comparison with the original notice of all. Needs Python 3.8 or newer and nothing else. All programs take
less than fifteen minutes on two processors.
"""

import argparse
import datetime
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "fuzz-properties.md")
ROW = re.compile(r"^\| `([a-z0-9-]+)` \| (\d+) \| (\d+) \| (\d+) \| (\d+) % \| (\d+) \|$", re.MULTILINE)
DATE = re.compile(r"^Measured on \S+ .*$", re.MULTILINE)
SLACK = 2


def measured(binary, program):
    """(mutants, visible, visible noticed by properties, their percent, noticed by either, of all)"""
    command = [binary, "fuzz", program, "--cases", "256", "--seed", "3", "--compare", "16", "--mutants", "100", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["mutation"]
    except (ValueError, KeyError):
        sys.exit(f"{program}: exit code {done.returncode}\n{done.stderr}{done.stdout[:2000]}")
    if done.returncode != 0:
        sys.exit(f"{program}: a property failed without a mutation\n{done.stderr}")
    either = found["by_property"] + found["by_comparison"]
    return (
        found["mutants"],
        found["visible"],
        found["visible_by_property"],
        found["property_kill_rate_percent"],
        either,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "sluice"))
    parser.add_argument("--only", nargs="+", metavar="PROGRAM", help="these programs alone")
    parser.add_argument("--update", action="store_true", help="write the table again")
    args = parser.parse_args()
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    rows = list(ROW.finditer(text))
    unknown = set(args.only or []) - {row.group(1) for row in rows}
    if unknown:
        sys.exit(f"{', '.join(sorted(unknown))}: not in the table of {PAGE}")
    fallen = 0
    for row in rows:
        program = row.group(1)
        if args.only and program not in args.only:
            continue
        mutants, visible, noticed, share, either = measured(os.path.abspath(args.binary), program)
        floors = int(row.group(5)) - SLACK, 100 * int(row.group(6)) // int(row.group(2)) - SLACK
        low = share < floors[0] or 100 * either // mutants < floors[1]
        fallen += low
        print(
            f"{program}: properties notice {noticed} of {visible}, {share} % (at least {floors[0]}); with comparison {either} of "
            f"{mutants} (at least {floors[1]} %){': FALLEN' if low else ''}",
            flush=True,
        )
        new = f"| `{program}` | {mutants} | {visible} | {noticed} | {share} % | {either} |"
        text = text.replace(row.group(0), new) if args.update else text
    if args.update:
        today = datetime.date.today().isoformat()
        text = DATE.sub(f"Measured on {today} with one release build, by `checks/mutants.py`, which holds each share to within {SLACK} points.", text)
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
    sys.exit(1 if fallen and not args.update else 0)


if __name__ == "__main__":
    main()
