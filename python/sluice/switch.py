"""One emulated switch: packets in, time passes, packets out."""

from __future__ import annotations

import html
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _native
from ._native import Error, Table
from .commands import takes, words_of
from .digest import Digest
from .frames import html_table
from .options import ReplayOptions, Time

if TYPE_CHECKING:
    from typing_extensions import Unpack

Port = int | str
"""Number of a front-panel port, or its name: ``"1/0"`` (cage and lane), ``"Ethernet4"`` (with ``port_map``), ``"dev:137"``."""


@dataclass(frozen=True)
class Run:
    """What a switch did since the last :meth:`Switch.take`, each table in order of time."""

    sent: Table
    """``number`` of the received packet (uint64, from 0), ``time_ns`` of the first bit (float64, exact to a picosecond), ``port``
    of the front panel (uint16, null for other ports), ``port_name`` (text: the name of ``port_map``, the number, or ``dev:64``),
    ``dev_port`` (uint16), ``queue`` (uint8), ``bytes`` (binary, without FCS)."""
    lost: Table
    """Packets that ended inside: ``number`` (uint64), ``time_ns`` (float64), ``reason`` (text), ``absorbed`` (bool, true if the
    program ended the packet on purpose)."""
    digests: Table
    """``time_ns`` (float64), ``data`` (binary), and a column for each field of the program's digests by its name, such as
    ``ipv4.src`` (uint64; binary above 64 bits), null in digests without it and in those of unknown layout (:class:`Digest`)."""
    violations: list[str]
    """Violations of properties, at most 100 in the life of a switch."""

    def _counts(self) -> list[tuple[str, int]]:
        reasons: dict[str, int] = {}
        for reason in self.lost["reason"]:
            reasons[reason] = reasons.get(reason, 0) + 1
        ends = [("sent", len(self.sent)), *((f"lost: {reason}", n) for reason, n in sorted(reasons.items()))]
        return [*ends, ("digests", len(self.digests)), ("violations", len(self.violations))]

    def __repr__(self) -> str:
        return f"Run({', '.join(f'{name} {count}' for name, count in self._counts())})"

    def _repr_html_(self) -> str:
        texts = "".join(f"<p>{html.escape(text)}</p>" for text in self.violations[:10])
        return html_table(("packets", "count"), self._counts()) + texts


class TableEntries:
    """Entries of one table of a switch. Changes take effect at once, or at ``time``."""

    def __init__(self, switch: Switch, name: str) -> None:
        self._switch, self.name = switch, name

    def add(
        self, *key: Any, action: str, args: Sequence[Any] = (), priority: int | None = None, time: Time | None = None
    ) -> None:
        """Add an entry.

        Args:
            key: one value for each field of the key: a number, ``"10.0.1.0/24"``, ``"0x50&&&0xf0"`` or ``"1..5"``.
            action: name of the action, with its arguments ``args``.
            priority: for tables with ternary or range keys; the lowest number wins.
        """
        parts = ["table_add", self.name, action, *key, "=>", *args]
        self._switch.commands(_line([*parts, *([] if priority is None else [priority])]), time=time)

    def set_default(self, action: str, *args: Any, time: Time | None = None) -> None:
        """Set the action for packets that match no entry."""
        self._switch.commands(_line(["table_set_default", self.name, action, *args]), time=time)

    def modify(self, entry: int, action: str, *args: Any, time: Time | None = None) -> None:
        """Give the entry with this number, from 0 in the order of insertion, another action."""
        self._switch.commands(_line(["table_modify", self.name, action, entry, *args]), time=time)

    def delete(self, entry: int, time: Time | None = None) -> None:
        """Remove the entry with this number."""
        self._switch.commands(_line(["table_delete", self.name, entry]), time=time)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._switch.entries().get("table", {}).get(self.name, []))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"TableEntries({self.name!r}, {len(self)} entries)"


