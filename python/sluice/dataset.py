"""Datasets: the runs of sweeps in a folder, with their failures."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._native import Error, Table
from .record import html_table, table_of
from .storage import Target

PLAN = "sweep.json"
FAILURES = "failures.parquet"


class Dataset:
    """A folder of runs, which :func:`sluice.sweep` fills.

    ``runs/DIGEST/flows.parquet`` has the messages of a run and ``run.json`` its numbers; DIGEST is the SHA-256 of everything
    that the run depends on. A complete dataset also has the files of ``sluice run -o``. Nothing in it tells when, where or by
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
        """A row for each complete run: ``digest``, the swept keys, ``program``, ``seed``, and every number of the run.

        Slowdowns (``avg``, ``p50``, ``p99``, and those of small and large messages) are in thousandths. If all runs are there,
        they are relative to the ideal time that the experiment asks for; before, to the program's own.
        """
        content = self._read("sweep.parquet")
        if content is not None and not self.missing:
            return _native.parquet_table(content)
        rows = []
        for run in self.plan:
            text = self._read(f"runs/{run['digest']}/run.json")
            if text is not None:
                known = {"digest": run["digest"], **run["axes"], "program": run["program"], "seed": run["seed"]}
                rows.append({**known, **json.loads(text)["numbers"]})
        return table_of(rows)

    def messages(self, digest: str) -> Table:
        """Return the messages of a run: ``pair``, ``from``, ``to``, ``bytes``, ``start_ps``, ``end_ps`` and others."""
        content = self._read(f"runs/{digest}/flows.parquet")
        if content is None:
            raise Error(f"{self.url} has no run {digest}")
        return _native.parquet_table(content)

    def __repr__(self) -> str:
        return f"Dataset({self.url!r})"

    def _repr_html_(self) -> str:
        shown: Sequence[str] = ("program", "seed", "avg", "p50", "p99")
        runs = self.runs
        axes = list(self.plan[0]["axes"]) if self.plan else []
        head = [name for name in [*axes, *shown] if name in runs.column_names]
        rows = list(zip(*(runs[name] for name in head)))
        return f"{len(runs)} of {len(self.plan)} runs" + html_table(head, rows[:20])
