"""Experiments of papers, on local processes or on a Ray cluster."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._native import Error
from .bundle import Bundle
from .commands import flags, run, takes, words_of
from .options import ReproduceOptions
from .p4 import P4
from .record import Record
from .sweeping import Progress, do_runs, finish

if TYPE_CHECKING:
    from typing_extensions import Unpack


@takes(ReproduceOptions)
def reproduce(
    id: str,
    *,
    out: str | os.PathLike[str] | None = None,
    address: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    papers: str | os.PathLike[str] | None = None,
    **options: Unpack[ReproduceOptions],
) -> Record:
    """Repeat an experiment of a paper, and return its numbers beside the published ones, as ``sluice reproduce --json``.

    Args:
        id: experiment, such as ``"conweave/lossless"``, or the name of a paper for all of its experiments.
        out: folder of the runs, or a URL that fsspec opens; runs that it has are not run again.
        address, workers, progress: as for :func:`sluice.sweep`.
        papers: folder of experiments in place of those that come with Sluice.
        options: options of ``sluice reproduce``, such as ``scale="full"``, and of P4 programs, as :class:`sluice.Experiment`
            takes them.
    """
    own: dict[str, Any] = dict(options)
    p4 = P4.taken(own)
    words = [id, *words_of(own, ReproduceOptions)]
    bundle, opened = Bundle.of_papers(words, p4, None if papers is None else os.fspath(papers))
    words += p4.words() + flags({"papers": papers})
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        dataset = do_runs(bundle, opened, out or Path(folder) / "out", address, workers, progress)
        if not dataset.is_complete:
            failures = dataset.failures
            raise Error(f"{len(dataset.missing)} runs failed, the first with: {failures['error'][0]}")
        command = lambda target: run("reproduce", *words, f"--output={target}", "--json")
        return Record(finish(dataset, Path(folder), command).json())
