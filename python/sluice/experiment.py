"""Experiments: programs compared under the same traffic in the same network, or scenarios of one switch."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native, units
from ._native import Table
from .bundle import Bundle
from .chart import Chart, inline
from .commands import flags, run, takes, words_of
from .frames import html_table
from .options import P4Options, RunOptions
from .p4 import P4
from .plots import figure
from .progress import Shown, watching
from .record import Record, table_of
from .scenarios import Outcomes, run_here

if TYPE_CHECKING:
    from typing_extensions import Unpack

Source = str | os.PathLike[str] | Mapping[str, Any]

PLOTS = ("slowdown.svg", "sizes.svg")
"""Drawings of ``sluice run -o``; the first one is that of a contest."""


class Experiment:
    """A contest of programs, or scenarios of one switch, with the schema of the TOML files of ``sluice run``.

    Args:
        source: path of a TOML file, TOML text (with a line end), or the same as a dict.
        folder: folder in which the files are that the experiment names; by default that of the file, or the present one.
        p4: options with which P4 programs are read: ``D``, ``U``, ``I`` and ``include`` with lists, ``arch``.
    """

    @takes(P4Options)
    def __init__(self, source: Source, folder: str | os.PathLike[str] | None = None, **p4: Unpack[P4Options]) -> None:
        words_of(p4, P4Options)  # Raises the error of an option that is none.
        self.p4 = P4.taken(dict(p4))
        self.origin, self.text, beside = "experiment.toml", "", Path()
        if isinstance(source, Mapping):
            self.text = _native.to_toml(json.dumps(source))
        elif isinstance(source, str) and "\n" in source:
            self.text = source
        else:
            path = Path(source)
            self.origin, beside = str(path), path.parent
            try:
                self.text = path.read_text()
            except OSError:
                run("run", path, "--list")  # Raises the error of the command line.
                raise
        self.folder = beside if folder is None else Path(folder)

    def to_dict(self) -> dict[str, Any]:
        """Return the experiment as a dict."""
        table: dict[str, Any] = json.loads(_native.from_toml(self.text, self.origin))
        return table

    def over(
        self, grid: Mapping[str, Sequence[Any]] | None = None, seeds: int | Sequence[int] | None = None
    ) -> Experiment:
        """Return the experiment for every combination of values, with these seeds.

        Seeds of scenarios are those of their devices, for marking; a scenario about a host has none.

        Args:
            grid: values by dotted path, such as ``{"workload.load": [30, 50], "program.conweave.params.reply": [8, 12]}``, as
                in the table ``[sweep]`` of a file; of scenarios such as ``{"device.speed": ["25G", "100G"],
                "scenario.ID.let.n": [1, 2]}``. Paths that the file sweeps are replaced.
            seeds: number of seeds from 1 on, or a list of seeds.
        """
        if grid is None and seeds is None:
            return self
        table = self.to_dict()
        if seeds is not None:
            table.pop("seed", None)
            table["seeds"] = seeds if isinstance(seeds, int) else list(seeds)
        swept = {**_flat(table.pop("sweep", {})), **(grid or {})}
        text = _native.to_toml(json.dumps(table))
        if swept:
            # The order of the keys is that of the grid: the last one varies fastest.
            lines = [f"{json.dumps(path)} = {json.dumps(list(values))}" for path, values in swept.items()]
            text += "\n[sweep]\n" + "\n".join(lines) + "\n"
        changed = Experiment(text + "\n", self.folder)
        changed.p4 = self.p4
        changed.origin = os.path.basename(self.origin)
        return changed

    def bundle(self) -> tuple[Bundle, _native.Experiment]:
        """Return the experiment with all files that it names, and its runs."""
        return Bundle.of_text(self.origin, self.text, self.folder, self.p4)

    def runs(self) -> Table:
        """Return the runs: ``digest`` (text), a column for each swept key (text), ``program`` (text; of a
        scenario ``ID on PROFILE``), ``seed`` (int64)."""
        experiment = self.bundle()[1]
        return table_of(
            [
                {"digest": digest, **dict(axes), "program": program, "seed": seed}
                for digest, axes, program, seed in experiment.runs()
            ]
        )

    @takes(RunOptions)
    def run(
        self, out: str | os.PathLike[str] | None = None, threads: int = 1, **options: Unpack[RunOptions]
    ) -> Results | Outcomes:
        """Run the experiment in this process and return its results: :class:`Results` of a contest, :class:`Outcomes` of
        scenarios. A notebook shows a bar of the finished runs, and a terminal a line.

        Args:
            out: folder for all files of ``sluice run -o``, or of scenarios for a :class:`Dataset`; runs that it has are not run
                again.
            threads: number of threads that share the runs of a contest; results do not depend on it.
            options: options of ``sluice run`` for contests, such as ``seeds=3``.
        """
        own = words_of(options, RunOptions)
        bundle, opened = self.bundle()
        with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
            target = Path(folder) / "out" if out is None else Path(out)
            if opened.is_of_scenarios:
                if options:
                    text = f"scenarios take no option `{next(iter(options))}` here"
                    raise _native.Error(f"{text}\n  = help: `over` has seeds and a grid")
                return run_here(opened, target)
            # These options change which runs there are.
            is_other = "seeds" in options or "watch_flow" in options
            digests = None if is_other else {digest for digest, *_ in opened.runs()}
            with watching(target, digests, Shown()):
                return report(bundle, Path(folder) / "files", target, [*flags({"threads": threads}), *own])

    def __repr__(self) -> str:
        return f"Experiment({self.to_dict().get('name', self.origin)!r})"


def report(bundle: Bundle, root: Path, out: Path, words: Sequence[str] = ()) -> Results:
    """Run the experiment of a bundle, whose files are put below ``root``, or report the runs that the folder has."""
    own = bundle.unpack(root)
    words = [*bundle.p4.words(own.parent), *words]
    try:
        value = run("run", own, f"--output={out}", "--json", *words).json()
    except _native.Error as error:
        text = str(error).replace(f"{own.parent}{os.sep}", "")
        changed = _native.Error(text)
        changed.code = error.code
        raise changed from None
    runs, messages = (_native.read_parquet(out / name) for name in ("sweep.parquet", "flows.parquet"))
    plots = {name: (out / name).read_text() for name in PLOTS if (out / name).is_file()}
    return Results(value, units.of_runs(runs), units.of_messages(messages), plots)


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return the values of a table by dotted path."""
    values = {}
    for key, value in table.items():
        path = f"{before}.{key}" if before else key
        values.update(_flat(value, path) if isinstance(value, Mapping) else {path: value})
    return values


