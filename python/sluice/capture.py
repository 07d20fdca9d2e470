"""Captures of packets that Python makes."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import _native

_HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 1)
"""Header of a pcap file with nanoseconds, for Ethernet."""


def write_capture(path: Path, packets: Iterable[tuple[Any, Any]]) -> None:
    """Write packets (time, bytes) as a pcap file; times are rounded down to nanoseconds.

    Raises:
        Error: if a packet is before the one before it.
    """
    last = 0
    with path.open("wb") as file:
        file.write(_HEADER)
        for number, (time, packet) in enumerate(packets):
            at, frame = _native.picoseconds(time) // 1000, bytes(packet)
            if at < last:
                raise _native.Error(
                    f"packet {number} of a traffic source is at {at} ns, after one at {last} ns\n"
                    "  = help: yield packets in order of time"
                )
            last = at
            file.write(struct.pack("<IIII", at // 10**9, at % 10**9, len(frame), len(frame)) + frame)
