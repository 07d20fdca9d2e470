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
import json
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
# Notifications that the simulator's hosts received in the whole run, and pauses of its ports.
NOTIFIED = 204_035
PAUSES = 267

# Each difference, with what it changes in half-load.toml: (pattern, replacement). `what` is a sentence for the page.
DIFFERENCES = {
    "latency": ("switches take time: the chip's own latencies, and cut-through at the parser", [(r'^chip = .*\n', "")]),
    "wire": (
        "frames have RoCEv2's headers, FCS, preamble and gap: 1082 bytes of line time for 1000 of payload, not 1037.5",
        [(r"^wire = .*\n", "")],
    ),
    "cables": ("cables of 100 m: 500 ns", [(r"delay=1us", "delay=500ns"), (r'^cable = "1us"', 'cable = "500ns"')]),
    "notification": ("notifications are packets of their own (CNPs)", [(r'^carrier = .*\n', "")]),
    "repaces": ("a rate cut delays the packet that waits for its time", [(r"^repaces = .*\n", "")]),
    "pfc-reaction": (
        "a PFC frame takes effect after the standard's bound of 2.0 us, not at once",
        [(r'^pfc_reaction = .*\n', "")],
    ),
    "buffer": ("the buffer of the shipped contests, 66 MiB", [(r'^buffer = .*', 'buffer = "../rdma-66mb.toml"')]),
    "ports": ("four UDP source ports for each pair of hosts", [(r'^ports = .*', 'ports = 4')]),
}


def reference():
    """Returns [(sender, receiver, bytes, start in ns, time in the simulator in ns)] in the order of the list."""
    with gzip.open(os.path.join(FOLDER, "flows.txt.gz"), "rt") as file:
        rows = file.read().split("\n")[1:]
    with gzip.open(os.path.join(FOLDER, "times.txt.gz"), "rt") as file:
        times = [int(line) for line in file]
    flows = []
    for row, took in zip(filter(None, rows), times):
        sender, receiver, _, size, start, _ = row.split()
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


