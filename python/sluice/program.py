"""Programs: placement, one switch, replays of captures, hunts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _native
from ._native import Table
from .commands import flags, run, settings
from .p4 import P4
from .record import Record, html_table
from .switch import Switch

Source = str | os.PathLike[str]


class Program:
    """A stage program for a chip.

    Args:
        source: name of a program (:func:`sluice.programs` lists them), or the path of a ``.p4`` or ``.sluice`` file.
        params: parameters by name; :attr:`params` has all of them with their defaults.
        chip: ``"tofino2"``, ``"tofino"``, or the path of a TOML file that changes one of them.
        p4: options with which a P4 program is read: ``D``, ``U``, ``I`` and ``include`` with lists, ``arch``.

    Raises:
        Error: if there is no such program, or the file has mistakes.
    """

    def __init__(
        self,
        source: Source,
        params: Mapping[str, Any] | None = None,
        chip: Source = "tofino2",
        **p4: Any,
    ) -> None:
        words = [*P4.taken(p4).words(), *flags(p4)]
        self._words = [os.fspath(source), f"--chip={os.fspath(chip)}", *settings(params), *words]
        self.source = os.fspath(source)
        self._described = run("programs", *self._words, "--json").json()

    @property
    def name(self) -> str:
        """Name that the program states."""
        return str(self._described["name"])

    @property
    def summary(self) -> str:
        """One sentence on what the program does."""
        return str(self._described["summary"])

    @property
    def params(self) -> Table:
        """Parameters: columns ``key``, ``default`` and ``doc``, all texts."""
        rows = self._described["params"]
        return Table([(name, [row[name] for row in rows]) for name in ("key", "default", "doc")])

    def text(self) -> str:
        """Return the program in Sluice's text form, which is a ``.sluice`` file."""
        return run("programs", *self._words, "--ir").text

    def report(self, **options: Any) -> Report:
        """Place the program and return the report; a program that does not fit has a report, too.

        Args:
            options: options of ``sluice report``, such as ``objective="latency"``, ``without="overlay"``, ``why_not=True``.
        """
        words = [*self._words, *flags(options)]
        return Report(run("report", *words, "--json").json(), words)

    def switch(self, **options: Any) -> Switch:
        """Return a switch that runs the program; see :class:`Switch` for the options."""
        return Switch(self._words, **options)

    def replay(
        self, captures: Source | Mapping[Any, Source] | None = None, sent: bool = False, **options: Any
    ) -> Replay:
        """Send captures through one switch.

        Args:
            captures: a capture for front-panel port 0, or captures by port; without them the program's sample is sent.
            sent: keep the packets that the switch sends, as :attr:`Replay.sent`.
            options: options of ``sluice replay``, such as ``check=True``, ``buffer="tofino2"``, ``queue_limit=100``.
        """
        return replayed([*self._words, *inputs(captures), *flags(options)], sent)

    def fuzz(self, inputs: int | None = None, seed: int = 1, output: Source | None = None, **options: Any) -> Hunt:
        """Hunt for packets that break a property of the program.

        Args:
            inputs: number of inputs, each of about 200 packets; without it and without ``time``, the hunt takes 60 s.
            seed: seed of every random number; with ``inputs``, the result depends on nothing else.
            output: folder for captures and entries of each finding.
            options: options of ``sluice fuzz``, such as ``time="10s"``, ``buffer="random"``, ``mutants=True``.
        """
        words = flags({"cases": inputs, "seed": seed, "output": output, **options})
        return Hunt(run("fuzz", *self._words, *words, "--json").json())

    def __repr__(self) -> str:
        return f"Program({' '.join(self._words)})"


def inputs(captures: Source | Mapping[Any, Source] | None) -> list[str]:
    """Return captures by port as the command line takes them."""
    if captures is None:
        return []
    if not isinstance(captures, Mapping):
        captures = {0: captures}
    return [f"--input={port}@{os.fspath(path)}" for port, path in captures.items()]


def replayed(words: Sequence[str], sent: bool) -> Replay:
    """Run a replay with these arguments."""
    if not sent:
        return Replay(run("replay", *words, "--json").json(), None)
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        summary = run("replay", *words, "--output", folder, "--json").json()
        return Replay(summary, _native.read_capture(Path(folder) / "out.pcapng"))


class Report(Record):
    """Report of a placement, with the keys of ``sluice report --json`` as attributes.

    ``fits`` is true if the program fits; ``stages_used.total``, ``latency.total_ns``, ``power.nanowatts`` and ``reason`` (why
    it does not fit) are others. :meth:`table` makes tables of the lists ``tables``, ``units``, ``dependencies`` and others.
    """

    __slots__ = ("_words",)

    def __init__(self, value: Mapping[str, Any], words: Sequence[str] = ()) -> None:
        super().__init__(value)
        object.__setattr__(self, "_words", list(words))

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), (self._value, self._words)

    @property
    def stages(self) -> int | None:
        """Number of stages that the program takes; None if it does not fit."""
        used = self._value.get("stages_used")
        return int(used["total"]) if used else None

    def html(self) -> str:
        """Return the whole report as a self-contained page; a program that does not fit has none."""
        with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
            path = Path(folder) / "report.html"
            run("report", *self._words, "--json", "--html", path)
            return path.read_text()

    def text(self) -> str:
        """Return the report as ``sluice report`` prints it."""
        return run("report", *self._words).text

    def _repr_html_(self) -> str:
        value = self._value
        head = f"<b>{value['program']}</b> on {value['chip']}: "
        if not value["fits"]:
            return head + f"does not fit<pre>{self.text()}</pre>"
        used = value["stages_used"]
        totals = [row for row in value["resources"]["totals"] if row["used"]]
        totals.sort(key=lambda row: -row["percent"])
        rows = [(row["id"], row["used"], row["available"], f"{row['percent']} %") for row in totals]
        facts = (
            f"fits, {used['total']} stages (ingress {used['ingress']}, egress {used['egress']}), "
            f"{value['latency']['total_ns']} ns"
        )
        return head + facts + html_table(("resource", "used", "available", "share"), rows)


class Replay(Record):
    """Result of a replay, with the keys of ``sluice replay --json`` as attributes.

    ``packets``, ``drops``, ``latency_ns``, ``violations`` and ``registers`` are some. :meth:`table` makes tables of the lists
    ``ports``, ``queues``, ``counters`` and others.
    """

    __slots__ = ("sent",)

    sent: Table | None
    """Sent packets if asked for: ``time_ns`` since the epoch (int64), ``interface`` (text, the port),
    ``length`` on the wire (uint32), ``bytes`` (binary)."""

    def __init__(self, value: Mapping[str, Any], sent: Table | None = None) -> None:
        super().__init__(value)
        object.__setattr__(self, "sent", sent)

    def _repr_html_(self) -> str:
        packets = self._value.get("packets") or {}
        drops = self._value.get("drops") or {}
        rows = [*packets.items(), *((f"drop: {reason}", count) for reason, count in drops.items())]
        return html_table(("packets", "count"), rows)


class Hunt(Record):
    """Result of a hunt, with the keys of ``sluice fuzz --json`` as attributes.

    ``failures`` has the findings, each shrunk; ``coverage`` the reached and all points; ``cases`` the number of inputs.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [(kind, of["hit"], of["total"]) for kind, of in self._value["coverage"].items()]
        findings = html_table(
            ("property", "finding"),
            [(one.get("property"), one.get("text")) for one in self._value["failures"]],
        )
        return (
            f"{self._value['cases']} inputs, {len(self._value['failures'])} findings"
            + findings
            + html_table(("coverage", "reached", "of"), rows)
        )