class Tables(Mapping[str, TableEntries]):
    """The tables of a switch by name."""

    def __init__(self, switch: Switch) -> None:
        self._switch, self._names = switch, switch._native.names()["tables"]

    def __getitem__(self, name: str) -> TableEntries:
        if name not in self._names:
            raise KeyError(f"the program has no table `{name}`; there are {', '.join(self._names)}")
        return TableEntries(self._switch, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Cells(Mapping[str, Table]):
    """Registers or counters of a switch by name; reading one makes a table."""

    def __init__(self, names: list[str], read: Callable[[str], Table]) -> None:
        self._names, self._read = names, read

    def __getitem__(self, name: str) -> Table:
        if name not in self._names:
            raise KeyError(f"the program has no `{name}`; there are {', '.join(self._names)}")
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Switch:
    """A switch that runs a program; :meth:`sluice.Program.switch` makes one.

    Args:
        properties: callables by name. Each is called with every packet that is sent or lost (attributes ``number``,
            ``time_ns``, ``port``, ``port_name``, ``dev_port``, ``queue``, ``bytes``, ``received``, ``reason``, ``absorbed``) and
            returns None, or a sentence on how the property is violated.
        agent: callable for digests: gets the time in nanoseconds and a :class:`Digest`, bytes whose attribute ``fields`` has the
            values by name; returns None or a list of commands such as ``"table_add blocked drop 10.0.0.1 =>"``.
        agent_latency: time from a digest to the effect of the agent's commands.
        options: options of ``sluice replay`` that describe the switch: ``buffer``, ``entries``, ``routes``, ``port_speed``,
            ``queue_limit``, ``scheduler``, ``seed``, ``objective`` and others.
    """

    @takes(ReplayOptions)
    def __init__(
        self,
        words: Sequence[str],
        *,
        properties: Mapping[str, Callable[[_native.Packet], str | None]] | None = None,
        agent: Callable[[float, Digest], list[str] | None] | None = None,
        agent_latency: Time = "100us",
        **options: Unpack[ReplayOptions],
    ) -> None:
        heard = None if agent is None else (checked_agent(agent), agent_latency)
        all_properties = list((properties or {}).items())
        self._native = _native.Switch([*words, *words_of(options, ReplayOptions)], all_properties, heard)
        self.tables = Tables(self)
        names = self._native.names()
        self.registers = Cells(names["registers"], self._native.register)
        """Registers by name: elements that differ from their first value, with ``pipe``, ``index``, ``value``, ``high``."""
        self.counters = Cells(names["counters"], self._native.counter)
        """Counters by name: cells that are not 0, with ``pipe``, ``index``, ``packets``, ``bytes``."""

    @property
    def time_ns(self) -> float:
        """Nanoseconds up to which the switch has run."""
        return self._native.time_ns

    def __getattr__(self, name: str) -> Any:
        new = {"time": "time_ns", "time_ps": "time_ns"}.get(name)
        raise AttributeError(f"a switch has no `{name}`" + (f"; `{new}` is its time in nanoseconds" if new else ""))

    def __repr__(self) -> str:
        totals = ", ".join(f"{name} {count}" for name, count in self.totals().items())
        return f"Switch(at {self.time_ns:g} ns: {totals})"

    @property
    def warnings(self) -> list[str]:
        """Warnings about the entries."""
        return self._native.warnings

    def send(self, packet: Any, port: Port = 0, time: Time | None = None) -> None:
        """Send a packet into a front-panel port, by its number or name.

        Args:
            packet: bytes without FCS, from the destination address on, or a scapy packet.
            time: time of its first bit, by default the present time. A packet that would overlap with the one before on the
                same line comes later.
        """
        self._native.send(bytes(packet), port, self.time_ns if time is None else time)

    def feed(self, packets: Iterable[tuple[Time, Port, Any]]) -> None:
        """Send packets of a source (time, port, packet), in order of time, and run the switch up to each of them."""
        for time, port, packet in packets:
            self.run_until(time)
            self.send(packet, port, time)

    def run_until(self, time: Time) -> None:
        """Let time pass up to this time since the start. Ctrl-C stops between two slices of simulated time."""
        self._native.run_until(time)

    def drain(self) -> None:
        """Let time pass until no packet is inside, at most 10 ms."""
        self._native.drain()

    def take(self) -> Run:
        """Return what happened since the start or the last call, and forget it."""
        return Run(*self._native.take())

    def commands(self, *commands: str, time: Time | None = None) -> None:
        """Apply commands of the control plane, such as ``"table_add ipv4_route drop 10.0.0.0/8 =>"``, at once or at ``time``.

        The commands are those of ``sluice replay --entries``. Entries, members and groups are numbered as there; numbers of
        members and groups count those that this call creates.
        """
        self._native.commands(list(commands), time)

    def entries(self) -> dict[str, Any]:
        """Return the entries in force, as the TOML file of ``sluice entries`` has them."""
        entries: dict[str, Any] = json.loads(_native.from_toml(self._native.entries(), "entries"))
        return entries

    def queues(self) -> Table:
        """Return the queues that had packets: ``port``, ``port_name``, ``dev_port``, ``queue``, ``enqueued``, ``dropped`` (packets),
        ``max_cells``."""
        return self._native.queues()

    def totals(self) -> dict[str, int]:
        """Return the number of packets received, created, sent, dropped, absorbed and held."""
        return self._native.totals()


def checked_agent(agent: Callable[..., list[str] | None]) -> Callable[..., list[str] | None]:
    """Return the agent, after a look at the names of its arguments.

    Raises:
        Error: if it takes the time by the name ``time_ps``, because the time is in nanoseconds.
    """
    try:
        names = inspect.signature(agent).parameters
    except (TypeError, ValueError):
        return agent  # A callable without a signature, such as one of C code.
    if "time_ps" in names:
        help_text = "name the argument `time_ns`, and divide nothing by 1000"
        raise Error(f"the agent takes `time_ps`; agents get the time in nanoseconds\n  = help: {help_text}")
    return agent


def _line(parts: Iterable[Any]) -> str:
    return " ".join(str(part) for part in parts)
