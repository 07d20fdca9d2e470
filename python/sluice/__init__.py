"""Emulator of Tofino-style programmable switches: does a program fit, behave, and win.

Start with :class:`Program` (placement, one switch, replays, hunts), :class:`Network` (replays through many switches) and
:class:`Experiment` (programs compared under the same traffic). :func:`sweep`, :func:`reproduce` and :func:`hunt` spread work
over processes or a Ray cluster. :func:`run` calls any command of the command line.

Times are numbers of nanoseconds, or texts with a unit such as ``"1.5us"``; columns that end in ``_ps`` are picoseconds.
Tables are Arrow tables by the PyCapsule interface, so ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and DuckDB open
them without a copy.
"""

from ._native import VERSION, Error, Table, read_parquet
from .commands import Called, programs, run
from .dataset import Dataset
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
    "Dataset",
    "Error",
    "Experiment",
    "Hunt",
    "Hunted",
    "Network",
    "Outcomes",
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
