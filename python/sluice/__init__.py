"""Emulator of Tofino-style programmable switches: does a program fit, behave, and win.

Start with :class:`Program` (placement, one switch, replays, hunts), :class:`Network` (replays through many switches) and
:class:`Experiment` (programs compared under the same traffic). :func:`sweep`, :func:`reproduce` and :func:`hunt` spread work
over processes or a Ray cluster. :func:`run` calls any command of the command line.

Times that go in are numbers of nanoseconds, or texts with a unit such as ``"1.5us"``; times that come out are nanoseconds, and
their names end in ``_ns``. Tables are Arrow tables by the PyCapsule interface, so ``table.to_polars()``, ``pyarrow.table(table)``
and DuckDB open them without a copy; ``table.to_pandas()`` makes a frame of pandas.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._native import VERSION, Error, Packet, Table, read_parquet

if TYPE_CHECKING:
    from .chart import Chart
    from .commands import Called, programs, run
    from .dataset import Dataset
    from .digest import Digest
    from .experiment import Experiment, Results
    from .hunting import Hunted, hunt
    from .network import Network
    from .papers import reproduce
    from .program import Hunt, Program, Replay, Report
    from .record import Record
    from .scenarios import Outcomes
    from .sweeping import sweep
    from .switch import Run, Switch

__version__ = VERSION

__all__ = [
    "Called",
    "Chart",
    "Dataset",
    "Digest",
    "Error",
    "Experiment",
    "Hunt",
    "Hunted",
    "Network",
    "Outcomes",
    "Packet",
    "Program",
    "Record",
    "Replay",
    "Report",
    "Results",
    "Run",
    "Switch",
    "Table",
    "hunt",
    "programs",
    "read_parquet",
    "reproduce",
    "run",
    "sweep",
]

_PLACES = {
    "chart": ["Chart"],
    "commands": ["Called", "programs", "run"],
    "dataset": ["Dataset"],
    "digest": ["Digest"],
    "experiment": ["Experiment", "Results"],
    "hunting": ["Hunted", "hunt"],
    "network": ["Network"],
    "papers": ["reproduce"],
    "program": ["Hunt", "Program", "Replay", "Report"],
    "record": ["Record"],
    "scenarios": ["Outcomes"],
    "sweeping": ["sweep"],
    "switch": ["Run", "Switch"],
}
"""Modules that are imported at the first use of a name, so that the command line starts without them."""


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            value = getattr(importlib.import_module(f".{module}", __name__), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module `sluice` has no `{name}`")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
