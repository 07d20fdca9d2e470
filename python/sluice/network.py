"""Replays through a network of switches."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _native
from .capture import write_capture
from .commands import called, flags
from .program import Program, Replay, Source, inputs
from .switch import Time


class Network:
    """A network whose switches run a program.

    Args:
        topology: a builder such as ``"leaf-spine:leaves=2,spines=2,hosts=2"``, or the path of a TOML or ns-3 file.
        program: the program of all switches that the topology gives none.
    """

    def __init__(self, topology: Source, program: Program | str) -> None:
        self.topology = os.fspath(topology)
        self.program = Program(program) if isinstance(program, str) else program

    def replay(
        self,
        captures: Mapping[str, Source | Iterable[tuple[Time, Any]]],
        *,
        properties: Mapping[str, Callable[[_native.Packet], str | None]] | None = None,
        agent: Callable[[str, int, bytes], list[str] | None] | None = None,
        agent_latency: Time = "100us",
        **options: Any,
    ) -> Replay:
        """Send captures and packets of traffic sources through the network.

        Args:
            captures: by port, such as ``{"leaf0:0": "trace.pcap"}``, a capture, or a traffic source: any iterable of (time,
                packet) in order of time, which is read to its end before the replay. The key ``"hosts"`` sends each packet from
                the host of its source address. The replay begins with the first packet of all.
            properties: callables by name. Each is called with every packet that a switch sends or loses, as for
                :class:`sluice.Switch`; the attribute ``switch`` is the switch's name. Violations are in ``violations``.
            agent: callable for digests of all switches: gets the switch's name, the time in picoseconds and the bytes, returns
                None or a list of commands for that switch.
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
            words = [*self.program._words, f"--topology={self.topology}", *inputs(files), *flags(options), "--json"]
            heard = None if agent is None else (agent, agent_latency)
            result = _native.replay_network(words, list((properties or {}).items()), heard)
            return Replay(called(*result).json())
