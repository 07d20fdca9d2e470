"""Programs: placement, one switch, replays of captures, hunts."""

from __future__ import annotations

import html
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from ._native import Table
from .chart import heat_table
from .commands import flags, run, settings, takes, words_of
from .digest import Digest
from .frames import html_table
from .options import FuzzOptions, P4Options, ReplayOptions, ReportOptions, Time
from .p4 import P4
from .record import Record
from .switch import Switch

if TYPE_CHECKING:
    from typing_extensions import Unpack

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

    @takes(P4Options)
    def __init__(
        self,
        source: Source,
        params: Mapping[str, Any] | None = None,
        chip: Source = "tofino2",
        **p4: Unpack[P4Options],
    ) -> None:
        words_of(p4, P4Options)  # Raises the error of an option that is none.
        words = P4.taken(dict(p4)).words()
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

    @takes(ReportOptions)
    def report(self, **options: Unpack[ReportOptions]) -> Report:
        """Place the program and return the report; a program that does not fit has a report, too.

        Args:
            options: options of ``sluice report``, such as ``objective="latency"``, ``without="overlay"``, ``why_not=True``.
        """
        words = [*self._words, *words_of(options, ReportOptions)]
        return Report(run("report", *words, "--json").json(), words)

    @takes(ReplayOptions)
    def switch(
        self,
        *,
        properties: Mapping[str, Callable[[_native.Packet], str | None]] | None = None,
        agent: Callable[[float, Digest], list[str] | None] | None = None,
        agent_latency: Time = "100us",
        **options: Unpack[ReplayOptions],
    ) -> Switch:
        """Return a switch that runs the program; see :class:`Switch` for the arguments."""
        return Switch(self._words, properties=properties, agent=agent, agent_latency=agent_latency, **options)

    @takes(ReplayOptions)
    def replay(
        self,
        captures: Source | Mapping[Any, Source] | None = None,
        sent: bool = False,
        **options: Unpack[ReplayOptions],
    ) -> Replay:
        """Send captures through one switch.

        Args:
            captures: a capture for front-panel port 0, or captures by port; without them the program's sample is sent.
            sent: keep the packets that the switch sends, as :attr:`Replay.sent`.
            options: options of ``sluice replay``, such as ``check=True``, ``buffer="tofino2"``, ``queue_limit=100``.
        """
        return replayed([*self._words, *inputs(captures), *words_of(options, ReplayOptions)], sent)

    @takes(FuzzOptions)
    def fuzz(self, inputs: int | None = None, seed: int = 1, **options: Unpack[FuzzOptions]) -> Hunt:
        """Hunt for packets that break a property of the program.

        Args:
            inputs: number of inputs, each of about 200 packets; without it and without ``time``, the hunt takes 60 s.
            seed: seed of every random number; with ``inputs``, the result depends on nothing else.
            options: options of ``sluice fuzz``, such as ``output``, a folder for captures and entries of each finding,
                ``time="10s"``, ``buffer="random"``, ``mutants=True``.
        """
        words = [*flags({"cases": inputs, "seed": seed}), *words_of(options, FuzzOptions)]
        return Hunt(run("fuzz", *self._words, *words, "--json").json())

    def __repr__(self) -> str:
        return f"Program({' '.join(self._words)})"

    def _repr_html_(self) -> str:
        rows = [(row["key"], row["default"], row["doc"]) for row in self._described["params"]]
        head = f"<b>{html.escape(self.name)}</b>: {html.escape(self.summary)}"
        return head + (html_table(("parameter", "default", "meaning"), rows) if rows else "")


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
        facts = (
            f"fits, {used['total']} stages (ingress {used['ingress']}, egress {used['egress']}), "
            f"{value['latency']['total_ns']} ns; percent of each stage's units:"
        )
        return head + facts + self._stages()

    def _stages(self) -> str:
        """Return the resources of each stage as a table of shades."""
        resources, stages = self._value["resources"], self._value["resources"]["stages"]
        rows = []
        for total in sorted(resources["totals"], key=lambda row: -float(row["percent"])):
            each = total["available"] / len(stages)
            shares = [stage["used"].get(total["id"], 0) / each if each else None for stage in stages]
            if total["used"]:
                rows.append((f"{total['id']} {total['percent']} %", shares))
        return heat_table("stage", [str(stage["stage"]) for stage in stages], rows)

    def __repr__(self) -> str:
        value, used = self._value, self._value.get("stages_used")
        if not used:
            return f"Report({value['program']} on {value['chip']}: does not fit: {value['reason']})"
        return f"Report({value['program']} on {value['chip']}: fits, {used['total']} stages, {value['latency']['total_ns']} ns)"


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

    def _counts(self) -> list[tuple[str, Any]]:
        packets = self._value.get("packets") or {}
        drops = self._value.get("drops") or {}
        return [*packets.items(), *((f"drop: {reason}", count) for reason, count in drops.items())]

    def __repr__(self) -> str:
        return f"Replay({', '.join(f'{name} {count}' for name, count in self._counts())})"

    def _repr_html_(self) -> str:
        return html_table(("packets", "count"), self._counts())


class Hunt(Record):
    """Result of a hunt, with the keys of ``sluice fuzz --json`` as attributes.

    ``failures`` has the findings, each shrunk; ``coverage`` the reached and all points; ``cases`` the number of inputs.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Hunt({self._value['cases']} inputs, {len(self._value['failures'])} findings)"

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
