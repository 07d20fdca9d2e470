"""Networks of switches: their graphs, and replays through them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native
from .capture import write_capture
from .chart import inline
from .commands import called, takes, words_of
from .digest import Digest
from .frames import missing
from .options import ReplayOptions, Time
from .program import Program, Replay, Source, inputs
from .record import Record
from .switch import checked_agent

if TYPE_CHECKING:
    from typing_extensions import Unpack

SHOWN = 48
"""Most hosts that the drawing of a network has."""


class Network:
    """A network whose switches run a program.

    Args:
        topology: a builder such as ``"leaf-spine:leaves=2,spines=2,hosts=2"``, or the path of a TOML or ns-3 file.
        program: the program of all switches that the topology gives none.
    """

    def __init__(self, topology: Source, program: Program | str) -> None:
        self.topology = os.fspath(topology)
        self.program = Program(program) if isinstance(program, str) else program

    @takes(ReplayOptions)
    def replay(
        self,
        captures: Mapping[str, Source | Iterable[tuple[Time, Any]]],
        *,
        properties: Mapping[str, Callable[[_native.Packet], str | None]] | None = None,
        agent: Callable[[str, float, Digest], list[str] | None] | None = None,
        agent_latency: Time = "100us",
        **options: Unpack[ReplayOptions],
    ) -> Replay:
        """Send captures and packets of traffic sources through the network.

        Args:
            captures: by port, such as ``{"leaf0:0": "trace.pcap"}``, a capture, or a traffic source: any iterable of (time,
                packet) in order of time, which is read to its end before the replay. The key ``"hosts"`` sends each packet from
                the host of its source address. The replay begins with the first packet of all.
            properties: callables by name. Each is called with every packet that a switch sends or loses, as for
                :class:`sluice.Switch`; the attribute ``switch`` is the switch's name, and ``port`` is None (``dev_port`` and
                ``port_name``, such as ``dev:136``, are there). Violations are in ``violations``.
            agent: callable for digests of all switches: gets the switch's name, the time in nanoseconds and a
                :class:`sluice.Digest`; returns None or a list of commands for that switch.
            agent_latency: time from a digest to the effect of the agent's commands, above 0.
            options: options of ``sluice replay``, such as ``check=True``, ``story="10.0.0.1-10.0.1.1"``, ``threads=2``.

        An exception of a callable ends the replay and is raised.
        """
        with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
            files: dict[str, Source] = {}
            for number, (port, source) in enumerate(captures.items()):
                if isinstance(source, (str, os.PathLike)):
                    files[port] = source
                else:
                    files[port] = Path(folder) / f"{number}.pcap"
                    write_capture(Path(folder) / f"{number}.pcap", source)
            own = words_of(options, ReplayOptions)
            words = [*self.program._words, f"--topology={self.topology}", *inputs(files), *own, "--json"]
            heard = None if agent is None else (checked_agent(agent), agent_latency)
            result = _native.replay_network(words, list((properties or {}).items()), heard)
            return Replay(called(*result).json())

    def describe(self) -> Record:
        """Return ``switches``, ``hosts`` and ``cables`` of the topology, lists whose elements have names; rates are in bit/s
        (null: the ports' speed), delays in nanoseconds."""
        path = Path(self.topology)
        is_file = path.is_file() or path.suffix in (".toml", ".txt")
        if is_file and not path.is_file():
            raise _native.Error(f"{self.topology}: there is no such file of a topology")
        text = path.read_text() if is_file else self.topology
        return Record(json.loads(_native.topology(text, self.topology if is_file else None)))

    def graph(self) -> Any:
        """Return the network as a ``networkx.MultiGraph``.

        Nodes are switches and hosts by name, with ``kind`` (``"switch"`` or ``"host"``) and ``pos``: hosts are at the bottom, and
        switches above them by their stage, so that ``networkx.draw(g, networkx.get_node_attributes(g, "pos"))`` draws the network.
        Switches have ``stage``, ``block``, ``program`` and ``subnet``; hosts have ``address``. Edges are cables, with
        ``rate_bps``, ``delay_ns`` and ``kind`` (``"cable"``, or ``"host"`` for a host's).
        """
        try:
            import networkx
        except ImportError:
            raise missing("networkx", "Network.graph") from None
        plan = self.describe().to_dict()
        places = positions(plan)
        graph = networkx.MultiGraph(name=plan["name"])
        for switch in plan["switches"]:
            facts = {key: switch[key] for key in ("stage", "block", "program", "subnet")}
            graph.add_node(switch["name"], kind="switch", pos=places[switch["name"]], **facts)
        for host in plan["hosts"]:
            graph.add_node(host["name"], kind="host", pos=places[host["name"]], address=host["address"])
            for at in host["at"]:
                graph.add_edge(
                    host["name"], at["switch"], kind="host", rate_bps=at["rate_bps"], delay_ns=at["delay_ns"]
                )
        for cable in plan["cables"]:
            facts = {key: cable[key] for key in ("rate_bps", "delay_ns", "weight", "ports")}
            graph.add_edge(*cable["ends"], kind="cable", **facts)
        return graph

    def __repr__(self) -> str:
        return f"Network({self.topology!r}, {self.program!r})"

    def _repr_html_(self) -> str:
        plan = self.describe().to_dict()
        hosts = plan["hosts"] if len(plan["hosts"]) <= SHOWN else []
        stages = sorted({switch["stage"] for switch in plan["switches"]})
        # Hosts are stage 0.
        column = {stage: number + 1 for number, stage in enumerate(stages)}
        nodes = [(0, host["name"], host["address"]) for host in hosts]
        nodes += [(column[one["stage"]], one["name"], one["program"] or "") for one in plan["switches"]]
        at = {name: number for number, (_, name, _) in enumerate(nodes)}
        cables = [(at[a], at[b], "") for a, b in (cable["ends"] for cable in plan["cables"])]
        cables += [(at[host["name"]], at[one["switch"]], "") for host in hosts for one in host["at"]]
        counts = ", ".join(f"{len(plan[key])} {key}" for key in ("switches", "hosts", "cables"))
        return f"<p>{counts}</p>" + inline(_native.graph_chart("stage", nodes, cables))


def positions(plan: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return a place for each node: hosts in the bottom row, and switches in a row for each stage above."""
    rows: dict[int, list[str]] = {0: [host["name"] for host in plan["hosts"]]}
    for switch in plan["switches"]:
        rows.setdefault(switch["stage"], []).append(switch["name"])
    widest = max(map(len, rows.values()), default=1)
    return {
        name: ((number + 0.5) * widest / len(names), float(height))
        for height, names in rows.items()
        for number, name in enumerate(names)
    }
