"""Replays through a network of switches."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .commands import flags
from .program import Program, Replay, Source, inputs, replayed


class Network:
    """A network whose switches run a program.

    Args:
        topology: a builder such as ``"leaf-spine:leaves=2,spines=2,hosts=2"``, or the path of a TOML or ns-3 file.
        program: the program of all switches that the topology gives none.
    """

    def __init__(self, topology: Source, program: Program | str) -> None:
        self.topology = os.fspath(topology)
        self.program = Program(program) if isinstance(program, str) else program

    def replay(self, captures: Mapping[str, Source], **options: Any) -> Replay:
        """Send captures through the network.

        Args:
            captures: captures by port, such as ``{"leaf0:0": "trace.pcap"}``.
            options: options of ``sluice replay``, such as ``check=True``, ``story="10.0.0.1-10.0.1.1"``, ``threads=2``.
        """
        words = [*self.program._words, f"--topology={self.topology}", *inputs(captures), *flags(options)]
        return replayed(words, False)
