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
from typing import Any

from ._native import VERSION

__version__ = VERSION


def _modules() -> dict[str, str]:
    """Return the module of each name. Modules are imported at the first use of a name, so that the command line starts without
    them; the names are those of the stub, which type checkers and editors read.
    """
    with open(f"{__file__}i", encoding="utf-8") as stub:
        lines = [line.strip().split(" import ") for line in stub if line.startswith("from .")]
    return {name.split(" as ")[0]: module[len("from .") :] for module, names in lines for name in names.split(", ")}


_MODULES = _modules()
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module `sluice` has no `{name}`")
    value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
