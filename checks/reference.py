#!/usr/bin/env python3
"""Compares the network of emulated switches with the reference simulator, one difference at a time.

    cargo build --release -p sluice
    checks/reference.py                  the agreement alone: 10 seeds of half-load.toml, about six minutes
    checks/reference.py --differences    every difference switched back, about half an hour
    checks/reference.py --update         write the tables of docs/contest-reference.md (with or without --differences)
    checks/reference.py --only classes   only differences whose name contains `classes`

The reference is the ns-3 simulator of ConWeave's authors. `fabric/contests/reference/` has the flows that it ran, the time
that each flow took there, and contests that say its network as data. Slowdowns of both sides are over the simulator's
closed form: 2 x propagation + 80 ns for each link + the bytes with 48 bytes of headers for each packet at 100 Gb/s. A
seed draws the flows' UDP source ports, so each seed sends the same flows over other paths.

Exit code 1 if a bin does not agree. Needs Python 3.8 or newer and nothing else.
"""

import argparse
import concurrent.futures
import csv
import gzip
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from decimal import Decimal

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "fabric", "contests", "reference")
PAGE = os.path.join(ROOT, "docs", "contest-reference.md")
# Upper ends of the bins, bytes, and their names.
BINS = [1_000, 4_000, 10_000, 30_000, 104_000, 300_000, 1_000_000, 10**12]
WARM_UP_NS = 1_000_000
HOSTS_OF_A_LEAF = 16

# Each difference, with what it changes in half-load.toml: (pattern, replacement). `what` is a sentence for the page.
DIFFERENCES = {
    "latency": ("switches take time: the chip's own latencies, and cut-through at the parser", [(r'^chip = .*\n', "")]),
    "wire": (
        "frames have RoCEv2's headers, FCS, preamble and gap: 1082 bytes of line time for 1000 of payload, not 1037.5",
        [(r"^wire = .*\n", "")],
    ),
    "cables": ("cables of 100 m: 500 ns", [(r"delay=1us", "delay=500ns"), (r'^cable = "1us"', 'cable = "500ns"')]),
    "notification": ("notifications are packets of their own (CNPs)", [(r'^carrier = .*\n', "")]),
    "pfc-reaction": (
        "a PFC frame takes effect after the standard's bound of 2.0 us, not at once",
        [(r'^pfc_reaction = .*\n', "")],
    ),
    "buffer": ("the buffer of the shipped contests, 66 MiB", [(r'^buffer = .*', 'buffer = "../rdma-66mb.toml"')]),
    "ports": ("four UDP source ports for each pair of hosts", [(r'^time = ', 'ports = 4\ntime = ')]),
}


def reference():
    """Returns [(sender, receiver, bytes, start in ns, time in the simulator in ns)] in the order of the list."""
    with gzip.open(os.path.join(FOLDER, "flows.txt.gz"), "rt") as file:
        rows = file.read().split("\n")[1:]
    with gzip.open(os.path.join(FOLDER, "times.txt.gz"), "rt") as file:
        times = [int(line) for line in file]
    flows = []
    for row, took in zip(filter(None, rows), times):
        sender, receiver, _, size, start = row.split()
        flows.append((int(sender), int(receiver), int(size), int(Decimal(start) * 10**9), took))
    first = min(flow[3] for flow in flows)
    return [flow[:3] + (flow[3] - first, flow[4]) for flow in flows]


