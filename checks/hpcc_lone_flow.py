#!/usr/bin/env python3
"""Calculates the time of a lone HPCC flow of 500,000 bytes over three switches, by algorithm 1 and the arithmetic of records.

    checks/hpcc_lone_flow.py

Without queues the flow's time follows from the recurrence of its packets and acknowledgements. The records count bytes in
units of 512 (INT_MULTI 4), and the largest of three hops counts, so the time depends on where in a unit the counters of the
three ports stand when the flow begins. The simulator's flow began with counters at 0, 0 and 126,622 bytes: what the five
flows before it had sent. Switches with `hpcc-int` and overhead=-16 count the same bytes. Needs Python 3.8 or newer and nothing else.
"""

import heapq
import math
import random

HOPS = 3
LINK = 1000.0  # ns
BASE_RTT = 8320.0  # ns
LINE = 12.5  # bytes per ns
WINDOW = LINE * BASE_RTT
PAYLOAD = 1000
STEP = 50e6 / 8e9 * BASE_RTT
UNIT = 512


def flow(counted, line, answer, eta, counters, whole, packets=500):
    """Returns the time of a flow, ns: packets count `counted` bytes and take `line` bytes of line time, answers take `answer`
    ns. `whole` cuts times to whole nanoseconds, as the simulator does."""
    cut = math.floor if whole else float
    serial = cut(line / LINE)
    window, reference, utilisation = WINDOW, WINDOW, 1.0
    last, update, sent, acknowledged, now, due, answers = None, 0, [], 0, 0.0, 0.0, []
    while acknowledged < packets:
        may_send = len(sent) < packets and (len(sent) - acknowledged) * PAYLOAD < window
        start = max(due, now)
        if may_send and (not answers or start <= answers[0][0]):
            now = start
            heapq.heappush(answers, (now + (HOPS + 1) * (serial + answer + 2 * LINK), len(sent)))
            sent.append(now)
            due = now + max(cut(line / (window / BASE_RTT)), serial)
            continue
        now, packet = heapq.heappop(answers)
        acknowledged = packet + 1
        records = [
            (math.floor(sent[packet] + (hop + 1) * (serial + LINK)), (counters[hop] + packet * counted) // UNIT)
            for hop in range(HOPS)
        ]
        if last is None:
            last, update = records, len(sent)
            continue
        pairs = [(new[0] - old[0], new[1] - old[1]) for new, old in zip(records, last)]
        share, tau = max((units * UNIT / nanos / LINE, nanos) for nanos, units in pairs if nanos > 0)
        tau = min(tau, BASE_RTT)
        utilisation += tau / BASE_RTT * (share - utilisation)
        window = min(reference / (utilisation / eta) + STEP, WINDOW)
        if acknowledged > update:
            reference, update = window, len(sent)
        last = records
    return now


def main():
    simulator = lambda counters: flow(1090, 1090, 7.0, 0.95, counters, True)
    sluice = lambda counters: flow(1090, 1086, 6.88, 0.95, counters, False)
    whole = lambda counters: flow(1106, 1086, 6.88, 0.9675, counters, False)
    print(f"simulator, its counters: {simulator([0, 0, 126_622]):.0f} ns; measured 56217 ns")
    print(f"Sluice, the same counters: {sluice([0, 0, 126_622]):.0f} ns")
    print(f"Sluice, counters of whole packets (overhead=0): {whole([0, 0, 118 * 106 + 116_002]):.0f} ns")
    before = [91, 1_090, 1_181, 10_900, 113_360]
    sums = [sum(size for bit, size in enumerate(before) if chosen >> bit & 1) for chosen in range(32)]
    near = sum(abs(sluice([own, own, 126_622]) / 56_217 - 1) < 0.01 for own in sums)
    print(f"Sluice, any of the flows before it over the same spine: {near} of {len(sums)} within 1 %")
    draw = random.Random(1)
    for name, run in (("simulator", simulator), ("Sluice", sluice)):
        times = sorted(run([draw.randrange(UNIT) for _ in range(HOPS)]) for _ in range(200))
        print(f"{name}, any counters: {times[0]:.0f} to {times[-1]:.0f} ns, median {times[100]:.0f} ns")


main()
