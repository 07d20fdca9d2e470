"""Units of tables: times in nanoseconds, slowdowns as ratios.

Files have picoseconds and thousandths, which are whole numbers.
"""

from __future__ import annotations

import re

from ._native import Table

_SLOWDOWN = re.compile(r"(own_|fastest_|small_|large_)?(avg|p50|p95|p99)")
_THOUSANDTHS = "_thousandths"


def of_messages(table: Table) -> Table:
    """Return a table of messages, with ``start_ns`` for ``start_ps`` and ``slowdown`` for ``slowdown_thousandths``."""
    names = table.column_names
    times = [(name, f"{name[:-3]}_ns", 1000.0) for name in names if name.endswith("_ps")]
    ratios = [(name, name.removesuffix(_THOUSANDTHS), 1000.0) for name in names if name.endswith(_THOUSANDTHS)]
    return table.divided([*times, *ratios])


def of_runs(table: Table) -> Table:
    """Return a table of runs, whose slowdowns are ratios."""
    names = [name for name in table.column_names if _SLOWDOWN.fullmatch(name)]
    return of_messages(table).divided([(name, name, 1000.0) for name in names])
