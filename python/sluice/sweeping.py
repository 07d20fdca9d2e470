"""Sweeps: one task for each run, on local processes or on a Ray cluster."""

from __future__ import annotations

import json
import os
import tempfile
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from .bundle import Bundle
from .commands import takes
from .dataset import FAILURES, Dataset, plan_of
from .experiment import Experiment, Source, report
from .options import P4Options
from .progress import Shown
from .record import table_of
from .scenarios import outcomes
from .storage import Target
from .workers import Task, execute

if TYPE_CHECKING:
    from typing_extensions import Unpack

Progress = Callable[[int, int, int], None]
"""Is called with the number of finished runs, of all runs, and of failed runs."""


@takes(P4Options)
def sweep(
    experiment: Experiment | Source,
    grid: Mapping[str, Sequence[Any]] | None = None,
    seeds: int | Sequence[int] | None = None,
    *,
    out: str | os.PathLike[str],
    address: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    **p4: Unpack[P4Options],
) -> Dataset:
    """Run an experiment for every combination of values, program and seed, and return the dataset.

    An experiment of scenarios is run for every combination of values, seed, scenario and profile.

    Runs that the dataset has are not run again, so a call after an interruption goes on. A run that fails is tried three times,
    on any worker; then its error is in :attr:`Dataset.failures`, and the next call tries it again.

    Args:
        experiment: the experiment, or its path, text or dict.
        grid: values by dotted path; see :meth:`Experiment.over`.
        seeds: number of seeds, or a list; by default the experiment's.
        out: folder of the dataset, or a URL that fsspec opens.
        address: of a Ray cluster (``"auto"``, ``"ray://host:10001"``); without it, processes of this machine do the runs.
        workers: number of runs at a time; by default one for each processor.
        progress: is called after each run; by default a notebook shows a bar, and a terminal a line.
        p4: options of P4 programs, as :class:`Experiment` takes them; an experiment that is one has its own.
    """
    if not isinstance(experiment, Experiment):
        experiment = Experiment(experiment, **p4)
    elif p4:
        raise _native.Error("the experiment has its options of P4 programs\n  = help: give them to `Experiment`")
    whole = experiment.over(grid, seeds)
    bundle, opened = whole.bundle()
    dataset = do_runs(bundle, opened, out, address, workers, progress)
    if dataset.is_complete and opened.is_of_scenarios:
        outcomes(dataset)
    elif dataset.is_complete:
        with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
            files = Path(folder) / "files"
            finish(dataset, Path(folder), lambda target: report(bundle, files, target))
    return dataset


def finish(dataset: Dataset, folder: Path, make: Callable[[Path], Any]) -> Any:
    """Write the files about all runs of a complete dataset by a command that finds all runs there."""
    target = Target(dataset.url)
    if target.is_local():
        return make(Path(dataset.url))
    local = folder / "dataset"
    target.fetch_runs(local)
    result = make(local)
    target.put_folder(local)
    return result


def do_runs(
    bundle: Bundle,
    opened: _native.Experiment,
    out: str | os.PathLike[str],
    address: str | None,
    workers: int | None,
    progress: Progress | None,
) -> Dataset:
    """Do the runs that a dataset lacks."""
    dataset, plan = Dataset(out), plan_of(opened)
    marker = f".caller-{uuid.uuid4().hex}" if Target(dataset.url).is_local() else None
    target = Target(os.path.abspath(dataset.url) if marker else dataset.url, marker)
    dataset.begin(plan)
    target.remove(FAILURES)
    first: dict[str, int] = {}
    for index, run in enumerate(plan):
        first.setdefault(run["digest"], index)
    tasks = [Task(digest, "run", (index, digest)) for digest, index in first.items() if not target.has(digest)]
    failures: dict[str, str] = {}
    count = [len(first) - len(tasks)]
    show = progress or Shown()
    if progress is None:
        show(count[0], len(first), 0)

    def done(digest: Any, good: bool, result: Any) -> None:
        count[0] += 1
        if not good:
            failures[str(digest)] = result
        elif result is not None:
            target.put_run(digest, result)
        show(count[0], len(first), len(failures))

    if marker:
        (Path(target.url) / marker).touch()
    try:
        execute(tasks, (bundle, target), done, address, workers)
    finally:
        if marker:
            target.remove(marker)
        if failures:
            failed = [run for run in plan if run["digest"] in failures]
            rows = [{**run, "axes": json.dumps(run["axes"]), "error": failures[run["digest"]]} for run in failed]
            target.put(FAILURES, table_of(rows).to_parquet())
            warnings.warn(f"{len(failed)} runs failed; `failures` of the dataset has their errors", stacklevel=3)
    return dataset
