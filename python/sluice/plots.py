"""Plots of tables of runs."""

from __future__ import annotations

import collections
from collections.abc import Sequence

from ._native import Error, Table
from .chart import Chart
from .units import slowdown_name

NAMES = {
    "slowdown_avg": "mean slowdown",
    "slowdown_p50": "median slowdown",
    "slowdown_p95": "95 % slowdown",
    "slowdown_p99": "99 % slowdown",
}
"""Names of axes."""


def figure(runs: Table, axes: Sequence[str], number: str, x: str | None) -> Chart:
    """Draw a number of runs over a swept key: the mean over seeds, and over other swept keys, of each program.

    Raises:
        Error: if there is no such number or key, or no swept key whose values are numbers.
    """
    if not len(runs):
        raise Error("there is no complete run to draw")
    ratio = slowdown_name(number)
    if number not in runs.column_names and ratio in runs.column_names:
        raise Error(
            f"the runs have no column `{number}`\n  = help: `{ratio}` has the slowdown as a ratio, 1.0 as fast as alone"
        )
    numeric = [axis for axis in axes if all(_number(value) is not None for value in runs[axis])]
    if x is None and len(numeric) != 1:
        found = f"swept keys with numbers are {', '.join(numeric)}" if numeric else "no swept key has numbers"
        raise Error(f"a plot needs the key of its horizontal axis; {found}\n  = help: name one with x=")
    key = numeric[0] if x is None else x
    if key not in numeric:
        raise Error(f"`{key}` is not a swept key with numbers\n  = help: there are {', '.join(numeric) or 'none'}")
    values: dict[str, dict[float, list[float]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for program, at, value in zip(runs["program"], runs[key], runs[number]):
        place = _number(at)
        if value is not None and place is not None:
            values[program][place].append(float(value))
    lines = [
        (program, [(place, sum(all_) / len(all_)) for place, all_ in sorted(points.items())], "marked")
        for program, points in values.items()
    ]
    return Chart.of_lines(f"{NAMES.get(number, number)} over {key}", key, NAMES.get(number, number), lines)


def _number(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None
