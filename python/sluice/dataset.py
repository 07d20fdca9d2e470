"""Datasets: the runs of sweeps in a folder, with their failures."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _native, units
from ._native import Error, Table
from .chart import Chart, inline
from .frames import cell, html_table
from .plots import figure
from .record import table_of
from .storage import Target

PLAN = "sweep.json"
RUNS = "sweep.parquet"
CHECKS = "checks.parquet"
FAILURES = "failures.parquet"


def plan_of(experiment: _native.Experiment) -> list[dict[str, Any]]:
    """Return the runs of an experiment as :attr:`Dataset.plan` has them."""
    return [
        {"digest": digest, "axes": dict(axes), "program": program, "seed": seed}
        for digest, axes, program, seed in experiment.runs()
    ]


class Dataset:
    """A folder of runs, which :func:`sluice.sweep` fills.

    ``runs/DIGEST/flows.parquet`` has the messages of a run and ``run.json`` its numbers; DIGEST is the SHA-256 of everything
    that the run depends on. A complete dataset also has the files of ``sluice run -o``, or of scenarios ``sweep.parquet`` (runs)
    and ``checks.parquet``. Nothing in it tells when, where or by
    how many workers the runs were done.

    Args:
        url: path of a local folder, or a URL that fsspec opens.
    """

    def __init__(self, url: str | os.PathLike[str]) -> None:
        self.url = os.fspath(url)
        self._target = Target(self.url)

    def _read(self, name: str) -> bytes | None:
        try:
            if self._target.is_local():
                return (Path(self.url) / name).read_bytes()
            system, path = self._target.filesystem()
            content: bytes = system.cat_file(f"{path}/{name}")
            return content
        except FileNotFoundError:
            return None

    @property
    def plan(self) -> list[dict[str, Any]]:
        """All runs of the sweep: ``digest``, ``axes`` (swept keys with their values), ``program``, ``seed``."""
        text = self._read(PLAN)
        if text is None:
            raise Error(f"{self.url} is not the dataset of a sweep: it has no {PLAN}")
        runs: list[dict[str, Any]] = json.loads(text)["runs"]
        return runs

    def begin(self, plan: list[dict[str, Any]]) -> None:
        """Write the plan of a sweep."""
        value = {"schema": "sluice.sweep/1", "version": _native.VERSION, "runs": plan}
        self.put(PLAN, (json.dumps(value, indent=1) + "\n").encode())

    def put(self, name: str, content: bytes) -> None:
        """Write a file."""
        self._target.put(name, content)

    def record(self, digest: str) -> dict[str, Any]:
        """Return what ``run.json`` says about a run.

        Raises:
            Error: if the run is not complete.
        """
        text = self._read(f"runs/{digest}/run.json")
        if text is None:
            raise Error(f"{self.url} has no run {digest}")
        value: dict[str, Any] = json.loads(text)
        return value

    @property
    def missing(self) -> list[str]:
        """Digests of the runs that are not complete."""
        digests = dict.fromkeys(run["digest"] for run in self.plan)
        return [digest for digest in digests if not self._target.has(digest)]

    @property
    def is_complete(self) -> bool:
        """True if all runs are there."""
        return not self.missing

    @property
    def failures(self) -> Table:
        """Runs that failed in the last call: ``digest``, ``program``, ``seed``, ``axes`` (JSON text), ``error``."""
        content = self._read(FAILURES)
        return Table([]) if content is None else _native.parquet_table(content)

    @property
    def runs(self) -> Table:
        """A row for each complete run: ``digest``, the swept keys, ``program``, ``seed``, and every number of the run; of a
        scenario ``scenario``, ``profile``, ``passed``, ``checks`` and the saved numbers.

        Slowdowns (``slowdown_avg``, ``small_slowdown_p99`` and others) are ratios: 1.0 is as fast as alone. If all
        runs are there, they are relative to the ideal time that the experiment asks for; before, to the program's own.
        """
        content = self._read(RUNS)
        if content is not None and not self.missing:
            return units.of_runs(_native.parquet_table(content))
        return units.of_runs(table_of(self.rows()))

    @property
    def checks(self) -> Table:
        """The checks of scenarios: see :attr:`sluice.Outcomes.checks`."""
        return table_of(self.check_rows())

    def check_rows(self) -> list[dict[str, Any]]:
        """Return a row for each check of the complete runs of scenarios."""
        rows, missing = [], set(self.missing)
        for run in self.plan:
            outcome = {} if run["digest"] in missing else self.record(run["digest"]).get("outcome", {})
            for check in outcome.get("checks", []):
                known = {"scenario": outcome["id"], "profile": outcome["profile"], "seed": run["seed"]}
                rows.append({"digest": run["digest"], **run["axes"], **known, **check})
        return rows

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each complete run, from the runs' own files."""
        rows, missing = [], set(self.missing)
        for run in self.plan:
            if run["digest"] not in missing:
                known = {"digest": run["digest"], **run["axes"], "program": run["program"], "seed": run["seed"]}
                rows.append({**known, **_numbers(self.record(run["digest"]))})
        return rows

    def messages(self, digest: str) -> Table:
        """Return the messages of a run: ``pair``, ``from``, ``to``, ``bytes``, ``start_ns``, ``end_ns`` and others."""
        content = self._read(f"runs/{digest}/flows.parquet")
        if content is None:
            self.record(digest)  # Raises an error if there is no run.
            raise Error(f"run {digest} is of a scenario, which has no messages")
        return units.of_messages(_native.parquet_table(content))

    def plot(self, number: str = "slowdown_avg", x: str | None = None) -> Chart:
        """Draw a number of the complete runs over a swept key: the mean of the seeds, with a line for each program.

        Args:
            number: a column of ``runs``.
            x: the swept key; by default the only one whose values are numbers.
        """
        plan = self.plan
        return figure(self.runs, list(plan[0]["axes"]) if plan else [], number, x)

    def __repr__(self) -> str:
        plan, missing = self.plan, set(self.missing)
        complete = sum(run["digest"] not in missing for run in plan)
        return f"Dataset({self.url!r}, {complete} of {len(plan)} runs)"

    def _repr_html_(self) -> str:
        shown: Sequence[str] = ("program", "seed", "slowdown_avg", "slowdown_p50", "slowdown_p99", "passed")
        runs = self.runs
        axes = list(self.plan[0]["axes"]) if self.plan else []
        head = [name for name in [*axes, *shown] if name in runs.column_names]
        rows = [[cell(value) for value in row] for row in zip(*(runs[name] for name in head))]
        table = f"{len(runs)} of {len(self.plan)} runs" + html_table(head, rows[:20])
        try:
            return table + inline(self.plot().svg)
        except Error:
            return table  # No swept key has numbers, or the runs have no slowdown.


def _numbers(record: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of a run."""
    outcome = record.get("outcome")
    if outcome is None:
        numbers: dict[str, Any] = record["numbers"]
        return numbers
    known = {"scenario": outcome["id"], "profile": outcome["profile"], "passed": outcome["passed"]}
    return {**known, "checks": len(outcome["checks"]), **record["saved"]}