class Results(Record):
    """Results of an experiment, with the keys of ``sluice run --json`` as attributes.

    ``contests`` has one element for each combination of the swept values.
    """

    __slots__ = ("messages", "plots", "runs")

    runs: Table
    """A row for each run: ``digest``, the swept keys, ``program``, ``seed``, and every number of the run. Slowdowns
    (``slowdown_avg``, ``small_slowdown_p99`` and others) are ratios: 1.0 is as fast as alone."""
    messages: Table
    """A row for each message: ``run``, sender, receiver, ``bytes``, ``start_ns``, ``end_ns``, ``own_alone_ns``, ``slowdown``, and
    others."""
    plots: dict[str, str]
    """The drawings that ``sluice run -o`` writes, texts of SVG files by name: ``slowdown.svg`` and ``sizes.svg``; none of an
    experiment with swept keys."""

    def __init__(
        self,
        value: Mapping[str, Any],
        runs: Table | None = None,
        messages: Table | None = None,
        plots: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(value)
        object.__setattr__(self, "runs", runs)
        object.__setattr__(self, "messages", messages)
        object.__setattr__(self, "plots", dict(plots or {}))

    @property
    def passed(self) -> bool:
        """True if all expectations hold."""
        contests = self._value["contests"]
        return all(one["passed"] for contest in contests for one in contest["expect"]) and not any(
            contest["error"] for contest in contests
        )

    def plot(self, number: str = "slowdown_avg", x: str | None = None) -> Chart:
        """Draw a number of the runs over a swept key, with a line for each program; without swept keys, the shares of messages
        by their slowdown.

        Args:
            number: a column of ``runs``.
            x: the swept key; by default the only one whose values are numbers.
        """
        drawn = self.plots.get(PLOTS[0])
        if drawn is not None and number == "slowdown_avg" and x is None:
            return Chart(drawn)
        return figure(self.runs, self._axes(), number, x)

    def _axes(self) -> list[str]:
        contests = self._value["contests"]
        return list(contests[0]["sweep"]) if contests else []

    def __repr__(self) -> str:
        contests = self._value["contests"]
        state = "all expectations hold" if self.passed else "an expectation fails"
        return f"Results({len(contests)} contests, {len(self.runs)} runs, {len(self.messages)} messages; {state})"

    def _repr_html_(self) -> str:
        rows = []
        for contest in self._value["contests"]:
            axes = ", ".join(f"{key} = {value}" for key, value in contest["sweep"].items())
            for program in contest["programs"]:
                numbers = program["numbers"]
                figures = [f"{numbers[name]['mean'] / 1000:.2f}" for name in ("avg", "p50", "p95", "p99")]
                rows.append((axes, program["label"], *figures))
        table = html_table(("sweep", "program", "slowdown", "50 %", "95 %", "99 %"), rows)
        try:
            return table + inline(self.plot().svg)
        except _native.Error:
            return table  # No swept key has numbers.