def run(binary, name, contest="half-load.toml", changes=(), seed=1):
    """Runs a contest of the folder with changes. Returns, by program: rows of messages.csv with the numbers of the hosts,
    the round trip of a lone packet in ns, marked packets, PFC frames."""
    text = open(os.path.join(FOLDER, contest), encoding="utf-8").read()
    for pattern, replacement in [*changes, (r"^seeds? = .*", f"seeds = [{seed}]")]:
        text, count = re.subn(pattern, replacement, text, flags=re.MULTILINE)
        if count == 0:
            sys.exit(f"{name}: {contest} has no line {pattern!r}")
    with tempfile.TemporaryDirectory() as folder:
        inner = os.path.join(folder, "reference")
        shutil.copytree(FOLDER, inner)
        for profile in ("rdma-66mb.toml", "rdma-9mb.toml"):
            shutil.copy(os.path.join(os.path.dirname(FOLDER), profile), folder)
        with open(os.path.join(inner, "run.toml"), "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([binary, "run", "run.toml", "-o", "out"], cwd=inner, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"{name}, seed {seed}: exit code {done.returncode}\n{done.stderr}{done.stdout}")
        with open(os.path.join(inner, "out", "contest.json"), encoding="utf-8") as file:
            programs = json.load(file)["contests"][0]["programs"]
        with open(os.path.join(inner, "out", "messages.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    numbers = {address: number for number, address in enumerate(sorted({row["from"] for row in rows}, key=key))}
    found = {}
    for program in programs:
        own = [row for row in rows if row["program"] == program["label"]]
        for row in own:
            row["way"] = numbers[row["from"]], numbers[row["to"]]
            row["ns"] = (int(row["end_ps"]) - int(row["start_ps"])) / 1000
        numbers_of_it = {name: figure["seeds"][0] for name, figure in program["numbers"].items()}
        found[program["label"]] = own, numbers_of_it
    return found


def compared(rows):
    """[(bytes, slowdown over the simulator's closed form)] of rows."""
    return slowdowns([(*row["way"], int(row["bytes"]), row["ns"]) for row in rows])


def own_figures(rows):
    """Figures of the slowdowns over the program's own time alone."""
    return figures([int(row["slowdown_thousandths"]) / 1000 for row in rows])


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


HEAD = [
    "| bytes | flows | average there | here (seeds) | median there | here | 99 % there (95 % interval) | here | |",
    "|---|---|---|---|---|---|---|---|---|",
]


def same_paths(binary, pool, flows, theirs, intervals):
    """Lines about five runs on the simulator's own paths, which differ in the random numbers of marking."""
    jobs = [pool.submit(run, binary, "same paths", "same-paths.toml", (), seed) for seed in range(1, 6)]
    runs = [job.result()["paths"] for job in jobs]
    bins = [binned(compared(rows)) for rows, _ in runs]
    lines, good = agreement(theirs, intervals, mean(bins), bins)
    there = {flow[:4]: flow[4] for flow in flows}
    ratios = []
    for row in runs[0][0]:
        took = there.get((*row["way"], int(row["bytes"]), int(row["start_ps"]) // 1000))
        if took is not None:
            ratios.append(row["ns"] / took)
    ratios.sort()
    near = sum(1 for ratio in ratios if 0.95 <= ratio <= 1.05) / len(ratios)
    marked, pauses = (sum(numbers[name] for _, numbers in runs) // len(runs) for name in ("marked", "pauses"))
    note = (
        f"Of {len(ratios):,} flows of the first run, {near:.0%} take the simulator's time to within 5 %, and half are between "
        f"{quantile(ratios, 25):.3f} and {quantile(ratios, 75):.3f} times it. Marked packets: {marked:,}; there hosts were "
        f"notified {NOTIFIED:,} times. Pauses, with two frames each: {pauses // 2}; there {PAUSES}."
    )
    return HEAD + lines + ["", note], good


def agreement_of_seeds(binary, pool, seeds, theirs, intervals):
    """Lines about the runs on drawn paths, and their runs."""
    jobs = [pool.submit(run, binary, "half load", seed=seed) for seed in range(1, seeds + 1)]
    runs = [job.result()["ecmp"] for job in jobs]
    bins = [binned(compared(rows)) for rows, _ in runs]
    lines, good = agreement(theirs, intervals, mean(bins), bins)
    marked, pauses = ([numbers[name] for _, numbers in runs] for name in ("marked", "pauses"))
    note = f"Marked packets of a run: {min(marked):,} to {max(marked):,}. PFC frames: {min(pauses)} to {max(pauses)}."
    return HEAD + lines + ["", note], good


def differences(binary, pool, only):
    """Lines about every difference, switched back alone: means of three seeds over the time alone of each network."""
    chosen = {"none": ("none", [])} | {name: of for name, of in DIFFERENCES.items() if only in name}
    everything = [change for name, (_, changes) in DIFFERENCES.items() if name != "ports" for change in changes]
    chosen["all"] = ("all of these but the ports", everything)
    jobs = {
        name: [pool.submit(run, binary, name, changes=changes, seed=seed) for seed in (1, 2, 3)]
        for name, (_, changes) in chosen.items()
    }
    lines = ["| switched back | lone packet, ns | median | average | 99 % | marked |", "|---|---|---|---|---|---|"]
    base = None
    for name, of in jobs.items():
        runs = [job.result()["ecmp"] for job in of]
        parts = list(zip(*(own_figures(rows) for rows, _ in runs)))
        _, avg, p50, p99 = (sum(part) / len(part) for part in parts)
        base = base or (avg, p50, p99)
        alone_ns, marked = (sum(numbers[key] for _, numbers in runs) // len(runs) for key in ("alone_ns", "marked"))
        more = [f" ({new / old - 1:+.1%})" if name != "none" else "" for new, old in zip((avg, p50, p99), base)]
        lines.append(
            f"| {chosen[name][0]} | {alone_ns:,} | {p50:.3f}{more[1]} | {avg:.2f}{more[0]} | {p99:.1f}{more[2]} | {marked:,} |"
        )
    return lines


def programs(binary, pool):
    """Lines about ECMP, LetFlow and ConWeave: means and ranges of three seeds."""
    published = {"ecmp": "1.90, 10.8", "letflow": "1.81, 9.5", "conweave": "1.45, 5.4"}
    jobs = [pool.submit(run, binary, "programs", "programs.toml", (), seed) for seed in (1, 2, 3)]
    runs = [job.result() for job in jobs]
    lines = ["| program | average, 99 % there | median | average (seeds) | 99 % (seeds) |", "|---|---|---|---|---|"]
    for label, there in published.items():
        of = [figures([slowdown for _, slowdown in compared(one[label][0])]) for one in runs]
        _, avg, p50, p99 = (sum(part) / len(part) for part in zip(*of))
        ranges = [f"{min(one[n] for one in of):.2f} to {max(one[n] for one in of):.2f}" for n in (1, 3)]
        lines.append(f"| `{label}` | {there} | {p50:.3f} | {avg:.2f} ({ranges[0]}) | {p99:.2f} ({ranges[1]}) |")
    return lines


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

    def show(marker, lines):
        print("\n".join(lines) + "\n", flush=True)
        if args.update:
            update(marker, lines)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lines, good = same_paths(binary, pool, flows, theirs, intervals)
        show("same-paths", lines)
        if args.seeds:
            lines, draws_agree = agreement_of_seeds(binary, pool, args.seeds, theirs, intervals)
            good &= draws_agree
            show("agreement", lines)
        if args.differences:
            show("differences", differences(binary, pool, args.only))
            show("programs", programs(binary, pool))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
