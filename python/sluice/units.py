"""Units of tables: times are nanoseconds, and slowdowns and shares are ratios.

Files have picoseconds and thousandths, which are whole numbers.
"""

from __future__ import annotations

import re

from ._native import Table

_SLOWDOWN = re.compile(r"((?:(?:workload\.[^.]+|bin_[^.]+)\.)?(?:own_|fastest_|small_|large_)?)(avg|p50|p95|p99|p999)")
# Numbers of runs that are thousandths in files, and keep their names.
_RATIO = re.compile(r"(?:workload\.[^.]+\.)?fairness|link_share_(?:avg|max)|imbalance_(?:avg|p50|p95|p99)")
_THOUSANDTHS = "_thousandths"


def of_messages(table: Table) -> Table:
    """Return a table of messages, with ``start_ns`` for ``start_ps`` and ``slowdown`` for ``slowdown_thousandths``."""
    names = table.column_names
    times = [(name, f"{name[:-3]}_ns", 1000.0) for name in names if name.endswith("_ps")]
    ratios = [(name, name.removesuffix(_THOUSANDTHS), 1000.0) for name in names if name.endswith(_THOUSANDTHS)]
    return table.divided([*times, *ratios])


def slowdown_name(name: str) -> str | None:
    """Return the name of a slowdown in tables of runs, where it is a ratio: ``small_slowdown_p99`` for ``small_p99``, which files
    have in thousandths; None for the name of another number.
    """
    found = _SLOWDOWN.fullmatch(name)
    return found and f"{found[1]}slowdown_{found[2]}"


def of_runs(table: Table) -> Table:
    """Return a table of runs of contests, whose slowdowns are ratios, ``slowdown_avg`` for ``avg``, as are fairness, shares of links
    and imbalance.
    """
    names = [(name, name if _RATIO.fullmatch(name) else slowdown_name(name)) for name in table.column_names]
    return of_messages(table).divided([(name, ratio, 1000.0) for name, ratio in names if ratio is not None])
