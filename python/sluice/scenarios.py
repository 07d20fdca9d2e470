"""Results of scenarios: a buffer profile on one switch, described traffic, and checks of counters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _native
from ._native import Table
from .dataset import CHECKS, RUNS, Dataset, plan_of
from .frames import html_table
from .record import Record, table_of


class Outcomes(Record):
    """Results of scenarios, with ``scenarios``, a list with the keys of ``sluice run --json`` and ``sweep``, the values of the
    swept keys, ``seed`` and ``saved``."""

    __slots__ = ("checks", "runs")

    runs: Table
    """A row for each run: ``digest``, the swept keys, ``program`` (``ID on PROFILE``), ``seed``, ``scenario``, ``profile``,
    ``passed``, ``checks`` (their number), and a column for each saved number."""
    checks: Table
    """A row for each check: ``digest``, the swept keys, ``scenario``, ``profile``, ``seed``, ``case``, ``line``, ``what``,
    ``expected``, ``actual`` and ``unit`` (texts), ``passed``, ``stated``."""

    def __init__(self, value: Mapping[str, Any], runs: Table | None = None, checks: Table | None = None) -> None:
        super().__init__(value)
        object.__setattr__(self, "runs", runs)
        object.__setattr__(self, "checks", checks)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), (self._value,)

    @property
    def passed(self) -> bool:
        """True if all checks hold."""
        return all(one["passed"] for one in self._value["scenarios"])

    def __repr__(self) -> str:
        scenarios = self._value["scenarios"]
        passed = sum(one["passed"] for one in scenarios)
        return f"Outcomes({passed} of {len(scenarios)} scenarios passed)"

    def _repr_html_(self) -> str:
        head = ("scenario", "profile", "seed", "passed")
        rows = [[one["id"], *(one[name] for name in head[1:])] for one in self._value["scenarios"]]
        return html_table(head, rows)


def outcomes(dataset: Dataset) -> Outcomes:
    """Return the results of a complete dataset, and write its tables."""
    scenarios = []
    for run in dataset.plan:
        record = dataset.record(run["digest"])
        outcome = record["outcome"]
        scenarios.append({"sweep": run["axes"], "seed": run["seed"], **outcome, "saved": record["saved"]})
    value = {"scenarios": scenarios}
    tables = (table_of(dataset.rows()), dataset.checks)
    for name, table in zip((RUNS, CHECKS), tables):
        dataset.put(name, table.to_parquet())
    return Outcomes(value, *tables)


def run_here(opened: _native.Experiment, out: str | os.PathLike[str]) -> Outcomes:
    """Do all runs in this process, one after the other."""
    dataset = Dataset(out)
    dataset.begin(plan_of(opened))
    for index in range(len(opened.runs())):
        opened.run(index, Path(out))
    return outcomes(dataset)
