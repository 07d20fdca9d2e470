#!/usr/bin/env python3
"""Estimates what a network that is spread over machines would cost for each window of its look-ahead.

    cargo build --release -p sluice
    checks/scale.py                      compare with the tables of docs/scale.md; exit code 1 if they differ
    checks/scale.py --update             write the tables again

Measures a replay of a small network: the look-ahead, and for each window and switch the frames sent, to switches and to hosts.
Then simulates larger networks on several machines, window by window: each switch draws a measured window, each machine works
through the hops of its switches and the frames of other machines, and all wait for the slowest machine and for the messages.
Costs are the constants below. Every number follows from the seed. Needs Python 3.8 or newer and nothing else.
"""

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "scale.md")
BLOCK = re.compile(r"(<!-- made: checks/scale.py -->\n).*?(<!-- end -->\n)", re.DOTALL)

LEAVES, SPINES, HOSTS = 4, 4, 8
TOPOLOGY = f"leaf-spine:leaves={LEAVES},spines={SPINES},hosts={HOSTS},rate=100G,delay=500ns"
# Microseconds. A hop: docs/dev/speed.md, one thread with ecmp.
HOP = 2.7
# Taking a frame from one process and giving it to another, at each end: a copy and a lookup.
FRAME = 0.2
# A round in which all machines exchange frames and clocks: threads of one machine (a barrier), MPI over RDMA (a small
# all-to-all of 16 machines), and actors of Ray (a call to each and its answer, measured on one machine).
ROUNDS = {"threads": 1.0, "MPI": 15.0, "Ray": 2000.0}
WINDOWS = 400
SIZES = (16, 64, 256, 1024, 4096)
MACHINES = (2, 4, 16)
SEED = 1
# Rates of the hosts that are measured, Gb/s: half of a host's line, and a load at which most windows have little to do.
RATES = (50, 5)


def captures(binary, folder, rate):
    """Writes a capture of this rate for each host and returns the inputs of the replay."""
    inputs = []
    for leaf in range(LEAVES):
        for host in range(HOSTS):
            name = os.path.join(folder, f"{leaf}.{host}.pcap")
            others = [f"10.0.{other}.{1 + host}" for other in range(LEAVES) if other != leaf]
            command = [binary, "gen", "udp", "--packets", "200", "--flows", "20", "--rate", f"{rate}G", "--size", "1000", "-q"]
            command += ["--dst", ",".join(others), "--seed", str(1 + leaf * HOSTS + host), "-o", name]
            subprocess.run(command, check=True)
            inputs += ["-i", f"leaf{leaf}:{host}@{name}"]
    return inputs


def measured(binary, rate):
    """Returns the look-ahead in microseconds, and for each window of each switch the frames to switches and to hosts."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        command = [binary, "replay", "ecmp", "--topology", TOPOLOGY, "--trace-out", trace, "--json"]
        command += captures(binary, folder, rate)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    sent, parsed = collections.defaultdict(list), collections.defaultdict(list)
    for event in events:
        if event.get("cat") == "line":
            sent[event["args"]["packet"]].append((event["ts"], event["pid"]))
        elif event.get("cat") == "part" and event["name"] == "parser":
            parsed[event["args"]["packet"], event["pid"]].append(event["ts"])
    ahead, frames = None, []
    for packet, hops in sent.items():
        hops.sort()
        for number, (at, switch) in enumerate(hops):
            to_switch = number + 1 < len(hops)
            frames.append((at, switch, to_switch))
            if to_switch:
                gap = min(parsed[packet, hops[number + 1][1]]) - at
                ahead = gap if ahead is None else min(ahead, gap)
    first, last = min(f[0] for f in frames), max(f[0] for f in frames)
    windows = collections.defaultdict(lambda: [0, 0])
    for at, switch, to_switch in frames:
        windows[int((at - first) / ahead), switch][0 if to_switch else 1] += 1
    count = int((last - first) / ahead) + 1
    return ahead, [[tuple(windows.get((w, s), (0, 0))) for w in range(count)] for s in sorted(names)]


def window_time(switches, machines, samples, draw, round_time):
    """Returns the microseconds of one window on these machines, and the frames between machines."""
    work, crossed = [0.0] * machines, 0
    for switch in range(switches):
        fabric, hosts = draw.choice(samples)
        own = switch * machines // switches
        work[own] += HOP * (fabric + hosts)
        for _ in range(fabric):
            other = draw.randrange(machines)
            if other != own:
                crossed += 1
                work[own] += FRAME
                work[other] += FRAME
    return max(work) + (round_time if machines > 1 else 0.0), crossed


def simulated(switches, machines, samples, round_time):
    """Returns the mean microseconds and frames between machines of a window, of fewer windows for larger networks."""
    draw = random.Random(SEED)
    count = max(20, WINDOWS * 16 // switches)
    both = [window_time(switches, machines, samples, draw, round_time) for _ in range(count)]
    return tuple(sum(column) / count for column in zip(*both))


def table(binary, rate):
    """Returns the measurement and the table of one rate."""
    ahead, by_switch = measured(binary, rate)
    samples = [window for windows in by_switch for window in windows]
    fabric = sum(s[0] for s in samples) / len(samples)
    hosts = sum(s[1] for s in samples) / len(samples)
    text = (
        f"Hosts send {rate} Gb/s: the look-ahead is {ahead * 1000:.0f} ns, and in a window of that length a switch sends "
        f"{fabric:.2f} frames to switches and {hosts:.2f} to hosts, the mean over {len(by_switch[0])} windows."
    )
    lines = [
        *textwrap.wrap(text, 128),
        "",
        "| switches | machines | frames between | one thread, us | threads, us | MPI, us | Ray, us | speed-up, MPI | Ray |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for switches in SIZES:
        alone = simulated(switches, 1, samples, 0.0)[0]
        for machines in MACHINES:
            times = {name: simulated(switches, machines, samples, cost) for name, cost in ROUNDS.items()}
            crossed = times["MPI"][1]
            cells = [f"{times[name][0]:.0f}" for name in ROUNDS]
            gains = [f"{alone / times[name][0]:.2f}" for name in ("MPI", "Ray")]
            lines.append(f"| {switches} | {machines} | {crossed:.0f} | {alone:.0f} | {' | '.join(cells + gains)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(ROOT, "target", "release", "sluice"))
    parser.add_argument("--update", action="store_true", help="write the tables again")
    args = parser.parse_args()
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    made = "\n".join(table(args.binary, rate) for rate in RATES)
    written = BLOCK.sub(lambda found: found[1] + made + found[2], text)
    if args.update:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(written)
    elif written != text:
        sys.exit("docs/scale.md differs; checks/scale.py --update writes the tables again")


if __name__ == "__main__":
    main()
