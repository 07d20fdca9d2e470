"""Strategies for hypothesis: packets, and entries that fit a program's tables.

::

    import os

    from hypothesis import given
    from sluice import Program
    from sluice.strategies import entries, packets

    program = Program("l3-ecmp")

    @given(packets(), entries(program))
    def test_never_loses_count(packet, commands):
        switch = program.switch(entries=os.devnull)
        switch.commands(*commands)
        switch.send(packet)
        switch.drain()
        assert switch.totals()["held"] == 0
"""

from __future__ import annotations

import struct
from typing import Any

from hypothesis import strategies as st

from .commands import run
from .program import Program

_MAC = st.binary(min_size=6, max_size=6)


def checksum(content: bytes) -> int:
    """Return the Internet checksum of bytes (RFC 1071)."""
    padded = content + b"\0" * (len(content) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return int(total ^ 0xFFFF)


@st.composite
def ipv4(
    draw: st.DrawFn,
    sources: st.SearchStrategy[int] | None = None,
    destinations: st.SearchStrategy[int] | None = None,
) -> bytes:
    """Draw an Ethernet frame with IPv4 and UDP, TCP or another protocol, all lengths and checksums right.

    Args:
        sources, destinations: strategies of addresses as numbers; by default any address.
    """
    protocol = draw(st.sampled_from([17, 6, 1, 47]))
    source = draw(sources or st.integers(0, 2**32 - 1))
    destination = draw(destinations or st.integers(0, 2**32 - 1))
    data = draw(st.binary(min_size=18, max_size=200))
    ports = struct.pack("!HH", draw(st.integers(0, 65535)), draw(st.sampled_from([53, 80, 4791, 4789])))
    pseudo = struct.pack("!IIBB", source, destination, 0, protocol)
    if protocol == 17:
        head = ports + struct.pack("!HH", 8 + len(data), 0)
        total = checksum(pseudo + struct.pack("!H", 8 + len(data)) + head + data) or 0xFFFF
        segment = head[:6] + struct.pack("!H", total) + data
    elif protocol == 6:
        head = ports + struct.pack("!IIBBHHH", draw(st.integers(0, 2**32 - 1)), 0, 5 << 4, 16, 1024, 0, 0)
        total = checksum(pseudo + struct.pack("!H", len(head + data)) + head + data)
        segment = head[:16] + struct.pack("!H", total) + head[18:] + data
    else:
        segment = data
    traffic_class, ttl = draw(st.integers(0, 255)), draw(st.integers(0, 255))
    head = struct.pack(
        "!BBHHHBBHII", 0x45, traffic_class, 20 + len(segment), 0, 0, ttl, protocol, 0, source, destination
    )
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    tag = draw(st.none() | st.integers(0, 0xFFFF))
    vlan = b"" if tag is None else struct.pack("!HH", 0x8100, tag)
    return draw(_MAC) + draw(_MAC) + vlan + b"\x08\x00" + head + segment


def packets() -> st.SearchStrategy[bytes]:
    """Return a strategy of frames without FCS: IPv4 frames, IPv4 frames that are cut or changed, and any bytes."""
    any_bytes = st.binary(min_size=14, max_size=300)
    return st.one_of(ipv4(), ipv4().flatmap(_damaged), any_bytes)


@st.composite
def _damaged(draw: st.DrawFn, frame: bytes) -> bytes:
    frame = frame[: draw(st.integers(14, len(frame)))]
    at = draw(st.integers(0, len(frame) - 1))
    return frame[:at] + draw(st.binary(min_size=1, max_size=1)) + frame[at + 1 :]


def entries(program: Program, tables: list[str] | None = None, most: int = 8) -> st.SearchStrategy[list[str]]:
    """Return a strategy of entries: commands for :meth:`sluice.Switch.commands`, each with another key.

    They are for a switch without default entries (``program.switch(entries=os.devnull)``), whose keys they might repeat.

    Args:
        tables: names of the tables that get entries; by default all whose entries can change and name actions.
        most: largest number of entries.
    """
    schema = run("entries", *program._words, "--template", "--json").json()
    chosen = [
        table
        for table in schema["tables"]
        if table["keys"]
        and table["actions"]
        and not table["profile"]
        and not table["constant"]
        and (tables is None or table["name"] in tables)
    ]
    if not chosen:
        return st.just([])
    one = st.sampled_from(chosen).flatmap(_entry)
    unique = st.lists(one, max_size=most, unique_by=lambda entry: entry[0])
    return unique.map(lambda drawn: [command for _, command in drawn])


@st.composite
def _entry(draw: st.DrawFn, table: dict[str, Any]) -> tuple[tuple[Any, ...], str]:
    """Draw the identity of an entry, which is its table and key, and its command."""
    keys, ordered = [], False
    for key in table["keys"]:
        kind, width = key["match"].strip('"'), key["width"]
        value = draw(st.integers(0, 2**width - 1))
        if kind == "exact":
            keys.append(str(value))
        elif kind == "lpm":
            length = draw(st.integers(0, width))
            keys.append(f"{value >> (width - length) << (width - length)}/{length}")
        elif kind == "range":
            ordered = True
            keys.append(f"{value}..{draw(st.integers(value, 2**width - 1))}")
        else:
            ordered = True
            mask = draw(st.integers(0, 2**width - 1))
            keys.append(f"{value & mask:#x}&&&{mask:#x}")
    action = draw(st.sampled_from(table["actions"]))
    args = [str(draw(st.integers(0, 2 ** param["width"] - 1))) for param in action["params"]]
    priority = [str(draw(st.integers(0, 1000)))] if ordered else []
    words = ["table_add", table["name"], action["name"], *keys, "=>", *args, *priority]
    return (table["name"], *keys), " ".join(words)