def alone(sender, receiver, size):
    """The simulator's closed form for the time of a lone flow, ns."""
    links = 2 if sender // HOSTS_OF_A_LEAF == receiver // HOSTS_OF_A_LEAF else 4
    return 2 * links * 1000 + links * 80 + (size + 48 * -(-size // 1000)) * 8 / 100


def slowdowns(rows):
    """[(bytes, slowdown)] of (sender, receiver, bytes, ns)."""
    return [(size, max(1.0, took / alone(a, b, size))) for a, b, size, took in rows]


def bin_of(size):
    return next(number for number, end in enumerate(BINS) if size <= end)


def quantile(ordered, share):
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]


def figures(values):
    """(messages, average, median, 99th percentile) of a list."""
    ordered = sorted(values)
    return len(ordered), sum(ordered) / len(ordered), quantile(ordered, 50), quantile(ordered, 99)


def binned(pairs):
    """Figures of each bin, and of all at the end."""
    bins = [[] for _ in BINS]
    for size, slowdown in pairs:
        bins[bin_of(size)].append(slowdown)
    return [figures(values) for values in bins + [[s for _, s in pairs]]]


def interval(values, share=99, draws=1000):
    """The 95 % bootstrap interval of a percentile."""
    draw = random.Random(1)
    ordered = sorted(values)
    count = len(ordered)
    found = []
    for _ in range(draws):
        ranks = sorted(int(draw.random() * count) for _ in range(count))
        found.append(ordered[ranks[max(0, -(-count * share // 100) - 1)]])
    found.sort()
    return found[draws * 25 // 1000], found[draws * 975 // 1000]


def run(binary, name, changes, seed):
    """Runs half-load.toml with changes. Returns (binned figures, marked packets, PFC frames)."""
    text = open(os.path.join(FOLDER, "half-load.toml"), encoding="utf-8").read()
    for pattern, replacement in changes + [(r"^seeds? = .*", f"seed = {seed}")]:
        text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
        if count == 0:
            sys.exit(f"{name}: half-load.toml has no line {pattern!r}")
    with tempfile.TemporaryDirectory() as folder:
        inner = os.path.join(folder, "reference")
        shutil.copytree(FOLDER, inner)
        for profile in ("rdma-66mb.toml", "rdma-9mb.toml"):
            shutil.copy(os.path.join(os.path.dirname(FOLDER), profile), folder)
        with open(os.path.join(inner, "run.toml"), "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([binary, "run", "run.toml", "-o", "out"], cwd=inner, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{name}, seed {seed}: exit code {done.returncode}\n{done.stderr}{done.stdout}")
        costs = re.search(r"MARKED.*PFC FRAMES.*\n +ecmp +(.*)", done.stdout).group(1).split()
        with open(os.path.join(inner, "out", "messages.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    numbers = {address: number for number, address in enumerate(sorted({row["from"] for row in rows}, key=key))}
    taken = [
        (numbers[r["from"]], numbers[r["to"]], int(r["bytes"]), (int(r["end_ps"]) - int(r["start_ps"])) / 1000) for r in rows
    ]
    return binned(slowdowns(taken)), int(costs[5]), int(costs[9])


def key(address):
    return [int(part) for part in address.split(".")]


def mean(runs):
    """Means over seeds of binned figures, with the spread of the averages (least, greatest)."""
    out = []
    for bins in zip(*runs):
        columns = list(zip(*bins))
        out.append(tuple(sum(column) / len(column) for column in columns))
    return out


def name_of(number):
    if number == len(BINS):
        return "all"
    low = BINS[number - 1] + 1 if number else 1
    return f"> {BINS[number - 1]:,}" if number == len(BINS) - 1 else f"{low:,} to {BINS[number]:,}"


def agreement(theirs, intervals, ours, runs):
    """Rows of the table, and True if every bin agrees."""
    rows, good = [], True
    for number, (they, we) in enumerate(zip(theirs, ours)):
        count, avg, p50, p99 = they
        spread = [run[number][1] for run in runs]
        low, high = intervals[number]
        tail = abs(we[3] / p99 - 1) <= 0.10 if count > 5000 else low <= we[3] <= high
        tests = [abs(we[1] / avg - 1) <= 0.10 or count <= 200, abs(we[2] / p50 - 1) <= 0.03, tail]
        failed = [what for what, holds in zip(("average", "median", "99 %"), tests) if not holds]
        good &= not failed or number == len(BINS)
        rows.append(
            f"| {name_of(number)} | {count:,} | {avg:.2f} | {we[1]:.2f} ({min(spread):.2f} to {max(spread):.2f}) | {p50:.3f} | "
            f"{we[2]:.3f} | {p99:.1f} ({low:.1f} to {high:.1f}) | {we[3]:.1f} | {', '.join(failed) or 'agrees'} |"
        )
    return rows, good


def update(marker, lines):
    """Replaces the lines between `<!-- marker -->` and `<!-- end -->` of the page."""
    text = open(PAGE, encoding="utf-8").read()
    start = text.index(f"<!-- {marker} -->") + len(f"<!-- {marker} -->")
    end = text.index("<!-- end -->", start)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text[:start] + "\n" + "\n".join(lines) + "\n" + text[end:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "sluice"))
    parser.add_argument("--seeds", type=int, default=10, help="seeds of the agreement (10)")
    parser.add_argument("--differences", action="store_true", help="switch every difference back, three seeds each")
    parser.add_argument("--only", default="", help="only differences whose name contains this")
    parser.add_argument("--update", action="store_true", help="write the tables of docs/contest-reference.md")
    args = parser.parse_args()
    flows = [flow for flow in reference() if flow[3] >= WARM_UP_NS]
    pairs = slowdowns([flow[:3] + flow[4:] for flow in flows])
    theirs = binned(pairs)
    groups = [[s for size, s in pairs if bin_of(size) == number] for number in range(len(BINS))] + [[s for _, s in pairs]]
    intervals = [interval(group) for group in groups]
    binary = os.path.abspath(args.binary)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(run, binary, "half-load", [], seed) for seed in range(1, args.seeds + 1)]
        done = [job.result() for job in jobs]
        runs = [bins for bins, _, _ in done]
        ours = mean(runs)
        rows, good = agreement(theirs, intervals, ours, runs)
        marked, pauses = ([one[n] for one in done] for n in (1, 2))
        head = [
            "| bytes | flows | average there | here (seeds) | median there | here | 99 % there (95 % interval) | here | |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        note = ["", f"Marked packets of a run: {min(marked):,} to {max(marked):,}. PFC frames: {min(pauses)} to {max(pauses)}."]
        print("\n".join(head + rows + note))
        if args.update:
            update("agreement", head + rows + note)
        if args.differences:
            chosen = {name: of for name, of in DIFFERENCES.items() if args.only in name}
            jobs = {
                name: [pool.submit(run, binary, name, changes, seed) for seed in (1, 2, 3)] for name, (_, changes) in chosen.items()
            }
            base = mean(runs[:3])[-1]
            table = [
                "| switched back | median | average | 99 % | marked |",
                "|---|---|---|---|---|",
                f"| none | {base[2]:.3f} | {base[1]:.2f} | {base[3]:.1f} | {sum(marked[:3]) // 3:,} |",
            ]
            for name, of in jobs.items():
                parts = [job.result() for job in of]
                all_flows = mean([bins for bins, _, _ in parts])[-1]
                count = sum(part[1] for part in parts) // 3
                table.append(
                    f"| {chosen[name][0]} | {all_flows[2]:.3f} ({all_flows[2] / base[2] - 1:+.1%}) | "
                    f"{all_flows[1]:.2f} ({all_flows[1] / base[1] - 1:+.1%}) | {all_flows[3]:.1f} "
                    f"({all_flows[3] / base[3] - 1:+.1%}) | {count:,} |"
                )
            print("\n" + "\n".join(table))
            if args.update:
                update("differences", table)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
